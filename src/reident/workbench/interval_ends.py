"""Detect interval bounds that equal individual values."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from reident.base import FloatArray

__all__ = ["exact_ends"]

#: A coincidence less probable than this is no coincidence.
_CHANCE = 1e-6
#: So many points of the grid on either side of an interval's end tell how many are values there.
_BESIDE = 10
_DAYS = re.compile(r"\d{4}-\d{2}-\d{2}")
_ENDS = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def exact_ends(before: pd.Series, after: pd.Series) -> bool:
    """Tell whether ends of intervals or sets are persons' values more often than points of their grid are."""
    if pd.api.types.is_bool_dtype(before) or pd.api.types.is_numeric_dtype(after):
        return False
    from scipy.stats import binom

    labels = [str(label) for label in pd.unique(after.dropna()) if str(label)[:1] in "[({<>≥≤"]
    if pd.api.types.is_datetime64_any_dtype(before):
        dates = pd.to_datetime(pd.Series(list({day for label in labels for day in _DAYS.findall(label)}), dtype=str))
        exact, ends, scale = _days(before.dropna()), np.sort(_days(dates)), 1.0
    elif pd.api.types.is_numeric_dtype(before):
        written = [label.replace("-", " ") if before.min() >= 0 else label for label in labels]
        texts = {end for label in written for end in _ENDS.findall(label)}
        scale = 10.0 ** min(max((len(text.partition(".")[2]) for text in texts), default=0), 12)
        ends = np.unique(np.rint(np.array(list(texts), np.float64) * scale))
        exact = before.dropna().to_numpy(np.float64)
    else:
        return False
    if len(ends) < 3:
        return False
    values = np.unique(np.rint(exact[np.isclose(np.rint(exact * scale) / scale, exact, rtol=1e-12, atol=0)] * scale))
    if not len(values):
        return False
    step = float(np.gcd.reduce(ends.astype(np.int64))) or 1.0
    hits = int(np.isin(ends, values).sum())
    return bool(hits >= 3 and binom.sf(hits - 1, len(ends), _met_by_chance(ends / step, values / step)) <= _CHANCE)


def _met_by_chance(ends: FloatArray, values: FloatArray) -> float:
    """Return the share of the whole numbers beside the ends, in the range of the values, that are values.

    Far from the rest, such as codes of missing values, nothing is told of what lies between.
    """
    lattice = values[values == np.floor(values)]
    low = np.maximum(ends - _BESIDE, np.ceil(values[0]))
    high = np.minimum(ends + _BESIDE, np.floor(values[-1]))
    within = (low <= ends) & (ends <= high)
    possible = np.maximum(high - low + 1, 0) - within
    met = np.searchsorted(lattice, high, side="right") - np.searchsorted(lattice, low) - np.isin(ends, lattice)
    return float(np.where(possible > 0, met / np.maximum(possible, 1), within).mean())


def _days(dates: pd.Series) -> FloatArray:
    """Return dates as days since 1970."""
    return np.asarray((dates - pd.Timestamp(0)) // pd.Timedelta(days=1), dtype=np.float64)
