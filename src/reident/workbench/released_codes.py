"""Reading the codes of a release: which of the original's values a code stands for, by how often both occur."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from reident._types import FloatArray
from reident.tables.labels import LabelReader, text_of

__all__ = ["with_decoded"]

#: Values of a column that is decoded, and of one whose values tell codes apart, at most.
_MOST, _BESIDE = 50, 200
#: How much the shares of codes and values may differ together, and the share of codes that can be read as they are.
_APART, _READ = 0.05, 0.05


def with_decoded(release: pd.DataFrame, original: pd.DataFrame, columns: Sequence[str]) -> tuple[Any, list[str]]:
    """Return a release whose coded columns hold the original's values, and a sentence each.

    A column is decoded where none of its labels can be read, there are as many as values, and they are as frequent: the
    likeliest pairing by how often each occurs, by itself and with the values of other columns.
    """
    coded = {name: pair for name in columns if (pair := _coded(release, original, name)) is not None}
    beside = [
        name for name in original.columns
        if name in release.columns and name not in coded and _shares_values(release[name], original[name])
    ]  # fmt: skip
    told, found = [], release
    for name, (values, codes) in coded.items():
        meaning = _pairing(release, original, name, values, codes, beside)
        found = found.assign(**{name: release[name].map(meaning)})
        pairs = ", ".join(f"{text_of(code)} as {text_of(value)}" for code, value in list(meaning.items())[:5])
        told.append(f"{name}: the release has codes, which were read by how often they occur: {pairs}.")
    return found, told


def _coded(release: pd.DataFrame, original: pd.DataFrame, name: str) -> tuple[pd.Index, pd.Index] | None:
    """Return values and codes of a column, the most frequent first; None if it can be read, or not be decoded."""
    if name not in release.columns or name not in original.columns:
        return None
    own, other = (table[name].value_counts(normalize=True) for table in (original, release))
    if not 2 <= len(own) == len(other) <= _MOST or np.abs(own.to_numpy() - other.to_numpy()).sum() > 2 * _APART:
        return None
    readable = LabelReader(own.index, pd.Index(other.index, dtype=object)).cover().any(axis=0)
    return None if other.to_numpy()[readable].sum() > _READ else (own.index, other.index)


def _shares_values(column: pd.Series, own: pd.Series) -> bool:
    texts, others = (set(one.dropna().map(text_of)) for one in (own, column))
    return 2 <= len(texts) <= _BESIDE and len(texts & others) >= 0.9 * max(len(texts), len(others))


def _pairing(
    release: pd.DataFrame, original: pd.DataFrame, name: str, values: pd.Index, codes: pd.Index, beside: list[Any]
) -> dict[Any, Any]:
    from scipy.optimize import linear_sum_assignment

    cost = np.abs(_shares(original[name], values)[:, None] - _shares(release[name], codes)[None, :])
    for other in beside:
        theirs = pd.Index(original[other].dropna().map(text_of).unique())
        mine, said = (
            _together(table[name], table[other].map(text_of), rows, theirs)
            for table, rows in ((original, values), (release, codes))
        )
        cost += np.abs(mine[:, None, :] - said[None, :, :]).sum(axis=2)
    rows, places = linear_sum_assignment(cost)
    return {codes[place]: values[row] for row, place in zip(rows, places, strict=True)}


def _shares(column: pd.Series, index: pd.Index) -> FloatArray:
    return column.value_counts(normalize=True).reindex(index).to_numpy(float)


def _together(column: pd.Series, other: pd.Series, rows: pd.Index, columns: pd.Index) -> FloatArray:
    """Return the share of the records with each pair of values."""
    counted = pd.crosstab(column, other).reindex(index=rows, columns=columns, fill_value=0).to_numpy(float)
    shares: FloatArray = counted / max(1.0, counted.sum())
    return shares
