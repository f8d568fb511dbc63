"""Equivalence classes: columns coded as integers, records that agree as one class, and their values class by class."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reident.base import (
    BoolArray,
    DataError,
    FloatArray,
    IntArray,
    ParameterError,
    check_array,
    check_columns,
    check_real,
    check_text,
    check_vector,
)

_NESTED = (list, dict, set, np.ndarray, complex)


def encode_column(column: pd.Series) -> tuple[IntArray, pd.Index]:
    """Return codes 0..m-1 in order of first appearance, and the m values. A missing value is a value of its own."""
    try:
        codes, values = pd.factorize(column, use_na_sentinel=False)
    except TypeError:
        refuse_nested(column, "a table")
        raise
    return codes.astype(np.int64, copy=False), pd.Index(values)


def text_of(value: Any) -> str:
    """Return a value as a CSV would hold it, 39.0 as 39: how a table's numbers meet a hierarchy's text."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def look_of(text: str) -> str:
    """Return a text as it looks: Unicode composed, blanks of one kind, without invisible signs."""
    if text.isascii():
        return text
    visible = "".join(sign for sign in text if unicodedata.category(sign) != "Cf")
    return "".join(
        " " if unicodedata.category(sign) == "Zs" else sign for sign in unicodedata.normalize("NFC", visible)
    )


def refuse_nested(column: pd.Series, owner: str) -> None:
    """Refuse cells that hold several values: such values cannot be compared."""
    if column.dtype == object or pd.api.types.is_complex_dtype(column):
        nested = column.map(type).isin(_NESTED)
        if nested.any():
            kind = type(column[nested].iloc[0]).__name__
            raise DataError(f"{owner} must hold one value a cell, got a {kind} in column {column.name!r}")


def sorted_codes(column: pd.Series, owner: str) -> tuple[IntArray, pd.Index]:
    """Return codes 0..m-1 in the order of the values, and the m sorted values; errors name the column."""
    kind = pd.api.types.infer_dtype(column, skipna=False)
    if kind.startswith("mixed") and kind != "mixed-integer-float":
        raise DataError(f"{owner} must have values with an order, got values of several types in {column.name!r}")
    codes, values = pd.factorize(column, sort=True)
    return codes.astype(np.int64, copy=False), pd.Index(values)


def class_ids(columns: Sequence[IntArray]) -> tuple[IntArray, int]:
    """Return numbers for the combinations of several coded columns in order of first appearance.

    Returns the class of each record and the number of classes. The codes must not be negative.
    """
    combined = np.zeros(len(columns[0]), dtype=np.int64)
    n_combined = 1
    for codes in columns:
        n_codes = int(codes.max(initial=0)) + 1
        if n_combined * n_codes >= 2**62:
            combined, values = pd.factorize(combined)
            n_combined = len(values)
        combined = combined * n_codes + codes
        n_combined *= n_codes
    ids, values = pd.factorize(combined)
    return ids.astype(np.int64, copy=False), len(values)


def table_classes(table: pd.DataFrame, columns: Sequence[str]) -> tuple[IntArray, int]:
    """Return the class of each record, those that agree in some columns, and the number of classes."""
    return class_ids([encode_column(table[column])[0] for column in columns])


def first_rows(ids: IntArray, n_classes: int) -> IntArray:
    """Return the first record of each class."""
    first = np.empty(n_classes, dtype=np.int64)
    first[ids[::-1]] = np.arange(len(ids) - 1, -1, -1)
    return first


def class_rows(ids: IntArray, n_classes: int) -> list[IntArray]:
    """Return the records of each class, ascending; one with a negative number is in none."""
    order = np.argsort(ids, kind="stable")
    ends = np.searchsorted(ids[order], np.arange(n_classes + 1))
    return [order[start:end] for start, end in pairwise(ends)]


def kinds_of(groups: IntArray, codes: IntArray) -> IntArray:
    """Return the kind of each group of records: one for equal lists of codes; negative ones are left out."""
    order = np.lexsort((codes, groups))
    order = order[groups[order] >= 0]
    ends = np.flatnonzero(np.diff(groups[order])) + 1
    kinds: IntArray = pd.factorize(np.array([part.tobytes() for part in np.split(codes[order], ends)], dtype=object))[0]
    return kinds


def missing_rows(table: pd.DataFrame, columns: Sequence[str], missing: str) -> BoolArray:
    """Mark the records to leave out because of a missing value; refuse them for ``missing="raise"``."""
    if missing == "value":
        return np.zeros(len(table), dtype=bool)
    absent = table[list(columns)].isna()
    if missing == "raise" and absent.to_numpy().any():
        counts = {column: int(count) for column, count in absent.sum().items() if count}
        raise DataError(f"`table` must not have missing values here, got {counts} (column: records)")
    return absent.any(axis=1).to_numpy()


