"""Attack intersecting sets of grid points by the sets alone, with a map of towns and with a file; measure a repair.

After the abstract of Schnell, Klingwort and Farrow (2021); `reident.location.mask_by_grid_sets` lists the gaps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from reident.base import FloatArray
from reident.experiments.released_maps import SCATTER_KM, errors_km, load_country, people
from reident.location.grid_sets import SetDistances, mask_by_grid_sets, repair_grid_sets
from reident.location.population_location import locate_by_population
from reident.location.registration import registration_attack
from reident.location.spherical_mds import fit_shape, gaps_km, procrustes
from reident.places import distance_utilities
from reident.places.distances import great_circle_km, unit_vectors

__all__ = ["trial"]


def trial(
    _: np.random.Generator, *, dataset: int, n: int, n_common: int, radius_km: float, spacing_km: float,
    noise: float = 0.0, longest_km: float = 0.0,
) -> dict[str, Any]:  # fmt: skip
    """Attack one release of sets: by the sets alone, with the map of towns, and with a file; measure its uses."""
    places, area = load_country("germany")
    rng = np.random.default_rng([dataset, n, 23])
    everybody = people(places, area, 2 * n - n_common, rng)
    homes, known = everybody.iloc[:n], everybody.iloc[n - n_common :].rename(index="k{}".format)
    sets = mask_by_grid_sets(homes, radius_km=radius_km, spacing_km=spacing_km, rng=rng)
    released = sets.distances()
    if longest_km:
        released = repair_grid_sets(sets, noise=noise, longest_km=longest_km, rng=rng)
    table = homes.drop(columns=["lat_deg", "lon_deg"])
    towns = errors_km(
        locate_by_population(released.distances_km, places, area, released.sd_km, scatter_km=SCATTER_KM).positions,
        homes,
    )
    located = registration_attack(
        (table, released.distances_km), known, quasi=list(table.columns), sd_km=released.sd_km, n_pairs=500, rng=rng
    )
    with_file, shape = errors_km(located.positions, homes), _shape_error_km(released, homes)
    true = great_circle_km(homes["lat_deg"], homes["lon_deg"])
    uses = distance_utilities(true, released.distances_km)
    return {
        "shape_median_km": float(np.median(shape)), "towns_median_km": float(np.median(towns)),
        "file_median_km": float(np.median(with_file)), "file_p_value": located.p_value,
        "within_5_km": float(max((towns <= 5).mean(), (with_file <= 5).mean())),
        "pairs_that_meet": float(np.isfinite(released.sd_km)[np.triu_indices(n, 1)].mean()),
        **{k: v for k, v in uses.items() if isinstance(v, float)},
    }  # fmt: skip


def _shape_error_km(distances: SetDistances, homes: pd.DataFrame) -> FloatArray:
    """Return how far the shape that the sets give lies from the homes after the best motion, km."""
    true = unit_vectors(homes["lat_deg"], homes["lon_deg"])
    x = fit_shape(distances.distances_km, distances.sd_km).x
    weight = np.ones(len(x))
    for _ in range(10):
        gap = gaps_km(x @ procrustes(x, true, weight).T, true)
        weight = 1 / (1 + (gap / max(float(np.median(gap)), 1e-9)) ** 2)
    return gap
