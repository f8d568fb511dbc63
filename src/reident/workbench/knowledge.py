"""The price of knowledge: one release against each subset of the quasi-identifiers that an intruder may know."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from reident.base import ParameterError, RNGLike, check_integer, check_real, check_rng
from reident.methods.attacks import in_persons
from reident.methods.release import LAT, LON, Knowledge, Release
from reident.tables.agreement import agreement
from reident.workbench.evaluate import evaluate, knowledge_of

__all__ = ["PLACE", "KnowledgePrice", "knowledge_price", "price", "priced"]

#: Columns up to which every subset is tried, and of more columns the largest subsets that are and how many.
ALL, UP_TO, MOST = 8, 3, 3000
#: Orders drawn to share the risk out among more columns than that, and the least of them among a great many.
_ORDERS, _LEAST_ORDERS = 100, 10
#: What the place of a person is called among the columns known.
PLACE = "place"
#: Persons on whom an intruder who knows the place is tried.
_PERSONS = 500


@dataclass(frozen=True, eq=False)
class KnowledgePrice:
    """The value of each piece of knowledge to an intruder.

    Attributes
    ----------
    subsets : DataFrame
        One row a subset: ``known`` (columns, separated by commas), ``size``, ``risk`` (mean success),
        ``share_above_limit``, ``worst`` (the largest risk of a person). Sorted by size, then by risk, highest first.
    columns : DataFrame
        One row a column: ``column``, ``share_above_limit`` and ``risk``: what knowing it adds to either, the mean over
        all orders in which an intruder may learn the columns (Shapley value). They sum to what knowing all adds.
    limit : float
        The tolerable risk of a person.
    exact : bool
        Whether the contributions are over all orders, and not over some that were drawn.
    """

    subsets: pd.DataFrame
    columns: pd.DataFrame
    limit: float
    exact: bool

    @property
    def worst(self) -> pd.DataFrame:
        """The subset of each size that puts most persons above the limit; among equals the one with most success."""
        order = self.subsets.sort_values(
            ["size", "share_above_limit", "risk"], ascending=[True, False, False], kind="stable"
        )
        return order.drop_duplicates("size").reset_index(drop=True)


def knowledge_price(
    release: Release, dataset: Any = None, *, limit: float = 0.25, max_size: int | None = None, rng: RNGLike = 0
) -> KnowledgePrice:
    """Attack a release with each subset of the knowledge that an intruder may have.

    Each intruder knows some quasi-identifiers of everybody, exactly, and joins by what the release left of them as it
    was, generalised or rounded; who knows the place too also takes the nearest released place. It tells which column to
    coarsen: the one that contributes most. What noise changed is no evidence to a join; `evaluate` has attacks for it.

    Parameters
    ----------
    release : Release
        What `protect` returned, or a release as attacks read it, its index the row numbers of the data set.
    dataset : Dataset, optional
        Default: that of the release. The place, if both have it, is one more piece of knowledge, `place`.
    limit : float, default 0.25
        The tolerable risk of a person.
    max_size : int, optional
        Subsets of so many columns at most, and the whole set. Default: all subsets of up to 8 columns, else those of up
        to 3, or fewer where there are more than 3,000.
    rng : Generator, int or None
        Draws the orders in which more than 8 columns are learned, and the 500 persons on whom places are tried.

    Returns
    -------
    KnowledgePrice

    Raises
    ------
    ParameterError
        If no data set says what is known, nothing of it is released, or the limit is no share.

    Notes
    -----
    Contributions are Shapley (1953) values of the game whose players are the columns: exact for up to 8 of them, else
    the mean over 100 drawn orders, 10 at least where there are many columns. One grouping of the records a subset.

    Examples
    --------
    >>> from reident.workbench.dataset import Dataset
    >>> people = pd.DataFrame({"age": [30, 30, 30, 41, 41, 52], "sex": list("ffffmm")})
    >>> release = Release("table", people, "original", {}, 6)
    >>> price = knowledge_price(release, Dataset(people, quasi=["age", "sex"]), limit=0.4)
    >>> price.subsets[["known", "share_above_limit"]].round(2).values.tolist()
    [['age', 0.5], ['sex', 0.33], ['age, sex', 0.5]]
    >>> price.columns.round(2).values.tolist()
    [['age', 0.33, 0.33], ['sex', 0.17, 0.17]]
    """
    limit = check_real(limit, "limit", low=0, high=1)
    return price(release, knowledge_of(release, dataset), limit=limit, max_size=max_size, rng=rng)


def priced(release: Release, knowledge: Knowledge, *, limit: float = 0.25, rng: RNGLike = 0) -> KnowledgePrice | None:
    """Return the `price` of a release; None where no known column is released."""
    try:
        return price(release, knowledge, limit=limit, rng=rng)
    except ParameterError:
        return None


def price(
    release: Release, knowledge: Knowledge, *, limit: float = 0.25, max_size: int | None = None, rng: RNGLike = 0
) -> KnowledgePrice:
    """Return `knowledge_price` for a release and knowledge in the form in which attacks take them."""
    generator = check_rng(rng)
    names = list(knowledge.compared(release)) if len(release.table) else []
    if release.has_places and knowledge.has_places:
        names.append(PLACE)
    if not names:
        raise ParameterError("`quasi` must name a column of the release or the place be released, got neither")
    every = len(names) <= ALL
    largest = len(names) if max_size is None else check_integer(max_size, "max_size", low=1)
    size = min(len(names) if every else _size(len(names)), largest)
    value = _values(release, knowledge, limit, int(generator.integers(2**31)))
    tried = [subset for k in range(1, size + 1) for subset in itertools.combinations(names, k)]
    tried += [] if size == len(names) else [tuple(names)]
    rows = [{"known": ", ".join(subset), "size": len(subset), **value(frozenset(subset))} for subset in tried]
    subsets = pd.DataFrame(rows).sort_values(
        ["size", "risk"], ascending=[True, False], kind="stable", ignore_index=True
    )
    if every:
        shared = _shapley(names, value, _each_once(names))
    else:
        n_orders = max(_LEAST_ORDERS, min(_ORDERS, MOST // len(names)))
        orders = [generator.permutation(names).tolist() for _ in range(n_orders)]
        steps = ((1.0, order[:place], name) for order in orders for place, name in enumerate(order))
        shared = _shapley(names, value, steps) / n_orders
    columns = shared.reset_index(names="column")
    columns = columns.sort_values(["share_above_limit", "risk"], ascending=False, kind="stable", ignore_index=True)
    return KnowledgePrice(subsets, columns, limit, every)


def _size(n_names: int) -> int:
    """Return the size up to which subsets of many columns are tried."""
    return max(k for k in range(1, UP_TO + 1) if k == 1 or sum(math.comb(n_names, j) for j in range(1, k + 1)) <= MOST)


_Value = Callable[[frozenset[str]], dict[str, float]]
#: A weight, what is known before, and what is learned then.
_Step = tuple[float, Sequence[str], str]


def _values(release: Release, knowledge: Knowledge, limit: float, seed: int) -> _Value:
    """Return the risks by the columns known, each computed once."""
    compared, usable = knowledge.compared(release), set(knowledge.unperturbed(release))
    stored: dict[frozenset[str], dict[str, float]] = {}

    def joined(known: frozenset[str]) -> dict[str, float]:
        used = [name for name in compared if name in known and name in usable]
        reduced_release, reduced, both = release, knowledge, compared
        if knowledge.persons is not None:  # whose records are one in these columns need not be one in others
            reduced_release, reduced = in_persons(release, replace(knowledge, known=knowledge.known[used], quasi=used))
            both = reduced.compared(reduced_release)
        result, persons = (
            agreement(both, used, reduced_release.table, len(reduced.known)),
            np.flatnonzero(reduced.present),
        )
        counts = result.counts()[persons]
        sure = np.divide(1.0, counts, out=np.zeros(len(counts)), where=counts > 0)
        right = sure * result.holds(persons, reduced.truth[persons])
        sure, right = (pd.Series(subset).groupby(reduced.who[persons], sort=False).max() for subset in (sure, right))
        above = float((sure > limit + 1e-12).mean())
        return {"risk": float(right.mean()), "share_above_limit": above, "worst": float(sure.max())}

    def placed(known: frozenset[str]) -> dict[str, float]:
        used = [name for name in compared if name in known]
        reduced = replace(knowledge, known=knowledge.known[[*used, LAT, LON]], quasi=used, n_persons=_PERSONS)
        result = evaluate(release, reduced, limit=limit, attacks=["nearest_place"], seed=seed)
        alone, row = value(known - {PLACE}), result.frame.iloc[0]
        return {
            "risk": max(alone["risk"], 0.0 if math.isnan(row["risk"]) else float(row["risk"])),
            "share_above_limit": max(alone["share_above_limit"], result.share_above_limit),
            "worst": max(alone["worst"], result.highest),
        }

    def value(known: frozenset[str]) -> dict[str, float]:
        if known not in stored:
            stored[known] = placed(known) if PLACE in known else joined(known)
        return stored[known]

    return value


def _each_once(names: Sequence[str]) -> Iterator[_Step]:
    """Yield each name after each subset of the others, weighted by the share of all orders that begin so."""
    n = len(names)
    for name in names:
        others = [other for other in names if other != name]
        for k in range(n):
            for subset in itertools.combinations(others, k):
                yield 1 / (n * math.comb(n - 1, k)), subset, name


def _shapley(names: Sequence[str], value: _Value, steps: Iterable[_Step]) -> pd.DataFrame:
    """Return the contribution of each name to those known before it, summed over steps with their weights."""
    added = {measure: dict.fromkeys(names, 0.0) for measure in ("share_above_limit", "risk")}
    for weight, before, name in steps:
        without, with_it = value(frozenset(before)), value(frozenset((*before, name)))
        for measure, of in added.items():
            of[name] += weight * (with_it[measure] - without[measure])
    return pd.DataFrame(added, index=list(names))
