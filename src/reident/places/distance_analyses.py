"""Metric. Analyses that need distances only: autocorrelation, regression, eigenvectors, imputation, cluster scan.

Each takes a distance matrix, original or released. The regression and the scan are written out here because mgwr, spreg
and the scan statistics of Python ask for coordinates, which a release does not have.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.special import xlogy

from reident.base import (
    BoolArray,
    Choice,
    DataError,
    FloatArray,
    ParameterError,
    Real,
    Whole,
    check_array,
    check_distance_matrix,
    check_integer,
    check_vector,
    checked,
)

# Shorter distances, km, count as this one where a distance of zero would mean "no edge" or divide by zero.
_SHORTEST_KM = 1e-9


class Autocorrelation(NamedTuple):
    """Moran's I (about 0 without spatial pattern, towards 1 with) and Geary's C (about 1 without, towards 0 with)."""

    morans_i: float
    gearys_c: float


@checked
def autocorrelation(
    values: ArrayLike,
    distances_km: ArrayLike,
    *,
    weights: Annotated[str, Choice("contiguity", "band")] = "contiguity",
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
    weights : {"contiguity", "band"}
        Contiguity: 1 for the `neighbours` nearest records, row-standardised. Band: 1 for records within `band_km`.
    neighbours : int, default 6
        For contiguity; at most n - 1.
    band_km : float, optional
        For band weights; required there.

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
        matrix = np.where(d <= band_km, 1.0, 0.0)
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


def bisquare(scaled: FloatArray) -> FloatArray:
    """Return the weights of geographically weighted regression for distances in units of the bandwidth."""
    return np.where(scaled < 1, (1 - scaled**2) ** 2, 0.0)


@checked
def local_slopes(
    distances_km: ArrayLike, x: ArrayLike, y: ArrayLike, *, neighbours: Annotated[int, Whole(2, unit="records")] = 60
) -> FloatArray:
    """Return the slope of y on x around each record: geographically weighted regression.

    Parameters
    ----------
    distances_km : array_like, shape (n, n)
        Distances, km.
    x, y : array_like, shape (n,)
        Explanatory and explained variable.
    neighbours : int, default 60
        The bisquare weights around a record end at its neighbour of this rank, at most n - 1.

    Returns
    -------
    ndarray of float64, shape (n,)
        Slopes of weighted least squares with an intercept.

    Raises
    ------
    DataError, ParameterError
        If the matrix is no distance matrix, lengths differ, or there are too few neighbours.

    Notes
    -----
    Kroll and Schnell (2016), section on compatible procedures; Lloyd (2011), equation (5.35).

    Examples
    --------
    >>> d = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    >>> local_slopes(d, [0, 1, 2, 3, 4], [1, 3, 5, 7, 9], neighbours=4).round(6).tolist()
    [2.0, 2.0, 2.0, 2.0, 2.0]
    """
    d = _distances(distances_km, at_least=neighbours + 1)
    x, y = (check_vector(values, name, length=len(d)) for values, name in ((x, "x"), (y, "y")))
    reach = np.sort(d, axis=1)[:, [neighbours]]
    weight = bisquare(d / np.maximum(reach, _SHORTEST_KM))
    weight /= weight.sum(axis=1, keepdims=True)
    mean_x, mean_y = weight @ x, weight @ y
    covariance = weight @ (x * y) - mean_x * mean_y
    return np.asarray(covariance / np.maximum(weight @ (x * x) - mean_x**2, 1e-12))


@checked
def spatial_eigenvectors(
    distances_km: ArrayLike, *, n_vectors: Annotated[int, Whole(1, unit="vectors")] = 10
) -> FloatArray:
    """Return the principal coordinates of neighbour matrices (PCNM), the broadest patterns first.

    Distances beyond the longest edge of the minimum spanning tree count as four times that edge.

    Parameters
    ----------
    distances_km : array_like, shape (n, n)
        Distances, km.
    n_vectors : int, default 10
        Vectors to return; fewer are returned if fewer have positive eigenvalues.

    Returns
    -------
    ndarray of float64, shape (n, n_vectors)
        Orthonormal columns.

    Raises
    ------
    DataError, ParameterError
        If the matrix is no distance matrix, or a parameter breaks its rule.

    Notes
    -----
    Dray, Legendre and Peres-Neto (2006), named by Kroll and Schnell (2016).

    Examples
    --------
    >>> d = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    >>> vectors = spatial_eigenvectors(d, n_vectors=2)
    >>> np.abs(vectors.T @ vectors).round(6).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    d = _distances(distances_km, at_least=2)
    reach = float(minimum_spanning_tree(np.maximum(d, _SHORTEST_KM)).max())
    cut = np.where(d <= reach, d, 4 * reach)
    np.fill_diagonal(cut, 0.0)
    centring = np.eye(len(d)) - 1 / len(d)
    roots, vectors = np.linalg.eigh(-0.5 * centring @ cut**2 @ centring)
    return np.asarray(vectors[:, ::-1][:, roots[::-1] > 1e-9 * abs(roots).max()][:, :n_vectors])


