"""Attack. Sparse linkage by a scoreboard: a few ratings, roughly known, identify a person in hundreds of thousands."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd

from reident.base import (
    DataError,
    FloatArray,
    IntArray,
    Real,
    RNGLike,
    afford,
    check_columns,
    check_instance,
    check_integer,
    check_listed,
    check_rng,
    check_table,
    checked,
)


@dataclass(frozen=True, eq=False)
class Ratings:
    """Released ratings, ordered by item: user, rating and day.

    Attributes
    ----------
    indptr : ndarray of int64, shape (n_items + 1,)
        The ratings of item i lie at ``indptr[i]:indptr[i + 1]`` of the others.
    users, stars, days : ndarray
        A user rates an item at most once.
    n_users : int
    """

    indptr: IntArray
    users: Any
    stars: Any
    days: Any
    n_users: int

    @classmethod
    def from_table(cls, table: pd.DataFrame, n_users: int | None = None) -> Ratings:
        """Return the ratings of a table with the columns ``user``, ``item``, ``stars`` and ``day`` (whole numbers).

        Raises
        ------
        DataError
            If a column is missing, a user or item is negative or 2**31 and more, or a user rated an item twice.
        """
        names = check_columns(check_table(table, "table"), ["user", "item", "stars", "day"], "ratings")
        user, item, stars, day = (table[name].to_numpy() for name in names)
        if len(table) and (min(user.min(), item.min()) < 0 or table.duplicated(["user", "item"]).any()):
            raise DataError("`table` must hold users and items from 0 on, and each pair of them once")
        size = int(item.max(initial=-1)) + 1
        if max(size, int(user.max(initial=-1)) + 1) > 2**31:
            raise DataError("`table` must number users and items below 2**31: factorise them first")
        afford(16 * size, "table", f"{size:,} items, the largest number and one", "number the items without gaps")
        order = np.argsort(item, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(item, minlength=size))]).astype(np.int64)
        count = int(user.max(initial=-1)) + 1 if n_users is None else n_users
        return cls(indptr, user[order].astype(np.int32), stars[order], day[order], count)


@dataclass(frozen=True)
class ScoreboardMatch:
    """The user named by a scoreboard.

    Attributes
    ----------
    user : int or None
        The best user; None if no user stands out.
    best : int
        The user with the highest score, whether or not they stand out.
    score, eccentricity : float
        Their score, and by how many standard deviations of all scores it exceeds the second.
    """

    user: int | None
    best: int
    score: float
    eccentricity: float


@checked
def scoreboard_attack(
    ratings: Ratings,
    known: Iterable[tuple[int, float | None, float | None]],
    *,
    value_scale: Annotated[float, Real(0, open_low=True)] = 1.5,
    day_scale: Annotated[float, Real(0, unit="days", open_low=True)] = 30.0,
    eccentricity: Annotated[float, Real(0)] = 1.5,
) -> ScoreboardMatch:
    """Name the user with the ratings that fit best the known ones of a person, if that user stands out.

    The intruder's knowledge may be wrong in part and imprecise: a rare item that fits weighs more than many common
    ones, and one that does not fit costs only its weight.

    Parameters
    ----------
    ratings : Ratings
        The release.
    known : iterable of (item, value, day)
        The intruder's knowledge of the person; value and day may be None.
    value_scale, day_scale : float
        How far a value or day may be off: an item adds exp(-difference / scale) for each of the two that is known.
    eccentricity : float
        How far the best must stand out to be named.

    Returns
    -------
    ScoreboardMatch

    Raises
    ------
    DataError
        If `known` is empty, or an item is not in the release.

    Notes
    -----
    vanhoef2012, 3.1.3; the scoring of Narayanan and Shmatikov (2008), with weights 1 / log(number of people who rated
    the item). The named user may be wrong: where the person is not in the release, another may stand out.
    Time O(ratings of the known items + users).
    """
    check_instance(ratings, "ratings", Ratings, "Ratings.from_table or simulate_ratings make it")
    listed = check_listed(known, "known")
    if not all(isinstance(entry, tuple | list) and len(entry) == 3 for entry in listed):
        raise DataError(f"`known` must hold triples (item, value, day), got {known!r}")
    if not listed:
        raise DataError("`known` must hold at least one item: there is no item to score")
    users, weights = [], []
    for item, value, day in listed:
        if not 0 <= item < len(ratings.indptr) - 1:
            raise DataError(f"`known` must name items of the release, got {item!r}")
        here = slice(int(ratings.indptr[item]), int(ratings.indptr[item + 1]))
        fit = _fit(ratings.stars[here], value, value_scale) + _fit(ratings.days[here], day, day_scale)
        users.append(ratings.users[here])
        weights.append(fit / np.log(max(here.stop - here.start, 2)))
    return _named(np.concatenate(users), np.concatenate(weights), ratings.n_users, eccentricity)


def _fit(released: Any, known: float | None, scale: float) -> FloatArray:
    """Return the fit of each released number; 1/2 for each without a known number, so that the item itself counts."""
    if known is None:
        return np.full(len(released), 0.5)
    # Stars and days take few values: each is weighed once, and looked up for millions of ratings.
    low, high = (int(released.min()), int(released.max())) if released.dtype.kind in "iu" and len(released) else (0, -1)
    few = 0 <= high - low < len(released)
    levels = np.arange(low, high + 1) if few else released
    fit: FloatArray = np.exp(-np.abs(levels.astype(np.float64) - known) / scale)
    return fit[released.astype(np.intp) - low] if few else fit


def _named(users: IntArray, weights: FloatArray, n_users: int, threshold: float) -> ScoreboardMatch:
    """Add the weights up by user and name the best; of all others than `users` the score is 0."""
    if n_users < 2:
        raise DataError(f"`ratings` must be of at least two users, got {n_users}")
    met = np.arange(n_users)
    if users.size < n_users // 8:
        met, users = np.unique(users, return_inverse=True)
        met = np.append(met, [0, 0])[: max(len(met), 2)]  # two at least: a best and a second
    scores = np.bincount(users, weights, minlength=len(met))
    second, best = np.argpartition(scores, -2)[-2:]
    mean = scores.sum() / n_users
    deviation = math.sqrt(max(float(scores @ scores) / n_users - mean * mean, 0.0))
    stands_out = float(scores[best] - scores[second]) / deviation if deviation > 0 else 0.0
    user = int(met[best]) if stands_out >= threshold and deviation > 0 else None
    return ScoreboardMatch(user, int(met[best]), float(scores[best]), stands_out)


def simulate_ratings(n_users: int, n_items: int, n_ratings: int, *, rng: RNGLike = None) -> Ratings:
    """Draw ratings as a rental firm has them: few items with many ratings, and few people with very many.

    Parameters
    ----------
    n_users, n_items, n_ratings : int
        Netflix's release had 480,000 users, 17,770 titles and 100 million ratings. At most half of all users rate an
        item, so that there may be somewhat fewer.
    rng : Generator, int or None
        The randomness.

    Returns
    -------
    Ratings
        Stars 1 to 5 that depend on the item, days 0 to 2,190 that gather around a user's first one.

    Raises
    ------
    ParameterError
        If a number is out of range: half of all users rate an item at most.
    """
    check_integer(n_users, "n_users", low=2)
    check_integer(n_items, "n_items", low=1)
    check_integer(
        n_ratings, "n_ratings", low=1, high=n_users * n_items // 2, why="half of all users rate an item at most"
    )
    for count, name, each in ((n_users, "n_users", 24), (n_items, "n_items", 40), (n_ratings, "n_ratings", 40)):
        afford(each * count, name, f"{count:,} of them", "draw fewer")
    generator = check_rng(rng)
    popularity = generator.pareto(1.2, n_items) + 0.2
    # Ratings beyond the limit of the most popular items spread over the others.
    support = np.zeros(n_items, np.int64)
    for _ in range(10):
        room = support < n_users // 2
        more = generator.poisson((n_ratings - support.sum()) * popularity[room] / popularity[room].sum())
        support[room] = np.minimum(support[room] + more, n_users // 2)
        if support.sum() >= 0.99 * n_ratings or (support == n_users // 2).all():
            break
    activity = np.cumsum(generator.lognormal(0, 1.2, n_users))
    began = generator.integers(0, 1800, n_users)
    quality = generator.normal(3.4, 0.6, n_items)
    users, counts = [], np.zeros(n_items, np.int64)
    for item, size in enumerate(support):
        sample = np.zeros(0, np.int64)
        while len(sample) < size:
            more = np.searchsorted(activity, generator.random(2 * (size - len(sample)) + 1) * activity[-1])
            sample = np.unique(np.concatenate([sample, np.minimum(more, n_users - 1)]))
        if len(sample) > size:
            sample = np.sort(generator.choice(sample, size, replace=False))
        users.append(sample.astype(np.int32))
        counts[item] = len(sample)
    user, n = np.concatenate(users), int(counts.sum())
    stars = np.rint(np.repeat(quality.astype(np.float32), counts) + generator.standard_normal(n, np.float32))
    days = began[user] + generator.standard_exponential(n, np.float32) * 120
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Ratings(indptr, user, np.clip(stars, 1, 5).astype(np.int8), np.minimum(days, 2190).astype(np.int16), n_users)
