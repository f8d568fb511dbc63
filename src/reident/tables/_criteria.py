"""Metric. Criteria of a class beside its size, l-diversity and t-closeness, from frequencies in classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from reident.base import BoolArray, DataError, FloatArray, IntArray, ParameterError, check_integer
from reident.kernels.tables import mondrian as rules_of
from reident.tables.classes import check_no_gaps, check_sensitive, encode_column, sorted_codes

_DIVERSITY = {"distinct": rules_of.DISTINCT, "entropy": rules_of.ENTROPY}
_DISTANCE = {
    "equal": rules_of.EQUAL_DISTANCE,
    "ordered": rules_of.ORDERED_DISTANCE,
    "hierarchical": rules_of.HIERARCHICAL_DISTANCE,
}
_HAIR = 1e-12


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

    def owner(self) -> IntArray:
        """Return the class of each run."""
        return np.repeat(np.arange(self.sizes.size), np.diff(self.starts))

    def shares(self) -> FloatArray:
        """Return the share of each run in the records of its class."""
        return self.counts / self.sizes[self.owner()]

    def distinct(self) -> IntArray:
        """Return the number of distinct values of each class."""
        return np.diff(self.starts)

    def entropy(self) -> FloatArray:
        """Return the entropy of each class, in nats."""
        shares = self.shares()
        return -np.add.reduceat(shares * np.log(shares), self.starts[:-1])

    def recursive_l(self, c: float) -> IntArray:
        """Return the largest l for which each class is recursive (c, l)-diverse."""
        owner = self.owner()
        counts = self.counts[np.lexsort((-self.counts, owner))]
        before = np.r_[0, np.cumsum(counts)]
        # The largest count of a class against the sum of those from each place on.
        diverse = counts[self.starts[:-1]][owner] < c * (before[self.starts[1:]][owner] - before[:-1])
        # The tail shrinks from place to place, so the places that pass are the first ones.
        return np.bincount(owner, weights=diverse, minlength=self.sizes.size).astype(np.int64)

    def equal_distance(self) -> FloatArray:
        """Return the total variation distance between each class and all of them together."""
        overall = self.totals / self.totals.sum()
        # Both distributions sum to one: the excess equals the deficit.
        return np.add.reduceat(np.maximum(self.shares() - overall[self.values], 0.0), self.starts[:-1])

    def hierarchical_distance(self, levels: IntArray) -> FloatArray:
        """Return the hierarchical distance between each class and all of them together.

        `levels` holds the code of each value on the levels 0, 1, ... below the root. A path from value to value goes up
        to their common label and down again, so the distance is the mean over the levels of the total variation there.
        """
        owner, overall = self.owner(), self.totals / self.totals.sum()
        distances = np.zeros(self.sizes.size)
        for codes in levels[:, : overall.size]:
            whole = np.bincount(codes, weights=overall)
            parts, place = np.unique(owner * whole.size + codes[self.values], return_inverse=True)
            mass = np.bincount(place, weights=self.shares())
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
        owner = np.r_[self.owner(), np.arange(self.sizes.size)]
        low, high = np.r_[low, self.values[last]], np.r_[high, np.full(last.size, m)]
        level = np.r_[before, self.sizes] / self.sizes[owner]
        split = np.clip(np.searchsorted(cumulative, level), low, high)
        below = level * (split - low) - (sums[split] - sums[low])
        above = (sums[high] - sums[split]) - level * (high - split)
        return np.bincount(owner, weights=below + above, minlength=self.sizes.size) / (m - 1)


def sensitive_runs(ids: IntArray, codes: IntArray, weights: IntArray | None = None) -> Runs:
    """Return the runs of entries with class `ids` and sensitive value `codes`, both without gaps from 0.

    `weights` gives the records of each entry, 1 by default.
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

    If the last level has more than one label, an implicit root is added above it.
    """
    if not hasattr(hierarchy, "codes_at"):
        raise ParameterError(
            f"`hierarchies` must have a Hierarchy of the sensitive attribute {column!r} for the hierarchical distance, "
            f"got {hierarchy!r}"
        )
    rows = hierarchy.rows_of(values, column)
    has_root = hierarchy.codes_at(hierarchy.n_levels - 1).max() == 0
    levels = [hierarchy.codes_at(level)[rows] for level in range(hierarchy.n_levels - has_root)]
    return np.array(levels, dtype=np.int64).reshape(len(levels), len(values))


def ordered_codes(column: pd.Series) -> IntArray:
    """Code values in their order: an ordered Categorical's own, else the sorted one."""
    if column.isna().any():
        raise DataError(
            f"`sensitive` must not have missing values for an ordered distance, got {int(column.isna().sum())} in "
            f"{column.name!r}: a missing value has no place in the order (use missing='drop')"
        )
    if isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered:
        return np.unique(column.cat.codes, return_inverse=True)[1].astype(np.int64, copy=False)
    return sorted_codes(column, "`sensitive`")[0]


