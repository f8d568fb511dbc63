"""Mondrian for tables: attributes coded in an order, parts turned into labels and losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from reident._classes import sorted_codes
from reident._typing import FloatArray, IntArray
from reident.anonymisers._criteria import Criteria
from reident.anonymisers._losses import entropy_loss
from reident.anonymisers.hierarchy import Hierarchy
from reident.errors import DataError
from reident.kernels.mondrian import mondrian, passes

__all__ = ["Partition", "partition"]


@dataclass(frozen=True)
class _Attribute:
    """A quasi-identifier coded in its order."""

    name: str
    codes: IntArray
    values: pd.Index
    places: FloatArray  # where each value lies: itself for a number or a time, its rank for a category

    def label(self, low: int, high: int) -> str:
        if low == high:
            return str(self.values[low])
        if _has_scale(self.values):
            return f"[{self.values[low]}, {self.values[high]}]"
        return "{" + ", ".join(str(value) for value in self.values[low : high + 1]) + "}"


@dataclass(frozen=True)
class Partition:
    """The parts of a table: which record lies in which, and what is released of each.

    Attributes
    ----------
    classes : ndarray of int64, shape (n,)
    columns : mapping of str to Series
        The released quasi-identifiers.
    losses : mapping of str to float
    """

    classes: IntArray
    columns: Mapping[str, pd.Series]
    losses: Mapping[str, float]


def partition(
    table: pd.DataFrame,
    quasi: list[str],
    hierarchies: Mapping[str, Hierarchy],
    criteria: Criteria,
    *,
    relaxed: bool,
) -> Partition:
    """Partition the records of a table; every part satisfies the criteria."""
    attributes = [_attribute(table[name], hierarchies.get(name)) for name in quasi]
    n = len(table)
    codes = np.empty((n, len(quasi)), dtype=np.int32)
    n_codes = np.array([len(attribute.values) for attribute in attributes], dtype=np.int64)
    places = np.zeros((len(quasi), int(n_codes.max())))
    for j, attribute in enumerate(attributes):
        codes[:, j] = attribute.codes
        places[j, : n_codes[j]] = attribute.places
    _check_root(criteria, n)
    order, starts = mondrian(
        codes, places, n_codes, criteria.k, relaxed, criteria.codes.copy(), criteria.rules, criteria.ells,
        criteria.limits, criteria.overall(),
    )  # fmt: skip
    sizes = np.diff(starts)
    classes = np.empty(n, dtype=np.int64)
    classes[order] = np.repeat(np.arange(sizes.size), sizes)
    low = np.minimum.reduceat(codes, starts[:-1], axis=0).astype(np.int64)
    high = np.maximum.reduceat(codes, starts[:-1], axis=0).astype(np.int64)
    columns = {
        attribute.name: pd.Series(_labels(attribute, low[:, j], high[:, j], classes), index=table.index)
        for j, attribute in enumerate(attributes)
    }
    return Partition(classes, columns, _losses(attributes, low, high, sizes))


def _attribute(column: pd.Series, hierarchy: Hierarchy | None) -> _Attribute:
    """Code a column in order.

    Numbers and times by value; categories by their own order, else as their hierarchy lists them from the top down,
    else as text.
    """
    name = str(column.name)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.remove_unused_categories()
        if column.cat.ordered:
            return _Attribute(name, *_ranked(column.cat.codes.to_numpy(np.int64), column.cat.categories))
        column = column.astype(column.cat.categories.dtype)
    if hierarchy is not None and column.dtype.kind not in "iufbmM":
        codes, values = pd.factorize(column)
        rows = hierarchy.rows_of(pd.Index(values), name)
        keys = [hierarchy.codes_at(level)[rows] for level in range(hierarchy.n_levels)]
        order = np.lexsort(keys)
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        return _Attribute(name, *_ranked(rank[codes], pd.Index(values).take(order)))
    codes, index = sorted_codes(column, "a quasi-identifier")
    if not _has_scale(index):
        return _Attribute(name, *_ranked(codes, index))
    places = index.to_numpy().astype(np.int64 if index.dtype.kind in "mM" else np.float64).astype(np.float64)
    if not np.isfinite(places).all():
        raise DataError(f"quasi-identifier {name!r} must be finite, got an infinite value")
    return _Attribute(name, codes, index, places)


def _has_scale(values: pd.Index) -> bool:
    return values.dtype.kind in "iufmM"


def _ranked(codes: IntArray, values: pd.Index) -> tuple[IntArray, pd.Index, FloatArray]:
    return codes, values, np.arange(len(values), dtype=np.float64)


def _check_root(criteria: Criteria, n: int) -> None:
    """Refuse a table that does not satisfy the criteria even as one class."""
    counts = np.bincount(criteria.codes)
    for rule, ell, limit in zip(criteria.rules, criteria.ells, criteria.limits, strict=True):
        if not passes(counts, n, rule, ell, limit, criteria.overall()):
            raise DataError(
                f"`ell` must be reached by the table as a whole, it is not (l = {ell:g}): no partition of it can "
                "be that diverse"
            )


def _labels(attribute: _Attribute, low: IntArray, high: IntArray, classes: IntArray) -> pd.Index:
    """Return each record's label: made once for each pair of ends, then looked up."""
    pairs, unique = pd.factorize(low * len(attribute.values) + high)
    ends = [divmod(int(pair), len(attribute.values)) for pair in unique]
    labels = pd.Index([attribute.label(*pair) for pair in ends], dtype="str")
    return labels.take(pairs[classes])


def _losses(attributes: list[_Attribute], low: IntArray, high: IntArray, sizes: IntArray) -> dict[str, float]:
    n = int(sizes.sum())
    widths, bits_lost, bits_all = [], [], []
    for j, attribute in enumerate(attributes):
        places = attribute.places
        scale = places[-1] - places[0]
        width = (places[high[:, j]] - places[low[:, j]]) / scale if scale > 0 else np.zeros(sizes.size)
        widths.append(float((width * sizes).sum() / n))
        counts = np.bincount(attribute.codes, minlength=places.size)
        before = np.r_[0, np.cumsum(counts)]
        covered = before[high[:, j] + 1] - before[low[:, j]]
        own = float((counts * np.log2(np.maximum(counts, 1))).sum())
        bits_lost.append(float((sizes * np.log2(covered)).sum()) - own)
        bits_all.append(float(n * np.log2(n)) - own)
    certainty = float(np.mean(widths))
    return {
        "precision": certainty,
        "discernibility": float((sizes.astype(np.float64) ** 2).sum() / n**2),
        "entropy": entropy_loss(np.array(bits_lost), np.array(bits_all)),
        "ncp": certainty,
    }
