"""What would protect an embedding: changes to its release, judged by the attacks that open it and by its uses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from reident import (
    calibrate_distances,
    embed_distances,
    great_circle_km,
    locate_by_population,
    locate_by_reference_sets,
)
from reident._old_sweep import grid
from reident.base import FloatArray
from reident.location.spherical_mds import gaps_km, procrustes
from reident.places import spatial
from reident.places.distances import unit_vectors
from reident.studies.released_maps.trials import SCATTER_KM, country, errors_km, locating_trial, people

__all__ = ["CANDIDATES", "PLAIN", "Candidate", "plain", "protect", "protection"]

#: Nearer than this after the best motion, km, a record counts as located by reference sets, and by the map of towns.
_NEAR_KM, _TOWN_KM = 1.0, 5.0
#: Records of a release; further people whom the intruder simulates.
_RECORDS, _SIMULATED = 300, 200


class Candidate(NamedTuple):
    """An embedding and what is done to its distances.

    `n_sets` sets of `size` places; standard deviation of normal noise and step of rounding, km; share of the pairs
    left out; distances above `longest_km` left out; records of a block that has an embedding of its own (0: one for
    all).
    """

    n_sets: int = 20
    size: int = 10
    noise_km: float = 0.0
    step_km: float = 0.0
    left_out: float = 0.0
    longest_km: float = np.inf
    block: int = 0


CANDIDATES = {
    "as published": Candidate(),
    "rounded to 1 km": Candidate(step_km=1.0),
    "rounded to 5 km": Candidate(step_km=5.0),
    "noise of 1 km": Candidate(noise_km=1.0),
    "noise of 5 km": Candidate(noise_km=5.0),
    "noise of 20 km": Candidate(noise_km=20.0),
    "half of the pairs": Candidate(left_out=0.5),
    "a tenth of the pairs": Candidate(left_out=0.9),
    "only below 30 km": Candidate(longest_km=30.0),
    "blocks of 50": Candidate(block=50),
    "sets of 100": Candidate(size=100),
    "5 sets of 30": Candidate(n_sets=5, size=30),
}


#: What may be done to distances themselves, no embedding: records; standard deviation of noise and step of rounding,
#: km; share of the pairs left out; the longest distance released, km (0: all are); places of work instead of homes.
#: Then what the intruder may suppose wrongly: the scatter of homes, populations (deviation of their logarithm), how
#: many towns there are.
PLAIN: dict[str, dict[str, float]] = {
    "as they are": {},
    "noise of 20 km": {"sigma_km": 20.0},
    "noise of 80 km": {"sigma_km": 80.0},
    "noise of 320 km": {"sigma_km": 320.0},
    "rounded to 25 km": {"step_km": 25.0},
    "rounded to 100 km": {"step_km": 100.0},
    "half of the pairs": {"left_out": 0.5},
    "a tenth of the pairs": {"left_out": 0.9},
    "a fiftieth of the pairs": {"left_out": 0.98},
    "only below 100 km": {"longest_km": 100.0},
    "only below 30 km": {"longest_km": 30.0},
    "50 records": {"n": 50},
    "20 records": {"n": 20},
    "10 records": {"n": 10},
    "work places": {"work": 1},
    "scatter supposed as 5 km": {"scatter_km": 5.0},
    "scatter supposed as 22 km": {"scatter_km": 22.0},
    "populations off by a half": {"wrong_by": 0.5},
    "only 100 towns known": {"n_towns": 100},
}


def plain(n_datasets: int, *, first_dataset: int = 400, **options: Any) -> pd.DataFrame:
    """Lay distances on the list of towns as each of `PLAIN` releases them: a row a release and data set."""
    usual: dict[str, Any] = {
        "country": "germany", "knowledge": "towns", "n_common": -1, "n": _RECORDS, "sigma_km": 0.0, "step_km": 0.0,
        "left_out": 0.0, "longest_km": 0.0, "work": 0, "scatter_km": SCATTER_KM, "wrong_by": 0.0, "n_towns": 0,
    }  # fmt: skip
    settings = [
        {"release": name, **usual, **changed, "dataset": dataset}
        for name, changed in PLAIN.items()
        for dataset in range(first_dataset, first_dataset + n_datasets)
    ]
    runs = grid.run(settings, locating_trial, stem="plain_distances", **options)
    return runs.drop(columns=["country", "knowledge", "n_common", "repetition", "seed_key", "motion_p_value"])


def protect(homes: pd.DataFrame, area: Any, made: Candidate, rng: np.random.Generator) -> FloatArray:
    """Return the released distances of one candidate, nan where none is released."""
    lat, lon = homes["lat_deg"].to_numpy(), homes["lon_deg"].to_numpy()
    n = len(homes)
    block = rng.permutation(n) // made.block if made.block else np.zeros(n, dtype=np.int64)
    released = np.full((n, n), np.nan)
    for which in np.unique(block):
        rows = np.flatnonzero(block == which)
        released[np.ix_(rows, rows)] = embed_distances(
            lat[rows], lon[rows], n_reference_sets=made.n_sets, reference_set_size=made.size, area=area, rng=rng
        )
    if made.noise_km:
        drawn = np.triu(rng.normal(0, made.noise_km, (n, n)), 1)
        released = np.abs(released + drawn + drawn.T)
    if made.step_km:
        released = np.round(released / made.step_km) * made.step_km
    gaps = np.triu(rng.random((n, n)) < made.left_out, 1)
    released[gaps | gaps.T | (released > made.longest_km)] = np.nan
    np.fill_diagonal(released, 0.0)
    return released


def protection(n_datasets: int, *, first_dataset: int = 100, **options: Any) -> pd.DataFrame:
    """Judge every candidate: a row a candidate and data set, with what is located and what the paper's uses keep."""
    settings = [
        {"candidate": name, "dataset": dataset}
        for name in CANDIDATES
        for dataset in range(first_dataset, first_dataset + n_datasets)
    ]
    return grid.run(settings, protection_trial, stem="protection", **options).drop(columns=["repetition", "seed_key"])


