"""Attack. Released records that agree with the known values of a person.

Values are compared as they are, through the labels that cover them, and through rounding; a column is never reduced to
its most frequent values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from reident.base import BoolArray, FloatArray, IntArray, is_numeric
from reident.tables.classes import class_ids, class_rows, first_rows, suppressed_rows
from reident.tables.labels import LabelReader, common_texts

#: A column counts as left as it was if at least this share of the true pairs agree in it.
KEPT = 0.99
# Cells of a table of values by labels above which a rounded value goes to one label only.
_CELLS = 50_000_000


@dataclass(frozen=True, eq=False)
class ComparedColumn:
    """One column of the known file against the release.

    Attributes
    ----------
    person_codes, record_codes : ndarray of int64
        Codes of each known person's value and of each released record's label.
    label_of : ndarray of int64, shape (n_values,), or None
        The one label that agrees with each value, -1 for none; None where several do.
    covers : ndarray of bool, shape (n_values, n_labels), or None
        Which labels agree with each value, where several may.
    """

    person_codes: IntArray
    record_codes: IntArray
    label_of: IntArray | None
    covers: BoolArray | None

    def agree(self, persons: IntArray, records: IntArray) -> BoolArray:
        """Return whether persons and records agree, pair by pair; both are broadcast."""
        values, labels = self.person_codes[persons], self.record_codes[records]
        if self.label_of is not None:
            return np.asarray(self.label_of[values] == labels)
        assert self.covers is not None
        return np.asarray(self.covers[values, labels])


@dataclass(frozen=True, eq=False)
class Agreement:
    """Which released records agree with each known person in every column.

    Attributes
    ----------
    groups : ndarray of int64, shape (n_known,)
        Persons with equal values are one group.
    classes : ndarray of int64, shape (n_release,)
        Records with equal labels are one class; -1 for suppressed records, which are in none.
    starts, members : ndarray of int64
        The classes that agree with group g are ``members[starts[g]:starts[g + 1]]``.
    sizes : ndarray of int64
        Records of each class.
    """

    groups: IntArray
    classes: IntArray
    starts: IntArray
    members: IntArray
    sizes: IntArray

    def counts(self) -> IntArray:
        """Return how many released records agree with each person."""
        summed = np.concatenate([[0], np.cumsum(self.sizes[self.members])])
        counts: IntArray = (summed[self.starts[1:]] - summed[self.starts[:-1]])[self.groups]
        return counts

    def holds(self, persons: IntArray, records: IntArray) -> BoolArray:
        """Return whether persons and records agree, pair by pair; a record of -1 agrees with no person."""
        n_classes = len(self.sizes)
        groups = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        keys = np.sort(groups * n_classes + self.members)
        classes = np.where(records >= 0, self.classes[records], -1)
        is_candidate: BoolArray = np.isin(self.groups[persons] * n_classes + classes, keys) & (classes >= 0)
        return is_candidate

    def patterns(self) -> tuple[Any, IntArray]:
        """Return which classes agree together: a sparse row a distinct set of classes, and the row of each person."""
        from scipy.sparse import csr_array

        numbers: dict[bytes, int] = {}
        rows = [np.sort(self.members[a:b]) for a, b in pairwise(self.starts)]
        of = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rows], dtype=np.int64)
        first = np.unique(of, return_index=True)[1]
        members = np.concatenate([rows[g] for g in first]) if len(first) else self.members[:0]
        starts = np.concatenate([[0], np.cumsum([len(rows[g]) for g in first])]).astype(np.int64)
        table = csr_array((np.ones(len(members)), members, starts), shape=(len(first), len(self.sizes)))
        return table, of[self.groups]

    def candidates(self) -> list[IntArray]:
        """Return for each group the rows of the release that agree with it."""
        rows = class_rows(self.classes, len(self.sizes))
        empty = np.empty(0, dtype=np.int64)
        return [
            np.concatenate([rows[c] for c in self.members[a:b]]) if b > a else empty for a, b in pairwise(self.starts)
        ]


def step_of(numbers: FloatArray) -> float:
    """Return the largest step of which all numbers are multiples, up to six decimals; 0 if there is none.

    Examples
    --------
    >>> step_of(np.array([10.0, 25.0, 40.0])), step_of(np.array([0.5, 2.0])), step_of(np.array([np.pi]))
    (5.0, 0.5, 0.0)
    """
    scaled = np.abs(numbers[np.isfinite(numbers)]) * 1e6
    if not scaled.size or scaled.max() > 2**52 or np.abs(scaled - np.rint(scaled)).max() > 1e-3 * (1 + 1e-9):
        return 0.0
    return float(np.gcd.reduce(np.rint(scaled).astype(np.int64))) / 1e6


def _as_numbers(known: pd.Series, release: pd.Series) -> tuple[FloatArray, FloatArray] | None:
    """Return both columns as numbers if one is of a numeric type and the other reads as numbers throughout."""
    if not any(map(is_numeric, (known, release))):
        return None
    if any(pd.api.types.is_datetime64_any_dtype(column) for column in (known, release)):
        return None  # a year is no number of nanoseconds
    read = [pd.to_numeric(column.astype(object), errors="coerce") for column in (known, release)]
    if any((numbers.isna() & column.notna()).any() for numbers, column in zip(read, (known, release), strict=True)):
        return None
    return read[0].to_numpy(np.float64), read[1].to_numpy(np.float64)


def compare_column(known: pd.Series, release: pd.Series, hierarchy: Any) -> ComparedColumn:
    """Code both columns; a missing label covers every value, unless it is one that the known file has as often."""
    gaps_agree = _keeps_gaps(known, release)
    numbers = _as_numbers(known, release)
    if numbers is not None:
        fine, coarse = step_of(numbers[0]), step_of(numbers[1])
        if fine > 0 and (coarse > fine * (1 + 1e-9)):
            return _rounded(*numbers, coarse, gaps_agree)
        if fine > 0:  # released values between the steps of the true ones are rounded back to them
            numbers = np.rint(numbers[0] / fine), np.rint(numbers[1] / fine)
        sides = [pd.Series(side, dtype=object) for side in numbers]
        sides = [side.where(side.notna(), None) for side in sides]
    else:
        sides = common_texts(known, release)
    (values, value_index), (labels, label_index) = (pd.factorize(side, use_na_sentinel=False) for side in sides)
    label_of = pd.Index(label_index).get_indexer(pd.Index(value_index)).astype(np.int64)
    read = label_of[label_of >= 0]
    unread = np.setdiff1d(np.arange(len(label_index)), read if gaps_agree else read[~pd.isna(label_index[read])])
    if numbers is not None:
        unread = unread[pd.isna(label_index[unread])]
    if not unread.size:
        return ComparedColumn(values, labels, label_of, None)
    covers = np.zeros((len(value_index), len(label_index)), dtype=bool)
    labelled = np.flatnonzero(label_of >= 0)
    covers[labelled, label_of[labelled]] = True
    raw = release.astype(object).to_numpy()[np.unique(labels, return_index=True)[1]]
    covers[:, unread] = LabelReader(pd.Index(value_index), pd.Index(raw[unread], dtype=object), hierarchy).cover()
    if covers.sum(axis=1).max(initial=0) > 1:
        return ComparedColumn(values, labels, None, covers)
    return ComparedColumn(values, labels, np.where(covers.any(axis=1), covers.argmax(axis=1), -1), None)


def _keeps_gaps(known: pd.Series, release: pd.Series) -> bool:
    """Return whether the release's gaps are those of the known file; if there are more, values were suppressed."""
    gaps, released_gaps = int(known.isna().sum()), int(release.isna().sum())
    share = gaps / max(len(known), 1)
    chance = 0.0 if len(known) == len(release) else 3 * float(np.sqrt(len(release) * share * (1 - share)))
    return gaps > 0 and released_gaps <= share * len(release) + chance + 1e-9


