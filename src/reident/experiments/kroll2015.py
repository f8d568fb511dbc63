"""Experiment of Kroll (2015): link two files by noisy distances between their records.

The paper attacks one pair of files whose addresses were not published. Here persons are drawn from the places of
Germany by population, with normal jitter around the place's centre; sex and age follow the census of 2011. `trial` is
one release and one attack; notebooks run it over a grid by `sweep`.
"""

from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import shapely
from numpy.random import Generator, default_rng

from reident.base import BoolArray, FloatArray, ParameterError, Parameters, RNGLike, Row, quiet
from reident.cliques.cliques import max_clique, max_cliques
from reident.cliques.quasi import quasi_clique
from reident.data.datasets import load_boundary, load_census_shares, load_places
from reident.data.simulate import OverlappingFiles, overlapping_files, population
from reident.experiments.parameters import read_own
from reident.places.compatibility import CompatibilityGraph, compatibility_graph
from reident.places.distances import great_circle_km
from reident.places.noise import (
    DistanceDeviation,
    distance_deviation_quantiles,
    distance_noise_window_km,
    perturb_coordinates,
    perturb_distances,
)

#: Standard deviation, km, of homes around their place's centre: calibrated on the published precision for alpha >= .5.
JITTER_KM = 10.0

# A number of steps ends a search, never the clock: results would differ from run to run.
STEPS: Parameters = {"node_limit": 500_000, "time_limit_s": None, "progress": False}
LISTING: Parameters = {"node_limit": 50_000, "time_limit_s": None, "progress": False}
MAX_CLIQUES = 2_000


def persons(n: int, rng: RNGLike, jitter_km: float = JITTER_KM) -> pd.DataFrame:
    """Draw persons of Germany: places by population, sex and age class by the census."""
    shares, area = load_census_shares(), load_boundary("germany")
    return population(load_places("germany"), n, jitter_km=jitter_km, shares=shares, area=area, rng=rng)


def draw_files(
    dataset: int, *, n_original: int = 500, n_known: int = 500, n_common: int = 50, jitter_km: float = JITTER_KM
) -> OverlappingFiles:
    """Draw the data set with this number: persons of Germany, `n_common` of them in both files."""
    rng = default_rng(dataset)
    people = persons(n_original + n_known - n_common, rng, jitter_km)
    return overlapping_files(people, n_original=n_original, n_known=n_known, n_common=n_common, rng=rng)


def read_files(table: str, known: str) -> OverlappingFiles:
    """Read two own files: columns ``id``, ``lat_deg``, ``lon_deg`` and quasi-identifiers; equal ids are one person."""
    tables = []
    for name, pin in (("table", table), ("known", known)):
        read = read_own(pin, name, ["id", "lat_deg", "lon_deg"]).set_index("id")
        if twice := read.index[read.index.duplicated()].tolist():
            raise ParameterError(f"`{name}` must have one record an `id`, got {twice[0]!r} twice")
        tables.append(read)
    original, background = tables
    common = original.index[original.index.isin(background.index)]
    return OverlappingFiles(original, background, pd.DataFrame({"release": common, "known": common}))


@lru_cache(maxsize=32)
def _data(table: str, known: str, dataset: int, **sizes: Any) -> tuple[OverlappingFiles, FloatArray]:
    """Return the files and the known distances of a data set; workers keep the last ones."""
    files = read_files(table, known) if table else draw_files(dataset, **sizes)
    return files, great_circle_km(files.known["lat_deg"], files.known["lon_deg"])


@lru_cache(maxsize=64)
def deviation(sigma_deg: float, dataset: int, known: str = "", table: str = "") -> DistanceDeviation:
    """Sample deviations d - d' of distances of 1,000 random pairs: one sample serves all repetitions on a data set.

    Pairs come from Germany; with own files from the convex hull of the known places, which the intruder has.
    """
    area = load_boundary("germany")
    if known:
        places = read_files(table, known).known
        area = shapely.MultiPoint(places[["lon_deg", "lat_deg"]].to_numpy()).convex_hull
    rng = default_rng([dataset, round(sigma_deg * 1e6), 1000])
    return distance_deviation_quantiles(area, sigma_deg=sigma_deg, n_pairs=1000, rng=rng)


def labels(table: pd.DataFrame, quasi: tuple[str, ...] | list[str]) -> pd.Series:
    """Return the quasi-identifiers of each record as one text."""
    first, *others = (table[name].astype(str) for name in quasi)
    return first.str.cat(others, sep=" ")


