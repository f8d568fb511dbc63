"""Mechanism. Counts, sums and means with Laplace noise of stated sensitivity."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reident.base import (
    DataError,
    IntArray,
    PrivacyWarning,
    RNGLike,
    check_array,
    check_bounds,
    check_callable,
    check_choice,
    check_epsilon,
    check_integer,
    check_real,
    check_vector,
    how_many,
)
from reident.queries.budget import Budget, spend
from reident.queries.entropy import Entropy, entropy_source
from reident.queries.laplace import grid_noise, grid_noise_reach

__all__ = [
    "Answer",
    "laplace_count",
    "laplace_mean",
    "laplace_sum",
]

#: "add-remove": a table and the table with one record more or less (Vanhoef 2012, Definition 5.2). "replace": two
#: tables of the same, public number of records that differ in one of them.
ADJACENCIES = ("add-remove", "replace")


@dataclass(frozen=True)
class Answer:
    """A number with Laplace noise, and what a reader needs to judge it. Holds nothing of the true value.

    Attributes
    ----------
    value : float
        The noisy answer, in the query's units. ``float(answer)`` gives it too.
    epsilon : float
        The privacy loss that was spent.
    sensitivity : float
        By how much one person changes the true answer at most, in the query's units.
    scale : float
        Scale of the Laplace noise, in the query's units: sensitivity / epsilon.
    granularity : float
        The noise is a multiple of this, in the query's units.
    adjacency : str
        Which tables count as neighbours.
    private : bool
        False if the noise was seeded: then nothing is guaranteed.
    n_clipped : int
        How many values lay outside the declared bounds. For the keeper of the data only: it is not covered by
        epsilon and does not belong in a publication.
    """

    value: float
    epsilon: float
    sensitivity: float
    scale: float
    granularity: float
    adjacency: str
    private: bool
    n_clipped: int = field(default=0, repr=False)

    def __float__(self) -> float:
        return self.value

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the exact confidence interval for the answer without noise (after clipping and snapping)."""
        reach = answer_reach(self.granularity, self.scale, level)
        return self.value - reach, self.value + reach


