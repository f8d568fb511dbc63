"""Metric. Utility of released distances and places: agreement of analyses of the release and of the original."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reident.base import (
    Choice,
    DataError,
    FloatArray,
    Real,
    Whole,
    check_distance_matrix,
    check_integer,
    check_positive,
    checked,
)
from reident.places.distance_analyses import autocorrelation, bisquare
from reident.places.distances import great_circle_pairs_km
from reident.places.points import Coordinates, degrees, read_places, unit_vectors

_Km = Annotated[float, Real(0, unit="km", open_low=True)]
_Neighbours = Annotated[int, Whole(1, unit="records")]
_Clusters = Annotated[int, Whole(2, unit="clusters")]
_Linkage = Annotated[str, Choice("average", "single", "complete")]

# Comparisons of two distance matrices of the same records, d_original and d_release: km, shape (n, n).


def _both(d_original: ArrayLike, d_release: ArrayLike, at_least: int) -> tuple[FloatArray, FloatArray]:
    original = check_distance_matrix(d_original, "d_original")
    if len(original) < at_least:
        raise DataError(f"`d_original` must have at least {at_least} records, got {len(original)}")
    return original, check_distance_matrix(d_release, "d_release", size=len(original))


def _to_others(d: FloatArray) -> FloatArray:
    """Return distances with those from a record to itself beyond all others."""
    return np.where(np.eye(len(d), dtype=bool), np.inf, d)


def nearest_neighbour_agreement(d_original: ArrayLike, d_release: ArrayLike) -> float:
    """Return the share of records with the same nearest neighbour in the release.

    Where several released neighbours are equally near, each of them is chosen with the same probability.

    Parameters
    ----------
    d_original, d_release : array_like, shape (n, n)
        Distances, km.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    DataError
        If a matrix is no distance matrix, or they differ in size.

    Notes
    -----
    Kroll and Schnell (2016), figure 2, left.

    Examples
    --------
    >>> d = np.array([[0, 1, 4], [1, 0, 3], [4, 3, 0]])
    >>> nearest_neighbour_agreement(d, d)
    1.0
    """
    original, release = map(_to_others, _both(d_original, d_release, 2))
    truly = original == original.min(axis=1, keepdims=True)
    claimed = release == release.min(axis=1, keepdims=True)
    return float(((truly & claimed).sum(axis=1) / claimed.sum(axis=1)).mean())


def rank_correlation(d_original: ArrayLike, d_release: ArrayLike, *, record: int) -> float:
    """Return Spearman's correlation of the distances from a record to all others, nan if all of one side are equal.

    Kroll and Schnell (2016), figure 2, right.
    """
    original, release = _both(d_original, d_release, 3)
    record = check_integer(record, "record", low=0, high=len(original) - 1)
    return float(_rank_correlations(original, release)[record])


def _rank_correlations(original: FloatArray, release: FloatArray) -> FloatArray:
    n = len(original)
    others = ~np.eye(n, dtype=bool)
    ranks = (pd.DataFrame(d[others].reshape(n, n - 1).T).rank().to_numpy() for d in (original, release))
    first, second = (rank - rank.mean(axis=0) for rank in ranks)
    spread = np.sqrt((first**2).sum(axis=0) * (second**2).sum(axis=0))
    return np.divide((first * second).sum(axis=0), spread, out=np.full(n, np.nan), where=spread > 0)


def ranks_kept(d_original: ArrayLike, d_release: ArrayLike) -> float:
    """Return the mean over the records of `rank_correlation`, of which one below 0 or without a value counts 0."""
    correlations = _rank_correlations(*_both(d_original, d_release, 3))
    return float(np.clip(np.nan_to_num(correlations), 0, 1).mean())


@checked
def small_distances_kept(
    d_original: ArrayLike,
    d_release: ArrayLike,
    *,
    share: Annotated[float, Real(0, 1, unit="share of pairs", open_low=True)] = 0.1,
) -> float:
    """Return 1 - mean error / mean, at least 0, of the `share` of smallest distances."""
    original, release = _both(d_original, d_release, 3)
    pairs = np.triu(np.ones_like(original, dtype=bool), 1)
    near = pairs & (original <= np.quantile(original[pairs], share))
    return _remaining(float(original[near].mean()), float(np.abs(release - original)[near].mean()))


@checked
def clustering_agreement(
    d_original: ArrayLike,
    d_release: ArrayLike,
    *,
    n_clusters: _Clusters,
    linkage: _Linkage = "average",
) -> float:
    """Return the adjusted Rand index between agglomerative clusterings of the original and the released distances.

    Parameters
    ----------
    d_original, d_release : array_like, shape (n, n)
        Distances, km.
    n_clusters : int
        Clusters to cut both trees into, at least 2 and at most n.
    linkage : {"single", "complete", "average"}
        How clusters are joined.

    Returns
    -------
    float
        1 for the same clusters, about 0 for unrelated ones.

    Raises
    ------
    DataError, ParameterError
        As for `nearest_neighbour_agreement`; if an option breaks its rule.
    """
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform
    from sklearn.metrics import adjusted_rand_score

    both = _both(d_original, d_release, 2)
    n_clusters = check_integer(n_clusters, "n_clusters", low=2, high=len(both[0]))
    trees = (hierarchy.linkage(squareform(d, checks=False), linkage) for d in both)
    return float(adjusted_rand_score(*(hierarchy.fcluster(tree, n_clusters, "maxclust") for tree in trees)))


@checked
def clusters_kept(
    d_original: ArrayLike,
    d_release: ArrayLike,
    *,
    n_clusters: _Clusters = 5,
    linkage: _Linkage = "average",
) -> float:
    """Return `clustering_agreement`, at least 0, with fewer clusters than records."""
    original, release = _both(d_original, d_release, 3)
    n_clusters = min(n_clusters, len(original) - 1)
    return max(0.0, clustering_agreement(original, release, n_clusters=n_clusters, linkage=linkage))


def gwr_weight_overlap(d_original: ArrayLike, d_release: ArrayLike, *, bandwidth_km: float) -> float:
    """Return the overlap of the bisquare weights of a geographically weighted regression: 1 for equal weights.

    Each row of weights (without the record itself) is scaled to sum 1; the overlap of two rows is the sum of the
    smaller entries; the mean over the records that have weights in the original, nan if there is none.
    """
    bandwidth_km = check_positive(bandwidth_km, "bandwidth_km")
    rows = []
    for d in _both(d_original, d_release, 2):
        weight = bisquare(_to_others(d) / bandwidth_km)
        total = weight.sum(axis=1, keepdims=True)
        rows.append(np.divide(weight, total, out=np.zeros_like(weight), where=total > 0))
    has_weights = rows[0].any(axis=1)
    return float(np.minimum(*rows).sum(axis=1)[has_weights].mean()) if has_weights.any() else float("nan")


@checked
def weights_kept(d_original: ArrayLike, d_release: ArrayLike, *, n_neighbours: _Neighbours = 20) -> float:
    """Return `gwr_weight_overlap` for the median distance to the `n_neighbours`-th neighbour as bandwidth."""
    original, release = _both(d_original, d_release, 3)
    bandwidth = float(np.median(np.sort(original, axis=1)[:, min(n_neighbours, len(original) - 1)]))
    if bandwidth <= 0:
        return float(np.abs(original - release).max() < 1e-9)
    return float(np.nan_to_num(gwr_weight_overlap(original, release, bandwidth_km=bandwidth)))


def density_index_kept(d_original: ArrayLike, d_release: ArrayLike) -> float:
    """Return the smaller over the larger of the mean distances to the nearest neighbour: of Clark and Evans' index.

    The surface of the area, which both indices divide by, drops out.
    """
    return _ratio(*(float(_to_others(d).min(axis=1).mean()) for d in _both(d_original, d_release, 3)))


@checked
def morans_i_kept(
    d_original: ArrayLike,
    d_release: ArrayLike,
    values: ArrayLike,
    *,
    neighbours: _Neighbours = 6,
) -> float:
    """Return 1 - mean absolute change of Moran's I, at least 0, over the columns of `values` that vary.

    `values` has shape (n,) or (n, columns); see `autocorrelation` with contiguity for `neighbours`. nan without such a
    column.
    """
    return _statistic_kept(d_original, d_release, values, neighbours, "morans_i")


@checked
def gearys_c_kept(
    d_original: ArrayLike,
    d_release: ArrayLike,
    values: ArrayLike,
    *,
    neighbours: _Neighbours = 6,
) -> float:
    """Return 1 - mean absolute change of Geary's C, at least 0, as `morans_i_kept`."""
    return _statistic_kept(d_original, d_release, values, neighbours, "gearys_c")


