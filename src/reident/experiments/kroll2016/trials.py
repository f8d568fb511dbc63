"""The trials of the study: linkage by cliques, utilities, and attacks that locate everybody."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from reident._typing import FloatArray
from reident._validation import encode_labels
from reident.anonymisers import masks
from reident.anonymisers.coordinate_noise import distance_deviation_quantiles, perturb_coordinates
from reident.anonymisers.distance_noise import distance_noise_window_km, perturb_distances
from reident.anonymisers.lipschitz_embedding import embed_distances
from reident.attacks.arrangement import Arrangement, simulate_pairs
from reident.attacks.calibration import calibrate_distances
from reident.attacks.common_subgraph import Linkage, common_subgraph_attack
from reident.attacks.localisation import Localisation
from reident.attacks.multilateration import multilateration_attack
from reident.attacks.neighbours import Neighbours
from reident.attacks.registration import registration_attack
from reident.attacks.shape import gaps_km, procrustes, recover_shape, unit_vectors
from reident.attacks.tolerance_intervals import ToleranceIntervals
from reident.datasets import load_boundary, load_census_shares, load_places
from reident.errors import SearchLimitWarning
from reident.experiments.kroll2016.scenarios import Scenario, intervals, release, scenario
from reident.metrics import spatial
from reident.metrics.distances import great_circle_km, great_circle_pairs_km
from reident.metrics.linkage import linkage_quality
from reident.simulate import population

_MAX_CLIQUES = 2_000
_BAND_KM = 60.0


def linkage_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Embed, link by a maximum clique under tolerance intervals, compare with the truth."""
    files, known = _setting(params, tuple(params["alphas"]))
    released = release(files, params["n_reference_sets"], params["reference_set_size"], rng)
    found = _linked(files, released, known, limit=_MAX_CLIQUES, time_limit_s=params["time_limit_s"], rng=rng)
    quality = linkage_quality(found.links, files.truth)
    tied = precision_of_ties(found, files.truth)
    return {
        "precision": 0.0 if np.isnan(quality.precision) else quality.precision,
        "recall": quality.recall,
        "n_links": len(found),
        "is_optimal": found.is_optimal,
        "n_max_cliques": found.n_max_cliques,
        "precision_lowest": tied.min(),
        "precision_mean": tied.mean(),
        "precision_highest": tied.max(),
        "n_candidates": found.n_candidates,
        "density": _density(found),
        "coverage": known.coverage,
    }


def published_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Embed, and link by both searches in the same graph: the paper's, cut off by steps, and ours, by time."""
    files, known = _setting(params, (params["alpha"],))
    released = release(files, params["n_reference_sets"], params["reference_set_size"], rng)
    row: dict[str, Any] = {}
    for search, limit in (
        ("published", {"node_limit": params["step_limit"]}),
        ("strong", {"time_limit_s": params["time_limit_s"]}),
    ):
        found = _linked(files, released, known, search=search, ties="first", rng=rng, **limit)
        quality = linkage_quality(found.links, files.truth)
        row |= {
            "density": _density(found),
            f"{search}_n_links": len(found),
            f"{search}_precision": 0.0 if np.isnan(quality.precision) else quality.precision,
            f"{search}_is_optimal": found.is_optimal,
        }
        if search == "published":
            row["steps"] = found.clique.n_nodes
    return row


def _setting(params: dict[str, Any], alphas: tuple[float, ...]) -> tuple[Scenario, ToleranceIntervals]:
    """Return the files of a setting and the intruder's intervals."""
    name, seed = params["scenario"], params["dataset"]
    d, k = params["n_reference_sets"], params["reference_set_size"]
    return scenario(name, seed), intervals(name, seed, d, k, alphas, params["n_simulations"])[params["alpha"]]


