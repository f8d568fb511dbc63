"""Changes to the release of an embedding, judged by the attacks that open it and by its uses.

`python -m benchmarks._released_maps protection 3` makes the table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks._calibration import calibrate_distances
from reident import embed_distances, great_circle_km
from reident.base import FloatArray
from reident.experiments.released_maps import SCATTER_KM, errors_km, load_country, people
from reident.location import locate_by_population, locate_by_reference_sets
from reident.location.spherical_mds import gaps_km, procrustes
from reident.places import distance_utilities
from reident.places.points import unit_vectors

# Nearer than this after the best motion, km, a record counts as located by reference sets, and by the map of towns;
# records of a release; further people whom the intruder simulates.
_NEAR_KM, _TOWN_KM, _RECORDS, _SIMULATED = 1.0, 5.0, 300, 200


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


def protection_trial(_: np.random.Generator, *, candidate: str, dataset: int) -> dict[str, Any]:
    """Judge one candidate on one data set, which its seed names."""
    made = CANDIDATES[candidate]
    places, area = load_country("germany")
    rng = np.random.default_rng([dataset, 17])
    persons = people(places, area, _RECORDS + _SIMULATED, rng)
    homes, others = persons.iloc[:_RECORDS], persons.iloc[_RECORDS:]
    released = protect(homes, area, made, rng)
    true = great_circle_km(homes["lat_deg"], homes["lon_deg"])
    # Who uses the release takes what is not released for farther than all that is.
    used = np.where(np.isnan(released), np.nanmax(released), released)
    by_sets = _by_reference_sets(released, made, homes)
    by_towns = _by_towns(released, made, homes, others, rng)
    missing = float(np.isnan(released).mean())
    return {
        "located_by_sets": by_sets, "located_by_towns": by_towns, "located": max(by_sets, by_towns), "missing": missing,
        **{k: v for k, v in distance_utilities(true, used).items() if isinstance(v, float)},
    }  # fmt: skip


def _by_reference_sets(released: FloatArray, made: Candidate, homes: pd.DataFrame) -> float:
    """Return the share of records that the map places right, up to its motion."""
    found = locate_by_reference_sets(released, step_km=made.step_km or 3 * made.noise_km or None, rng=0)
    rows = found.positions["lat_deg"].notna().to_numpy()
    if not rows.any():
        return 0.0
    placed = unit_vectors(*found.positions.loc[rows, ["lat_deg", "lon_deg"]].to_numpy().T)
    at = unit_vectors(homes["lat_deg"], homes["lon_deg"])[rows]
    return float((gaps_km(placed @ procrustes(placed, at).T, at) <= _NEAR_KM).sum() / len(homes))


def _by_towns(
    released: FloatArray, made: Candidate, homes: pd.DataFrame, others: pd.DataFrame, rng: np.random.Generator
) -> float:
    """Return the share of records that the calibrated distances and the map of towns place."""
    places, area = load_country("germany")
    given = ~np.isnan(released)
    expected_km, sd_km = calibrate_distances(
        np.where(given, released, 0.0), others["lat_deg"], others["lon_deg"], n_reference_sets=made.n_sets,
        reference_set_size=made.size, area=area, n_simulations=10, rng=rng,
    )  # fmt: skip
    sd = np.hypot(sd_km, np.hypot(made.noise_km, made.step_km / np.sqrt(12)))
    sd = np.where(given, sd, np.inf)
    np.fill_diagonal(sd, 0.0)
    found = locate_by_population(expected_km, places, area, sd, scatter_km=SCATTER_KM)
    return float((errors_km(found.positions, homes) <= _TOWN_KM).mean())
