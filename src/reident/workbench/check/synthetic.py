"""Judge a synthetic table against its original and a control: no record may be nearer to a person than to a control."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import bdtrc

from reident.base import DataError
from reident.tables.labels import texts_of
from reident.tables.writing import as_numbers
from reident.workbench.check.verdict import Finding

#: The level of all tests together, and the fewest records of a control.
LEVEL, _FEWEST = 0.01, 50
#: The level at which a control holds records of the original.
_SAME_FILE = 1e-6
#: Cells of the table of distances that are computed at once.
_CELLS = 20_000_000
#: A number in place of a missing one: equal to another of them, far from all others.
_FAR = 1e150
_REMEDY = "Train the generator with a privacy budget, or on more records."


def nearer_than_control(
    synthetic: pd.DataFrame, original: pd.DataFrame, control: pd.DataFrame, columns: Sequence[Any]
) -> list[Finding]:
    """Compare a synthetic table with its original and with records that took no part in making it.

    Distances are Gower's over those of the columns that the three tables share. Of the closest 16, 32, 64, ..., and all
    synthetic records more may not be nearer to the original than to as many records of the control (sign tests). Nor
    may more equal a record of the original than records of these tables equal one another otherwise (a binomial test
    by the pairs of records): of tables in which no two are equal five copies are seen.

    Raises
    ------
    DataError
        If no column is in all three tables, or the control is too small, or holds the original's records.
    """
    columns = [name for name in columns if name in synthetic and name in control]
    if not columns:
        raise DataError(f"`control` must share a column with the release and the original, got {list(control.columns)}")
    if len(control) < _FEWEST:
        raise DataError(f"`control` must have at least {_FEWEST} records to judge by, got {len(control)}")
    texts = [table[columns].astype(str).fillna("").agg("\0".join, axis=1) for table in (original, control)]
    alike, twice = texts[1].isin(texts[0]), texts[0].duplicated(keep=False)
    share = len(control) / (len(control) + len(original))
    too_many = bdtrc(alike.sum() - 1, alike.sum() + twice.sum(), share) < _SAME_FILE
    if too_many or sorted(texts[0]) == sorted(texts[1]):
        raise DataError(f"`control` must hold other records than the original, got {alike.sum()} of the same")
    rng, size = np.random.default_rng(0), min(len(original), len(control))
    real = [table[columns].iloc[rng.choice(len(table), size, replace=False)] for table in (original, control)]
    near = np.empty((2, len(synthetic)))
    step = max(1, _CELLS // max(1, size))
    for start in range(0, len(synthetic), step):
        part = slice(start, start + step)
        near[:, part] = _nearest(synthetic[columns].iloc[part], real, columns)
    differ = near[:, near[0] != near[1]]
    nearer = (differ[0] < differ[1])[np.argsort(differ.min(axis=0), kind="stable")]
    sizes = [*(2**power for power in range(4, 30) if 2**power < nearer.size), nearer.size]
    counts = np.array([nearer[:size].sum() for size in sizes])
    p = bdtrc(counts - 1, sizes, 0.5)
    copies, others = (near == 0).sum(axis=1)
    others += round(size * alike.mean()) + round(size * texts[0].duplicated().mean())
    pairs = np.array([len(synthetic), len(synthetic), size, size / 2])
    if bdtrc(copies - 1, copies + others, pairs[0] / pairs.sum()) < LEVEL / 2:
        return [Finding("release", f"{copies} of the synthetic records equal a record of the original", _REMEDY)]
    if p.min() * len(sizes) >= LEVEL / 2:
        return []
    at = p.argmin()
    problem = f"of the {sizes[at]} synthetic records that are closest to real ones {counts[at]} are nearer to one of"
    return [Finding("release", f"{problem} the original than to one of the control", _REMEDY)]


def _nearest(synthetic: pd.DataFrame, real: Sequence[pd.DataFrame], columns: Sequence[str]) -> np.ndarray:
    """Return Gower's distance of each synthetic record to the nearest record of both tables."""
    cut = np.zeros((2, len(synthetic), len(real[0])))
    for column in columns:
        parts = [part[column] for part in (synthetic, *real)]
        numbers: list[Any] = [as_numbers(part) for part in parts]
        if all(values is not None for values in numbers):
            scale = max(np.nanmax(numbers[1]) - np.nanmin(numbers[1]), 1e-12)
            drawn, *others = (np.nan_to_num(values, nan=_FAR) for values in numbers)
            cut += [np.minimum(np.abs(drawn[:, None] - values) / scale, 1) for values in others]
        else:
            drawn, *others = (texts_of(part).fillna("").to_numpy(str) for part in parts)
            cut += [drawn[:, None] != values for values in others]
    return cut.min(axis=2)
