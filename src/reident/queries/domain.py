"""Mechanism. Declared domains: a value outside is replaced before it is used, so that no error depends on the data.

An exception tells of the data as an answer does, and spends nothing. So a query of the right form is answered for
every table; how many values were replaced is for the keeper of the data only, as a warning after the budget is spent.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError, FloatArray, IntArray, ParameterError, PrivacyWarning, check_array


def clipped(values: Any, low: Any, high: Any, gap: Any, name: str) -> tuple[FloatArray, int]:
    """Return numbers clipped to bounds, `gap` in place of those that are missing, and how many records changed.

    Bounds and `gap` are numbers, or one a column. Values that are no numbers count as missing; data of another type,
    such as texts or dates only, are refused, as a type is no property of a record.
    """
    if hasattr(values, "adj"):
        raise DataError(f"`{name}` must hold numbers, got a graph")
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    entries = check_array(values, name, None)
    if entries.dtype.kind in "US" and not hasattr(values, "dtype"):
        entries = check_array(values, name, object)  # a list, which numpy reads as texts if one entry is one
    if entries.dtype == object:
        entries = check_array([_number(value) for value in entries.flat], name).reshape(entries.shape)
    if entries.dtype.kind not in "biuf":
        raise DataError(f"`{name}` must hold numbers, got {entries.dtype}")
    numbers = entries.astype(np.float64)
    inside = np.clip(np.where(np.isnan(numbers), gap, numbers), low, high)
    changed = inside != numbers
    return inside, int((changed.any(axis=1) if changed.ndim > 1 else changed).sum())


def _number(value: Any) -> float:
    if isinstance(value, str | bytes | complex | np.datetime64 | np.timedelta64):
        return np.nan
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf
    except (TypeError, ValueError):
        return np.nan


def category_positions(values: Any, categories: pd.Index) -> tuple[IntArray, int]:
    """Return the position of each value among declared categories, -1 for another one, and how many those are."""
    listed = pd.Index(list(values))
    positions = categories.get_indexer(listed) if len(listed) else np.empty(0, dtype=np.int64)
    return positions.astype(np.int64), int((positions < 0).sum())


def check_counts(values: Any, name: str) -> IntArray:
    """Return whole numbers from 0 to 2**31, so that no sum of them leaves 64 bits."""
    numbers = check_array(values, name)
    if not ((numbers >= 0) & (numbers < 2**31)).all() or (numbers != np.rint(numbers)).any():
        raise DataError(f"`{name}` must be counts: whole numbers from 0 to 2**31")
    return numbers.astype(np.int64)


#: Errors of a user's function that depend on a record, which is then left out.
_FAILURES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def count_true(predicate: Callable[[Any], Any], data: Any) -> tuple[int, int]:
    """Return for how many records a predicate is true, and for how many it fails: those do not count."""
    true = failed = 0
    for row in (row for _, row in data.iterrows()) if isinstance(data, pd.DataFrame) else data:
        try:
            true += bool(predicate(row))
        except (ParameterError, DataError):
            raise  # an error of the package, such as a budget that is used up
        except _FAILURES:
            failed += 1
    return true, failed


def warn_replaced(n: int, what: str) -> None:
    """Warn the keeper of the data of values outside the declared domain; called after the budget was spent."""
    if n:
        warnings.warn(
            f"{n} {what}: the answer is biased by that; this number is not private, do not publish it",
            PrivacyWarning,
            stacklevel=4,
        )
