"""Metric. Distances between places on the sphere."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from reident.base import DataError, FloatArray, afford, check_coordinates
from reident.kernels._numba import in_parts
from reident.kernels.places import sphere
from reident.places.points import unit_vectors

# Distances that take less time than waking a second thread; on a busy machine that takes milliseconds.
_FEW = 20_000


def great_circle_km(lat_deg: ArrayLike, lon_deg: ArrayLike) -> FloatArray:
    """Return the great-circle distances between all pairs of places.

    Parameters
    ----------
    lat_deg, lon_deg : array_like of float, shape (n,)
        Latitudes in [-90, 90] and longitudes in [-180, 360], degrees.

    Returns
    -------
    ndarray of float64, shape (n, n)
        Distances in km on a sphere of radius 6371 km; exactly symmetric, zero diagonal, zero for equal places.

    Raises
    ------
    DataError
        If a coordinate is missing, not finite or out of range, or the lengths differ.
    ParameterError
        If the matrix does not fit into memory.

    Notes
    -----
    Kroll (2015), Example 2, computes the same distance by the spherical law of cosines, which loses all accuracy for
    close places; the chord form here is within a millimetre everywhere, coinciding places and antipodes included.
    O(n^2) time and memory. The earth's flattening is ignored: up to 0.5 % against an ellipsoid.

    Examples
    --------
    London, Paris, Madrid and Berlin, as in the paper's Example 2:

    >>> lat_deg = [51.51121, 48.85661, 40.41678, 52.52001]
    >>> lon_deg = [-0.1198244, 2.3522219, -3.7037902, 13.4049540]
    >>> great_circle_km(lat_deg, lon_deg).round(1)
    array([[   0. ,  343.6, 1264. ,  930.9],
           [ 343.6,    0. , 1052.9,  877.5],
           [1264. , 1052.9,    0. , 1869.1],
           [ 930.9,  877.5, 1869.1,    0. ]])
    """
    points = _unit_vectors(lat_deg, lon_deg)
    return _cross_km(points, points)


def great_circle_cross_km(
    lat_p_deg: ArrayLike, lon_p_deg: ArrayLike, lat_q_deg: ArrayLike, lon_q_deg: ArrayLike
) -> FloatArray:
    """Return the great-circle distances, km, from every place p to every place q: shape (n_p, n_q).

    Parameters
    ----------
    lat_p_deg, lon_p_deg : array_like of float, shape (n_p,)
        Places p, degrees.
    lat_q_deg, lon_q_deg : array_like of float, shape (n_q,)
        Places q, degrees.

    Returns
    -------
    ndarray of float64, shape (n_p, n_q)
        Kilometres.

    Examples
    --------
    >>> great_circle_cross_km([0.0], [0.0], [0.0, 90.0], [90.0, 0.0]).round(1)
    array([[10007.5, 10007.5]])
    """
    return _cross_km(_unit_vectors(lat_p_deg, lon_p_deg, "_p"), _unit_vectors(lat_q_deg, lon_q_deg, "_q"), "lat_p_deg")


def great_circle_pairs_km(
    lat_p_deg: ArrayLike, lon_p_deg: ArrayLike, lat_q_deg: ArrayLike, lon_q_deg: ArrayLike
) -> FloatArray:
    """Return the great-circle distances, km, between the i-th place p and the i-th place q: shape (n,).

    Parameters
    ----------
    lat_p_deg, lon_p_deg : array_like of float, shape (n,)
        Places p, degrees.
    lat_q_deg, lon_q_deg : array_like of float, shape (n,)
        Places q, degrees.

    Returns
    -------
    ndarray of float64, shape (n,)
        Kilometres.

    Raises
    ------
    DataError
        If the lists differ in length, or a coordinate is not finite or out of range.

    Examples
    --------
    >>> great_circle_pairs_km([90.0], [0.0], [-90.0], [17.0]).round(1)
    array([20015.1])
    """
    p, q = _unit_vectors(lat_p_deg, lon_p_deg, "_p"), _unit_vectors(lat_q_deg, lon_q_deg, "_q")
    if p.shape != q.shape:
        raise DataError(f"`lat_p_deg` and `lat_q_deg` must have the same length, got {p.shape[1]} and {q.shape[1]}")

    def of_part(part: slice) -> FloatArray:
        return sphere.great_circle_pairs(np.ascontiguousarray(p[:, part]), np.ascontiguousarray(q[:, part]))

    return np.concatenate(in_parts(of_part, p.shape[1], _FEW))


def _unit_vectors(lat: ArrayLike, lon: ArrayLike, side: str = "") -> FloatArray:
    """Return checked places as unit vectors, shape (3, n)."""
    lat_deg, lon_deg = check_coordinates(lat, lon, lat_name=f"lat{side}_deg", lon_name=f"lon{side}_deg")
    return np.ascontiguousarray(unit_vectors(lat_deg, lon_deg).T)


def _cross_km(p: FloatArray, q: FloatArray, name: str = "lat_deg") -> FloatArray:
    n_p, n_q = p.shape[1], q.shape[1]
    advice = "take a sample of the places, or chosen pairs with great_circle_pairs_km"
    afford(8 * n_p * n_q, name, f"{n_p:,} x {n_q:,} distances", advice)
    out = np.empty((n_p, n_q))
    near = sphere.all_near(p, q)

    def fill(rows: slice) -> None:
        sphere.great_circle_cross(np.ascontiguousarray(p[:, rows]), q, near, out[rows])

    in_parts(fill, n_p, _FEW // max(1, n_q))
    return out
