"""Metric. Utility of a release: shares of distances, neighbourhoods, values and correlations that it keeps.

All grow with utility. Those named ``_kept`` are 1 for the original and about 0 for a release that says nothing, so that
releases of different methods can stand on one axis; none of them is a verdict: each stands for one kind of analysis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reident.base import (
    BoolArray,
    DataError,
    FloatArray,
    Whole,
    check_columns,
    check_distance_matrix,
    check_integer,
    check_table,
)

__all__ = ["correlations_kept", "distance_precision", "distances_kept", "information_kept", "neighbours_kept"]


def _both(original_km: ArrayLike, release_km: ArrayLike) -> tuple[FloatArray, FloatArray]:
    original = check_distance_matrix(original_km, "original_km")
    release = check_distance_matrix(release_km, "release_km", size=len(original))
    if len(original) < 3:
        raise DataError(f"`original_km` must be of at least 3 records, got {len(original)}: one distance has no spread")
    return original, release


def _pairs(original_km: ArrayLike, release_km: ArrayLike) -> tuple[FloatArray, FloatArray]:
    original, release = _both(original_km, release_km)
    upper = np.triu_indices(len(original), 1)
    return original[upper], release[upper]


def distance_precision(original_km: ArrayLike, release_km: ArrayLike) -> float:
    """Return the reciprocal variance of the deviation of released from true distances, 1 / km^2.

    Parameters
    ----------
    original_km, release_km : array_like of float, shape (n, n)
        Distances between the same records in the same order, km; n at least 3.

    Returns
    -------
    float
        Infinite if every distance deviates by the same amount, as in the original.

    Notes
    -----
    The utility of Kroll (2015), section 5, there over random pairs of points of the area, here over the pairs of the
    release itself.
    """
    original, release = _pairs(original_km, release_km)
    deviation = original - release
    # Rounding of great circles, about 1e-9 km, is no deviation.
    spread = float(deviation.var(ddof=1)) if np.ptp(deviation) > 1e-6 else 0.0
    return 1 / spread if spread > 0 else float("inf")


def distances_kept(original_km: ArrayLike, release_km: ArrayLike) -> float:
    """Return the correlation of released with true distances, 0 if either are all alike or it is negative.

    What clustering and interpolation over the whole area live on. Arguments as for `distance_precision`.

    Parameters
    ----------
    original_km, release_km : array_like, shape (n, n)
        Distances, km.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> d = [[0, 3, 4], [3, 0, 5], [4, 5, 0]]
    >>> distances_kept(d, np.multiply(d, 2))
    1.0
    """
    original, release = _pairs(original_km, release_km)
    if np.ptp(original) == 0 or np.ptp(release) == 0:
        return 0.0
    return float(np.clip(np.corrcoef(original, release)[0, 1], 0.0, 1.0))


def neighbours_kept(
    original_km: ArrayLike, release_km: ArrayLike, *, n_neighbours: Annotated[int, Whole(1, unit="records")] = 10
) -> float:
    """Return the mean share of each record's nearest neighbours that are among its nearest in the release.

    What cluster detection and spatial smoothing live on. A random order keeps n_neighbours / (n - 1) of them.

    Parameters
    ----------
    original_km, release_km
        As for `distance_precision`.
    n_neighbours : int, default 10
        How many neighbours count; of fewer records, all but one of the others. Among equally near ones the record
        that comes first is taken.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    DataError, ParameterError
        If a matrix is no distance matrix, the two differ in size, or there are too few records.
    """
    original, release = _both(original_km, release_km)
    count = min(check_integer(n_neighbours, "n_neighbours", low=1), len(original) - 2)
    both = _nearest(original, count) & _nearest(release, count)
    return float(both.sum()) / (count * len(original))


def _nearest(matrix: FloatArray, count: int) -> BoolArray:
    """Tell which records are among the nearest of each; of equally near ones the first are."""
    others = matrix.copy()
    np.fill_diagonal(others, np.inf)
    last = np.partition(others, count - 1, axis=1)[:, count - 1 : count]
    near, tied = others < last, others == last
    for row in np.flatnonzero(near.sum(axis=1) + tied.sum(axis=1) > count):
        tied[row, np.flatnonzero(tied[row])[count - int(near[row].sum()) :]] = False
    is_nearest: BoolArray = near | tied
    return is_nearest


def information_kept(original: pd.DataFrame, release: pd.DataFrame, *, columns: str | Sequence[str]) -> float:
    """Return the share of the values' variation that the release still tells, averaged over columns.

    Parameters
    ----------
    original, release : DataFrame
        Numeric columns of the same records (equal index labels); a record that the release leaves out tells nothing.
    columns : str or sequence of str

    Returns
    -------
    float
        In [0, 1]: a column keeps ``1 - SSE / SST``, at least 0, where SSE sums squared differences of the released
        values from the true ones and SST of the true ones from their mean, which stands for a record left out. A
        constant column keeps 1 if it stayed as it was.

    Raises
    ------
    ParameterError, DataError
        If a column is absent or not numeric, or the release has records that the original does not have.

    Notes
    -----
    One minus the information loss SSE / SST of the literature on microaggregation (Domingo-Ferrer and
    Mateo-Sanz 2002), cut at 0 because noise larger than the data tells no less than nothing.

    Examples
    --------
    >>> table = pd.DataFrame({"pay": [1.0, 2.0, 3.0, 4.0]})
    >>> information_kept(table, pd.DataFrame({"pay": [1.5, 1.5, 3.5, 3.5]}), columns="pay")
    0.8
    """
    listed, before, after = _aligned(original, release, columns)
    shares = []
    for column in listed:
        true, released = before[column].to_numpy(float), after[column].to_numpy(float)
        error = float(((np.where(np.isnan(released), true.mean(), released) - true) ** 2).sum())
        total = float(((true - true.mean()) ** 2).sum())
        shares.append(max(0.0, 1 - error / total) if total > 0 else float(error == 0))
    return float(np.mean(shares))


def correlations_kept(original: pd.DataFrame, release: pd.DataFrame, *, columns: Sequence[str]) -> float:
    """Return one minus the mean absolute change of the correlations between columns, at least 0.

    Parameters
    ----------
    original, release, columns
        As for `information_kept`, at least two columns. A constant column has correlation 0 with all others.

    Returns
    -------
    float
        In [0, 1].
    """
    listed, before, after = _aligned(original, release, columns, at_least=2)
    upper = np.triu_indices(len(listed), 1)
    first, second = (_correlations(frame.dropna().to_numpy(float))[upper] for frame in (before, after))
    return float(max(0.0, 1 - np.abs(first - second).mean()))


def _correlations(values: FloatArray) -> FloatArray:
    if len(values) < 2:
        return np.zeros((values.shape[1],) * 2)
    spread = values.std(axis=0)
    scaled = (values - values.mean(axis=0)) / np.where(spread > 1e-12 * np.abs(values).max(axis=0), spread, np.inf)
    return np.asarray(scaled.T @ scaled / len(values))


def _aligned(
    original: pd.DataFrame, release: pd.DataFrame, columns: str | Sequence[str], *, at_least: int = 1
) -> tuple[list[str], pd.DataFrame, pd.DataFrame]:
    check_table(original, "original")
    check_table(release, "release", min_records=0)
    listed = check_columns(original, columns, "columns", table_name="original", min_columns=at_least)
    check_columns(release, listed, "columns", table_name="release")
    for frame, name in ((original, "original"), (release, "release")):
        other = [column for column in listed if not pd.api.types.is_numeric_dtype(frame[column])]
        if other:
            raise DataError(
                f"`{name}` must have numbers in the columns compared, got {frame[other[0]].dtype} in {other[0]!r}"
            )
        if not frame.index.is_unique:
            raise DataError(f"the index of `{name}` must be unique: it tells which records are the same")
    stray = release.index.difference(original.index)
    if len(stray):
        raise DataError(f"`release` must hold records of `original` only, got {len(stray)} others, e.g. {stray[0]!r}")
    return listed, original[listed], release[listed].reindex(original.index)
