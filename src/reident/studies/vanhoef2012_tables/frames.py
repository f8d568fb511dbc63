"""From the plan of the study to its sweeps, and from their trials to the frames that figures and pages show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from reident import ru_frame
from reident.base import trial_seed
from reident.rumap import NOTHING, ORIGINAL, anchor, anchor_both
from reident.studies.study import Sweep
from reident.studies.vanhoef2012_tables import Profile, argument, histories, mechanisms, tables
from reident.studies.vanhoef2012_tables.statements import compare_with_print

__all__ = ["claims", "frames", "sweeps"]

#: The number of releases that the risk-utility map is about, or the nearest that was looked at.
_MAP_RELEASES = 3


def sweeps(plan: Profile, _seed: int) -> dict[str, Sweep]:
    """Return the sweeps about tables and those about mechanisms."""
    return {**_table_sweeps(plan), **_mechanism_sweeps(plan), **_argument_sweeps(plan)}


def _table_sweeps(plan: Profile) -> dict[str, Sweep]:
    fixed = {"n_common": plan.n_common, "n_own": plan.n_own, "releases": sorted(plan.releases)}
    criteria: dict[str, Sequence[float]] = {"k": plan.ks, "l": plan.ell, "t": plan.t}
    settings = [
        {"criterion": criterion, "k": value if criterion == "k" else plan.ks[0], "strength": value,
         "sensitive": "occupation", "shuffled": False, **fixed}
        for criterion, values in criteria.items()
        for value in values
    ]  # fmt: skip
    settings.append({**settings[0], "criterion": "none", "k": 1, "strength": 1})
    entropy = [
        {"criterion": "k", "k": 5, "strength": 5, "sensitive": name, "shuffled": shuffled, **fixed}
        for name in plan.attributes
        for shuffled in (False, True)
    ]
    domains = [{**entropy[0], "sensitive": name} for name in tables.DOMAINS]
    intersected = {
        "trial": tables.intersection_trial,
        "repetitions": plan.repetitions,
        "shared": ["criterion", "k", "strength", "releases"],
    }
    return {
        "intersection": {"grid": settings, **intersected},
        "entropy": {"grid": entropy, **intersected},
        "domain": {"grid": domains, **intersected},
        "responses": {
            "grid": {"truth_probability": [0.1, 0.25, 0.5, 0.75, 0.9], "n": [1000], "share": [0.3]},
            "trial": tables.response_trial,
            "repetitions": 5 * plan.simulations,
        },
    }


def _mechanism_sweeps(plan: Profile) -> dict[str, Sweep]:
    epsilons, many = plan.epsilons, plan.simulations
    few = max(plan.repetitions, min(many, 30))
    losses = [
        {"mechanism": name, "epsilon": epsilon, "n": plan.loss_answers * (20 if vectorised else 1)}
        for name, vectorised in (
            ("count", True),
            ("count, half the noise", True),
            ("randomised response", True),
            ("exponential mechanism", False),
            ("density as corrected", False),
            ("density as printed", False),
        )
        for epsilon in (0.25, 1.0)
    ]
    planes = ["exponential mechanism", "exponential mechanism, monotone score", "noise on coordinates"]
    densities = [
        {"universe": universe, "epsilon": epsilon, "density": 0.3, "variant": "corrected"}
        for universe in (100, 1000, 10_000)
        for epsilon in (0.1, 0.2, 0.5, 1.0, 1.5)
    ]
    answers = ["histogram", "a query a category", "randomised response"]
    return {
        "losses": {"grid": losses, "trial": mechanisms.loss_trial},
        "kmeans": {
            "grid": {"variant": list(mechanisms.KMEANS_VARIANTS), "epsilon": epsilons, "n": [plan.points]},
            "trial": mechanisms.kmeans_trial,
            "repetitions": max(5, few // 2),
            "shared": ["variant", "epsilon"],
        },
        "hyperplane": {
            "grid": {"method": planes, "epsilon": epsilons},
            "trial": mechanisms.hyperplane_trial,
            "repetitions": 4 * many,
            "shared": ["method"],
        },
        "density": {
            "grid": densities,
            "trial": mechanisms.density_trial,
            "repetitions": many,
            "shared": ["epsilon"],
        },
        "degrees": {
            "grid": {"graph": mechanisms.available_graphs(), "epsilon": epsilons, "k": [1, 5]},
            "trial": mechanisms.degree_trial,
            "repetitions": max(5, few // 3),
            "shared": ["graph", "epsilon", "k"],
        },
        "game": {
            "grid": {"mechanism": answers, "epsilon": epsilons, "n": [2000], "games": [2000]},
            "trial": mechanisms.game_trial,
            "repetitions": few,
            "shared": ["mechanism", "epsilon"],
        },
    }


def _argument_sweeps(plan: Profile) -> dict[str, Sweep]:
    """Return tables released several times beside histograms, and node privacy beside edge privacy."""
    few = max(2, plan.repetitions // 3)
    methods = [
        {"method": method, "strength": strength}
        for method in argument.METHODS
        for strength in ((0.1, 0.5, 2.0, 10.0) if method.startswith("Laplace") else (3, 10))
    ]
    fixed = {"n_common": plan.n_common, "n_own": plan.n_own, "releases": [1, 2, 3, 4, 5]}
    hidden = ["an edge", "five edges", "a node"]
    users, items, ratings = plan.rated
    rated = {
        "defence": list(histories.DEFENCES), "n_known": [1, 2, 3, 4, 6, 8], "attacks": [plan.rating_attacks],
        "n_users": [users], "n_items": [items], "n_ratings": [ratings],
    }  # fmt: skip
    # There are far more terms to search for than titles to rent, most of them of few people.
    searched = {**rated, "defence": list(histories.SEARCH_DEFENCES), "n_items": [10 * items]}
    return {
        "ratings": {"grid": rated, "trial": histories.netflix_trial, "repetitions": 2},
        "searches": {"grid": searched, "trial": histories.search_trial, "repetitions": 2},
        "argument": {
            "grid": [{**one, **fixed} for one in methods], "trial": argument.argument_trial, "repetitions": few,
            "shared": ["method", "strength"],
        },
        "nodes": {
            "grid": {"graph": mechanisms.available_graphs(), "epsilon": plan.epsilons, "hidden": hidden},
            "trial": argument.node_trial,
            "repetitions": 2 * few,
        },
    }  # fmt: skip


def frames(plan: Profile, seed: int, trials: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the trials of every sweep, the examples of the text, the query systems' failures, and the maps."""
    rng = np.random.default_rng(trial_seed(seed, "vanhoef2012_tables", {"part": "query systems"}, None))
    intersected = {name: tables.by_releases(trials[name]) for name in ("intersection", "entropy", "domain")}
    made = {
        **trials,
        **intersected,
        "argument": argument.by_answers(trials["argument"]),
        "examples": tables.example_measures(),
        "breaches": tables.example_breaches(),
        **tables.query_system_failures(rng, n_repeats=plan.query_repeats),
        **mechanisms.noise_curves(),
        "hyperplane_points": mechanisms.hyperplane_points(),
        "density_losses": mechanisms.density_losses(),
    }
    return made | _maps(made)


