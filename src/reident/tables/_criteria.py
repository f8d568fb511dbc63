"""Anonymiser. Criteria of a class beside its size, l-diversity and t-closeness, in the form that kernels take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from reident.base import BoolArray, DataError, FloatArray, IntArray, ParameterError, check_columns, check_integer
from reident.kernels.tables import mondrian as rules_of
from reident.tables._runs import Runs, levels_of, ordered_codes
from reident.tables.classes import encode_column
from reident.tables.hierarchy import Hierarchy

__all__ = ["Criteria", "read_criteria"]

_DIVERSITY = {"distinct": rules_of.DISTINCT, "entropy": rules_of.ENTROPY, "recursive": rules_of.RECURSIVE}
_DISTANCE = {
    "equal": rules_of.EQUAL_DISTANCE,
    "ordered": rules_of.ORDERED_DISTANCE,
    "hierarchical": rules_of.HIERARCHICAL_DISTANCE,
}
_HAIR = 1e-12


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
        """Tell which classes satisfy the rules (their size apart)."""
        passing = np.ones(runs.sizes.size, dtype=bool)
        for rule, ell, limit in zip(self.rules, self.ells, self.limits, strict=True):
            if rule == rules_of.DISTINCT:
                passing &= runs.distinct() >= ell
            elif rule == rules_of.ENTROPY:
                passing &= runs.entropy() >= np.log(ell) - _HAIR
            elif rule == rules_of.RECURSIVE:
                passing &= runs.recursive_c(int(ell)) < limit
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
    diversity: str,
    c: float,
    t: float | None,
    distance: str,
    hierarchies: Mapping[str, Hierarchy],
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
    check_columns(table, sensitive, "sensitive")
    if sensitive in quasi:
        raise ParameterError(f"`sensitive` must not be a quasi-identifier too, got {sensitive!r} in both roles")
    if ell is None and t is None:
        raise ParameterError(f"`ell` or `t` must be given with `sensitive` ({sensitive!r}), got neither")
    column = table[sensitive]
    if column.isna().any():
        raise DataError(
            f"`table` must not have missing values in the sensitive attribute {sensitive!r}, got "
            f"{int(column.isna().sum())}: give them a label of their own, or leave the records out"
        )
    chosen: list[tuple[int, float, float]] = []
    if ell is not None:
        if diversity != "entropy":
            # A whole number stays one as a float: the signature says "float", for entropy.
            whole = int(ell) if ell.is_integer() else ell
            check_integer(whole, "ell", low=1, why="only entropy l-diversity takes a fraction")
        chosen.append((_DIVERSITY[diversity], ell, c))
    if t is not None:
        chosen.append((_DISTANCE[distance], 0.0, t))
    ordered = t is not None and distance == "ordered"
    codes = ordered_codes(column) if ordered else encode_column(column)[0]
    levels = np.zeros((0, 0), np.int64)
    if t is not None and distance == "hierarchical":
        levels = levels_of(hierarchies.get(sensitive), encode_column(column)[1], sensitive)
    rules, ells, limits = (np.array(part) for part in zip(*chosen, strict=True))
    return Criteria(k, codes, rules.astype(np.int64), ells.astype(np.float64), limits.astype(np.float64), levels)
