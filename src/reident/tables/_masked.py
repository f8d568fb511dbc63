"""Anonymiser. Results, checks and losses that all maskings of numeric columns share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from reident.base import FloatArray, ParameterError, check_columns, check_numeric, check_real, check_table


@dataclass(frozen=True)
class MaskedTable:
    """A table with masked numeric columns.

    Attributes
    ----------
    table : DataFrame
        The protected table: same index, columns and order as the original; the masked columns are floats.
    columns : list of str
        The masked columns.
    information_loss : float
        Mean over the masked columns of SSE / SST, squared differences over squares about the column's mean: 0 if no
        value changed, 1 if each value became the column's mean, above 1 if noise outweighs the data. A constant
        column counts as 0 if it stayed as it was, else as 1.
    loss_by_column : Series
        SSE / SST of each masked column.
    """

    table: pd.DataFrame
    columns: list[str]
    information_loss: float
    loss_by_column: pd.Series


def numeric_columns(table: pd.DataFrame, columns: str | list[str] | None) -> tuple[list[str], FloatArray]:
    """Return the columns to mask, those named or all for None, and their values; all numeric and complete."""
    check_table(table, "table")
    listed = list(table.columns) if columns is None else check_columns(table, columns, "columns")
    if not listed:
        raise ParameterError("`columns` must name at least one column, the table has none")
    return listed, check_numeric(table, listed, "table")


def per_column(
    value: float | Mapping[str, float], columns: list[str], name: str, *, low: float, open_low: bool = False
) -> FloatArray:
    """Return one number a column from a number for all of them or a mapping column -> number."""
    if isinstance(value, Mapping):
        lacking = [column for column in columns if column not in value]
        if lacking:
            raise ParameterError(f"`{name}` must have an entry for each masked column, got none for {lacking!r}")
        return np.array([check_real(value[c], f"{name}[{c!r}]", low=low, open_low=open_low) for c in columns])
    return np.full(len(columns), check_real(value, name, low=low, open_low=open_low))


def masked_table(table: pd.DataFrame, columns: list[str], masked: FloatArray) -> MaskedTable:
    """Put masked values into a copy of the table, and measure the loss."""
    original = table[columns].to_numpy(np.float64)
    errors = ((masked - original) ** 2).sum(axis=0)
    totals = ((original - original.mean(axis=0)) ** 2).sum(axis=0)
    constant = original.min(axis=0) == original.max(axis=0)
    shares = np.where(constant, (errors > 0).astype(float), errors / np.where(constant, 1.0, totals))
    changed = table.copy()
    for place, column in enumerate(columns):
        changed[column] = masked[:, place]
    by_column = pd.Series(shares, index=pd.Index(columns, name="column"), name="information_loss")
    return MaskedTable(changed, columns, float(shares.mean()), by_column)
