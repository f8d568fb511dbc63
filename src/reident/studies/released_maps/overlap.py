"""Who is located by how many shared records, on three patterns of places, from noisy and from embedded distances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from reident import (
    calibrate_distances,
    embed_distances,
    great_circle_km,
    locate_by_population,
    perturb_distances,
    registration_attack,
)
from reident._old_sweep import grid
from reident.base import FloatArray
from reident.data.simulate import OverlappingFiles, overlapping_files
from reident.experiments.kroll2016_files import hospitals
from reident.studies.released_maps.trials import SCATTER_KM, WRONG_KM, country, errors_km, invented_country, people

__all__ = ["OVERLAPS", "PATTERNS", "RELEASES", "overlap", "overlap_trial"]

#: Where the records are: homes by population, hospitals, homes in invented towns with empty gaps between three regions.
PATTERNS = ("population of Germany", "hospitals of England", "towns with gaps")
#: What is done to their distances.
RELEASES = ("20 km of noise", "100 sets of 10")
#: Records that release and file share; -1: no file, but the public list of towns.
OVERLAPS = (50, 20, 5, 0, -1)
#: Records of a release and of a file.
RECORDS = 300


def overlap(n_datasets: int, *, first_dataset: int = 200, **options: Any) -> pd.DataFrame:
    """Attack every release of every pattern with files that share fewer and fewer records: a row a data set."""
    settings = [
        {"pattern": pattern, "release": release, "n_common": n_common, "n": RECORDS, "dataset": dataset}
        for dataset in range(first_dataset, first_dataset + n_datasets)
        for pattern in PATTERNS
        for release in RELEASES
        for n_common in OVERLAPS
    ]
    return grid.run(settings, overlap_trial, stem="overlap", **options)


def overlap_trial(params: dict[str, Any], _: np.random.Generator) -> dict[str, Any]:
    """Locate one release, by a file or by towns; nothing is random but the data set, which its seed names."""
    rng = np.random.default_rng([params["dataset"], PATTERNS.index(params["pattern"]), 31])
    files, towns, area = _drawn(params["pattern"], params["n"], max(params["n_common"], 0), rng)
    homes = files.original
    distances, sd = _released(params["release"], files, area, rng)
    if params["n_common"] < 0:
        found = locate_by_population(distances, towns, area, sd, scatter_km=SCATTER_KM)
        certified = found.certified().to_numpy()
    else:
        table = homes.drop(columns=["lat_deg", "lon_deg"])
        found = registration_attack((table, distances), files.known, quasi=list(table.columns), sd_km=sd, rng=rng)
        certified = (found.certificate["motion_p_value"] <= 0.01).to_numpy()
    off = errors_km(found.positions, homes)
    return {
        "median_km": float(np.median(off)), "within_5_km": float((off <= 5).mean()),
        "within_25_km": float((off <= WRONG_KM).mean()), "certified": float(certified.mean()),
        "certified_wrong": float((certified & (off > WRONG_KM)).mean()),
    }  # fmt: skip


def _drawn(pattern: str, n: int, n_common: int, rng: np.random.Generator) -> tuple[OverlappingFiles, pd.DataFrame, Any]:
    """Return a release and a file, the public list of towns around them, and the outline."""
    name = {"population of Germany": "germany", "hospitals of England": "england"}.get(pattern)
    towns, area = country(name) if name else invented_country(int(rng.integers(1_000_000)))
    persons = hospitals(int(rng.integers(1_000_000))) if name == "england" else people(towns, area, 2 * n, rng)
    return overlapping_files(persons, n_original=n, n_known=n, n_common=n_common, rng=rng), towns, area


def _released(
    release: str, files: OverlappingFiles, area: Any, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray | None]:
    """Return released distances as the intruder uses them, and their deviations if they are calibrated."""
    lat, lon = files.original["lat_deg"], files.original["lon_deg"]
    if release == "20 km of noise":
        return perturb_distances(great_circle_km(lat, lon), sigma_km=20.0, rng=rng), None
    embedding: dict[str, Any] = {"n_reference_sets": 100, "reference_set_size": 10, "area": area}
    embedded = embed_distances(lat, lon, **embedding, rng=rng)
    known = files.known
    return calibrate_distances(embedded, known["lat_deg"], known["lon_deg"], **embedding, rng=rng)