def _statistic_kept(
    d_original: ArrayLike, d_release: ArrayLike, values: ArrayLike, neighbours: int, name: str
) -> float:
    both = _both(d_original, d_release, 3)
    columns = np.asarray(values, np.float64).reshape(len(both[0]), -1).T
    reach = min(neighbours, len(both[0]) - 1)
    changes = []
    for column in columns[np.ptp(columns, axis=1) > 0]:
        before, after = (getattr(autocorrelation(column, d, neighbours=reach), name) for d in both)
        changes.append(abs(after - before))
    return max(0.0, 1 - float(np.mean(changes))) if changes else float("nan")


@checked
def distance_utilities(
    d_original: ArrayLike,
    d_release: ArrayLike,
    *,
    values: ArrayLike | None = None,
    small_km: _Km = 25.0,
    n_clusters: _Clusters = 10,
    neighbours: _Neighbours = 6,
    band_km: _Km = 50.0,
    bandwidth_km: _Km = 100.0,
) -> dict[str, Any]:
    """Return the measures of Kroll and Schnell (2016) for one release: a row for a risk-utility map.

    Parameters
    ----------
    d_original, d_release : array_like, shape (n, n)
        Distances, km.
    values : array_like, shape (n,), optional
        An attribute whose autocorrelation is compared; without it those entries are left out.
    small_km : float
        Distances below it count in `small_error_km`.
    n_clusters, neighbours, band_km, bandwidth_km
        Options of `clustering_agreement`, `autocorrelation` and the bisquare weights of a regression.

    Returns
    -------
    dict
        `nearest_neighbour`, `small_error_km` (mean absolute error, nan without a small distance), `clusters_ari`,
        `gwr_overlap`, and for values `moran_contiguity`, `geary_contiguity`, `moran_band`, `geary_band`, each beside
        its error against the original (`..._error`).

    Raises
    ------
    DataError, ParameterError
        If a matrix is no distance matrix, or an option breaks its rule.
    """
    original, release = _both(d_original, d_release, 3)
    small = np.triu(original < small_km, 1)
    row: dict[str, Any] = {
        "nearest_neighbour": nearest_neighbour_agreement(original, release),
        "small_error_km": float(np.abs(release - original)[small].mean()) if small.any() else float("nan"),
        "clusters_ari": clustering_agreement(original, release, n_clusters=min(n_clusters, len(original))),
        "gwr_overlap": gwr_weight_overlap(original, release, bandwidth_km=bandwidth_km),
    }
    if values is None:
        return row
    for name in ("contiguity", "band"):
        options: dict[str, Any] = {"weights": name, "neighbours": neighbours, "band_km": band_km}
        truth, released = (autocorrelation(values, d, **options) for d in (original, release))
        row |= {f"moran_{name}": released.morans_i, f"moran_{name}_error": abs(released.morans_i - truth.morans_i)}
        row |= {f"geary_{name}": released.gearys_c, f"geary_{name}_error": abs(released.gearys_c - truth.gearys_c)}
    return row


