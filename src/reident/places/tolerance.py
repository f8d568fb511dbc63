"""The window of a linkage by distances: what an intruder who knows the method expects of them (Kerckhoffs' principle).

Every rule there is stands here, by name:

- "simulated", the house's own: mask the own file as the custodian did, many times, and take the central share of the
  deviations;
- "intervals": for each pair of known records the shortest interval of simulated distances (Kroll and Schnell 2016);
- "random pairs": the central share of the deviations of random pairs of an area (Kroll 2015, coordinate noise);
- "normal": the quantiles of the normal noise itself (Kroll 2015, noise on distances);
- "exact": equal distances, for releases that move nothing.

A module of its own, neither attack nor anonymiser: the intruder runs the custodian's method to learn what it does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.special import ndtri

from reident.base import (
    FloatArray,
    IntArray,
    ParameterError,
    Real,
    RNGLike,
    Whole,
    afford,
    check_choice,
    check_integer,
    check_listed,
    check_real,
    check_rng,
)
from reident.data.simulate import points_in_area
from reident.kernels.places import sphere
from reident.places.distances import great_circle_km
from reident.places.noise import perturb_coordinates
from reident.places.tolerance_intervals import tolerance_intervals

__all__ = ["RULES", "DistanceDeviation", "distance_deviation_quantiles", "distance_noise_window_km", "tolerated"]

# Distances closer than this are one: the rounding of great circles, km.
_ROUNDING_KM = 1e-6
# As many simulated releases as give about this many distances: quantiles need no more.
_DEVIATIONS = 20_000


@dataclass(frozen=True, eq=False)
class _Knowledge:
    """What the intruder holds: places, the method's options and public inputs, and a way to run it again."""

    lat: FloatArray
    lon: FloatArray
    options: Mapping[str, Any]
    again: Callable[[np.random.Generator], tuple[IntArray, FloatArray]]
    alpha: float
    n_simulations: int
    rng: np.random.Generator

    def option(self, rule: str, name: str) -> Any:
        """Return an option of the method that a rule is about."""
        if name not in self.options:
            raise ParameterError(f"`window` must be a rule for the method, got {rule!r}, which needs its `{name}`")
        return self.options[name]


def tolerated(
    rule: str,
    *,
    lat: FloatArray,
    lon: FloatArray,
    options: Mapping[str, Any],
    again: Callable[[np.random.Generator], tuple[IntArray, FloatArray]],
    alpha: float,
    n_simulations: int = 100,
    rng: RNGLike = None,
) -> dict[str, Any]:
    """Return what the intruder tolerates under a rule: ``window_km`` or ``intervals_km`` of `common_subgraph_attack`.

    Parameters
    ----------
    rule : str
        One of `RULES`.
    lat, lon : ndarray of float64, shape (n,)
        The intruder's own places, degrees.
    options : mapping
        The method's options and public inputs by name.
    again : callable
        Releases the intruder's own file once more: the rows kept and their distances, km.
    alpha : float
        The share of deviations that is tolerated, inside (0, 1).
    n_simulations : int, default 100
        Releases to simulate, at most.
    rng : Generator, int or None
        Source of randomness.

    Raises
    ------
    ParameterError
        If there is no such rule, or it is about another method.
    """
    check_choice(rule, "window", RULES)
    alpha = check_real(alpha, "alpha", low=0, high=1, open_low=True, open_high=True)
    return RULES[rule](_Knowledge(lat, lon, options, again, alpha, n_simulations, check_rng(rng)))


def _exact(_: _Knowledge) -> dict[str, Any]:
    return {"window_km": (-_ROUNDING_KM, _ROUNDING_KM)}


def _simulated(known: _Knowledge) -> dict[str, Any]:
    true = great_circle_km(known.lat, known.lon)
    n = len(true)
    deviations = []
    for _ in range(int(np.clip(_DEVIATIONS // max(1, n * (n - 1) // 2), 1, known.n_simulations))):
        rows, distances = known.again(known.rng)
        upper = np.triu_indices(len(rows), 1)
        deviations.append((true[np.ix_(rows, rows)] - distances)[upper])
    pooled = np.concatenate(deviations)
    if not pooled.size:
        return _exact(known)
    low, high = np.quantile(pooled, [(1 - known.alpha) / 2, (1 + known.alpha) / 2])
    return {"window_km": (float(low) - _ROUNDING_KM, float(high) + _ROUNDING_KM)}


def _intervals(known: _Knowledge) -> dict[str, Any]:
    names = ("n_reference_sets", "reference_set_size", "area")
    intervals = tolerance_intervals(
        known.lat, known.lon, alpha=known.alpha, n_simulations=known.n_simulations, rng=known.rng,
        **{name: known.option("intervals", name) for name in names},
    )  # fmt: skip
    return {"intervals_km": tuple(intervals)}


def _random_pairs(known: _Knowledge) -> dict[str, Any]:
    area, sigma_deg = (known.option("random pairs", name) for name in ("area", "sigma_deg"))
    return {"window_km": distance_deviation_quantiles(area, sigma_deg=sigma_deg, rng=known.rng).window_km(known.alpha)}


def _normal(known: _Knowledge) -> dict[str, Any]:
    return {"window_km": distance_noise_window_km(known.option("normal", "sigma_km"), known.alpha)}


#: Rule -> how it is worked out.
RULES: dict[str, Callable[[_Knowledge], dict[str, Any]]] = {
    "simulated": _simulated,
    "intervals": _intervals,
    "random pairs": _random_pairs,
    "normal": _normal,
    "exact": _exact,
}


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
        alpha = check_real(alpha, "alpha", low=0, high=1, open_low=True, open_high=True)
        lo, hi = self.quantiles_km([(1 - alpha) / 2, (1 + alpha) / 2])
        return float(lo), float(hi)


def distance_deviation_quantiles(
    area: Any,
    *,
    sigma_deg: Annotated[float, Real(0, unit="degrees")],
    n_pairs: Annotated[int, Whole(2, unit="pairs")] = 1000,
    rng: RNGLike = None,
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
    afford(400 * n_pairs, "n_pairs", f"{n_pairs:,} pairs of points", "draw fewer")
    rng = check_rng(rng)
    lat, lon = points_in_area(area, 2 * n_pairs, rng=rng)
    masked = perturb_coordinates(lat, lon, sigma_deg=sigma_deg, rng=rng)
    before, after = (
        sphere.great_circle_pairs(points[:, :n_pairs].copy(), points[:, n_pairs:].copy())
        for points in (sphere.unit_vectors(np.radians(a), np.radians(b)) for a, b in ((lat, lon), masked))
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
    sigma_km = check_real(sigma_km, "sigma_km", low=0, open_low=True)
    alpha = check_real(alpha, "alpha", low=0, high=1, open_low=True, open_high=True)
    half = float(ndtri((1 + alpha) / 2)) * sigma_km
    return -half, half
