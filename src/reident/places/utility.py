"""Metric. Utility of released places and distances: agreement of an analysis of the release with one of the original.

Each lies in [0, 1] and is 1 for the original.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reident.base import Choice, DataError, FloatArray, Real, Whole, check_distance_matrix, checked
from reident.places.distances import great_circle_pairs_km
from reident.places.points import read_places
from reident.places.spatial import autocorrelation, clustering_agreement, gwr_weight_overlap

__all__ = [
    "cells_kept",
    "clusters_kept",
    "density_index_kept",
    "gearys_c_kept",
    "mean_centre_kept",
    "morans_i_kept",
    "places_kept",
    "ranks_kept",
    "small_distances_kept",
    "standard_distance_kept",
    "weights_kept",
]


def _both(original_km: ArrayLike, release_km: ArrayLike) -> tuple[FloatArray, FloatArray]:
    original = check_distance_matrix(original_km, "original_km")
    if len(original) < 3:
        raise DataError(f"`original_km` must be of at least 3 records, got {len(original)}")
    return original, check_distance_matrix(release_km, "release_km", size=len(original))


def _ratio(first: float, second: float) -> float:
    """Return the smaller over the larger of two lengths."""
    return min(first, second) / max(first, second) if max(first, second) > 0 else 1.0


def _left_of(length: float, lost: float) -> float:
    """Return 1 - lost / length, at least 0; of length 0 whether less than 1e-9 is lost."""
    return max(0.0, 1 - lost / length) if length > 0 else float(lost < 1e-9)


@checked
def ranks_kept(original_km: ArrayLike, release_km: ArrayLike) -> float:
    """Return the mean over the records of the rank correlation of true and released distances to all others.

    Parameters
    ----------
    original_km, release_km : array_like of float, shape (n, n)
        Distances between the same records in the same order, km; n at least 3.

    Returns
    -------
    float
        In [0, 1]; a correlation below 0, or with distances that are all alike, counts 0.

    Notes
    -----
    Kroll and Schnell (2016), figure 2, right, over all records.
    """
    n = len(_both(original_km, release_km)[0])
    others = ~np.eye(n, dtype=bool)
    ranks = [pd.DataFrame(d[others].reshape(n, n - 1).T).rank().to_numpy().T for d in _both(original_km, release_km)]
    first, second = (rank - rank.mean(axis=1, keepdims=True) for rank in ranks)
    spread = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    correlation = np.divide((first * second).sum(axis=1), spread, out=np.zeros(n), where=spread > 0)
    return float(np.clip(correlation, 0, 1).mean())


@checked
def small_distances_kept(
    original_km: ArrayLike,
    release_km: ArrayLike,
    *,
    share: Annotated[float, Real(0, 1, unit="share of pairs", open_low=True)] = 0.1,
) -> float:
    """Return one less the mean error of the smallest distances as a share of their mean, at least 0.

    Parameters
    ----------
    original_km, release_km
        As for `ranks_kept`.
    share : float, default 0.1
        Which of all true distances count: the smallest.

    Returns
    -------
    float
        In [0, 1].
    """
    original, release = _both(original_km, release_km)
    upper = np.triu_indices(len(original), 1)
    near = original[upper] <= np.quantile(original[upper], share)
    error = float(np.abs(release - original)[upper][near].mean())
    return _left_of(float(original[upper][near].mean()), error)


@checked
def clusters_kept(
    original_km: ArrayLike,
    release_km: ArrayLike,
    *,
    n_clusters: Annotated[int, Whole(2, unit="clusters")] = 5,
    linkage: Annotated[str, Choice("average", "single", "complete")] = "average",
) -> float:
    """Return the agreement of clusters of the released with clusters of the true distances; see `clustering_agreement`.

    Parameters
    ----------
    original_km, release_km
        As for `ranks_kept`.
    n_clusters : int, default 5
        At most the number of records counts.
    linkage : {"average", "single", "complete"}

    Returns
    -------
    float
        The adjusted Rand index, at least 0.
    """
    original, release = _both(original_km, release_km)
    n_clusters = min(n_clusters, len(original) - 1)
    return max(0.0, clustering_agreement(original, release, n_clusters=n_clusters, linkage=linkage))


@checked
def weights_kept(
    original_km: ArrayLike, release_km: ArrayLike, *, n_neighbours: Annotated[int, Whole(1, unit="records")] = 20
) -> float:
    """Return the overlap of the weights that geographically weighted regression gives records; see `gwr_weights`.

    Parameters
    ----------
    original_km, release_km
        As for `ranks_kept`.
    n_neighbours : int, default 20
        The bandwidth is the median distance to so many of the nearest records of the original.

    Returns
    -------
    float
        In [0, 1], the mean over the records that have weights in the original.
    """
    original, release = _both(original_km, release_km)
    reach = min(n_neighbours, len(original) - 1)
    bandwidth = float(np.median(np.sort(original, axis=1)[:, reach]))
    if bandwidth <= 0:
        return float(np.abs(original - release).max() < 1e-9)
    overlap = gwr_weight_overlap(original, release, bandwidth_km=bandwidth)
    return 0.0 if np.isnan(overlap) else overlap


@checked
def density_index_kept(original_km: ArrayLike, release_km: ArrayLike) -> float:
    """Return the smaller over the larger of the mean distances to the nearest neighbour: of Clark and Evans' index.

    Parameters
    ----------
    original_km, release_km
        As for `ranks_kept`.

    Returns
    -------
    float
        In [0, 1]. Whether records crowd or keep apart; the surface of the area, which both indices divide by, drops
        out.
    """
    first, second = (
        float(np.where(np.eye(len(d), dtype=bool), np.inf, d).min(axis=1).mean())
        for d in _both(original_km, release_km)
    )
    return _ratio(first, second)


@checked
def morans_i_kept(
    original_km: ArrayLike,
    release_km: ArrayLike,
    values: ArrayLike,
    *,
    neighbours: Annotated[int, Whole(1, unit="records")] = 6,
) -> float:
    """Return one less the mean absolute change of Moran's I of the records' values, at least 0.

    Parameters
    ----------
    original_km, release_km
        As for `ranks_kept`.
    values : array_like of float, shape (n,) or (n, columns)
        Numbers of the records; columns that are constant do not count.
    neighbours : int, default 6
        Contiguity: so many of the nearest records.

    Returns
    -------
    float
        In [0, 1]; nan without a column that varies.
    """
    return _statistic_kept(original_km, release_km, values, neighbours, "morans_i")


@checked
def gearys_c_kept(
    original_km: ArrayLike,
    release_km: ArrayLike,
    values: ArrayLike,
    *,
    neighbours: Annotated[int, Whole(1, unit="records")] = 6,
) -> float:
    """Return one less the mean absolute change of Geary's C, as `morans_i_kept`."""
    return _statistic_kept(original_km, release_km, values, neighbours, "gearys_c")


