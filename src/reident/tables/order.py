"""Quasi-identifiers coded in the order in which Mondrian cuts them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from reident.base import DataError, FloatArray, IntArray
from reident.tables.classes import sorted_codes

__all__ = ["OrderedColumn", "code_matrix", "has_scale", "order_column", "ranked"]


@dataclass(frozen=True)
class OrderedColumn:
    """A column coded in its order.

    Attributes
    ----------
    name : str
    codes : ndarray of int64, shape (n,)
    known : Index
        The values, in order.
    places : ndarray of float64
        Where each value lies: itself for a number or a time, its rank for a category.
    """

    name: str
    codes: IntArray
    known: pd.Index
    places: FloatArray


def has_scale(values: pd.Index) -> bool:
    """Tell whether values are numbers or times, so that differences mean something."""
    return values.dtype.kind in "iufmM"


def ranked(name: str, codes: IntArray, values: pd.Index) -> OrderedColumn:
    """Return a column of categories, which lie at their ranks."""
    return OrderedColumn(name, codes, values, np.arange(len(values), dtype=np.float64))


def order_column(column: pd.Series) -> OrderedColumn:
    """Code a column: numbers and times by value, an ordered Categorical by its order, other values as text."""
    name = str(column.name)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.remove_unused_categories()
        if column.cat.ordered:
            return ranked(name, column.cat.codes.to_numpy(np.int64), column.cat.categories)
        column = column.astype(column.cat.categories.dtype)
    codes, index = sorted_codes(column, "a quasi-identifier")
    if not has_scale(index):
        return ranked(name, codes, index)
    timed = isinstance(index, pd.DatetimeIndex | pd.TimedeltaIndex)
    places = (index.asi8 if timed else index.to_numpy()).astype(np.float64)
    if not np.isfinite(places).all():
        raise DataError(f"a quasi-identifier must be finite, got an infinite value in {name!r}")
    return OrderedColumn(name, codes, index, places)


def code_matrix(columns: list[OrderedColumn]) -> tuple[np.ndarray, FloatArray, IntArray]:
    """Return the codes (int32, n x q), the places (q x most values) and the number of values of each column."""
    codes = np.empty((columns[0].codes.size, len(columns)), dtype=np.int32)
    n_codes = np.array([len(column.known) for column in columns], dtype=np.int64)
    places = np.zeros((len(columns), int(n_codes.max())))
    for j, column in enumerate(columns):
        codes[:, j] = column.codes
        places[j, : n_codes[j]] = column.places
    return codes, places, n_codes