@checked
def impute_from_neighbours(
    distances_km: ArrayLike, values: ArrayLike, *, neighbours: Annotated[int, Whole(1, unit="records")] = 3
) -> FloatArray:
    """Fill missing values with the mean of the nearest records that have one.

    Parameters
    ----------
    distances_km : array_like, shape (n, n)
        Distances, km.
    values : array_like, shape (n,)
        Numbers; nan is missing.
    neighbours : int, default 3
        Records that fill a gap.

    Returns
    -------
    ndarray of float64, shape (n,)
        The values without gaps.

    Raises
    ------
    DataError, ParameterError
        If the matrix is no distance matrix, lengths differ, or fewer than `neighbours` values are known.

    Notes
    -----
    Kroll and Schnell (2016), section on compatible procedures: nearest neighbour imputation.

    Examples
    --------
    >>> impute_from_neighbours([[0, 1, 9], [1, 0, 8], [9, 8, 0]], [np.nan, 5, 7], neighbours=1).tolist()
    [5.0, 5.0, 7.0]
    """
    from sklearn.neighbors import KNeighborsRegressor

    d = _distances(distances_km, at_least=2)
    filled = np.array(check_array(values, "values"))
    if filled.shape != (len(d),):
        raise DataError(f"`values` must have one number a record ({len(d)}), got shape {filled.shape}")
    missing = np.isnan(filled)
    known = np.flatnonzero(~missing)
    if known.size < neighbours:
        raise DataError(
            f"`values` must have at least {neighbours} known numbers, as `neighbours` says, got {known.size}"
        )
    if missing.any():
        model = KNeighborsRegressor(n_neighbors=neighbours, metric="precomputed")
        filled[missing] = model.fit(d[np.ix_(known, known)], filled[known]).predict(d[missing][:, known])
    return filled


class Cluster(NamedTuple):
    """The most likely cluster of cases: its members, and the logarithm of its likelihood ratio (0: no cluster)."""

    members: BoolArray
    log_ratio: float


@checked
def scan_cluster(
    distances_km: ArrayLike,
    cases: ArrayLike,
    *,
    largest_share: Annotated[float, Real(0, 0.5, open_low=True)] = 0.25,
) -> Cluster:
    """Find the most likely cluster of cases: Kulldorff's scan with the Bernoulli model.

    Windows are a record with its nearest records, up to a share of all; the one with the largest likelihood ratio is
    returned.

    Parameters
    ----------
    distances_km : array_like, shape (n, n)
        Distances, km.
    cases : array_like of bool, shape (n,)
        Which records are cases.
    largest_share : float, default .25
        Largest window, as a share of the records.

    Returns
    -------
    Cluster
        Unpacks as ``members, log_ratio``. There is no member if no window has more cases than its share.

    Raises
    ------
    DataError, ParameterError
        If the matrix is no distance matrix, or `cases` are not one truth value a record.

    Notes
    -----
    Whittemore et al. (1987), named by Kroll and Schnell (2016), test from distances alone, too; the scan also says
    where the cluster is.

    Examples
    --------
    >>> d = np.abs(np.subtract.outer(np.arange(8.0), np.arange(8.0)))
    >>> scan_cluster(d, [True, True, False, False, False, False, False, False]).members.nonzero()[0].tolist()
    [0, 1]
    """
    d = _distances(distances_km, at_least=2)
    n, is_case = len(d), np.asarray(cases)
    if is_case.dtype != bool or is_case.shape != (n,):
        raise DataError(f"`cases` must be one truth value a record ({n}), got {is_case.dtype} of shape {is_case.shape}")
    total = int(is_case.sum())
    order = np.argsort(d, axis=1, kind="stable")[:, : max(1, int(largest_share * n))]
    size = np.arange(1, order.shape[1] + 1)
    inside = np.cumsum(is_case[order], axis=1)
    outside = total - inside
    ratio = (
        xlogy(inside, inside / size)
        + xlogy(size - inside, 1 - inside / size)
        + xlogy(outside, outside / (n - size))
        + xlogy(n - size - outside, 1 - outside / (n - size))
    )
    chance = xlogy(total, total / n) + xlogy(n - total, 1 - total / n)
    ratio[inside * (n - size) <= outside * size] = -np.inf
    centre, last = np.unravel_index(int(ratio.argmax()), ratio.shape)
    members = np.zeros(n, dtype=bool)
    if np.isinf(ratio[centre, last]):
        return Cluster(members, 0.0)
    members[order[centre, : last + 1]] = True
    return Cluster(members, float(ratio[centre, last] - chance))


def _distances(distances_km: ArrayLike, at_least: int) -> FloatArray:
    d = check_distance_matrix(distances_km, "distances_km")
    if len(d) < at_least:
        raise DataError(f"`distances_km` must have at least {at_least} records, got {len(d)}")
    return d