def protection_trial(params: dict[str, Any], _: np.random.Generator) -> dict[str, Any]:
    """Judge one candidate on one data set, which its seed names."""
    made = CANDIDATES[params["candidate"]]
    places, area = country("germany")
    rng = np.random.default_rng([params["dataset"], 17])
    everybody = people(places, area, _RECORDS + _SIMULATED, rng)
    homes, others = everybody.iloc[:_RECORDS], everybody.iloc[_RECORDS:]
    released = protect(homes, area, made, rng)
    true = great_circle_km(homes["lat_deg"], homes["lon_deg"])
    # Who uses the release takes what is not released for farther than all that is.
    used = np.where(np.isnan(released), np.nanmax(released), released)
    by_sets = _by_reference_sets(released, made, homes)
    by_towns = _by_towns(released, made, homes, others, rng)
    missing = float(np.isnan(released).mean())
    return {
        "located_by_sets": by_sets, "located_by_towns": by_towns, "located": max(by_sets, by_towns), "missing": missing,
        **{k: v for k, v in spatial.distance_utilities(true, used).items() if isinstance(v, float)},
    }  # fmt: skip


def _by_reference_sets(released: FloatArray, made: Candidate, homes: pd.DataFrame) -> float:
    """Return the share of records that the largest island places right, up to its motion."""
    found = locate_by_reference_sets(released, step_km=made.step_km or 3 * made.noise_km or None, rng=0)
    rows = (found.positions["island"] == 0).to_numpy()
    if not rows.any():
        return 0.0
    placed = unit_vectors(*found.positions.loc[rows, ["lat_deg", "lon_deg"]].to_numpy().T)
    at = unit_vectors(homes["lat_deg"], homes["lon_deg"])[rows]
    return float((gaps_km(placed @ procrustes(placed, at).T, at) <= _NEAR_KM).sum() / len(homes))


def _by_towns(
    released: FloatArray, made: Candidate, homes: pd.DataFrame, others: pd.DataFrame, rng: np.random.Generator
) -> float:
    """Return the share of records that the calibrated distances and the map of towns place."""
    places, area = country("germany")
    given = ~np.isnan(released)
    calibration = calibrate_distances(
        np.where(given, released, 0.0), others["lat_deg"], others["lon_deg"], n_reference_sets=made.n_sets,
        reference_set_size=made.size, area=area, n_simulations=10, rng=rng,
    )  # fmt: skip
    sd = np.hypot(calibration.sd_km, np.hypot(made.noise_km, made.step_km / np.sqrt(12)))
    sd = np.where(given, sd, np.inf)
    np.fill_diagonal(sd, 0.0)
    found = locate_by_population(calibration.distances_km, places, area, sd, scatter_km=SCATTER_KM)
    return float((errors_km(found.positions, homes) <= _TOWN_KM).mean())