def _linked(files: Scenario, released: FloatArray, known: ToleranceIntervals, **options: Any) -> Linkage:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchLimitWarning)
        return common_subgraph_attack(
            (files.original[files.quasi], released),
            (files.known[files.quasi], files.d_known),
            quasi=files.quasi,
            intervals_km=(known.lo, known.hi),
            **options,
        )


def _density(found: Linkage) -> float:
    return 2 * found.n_edges / max(found.n_candidates * (found.n_candidates - 1), 1)


def precision_of_ties(found: Linkage, truth: pd.DataFrame) -> FloatArray:
    """Return the precision of each maximum clique that was listed."""
    if found.all_links.empty:
        return np.zeros(1)
    right = found.all_links.merge(truth, on=["release", "known"], how="left", indicator=True)["_merge"] == "both"
    return right.groupby(found.all_links["clique"].to_numpy()).mean().to_numpy(dtype=np.float64)


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
    return row | spatial.distance_utilities(files.d_original, released, values=values, band_km=_BAND_KM)


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
    """Embed the paper's three pairs of cities in the United Kingdom."""
    cities = city_pairs()
    released = embed_distances(
        cities["lat_deg"],
        cities["lon_deg"],
        n_reference_sets=params["n_reference_sets"],
        reference_set_size=params["reference_set_size"],
        area=united_kingdom(),
        rng=rng,
    )
    return {f"{name}_km": released[i, i + 1] for i, name in zip((0, 2, 4), PAIRS, strict=True)}


PAIRS = ("liverpool_manchester", "london_sheffield", "plymouth_newcastle")


@lru_cache(maxsize=1)
def united_kingdom() -> Any:
    """Return the outline that figure 1 and the city pairs draw reference places in."""
    return load_boundary("united_kingdom")


@lru_cache(maxsize=1)
def city_pairs() -> pd.DataFrame:
    """Return the six cities in the order of `PAIRS`."""
    places = load_places("england").drop_duplicates("name").set_index("name")
    names = ["Liverpool", "Manchester", "London", "Sheffield", "Plymouth", "Newcastle upon Tyne"]
    return places.loc[names, ["lat_deg", "lon_deg"]].reset_index()


# Every way of releasing distances, with its parameter in words: method -> how to release.
METHODS: dict[str, list[str]] = {
    "no protection": ["exact"],
    "rigid motion": ["100 km"],
    "coordinate noise": ["0.005 deg", "0.025 deg", "0.05 deg"],
    "distance noise": ["5 km", "20 km"],
    "uniform disc": ["2 km", "10 km"],
    "donut": ["1-3 km", "5-15 km"],
    "grid cell": ["5 km", "20 km"],
    "location swap": ["10 km", "30 km"],
    "Lipschitz": ["500, 1", "100, 10", "100, 30", "20, 10", "20, 30"],
}


