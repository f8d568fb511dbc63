"""Trials: one file of simulated people, released as distances, laid on a map."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import shapely

from reident import great_circle_km, locate_by_population, perturb_distances, registration_attack
from reident.base import FloatArray
from reident.data.datasets import load_boundary, load_census_shares, load_places
from reident.data.simulate import population
from reident.location.spherical_mds import gaps_km
from reident.places.distances import unit_vectors

__all__ = ["FAILING", "FITTING", "LEVELS", "invented_country", "level_trial", "located_people", "locating_trial"]

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


@lru_cache(maxsize=2)
def country(name: str) -> tuple[pd.DataFrame, Any]:
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


def located_people(params: dict[str, Any]) -> tuple[pd.DataFrame, Any]:
    """Return the people of one setting and what the attack makes of their released distances."""
    places, area = country(params["country"])
    n, n_common = params["n"], params["n_common"]
    rng = np.random.default_rng([params["dataset"], n])
    everybody = people(places, area, 2 * n - max(n_common, 0), rng)
    homes = everybody.iloc[:n]
    if params.get("work"):
        homes = work_places(homes, places, rng)
    distances = perturb_distances(
        great_circle_km(homes["lat_deg"], homes["lon_deg"]), sigma_km=params["sigma_km"], rng=rng
    )
    if params["step_km"]:
        distances = np.round(distances / params["step_km"]) * params["step_km"]
    if params.get("left_out"):
        gaps = np.triu(rng.random(distances.shape) < params["left_out"], 1)
        distances = np.where(gaps | gaps.T, np.nan, distances)
    if params.get("longest_km"):
        distances = np.where(distances > params["longest_km"], np.nan, distances)
    if params["knowledge"] == "file":
        table = homes.drop(columns=["lat_deg", "lon_deg"])
        known = everybody.iloc[n - n_common :].rename(index="k{}".format)
        found = registration_attack((table, distances), known, quasi=list(table.columns), n_pairs=1000, rng=rng)
    else:
        listed = _supposed(places, params, rng) if params["knowledge"] == "towns" else None
        found = locate_by_population(distances, listed, area, scatter_km=params.get("scatter_km", SCATTER_KM))
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


def _supposed(places: pd.DataFrame, params: dict[str, Any], rng: np.random.Generator) -> pd.DataFrame:
    """Return the list of towns as the intruder has it: perhaps the largest only, or with wrong populations."""
    if params.get("n_towns"):
        places = places.nlargest(params["n_towns"], "population")
    if params.get("wrong_by"):
        factor = np.exp(rng.normal(0, params["wrong_by"], len(places)))
        places = places.assign(population=places["population"] * factor)
    return places


def locating_trial(params: dict[str, Any], _: np.random.Generator) -> dict[str, Any]:
    """Locate one file; nothing is random but the data set, which its seed names."""
    began = time.perf_counter()
    homes, found = located_people(params)
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


def level_trial(params: dict[str, Any], _: np.random.Generator) -> dict[str, Any]:
    """Lay one file on Germany and count, at every nominal level, who is certified, and wrongly."""
    homes, distances = _of_kind(params["kind"], params["n"], np.random.default_rng([params["dataset"], params["n"], 9]))
    places, area = country("germany")
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
    places, area = country("germany")
    if kind == "england on germany":
        places, area = country("england")
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
