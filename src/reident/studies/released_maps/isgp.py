"""Intersecting sets of grid points: what the sets alone give away, what a file adds, and what a repair keeps.

After the abstract of Schnell, Klingwort and Farrow (2021); see `reident.mask_by_grid_sets` for what is not known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from reident import (
    SetDistances,
    great_circle_km,
    locate_by_population,
    mask_by_grid_sets,
    registration_attack,
    repair_grid_sets,
)
from reident._old_sweep import grid
from reident.base import FloatArray, check_choice
from reident.location.spherical_mds import fit_shape, gaps_km, procrustes
from reident.places import spatial
from reident.places.distances import unit_vectors
from reident.studies.released_maps.trials import SCATTER_KM, country, errors_km, people

__all__ = ["ISGP_PROFILES", "isgp_trial", "run_isgp"]

#: Profile -> data sets, usual number of records, all numbers of records, radii and spacings (km), records shared.
ISGP_PROFILES: dict[str, tuple[int, int, tuple[int, ...], tuple[tuple[float, float], ...], tuple[int, ...]]] = {
    "smoke": (1, 60, (60,), ((150.0, 15.0),), (30,)),
    "quick": (1, 150, (50, 150), ((150.0, 15.0), (100.0, 15.0), (50.0, 10.0)), (50, 10)),
    "full": (
        10, 300, (100, 300, 1000, 5000),
        ((400.0, 20.0), (150.0, 15.0), (100.0, 10.0), (100.0, 15.0), (50.0, 10.0)), (60, 30, 20, 5, 0),
    ),
}  # fmt: skip
#: Repairs: standard deviation of the noise in a size, grid points, and the longest tie that is published, km.
_REPAIRS = ((5.0, 300.0), (20.0, 300.0), (80.0, 300.0), (20.0, 60.0), (80.0, 60.0), (80.0, 30.0))
_PUBLISHED = {"noise": 0.0, "longest_km": 0.0}


def run_isgp(
    profile: str = "quick", *, first_dataset: int = 100, n_datasets: int | None = None, **options: Any
) -> pd.DataFrame:
    """Run the sweep of one profile: radius and spacing, records shared, size of the file, and repairs.

    Files of other sizes share the same part of their records. `n_datasets` are drawn instead of the profile's.
    """
    drawn, usual, sizes, grids, shared = ISGP_PROFILES[check_choice(profile, "profile", list(ISGP_PROFILES))]
    radius, spacing = grids[0]
    most = max(shared)
    cells: list[dict[str, Any]] = [
        {"n": usual, "radius_km": r, "spacing_km": s, "n_common": most, **_PUBLISHED} for r, s in grids
    ]
    at_usual = {"radius_km": radius, "spacing_km": spacing}
    cells += [{"n": usual, **at_usual, "n_common": common, **_PUBLISHED} for common in shared[1:]]
    cells += [{"n": n, **at_usual, "n_common": round(most / usual * n), **_PUBLISHED} for n in sizes if n != usual]
    cells += [
        {"n": usual, **at_usual, "n_common": most, "noise": noise, "longest_km": longest}
        for noise, longest in (_REPAIRS if profile != "smoke" else _REPAIRS[:1])
    ]
    datasets = range(first_dataset, first_dataset + (drawn if n_datasets is None else n_datasets))
    settings = [{**cell, "dataset": dataset} for dataset in datasets for cell in cells]
    return grid.run(settings, isgp_trial, stem="isgp_sets", **options)


def isgp_trial(params: dict[str, Any], _: np.random.Generator) -> dict[str, Any]:
    """Attack one release of sets: by the sets alone, with the map of towns, and with a file; measure its uses."""
    places, area = country("germany")
    n, n_common = params["n"], params["n_common"]
    rng = np.random.default_rng([params["dataset"], n, 23])
    everybody = people(places, area, 2 * n - n_common, rng)
    homes, known = everybody.iloc[:n], everybody.iloc[n - n_common :].rename(index="k{}".format)
    sets = mask_by_grid_sets(homes, radius_km=params["radius_km"], spacing_km=params["spacing_km"], rng=rng)
    made = sets.distances()
    if params["longest_km"]:
        made = repair_grid_sets(sets, noise=params["noise"], longest_km=params["longest_km"], rng=rng)
    table = homes.drop(columns=["lat_deg", "lon_deg"])
    towns = errors_km(
        locate_by_population(made.distances_km, places, area, made.sd_km, scatter_km=SCATTER_KM).positions, homes
    )
    found = registration_attack(
        (table, made.distances_km), known, quasi=list(table.columns), sd_km=made.sd_km, n_pairs=500, rng=rng
    )
    with_file, shape = errors_km(found.positions, homes), _shape_error_km(made, homes)
    true = great_circle_km(homes["lat_deg"], homes["lon_deg"])
    uses = spatial.distance_utilities(true, made.distances_km)
    return {
        "shape_median_km": float(np.median(shape)), "towns_median_km": float(np.median(towns)),
        "file_median_km": float(np.median(with_file)), "file_p_value": found.p_value,
        "within_5_km": float(max((towns <= 5).mean(), (with_file <= 5).mean())),
        "pairs_that_meet": float(np.isfinite(made.sd_km)[np.triu_indices(n, 1)].mean()),
        **{k: v for k, v in uses.items() if isinstance(v, float)},
    }  # fmt: skip


def _shape_error_km(made: SetDistances, homes: pd.DataFrame) -> FloatArray:
    """Return how far the shape that the sets give lies from the homes after the best motion, km."""
    true = unit_vectors(homes["lat_deg"], homes["lon_deg"])
    x = fit_shape(made.distances_km, made.sd_km).x
    weight = np.ones(len(x))
    for _ in range(10):
        gap = gaps_km(x @ procrustes(x, true, weight).T, true)
        weight = 1 / (1 + (gap / max(float(np.median(gap)), 1e-9)) ** 2)
    return gap
