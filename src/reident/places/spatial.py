"""Metric. Utility of released distances: the analyses that need distances only.

Each measure compares a released distance matrix with the original one, or computes a statistic from either, so that any
method that releases distances is measured alike.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from reident.base import (
    Choice,
    DataError,
    FloatArray,
    ParameterError,
    Real,
    Whole,
    check_choice,
    check_distance_matrix,
    check_integer,
    check_real,
    check_vector,
    checked,
)

__all__ = [
    "Autocorrelation",
    "autocorrelation",
    "clustering_agreement",
    "distance_utilities",
    "gwr_weight_overlap",
    "gwr_weights",
    "nearest_neighbour_agreement",
    "rank_correlation",
    "small_distance_error_km",
]


def _both(d_original: ArrayLike, d_release: ArrayLike, *, at_least: int = 2) -> tuple[FloatArray, FloatArray]:
    original = check_distance_matrix(d_original, "d_original")
    if len(original) < at_least:
        raise DataError(f"`d_original` must have at least {at_least} records, got {len(original)}")
    return original, check_distance_matrix(d_release, "d_release", size=len(original))


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
    original, release = (np.where(np.eye(len(d), dtype=bool), np.inf, d) for d in _both(d_original, d_release))
    truly = original == original.min(axis=1, keepdims=True)
    claimed = release == release.min(axis=1, keepdims=True)
    return float(((truly & claimed).sum(axis=1) / claimed.sum(axis=1)).mean())


def rank_correlation(d_original: ArrayLike, d_release: ArrayLike, *, record: int) -> float:
    """Return Spearman's correlation of the original and released distances from one record to all others.

    Parameters
    ----------
    d_original, d_release : array_like, shape (n, n)
        Distances, km; at least three records.
    record : int
        Position of the fixed record.

    Raises
    ------
    DataError, ParameterError
        As for `nearest_neighbour_agreement`; if there is no such record.

    Notes
    -----
    Kroll and Schnell (2016), figure 2, right. nan if all distances of one side are equal.
    """
    original, release = _both(d_original, d_release, at_least=3)
    record = check_integer(record, "record", low=0, high=len(original) - 1)
    ranks = [pd.Series(np.delete(d[record], record)).rank().to_numpy() for d in (original, release)]
    if min(np.ptp(rank) for rank in ranks) == 0:
        return float("nan")
    return float(np.corrcoef(*ranks)[0, 1])


def small_distance_error_km(d_original: ArrayLike, d_release: ArrayLike, *, below_km: float) -> float:
    """Return the mean absolute error, km, of the released distances of pairs that are closer than `below_km`.

    nan if there is no such pair. Raises as `nearest_neighbour_agreement`, and if `below_km` is not positive.
    """
    original, release = _both(d_original, d_release)
    below_km = check_real(below_km, "below_km", low=0, open_low=True)
    pairs = np.triu(original < below_km, 1)
    return float(np.abs(release - original)[pairs].mean()) if pairs.any() else float("nan")


def clustering_agreement(
    d_original: ArrayLike,
    d_release: ArrayLike,
    *,
    n_clusters: Annotated[int, Whole(2, unit="clusters")],
    linkage: Annotated[str, Choice("average", "single", "complete")] = "average",
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

    original, release = _both(d_original, d_release)
    n_clusters = check_integer(n_clusters, "n_clusters", low=2, high=len(original))
    check_choice(linkage, "linkage", ["single", "complete", "average"])
    labels = [
        hierarchy.fcluster(hierarchy.linkage(squareform(d, checks=False), linkage), n_clusters, "maxclust")
        for d in (original, release)
    ]
    return float(adjusted_rand_score(*labels))


class Autocorrelation(NamedTuple):
    """Moran's I (about 0 without spatial pattern, towards 1 with) and Geary's C (about 1 without, towards 0 with)."""

    morans_i: float
    gearys_c: float


@checked
def autocorrelation(
    values: ArrayLike,
    distances_km: ArrayLike,
    *,
    weights: Annotated[str, Choice("contiguity", "band", "inverse")] = "contiguity",
    neighbours: Annotated[int, Whole(1, unit="records")] = 6,
    band_km: Annotated[float | None, Real(0, unit="km", open_low=True)] = None,
) -> Autocorrelation:
    """Return Moran's I and Geary's C of values at places of which only the distances are known.

    Parameters
    ----------
    values : array_like, shape (n,)
        One number a record, not all equal.
    distances_km : array_like, shape (n, n)
        Distances, km.
    weights : {"contiguity", "band", "inverse"}
        Contiguity: 1 for the `neighbours` nearest records, row-standardised. Band: 1 for records within `band_km`.
        Inverse: 1 / distance within `band_km`, distances below 1 km counted as 1 km.
    neighbours : int, default 6
        For contiguity; at most n - 1.
    band_km : float, optional
        For band and inverse weights; required there.

    Returns
    -------
    Autocorrelation
        nan if no record has a neighbour within the band.

    Raises
    ------
    DataError, ParameterError
        If the matrix or an option breaks its rule, or all values are equal.

    Notes
    -----
    The statistics are those of esda on libpysal's weights.
    """
    d = check_distance_matrix(distances_km, "distances_km")
    values = check_vector(values, "values", length=len(d))
    if len(d) < 3 or np.ptp(values) == 0:
        raise DataError("`values` must be at least 3 numbers that are not all equal")
    if weights == "contiguity":
        matrix = _nearest(d, check_integer(neighbours, "neighbours", low=1, high=len(d) - 1))
    else:
        if band_km is None:
            raise ParameterError(f"`band_km` must be given for weights={weights!r}")
        within = d <= band_km
        matrix = np.where(within, 1.0 if weights == "band" else 1.0 / np.maximum(d, 1.0), 0.0)
        np.fill_diagonal(matrix, 0.0)
    if not matrix.any():
        return Autocorrelation(float("nan"), float("nan"))
    return _by_esda(values, matrix)


def _nearest(d: FloatArray, neighbours: int) -> FloatArray:
    # Of equally near records the first ones count: a stable order.
    order = np.argsort(np.where(np.eye(len(d), dtype=bool), np.inf, d), axis=1, kind="stable")[:, :neighbours]
    matrix = np.zeros_like(d)
    np.put_along_axis(matrix, order, 1.0 / neighbours, axis=1)
    return matrix


def _by_esda(values: FloatArray, matrix: FloatArray) -> Autocorrelation:
    import warnings

    with warnings.catch_warnings():
        # Records without neighbours are no mistake here: a band may be narrow.
        warnings.simplefilter("ignore")
        from esda import Geary, Moran
        from libpysal.weights import WSP

        weights = WSP(sparse.csr_matrix(matrix)).to_W(silence_warnings=True)
        moran = Moran(values, weights, transformation="o", permutations=0)
        geary = Geary(values, weights, transformation="o", permutations=0)
    return Autocorrelation(float(moran.I), float(geary.C))


def gwr_weights(distances_km: ArrayLike, *, bandwidth_km: float, kernel: str = "bisquare") -> FloatArray:
    """Return the weights that geographically weighted regression gives records around each record.

    Parameters
    ----------
    distances_km : array_like, shape (n, n)
        Distances, km.
    bandwidth_km : float
        Above 0: where the bisquare kernel ends, or the Gaussian kernel's standard deviation.
    kernel : {"bisquare", "gaussian"}
        Form of the weights.

    Returns
    -------
    ndarray of float64, shape (n, n)
        Weights in [0, 1], 1 on the diagonal.

    Examples
    --------
    >>> gwr_weights([[0, 5], [5, 0]], bandwidth_km=10).round(4).tolist()
    [[1.0, 0.5625], [0.5625, 1.0]]
    """
    d = check_distance_matrix(distances_km, "distances_km")
    scaled = d / check_real(bandwidth_km, "bandwidth_km", low=0, open_low=True)
    if check_choice(kernel, "kernel", ["bisquare", "gaussian"]) == "gaussian":
        return np.asarray(np.exp(-0.5 * scaled**2))
    return np.where(scaled < 1, (1 - scaled**2) ** 2, 0.0)


def gwr_weight_overlap(
    d_original: ArrayLike, d_release: ArrayLike, *, bandwidth_km: float, kernel: str = "bisquare"
) -> float:
    """Return how much of the weight around a record stays where it was: 1 for equal weights, 0 for disjoint ones.

    Each row of weights (without the record itself) is scaled to sum 1; the overlap of two rows is the sum of the
    smaller entries; the mean over the records that have weights in the original. Arguments as for `gwr_weights`.
    """
    original, release = _both(d_original, d_release)
    rows = []
    for d in (original, release):
        weight = gwr_weights(d, bandwidth_km=bandwidth_km, kernel=kernel)
        np.fill_diagonal(weight, 0.0)
        total = weight.sum(axis=1, keepdims=True)
        rows.append(np.divide(weight, total, out=np.zeros_like(weight), where=total > 0))
    counted = rows[0].any(axis=1)
    return float(np.minimum(*rows).sum(axis=1)[counted].mean()) if counted.any() else float("nan")


def distance_utilities(
    d_original: ArrayLike,
    d_release: ArrayLike,
    *,
    values: ArrayLike | None = None,
    small_km: Annotated[float, Real(0, unit="km", open_low=True)] = 25.0,
    n_clusters: Annotated[int, Whole(2, unit="clusters")] = 10,
    neighbours: Annotated[int, Whole(1, unit="records")] = 6,
    band_km: Annotated[float, Real(0, unit="km", open_low=True)] = 50.0,
    bandwidth_km: Annotated[float, Real(0, unit="km", open_low=True)] = 100.0,
) -> dict[str, Any]:
    """Return every measure of this module for one release: a row for a risk-utility map.

    Parameters
    ----------
    d_original, d_release : array_like, shape (n, n)
        Distances, km.
    values : array_like, shape (n,), optional
        An attribute whose autocorrelation is compared; without it those entries are left out.
    small_km, n_clusters, neighbours, band_km, bandwidth_km
        Options of `small_distance_error_km`, `clustering_agreement`, `autocorrelation` and `gwr_weight_overlap`.

    Returns
    -------
    dict
        `nearest_neighbour`, `small_error_km`, `clusters_ari`, `gwr_overlap`, and for values `moran_contiguity`,
        `geary_contiguity`, `moran_band`, `geary_band`, each beside its error against the original (`..._error`).

    Raises
    ------
    DataError, ParameterError
        If a matrix is no distance matrix, or an option breaks its rule.
    """
    original, release = _both(d_original, d_release, at_least=3)
    for name, length in (("small_km", small_km), ("band_km", band_km), ("bandwidth_km", bandwidth_km)):
        check_real(length, name, low=0, open_low=True)
    check_integer(neighbours, "neighbours", low=1)
    clusters = min(check_integer(n_clusters, "n_clusters", low=2), len(original))
    row: dict[str, Any] = {
        "nearest_neighbour": nearest_neighbour_agreement(original, release),
        "small_error_km": small_distance_error_km(original, release, below_km=small_km),
        "clusters_ari": clustering_agreement(original, release, n_clusters=clusters),
        "gwr_overlap": gwr_weight_overlap(original, release, bandwidth_km=bandwidth_km),
    }
    if values is not None:
        for name in ("contiguity", "band"):
            options: dict[str, Any] = {"weights": name, "neighbours": neighbours, "band_km": band_km}
            truth, released = (autocorrelation(values, d, **options) for d in (original, release))
            row |= {f"moran_{name}": released.morans_i, f"moran_{name}_error": abs(released.morans_i - truth.morans_i)}
            row |= {f"geary_{name}": released.gearys_c, f"geary_{name}_error": abs(released.gearys_c - truth.gearys_c)}
    return row
