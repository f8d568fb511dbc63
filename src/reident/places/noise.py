"""Anonymiser. Gaussian noise on coordinates or on distances, and the window of deviations that an intruder expects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from reident.base import (
    FloatArray,
    Real,
    RNGLike,
    Whole,
    afford,
    check_coordinates,
    check_distance_matrix,
    check_level,
    check_listed,
    check_positive,
    check_real,
    check_rng,
    checked,
)
from reident.data.simulate import points_in_area
from reident.places.distances import great_circle_pairs_km
from reident.places.points import Coordinates, longitudes_like


@checked
def perturb_coordinates(
    lat: ArrayLike, lon: ArrayLike, *, sigma_deg: Annotated[float, Real(0, unit="degrees")], rng: RNGLike = None
) -> Coordinates:
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


def _on_sphere(lat: FloatArray, lon: FloatArray) -> Coordinates:
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


@dataclass(frozen=True)
class DistanceDeviation:
    """How noise on coordinates changes distances: a sample of d - d', d the true and d' the masked distance.

    Attributes
    ----------
    sigma_deg : float
        Standard deviation of the noise, degrees.
    deviations_km : ndarray of float64, shape (n_pairs,)
        The sample, sorted, km.
    """

    sigma_deg: float
    deviations_km: FloatArray

    @property
    def variance_km2(self) -> float:
        """Return the sample variance, square kilometres; its reciprocal is Kroll's (2015) measure of utility."""
        return float(self.deviations_km.var(ddof=1))

    def quantiles_km(self, probabilities: Sequence[float]) -> FloatArray:
        """Return sample quantiles, km (linear interpolation, R's type 7)."""
        listed = check_listed(probabilities, "probabilities")
        checked = [check_real(probability, "probabilities", low=0, high=1) for probability in listed]
        return np.quantile(self.deviations_km, checked)

    def window_km(self, alpha: float) -> tuple[float, float]:
        """Return the central interval that holds a share `alpha` of the deviations, km."""
        alpha = check_level(alpha, "alpha")
        lo, hi = self.quantiles_km([(1 - alpha) / 2, (1 + alpha) / 2])
        return float(lo), float(hi)


@checked
def distance_deviation_quantiles(
    area: Any,
    *,
    sigma_deg: Annotated[float, Real(0, unit="degrees")],
    n_pairs: Annotated[int, Whole(2, unit="pairs", why="a variance needs two pairs")] = 1000,
    rng: RNGLike = None,
) -> DistanceDeviation:
    """Simulate how noise on coordinates changes the distances between random points of an area.

    The preparation of an intruder who knows the mask and its size but not its random numbers (Kerckhoffs' principle).

    Parameters
    ----------
    area : shapely polygon, GeoSeries or GeoDataFrame
        The country: pairs of points are drawn uniformly inside it.
    sigma_deg : float
        Standard deviation of the noise, degrees, at least 0.
    n_pairs : int, default 1000
        Pairs of points to draw; the paper's number.
    rng : Generator, int or None

    Returns
    -------
    DistanceDeviation
        The sample with its quantiles, variance and windows.

    Raises
    ------
    DataError, ParameterError
        If the area is no valid polygon, `sigma_deg` is negative, or `n_pairs` is below 2.

    Notes
    -----
    Kroll (2015), section 5, "Fine-tuning of the attack" and Table 3.
    """
    afford(400 * n_pairs, "n_pairs", f"{n_pairs:,} pairs of points", "draw fewer")
    rng = check_rng(rng)
    lat, lon = points_in_area(area, 2 * n_pairs, rng=rng)
    masked = perturb_coordinates(lat, lon, sigma_deg=sigma_deg, rng=rng)
    before, after = (
        great_circle_pairs_km(a[:n_pairs], b[:n_pairs], a[n_pairs:], b[n_pairs:]) for a, b in ((lat, lon), masked)
    )
    return DistanceDeviation(sigma_deg, np.sort(before - after))


def distance_noise_window_km(sigma_km: float, alpha: float) -> tuple[float, float]:
    """Return the central interval of d_known - d_release, km, that holds a share `alpha` of the noise.

    The intruder needs no simulation here: the window follows from the noise distribution (Kroll 2015, section 5).

    Parameters
    ----------
    sigma_km : float
        Standard deviation of the noise, km.
    alpha : float
        Share of the noise inside the interval, between 0 and 1.

    Returns
    -------
    tuple of float
        Lower and upper end, km.

    Raises
    ------
    ParameterError
        If `sigma_km` is not positive or `alpha` is outside (0, 1).

    Examples
    --------
    >>> lo, hi = distance_noise_window_km(5.0, 0.5)
    >>> round(lo, 3), round(hi, 3)
    (-3.372, 3.372)
    """
    sigma_km = check_positive(sigma_km, "sigma_km")
    alpha = check_level(alpha, "alpha")
    half = float(ndtri((1 + alpha) / 2)) * sigma_km
    return -half, half
