"""Trials behind the tables of measured maps: the level of the certificate, and files that share records."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import shapely

from benchmarks._calibration import calibrate_distances
from reident.base import FloatArray
from reident.data.datasets import load_nhs_hospitals
from reident.data.simulate import OverlappingFiles, overlapping_files
from reident.experiments.released_maps import (
    LEVELS,
    SCATTER_KM,
    WRONG_KM,
    errors_km,
    load_country,
    people,
    quality,
)
from reident.location.population_location import locate_by_population
from reident.location.registration import registration_attack
from reident.location.spherical_mds import gaps_km
from reident.places.distances import great_circle_km
from reident.places.lipschitz_embedding import embed_distances
from reident.places.noise import perturb_distances
from reident.places.points import unit_vectors

#: Kinds of files of which no map of Germany can be right.
FAILING = (
    "england on germany", "invented on germany", "shuffled sizes", "south only", "one region", "one county",
    "noise 300 km",
)  # fmt: skip
#: Share of the country's people who live in a region or a county.
_PART = {"one region": 0.1, "one county": 0.01}
#: Patterns of places, releases of their distances, records of a release and of a file.
PATTERNS = ("population of Germany", "hospitals of England", "towns with gaps")
RELEASES = ("20 km of noise", "100 sets of 10")


@lru_cache(maxsize=4)
def invented_country(seed: int) -> tuple[pd.DataFrame, Any]:
    """Return 150 towns with Pareto sizes in three regions with empty gaps between them, and their outline."""
    rng = np.random.default_rng([seed, 5])
    lobes = [
        shapely.affinity.scale(shapely.Point(lon, lat).buffer(radius), *(rng.uniform(0.8, 1.2, 2) * (1.4, 1.0)))
        for lon, lat, radius in ((2.0, 45.0, 1.3), (6.2, 46.4, 1.0), (4.2, 49.2, 1.5))
    ]
    area = shapely.union_all(lobes)
    west, south, east, north = area.bounds
    lat, lon = rng.uniform(south, north, 2000), rng.uniform(west, east, 2000)
    inside = np.flatnonzero(shapely.contains_xy(area, lon, lat))[:150]
    sizes = np.minimum(3000 * (rng.pareto(1.1, 150) + 1), 8e5)
    return pd.DataFrame({"lat_deg": lat[inside], "lon_deg": lon[inside], "population": sizes}), area


def plain_trial(
    _: np.random.Generator, *, dataset: int, n: int, sigma_km: float = 0.0, step_km: float = 0.0,
    left_out: float = 0.0, longest_km: float = 0.0, work: int = 0, scatter_km: float = SCATTER_KM,
    wrong_by: float = 0.0, n_towns: int = 0,
) -> dict[str, Any]:  # fmt: skip
    """Lay people of Germany on its towns, their distances released as `benchmarks._released_maps.PLAIN` says."""
    began = time.perf_counter()
    places, area = load_country("germany")
    rng = np.random.default_rng([dataset, n])
    homes = people(places, area, 2 * n, rng).iloc[:n]
    if work:
        homes = _work_places(homes, places, rng)
    distances = perturb_distances(great_circle_km(homes["lat_deg"], homes["lon_deg"]), sigma_km=sigma_km, rng=rng)
    if step_km:
        distances = np.round(distances / step_km) * step_km
    if left_out:
        gaps = np.triu(rng.random(distances.shape) < left_out, 1)
        distances = np.where(gaps | gaps.T, np.nan, distances)
    if longest_km:
        distances = np.where(distances > longest_km, np.nan, distances)
    listed = places.nlargest(n_towns, "population") if n_towns else places
    if wrong_by:
        listed = listed.assign(population=listed["population"] * np.exp(rng.normal(0, wrong_by, len(listed))))
    located = locate_by_population(distances, listed, area, scatter_km=scatter_km)
    return quality(homes, located) | {"seconds": time.perf_counter() - began}


def _work_places(homes: pd.DataFrame, places: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return people at their place of work: a town by its population, fewer the farther it is (20 km), within 3 km."""
    towns = unit_vectors(places["lat_deg"], places["lon_deg"])
    km = gaps_km(unit_vectors(homes["lat_deg"], homes["lon_deg"])[:, None], towns[None])
    weight = np.cumsum(np.exp(-km / 20) * places["population"].to_numpy(), axis=1)
    towns_drawn = (rng.random(len(homes))[:, None] * weight[:, -1:] > weight).sum(axis=1)
    lat, lon = places[["lat_deg", "lon_deg"]].to_numpy()[towns_drawn].T
    north, east = rng.normal(0, 3 / 111.2, (2, len(homes)))
    return homes.assign(lat_deg=lat + north, lon_deg=lon + east / np.cos(np.radians(lat)))


