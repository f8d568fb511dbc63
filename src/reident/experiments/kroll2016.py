"""Experiment of Kroll and Schnell (2016): release distances through a Lipschitz embedding, use them, attack them.

Hospitals of England are drawn from the NHS Choices list of 2020, since the list of 847 behind the paper is no longer
available; persons of Germany are drawn as in `kroll2015`. The number of a pair of files is a parameter, where the paper
has one pair of each scenario. `trial` is one embedding and its attack, `utility_trial` what an embedding is good for,
`city_trial` the paper's three pairs of cities.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
from numpy.random import Generator, default_rng
from shapely import box, buffer, minimum_bounding_circle, minimum_bounding_radius, points, union_all
from shapely.affinity import scale

from reident.base import FloatArray, Row, check_area, quiet
from reident.cliques.cliques import max_clique, max_cliques
from reident.data.datasets import load_boundary, load_nhs_hospitals, load_places
from reident.data.simulate import overlapping_files
from reident.experiments.kroll2015 import labels, persons, true_matches
from reident.experiments.parameters import read_own, unpinned
from reident.places import distance_analyses, utility
from reident.places.areas import AreaSampler
from reident.places.compatibility import compatibility_graph
from reident.places.distances import great_circle_km, great_circle_pairs_km
from reident.places.lipschitz_embedding import embed_distances
from reident.places.points import unit_vectors
from reident.places.tolerance import ToleranceIntervals, simulate_intervals

SCENARIOS = ("england", "germany")
#: Shapes around a country in which reference places may be drawn, besides the countries themselves.
AREAS = ("bounding_box", "disc", "population")
CITY_PAIRS = ("liverpool_manchester", "london_sheffield", "plymouth_newcastle")
#: Shapes around Liverpool and Manchester, of about the same size: west, south, east, north in degrees.
_BOXES = {"north_to_south": (-3.6, 50.0, -1.6, 57.0), "east_to_west": (-7.6, 52.9, 2.4, 54.0)}

# Nodes end a search, never the clock; before the first node the strong search's local search has run to its end.
_NODES, _MAX_CLIQUES = 1_000, 2_000
_N_CLUSTERS = 10
# Records of a cluster, share of cases in it and elsewhere, share of gaps, nearest records whose mean value is the
# true slope of a place.
_CLUSTER, _INSIDE, _OUTSIDE, _GAPS, _SMOOTH = 40, 0.6, 0.1, 0.2, 20


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


def embed(files: Files, n_reference_sets: int, reference_set_size: int, rng: Generator) -> FloatArray:
    """Return the custodian's distances through a new embedding, km."""
    lat, lon = files.original["lat_deg"], files.original["lon_deg"]
    shape = {"n_reference_sets": n_reference_sets, "reference_set_size": reference_set_size}
    return embed_distances(lat, lon, **shape, area=files.area, rng=rng)


@lru_cache(maxsize=3)
def _intervals(
    files: Files, seed: tuple[int, int], d: int, k: int, alphas: tuple[float, ...], n_simulations: int
) -> dict[float, ToleranceIntervals]:
    """Return the intruder's tolerance intervals by alpha: simulated once for all repetitions of a setting."""
    simulated = simulate_intervals(
        files.known["lat_deg"], files.known["lon_deg"], n_reference_sets=d, reference_set_size=k, area=files.area,
        alphas=alphas, n_simulations=n_simulations, rng=default_rng([*seed, d, k]),
    )  # fmt: skip
    return dict(zip(alphas, simulated, strict=True))


def effective_size(files: Files, reference_set_size: int, rng: Generator) -> float:
    """Return how many places of a reference set are the nearest one of some record, the mean of 50 sets."""
    sets = AreaSampler(files.area).draw_vectors((50, reference_set_size), rng)
    records = unit_vectors(files.original["lat_deg"], files.original["lon_deg"])
    return float(np.mean([np.unique((records @ places.T).argmax(axis=1)).size for places in sets]))


