"""Trials of released maps: people released as distances, located by a map of towns, by a file, or by reference sets.

Beyond the five documents: nothing of this is in print. A data set is named by its seed, and nothing else is random.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import shapely

from reident.base import FloatArray
from reident.data.datasets import load_boundary, load_census_shares, load_nhs_hospitals, load_places
from reident.data.simulate import OverlappingFiles, overlapping_files, population
from reident.location.calibration import calibrate_distances
from reident.location.localisation import Localisation
from reident.location.population_location import locate_by_population
from reident.location.registration import registration_attack
from reident.location.spherical_mds import gaps_km
from reident.places.distances import great_circle_km, unit_vectors
from reident.places.lipschitz_embedding import embed_distances
from reident.places.noise import perturb_distances

__all__ = ["drawn_files", "level_trial", "load_country", "located_people", "locating_trial", "overlap_trial", "people"]

#: Standard deviation of homes around their place, km: what the simulation uses and the intruder supposes.
SCATTER_KM = 11.0
#: Nominal levels at which the certificate is measured.
LEVELS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)
#: Kinds of files of which no map of Germany can be right, and kinds of which it can: these show the power.
FAILING = (
    "england on germany", "invented on germany", "shuffled sizes", "south only", "one region", "one county",
    "noise 300 km",
)  # fmt: skip
FITTING = ("exact", "noise 40 km")
#: Share of the country's people who live in a region or a county.
_PART = {"one region": 0.1, "one county": 0.01}
#: A place that is further off than this counts as wrong, km.
WRONG_KM = 25.0


#: Patterns of places, releases of their distances, records of a release and of a file.
PATTERNS = ("population of Germany", "hospitals of England", "towns with gaps")
RELEASES = ("20 km of noise", "100 sets of 10")


@lru_cache(maxsize=2)
def load_country(name: str) -> tuple[pd.DataFrame, Any]:
    """Return the public list of places and the outline of a country."""
    return load_places(name), load_boundary(name).union_all()


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


def people(places: pd.DataFrame, area: Any, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw persons by the population of places, inside an outline."""
    return population(places, n, jitter_km=SCATTER_KM, shares=load_census_shares(), area=area, rng=rng)


def errors_km(positions: pd.DataFrame, homes: pd.DataFrame) -> FloatArray:
    """Return how far each record was placed from home, km; inf where it was not placed."""
    gap = gaps_km(*(unit_vectors(frame["lat_deg"], frame["lon_deg"]) for frame in (positions, homes)))
    return np.where(np.isfinite(gap), gap, np.inf)


def located_people(
    *, dataset: int, n: int, country: str = "germany", knowledge: str = "towns", n_common: int = -1,
    sigma_km: float = 0.0, step_km: float = 0.0, left_out: float = 0.0, longest_km: float = 0.0, work: int = 0,
    scatter_km: float = SCATTER_KM, wrong_by: float = 0.0, n_towns: int = 0,
) -> tuple[pd.DataFrame, Localisation]:  # fmt: skip
    """Return people and their positions by the attack on their released distances.

    `knowledge` is "towns", "outline" or "file"; noise `sigma_km` and rounding `step_km` of distances; a share
    `left_out` and distances above `longest_km` (0: none) are not released; `work` places instead of homes. The intruder
    supposes `scatter_km`, populations `wrong_by` this deviation of their logarithm, and knows `n_towns` (0: all).
    """
    places, area = load_country(country)
    rng = np.random.default_rng([dataset, n])
    everybody = people(places, area, 2 * n - max(n_common, 0), rng)
    homes = everybody.iloc[:n]
    if work:
        homes = work_places(homes, places, rng)
    distances = perturb_distances(great_circle_km(homes["lat_deg"], homes["lon_deg"]), sigma_km=sigma_km, rng=rng)
    if step_km:
        distances = np.round(distances / step_km) * step_km
    if left_out:
        gaps = np.triu(rng.random(distances.shape) < left_out, 1)
        distances = np.where(gaps | gaps.T, np.nan, distances)
    if longest_km:
        distances = np.where(distances > longest_km, np.nan, distances)
    if knowledge == "file":
        table = homes.drop(columns=["lat_deg", "lon_deg"])
        known = everybody.iloc[n - n_common :].rename(index="k{}".format)
        found = registration_attack((table, distances), known, quasi=list(table.columns), n_pairs=1000, rng=rng)
    else:
        listed = _supposed(places, n_towns, wrong_by, rng) if knowledge == "towns" else None
        found = locate_by_population(distances, listed, area, scatter_km=scatter_km)
    return homes, found


