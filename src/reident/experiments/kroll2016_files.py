"""Files of the experiment of Kroll and Schnell (2016): hospitals of England, persons of Germany, own places, and areas.

Hospitals are drawn from the NHS Choices list of 2020, since the list of 847 behind the paper is no longer available;
persons are drawn as in `kroll2015`.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
from numpy.random import default_rng
from shapely import box, buffer, minimum_bounding_circle, minimum_bounding_radius, points, union_all
from shapely.affinity import scale

from reident.base import FloatArray, check_area
from reident.data.datasets import load_boundary, load_nhs_hospitals, load_places
from reident.data.simulate import overlapping_files
from reident.experiments.kroll2015 import persons
from reident.experiments.parameters import read_own, unpinned
from reident.places.distances import great_circle_km

SCENARIOS = ("england", "germany")
#: Shapes around a country in which reference places may be drawn, besides the countries themselves.
AREAS = ("bounding_box", "disc", "population")
CITY_PAIRS = ("liverpool_manchester", "london_sheffield", "plymouth_newcastle")
#: Shapes around Liverpool and Manchester, of about the same size: west, south, east, north in degrees.
_BOXES = {"north_to_south": (-3.6, 50.0, -1.6, 57.0), "east_to_west": (-7.6, 52.9, 2.4, 54.0)}


@dataclass(frozen=True, eq=False)
class Files:
    """Hold two overlapping files, the columns that both have, and the area in which reference places are drawn."""

    original: pd.DataFrame
    known: pd.DataFrame
    truth: pd.DataFrame
    quasi: list[str]
    area: Any
    original_km: FloatArray
    known_km: FloatArray


def hospitals(seed: int, prefix_length: int = 2) -> pd.DataFrame:
    """Draw 847 hospitals, as many as the paper had, with the first characters of their trust's code and their place."""
    listed = load_nhs_hospitals()
    chosen = np.sort(default_rng([seed, 847]).choice(len(listed), 847, replace=False))
    sample = listed.loc[chosen, ["trust", "lat_deg", "lon_deg"]].reset_index(drop=True)
    sample.insert(0, "trust_prefix", sample.pop("trust").str[:prefix_length])
    return sample


@lru_cache(maxsize=24)
def draw_files(
    scenario: str, dataset: int, *, n_records: int = 0, n_common: int = 0, prefix_length: int = 2, area: str = "",
    quasi: tuple[str, ...] = (),
) -> Files:  # fmt: skip
    """Draw a pair of files of a scenario: "england", "germany", or own places (a CSV file as `pinned` names it).

    Without sizes the paper's: 400 hospitals in each file and 40 in both, 500 persons and 50; of own places a tenth of
    each file is in both, and all are used.
    """
    rng = default_rng([dataset, [*SCENARIOS, scenario].index(scenario)])
    if scenario == "england":
        people, size, columns = hospitals(dataset, prefix_length), 400, ["trust_prefix"]
    elif scenario == "germany":
        people, size, columns = persons(1000, rng), 500, ["sex", "age_class"]
    else:
        kept = [*quasi, "lat_deg", "lon_deg"]
        people, columns = read_own(scenario, "places", kept)[kept], list(quasi)
        size = int(len(people) / 1.9)
    size = n_records or size
    pair = overlapping_files(people, n_original=size, n_known=size, n_common=n_common or size // 10, rng=rng)
    within = reference_area(area or scenario, scenario)
    km = [great_circle_km(file["lat_deg"], file["lon_deg"]) for file in (pair.original, pair.known)]
    return Files(pair.original, pair.known, pair.truth, columns, within, *km)


@lru_cache(maxsize=16)
def reference_area(area: str, country: str = "england") -> Any:
    """Return where reference places are drawn: a country's outline, a shape around `country`, or a file's polygons.

    Shapes: its bounding box; the smallest disc that holds it; discs around its places, as large as their population
    (together a fiftieth of the box), so that places are drawn about by population; two boxes for the city pairs.
    """
    return check_area(_area(area, country))  # as the polygon that every release would make of it


def _area(area: str, country: str) -> Any:
    if area in _BOXES:
        return box(*_BOXES[area])
    if "#" in area:
        return gpd.read_file(unpinned(area, "area"))
    if area not in AREAS:
        return load_boundary(area)
    outline = load_boundary(country)
    west, south, east, north = outline.total_bounds
    if area == "bounding_box":
        return box(west, south, east, north)
    # One degree of longitude is shorter than one of latitude: shapes are round on the ground, not in degrees.
    narrow = float(np.cos(np.radians((south + north) / 2)))
    if area == "disc":
        flat = scale(outline.union_all(), narrow, origin=(0, 0))
        # A little larger, since a disc is a polygon of 256 sides here.
        circle = minimum_bounding_circle(flat).centroid.buffer(1.001 * minimum_bounding_radius(flat), 64)
        return scale(circle, 1 / narrow, origin=(0, 0))
    places = load_places(country)
    shares = places["population"] / places["population"].sum()
    radius = np.sqrt(shares * (east - west) * narrow * (north - south) / 50 / np.pi)
    discs = points(places["lon_deg"] * narrow, places["lat_deg"])
    return scale(union_all(buffer(discs, radius)), 1 / narrow, origin=(0, 0))


@lru_cache(maxsize=1)
def city_pairs() -> pd.DataFrame:
    """Return the six cities in the order of `CITY_PAIRS`: name, lat_deg, lon_deg of their centres."""
    places = load_places("england").drop_duplicates("name").set_index("name")
    names = ["Liverpool", "Manchester", "London", "Sheffield", "Plymouth", "Newcastle upon Tyne"]
    return places.loc[names, ["lat_deg", "lon_deg"]].reset_index()
