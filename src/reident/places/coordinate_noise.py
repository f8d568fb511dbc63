"""Anonymiser. Gaussian noise on coordinates."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from reident.base import FloatArray, Real, RNGLike, check_coordinates, check_rng, checked

__all__ = ["perturb_coordinates"]


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
    return _on_sphere(lat + rng.normal(0, sigma_deg, lat.size), lon + rng.normal(0, sigma_deg, lon.size))


def _on_sphere(lat: FloatArray, lon: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Bring coordinates that noise pushed over a pole or past the date line back into range; leave others alone."""
    over = np.abs(lat) > 90
    if over.any():
        folded = (lat + 90) % 360
        lat = np.where(over, np.where(folded <= 180, folded - 90, 270 - folded), lat)
        lon = np.where(over & (folded > 180), lon + 180, lon)
    return lat, np.where((lon < -180) | (lon > 360), (lon + 180) % 360 - 180, lon)
