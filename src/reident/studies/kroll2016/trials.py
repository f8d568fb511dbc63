"""The trials of the study: linkage by cliques, utilities, and attacks that locate everybody."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from shapely import box

from reident import (
    Localisation,
    ToleranceIntervals,
    calibrate_distances,
    common_subgraph_attack,
    compatibility_graph,
    embed_distances,
    great_circle_pairs_km,
    linkage_quality,
    locate_by_reference_sets,
    max_clique,
    max_cliques,
    multilateration_attack,
    registration_attack,
)
from reident.base import FloatArray, SearchLimitWarning, check_area
from reident.data.datasets import load_boundary, load_places
from reident.experiments.kroll2015 import persons
from reident.location.spherical_mds import gaps_km, procrustes, recover_shape
from reident.methods import find
from reident.methods.forms import NONE, tolerance
from reident.methods.forms import release as make_release
from reident.methods.release import Release
from reident.places import spatial
from reident.places.areas import AreaSampler
from reident.places.distances import unit_vectors
from reident.studies.kroll2016.scenarios import Scenario, intervals, reference_area, release, scenario
from reident.studies.kroll2016.uses import NamedUses
from reident.workbench.microdata import Microdata, microdata

_MAX_CLIQUES = 2_000
_BAND_KM = 60.0


def linkage_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Embed, link by both searches in one graph under tolerance intervals, compare with the truth.

    The measures without a search in their name are those of the search that is asked for.
    """
    files, known = _setting(params, tuple(params["alphas"]))
    released = release(files, params["n_reference_sets"], params["reference_set_size"], rng)
    return {**searched(files, released, known, params, rng), "coverage": known.coverage}


def searched(
    files: Scenario, released: FloatArray, known: ToleranceIntervals, params: dict[str, Any], rng: np.random.Generator
) -> dict[str, Any]:
    """Search one product graph as the paper did, cut off by steps, and go on as strongly as we can, cut off by time."""
    labels = files.labels
    graph = compatibility_graph(labels[0], released, labels[1], files.d_known, intervals_km=(known.lo, known.hi))
    names = [table.index[graph.pairs[:, side]] for side, table in enumerate((files.original, files.known))]
    is_true = pd.MultiIndex.from_arrays(names).isin(pd.MultiIndex.from_frame(files.truth[["release", "known"]]))
    with warnings.catch_warnings(action="ignore", category=SearchLimitWarning):
        theirs = max_clique(
            graph, search="published", node_limit=params["step_limit"], time_limit_s=None, progress=False
        )
        ours = max_cliques(
            graph, limit=_MAX_CLIQUES, begin=theirs, time_limit_s=params["time_limit_s"], progress=False, rng=rng
        )
    found = {
        "published": (theirs.vertices, theirs.is_optimal),
        "strong": (ours.cliques[rng.integers(len(ours))], ours.is_optimal),
    }
    row: dict[str, Any] = {}
    for search in (params.get("search", "published"), "published", "strong"):
        members, is_optimal = found[search]
        n_true = int(is_true[np.array(members, dtype=np.int64)].sum())
        measures = {
            "precision": n_true / max(len(members), 1),
            "recall": n_true / len(files.truth),
            "n_links": len(members),
            "is_optimal": is_optimal,
        }
        row |= {f"{search}_{name}" if row else name: value for name, value in measures.items()}
    tied = is_true[np.array(ours.cliques, dtype=np.int64)].mean(axis=1) if ours.size else np.zeros(1)
    return row | {
        "n_max_cliques": len(ours),
        "precision_lowest": tied.min(),
        "precision_mean": tied.mean(),
        "precision_highest": tied.max(),
        "n_candidates": graph.n_vertices,
        "density": graph.density,
        "steps": theirs.n_nodes,
    }


def area_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Embed with reference places of another area; `effective_k` counts a set's places that are nearest to somebody."""
    files, known = _setting(params, (params["alpha"],))
    d, k = params["n_reference_sets"], params["reference_set_size"]
    released = release(files, d, k, rng)
    sets = AreaSampler(files.area).draw_vectors((50, k), rng)
    people = unit_vectors(files.original["lat_deg"], files.original["lon_deg"])
    used = [np.unique((people @ places.T).argmax(axis=1)).size for places in sets]
    return searched(files, released, known, params, rng) | {
        "effective_k": float(np.mean(used)),
        "nearest_neighbour": spatial.nearest_neighbour_agreement(files.d_original, released),
        "clusters_ari": spatial.clustering_agreement(files.d_original, released, n_clusters=10),
    }


