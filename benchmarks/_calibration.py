"""What an intruder expects of the distances of a Lipschitz embedding with known parameters, by simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reident.base import FloatArray
from reident.places.areas import AreaSampler
from reident.places.distances import great_circle_km
from reident.places.points import unit_vectors
from reident.places.tolerance import simulate_rows

_BINS = 200


def calibrate_distances(
    released_km: FloatArray,
    lat: ArrayLike,
    lon: ArrayLike,
    *,
    n_reference_sets: int,
    reference_set_size: int,
    area: Any,
    n_simulations: int = 20,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Return the expected true distance given each released one (n, n), and its standard deviation, km.

    The intruder embeds a file of their own, places `lat`, `lon`, many times and compares true and released distances:
    short ones are recovered nearly exactly, long ones with a large deviation. The result is meant for
    `registration_attack` and `locate_by_population` (``sd_km=``).
    """
    points, shape = unit_vectors(lat, lon), (n_reference_sets, reference_set_size)
    simulated = simulate_rows(points, AreaSampler(area), shape, n_simulations, rng).ravel()
    true = np.tile(great_circle_km(lat, lon)[np.triu_indices(len(points), 1)], n_simulations)
    edges = np.unique(np.quantile(simulated, np.linspace(0, 1, _BINS + 1)))
    which = np.clip(np.searchsorted(edges, simulated, side="right") - 1, 0, max(edges.size - 2, 0))
    counts = np.maximum(np.bincount(which), 1)
    centre = np.bincount(which, simulated) / counts
    mean = np.bincount(which, true) / counts
    spread = np.sqrt(np.maximum(np.bincount(which, true**2) / counts - mean**2, 1e-6))
    expected = np.maximum(np.interp(released_km, centre, mean), released_km)
    sd = np.maximum(np.interp(released_km, centre, spread), 0.05)
    np.fill_diagonal(expected, 0.0)
    return expected, (sd + sd.T) / 2
