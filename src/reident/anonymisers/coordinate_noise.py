"""Gaussian noise on coordinates, and what the intruder who knows its size can work out about distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reident._random import check_rng
from reident._typing import FloatArray, RNGLike
from reident._validation import check_coordinates, check_integer, check_real
from reident.kernels import sphere
from reident.simulate import points_in_area

__all__ = ["DistanceDeviation", "distance_deviation_quantiles", "perturb_coordinates"]


def perturb_coordinates(
    lat: ArrayLike, lon: ArrayLike, *, sigma_deg: float, rng: RNGLike = None
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
    sigma_deg = check_real(sigma_deg, "sigma_deg", low=0)
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
        for probability in probabilities:
            check_real(probability, "probabilities", low=0, high=1)
        return np.quantile(self.deviations_km, probabilities)

    def window_km(self, alpha: float) -> tuple[float, float]:
        """Return the central interval that holds a share `alpha` of the deviations, km."""
        alpha = check_real(alpha, "alpha", low=0, high=1, open_low=True, open_high=True)
        lo, hi = self.quantiles_km([(1 - alpha) / 2, (1 + alpha) / 2])
        return float(lo), float(hi)


def distance_deviation_quantiles(
    area: Any, *, sigma_deg: float, n_pairs: int = 1000, rng: RNGLike = None
) -> DistanceDeviation:
    """Simulate how noise on coordinates changes the distances between random points of an area.

    What an intruder does who knows the mask and its size but not its random numbers (Kerckhoffs' principle).

    Parameters
    ----------
    area : shapely polygon, GeoSeries or GeoDataFrame
        The country: pairs of points are drawn uniformly inside it.
    sigma_deg : float
        Standard deviation of the noise, degrees, at least 0.
    n_pairs : int, default 1000
        Pairs of points to draw; the paper's number.
    rng : Generator, int or None
        Source of randomness.

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
    sigma_deg = check_real(sigma_deg, "sigma_deg", low=0)
    n_pairs = check_integer(n_pairs, "n_pairs", low=2, why="a variance needs two pairs")
    rng = check_rng(rng)
    lat, lon = points_in_area(area, 2 * n_pairs, rng=rng)
    masked = perturb_coordinates(lat, lon, sigma_deg=sigma_deg, rng=rng)
    before, after = (
        sphere.great_circle_pairs(points[:, :n_pairs], points[:, n_pairs:])
        for points in (sphere.unit_vectors(np.radians(a), np.radians(b)) for a, b in ((lat, lon), masked))
    )
    return DistanceDeviation(sigma_deg, np.sort(before - after))
