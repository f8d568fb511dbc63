"""Trials of released maps: people released as distances, located by a map of towns, by a file, or by reference sets.

Beyond the five documents: nothing of this is in print. A data set is named by its seed, and nothing else is random.
"""

import time
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from reident.base import FloatArray, Row
from reident.data.datasets import load_boundary, load_census_shares, load_places
from reident.data.simulate import population
from reident.location.localisation import Localisation
from reident.location.population_location import locate_by_population
from reident.location.registration import registration_attack
from reident.location.spherical_mds import gaps_km
from reident.places.distances import great_circle_km
from reident.places.noise import perturb_distances
from reident.places.points import unit_vectors

#: Standard deviation of homes around their place, km: what the simulation uses and the intruder supposes.
SCATTER_KM = 11.0
#: Nominal levels at which the certificate is measured.
LEVELS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)
#: Kinds of files of which a map of Germany can be right: these show the power.
FITTING = ("exact", "noise 40 km")
#: A place that is further off than this counts as wrong, km.
WRONG_KM = 25.0


@lru_cache(maxsize=2)
def load_country(name: str) -> tuple[pd.DataFrame, Any]:
    """Return the public list of places and the outline of a country."""
    return load_places(name), load_boundary(name).union_all()


def people(places: pd.DataFrame, area: Any, n: int, rng: Generator) -> pd.DataFrame:
    """Draw persons by the population of places, inside an outline."""
    return population(places, n, jitter_km=SCATTER_KM, shares=load_census_shares(), area=area, rng=rng)


def errors_km(positions: pd.DataFrame, homes: pd.DataFrame) -> FloatArray:
    """Return how far each record was placed from home, km; inf where it was not placed."""
    gap = gaps_km(*(unit_vectors(frame["lat_deg"], frame["lon_deg"]) for frame in (positions, homes)))
    return np.where(np.isfinite(gap), gap, np.inf)


def located_people(
    *, dataset: int, n: int, knowledge: str = "towns", n_common: int = -1, sigma_km: float = 0.0, step_km: float = 0.0
) -> tuple[pd.DataFrame, Localisation]:
    """Return people of Germany and their positions by the attack on their released distances.

    `knowledge` is "towns", "outline" or "file", which shares `n_common` records; noise `sigma_km` and rounding
    `step_km` are those of distances.
    """
    places, area = load_country("germany")
    rng = np.random.default_rng([dataset, n])
    persons = people(places, area, 2 * n - max(n_common, 0), rng)
    homes = persons.iloc[:n]
    distances = perturb_distances(great_circle_km(homes["lat_deg"], homes["lon_deg"]), sigma_km=sigma_km, rng=rng)
    if step_km:
        distances = np.round(distances / step_km) * step_km
    if knowledge == "file":
        table = homes.drop(columns=["lat_deg", "lon_deg"])
        known = persons.iloc[n - n_common :].rename(index="k{}".format)
        located = registration_attack((table, distances), known, quasi=list(table.columns), n_pairs=1000, rng=rng)
    else:
        listed = places if knowledge == "towns" else None
        located = locate_by_population(distances, listed, area, scatter_km=SCATTER_KM)
    return homes, located


def locating_trial(
    _: Generator, *, dataset: int, n: int, knowledge: str = "towns", n_common: int = -1, sigma_km: float = 0.0,
    step_km: float = 0.0,
) -> Row:  # fmt: skip
    """Locate one file; the parameters are those of `located_people`."""
    began = time.perf_counter()
    homes, located = located_people(
        dataset=dataset, n=n, knowledge=knowledge, n_common=n_common, sigma_km=sigma_km, step_km=step_km
    )
    return quality(homes, located) | {"seconds": time.perf_counter() - began}


def quality(homes: pd.DataFrame, located: Localisation) -> Row:
    """Return how far records were placed from home, and how many are certified, wrongly too."""
    off = errors_km(located.positions, homes)
    certified = located.certified().to_numpy()
    return {
        "median_km": np.median(off),
        **{f"within_{km}_km": (off <= km).mean() for km in (1, 5, 10, 25)},
        "gap": located.certificate["gap"].median(),
        "motion_p_value": located.p_value,
        "certified": certified.mean(),
        "certified_wrong": (certified & (off > WRONG_KM)).mean(),
    }
