"""From the plan of the study to its sweeps, and from their trials to the frames that figures and pages show."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reident import great_circle_cross_km, great_circle_km, points_in_area, ru_frame
from reident._old_sweep import grid
from reident.methods import find
from reident.rumap import ORIGINAL, anchor_both
from reident.studies.kroll2016 import SCENARIOS, Profile, statements
from reident.studies.kroll2016 import trials as work
from reident.studies.kroll2016.scenarios import Scenario, scenario
from reident.studies.study import Sweep

__all__ = ["claims", "frames", "sweeps"]

#: The number of reference sets that the paper advises.
_ADVISED = 20


def sweeps(plan: Profile, seed: int) -> dict[str, Sweep]:
    """Return the sweeps of both experiments and of the attacks that locate."""
    searched = {"n_simulations": [plan.n_simulations], "time_limit_s": [plan.time_limit_s]}
    datasets = [seed + i for i in range(plan.datasets)]
    alone = {"n_reference_sets": [20], "reference_set_size": [1, 3, 5]}
    chosen: dict[str, Sweep] = {
        "cities": {
            "grid": {"n_reference_sets": [20, 100, 500], "reference_set_size": [1, 3, 5]},
            "trial": work.city_trial,
            "repetitions": plan.n_embeddings,
        },
        "boxes": {
            "grid": {"area": list(work.SHAPES), **alone},
            "trial": work.city_trial,
            "repetitions": plan.n_boxes,
        },
        "utility": {
            "grid": {**plan.utility, "dataset": datasets},
            "trial": work.utility_trial,
            "repetitions": plan.utility_repetitions,
        },
    }
    asked = {
        "scenario": plan.scenario,
        "n_reference_sets": plan.n_reference_sets,
        "reference_set_size": plan.reference_set_sizes,
        "alpha": plan.alphas,
    }
    given = {name: values for name, values in asked.items() if values is not None}
    conditions = {"area": [plan.area], "search": [plan.search], "step_limit": [plan.steps]}
    for name, own in (("first", plan.first), ("second", plan.second)):
        settings = own | given
        # Alpha varies fastest, on one worker, and shares its embeddings: a setting's intervals are simulated once.
        chosen[name] = {
            "grid": {"dataset": datasets, **searched, **conditions, "alphas": [settings["alpha"]], **settings},
            "trial": work.linkage_trial,
            "repetitions": plan.releases,
            "shared": ["alpha", "alphas", "time_limit_s", "n_simulations", *conditions],
            "together": ["alpha"],
        }
    chosen["areas"] = {
        "grid": {"scenario": ["england"], "dataset": datasets, **searched, "step_limit": [plan.steps], **plan.areas},
        "trial": work.area_trial,
        "shared": ["area", "step_limit", "time_limit_s", "n_simulations"],
    }
    chosen["as_published"] = {
        "grid": {
            "dataset": datasets[:1],
            "alphas": [plan.published["alpha"]],
            **searched,
            "step_limit": sorted({plan.steps, plan.published_steps}),
            **plan.published,
        },
        "trial": work.linkage_trial,
        "shared": ["alphas", "step_limit", "time_limit_s", "n_simulations"],
    }
    common = {"n_simulations": plan.n_simulations, "time_limit_s": plan.time_limit_s, "n_pairs": plan.n_pairs}
    chosen["locating"] = {
        "grid": [
            {"method": method, "options": options, "dataset": dataset, **common}
            for method, several in plan.methods.items()
            for options in several
            for dataset in datasets
        ],
        "trial": work.locating_trial,
    }
    # The released numbers as equations, for every embedding on the map; rounded ones at the recommended number of sets.
    embeddings = plan.methods.get("lipschitz_embedding", [])
    chosen["equalities"] = {
        # The rounded ones take ten times as long: first, so that no worker is left alone with one.
        "grid": [
            {**one, "dataset": dataset, "rounding_km": step}
            for step in (*plan.rounding_km, 0.0)
            for one in embeddings
            if step == 0 or one["n_reference_sets"] == _ADVISED
            for dataset in datasets[: plan.equalities_datasets if step == 0 else plan.rounded_datasets]
        ],
        "trial": work.equalities_trial,
    }
    # Files that share nobody: how often does chance look like a registration?
    chosen["certificate"] = {
        "grid": [
            {"method": ORIGINAL, "options": {}, "dataset": dataset + 1, "n_common": 0, **common} for dataset in datasets
        ],
        "trial": work.locating_trial,
    }
    recommended = {"n_reference_sets": [_ADVISED], "reference_set_size": [30], "dataset": datasets}
    chosen["pieces"] = {
        "grid": {**recommended, "sure_km": [6.0, 12.0], "n_pairs": [plan.n_pairs]},
        "trial": work.piece_trial,
        "shared": ["sure_km"],
    }
    return chosen


def frames(_plan: Profile, seed: int, trials: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the trials of every sweep, summaries of both experiments, the map, and what figures 1, 3 and 4 show."""
    made = _shown(seed) | trials | {"as_published": trials["as_published"].drop(columns="alphas")}
    for name in ("first", "second"):
        made[name] = trials[name].drop(columns=["alphas", "area", "search", "step_limit"])
        made[f"{name}_summary"] = _summary(made[name])
    for name in ("locating", "certificate"):
        made[name] = _labelled(trials[name])
    made["locating"] = _opened(made["locating"], trials["equalities"])
    return made | {"ru_map": _ru_map(made["locating"])}