def protect(
    rng: Generator, original: pd.DataFrame, noise: DistanceDeviation | float, alpha: float
) -> tuple[FloatArray, tuple[float, float], float]:
    """Return the released distances, the intruder's window in km and the utility: 1 / variance of d - d', per km^2.

    `noise` is that on coordinates, with the sample of deviations, or the standard deviation on distances, km.
    """
    lat, lon = original["lat_deg"], original["lon_deg"]
    if isinstance(noise, DistanceDeviation):
        released = great_circle_km(*perturb_coordinates(lat, lon, sigma_deg=noise.sigma_deg, rng=rng))
        return released, noise.window_km(alpha), 1 / noise.variance_km2
    released = perturb_distances(great_circle_km(lat, lon), sigma_km=noise, rng=rng)
    return released, distance_noise_window_km(noise, alpha), noise**-2


def true_matches(graph: CompatibilityGraph, files: Any) -> BoolArray:
    """Tell which possible matches of a product graph are true."""
    partners = files.truth.set_index("release")["known"].reindex(files.original.index)
    return files.known.index.get_indexer(partners)[graph.pairs[:, 0]] == graph.pairs[:, 1]


def trial(
    rng: Generator, *, alpha: float, dataset: int, sigma_deg: float | None = None, sigma_km: float | None = None,
    gamma: float = 1.0, ties: str = "published", n_original: int = 500, n_known: int = 500, n_common: int = 50,
    jitter_km: float = JITTER_KM, table: str = "", known: str = "", quasi: tuple[str, ...] = ("sex", "age_class"),
) -> Row:  # fmt: skip
    """Release one file with noise, attack it, and compare the claimed matches with the truth.

    `alpha` is the share of the sampled deviations inside the window; the noise is `sigma_deg` on coordinates or
    `sigma_km` on distances: give one of them. With `gamma` below 1 a quasi-clique is claimed, in which each match
    agrees with this share of the others; else by the rule `ties` the clique that the paper's program ends with
    ("published"), or a "random" one of all largest cliques. `dataset` is the number of the simulated pair of files,
    whose sizes and spread of homes, km, follow; `table` and `known` are own files, `quasi` the columns that both share.

    Returns precision and recall by the rule, precision by both rules; smallest, mean and largest precision over all
    largest cliques; the size of the product graph; the share of pairs of true matches that are joined; whether the
    searches were complete; utility per km^2.
    """
    sizes = {"n_original": n_original, "n_known": n_known, "n_common": n_common, "jitter_km": jitter_km}
    files, known_km = _data(table, known, dataset, **sizes)
    if (sigma_deg is None) == (sigma_km is None):
        raise ParameterError(f"give one of `sigma_deg` and `sigma_km`, got {sigma_deg} and {sigma_km}")
    noise = deviation(sigma_deg, dataset, known=known, table=table) if sigma_deg is not None else float(sigma_km or 0)
    released_km, window_km, utility = protect(rng, files.original, noise, alpha)
    graph = compatibility_graph(
        labels(files.original, quasi), released_km, labels(files.known, quasi), known_km, window_km=window_km
    )
    is_true = true_matches(graph, files)
    true = np.flatnonzero(is_true)
    n_joined = sum(np.isin(graph.neighbours(match), true).sum() for match in true.tolist())
    result = {
        "n_candidates": graph.n_vertices, "n_edges": graph.n_edges, "utility_per_km2": utility,
        "common_edges": n_joined / (true.size * (true.size - 1)) if true.size > 1 else np.nan,
    }  # fmt: skip
    with quiet():  # a column says so
        if gamma < 1:
            clique = quasi_clique(graph, gamma=gamma, rng=rng, **STEPS)
            return {**_quality(is_true, clique.vertices, len(files.truth)), "is_optimal": clique.is_optimal, **result}
        listed = max_cliques(graph, limit=MAX_CLIQUES, rng=rng, **LISTING)
        published = max_clique(graph, search="published", **STEPS)
    chosen = {"published": published.vertices, "random": listed.cliques[rng.integers(len(listed))]}
    by_rule = {rule: _quality(is_true, members, len(files.truth)) for rule, members in chosen.items()}
    shares = is_true[np.array(listed.cliques, dtype=np.int64)].mean(axis=1) if listed.size else np.full(1, np.nan)
    return {
        **by_rule[ties],
        **{f"precision_{rule}": quality["precision"] for rule, quality in by_rule.items()},
        "precision_min": shares.min(), "precision_mean": shares.mean(), "precision_max": shares.max(),
        "n_max_cliques": len(listed), "is_optimal": published.is_optimal and listed.is_optimal, **result,
    }  # fmt: skip


def _quality(is_true: np.ndarray, members: Any, n_true: int) -> Row:
    """Return precision and recall of the claimed matches, and their number."""
    right = is_true[np.array(members, dtype=np.int64)]
    precision = right.mean() if right.size else np.nan
    return {"precision": precision, "recall": right.sum() / n_true if n_true else np.nan, "n_claimed": right.size}