def trial(
    rng: Generator, *, n_reference_sets: int, reference_set_size: int, dataset: int, alphas: list[float],
    scenario: str = "england", steps: int = 20_000_000, n_simulations: int = 1_000, n_records: int = 0,
    n_common: int = 0, prefix_length: int = 2, area: str = "", quasi: tuple[str, ...] = (),
) -> list[Row]:  # fmt: skip
    """Release one file through an embedding, attack it for each alpha, and compare the claimed matches with the truth.

    The paper's d and k are `n_reference_sets` and `reference_set_size`, `alphas` shares of the simulated distances that
    a tolerance interval holds, `steps` the limit of the paper's search, `n_simulations` the embeddings that the
    intruder simulates. `scenario` is "england", "germany", or own places; it, `dataset`, the number of the pair of
    files, and the last five parameters are those of `draw_files`.

    Returns a row an alpha: precision, recall, size and completeness of the clique of the paper's search
    (``published_...``) and of one that continues it with a local search (``strong_...``); smallest, mean and largest
    precision over the largest cliques; the product graph; the coverage of the intervals; two measures of utility.
    """
    files = draw_files(
        scenario, dataset, n_records=n_records, n_common=n_common, prefix_length=prefix_length, area=area,
        quasi=tuple(quasi),
    )  # fmt: skip
    seed, shape = (dataset, [*SCENARIOS, scenario].index(scenario)), (n_reference_sets, reference_set_size)
    known = _intervals(files, seed, *shape, tuple(alphas), n_simulations)
    released_km = embed(files, *shape, rng)
    common = {
        "nearest_neighbour": utility.nearest_neighbour_agreement(files.original_km, released_km),
        "clusters_ari": utility.clustering_agreement(files.original_km, released_km, n_clusters=_N_CLUSTERS),
        "effective_size": effective_size(files, reference_set_size, default_rng(dataset)),
    }
    search_seed = rng.integers(2**32)  # the same for each alpha, so that a further alpha changes no other row
    return [
        {"alpha": alpha, **_attack(files, released_km, known[alpha], steps, default_rng(search_seed)), **common}
        for alpha in alphas
    ]


def _attack(files: Files, released_km: FloatArray, known: ToleranceIntervals, steps: int, rng: Generator) -> Row:
    """Search one product graph as the paper did, and go on with a stronger search."""
    words = [labels(file, files.quasi) if files.quasi else pd.Series("", file.index)
             for file in (files.original, files.known)]  # fmt: skip
    graph = compatibility_graph(words[0], released_km, words[1], files.known_km, intervals_km=(known.lo, known.hi))
    is_true = true_matches(graph, files)
    with quiet():  # columns say so
        published = max_clique(graph, search="published", node_limit=steps, time_limit_s=None, progress=False)
        start = published if len(published) else None
        strong = max_cliques(
            graph, limit=_MAX_CLIQUES, start=start, node_limit=_NODES, time_limit_s=None, progress=False, rng=rng
        )
    row = {}
    strong_clique = strong.cliques[rng.integers(len(strong))]
    for search, members, is_optimal in (
        ("published", published.vertices, published.is_optimal), ("strong", strong_clique, strong.is_optimal),
    ):  # fmt: skip
        n_true = is_true[np.array(members, dtype=np.int64)].sum()
        row[f"{search}_precision"] = n_true / max(len(members), 1)
        row[f"{search}_recall"] = n_true / max(len(files.truth), 1)
        row |= {f"{search}_n_links": len(members), f"{search}_is_optimal": is_optimal}
    tied = is_true[np.array(strong.cliques, dtype=np.int64)].mean(axis=1) if strong.size else np.zeros(1)
    row |= {"precision_min": tied.min(), "precision_mean": tied.mean(), "precision_max": tied.max()}
    row |= {"n_max_cliques": len(strong), "n_candidates": graph.n_vertices, "density": graph.density}
    return row | {"steps_taken": published.n_nodes, "coverage": known.coverage}


