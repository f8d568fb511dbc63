"""The trials of the study: files, masks, the intruder's window, the attack."""

from __future__ import annotations

import itertools
import warnings
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from reident import (
    DistanceDeviation,
    Linkage,
    MetricMicrodata,
    common_subgraph_attack,
    compatibility_graph,
    distance_deviation_quantiles,
    distance_noise_window_km,
    great_circle_km,
    linkage_quality,
    max_clique,
    max_cliques,
    perturb_coordinates,
    perturb_distances,
)
from reident.base import RNGLike, SearchLimitWarning
from reident.data.datasets import load_boundary, load_census_shares, load_places
from reident.data.simulate import OverlappingFiles, overlapping_files, population
from reident.studies.kroll2015 import JITTER_KM

#: The quasi-identifiers of both files.
QUASI = ["sex", "age_class"]

#: The paper's conditions, the same for all settings of a run; a trial without them takes the paper's.
CONDITIONS = ("n_original", "n_known", "n_common", "ties", "jitter_km")

# No cell of the paper comes near them (at most 19,000 nodes and 140,000 steps of the published search, which are
# quicker); with more noise a search may take days. The clock, which would make results differ from run to run, ends
# nothing.
_LIMITS: dict[str, Any] = {"node_limit": 50_000, "time_limit_s": None, "progress": False}
_STEPS = _LIMITS | {"node_limit": 500_000}
_MAX_CLIQUES = 2_000


def persons(n: int, rng: RNGLike, jitter_km: float = JITTER_KM) -> pd.DataFrame:
    """Draw persons of Germany by population."""
    area, shares = load_boundary("germany"), load_census_shares()
    return population(load_places("germany"), n, jitter_km=jitter_km, shares=shares, area=area, rng=rng)


@lru_cache(maxsize=16)
def files(
    dataset: int, *, n_original: int = 500, n_known: int = 500, n_common: int = 50, jitter_km: float = JITTER_KM
) -> OverlappingFiles:
    """Return the data set with this number: simulated records of Germany, some of them in both files."""
    rng = np.random.default_rng(dataset)
    drawn = persons(n_original + n_known - n_common, rng, jitter_km)
    return overlapping_files(drawn, n_original=n_original, n_known=n_known, n_common=n_common, rng=rng)


@lru_cache(maxsize=64)
def deviation(sigma_deg: float, dataset: int, n_pairs: int = 1000) -> DistanceDeviation:
    """Return the intruder's sample of distance deviations: one for all repetitions on a data set."""
    rng = np.random.default_rng([dataset, round(sigma_deg * 1e6), n_pairs])
    return distance_deviation_quantiles(load_boundary("germany"), sigma_deg=sigma_deg, n_pairs=n_pairs, rng=rng)


@lru_cache(maxsize=16)
def _known(dataset: int, **conditions: Any) -> MetricMicrodata:
    """Return the intruder's file with its distances."""
    known = files(dataset, **conditions).known
    return MetricMicrodata(known[QUASI], great_circle_km(known["lat_deg"], known["lon_deg"]))


@lru_cache(maxsize=16)
def _labels(dataset: int, **conditions: Any) -> tuple[pd.Series, pd.Series]:
    """Return what the quasi-identifiers of each record say, as one word, of both files."""
    made = files(dataset, **conditions)
    original, known = (table[QUASI].astype(str).agg(" ".join, axis=1) for table in (made.original, made.known))
    return original, known


def _conditions(params: dict[str, Any]) -> dict[str, Any]:
    return {name: params[name] for name in CONDITIONS if name in params and name != "ties"}


def _noisy_release(
    params: dict[str, Any], rng: np.random.Generator
) -> tuple[MetricMicrodata, tuple[float, float], float]:
    """Return the release, the intruder's window in km and the utility (1 / variance of the deviation, per km^2)."""
    original, alpha = files(params["dataset"], **_conditions(params)).original, params["alpha"]
    lat, lon = original["lat_deg"], original["lon_deg"]
    if params.get("sigma_km") is not None:
        sigma_km = params["sigma_km"]
        released = perturb_distances(great_circle_km(lat, lon), sigma_km=sigma_km, rng=rng)
        return MetricMicrodata(original[QUASI], released), distance_noise_window_km(sigma_km, alpha), sigma_km**-2
    sampled = deviation(params["sigma_deg"], params["dataset"])
    released = great_circle_km(*perturb_coordinates(lat, lon, sigma_deg=params["sigma_deg"], rng=rng))
    return MetricMicrodata(original[QUASI], released), sampled.window_km(alpha), 1 / sampled.variance_km2


