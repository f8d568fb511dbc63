"""The two scenarios: hospitals in England, and persons in Germany; what the intruder knows in each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd
from shapely import box, buffer, minimum_bounding_circle, minimum_bounding_radius, points, union_all
from shapely.affinity import scale

from reident import ToleranceIntervals, embed_distances, great_circle_km
from reident.base import FloatArray, check_area
from reident.data.datasets import load_boundary, load_nhs_hospitals, load_places
from reident.data.simulate import overlapping_files
from reident.experiments.kroll2015 import persons
from reident.places.tolerance_intervals import simulate_intervals
from reident.studies.kroll2016 import SCENARIOS

#: Hospitals of the paper's list, which is no longer to be had.
N_HOSPITALS = 847


@dataclass(frozen=True, eq=False)
class Scenario:
    """Two overlapping files in one area.

    Attributes
    ----------
    name, source : str
        The scenario, and ``"real"`` or ``"simulated"``.
    original, known, truth : DataFrame
        The custodian's file, the intruder's, and who is who.
    quasi : list of str
        What both files say about a record.
    area : GeoDataFrame
        Where reference places are drawn.
    d_original, d_known : ndarray
        Distances, km.
    """

    name: str
    source: str
    original: pd.DataFrame
    known: pd.DataFrame
    truth: pd.DataFrame
    quasi: list[str]
    area: Any
    d_original: FloatArray
    d_known: FloatArray

    @cached_property
    def labels(self) -> tuple[pd.Series, pd.Series]:
        """What both files say about each record, as one word."""
        original, known = (table[self.quasi].astype(str).agg(" ".join, axis=1) for table in (self.original, self.known))
        return original, known


def hospitals(seed: int) -> pd.DataFrame:
    """Return 847 hospitals of the NHS list, drawn at random: trust_prefix, lat_deg, lon_deg."""
    listed = load_nhs_hospitals()
    chosen = np.sort(np.random.default_rng([seed, 847]).choice(len(listed), N_HOSPITALS, replace=False))
    return listed.loc[chosen, ["trust_prefix", "lat_deg", "lon_deg"]].reset_index(drop=True)


@lru_cache(maxsize=24)
def scenario(name: str, seed: int, *, n_common: int | None = None, area: str | None = None) -> Scenario:
    """Return the files of a scenario: 400 + 400 hospitals with 40 in common, or 500 + 500 persons with 50.

    The data sets are fixed as in the paper; repetitions draw new embeddings only. `n_common` changes the overlap,
    `area` where reference places are drawn (see `reference_area`).
    """
    rng = np.random.default_rng([seed, SCENARIOS.index(name)])
    if name == "england":
        people, source = hospitals(seed), "real"
        size, common, quasi = 400, 40, ["trust_prefix"]
        if n_common == 0:
            size = len(people) // 2
    else:
        people = persons(1000, rng)
        source, size, common, quasi = "simulated", 500, 50, ["sex", "age_class"]
    common = common if n_common is None else n_common
    files = overlapping_files(people, n_original=size, n_known=size, n_common=common, rng=rng)
    d_original, d_known = (
        great_circle_km(table["lat_deg"], table["lon_deg"]) for table in (files.original, files.known)
    )
    within = check_area(reference_area(area or name, name))  # as the polygon that every release would make of it
    return Scenario(name, source, files.original, files.known, files.truth, quasi, within, d_original, d_known)


@lru_cache(maxsize=16)
def reference_area(area: str, country: str) -> Any:
    """Return where reference places are drawn: a country's outline, or a shape around `country`.

    Shapes: its bounding box; the smallest disc that holds it; discs around its places, as large as their population
    (together a fiftieth of the box), so that places are drawn about by population.
    """
    if area not in ("bounding_box", "disc", "population"):
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


def release(files: Scenario, n_reference_sets: int, reference_set_size: int, rng: np.random.Generator) -> FloatArray:
    """Return the custodian's distances through a new embedding."""
    return embed_distances(
        files.original["lat_deg"],
        files.original["lon_deg"],
        n_reference_sets=n_reference_sets,
        reference_set_size=reference_set_size,
        area=files.area,
        rng=rng,
    )


@lru_cache(maxsize=3)
def intervals(
    name: str,
    seed: int,
    n_reference_sets: int,
    reference_set_size: int,
    alphas: tuple[float, ...],
    n_simulations: int,
    area: str | None = None,
) -> dict[float, ToleranceIntervals]:
    """Return the intruder's tolerance intervals by alpha: simulated once for all repetitions of a setting."""
    files = scenario(name, seed, area=area)
    found = simulate_intervals(
        files.known["lat_deg"],
        files.known["lon_deg"],
        n_reference_sets=n_reference_sets,
        reference_set_size=reference_set_size,
        area=files.area,
        alphas=alphas,
        n_simulations=n_simulations,
        rng=np.random.default_rng([seed, SCENARIOS.index(name), n_reference_sets, reference_set_size]),
    )
    return dict(zip(alphas, found, strict=True))