def _opened(located: pd.DataFrame, equalities: pd.DataFrame) -> pd.DataFrame:
    """Add what equal differences give of the same embeddings; nan where no number is a difference of coordinates."""
    embedding = find("lipschitz_embedding")
    exact = equalities[equalities["rounding_km"] == 0]
    measures = [name for name in exact if name.startswith("equalities_")]
    if exact.empty:
        return located
    size = [
        embedding.told_options({"n_reference_sets": d, "reference_set_size": k})
        for d, k in zip(exact["n_reference_sets"], exact["reference_set_size"], strict=True)
    ]
    exact = exact[measures].assign(label=embedding.label, size=size, dataset=exact["dataset"])
    return located.merge(exact, on=["label", "size", "dataset"], how="left", validate="many_to_one")


def claims(_plan: Profile, _seed: int, frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the ledger: every claim beside what was found."""
    return statements.comparison(frames)


_BY = ["scenario", "alpha", "n_reference_sets", "reference_set_size"]


def _summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Return every measure's mean over data sets, of each data set's mean over its releases, with standard error."""
    measures = ["precision", "recall", "n_links", "strong_precision", "strong_recall", "strong_n_links", "density"]
    measures += ["precision_lowest", "precision_mean", "precision_highest"]
    averages = frame.groupby([*_BY, "dataset"], as_index=False, sort=False)[measures].mean()
    tidy = grid.summarise(averages, _BY, measures=measures)
    proven = frame.groupby(_BY, as_index=False)[["is_optimal", "strong_is_optimal"]].mean()
    return tidy.merge(proven.set_axis([*_BY, "share_proven", "strong_share_proven"], axis=1), on=_BY)


def _labelled(located: pd.DataFrame) -> pd.DataFrame:
    """Add what figures say of a release: the method's label, and its options in words."""
    told = [
        (ORIGINAL, "") if method == ORIGINAL else (find(method).label, find(method).told_options(options))
        for method, options in zip(located["method"], located["options"], strict=True)
    ]
    return located.drop(columns="options").assign(label=[label for label, _ in told], size=[size for _, size in told])


def _ru_map(located: pd.DataFrame) -> pd.DataFrame:
    small_kept = 1 - (located["small_error_km"] / 25.0).clip(upper=1.0)
    located = located.assign(small_distances_kept=small_kept, worst_within_5km=_worst(located))
    neighbours = ("nearest_neighbour", "correct nearest neighbours")
    small = ("small_distances_kept", "1 - mean error of distances below 25 km / 25 km")
    clusters = ("clusters_ari", "adjusted Rand index of 10 clusters")
    weights = ("gwr_overlap", "overlap of GWR weights, 100 km")
    clique = ("clique_precision", "precision of the clique attack, alpha 0.5")
    worst = ("worst_within_5km", "located within 5 km, by the worst of three attacks")
    # A rigid motion keeps every distance: it is the anchor "original" by another name.
    methods = located[~located["method"].isin([ORIGINAL, "rigid_motion"])]
    frames = []
    for (risk, attack), (utility, analysis) in [
        (clique, neighbours),
        (worst, neighbours),
        (clique, weights),
        (worst, weights),
        (worst, small),
        (worst, clusters),
    ]:
        frame = ru_frame(
            methods, method="label", parameter="size", risk=risk, utility=utility, attack=attack, analysis=analysis
        )
        exact_risk = located.loc[located["method"] == ORIGINAL, risk].mean()
        frames.append(anchor_both(frame, risk=exact_risk))
    return pd.concat(frames, ignore_index=True)


def _worst(located: pd.DataFrame) -> pd.Series:
    """Return each release's share located within 5 km by the attack that locates most.

    The setting's mean stands for data sets that were not opened by their equalities.
    """
    shares = located[["multilateration_within_5km", "registration_within_5km"]]
    if "equalities_within_5km" in located:
        opened = located["equalities_within_5km"]
        mean = opened.groupby([located["label"], located["size"]]).transform("mean")
        shares = shares.assign(equalities=opened.fillna(mean))
    return shares.max(axis=1)


def _shown(seed: int) -> dict[str, pd.DataFrame]:
    """Return what figures 1, 3 and 4 show: one coordinate of a point, and the files of both scenarios."""
    rng = np.random.default_rng([seed, 1])
    lat, lon = points_in_area(work.united_kingdom(), 4, rng=rng)
    distances = great_circle_cross_km(lat[:1], lon[:1], lat[1:], lon[1:])[0]
    coordinate = pd.DataFrame(
        {
            "role": ["p", "r1", "r2", "r3"],
            "lat_deg": lat,
            "lon_deg": lon,
            "distance_km": [distances.min(), *distances],
        }
    )
    files = [_points(scenario(name, seed)) for name in SCENARIOS]
    places = work.city_pairs()
    between = great_circle_km(places["lat_deg"], places["lon_deg"])
    pairs = pd.DataFrame({"pair": work.PAIRS, "distance_km": [between[i, i + 1] for i in (0, 2, 4)]})
    return {"coordinate": coordinate, "city_pairs": pairs, "files": pd.concat(files, ignore_index=True)}


def _points(files: Scenario) -> pd.DataFrame:
    parts = [
        table[["lat_deg", "lon_deg"]].assign(
            scenario=files.name, source=files.source, file=name, common=table.index.isin(files.truth[column])
        )
        for name, table, column in (("target", files.original, "release"), ("identification", files.known, "known"))
    ]
    return pd.concat(parts, ignore_index=True)