def _rounded(known: FloatArray, release: FloatArray, step: float, keeps_gaps: bool) -> ComparedColumn:
    """Compare values with rounded ones: every multiple of the step at most half a step away agrees."""
    values, distinct = pd.factorize(known, use_na_sentinel=False)
    labels, multiples = pd.factorize(np.rint(release / step), use_na_sentinel=False)
    if len(distinct) * len(multiples) <= _CELLS:
        near = np.abs(distinct[:, None] / step - multiples[None, :]) <= 0.5 * (1 + 1e-9)
        near |= np.isnan(multiples)[None, :] & (np.isnan(distinct)[:, None] | (not keeps_gaps))
        if near.sum(axis=1).max(initial=0) > 1:
            return ComparedColumn(values, labels, None, near)
    label_of = pd.Index(multiples).get_indexer(np.rint(distinct / step)).astype(np.int64)
    return ComparedColumn(values, labels, label_of, None)


def compare_columns(
    known: pd.DataFrame, release: pd.DataFrame, columns: Sequence[str], hierarchies: Mapping[str, Any] | None = None
) -> dict[str, ComparedColumn]:
    """Compare the columns of both files one by one."""
    trees = hierarchies or {}
    return {column: compare_column(known[column], release[column], trees.get(column)) for column in columns}


