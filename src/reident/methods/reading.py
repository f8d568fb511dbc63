"""Records as numbers, as shares of bins, and as counts of cells: the inputs of measures of utility."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reident.base import FloatArray, IntArray, ParameterError
from reident.tables.labels import LabelReader, ancestors, text_of

__all__ = ["Bins", "Cells", "bins_of", "cells_of", "numbers_of", "shares_of", "values_of"]

#: Values of a category that become a number each, the most frequent first.
_MOST_VALUES = 30


def numbers_of(data: Any, table: pd.DataFrame) -> pd.DataFrame:
    """Return released quasi-identifiers as numbers.

    A generalised number becomes the mean of the values of the original domain that its label covers; a category becomes
    one column for each of its values (the 30 most frequent): the share that it has among the values covered. Who
    reads labels in this way assumes no more about a class than that its values are equally likely.
    """
    parts: dict[str, Any] = {}
    for column in data.quasi:
        values = table[column]
        if column in data.numeric and pd.api.types.is_numeric_dtype(values):
            parts[column] = values.to_numpy(np.float64)
            continue
        domain = pd.Index(data.table[column].unique())
        shares, codes = _covered(domain, values, data.hierarchies.get(column))
        if column in data.numeric:
            parts[column] = (shares * domain.to_numpy(np.float64)[:, None]).sum(axis=0)[codes]
        else:
            for value in data.table[column].value_counts().index[:_MOST_VALUES]:
                parts[f"{column}={value}"] = shares[domain.get_loc(value)][codes]
    return pd.DataFrame(parts, index=table.index)


def values_of(data: Any, table: pd.DataFrame) -> FloatArray:
    """Return the true values of the records as numbers, a column each: the sensitive one too if it is a number."""
    parts = [numbers_of(data, table).to_numpy(np.float64).reshape(len(table), -1)]
    if data.sensitive is not None and pd.api.types.is_numeric_dtype(table[data.sensitive]):
        parts.append(table[[data.sensitive]].to_numpy(np.float64))
    return np.hstack(parts)


def _covered(domain: pd.Index, values: pd.Series, hierarchy: Any, *, missing: bool = False) -> tuple[FloatArray, Any]:
    """Return the share of each value of a domain in each distinct label, and the label of each record."""
    codes, labels = pd.factorize(values, use_na_sentinel=not missing)
    place = domain.get_indexer(pd.Index(labels))
    if (place >= 0).all() and domain.is_unique and _plain(domain, hierarchy):
        return np.eye(len(domain))[:, place], codes
    covered = LabelReader(domain, pd.Index(labels), hierarchy).cover().astype(float)
    return covered / np.maximum(covered.sum(axis=0), 1.0), codes


def _plain(domain: pd.Index, hierarchy: Any) -> bool:
    """Tell whether values of a domain stand for themselves alone: no label of a hierarchy, interval, list or mask."""
    if pd.api.types.is_numeric_dtype(domain) or domain.isna().any():
        return False
    texts = {text_of(value) for value in domain}
    above = set().union(*ancestors(hierarchy).values())
    return not texts & above and not any(sign in text for text in texts for sign in "[]{}()*")


@dataclass(frozen=True, eq=False)
class Bins:
    """The bins of a column: numbers in at most so many of the same width over the domain, categories one a value.

    Attributes
    ----------
    domain : Index
        The values that the column may have: public where it has a hierarchy.
    bin_of : ndarray of int64
        The bin of each value of the domain; rare categories share one.
    hierarchy : Hierarchy or None
    """

    domain: pd.Index
    bin_of: IntArray
    hierarchy: Any

    def __len__(self) -> int:
        return int(self.bin_of.max(initial=0)) + 1

    @property
    def labels(self) -> list[str]:
        """Content of each bin, in words."""
        numbers = pd.api.types.is_numeric_dtype(self.domain)
        members = [self.domain[self.bin_of == bin_number] for bin_number in range(len(self))]
        several = (
            (lambda values: f"{values.min():g} to {values.max():g}")
            if numbers
            else (lambda values: ", ".join(map(str, values)))
        )
        return [str(values[0]) if len(values) == 1 else several(values) if len(values) else "" for values in members]

    def shares(self, values: pd.Series) -> FloatArray:
        """Return how likely each record is in each bin, shape (records, bins)."""
        n_bins = len(self)
        if pd.api.types.is_numeric_dtype(self.domain) and pd.api.types.is_numeric_dtype(values):
            return np.eye(n_bins)[_place(values.to_numpy(np.float64), self.domain, n_bins)]
        shares, codes = _covered(self.domain, values, self.hierarchy, missing=True)
        in_bins = np.zeros((n_bins, shares.shape[1]))
        np.add.at(in_bins, self.bin_of, shares)
        # What no value of the domain explains may be anything.
        in_bins[:, in_bins.sum(axis=0) == 0] = 1 / n_bins
        of_each: FloatArray = in_bins.T[codes]
        return of_each


def bins_of(data: Any, column: str, n_bins: int) -> Bins:
    """Return at most `n_bins` bins of a column of the data."""
    tree = data.hierarchies.get(column)
    listed = data.table[column] if tree is None else tree.to_frame().iloc[:, 0]
    domain = pd.Index(pd.Series(listed).dropna().infer_objects().unique())
    if pd.api.types.is_numeric_dtype(domain):
        return Bins(domain, _place(domain.to_numpy(np.float64), domain, min(n_bins, len(domain))), tree)
    bin_of = np.empty(len(domain), dtype=np.int64)
    order = np.argsort([str(value) for value in domain])
    bin_of[order] = np.arange(len(domain)) * min(n_bins, len(domain)) // len(domain)
    return Bins(domain, bin_of, tree)


def _place(values: FloatArray, domain: pd.Index, n_bins: int) -> IntArray:
    low, span = float(domain.min()), float(domain.max()) - float(domain.min())
    place = np.floor((np.nan_to_num(values, nan=low) - low) / span * n_bins) if span else np.zeros(len(values))
    return np.clip(place, 0, n_bins - 1).astype(np.int64)


def shares_of(
    data: Any, table: pd.DataFrame, columns: Sequence[str] | None = None, *, n_bins: int = 10
) -> dict[str, FloatArray]:
    """Return for each column how likely each record is in each of its bins, see `Bins`.

    A label that stands for several values lies in each with the same probability.
    """
    listed = data.quasi if columns is None else columns
    return {column: bins_of(data, column, n_bins).shares(table[column]) for column in listed}


@dataclass(frozen=True, eq=False)
class Cells:
    """Every combination of the bins of some columns, and the queries about them: the tables of every two columns.

    Attributes
    ----------
    columns : list of str
    bins : list of Bins
    """

    columns: list[str]
    bins: list[Bins]

    @property
    def shape(self) -> tuple[int, ...]:
        """The bins of each column."""
        return tuple(map(len, self.bins))

    @property
    def n_cells(self) -> int:
        """All combinations."""
        return int(np.prod(self.shape))

    def bins_of(self, table: pd.DataFrame, place: int) -> IntArray:
        """Return the bin of each record in the column at a place; of several the likeliest."""
        bins: IntArray = self.bins[place].shares(table[self.columns[place]]).argmax(axis=1)
        return bins

    def count(self, table: pd.DataFrame) -> IntArray:
        """Return the number of records in each cell."""
        bins = np.stack([self.bins_of(table, place) for place in range(len(self.columns))])
        return np.bincount(np.ravel_multi_index(tuple(bins), self.shape), minlength=self.n_cells)

    def candidates(self, table: pd.DataFrame, place: int) -> IntArray:
        """Return the cell of each record for each bin of the column at a place, shape (records, bins)."""
        axes = [
            np.arange(self.shape[axis])[None, :] if axis == place else self.bins_of(table, axis)[:, None]
            for axis in range(len(self.columns))
        ]
        return np.ravel_multi_index(tuple(np.broadcast_arrays(*axes)), self.shape)

    def indicator(self, place: int) -> FloatArray:
        """Return which cells lie in each bin of a column, shape (cells, bins)."""
        return np.eye(self.shape[place])[np.unravel_index(np.arange(self.n_cells), self.shape)[place]]

    @property
    def pairs(self) -> list[tuple[int, ...]]:
        """The columns of each table that is asked for."""
        return list(combinations(range(len(self.columns)), 2)) if len(self.columns) > 1 else [(0,)]

    @cached_property
    def queries(self) -> NDArray[np.int8]:
        """Which cells each query counts, shape (queries, cells)."""
        rows = []
        for pair in self.pairs:
            first, *second = (self.indicator(place) for place in pair)
            both = first if not second else (first[:, :, None] * second[0][:, None, :]).reshape(self.n_cells, -1)
            rows.append(both.T)
        return np.concatenate(rows).astype(np.int8)

    def answers(self, table: pd.DataFrame) -> FloatArray:
        """Return a table's answers to all queries, also with generalised labels."""
        shares = [item.shares(table[column]) for item, column in zip(self.bins, self.columns, strict=True)]
        tables = [
            shares[pair[0]].T @ shares[pair[1]] if len(pair) > 1 else shares[0].sum(axis=0) for pair in self.pairs
        ]
        return np.concatenate([item.ravel() for item in tables])


#: Cells that queries are asked about.
_MOST_CELLS = 4096


def cells_of(data: Any) -> Cells:
    """Return the cells of the quasi-identifiers and the sensitive column; the more columns, the coarser their bins."""
    columns = [*data.quasi, *([] if data.sensitive is None else [data.sensitive])]
    for n_bins in (8, 6, 5, 4, 3, 2):
        cells = Cells(columns, [bins_of(data, column, n_bins) for column in columns])
        if cells.n_cells <= _MOST_CELLS:
            return cells
    raise ParameterError(f"`quasi` must name at most 11 columns that are counted together, got {len(columns)}")