# Comparisons of the places of the same records: tables with ``lat_deg`` and ``lon_deg``, or GeoDataFrames.


def _ratio(first: float, second: float) -> float:
    """Return the smaller over the larger of two lengths."""
    return min(first, second) / max(first, second) if max(first, second) > 0 else 1.0


def _remaining(length: float, loss: float) -> float:
    """Return 1 - loss / length, at least 0; of length 0 whether the loss is below 1e-9."""
    return max(0.0, 1 - loss / length) if length > 0 else float(loss < 1e-9)


def _centre(lat: FloatArray, lon: FloatArray) -> Coordinates:
    """Return the place below the mean of the places on the sphere, degrees."""
    return degrees(unit_vectors(lat, lon).mean(axis=0, keepdims=True))


def _spread_km(lat: FloatArray, lon: FloatArray) -> float:
    """Return the standard distance: the root of the mean squared distance from the mean centre, km."""
    away = great_circle_pairs_km(lat, lon, *(np.repeat(part, len(lat)) for part in _centre(lat, lon)))
    return float(np.sqrt((away**2).mean()))


def mean_centre_kept(original: Any, release: Any) -> float:
    """Return 1 - shift of the mean centre / standard distance of the original, at least 0."""
    places, moved = read_places(original, "original"), read_places(release, "release")
    return _remaining(_spread_km(*places), float(great_circle_pairs_km(*_centre(*places), *_centre(*moved))[0]))


def standard_distance_kept(original: Any, release: Any) -> float:
    """Return the smaller over the larger of the standard distances."""
    return _ratio(_spread_km(*read_places(original, "original")), _spread_km(*read_places(release, "release")))


def places_kept(original: Any, release: Any) -> float:
    """Return 1 - median displacement / standard distance of the original, at least 0."""
    places, moved = read_places(original, "original"), read_places(release, "release")
    return _remaining(_spread_km(*places), float(np.median(great_circle_pairs_km(*places, *moved))))


@checked
def cells_kept(original: Any, release: Any, *, n_cells: Annotated[int, Whole(1, unit="cells")] = 10) -> float:
    """Return 1 - total variation between the shares of records in the cells of a grid.

    `n_cells` are along the longer side of the area that the original spans; cells are about square, and all that lies
    outside is one more.
    """
    lat, lon = read_places(original, "original")
    south, west, squeeze = lat.min(), lon.min(), np.cos(np.radians(lat.mean()))
    side = max(np.ptp(lat), np.ptp(lon) * squeeze, 1e-9) / n_cells
    shares = []
    for y, x in ((lat, lon), read_places(release, "release")):
        row, column = np.floor((y - south) / side), np.floor((x - west) * squeeze / side)
        inside = (row >= 0) & (row <= n_cells) & (column >= 0) & (column <= n_cells)
        cell = np.where(inside, np.minimum(row, n_cells - 1) * n_cells + np.minimum(column, n_cells - 1), -1)
        shares.append(pd.Series(cell).value_counts(normalize=True))
    return float(1 - shares[0].sub(shares[1], fill_value=0.0).abs().sum() / 2)
