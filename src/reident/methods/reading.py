"""Records as numbers, as shares of bins, and as counts of cells: the inputs of measures of utility."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from reident.base import FloatArray, IntArray
from reident.tables.labels import LabelReader, ancestors, text_of

__all__ = ["Bins", "bins_of", "numbers_of", "shares_of", "values_of"]

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
