"""Anonymiser. Gaussian noise on coordinates, or on a distance matrix itself."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from reident.base import FloatArray, Real, RNGLike, check_coordinates, check_distance_matrix, check_rng, checked
from reident.places.points import longitudes_like

__all__ = ["perturb_coordinates", "perturb_distances"]


@checked
def perturb_coordinates(
    lat: ArrayLike, lon: ArrayLike, *, sigma_deg: Annotated[float, Real(0, unit="degrees")], rng: RNGLike = None
) -> tuple[FloatArray, FloatArray]:
    """Add independent normal noise to latitudes and longitudes.

    A standard mask for point data. It gives no formal guarantee: Kroll (2015) links masked records by their
    distances, and averaging over many distances removes much of the noise. The same `sigma_deg` moves a point less
    from east to west the farther it lies from the equator.

    Parameters
    ----------
    lat, lon : array_like of float, shape (n,)
        Latitudes and longitudes, degrees. Not modified.
    sigma_deg : float
        Standard deviation of the noise, degrees, at least 0.
    rng : Generator, int or None
        Source of randomness; None draws fresh entropy from the operating system, as a real release should.

    Returns
    -------
    lat, lon : ndarray of float64, shape (n,)
        Masked coordinates, degrees: a point pushed over a pole comes down on the other side, longitudes lie in
        [-180, 360].

    Raises
    ------
    DataError, ParameterError
        If coordinates are out of range or not finite, or `sigma_deg` is negative.

    Notes
    -----
    Kroll (2015), section 5, "Perturbation technique".
    """
    lat, lon = check_coordinates(lat, lon, lat_name="lat", lon_name="lon")
    rng = check_rng(rng)
    noisy = _on_sphere(lat + rng.normal(0, sigma_deg, lat.size), lon + rng.normal(0, sigma_deg, lon.size))
    return noisy[0], longitudes_like(noisy[1], lon)


def _on_sphere(lat: FloatArray, lon: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Bring coordinates that noise pushed over a pole to the other side of it."""
    over = np.abs(lat) > 90
    if over.any():
        folded = (lat + 90) % 360
        lat = np.where(over, np.where(folded <= 180, folded - 90, 270 - folded), lat)
        lon = np.where(over & (folded > 180), lon + 180, lon)
    return lat, lon


@checked
def perturb_distances(
    distances_km: ArrayLike, *, sigma_km: Annotated[float, Real(0, unit="km")], rng: RNGLike = None
) -> FloatArray:
    """Add independent normal noise to every distance.

    The released matrix stays symmetric with a zero diagonal; a distance that would become negative is released as 0.
    The triangle inequality is lost. No formal guarantee: the noise of the n - 1 distances of a record averages out,
    which `registration_attack` exploits.

    Parameters
    ----------
    distances_km : array_like of float, shape (n, n)
        Distances, km. Not modified.
    sigma_km : float
        Standard deviation of the noise, km, at least 0.
    rng : Generator, int or None
        Source of randomness; None draws fresh entropy from the operating system.

    Returns
    -------
    ndarray of float64, shape (n, n)
        Released distances, km.

    Raises
    ------
    DataError, ParameterError
        If the matrix is no pseudometric's distance matrix, or `sigma_km` is negative.

    Notes
    -----
    The variant that Kroll (2015) names at the end of section 5.
    """
    d = check_distance_matrix(distances_km, "distances_km")
    rng = check_rng(rng)
    rows, columns = np.triu_indices(d.shape[0], 1)
    released = np.zeros_like(d)
    released[rows, columns] = np.maximum(d[rows, columns] + rng.normal(0, sigma_km, rows.size), 0)
    return released + released.T
