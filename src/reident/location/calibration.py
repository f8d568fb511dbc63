"""Attack. Calibrate the distances of a Lipschitz embedding by simulation."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from reident.base import (
    FloatArray,
    RNGLike,
    Whole,
    afford,
    check_distance_matrix,
    check_embedding,
    check_rng,
    checked,
)
from reident.places.areas import AreaSampler
from reident.places.distances import great_circle_km
from reident.places.points import unit_vectors
from reident.places.tolerance import simulate_rows

_BINS = 200


class Calibration(NamedTuple):
    """Expected true distances given the released ones.

    Attributes
    ----------
    distances_km, sd_km : ndarray of float64, shape (n, n)
        Expected true distance and its standard deviation, km, given the released one.
    """

    distances_km: FloatArray
    sd_km: FloatArray


@checked
def calibrate_distances(
    d_release: ArrayLike,
    lat: ArrayLike,
    lon: ArrayLike,
    *,
    n_reference_sets: Annotated[int, Whole(1, unit="sets")],
    reference_set_size: Annotated[int, Whole(1, unit="places")],
    area: Any,
    n_simulations: Annotated[int, Whole(1, unit="embeddings")] = 20,
    rng: RNGLike = None,
) -> Calibration:
    """Estimate true distances from the released ones of a Lipschitz embedding with known parameters.

    The intruder embeds a file of their own many times and compares true and released distances. Short distances are
    recovered nearly exactly, long ones with a large standard deviation. The result is meant for `registration_attack`
    and `locate_by_population` (``sd_km=``).

    Parameters
    ----------
    d_release : array_like, shape (n, n)
        Released distances, km.
    lat, lon : array_like, shape (m,)
        Places of the intruder's own file, degrees, from a population like that of the release.
    n_reference_sets, reference_set_size, area
        As for `embed_distances`.
    n_simulations : int, default 20
        Embeddings to simulate.
    rng : Generator, int or None
        Source of randomness.

    Returns
    -------
    Calibration

    Raises
    ------
    DataError, ParameterError
        As for `embed_distances`; if `d_release` is no distance matrix.
    """
    release = check_distance_matrix(d_release, "d_release")
    lat_deg, lon_deg, shape = check_embedding(lat, lon, n_reference_sets, reference_set_size)
    needed = 24 * n_simulations * lat_deg.size**2  # six numbers for each half of the square
    afford(needed, "n_simulations", f"{n_simulations:,} distances a pair", "take fewer")
    points = unit_vectors(lat_deg, lon_deg)
    simulated = simulate_rows(points, AreaSampler(area), shape, n_simulations, check_rng(rng)).ravel()
    true = np.tile(great_circle_km(lat_deg, lon_deg)[np.triu_indices(len(points), 1)], n_simulations)
    edges = np.unique(np.quantile(simulated, np.linspace(0, 1, _BINS + 1)))
    which = np.clip(np.searchsorted(edges, simulated, side="right") - 1, 0, max(edges.size - 2, 0))
    counts = np.maximum(np.bincount(which), 1)
    centre = np.bincount(which, simulated) / counts
    mean = np.bincount(which, true) / counts
    spread = np.sqrt(np.maximum(np.bincount(which, true**2) / counts - mean**2, 1e-6))
    expected = np.maximum(np.interp(release, centre, mean), release)
    sd = np.maximum(np.interp(release, centre, spread), 0.05)
    np.fill_diagonal(expected, 0.0)
    return Calibration(expected, (sd + sd.T) / 2)