def locating_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Release by one method; link by cliques, locate from those matches, and locate without any."""
    files = scenario("germany", params["dataset"], n_common=params.get("n_common"))
    table, released, window, lipschitz = _released(files, params["method"], params["size"], rng)
    row = _clique_and_multilateration(files, table, released, window, lipschitz, params, rng)
    calibrated = _calibrated(files, released, lipschitz, rng)
    found = registration_attack(
        (table, calibrated[0]), files.known, quasi=files.quasi, sd_km=calibrated[1], n_pairs=params["n_pairs"], rng=rng
    )
    row |= _located(found, files, "registration")
    kept = files.original.index.get_indexer(table.index)
    original = files.d_original[np.ix_(kept, kept)]
    utility = spatial.distance_utilities(
        original, released, values=smooth_values(files.original.iloc[kept]), band_km=_BAND_KM
    )
    return row | utility | {"n_released": len(table)}


def _released(
    files: Scenario, method: str, size: str, rng: np.random.Generator
) -> tuple[pd.DataFrame, FloatArray, tuple[Any, Any] | None, tuple[int, int] | None]:
    """Return the released table and distances, the intruder's window in km, and the embedding's parameters."""
    places, numbers = (
        files.original,
        [float(x) for x in size.replace("-", " ").replace(",", " ").split() if _is_number(x)],
    )
    table = places[files.quasi]
    if method == "Lipschitz":
        shape = int(numbers[0]), int(numbers[1])
        return table, release(files, *shape, rng), None, shape
    if method == "distance noise":
        noisy = perturb_distances(files.d_original, sigma_km=numbers[0], rng=rng)
        return table, noisy, distance_noise_window_km(numbers[0], 0.5), None
    if method == "coordinate noise":
        window = _deviation(numbers[0]).window_km(0.5)
        moved = perturb_coordinates(places["lat_deg"], places["lon_deg"], sigma_deg=numbers[0], rng=rng)
        return table, great_circle_km(*moved), window, None
    masked, reach_km = _masked(places, method, numbers, rng)
    exact = method in ("no protection", "rigid motion")
    half = 0.01 if exact else 0.5 * reach_km
    return (
        masked[files.quasi],
        great_circle_km(masked["lat_deg"], masked["lon_deg"]),
        (-half, half),
        None,
    )


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def _masked(
    places: pd.DataFrame, method: str, numbers: list[float], rng: np.random.Generator
) -> tuple[pd.DataFrame, float]:
    """Return masked places and the largest displacement, km."""
    if method == "no protection":
        return places, 0.0
    if method == "rigid motion":
        return masks.move_rigidly(places, shift_m=1000 * numbers[0], reflect=True, rng=rng), 0.0
    if method == "uniform disc":
        return masks.mask_disc(places, radius_m=1000 * numbers[0], rng=rng), numbers[0]
    if method == "donut":
        inner, outer = numbers
        return masks.mask_donut(places, inner_m=1000 * inner, outer_m=1000 * outer, rng=rng), outer
    if method == "grid cell":
        return masks.mask_grid(places, cell_m=1000 * numbers[0], min_count=1), 0.7 * numbers[0]
    return masks.swap_locations(places, _addresses(), inner_m=100, outer_m=1000 * numbers[0], rng=rng), numbers[0]


@lru_cache(maxsize=1)
def _addresses() -> pd.DataFrame:
    """Return 20,000 homes of the same population, to swap locations with."""
    return population(
        load_places("germany"),
        20_000,
        jitter_km=11.0,
        shares=load_census_shares(),
        area=load_boundary("germany"),
        rng=1,
    )


@lru_cache(maxsize=8)
def _deviation(sigma_deg: float) -> Any:
    return distance_deviation_quantiles(load_boundary("germany"), sigma_deg=sigma_deg, n_pairs=1000, rng=1)


def _clique_and_multilateration(
    files: Scenario,
    table: pd.DataFrame,
    released: FloatArray,
    window: tuple[Any, Any] | None,
    lipschitz: tuple[int, int] | None,
    params: dict[str, Any],
    rng: np.random.Generator,
) -> dict[str, Any]:
    rule: dict[str, Any] = {"window_km": window}
    if lipschitz is not None:
        known = intervals("germany", params["dataset"], *lipschitz, (0.5,), params["n_simulations"])[0.5]
        rule = {"intervals_km": (known.lo, known.hi)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchLimitWarning)
        linked = common_subgraph_attack(
            (table, released),
            (files.known[files.quasi], files.d_known),
            quasi=files.quasi,
            ties="first",
            time_limit_s=params["time_limit_s"],
            rng=rng,
            **rule,
        )
    quality = linkage_quality(linked.links, files.truth)
    calibrated = _calibrated(files, released, lipschitz, rng)
    found = multilateration_attack(
        (table, calibrated[0]), linked, files.known, quasi=files.quasi, sd_km=calibrated[1], rng=rng
    )
    first = {
        "clique_precision": 0.0 if np.isnan(quality.precision) else quality.precision,
        "clique_recall": quality.recall,
    }
    return first | _located(found, files, "multilateration")


def piece_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Embed, keep the largest piece of records that sure distances chain, and locate that piece without a match."""
    files = scenario("germany", params["dataset"])
    lipschitz = params["n_reference_sets"], params["reference_set_size"]
    calibrated = _calibrated(files, release(files, *lipschitz, rng), lipschitz, rng)
    distances, sd = calibrated
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