def level_trial(_: np.random.Generator, *, kind: str, n: int, dataset: int) -> dict[str, Any]:
    """Lay one file on Germany and count certified records, and wrong ones among them, at every nominal level."""
    homes, distances = _of_kind(kind, n, np.random.default_rng([dataset, n, 9]))
    places, area = load_country("germany")
    located = locate_by_population(distances, places, area, scatter_km=SCATTER_KM)
    off = errors_km(located.positions, homes)
    certified = {level: located.certified(level).to_numpy() for level in LEVELS}
    return {
        "median_km": float(np.median(off)),
        "n_wrong": int((off > WRONG_KM).sum()),
        "gap": float(located.certificate["gap"].median()),
        **{f"certified_{level:g}": int(sure.sum()) for level, sure in certified.items()},
        **{f"wrong_{level:g}": int((sure & (off > WRONG_KM)).sum()) for level, sure in certified.items()},
    }


def _of_kind(kind: str, n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, FloatArray]:
    """Return people and their released distances; see `FAILING`."""
    places, area = load_country("germany")
    if kind == "england on germany":
        places, area = load_country("england")
    elif kind == "invented on germany":
        places, area = invented_country(int(rng.integers(1_000_000)))
    elif kind == "shuffled sizes":
        places = places.assign(population=rng.permutation(places["population"].to_numpy()))
    homes = people(places, area, 6 * n if kind == "south only" else round(n / _PART.get(kind, 1)), rng)
    if kind == "south only":
        homes = homes[homes["lat_deg"] < 50].iloc[:n]
    elif kind in _PART:
        x = unit_vectors(homes["lat_deg"], homes["lon_deg"])
        homes = homes.iloc[np.sort(np.argsort(gaps_km(x[0], x))[:n])]
    distances = great_circle_km(homes["lat_deg"], homes["lon_deg"])
    if kind.startswith("noise"):
        distances = perturb_distances(distances, sigma_km=float(kind.split()[1]), rng=rng)
    return homes, distances


def overlap_trial(
    _: np.random.Generator, *, pattern: str, release: str, n_common: int, dataset: int, n: int = 300
) -> dict[str, Any]:
    """Locate one release by a file that shares `n_common` records, or (-1) by towns."""
    rng = np.random.default_rng([dataset, PATTERNS.index(pattern), 31])
    files, towns, area = drawn_files(pattern, n, max(n_common, 0), rng)
    homes = files.original
    distances, sd = _released(release, files, area, rng)
    if n_common < 0:
        located = locate_by_population(distances, towns, area, sd, scatter_km=SCATTER_KM)
        certified = located.certified().to_numpy()
    else:
        table = homes.drop(columns=["lat_deg", "lon_deg"])
        located = registration_attack((table, distances), files.known, quasi=list(table.columns), sd_km=sd, rng=rng)
        certified = (located.certificate["motion_p_value"] <= 0.01).to_numpy()
    off = errors_km(located.positions, homes)
    return {
        "median_km": float(np.median(off)), "within_5_km": float((off <= 5).mean()),
        "within_25_km": float((off <= WRONG_KM).mean()), "certified": float(certified.mean()),
        "certified_wrong": float((certified & (off > WRONG_KM)).mean()),
    }  # fmt: skip


def _hospitals(seed: int) -> pd.DataFrame:
    listed = load_nhs_hospitals()
    chosen = np.sort(np.random.default_rng([seed, 847]).choice(len(listed), 847, replace=False))
    return listed.loc[chosen, ["trust_prefix", "lat_deg", "lon_deg"]].reset_index(drop=True)


def drawn_files(
    pattern: str, n: int, n_common: int, rng: np.random.Generator
) -> tuple[OverlappingFiles, pd.DataFrame, Any]:
    """Return a release and a file, the public list of towns around them, and the outline."""
    name = {"population of Germany": "germany", "hospitals of England": "england"}.get(pattern)
    towns, area = load_country(name) if name else invented_country(int(rng.integers(1_000_000)))
    hospitals = name == "england"
    persons = _hospitals(int(rng.integers(1_000_000))) if hospitals else people(towns, area, 2 * n, rng)
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