def check_sensitive(
    table: pd.DataFrame, sensitive: str | Sequence[str], quasi: Sequence[str], table_name: str = "table"
) -> list[str]:
    """Return sensitive attributes as a list: columns of a table that are no quasi-identifiers."""
    listed = check_columns(table, sensitive, "sensitive", table_name=table_name)
    if both := [column for column in listed if column in quasi]:
        raise ParameterError(
            f"`sensitive` must not be a quasi-identifier too, got {both[0]!r} in both: all of a class agree in it"
        )
    return listed


def check_no_gaps(column: pd.Series, table_name: str) -> None:
    """Require a sensitive attribute without missing values."""
    if column.isna().any():
        raise DataError(
            f"`{table_name}` must have no missing value of the sensitive {column.name!r}, got "
            f"{int(column.isna().sum())}: give them a label of their own, or leave the records out"
        )


def suppressed_rows(table: pd.DataFrame, quasi: Sequence[str], token: str | None) -> BoolArray:
    """Mark suppressed records: every quasi-identifier is `token`.

    If all records are so, the table is fully generalised, which is one class: then none is marked.
    """
    check_text(token, "suppressed_label")
    suppressed = np.full(len(table), token is not None)
    for column in quasi:
        if not suppressed.any():
            return suppressed
        # Comparing few distinct values spares comparing many records.
        codes, values = encode_column(table[column])
        suppressed &= np.array([isinstance(value, str) and value == token for value in values], dtype=bool)[codes]
    return ~suppressed if suppressed.all() else suppressed


def wildcard_counts(table: pd.DataFrame, quasi: Sequence[str], weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return for each record how many records may agree with it, and their weights, where a gap stands for any value.

    Agreeing in this sense is no equivalence: two records may each agree with a third and not with one another. Distinct
    records are compared pattern of gaps against pattern of gaps, on the columns that both have.
    """
    ids, n = table_classes(table, quasi)
    first = first_rows(ids, n)
    codes = np.column_stack([encode_column(table[column])[0] for column in quasi])[first]
    gaps = table[list(quasi)].isna().to_numpy()[first]
    of_records, of_weights = np.bincount(ids).astype(float), np.bincount(ids, weights=weights)
    patterns = class_ids([gaps[:, j].astype(np.int64) for j in range(gaps.shape[1])])[0]
    counts, sums = np.zeros((2, n))
    groups = class_rows(patterns, int(patterns.max()) + 1)
    for rows in groups:
        for second in groups:
            common = ~(gaps[rows[0]] | gaps[second[0]])
            both = np.r_[rows, second]
            shared = [codes[both, j] for j in np.flatnonzero(common)]
            cells = class_ids(shared)[0] if shared else np.zeros(both.size, dtype=np.int64)
            first_cells, second_cells = cells[: rows.size], cells[rows.size :]
            for total, each in ((counts, of_records), (sums, of_weights)):
                total[rows] += np.bincount(second_cells, weights=each[second], minlength=cells.max() + 1)[first_cells]
    return counts[ids], sums[ids]


class ClassValues(NamedTuple):
    """Values class by class, ascending inside a class, and where each class starts (and the end)."""

    values: FloatArray
    starts: IntArray


def check_classes(classes: ArrayLike, length: int) -> IntArray:
    """Return class numbers from 0 without gaps; -1 marks a record in no class."""
    ids = check_array(classes, "classes", None)
    if ids.dtype.kind not in "iu" or ids.ndim != 1:
        raise DataError(f"`classes` must be whole numbers in one dimension, got {ids.dtype} of shape {ids.shape}")
    if ids.size != length:
        raise DataError(f"`classes` must have {length} entries, one a record, got {ids.size}")
    ids = ids.astype(np.int64)
    released = ids[ids >= 0]
    if ids.min(initial=-1) < -1 or not released.size or (np.bincount(released) == 0).any():
        raise DataError("`classes` must be numbered 0, 1, ... without gaps, with at least one class; -1 for no class")
    return ids


def class_values(values: ArrayLike, classes: IntArray, name: str = "values") -> ClassValues:
    """Sort the values of the records that are in a class."""
    vector = check_vector(values, name, length=classes.size)
    is_released = classes >= 0
    released, ids = vector[is_released], classes[is_released]
    starts = np.r_[0, np.cumsum(np.bincount(ids))].astype(np.int64)
    ascending = (ids[1:] > ids[:-1]) | ((ids[1:] == ids[:-1]) & (released[1:] >= released[:-1]))
    if ascending.all():  # a cheap check, and simulations come sorted
        return ClassValues(released, starts)
    return ClassValues(released[np.lexsort((released, ids))], starts)


def class_widths(values: ArrayLike, classes: IntArray, width: float | None) -> FloatArray:
    """Return the width that noise in each class is scaled to: a public one, or its range (Holohan et al. 2017, (3))."""
    if width is None:
        vector, starts = class_values(values, classes)
        return vector[starts[1:] - 1] - vector[starts[:-1]]
    return np.full(int(classes.max()) + 1, check_real(width, "width", low=0))