def arrangement_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Embed, and arrange the records on the known places by simulated embeddings; compare with truth and chance."""
    files = scenario("germany", params["dataset"])
    shape = params["n_reference_sets"], params["reference_set_size"]
    pairs = simulate_pairs(
        release(files, *shape, rng),
        files.known["lat_deg"],
        files.known["lon_deg"],
        n_reference_sets=shape[0],
        reference_set_size=shape[1],
        area=files.area,
        n_simulations=params["n_simulations"],
        rng=rng,
    )
    true, known = (
        unit_vectors(table["lat_deg"].to_numpy(), table["lon_deg"].to_numpy())
        for table in (files.original, files.known)
    )
    found = max(
        (pairs.arrange(n_sweeps=params["n_sweeps"], rng=rng) for _ in range(params["n_starts"])),
        key=lambda arrangement: arrangement.score,
    )
    # Begun at the truth, the same search shows whether the truth is what it looks for, and how closely.
    begun_at_truth = pairs.arrange(n_sweeps=20, start=(true @ known.T).argmax(axis=1), rng=rng)
    placed = unit_vectors(found.positions["lat_deg"].to_numpy(), found.positions["lon_deg"].to_numpy())
    neighbours = _labelled(files, known)
    return {
        "median_km": _median_km(found, true),
        # The same places, given to the records at random.
        "chance_median_km": float(np.median([gaps_km(rng.permutation(placed), true) for _ in range(20)])),
        "from_truth_median_km": _median_km(begun_at_truth, true),
        "score": found.score,
        "from_truth_score": begun_at_truth.score,
        "p_value": neighbours.certificate(placed, 10.0, rng)[1],
    }


def _labelled(files: Scenario, known: FloatArray) -> Neighbours:
    codes, known_codes = encode_labels([files.original, files.known], files.quasi, ["original", "known"])
    return Neighbours(codes, known, known_codes)


def _median_km(arrangement: Arrangement, true: FloatArray) -> float:
    places = arrangement.positions
    return float(np.median(gaps_km(unit_vectors(places["lat_deg"].to_numpy(), places["lon_deg"].to_numpy()), true)))


def _calibrated(
    files: Scenario, released: FloatArray, lipschitz: tuple[int, int] | None, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray | None]:
    if lipschitz is None:
        return released, None
    return calibrate_distances(
        released,
        files.known["lat_deg"],
        files.known["lon_deg"],
        n_reference_sets=lipschitz[0],
        reference_set_size=lipschitz[1],
        area=files.area,
        rng=rng,
    )


def _located(found: Localisation, files: Scenario, attack: str) -> dict[str, Any]:
    """Measure an attack's map: position errors over all released records, and the second round's links."""
    places = files.original.loc[found.positions.index]
    if found.positions["lat_deg"].isna().any():
        error = np.full(len(places), 20_015.0)
    else:
        error = great_circle_pairs_km(
            found.positions["lat_deg"], found.positions["lon_deg"], places["lat_deg"], places["lon_deg"]
        )
    quality = linkage_quality(found.links, files.truth)
    return {
        f"{attack}_median_km": float(np.median(error)),
        f"{attack}_p90_km": float(np.quantile(error, 0.9)),
        f"{attack}_within_1km": float((error <= 1).mean()),
        f"{attack}_within_5km": float((error <= 5).mean()),
        f"{attack}_precision": 0.0 if np.isnan(quality.precision) else quality.precision,
        f"{attack}_recall": 0.0 if np.isnan(quality.recall) else quality.recall,
        f"{attack}_z": float(np.nan_to_num(found.z_score)),
        f"{attack}_p_value": found.p_value,
    }