def _statistic_kept(
    original_km: ArrayLike, release_km: ArrayLike, values: ArrayLike, neighbours: int, name: str
) -> float:
    both = _both(original_km, release_km)
    columns = np.asarray(values, np.float64).reshape(len(both[0]), -1).T
    reach = min(neighbours, len(both[0]) - 1)
    changes = []
    for column in columns[np.ptp(columns, axis=1) > 0]:
        before, after = (getattr(autocorrelation(column, d, neighbours=reach), name) for d in both)
        changes.append(abs(after - before))
    return max(0.0, 1 - float(np.mean(changes))) if changes else float("nan")


def _centre(lat: FloatArray, lon: FloatArray) -> tuple[float, float]:
    """Return the place below the mean of the places on the sphere, degrees."""
    phi, lam = np.radians(lat), np.radians(lon)
    x, y, z = (float(part.mean()) for part in (np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)))
    return float(np.degrees(np.arctan2(z, np.hypot(x, y)))), float(np.degrees(np.arctan2(y, x)))


def _spread_km(lat: FloatArray, lon: FloatArray) -> float:
    """Return the standard distance: the root of the mean squared distance from the mean centre, km."""
    centre = _centre(lat, lon)
    away = great_circle_pairs_km(lat, lon, np.full(len(lat), centre[0]), np.full(len(lat), centre[1]))
    return float(np.sqrt((away**2).mean()))


@checked
def mean_centre_kept(original: Any, release: Any) -> float:
    """Return one less the shift of the mean centre as a share of the original's standard distance, at least 0.

    Parameters
    ----------
    original, release : DataFrame with ``lat_deg`` and ``lon_deg``, or GeoDataFrame
        Places, degrees; not modified.

    Returns
    -------
    float
        In [0, 1].
    """
    places, moved = read_places(original, "original"), read_places(release, "release")
    (lat, lon), (other_lat, other_lon) = _centre(*places), _centre(*moved)
    return _left_of(_spread_km(*places), float(great_circle_pairs_km([lat], [lon], [other_lat], [other_lon])[0]))


@checked
def standard_distance_kept(original: Any, release: Any) -> float:
    """Return the smaller over the larger of the standard distances of the true and the released places.

    Parameters
    ----------
    original, release
        As for `mean_centre_kept`.

    Returns
    -------
    float
        In [0, 1].
    """
    return _ratio(_spread_km(*read_places(original, "original")), _spread_km(*read_places(release, "release")))


@checked
def places_kept(original: Any, release: Any) -> float:
    """Return one less the median displacement as a share of the original's standard distance, at least 0.

    Parameters
    ----------
    original, release
        As for `mean_centre_kept`, the same records in the same order.

    Returns
    -------
    float
        In [0, 1].
    """
    (lat, lon), (other_lat, other_lon) = read_places(original, "original"), read_places(release, "release")
    moved = float(np.median(great_circle_pairs_km(lat, lon, other_lat, other_lon)))
    return _left_of(_spread_km(lat, lon), moved)


@checked
def cells_kept(original: Any, release: Any, *, n_cells: Annotated[int, Whole(1, unit="cells")] = 10) -> float:
    """Return one less the total variation between the shares of records in the cells of a grid.

    Parameters
    ----------
    original, release
        As for `mean_centre_kept`.
    n_cells : int, default 10
        Cells along the longer side of the area that the original spans, about square; all that lies outside is one
        more.

    Returns
    -------
    float
        In [0, 1]: what a map of counts by cell keeps.
    """
    lat, lon = read_places(original, "original")
    south, west, squeeze = lat.min(), lon.min(), np.cos(np.radians(lat.mean()))
    side = max(np.ptp(lat), np.ptp(lon) * squeeze, 1e-9) / n_cells
    counts = []
    for y, x in ((lat, lon), read_places(release, "release")):
        row, column = np.floor((y - south) / side), np.floor((x - west) * squeeze / side)
        inside = (row >= 0) & (row <= n_cells) & (column >= 0) & (column <= n_cells)
        cell = np.where(inside, np.minimum(row, n_cells - 1) * n_cells + np.minimum(column, n_cells - 1), -1)
        counts.append(pd.Series(cell).value_counts(normalize=True))
    gaps = counts[0].sub(counts[1], fill_value=0.0).abs()
    return float(1 - gaps.sum() / 2)