def claims(_plan: Profile, seed: int, frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the comparison with print."""
    return compare_with_print(frames, seed=seed)


def _maps(frames: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    trials = frames["intersection"]
    n = min(trials["n_releases"].unique(), key=lambda n: abs(n - _MAP_RELEASES))
    trials = trials[trials["n_releases"] == n]
    anonymity = ru_frame(
        trials[trials["criterion"] != "none"].assign(method=trials["criterion"].map(tables.CRITERIA)),
        method="method",
        parameter="strength",
        risk="perfect",
        utility="utility",
        attack=f"share of people disclosed by {n} release{'s' if n > 1 else ''}",
        analysis="1 - normalised certainty penalty of the quasi-identifiers",
    )
    anonymity["parameter"] = anonymity["method"].map({name: short for short, name in tables.CRITERIA.items()})
    raw = float(trials.loc[trials["criterion"] == "none", "perfect"].mean())
    anonymity = anchor_both(anonymity, risk=raw)
    game = frames["game"]
    noise = ru_frame(
        game.rename(columns={"mechanism": "method"}),
        method="method",
        parameter="epsilon",
        risk="guessed",
        utility="utility",
        attack="right guesses between a person's two values",
        analysis="1 - total variation distance of the distribution of education",
    )
    noise = anchor(noise, ORIGINAL, risk=1.0, utility=1.0)
    noise = anchor(noise, NOTHING, risk=0.5, utility=float(game["utility_nothing"].mean()))
    return {"ru_k_anonymity": anonymity, "ru_mechanisms": noise}