def _setting(params: dict[str, Any], alphas: tuple[float, ...]) -> tuple[Scenario, ToleranceIntervals]:
    """Return the files of a setting and the intruder's intervals."""
    name, seed = params["scenario"], params["dataset"]
    shape, area = (params["n_reference_sets"], params["reference_set_size"]), params.get("area")
    known = intervals(name, seed, *shape, alphas, params["n_simulations"], area)
    return scenario(name, seed, area=area), known[params["alpha"]]


def utility_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Embed the hospitals of the custodian's file and measure what the paper's figure 2 and the named uses need."""
    files = scenario("england", params["dataset"])
    released = release(files, params["n_reference_sets"], params["reference_set_size"], rng)
    centre, border = fixed_points(files)
    row = {
        "spearman_centre": spatial.rank_correlation(files.d_original, released, record=centre),
        "spearman_border": spatial.rank_correlation(files.d_original, released, record=border),
    }
    values = smooth_values(files.original)
    row |= spatial.distance_utilities(files.d_original, released, values=values, band_km=_BAND_KM)
    return row | _uses(params["dataset"]).on(released)


@lru_cache(maxsize=16)
def _uses(dataset: int) -> NamedUses:
    """Return what the uses find on the true distances of a data set's hospitals."""
    files = scenario("england", dataset)
    return NamedUses(files.d_original, smooth_values(files.original), seed=dataset)


def fixed_points(files: Scenario) -> tuple[int, int]:
    """Return the records nearest to the middle of England and to its northern end."""
    lat, lon = files.original["lat_deg"].to_numpy(), files.original["lon_deg"].to_numpy()
    centre = great_circle_pairs_km(lat, lon, np.full(lat.size, 52.6), np.full(lon.size, -1.5))
    return int(centre.argmin()), int(lat.argmax())


def smooth_values(places: pd.DataFrame) -> FloatArray:
    """Return an attribute with a spatial pattern and noise: what autocorrelation is measured on."""
    lat, lon = places["lat_deg"].to_numpy(), places["lon_deg"].to_numpy()
    noise = np.random.default_rng(7).normal(size=lat.size)
    return np.asarray(np.sin(2.2 * lat) + np.cos(1.7 * lon) + 0.7 * noise)


def city_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Embed the paper's three pairs of cities, by reference places of the United Kingdom or of another shape."""
    cities = city_pairs()
    released = embed_distances(
        cities["lat_deg"],
        cities["lon_deg"],
        n_reference_sets=params["n_reference_sets"],
        reference_set_size=params["reference_set_size"],
        area=shape(params["area"]) if "area" in params else united_kingdom(),
        rng=rng,
    )
    return {f"{name}_km": released[i, i + 1] for i, name in zip((0, 2, 4), PAIRS, strict=True)}


PAIRS = ("liverpool_manchester", "london_sheffield", "plymouth_newcastle")


@lru_cache(maxsize=1)
def united_kingdom() -> Any:
    """Return the outline that figure 1 and the city pairs draw reference places in."""
    return check_area(load_boundary("united_kingdom"))


#: Shapes around Liverpool and Manchester, of about the same size: west, south, east, north in degrees.
_BOXES = {"north to south": (-3.6, 50.0, -1.6, 57.0), "east to west": (-7.6, 52.9, 2.4, 54.0)}
SHAPES = ("united kingdom", *_BOXES, "disc")


def shape(name: str) -> Any:
    """Return one of `SHAPES`: what lies in line with the pair depends on it."""
    if name == "united kingdom":
        return united_kingdom()
    if name == "disc":
        return reference_area("disc", "england")
    return box(*_BOXES[name])


@lru_cache(maxsize=1)
def city_pairs() -> pd.DataFrame:
    """Return the six cities in the order of `PAIRS`."""
    places = load_places("england").drop_duplicates("name").set_index("name")
    names = ["Liverpool", "Manchester", "London", "Sheffield", "Plymouth", "Newcastle upon Tyne"]
    return places.loc[names, ["lat_deg", "lon_deg"]].reset_index()


