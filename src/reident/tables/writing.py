"""How a release writes a column: as it is, coded, on a scale, perturbed, or unreadable, judged by the true pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from reident.base import BoolArray, FloatArray, IntArray, is_numeric
from reident.tables.agreement import KEPT, compare_column
from reident.tables.labels import texts_of, with_gaps

#: The rank correlation of the true pairs from which a column is read on a monotone scale; where there are many pairs
#: so many standard deviations of chance.
_MONOTONE, _DEVIATIONS = 0.2, 3.0
#: A scale is used if it brings released numbers so many times nearer to the true ones.
NEARER = 3.0


@dataclass(frozen=True, eq=False)
class Written:
    """A released column, and the true values in its way of writing.

    Attributes
    ----------
    released : Series
        The released cells.
    known : Series
        The true value of each record as the release would write it.
    way : {"as it is", "coded", "scaled", "exchanged", "perturbed", "unread"}
    """

    released: pd.Series
    known: pd.Series
    way: str


def written(true: pd.Series, released: pd.Series, rows: IntArray, hierarchy: Any = None) -> Written:
    """Return how a release writes a column.

    Parameters
    ----------
    true : Series
        The original's column.
    released : Series
        The released column.
    rows : ndarray of int64
        The original row of each released row, -1 for none.
    hierarchy : Hierarchy, optional
    """
    at = np.flatnonzero(rows >= 0)
    person_rows = rows[at]
    if compare_column(true, released, hierarchy).agree(person_rows, at).mean() >= KEPT:
        return Written(released, true, "as it is")
    if true.isna().any() and released.isna().any() and not pd.api.types.is_numeric_dtype(true):  # suppressed cells
        return written(with_gaps(true), released, rows, hierarchy)
    label, texts = texts_of(released).iloc[at], texts_of(true).fillna("")
    coded, usual = follows(texts.iloc[person_rows], label)
    if coded:
        return Written(texts_of(released).fillna(""), texts.map(usual).fillna(texts), "coded")
    x, y = as_numbers(true), as_numbers(released)
    if x is not None and y is not None:
        line = _scale(x[person_rows], y[at], x)
        if line is not None:
            return Written(pd.Series(y, released.index), pd.Series(line, true.index), "scaled")
    if np.isin(label.dropna(), texts.unique()).mean() >= KEPT:
        return Written(released, true, "exchanged")
    if x is not None and y is not None:
        return Written(pd.Series(y, released.index), pd.Series(x, true.index), "perturbed")
    return unread(true, released, rows)


def unread(true: pd.Series, released: pd.Series, rows: IntArray) -> Written:
    """Return a column of which each person's own label is known."""
    label, each = texts_of(released), pd.Series(None, true.index, dtype=object)
    each.iloc[rows[rows >= 0]] = label[rows >= 0].to_numpy(object)
    return Written(label, each, "unread")


def _scale(x: FloatArray, y: FloatArray, whole: FloatArray) -> FloatArray | None:
    """Return all true values on a released monotone scale; the values as they are where no scale brings them nearer."""
    from scipy.stats import spearmanr

    fine = np.isfinite(x) & np.isfinite(y)
    if fine.sum() <= 20 or np.ptp(x[fine]) == 0 or np.ptp(y[fine]) == 0:
        return None
    if abs(spearmanr(x[fine], y[fine])[0]) <= min(_MONOTONE, _DEVIATIONS / np.sqrt(fine.sum())):
        return None
    from sklearn.isotonic import IsotonicRegression

    fit = IsotonicRegression(increasing="auto", out_of_bounds="clip").fit(x[fine], y[fine])
    line = np.where(np.isfinite(whole), fit.predict(np.nan_to_num(whole)), np.nan)
    off, on = np.median(np.abs(x - y)[fine]), np.median(np.abs(fit.predict(x[fine]) - y[fine]))
    return line if off > NEARER * on else whole


def follows(value: pd.Series, label: pd.Series) -> tuple[bool, pd.Series]:
    """Return whether equal values have equal labels, and the usual label of each value."""
    frame = pd.DataFrame({"value": value.fillna("").to_numpy(object), "label": label.fillna("").to_numpy(object)})
    counts = frame.groupby(["value", "label"], sort=False).size().sort_values(ascending=False, kind="stable")
    usual = counts.reset_index().drop_duplicates("value").set_index("value")["label"]
    several = frame[frame.duplicated("value", keep=False)]
    same: BoolArray = several["label"].to_numpy(object) == several["value"].map(usual).to_numpy(object)
    return bool(len(several) > len(frame) / 2 and same.mean() >= KEPT), usual


def as_numbers(column: pd.Series) -> FloatArray | None:
    """Return a column as numbers: numbers, texts of numbers, days of dates; None for anything else."""
    if is_numeric(column):
        return column.to_numpy(np.float64, na_value=np.nan)
    text = texts_of(column)
    numbers = pd.to_numeric(text, errors="coerce")
    if text.notna().any() and (numbers.notna() | text.isna()).mean() > 0.95:
        return numbers.to_numpy(np.float64)
    dated = text.str.match(r"\d{4}-\d{2}-\d{2}").fillna(False).astype(bool)
    if dated.mean() < 0.95:
        return None
    days = pd.to_datetime(text.where(dated), errors="coerce", format="ISO8601")
    epoch: FloatArray = (days - pd.Timestamp("1970-01-01")).dt.total_seconds().to_numpy(np.float64) / 86400
    return epoch
