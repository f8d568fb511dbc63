"""How records are read as numbers, as shares of bins, and as counts of cells: what measures of utility compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from reident._types import FloatArray
from reident.tables.labels import LabelReader

__all__ = ["numbers_of", "shares_of", "values_of"]

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
        shares, codes = _covered(data, domain, values)
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


def shares_of(
    data: Any, table: pd.DataFrame, columns: Sequence[str] | None = None, *, most: int = 10
) -> dict[str, FloatArray]:
    """Return for each column how likely each record is in each of its bins, shape (records, bins).

    Numbers have at most `most` bins of the same width over the domain, which is that of the column's hierarchy or of
    the data; categories one a value, the rare ones together. A label that stands for several values lies in each with
    the same probability.
    """
    found = {}
    for column in data.quasi if columns is None else columns:
        domain = _domain(data, column)
        bins = _bins(domain, most)
        n_bins = int(bins.max(initial=0)) + 1
        values = table[column]
        if pd.api.types.is_numeric_dtype(domain) and pd.api.types.is_numeric_dtype(values):
            low, width = float(domain.min()), (float(domain.max()) - float(domain.min())) / n_bins
            place = np.floor((values.to_numpy(np.float64) - low) / width) if width else np.zeros(len(values))
            found[column] = np.eye(n_bins)[np.clip(np.nan_to_num(place), 0, n_bins - 1).astype(int)]
            continue
        shares, codes = _covered(data, domain, values, column)
        in_bins = np.zeros((n_bins, shares.shape[1]))
        np.add.at(in_bins, bins, shares)
        # What no value of the domain explains may be anything.
        empty = in_bins.sum(axis=0) == 0
        in_bins[:, empty] = 1 / n_bins
        found[column] = in_bins.T[codes]
    return found


def _covered(data: Any, domain: pd.Index, values: pd.Series, column: str | None = None) -> tuple[FloatArray, Any]:
    """Return the share of each value of a domain in each distinct label, and the label of each record."""
    codes, labels = pd.factorize(values, use_na_sentinel=column is None)
    reader = LabelReader(domain, pd.Index(labels), data.hierarchies.get(values.name if column is None else column))
    covered = reader.cover().astype(float)
    return covered / np.maximum(covered.sum(axis=0), 1.0), codes


def _domain(data: Any, column: str) -> pd.Index:
    """Return the values that a column may have: public where it has a hierarchy."""
    tree = data.hierarchies.get(column)
    listed = data.table[column] if tree is None else tree.to_frame().iloc[:, 0]
    return pd.Index(pd.Series(listed).dropna().unique())


def _bins(domain: pd.Index, most: int) -> Any:
    """Return the bin of each value of a domain."""
    if pd.api.types.is_numeric_dtype(domain):
        span = float(domain.max()) - float(domain.min())
        n_bins = min(most, len(domain))
        place = np.floor((domain.to_numpy(np.float64) - float(domain.min())) / span * n_bins) if span else domain * 0
        return np.clip(np.asarray(place), 0, n_bins - 1).astype(int)
    if len(domain) <= most:
        return np.arange(len(domain))
    order = np.argsort([str(value) for value in domain])
    bins = np.empty(len(domain), dtype=int)
    bins[order] = np.arange(len(domain)) * most // len(domain)
    return bins