#: The share of deviations that the clique attack of the comparison tolerates.
_ALPHA = 0.5


def locating_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Release by one method; link by cliques, locate from those matches, and locate without any."""
    files = scenario("germany", params["dataset"], n_common=params.get("n_common"))
    made = make_release(described(files, "original", params["method"]), params["method"], params["options"], rng=rng)
    calibrated = _calibrated(files, made.distances(), made.options, rng)
    row = _clique_and_multilateration(files, made, calibrated, params, rng)
    found = registration_attack(
        (made.table, calibrated[0]), files.known, quasi=files.quasi, sd_km=calibrated[1], n_pairs=params["n_pairs"],
        rng=rng,
    )  # fmt: skip
    row |= _located(found, files, "registration")
    kept = files.original.index.get_indexer(made.table.index)
    utility = spatial.distance_utilities(
        files.d_original[np.ix_(kept, kept)],
        made.distances(),
        values=smooth_values(files.original.iloc[kept]),
        band_km=_BAND_KM,
    )
    return row | utility | {"n_released": len(made.table)}


def equalities_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Embed, round or not, and read the hidden coordinates and with them all places off the released numbers alone.

    The intruder's file only lays the finished map on the country. A record without a place counts as lost: half round
    the earth.
    """
    files, step = scenario("germany", params["dataset"]), params["rounding_km"] or None
    distances = release(files, params["n_reference_sets"], params["reference_set_size"], rng)
    if step is not None:
        distances = (distances / step).round() * step
    found = locate_by_reference_sets(
        (files.original[files.quasi], distances), known=files.known, quasi=files.quasi, step_km=step, rng=rng
    )
    placed = (found.positions["island"] == 0).to_numpy() & (found.linkage is not None)
    there, truth = found.positions[placed], files.original[placed]
    error = np.full(len(placed), 20_015.0)
    error[placed] = great_circle_pairs_km(there["lat_deg"], there["lon_deg"], truth["lat_deg"], truth["lon_deg"])
    error = error.round(6)  # to the millimetre: what is below it is of floating point
    row = {
        "equalities_within_1m": float((error <= 1e-3).mean()),
        "equalities_wrong": float((placed & (error > 1)).mean()),
        "equalities_certified": found.is_certified(),
        **_errors(error, "equalities"),
        "equalities_precision": 0.0,
        "equalities_recall": 0.0,
    }
    return row if found.linkage is None else row | _links(found.linkage, files, "equalities")


def described(files: Scenario, file: str, method: str) -> Microdata:
    """Return the "original" or the "known" file as data of the workbench, with the public inputs of a method."""
    needed = {} if method == NONE else find(method, "anonymiser").public
    public = {name: files.area if name == "area" else _addresses() for name in needed}
    return microdata(getattr(files, file), quasi=files.quasi, kind="places", public=public)


@lru_cache(maxsize=8)
def _window(dataset: int, n_common: int | None, method: str, options: str, n_simulations: int) -> dict[str, Any]:
    """Return what the intruder tolerates, by the house's rule for the method: once for all repetitions of a setting."""
    files, chosen = scenario("germany", dataset, n_common=n_common), json.loads(options)
    known = described(files, "known", method)
    # What the intruder learns depends on the method and the own file only: any release of it will do.
    made = make_release(known, method, chosen, rng=dataset)
    return tolerance(known, made, alpha=_ALPHA, n_simulations=n_simulations, rng=np.random.default_rng([dataset, 1]))


@lru_cache(maxsize=1)
def _addresses() -> pd.DataFrame:
    """Return 20,000 homes of the same population, to swap locations with."""
    return persons(20_000, 1)


