"""Equivalence classes: coding columns as integers, and records that agree as one class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from reident._typing import BoolArray, IntArray
from reident._validation import check_choice
from reident.errors import DataError

__all__ = ["class_ids", "encode_column", "missing_rows", "sorted_codes", "suppressed_rows"]

#: What to do with a record that has a missing value in a column that is looked at.
MISSING = ("value", "drop", "raise")


def encode_column(column: pd.Series) -> tuple[IntArray, pd.Index]:
    """Return codes 0..m-1 in order of first appearance, and the m values. A missing value is a value of its own."""
    codes, values = pd.factorize(column, use_na_sentinel=False)
    return codes.astype(np.int64, copy=False), pd.Index(values)


def sorted_codes(column: pd.Series, what: str) -> tuple[IntArray, pd.Index]:
    """Return codes 0..m-1 in the order of the values, and the m values, sorted; `what` names them in an error."""
    kind = pd.api.types.infer_dtype(column, skipna=False)
    if kind.startswith("mixed") and kind != "mixed-integer-float":
        raise DataError(f"{what} must have values with an order, got values of several types in {column.name!r}")
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


def missing_rows(table: pd.DataFrame, columns: Sequence[str], missing: str) -> BoolArray:
    """Mark the records to leave out because of a missing value; refuse them for ``missing="raise"``."""
    check_choice(missing, "missing", MISSING)
    if missing == "value":
        return np.zeros(len(table), dtype=bool)
    absent = table[list(columns)].isna()
    if missing == "raise" and absent.to_numpy().any():
        counts = {column: int(count) for column, count in absent.sum().items() if count}
        raise DataError(f"`table` must not have missing values here, got {counts} (column: records)")
    return absent.any(axis=1).to_numpy()


def suppressed_rows(table: pd.DataFrame, quasi: Sequence[str], token: str | None) -> BoolArray:
    """Mark suppressed records: those whose every quasi-identifier is `token`.

    They are no class: nothing is released about them. If all records are so, the table is fully generalised, which
    is the same release, and it is one class: then none is marked.
    """
    suppressed = np.full(len(table), token is not None)
    for column in quasi:
        if not suppressed.any():
            return suppressed
        # Comparing few distinct values spares comparing many records.
        codes, values = encode_column(table[column])
        suppressed &= np.array([isinstance(value, str) and value == token for value in values], dtype=bool)[codes]
    return ~suppressed if suppressed.all() else suppressed