@dataclass(frozen=True)
class Criteria:
    """The size k and any further rules.

    Attributes
    ----------
    k : int
    codes : ndarray of int64, shape (n,)
        The sensitive value of each record, in its order; all zero without further rules.
    rules : ndarray of int64, shape (r,)
        Codes of `reident.kernels.tables.mondrian`.
    ells, limits : ndarray of float64, shape (r,)
        The l of each rule, and its c or t.
    levels : ndarray of int64, shape (levels, m)
        The code of each sensitive value on the levels of its hierarchy, for the hierarchical distance.
    """

    k: int
    codes: IntArray
    rules: IntArray
    ells: FloatArray
    limits: FloatArray
    levels: IntArray = field(default_factory=lambda: np.zeros((0, 0), np.int64))

    @property
    def monotone_with_suppression(self) -> bool:
        """Whether further generalisation keeps every satisfied criterion, even when failing classes are suppressed.

        True of k and of distinct l. Not of the others: merging a class that passes with one that fails may fail, and
        then more records are suppressed than before.
        """
        return all(rule == rules_of.DISTINCT for rule in self.rules)

    @property
    def depends_on_others(self) -> bool:
        """Whether the verdict on a class depends on the other classes (t-closeness)."""
        return bool(np.isin(self.rules, tuple(_DISTANCE.values())).any())

    def overall(self) -> FloatArray:
        """Return the distribution of the sensitive value in the table."""
        counts = np.bincount(self.codes)
        return counts / counts.sum()

    def passing(self, runs: Runs) -> BoolArray:
        """Return the classes that satisfy the rules (their size apart)."""
        passing = np.ones(runs.sizes.size, dtype=bool)
        for rule, ell, limit in zip(self.rules, self.ells, self.limits, strict=True):
            if rule == rules_of.DISTINCT:
                passing &= runs.distinct() >= ell
            elif rule == rules_of.ENTROPY:
                passing &= runs.entropy() >= np.log(ell) - _HAIR
            elif rule == rules_of.RECURSIVE:
                passing &= runs.recursive_l(limit) >= ell
            elif rule == rules_of.EQUAL_DISTANCE:
                passing &= runs.equal_distance() <= limit + _HAIR
            elif rule == rules_of.HIERARCHICAL_DISTANCE:
                passing &= runs.hierarchical_distance(self.levels) <= limit + _HAIR
            else:
                passing &= runs.ordered_distance() <= limit + _HAIR
        return passing


def read_criteria(
    table: pd.DataFrame,
    quasi: list[str],
    *,
    k: int,
    sensitive: str | None,
    ell: float | None,
    diversity: str | float,
    t: float | None,
    distance: str,
    hierarchies: Mapping[str, Any],
) -> Criteria:
    """Check the arguments of the criteria together; the anonymiser's signature has checked each by itself."""
    n = len(table)
    if k > n:
        raise ParameterError(f"`k` must be at most the number of records ({n}), got {k}: no class could hold k records")
    if sensitive is None:
        if ell is not None or t is not None:
            raise ParameterError("`sensitive` must name the sensitive attribute where `ell` or `t` is given, got None")
        none = np.zeros(0)
        return Criteria(k, np.zeros(n, dtype=np.int64), none.astype(np.int64), none, none)
    if not isinstance(sensitive, str):
        raise ParameterError(f"`sensitive` must be the name of one column, got {sensitive!r}")
    check_sensitive(table, sensitive, quasi)
    if ell is None and t is None:
        raise ParameterError(f"`ell` or `t` must be given with `sensitive` ({sensitive!r}), got neither")
    column = table[sensitive]
    check_no_gaps(column, "table")
    chosen: list[tuple[int, float, float]] = []
    if ell is not None:
        if diversity != "entropy":
            # A whole number stays one as a float: the signature says "float", for entropy.
            whole = int(ell) if ell.is_integer() else ell
            check_integer(whole, "ell", low=1, why="only entropy l-diversity takes a fraction")
        rule, limit = (_DIVERSITY[diversity], 0.0) if isinstance(diversity, str) else (rules_of.RECURSIVE, diversity)
        chosen.append((rule, ell, limit))
    if t is not None:
        chosen.append((_DISTANCE[distance], 0.0, t))
    ordered = t is not None and distance == "ordered"
    codes = ordered_codes(column) if ordered else encode_column(column)[0]
    levels = np.zeros((0, 0), np.int64)
    if t is not None and distance == "hierarchical":
        levels = levels_of(hierarchies.get(sensitive), encode_column(column)[1], sensitive)
    rules, ells, limits = (np.array(part) for part in zip(*chosen, strict=True))
    return Criteria(k, codes, rules.astype(np.int64), ells.astype(np.float64), limits.astype(np.float64), levels)