def _clique_and_multilateration(
    files: Scenario,
    made: Release,
    calibrated: tuple[FloatArray, FloatArray | None],
    params: dict[str, Any],
    rng: np.random.Generator,
) -> dict[str, Any]:
    setting = json.dumps(made.options, sort_keys=True)
    window = _window(params["dataset"], params.get("n_common"), made.method, setting, params["n_simulations"])
    with warnings.catch_warnings(action="ignore", category=SearchLimitWarning):
        linked = common_subgraph_attack(
            (made.table[files.quasi], made.distances()),
            (files.known[files.quasi], files.d_known),
            quasi=files.quasi,
            ties="first",
            time_limit_s=params["time_limit_s"],
            rng=rng,
            **window,
        )
    quality = linkage_quality(linked.links, files.truth)
    found = multilateration_attack(
        (made.table, calibrated[0]), linked, files.known, quasi=files.quasi, sd_km=calibrated[1], rng=rng
    )
    first = {
        "clique_precision": 0.0 if np.isnan(quality.precision) else quality.precision,
        "clique_recall": quality.recall,
    }
    return first | _located(found, files, "multilateration")


def piece_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Embed, keep the largest piece of records that sure distances chain, and locate that piece without a match."""
    files = scenario("germany", params["dataset"])
    lipschitz = {name: params[name] for name in ("n_reference_sets", "reference_set_size")}
    distances, sd = _calibrated(files, release(files, **lipschitz, rng=rng), lipschitz, rng)
    assert sd is not None
    sure = (sd <= params["sure_km"]) & ~np.eye(len(sd), dtype=bool)
    _, part = connected_components(csr_array(sure), directed=False)
    members = np.flatnonzero(part == np.bincount(part).argmax())
    table = files.original[files.quasi].iloc[members]
    if members.size < 4:
        nothing = {"shape_median_km": 20_015.0, "registration_median_km": 20_015.0, "registration_within_5km": 0.0}
        return {"n_records": members.size, **nothing, "registration_p_value": 1.0}
    piece = np.ix_(members, members)
    found = registration_attack(
        (table, distances[piece]), files.known, quasi=files.quasi, sd_km=sd[piece], n_pairs=params["n_pairs"], rng=rng
    )
    located = _located(found, files, "registration")
    true = unit_vectors(*(files.original[name].to_numpy()[members] for name in ("lat_deg", "lon_deg")))
    shape = recover_shape(distances[piece], sd[piece])
    return {
        "n_records": members.size,
        # What is left of the error when the piece is laid on the true places: the shape's own.
        "shape_median_km": float(np.median(gaps_km(shape @ procrustes(shape, true).T, true))),
        **{name: located[name] for name in _PIECE_MEASURES},
    }


_PIECE_MEASURES = ("registration_median_km", "registration_within_5km", "registration_p_value")


def _calibrated(
    files: Scenario, released: FloatArray, options: Mapping[str, Any], rng: np.random.Generator
) -> tuple[FloatArray, FloatArray | None]:
    """Undo the contraction of an embedding on average; other methods' distances are taken as they are."""
    if "n_reference_sets" not in options:
        return released, None
    known = files.known
    return calibrate_distances(released, known["lat_deg"], known["lon_deg"], **options, area=files.area, rng=rng)


def _located(found: Localisation, files: Scenario, attack: str) -> dict[str, Any]:
    """Measure an attack's map: position errors over all released records, and the second round's links."""
    places = files.original.loc[found.positions.index]
    if found.positions["lat_deg"].isna().any():
        error = np.full(len(places), 20_015.0)
    else:
        error = great_circle_pairs_km(
            found.positions["lat_deg"], found.positions["lon_deg"], places["lat_deg"], places["lon_deg"]
        )
    return {
        **_errors(error, attack),
        **_links(found, files, attack),
        f"{attack}_z": float(np.nan_to_num(found.z_score)),
        f"{attack}_p_value": found.p_value,
    }


def _errors(error_km: FloatArray, attack: str) -> dict[str, float]:
    return {
        f"{attack}_median_km": float(np.median(error_km)),
        f"{attack}_p90_km": float(np.quantile(error_km, 0.9)),
        f"{attack}_within_1km": float((error_km <= 1).mean()),
        f"{attack}_within_5km": float((error_km <= 5).mean()),
    }


def _links(found: Localisation, files: Scenario, attack: str) -> dict[str, float]:
    quality = linkage_quality(found.links, files.truth)
    return {
        f"{attack}_precision": 0.0 if np.isnan(quality.precision) else quality.precision,
        f"{attack}_recall": 0.0 if np.isnan(quality.recall) else quality.recall,
    }