def work_places(homes: pd.DataFrame, places: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return people at their place of work: a town by its population, fewer the farther it is (20 km), within 3 km."""
    towns = unit_vectors(places["lat_deg"], places["lon_deg"])
    km = gaps_km(unit_vectors(homes["lat_deg"], homes["lon_deg"])[:, None], towns[None])
    weight = np.cumsum(np.exp(-km / 20) * places["population"].to_numpy(), axis=1)
    drawn = (rng.random(len(homes))[:, None] * weight[:, -1:] > weight).sum(axis=1)
    lat, lon = places[["lat_deg", "lon_deg"]].to_numpy()[drawn].T
    north, east = rng.normal(0, 3 / 111.2, (2, len(homes)))
    return homes.assign(lat_deg=lat + north, lon_deg=lon + east / np.cos(np.radians(lat)))


def _supposed(places: pd.DataFrame, n_towns: int, wrong_by: float, rng: np.random.Generator) -> pd.DataFrame:
    """Return the list of towns as the intruder has it: perhaps the largest only, or with wrong populations."""
    if n_towns:
        places = places.nlargest(n_towns, "population")
    if wrong_by:
        factor = np.exp(rng.normal(0, wrong_by, len(places)))
        places = places.assign(population=places["population"] * factor)
    return places


def locating_trial(
    _: np.random.Generator, *, dataset: int, n: int, country: str = "germany", knowledge: str = "towns",
    n_common: int = -1, sigma_km: float = 0.0, step_km: float = 0.0, left_out: float = 0.0, longest_km: float = 0.0,
    work: int = 0, scatter_km: float = SCATTER_KM, wrong_by: float = 0.0, n_towns: int = 0,
) -> dict[str, Any]:  # fmt: skip
    """Locate one file; the parameters are those of `located_people`."""
    began = time.perf_counter()
    homes, found = located_people(
        dataset=dataset, n=n, country=country, knowledge=knowledge, n_common=n_common, sigma_km=sigma_km,
        step_km=step_km, left_out=left_out, longest_km=longest_km, work=work, scatter_km=scatter_km, wrong_by=wrong_by,
        n_towns=n_towns,
    )  # fmt: skip
    off = errors_km(found.positions, homes)
    certified = found.certified().to_numpy()
    return {
        "median_km": float(np.median(off)),
        **{f"within_{km}_km": float((off <= km).mean()) for km in (1, 5, 10, 25)},
        "gap": float(found.certificate["gap"].median()),
        "motion_p_value": found.p_value,
        "certified": float(certified.mean()),
        "certified_wrong": float((certified & (off > WRONG_KM)).mean()),
        "seconds": time.perf_counter() - began,
    }


def level_trial(_: np.random.Generator, *, kind: str, n: int, dataset: int) -> dict[str, Any]:
    """Lay one file on Germany and count, at every nominal level, who is certified, and wrongly."""
    homes, distances = _of_kind(kind, n, np.random.default_rng([dataset, n, 9]))
    places, area = load_country("germany")
    found = locate_by_population(distances, places, area, scatter_km=SCATTER_KM)
    off = errors_km(found.positions, homes)
    certified = {level: found.certified(level).to_numpy() for level in LEVELS}
    return {
        "median_km": float(np.median(off)),
        "n_wrong": int((off > WRONG_KM).sum()),
        "gap": float(found.certificate["gap"].median()),
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