@dataclass(frozen=True)
class MeanAnswer:
    """A mean as the ratio of a noisy sum to a noisy count, each with its own share of epsilon.

    Attributes
    ----------
    value : float
        The noisy mean, within the declared bounds.
    total, count : Answer
        The noisy sum of the distances from the middle of the bounds, and the noisy number of records.
    epsilon : float
        The privacy loss in all.
    private : bool
        False if the noise was seeded.
    n_clipped : int
        As in `Answer`.
    """

    value: float
    total: Answer
    count: Answer
    bounds: tuple[float, float]
    epsilon: float
    private: bool
    n_clipped: int = field(default=0, repr=False)

    def __float__(self) -> float:
        return self.value

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return a conservative interval: sum and count each at half the error, and every ratio they allow."""
        half = 1 - (1 - check_real(level, "level", low=0, high=1, open_low=True, open_high=True)) / 2
        low, high = self.total.interval(half)
        fewest, most = (max(1.0, bound) for bound in self.count.interval(half))
        middle = (self.bounds[0] + self.bounds[1]) / 2
        ends = [total / count for total in (low, high) for count in (fewest, most)]
        return max(self.bounds[0], middle + min(ends)), min(self.bounds[1], middle + max(ends))


def answer_reach(granularity: float, scale: float, level: float) -> float:
    """Return how far an answer may lie from the true value with probability `level`."""
    check_real(level, "level", low=0, high=1, open_low=True, open_high=True)
    return grid_noise_reach(Fraction(granularity) / Fraction(scale), level) * granularity


def laplace_count(
    data: Any,
    predicate: Callable[[Any], Any] | None = None,
    *,
    epsilon: Any,
    budget: Budget | None = None,
    rng: RNGLike = None,
) -> Answer:
    """Count records with Laplace noise.

    Guarantees epsilon-differential privacy for the presence of one record and, as the count changes by at most 1 then
    too, for the replacement of one. It does not hide a person with several records, and asking again costs again.

    Parameters
    ----------
    data : DataFrame, Series, array_like or int
        The records. Without a predicate: True values are counted if the data are Boolean, all records otherwise; a
        whole number is taken as the true count.
    predicate : callable, optional
        Takes one record (a row of a table, an element of anything else) and says whether it counts.
    epsilon : number
        Privacy loss, positive.
    budget : Budget, optional
        Spent before the answer is computed.
    rng : optional
        None for a real answer. A seed or generator is for simulations.

    Returns
    -------
    Answer
        A whole number as ``value``; it may be negative. An empty table is answered like any other: a refusal would
        tell it from a table with one record.

    Raises
    ------
    ParameterError
        If epsilon is not positive or more than remains of the budget.

    Notes
    -----
    Vanhoef (2012), Property 5.1: noise of scale 1 / epsilon, here on the whole numbers and exact.
    """
    count = _count(data, predicate)
    exact = check_epsilon(epsilon)
    source = entropy_source(rng)
    spend(budget, exact, "count")
    return _noisy_count(count, exact, source, rng is None)


def _count(data: Any, predicate: Callable[[Any], Any] | None) -> int:
    if isinstance(data, int | np.integer) and not isinstance(data, bool):
        return check_integer(data, "data", low=0)
    if predicate is not None:
        check_callable(predicate, "predicate")
        if not isinstance(data, Iterable):
            raise DataError(f"`data` must be a table, a list or a count, got {data!r}")
        return how_many(predicate, (row for _, row in data.iterrows()) if isinstance(data, pd.DataFrame) else data)
    if isinstance(data, pd.DataFrame):
        return len(data)
    values = check_array(data, "data", None)
    if values.ndim != 1:
        raise DataError(f"`data` must be a table or one-dimensional, got shape {values.shape}")
    return int(values.sum()) if values.dtype == np.bool_ else values.size


def laplace_sum(
    values: ArrayLike,
    *,
    bounds: tuple[float, float],
    epsilon: Any,
    adjacency: str = "add-remove",
    granularity: float | None = None,
    budget: Budget | None = None,
    rng: RNGLike = None,
) -> Answer:
    """Sum numbers with Laplace noise.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        One number a person.
    bounds : (float, float)
        Declared lowest and highest value. Values outside are clipped, counted and told.
    epsilon : number
        Privacy loss, positive.
    adjacency : {"add-remove", "replace"}
        One record more or less: sensitivity max(abs(low), abs(high)). One record replaced: high - low.
    granularity : float, optional
        Grid to which each value is rounded before summing, in the values' units: 1 for whole numbers. Default: a
        power of two about a millionth of the sensitivity.
    budget, rng : optional
        As in `laplace_count`.

    Returns
    -------
    Answer
        ``interval`` covers the sum of the clipped and rounded values.

    Raises
    ------
    ParameterError, DataError
        If epsilon, the bounds or the adjacency break their rule, or a value is missing.

    Warns
    -----
    PrivacyWarning
        If values were clipped: the answer is then biased, and the number of clipped values is not for publication.

    Notes
    -----
    Vanhoef (2012), Theorem 5.2. Whole grid steps are summed and noised, so that no digit of the sum escapes the
    noise; the sensitivity is rounded up to whole steps.
    """
    low, high = check_bounds(bounds)
    exact = check_epsilon(epsilon)
    check_choice(adjacency, "adjacency", ADJACENCIES)
    reach = high - low if adjacency == "replace" else max(abs(low), abs(high))
    step = _step(reach, exact, granularity)
    steps, n_clipped = _clipped_steps(values, low, high, 0.0, step)
    reach_steps = _reach_steps(low, high, 0.0, step, adjacency)
    source = entropy_source(rng)
    spend(budget, exact, "sum")
    return _noisy_sum(steps, step, reach_steps, exact, adjacency, source, rng is None, n_clipped)


def laplace_mean(
    values: ArrayLike,
    *,
    bounds: tuple[float, float],
    epsilon: Any,
    granularity: float | None = None,
    budget: Budget | None = None,
    rng: RNGLike = None,
) -> MeanAnswer:
    """Estimate a mean: a noisy sum over a noisy count, half of epsilon for each.

    The number of records is not taken as known: one record more or less is what is hidden.

    Parameters
    ----------
    values, bounds, epsilon, granularity, budget, rng
        As in `laplace_sum`.

    Returns
    -------
    MeanAnswer
        Its value lies within the bounds. A noisy count below 1 is taken as 1, so that an empty table gives an answer
        as any other does.

    Raises
    ------
    DataError, ParameterError
        If the bounds or `epsilon` break their rules, values are missing, or the budget does not suffice.

    Notes
    -----
    Vanhoef (2012), Theorem 5.3 for the two queries together. The sum is that of the distances from the middle of
    the bounds, whose sensitivity, (high - low) / 2, is the smallest that a shift can give.
    """
    low, high = check_bounds(bounds)
    exact = check_epsilon(epsilon) / 2
    middle = (low + high) / 2
    step = _step((high - low) / 2, exact, granularity)
    steps, n_clipped = _clipped_steps(values, low, high, middle, step)
    reach_steps = _reach_steps(low, high, middle, step, "add-remove")
    source = entropy_source(rng)
    spend(budget, 2 * exact, "mean")
    total = _noisy_sum(steps, step, reach_steps, exact, "add-remove", source, rng is None, n_clipped)
    count = _noisy_count(len(steps), exact, source, rng is None)
    mean = min(high, max(low, middle + total.value / max(1.0, count.value)))
    return MeanAnswer(mean, total, count, (low, high), float(2 * exact), rng is None, n_clipped)


def _noisy_count(count: int, epsilon: Fraction, source: Entropy, private: bool) -> Answer:
    noisy = count + int(grid_noise(epsilon, 1, source)[0])
    return Answer(float(noisy), float(epsilon), 1.0, float(1 / epsilon), 1.0, "add-remove", private)


def _step(reach: float, epsilon: Fraction, granularity: float | None) -> float:
    if granularity is not None:
        return check_real(granularity, "granularity", low=0, high=reach, open_low=True, why="coarser than any value")
    finest = max(reach * 2.0**-20, reach / float(epsilon) * 2.0**-36)
    return float(2.0 ** math.ceil(math.log2(finest)))


def _clipped_steps(values: ArrayLike, low: float, high: float, shift: float, step: float) -> tuple[IntArray, int]:
    vector = check_vector(values, "values")
    inside = np.clip(vector, low, high)
    n_clipped = int((inside != vector).sum())
    if n_clipped:
        warnings.warn(
            f"{n_clipped} of `values` lay outside `bounds` [{low:g}, {high:g}] and were clipped: the answer is biased "
            "by that; this number itself is not private, do not publish it",
            PrivacyWarning,
            stacklevel=3,
        )
    return np.rint((inside - shift) / step).astype(np.int64), n_clipped


def _reach_steps(low: float, high: float, shift: float, step: float, adjacency: str) -> int:
    """Return the sensitivity in whole steps: rounding is monotone, so the extremes round to the extremes."""
    bottom, top = (int(np.rint((bound - shift) / step)) for bound in (low, high))
    return max(1, top - bottom if adjacency == "replace" else max(abs(bottom), abs(top)))


def _noisy_sum(
    steps: IntArray,
    step: float,
    reach: int,
    epsilon: Fraction,
    adjacency: str,
    source: Entropy,
    private: bool,
    n_clipped: int,
) -> Answer:
    exponent = epsilon / reach
    noisy = int(steps.sum()) + int(grid_noise(exponent, 1, source)[0])
    scale = float(step / exponent)
    return Answer(noisy * step, float(epsilon), reach * step, scale, step, adjacency, private, n_clipped)