def attack(params: dict[str, Any], rng: np.random.Generator) -> tuple[Linkage, float]:
    """Mask, release and attack; return what the attack claims and the utility of the release, per km^2."""
    release, window_km, utility = _noisy_release(params, rng)
    ties = params.get("ties", "published")
    with warnings.catch_warnings(action="ignore", category=SearchLimitWarning):
        # Whether the search and the listing were complete is a column of the frame.
        linkage = common_subgraph_attack(
            release,
            _known(params["dataset"], **_conditions(params)),
            quasi=QUASI,
            window_km=window_km,
            gamma=params.get("gamma", 1.0),
            limit=_MAX_CLIQUES,
            rng=rng,
            **({"search": "published", **_STEPS} if ties == "published" else {"ties": ties, **_LIMITS}),
        )
    return linkage, utility


def trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Mask the coordinates, attack by every rule for ties in one graph, and measure.

    `params`: sigma_deg, alpha, dataset. The measures without a rule in their name are those of the rule `ties`.
    """
    release, window_km, utility = _noisy_release(params, rng)
    conditions = _conditions(params)
    known, truth = _known(params["dataset"], **conditions), files(params["dataset"], **conditions).truth
    labels = _labels(params["dataset"], **conditions)
    graph = compatibility_graph(labels[0], release.distances_km, labels[1], known.distances_km, window_km=window_km)
    pairs = pd.MultiIndex.from_arrays([release.table.index[graph.pairs[:, 0]], known.table.index[graph.pairs[:, 1]]])
    is_true = pairs.isin(pd.MultiIndex.from_frame(truth[["release", "known"]]))
    with warnings.catch_warnings(action="ignore", category=SearchLimitWarning):
        listed = max_cliques(graph, limit=_MAX_CLIQUES, rng=rng, **_LIMITS)
        published = max_clique(graph, search="published", **_STEPS)
        claimed = {"published": published.vertices, "random": listed.cliques[rng.integers(len(listed))]}
        if params.get("ties") == "first":
            claimed["first"] = max_clique(graph, rng=rng, **_LIMITS).vertices
    right = is_true[np.array(listed.cliques, dtype=np.int64)]
    shares = right.mean(axis=1) if listed.size else np.full(1, np.nan)
    found = {
        rule: _quality(is_true[np.array(members, dtype=np.int64)], len(truth)) for rule, members in claimed.items()
    }
    return {
        **found[params.get("ties", "published")],
        **{f"{measure}_{rule}": found[rule][measure] for rule in ("published", "random") for measure in _MEASURES},
        "precision_min": shares.min(),
        "precision_mean": shares.mean(),
        "precision_max": shares.max(),
        "recall_mean": right.sum(axis=1).mean() / len(truth),
        "n_max_cliques": len(listed),
        "is_optimal": published.is_optimal and listed.is_optimal,
        "is_enumerated": listed.is_complete,
        "n_candidates": graph.n_vertices,
        "n_edges": graph.n_edges,
        "utility_per_km2": utility,
    }


_MEASURES = ("precision", "recall")


def _quality(right: np.ndarray, n_true: int) -> dict[str, float]:
    """Return the measures of a claimed set of matches of which these are right."""
    n = int(right.sum())
    return {
        "precision": n / right.size if right.size else np.nan,
        "recall": n / n_true,
        "true_positives": n,
        "false_positives": right.size - n,
        "false_negatives": n_true - n,
    }


def calibration_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Attack as the paper did at another jitter; `params`: jitter_km, sigma_deg, alpha, dataset."""
    linkage, _ = attack(params, rng)
    quality = linkage_quality(linkage.links, files(params["dataset"], **_conditions(params)).truth)
    return {"precision": quality.precision, "recall": quality.recall}


def variant_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Attack a variant that the paper names; `params`: sigma_deg or sigma_km, alpha, gamma, dataset."""
    linkage, utility = attack(params, rng)
    quality = linkage_quality(linkage.links, files(params["dataset"], **_conditions(params)).truth)
    return {"precision": quality.precision, "recall": quality.recall, "utility_per_km2": utility}


def shown(data: dict[str, Any], sigmas_deg: list[float], alphas: list[float]) -> dict[str, pd.DataFrame]:
    """Return the files of figure 4 and the outcomes of figure 7; `data`: dataset and conditions."""
    original, known, truth = files(data["dataset"], **_conditions(data))
    points = []
    for name, table, common in (("original", original, truth["release"]), ("known", known, truth["known"])):
        points.append(table.assign(file=name, id=table.index, common=table.index.isin(common)).reset_index(drop=True))
    linked = []
    for sigma_deg, alpha in itertools.product(sigmas_deg, alphas):
        params = {"sigma_deg": sigma_deg, "alpha": alpha, **data}
        links = attack(params, np.random.default_rng(data["dataset"]))[0].links
        found = links.merge(truth.assign(true=True), how="left", on=["release", "known"])
        linked.append(found.assign(true=found["true"].notna(), sigma_deg=sigma_deg, alpha=alpha))
    return {"files": pd.concat(points, ignore_index=True), "matches": pd.concat(linked, ignore_index=True)}
