"""Judge a synthetic table against its original and a control: no record may be nearer to a person than to a control."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import binom

from reident.base import DataError
from reident.tables.labels import texts_of
from reident.tables.writing import as_numbers
from reident.workbench.check.verdict import Finding

#: The level of each of both tests.
LEVEL = 0.005
#: Cells of the table of distances that are computed at once.
_CELLS = 20_000_000
_REMEDY = "Train the generator with a privacy budget, or on more records."


def nearer_than_control(
    synthetic: pd.DataFrame, original: pd.DataFrame, control: pd.DataFrame, columns: Sequence[str]
) -> list[Finding]:
    """Compare a synthetic table with its original and with records that took no part in making it.

    Distances are Gower's. More synthetic records nearer to the original than to as many records of the control, or
    more equal ones, is a leak (sign tests).

    Raises
    ------
    DataError
        If no column is in all three tables.
    """
    columns = [name for name in columns if name in synthetic and name in control]
    if not columns:
        raise DataError(f"`control` must share a column with the release and the original, got {list(control.columns)}")
    rng, size = np.random.default_rng(0), min(len(original), len(control))
    real = [table[columns].iloc[rng.choice(len(table), size, replace=False)] for table in (original, control)]
    near = np.empty((2, len(synthetic)))
    for start in range(0, len(synthetic), max(1, _CELLS // max(1, size))):
        part = slice(start, start + max(1, _CELLS // max(1, size)))
        near[:, part] = _nearest(synthetic[columns].iloc[part], real, columns)
    equal = near == 0
    findings = []
    for statement, nearer, farther in (
        ("nearer to a record of the original than to one of the control", near[0] < near[1], near[1] < near[0]),
        ("equal to a record of the original and to none of the control", equal[0] & ~equal[1], equal[1] & ~equal[0]),
    ):
        count, other = int(nearer.sum()), int(farther.sum())
        if binom.sf(count - 1, count + other, 0.5) < LEVEL:
            problem = f"{count} synthetic records are {statement}, {other} the other way round"
            findings.append(Finding("release", problem, _REMEDY))
    return findings


def _nearest(synthetic: pd.DataFrame, real: Sequence[pd.DataFrame], columns: Sequence[str]) -> np.ndarray:
    """Return Gower's distance of each synthetic record to the nearest record of both tables."""
    cut = np.zeros((2, len(synthetic), len(real[0])))
    for column in columns:
        numbers = [as_numbers(part[column]) for part in (synthetic, *real)]
        if all(values is not None for values in numbers):
            drawn_values, real_values, other = (np.asarray(values) for values in numbers)
            scale = max(np.nanmax(real_values) - np.nanmin(real_values), 1e-12)
            for side, values in enumerate((real_values, other)):
                gaps = np.minimum(np.abs(drawn_values[:, None] - values) / scale, 1)
                both = np.isnan(drawn_values)[:, None] & np.isnan(values)
                cut[side] += np.where(both, 0.0, np.nan_to_num(gaps, nan=1.0))
        else:
            text = [texts_of(part[column]).fillna("").to_numpy(str) for part in (synthetic, *real)]
            for side in (0, 1):
                cut[side] += text[0][:, None] != text[1 + side]
    return cut.min(axis=2)