def utility_trial(
    rng: Generator, *, n_reference_sets: int, reference_set_size: int, dataset: int, scenario: str = "england",
    n_records: int = 0, n_common: int = 0, area: str = "", quasi: tuple[str, ...] = (),
) -> Row:  # fmt: skip
    """Embed the custodian's file and measure the utilities of figure 2 and of the uses that the paper names.

    `spearman_centre`, `spearman_border`: rank correlation of distances to a central and to the northernmost record.
    `nearest_neighbour`, `clusters_ari`: agreement of neighbours and of ten clusters. `moran_contiguity_error`,
    `geary_contiguity_error`: of autocorrelation on six neighbours. `pcnm_overlap`: share of the first ten spatial
    eigenvectors that is kept. `imputation_error`: root mean square error of filled gaps, relative to that with true
    distances. `scan_overlap`: Jaccard index of the most likely cluster with the true one, `gwr_slope_error`: root mean
    square error of local slopes; both beside their values with true distances (``..._true``).
    """
    files = draw_files(scenario, dataset, n_records=n_records, n_common=n_common, area=area, quasi=tuple(quasi))
    released_km = embed(files, n_reference_sets, reference_set_size, rng)
    lat, lon = files.original["lat_deg"].to_numpy(), files.original["lon_deg"].to_numpy()
    middle = (52.6, -1.5) if scenario == "england" else (lat.mean(), lon.mean())
    centre = int(great_circle_pairs_km(lat, lon, *(np.full(lat.size, part) for part in middle)).argmin())
    both = files.original_km, released_km
    true, released = _true_uses(files, dataset), _uses(released_km, files, dataset)
    return {
        "spearman_centre": utility.rank_correlation(*both, record=centre),
        "spearman_border": utility.rank_correlation(*both, record=int(lat.argmax())),
        "nearest_neighbour": utility.nearest_neighbour_agreement(*both),
        "clusters_ari": utility.clustering_agreement(*both, n_clusters=min(_N_CLUSTERS, lat.size)),
        "moran_contiguity_error": abs(released["moran"] - true["moran"]),
        "geary_contiguity_error": abs(released["geary"] - true["geary"]),
        "pcnm_overlap": np.linalg.norm(true["vectors"].T @ released["vectors"]) ** 2 / true["vectors"].shape[1],
        "imputation_error": released["imputation_error"] / true["imputation_error"],
        "scan_overlap": released["scan_overlap"], "scan_overlap_true": true["scan_overlap"],
        "gwr_slope_error": released["gwr_slope_error"], "gwr_slope_error_true": true["gwr_slope_error"],
    }  # fmt: skip


@lru_cache(maxsize=24)
def _true_uses(files: Files, dataset: int) -> Row:
    """Return `_uses` with true distances: computed once for all settings on a data set."""
    return _uses(files.original_km, files, dataset)


def _uses(km: FloatArray, files: Files, dataset: int) -> Row:
    """Return autocorrelation, eigenvectors, errors of filled gaps and of slopes, and the overlap of clusters."""
    lat, lon = files.original["lat_deg"].to_numpy(), files.original["lon_deg"].to_numpy()
    n = len(km)
    # An attribute with a spatial pattern and noise.
    values = np.sin(2.2 * lat) + np.cos(1.7 * lon) + 0.7 * default_rng(7).normal(size=n)
    rng = default_rng([dataset, 5])
    gaps = rng.permutation(n)[: int(_GAPS * n)]
    inside = np.zeros(n, dtype=bool)
    inside[np.argsort(files.original_km[rng.integers(n)], kind="stable")[: min(_CLUSTER, n // 4)]] = True
    cases = rng.random(n) < np.where(inside, _INSIDE, _OUTSIDE)
    slope = values[np.argsort(files.original_km, axis=1, kind="stable")[:, :_SMOOTH]].mean(axis=1)
    x = rng.normal(size=n)
    y = slope * x + 0.5 * rng.normal(size=n)
    observed = values.copy()
    observed[gaps] = np.nan
    off = distance_analyses.impute_from_neighbours(km, observed)[gaps] - values[gaps]
    members = distance_analyses.scan_cluster(km, cases).members
    slopes = distance_analyses.local_slopes(km, x, y, neighbours=min(60, n - 1))
    pattern = distance_analyses.autocorrelation(values, km, weights="contiguity", neighbours=6)
    return {
        "moran": pattern.morans_i, "geary": pattern.gearys_c, "vectors": distance_analyses.spatial_eigenvectors(km),
        "imputation_error": np.sqrt(np.mean(off**2)),
        "scan_overlap": (members & inside).sum() / (members | inside).sum(),
        "gwr_slope_error": np.sqrt(np.mean((slopes - slope) ** 2)),
    }  # fmt: skip


def city_trial(rng: Generator, *, n_reference_sets: int, reference_set_size: int, area: str = "united_kingdom") -> Row:
    """Embed the paper's three pairs of cities and return their released distances, km."""
    cities = city_pairs()
    within = reference_area(area)
    shape = {"n_reference_sets": n_reference_sets, "reference_set_size": reference_set_size}
    released = embed_distances(cities["lat_deg"], cities["lon_deg"], **shape, area=within, rng=rng)
    return {f"{name}_km": released[i, i + 1] for i, name in zip((0, 2, 4), CITY_PAIRS, strict=True)}