def kept_columns(
    compared: Mapping[str, ComparedColumn], persons: IntArray | None, records: IntArray | None
) -> list[str]:
    """Return the columns in which the true pairs agree: left as they were, generalised, or rounded.

    Without the true pairs a column counts as kept if nearly every known value agrees with some released label.
    """
    names = []
    for name, column in compared.items():
        if persons is not None and records is not None:
            share = column.agree(persons, records).mean() if len(persons) else 0.0
        else:
            covered = np.asarray(column.covers).any(axis=1) if column.label_of is None else column.label_of >= 0
            share = np.asarray(covered)[column.person_codes].mean()
        if share >= KEPT:
            names.append(name)
    return names


def agreement(
    compared: Mapping[str, ComparedColumn], columns: Sequence[str], release: pd.DataFrame, n_known: int
) -> Agreement:
    """Find the released records that agree with each known person in all of some compared columns.

    Memory grows with the pairs of distinct persons and classes that agree; columns in which a value agrees with one
    label only are joined by their codes, in linear time.
    """
    single = [compared[c] for c in columns if compared[c].label_of is not None]
    several = [compared[c] for c in columns if compared[c].label_of is None]
    n_release = len(release)
    joined = [np.concatenate([part.label_of[part.person_codes], part.record_codes]) + 1 for part in single]  # type: ignore[index]
    keys = class_ids(joined)[0] if joined else np.zeros(n_known + n_release, dtype=np.int64)
    groups, n_groups = class_ids([keys[:n_known], *(part.person_codes for part in several)])
    classes, n_classes = class_ids([keys[n_known:], *(part.record_codes for part in several)])
    left_out = suppressed_rows(release, list(columns), "*") if columns else np.zeros(n_release, dtype=bool)
    sizes = np.bincount(classes[~left_out], minlength=n_classes)
    starts, members = _matches(keys, n_known, groups, classes, n_groups, sizes, several)
    return Agreement(groups, np.where(left_out, -1, classes), starts, members, sizes)


def _matches(
    keys: IntArray,
    n_known: int,
    groups: IntArray,
    classes: IntArray,
    n_groups: int,
    sizes: IntArray,
    several: Sequence[ComparedColumn],
) -> tuple[IntArray, IntArray]:
    """Return the classes with records that agree with each group, as starts and members."""
    group_row, class_row = first_rows(groups, n_groups), first_rows(classes, len(sizes))
    group_key, class_key = keys[:n_known][group_row], keys[n_known:][class_row]
    order = np.argsort(class_key, kind="stable")
    first, last = (np.searchsorted(class_key[order], group_key, side=side) for side in ("left", "right"))
    members = []
    for row, a, b in zip(group_row, first, last, strict=True):
        near = order[a:b][sizes[order[a:b]] > 0]
        for part in several:
            near = near[part.agree(row, class_row[near])]
        members.append(near)
    starts = np.cumsum([0, *map(len, members)])
    return starts, np.concatenate(members).astype(np.int64) if members else np.empty(0, dtype=np.int64)
