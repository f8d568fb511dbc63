"""Metric. Frequencies of the sensitive values in each class, and the criteria that follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError, FloatArray, IntArray, ParameterError
from reident.tables.classes import sorted_codes

__all__ = ["Runs", "levels_of", "ordered_codes", "sensitive_runs"]


@dataclass(frozen=True)
class Runs:
    """The non-zero counts of (class, value), sorted by class and value.

    Attributes
    ----------
    starts : ndarray of int64, shape (n_classes + 1,)
        Where the runs of each class start, and the end.
    values, counts : ndarray of int64, shape (n_runs,)
    sizes : ndarray of int64, shape (n_classes,)
        Records of each class.
    totals : ndarray of int64, shape (m,)
        Records of each value in all classes together.
    """

    starts: IntArray
    values: IntArray
    counts: IntArray
    sizes: IntArray
    totals: IntArray

    def _owner(self) -> IntArray:
        return np.repeat(np.arange(self.sizes.size), np.diff(self.starts))

    def _shares(self) -> FloatArray:
        return self.counts / self.sizes[self._owner()]

    def _per_class(self, terms: FloatArray) -> FloatArray:
        return np.add.reduceat(terms, self.starts[:-1])

    def _descending(self) -> tuple[IntArray, IntArray]:
        """Return counts sorted downwards inside each class, and for each the sum from it to its class's end."""
        owner = self._owner()
        counts = self.counts[np.lexsort((-self.counts, owner))]
        before = np.r_[0, np.cumsum(counts)]
        return counts, before[self.starts[1:]][owner] - before[:-1]

    def distinct(self) -> IntArray:
        """Return the number of distinct values of each class."""
        return np.diff(self.starts)

    def entropy(self) -> FloatArray:
        """Return the entropy of each class, in nats."""
        shares = self._shares()
        return -self._per_class(shares * np.log(shares))

    def recursive_l(self, c: float) -> IntArray:
        """Return the largest l for which each class is recursive (c, l)-diverse."""
        counts, tails = self._descending()
        owner = self._owner()
        diverse = counts[self.starts[:-1]][owner] < c * tails
        # The tail shrinks from place to place, so the places that pass are the first ones.
        return np.bincount(owner, weights=diverse, minlength=self.sizes.size).astype(np.int64)

    def recursive_c(self, ell: int) -> FloatArray:
        """Return the c that each class does not reach, but every greater c does; infinite below l values."""
        counts, tails = self._descending()
        smallest = np.full(self.sizes.size, np.inf)
        is_diverse = self.distinct() >= ell
        first = self.starts[:-1][is_diverse]
        smallest[is_diverse] = counts[first] / tails[first + ell - 1]
        return smallest

    def equal_distance(self) -> FloatArray:
        """Return the total variation distance between each class and all of them together."""
        overall = self.totals / self.totals.sum()
        # Both distributions sum to one, so what a class has too much of is what it has too little of.
        return self._per_class(np.maximum(self._shares() - overall[self.values], 0.0))

    def hierarchical_distance(self, levels: IntArray) -> FloatArray:
        """Return the hierarchical distance between each class and all of them together.

        `levels` holds the code of each value on the levels 0, 1, ... below the root. A path from value to value goes up
        to their common label and down again, so the distance is the mean over the levels of the total variation there.
        """
        owner, overall = self._owner(), self.totals / self.totals.sum()
        distances = np.zeros(self.sizes.size)
        for codes in levels[:, : overall.size]:
            whole = np.bincount(codes, weights=overall)
            parts, place = np.unique(owner * whole.size + codes[self.values], return_inverse=True)
            mass = np.bincount(place, weights=self._shares())
            excess = np.maximum(mass - whole[parts % whole.size], 0.0)
            distances += np.bincount(parts // whole.size, weights=excess, minlength=self.sizes.size)
        return distances / max(len(levels), 1)

    def ordered_distance(self) -> FloatArray:
        """Return the ordered earth mover's distance between each class and all of them together."""
        m = self.totals.size
        if m < 2:
            return np.zeros(self.sizes.size)
        cumulative = np.cumsum(self.totals / self.totals.sum())
        sums = np.r_[0.0, np.cumsum(cumulative)]
        # Between two of its values a class's distribution function is level; the table's is summed on both sides of it.
        before = np.cumsum(self.counts) - self.counts
        before -= np.repeat(before[self.starts[:-1]], np.diff(self.starts))
        low, high = np.r_[0, self.values[:-1]], self.values.copy()
        low[self.starts[:-1]] = 0
        last = self.starts[1:] - 1
        owner = np.r_[self._owner(), np.arange(self.sizes.size)]
        low, high = np.r_[low, self.values[last]], np.r_[high, np.full(last.size, m)]
        level = np.r_[before, self.sizes] / self.sizes[owner]
        split = np.clip(np.searchsorted(cumulative, level), low, high)
        below = level * (split - low) - (sums[split] - sums[low])
        above = (sums[high] - sums[split]) - level * (high - split)
        return np.bincount(owner, weights=below + above, minlength=self.sizes.size) / (m - 1)


def sensitive_runs(ids: IntArray, codes: IntArray, weights: IntArray | None = None) -> Runs:
    """Return the runs of entries with class `ids` and sensitive value `codes`, both without gaps from 0.

    An entry stands for one record, or for as many as `weights` says.
    """
    n_classes, n_codes = int(ids.max()) + 1, int(codes.max()) + 1
    # By class and, inside a class, by code; small numbers are sorted in linear time.
    order = np.argsort(codes.astype(np.min_scalar_type(n_codes)), kind="stable")
    order = order[np.argsort(ids[order].astype(np.min_scalar_type(n_classes)), kind="stable")]
    ids, codes = ids[order], codes[order]
    first = np.flatnonzero(np.r_[True, (ids[1:] != ids[:-1]) | (codes[1:] != codes[:-1])])
    if weights is None:
        counts = np.diff(np.r_[first, ids.size]).astype(np.int64)
    else:
        counts = np.add.reduceat(weights[order], first)
    starts = np.r_[0, np.cumsum(np.bincount(ids[first], minlength=n_classes))].astype(np.int64)
    sizes = np.add.reduceat(counts, starts[:-1])
    totals = np.bincount(codes[first], weights=counts, minlength=n_codes).astype(np.int64)
    return Runs(starts, codes[first], counts, sizes, totals)


def levels_of(hierarchy: Any, values: pd.Index, column: str) -> IntArray:
    """Return the code of each value on every level of a hierarchy below its root, shape (levels, values).

    The root is the last level if that is one label for all; else it is thought above it.
    """
    if not hasattr(hierarchy, "codes_at"):
        raise ParameterError(
            f"`hierarchies` must have a Hierarchy of the sensitive attribute {column!r} for the hierarchical distance, "
            f"got {hierarchy!r}"
        )
    rows = hierarchy.rows_of(values, column)
    has_root = len(hierarchy.labels_at(hierarchy.n_levels - 1)) == 1
    levels = [hierarchy.codes_at(level)[rows] for level in range(hierarchy.n_levels - has_root)]
    return np.array(levels, dtype=np.int64).reshape(len(levels), len(values))


def ordered_codes(column: pd.Series, name: str = "sensitive") -> IntArray:
    """Code values in their order: an ordered Categorical's own, else the sorted one."""
    if column.isna().any():
        raise DataError(
            f"`{name}` must not have missing values for an ordered distance, got {int(column.isna().sum())} in "
            f"{column.name!r}: a missing value has no place in the order (use missing='drop')"
        )
    if isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered:
        return np.unique(column.cat.codes, return_inverse=True)[1].astype(np.int64, copy=False)
    return sorted_codes(column, f"`{name}`")[0]
