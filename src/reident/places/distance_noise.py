"""Anonymiser. Gaussian noise on a distance matrix itself."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from reident.base import FloatArray, Real, RNGLike, check_distance_matrix, check_rng, checked

__all__ = ["perturb_distances"]


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
