"""Gaussian noise on a distance matrix itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from reident._random import check_rng
from reident._typing import FloatArray, RNGLike
from reident._validation import check_distance_matrix, check_real

__all__ = ["distance_noise_window_km", "perturb_distances"]


def perturb_distances(distances_km: ArrayLike, *, sigma_km: float, rng: RNGLike = None) -> FloatArray:
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
    sigma_km = check_real(sigma_km, "sigma_km", low=0)
    rng = check_rng(rng)
    rows, columns = np.triu_indices(d.shape[0], 1)
    released = np.zeros_like(d)
    released[rows, columns] = np.maximum(d[rows, columns] + rng.normal(0, sigma_km, rows.size), 0)
    return released + released.T


def distance_noise_window_km(sigma_km: float, alpha: float) -> tuple[float, float]:
    """Return the central interval of d_known - d_release, km, that holds a share `alpha` of the noise.

    The intruder needs no simulation here: the window follows from the noise distribution (Kroll 2015, section 5).

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
    half = float(norm.ppf((1 + alpha) / 2)) * sigma_km
    return -half, half
