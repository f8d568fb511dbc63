"""Vanhoef (2012), chapters 3, 5, 6 and 7.4: tables, composition of releases, and differential privacy.

Embedded data: tables 3.1 and 3.2, UCI Adult. The power grid is used where its file is at hand (`datasets.load_graph`);
without it the degree sequences are those of networkx's own and of generated graphs. Noise is seeded throughout: what
runs here is a simulation and releases nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident._random import trial_seed
from reident._validation import check_choice, check_integer
from reident.experiments import grid, study
from reident.experiments.study import Results
from reident.experiments.vanhoef2012_tables import mechanisms, tables
from reident.experiments.vanhoef2012_tables.statements import compare_with_print
from reident.rumap import NOTHING, ORIGINAL, anchor, ru_frame

__all__ = ["PROFILES", "run"]

STUDY = "vanhoef2012_tables"

#: k, then l and t on top of the smallest k.
_CRITERIA: dict[str, dict[str, list[float]]] = {
    "smoke": {"k": [5, 25], "l": [3], "t": [0.4]},
    "quick": {"k": [3, 5, 10, 25], "l": [2, 3, 4, 6], "t": [0.6, 0.5, 0.4, 0.3]},
    "full": {"k": [2, 3, 5, 10, 25, 50, 100], "l": [2, 3, 4, 5, 6, 8], "t": [0.7, 0.6, 0.5, 0.4, 0.3, 0.2]},
}
_EPSILONS: dict[str, list[float]] = {
    "smoke": [0.1, 1.0],
    "quick": [0.05, 0.1, 0.2, 0.5, 1.0, 2.0],
    "full": [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 4],
}

#: Repetitions and sizes. "people": (common to all releases, own to each release).
PROFILES: dict[str, dict[str, Any]] = {
    "smoke": {"repetitions": 2, "people": (150, 150), "simulations": 5, "loss_answers": 300, "points": 500},
    "quick": {"repetitions": 5, "people": (1200, 1200), "simulations": 40, "loss_answers": 1000, "points": 10_000},
    "full": {
        "repetitions": 30,
        "people": (10_000, 6_000),
        "simulations": 300,
        "loss_answers": 20_000,
        "points": 10_000,
    },
}

#: The number of releases that the risk-utility map is about.
MAP_RELEASES = 3


def run(
    profile: str = "quick",
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    seed: int = 2012,
    folder: str | Path | None = None,
    progress: bool = True,
) -> Results:
    """Run the study.

    Parameters
    ----------
    profile : {"smoke", "quick", "full"}
        How much: seconds (to see that it runs), under a minute, or the numbers to quote.
    jobs : int
        Processes.
    scheduler : str, optional
        Address of a dask scheduler to use instead.
    seed : int
        The seed of every stream.
    folder : path, optional
        Where finished trials and the results are kept; a second run goes on there.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Results
        The frames that the figures read, and the comparison with print.
    """
    check_choice(profile, "profile", list(PROFILES))
    check_integer(seed, "seed", low=0)
    sizes = PROFILES[profile]
    how = study.engine(seed=seed, folder=folder, jobs=jobs, scheduler=scheduler, progress=progress)

    def sweep(name: str, settings: Any, trial: Any, repetitions: int, shared: tuple[str, ...] = ()) -> pd.DataFrame:
        return grid.run(settings, trial, repetitions=repetitions, stem=f"{STUDY}-{name}", shared=shared, **how)

    frames = _tables_part(profile, sizes, sweep, seed) | _mechanisms_part(profile, sizes, sweep)
    frames |= _maps(frames)
    return Results(STUDY, profile, seed, frames, compare_with_print(frames, seed=seed)).kept(folder)


def _tables_part(profile: str, sizes: dict[str, Any], sweep: Any, seed: int) -> dict[str, pd.DataFrame]:
    n_common, n_own = sizes["people"]
    fixed = {"n_common": n_common, "n_own": n_own}
    criteria = _CRITERIA[profile]
    base = criteria["k"][0]
    settings = [
        {"criterion": criterion, "k": value if criterion == "k" else base, "strength": value, "sensitive": "occupation",
         "shuffled": False, **fixed}
        for criterion, values in criteria.items()
        for value in values
    ]  # fmt: skip
    settings.append({**settings[0], "criterion": "none", "k": 1, "strength": 1})
    entropy = [
        {"criterion": "k", "k": 5, "strength": 5, "sensitive": name, "shuffled": shuffled, **fixed}
        for name in tables.SENSITIVE
        for shuffled in (False, True)
    ]
    same = ("criterion", "k", "strength")
    intersection = sweep("intersection", settings, tables.intersection_trial, sizes["repetitions"], same)
    by_entropy = sweep("entropy", entropy, tables.intersection_trial, sizes["repetitions"], same)
    responses = sweep(
        "responses",
        {"truth_probability": [0.1, 0.25, 0.5, 0.75, 0.9], "n": [1000], "share": [0.3]},
        tables.response_trial,
        5 * sizes["simulations"],
    )
    rng = np.random.default_rng(trial_seed(seed, STUDY, {"part": "query systems"}, None))
    return {
        "examples": tables.example_measures(),
        "breaches": tables.example_breaches(),
        "intersection": tables.by_releases(intersection),
        "entropy": tables.by_releases(by_entropy),
        "responses": responses,
        **tables.query_system_failures(rng, n_repeats=3 if profile == "smoke" else 20),
    }


def _mechanisms_part(profile: str, sizes: dict[str, Any], sweep: Any) -> dict[str, pd.DataFrame]:
    epsilons, many = _EPSILONS[profile], sizes["simulations"]
    losses = [
        {"mechanism": name, "epsilon": epsilon, "n": sizes["loss_answers"] * (20 if vectorised else 1)}
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
    points = {"variant": list(mechanisms.KMEANS_VARIANTS), "epsilon": epsilons, "n": [sizes["points"]]}
    planes = {
        "method": ["exponential mechanism", "exponential mechanism, monotone score", "noise on coordinates"],
        "epsilon": epsilons,
    }
    densities = [
        {"universe": universe, "epsilon": epsilon, "density": 0.3, "variant": "corrected"}
        for universe in (100, 1000, 10_000)
        for epsilon in (0.1, 0.2, 0.5, 1.0, 1.5)
    ]
    degrees = {"graph": mechanisms.available_graphs(), "epsilon": epsilons, "k": [1, 5]}
    game = {
        "mechanism": ["histogram", "a query a category", "randomised response"],
        "epsilon": epsilons,
        "n": [2000],
        "games": [2000],
    }
    few = max(sizes["repetitions"], min(many, 30))
    return {
        **mechanisms.noise_curves(),
        "losses": sweep("losses", losses, mechanisms.loss_trial, 1),
        "kmeans": sweep("kmeans", points, mechanisms.kmeans_trial, max(5, few // 2), ("variant", "epsilon")),
        "hyperplane_points": mechanisms.hyperplane_points(),
        "hyperplane": sweep("hyperplane", planes, mechanisms.hyperplane_trial, 4 * many, ("method",)),
        "density": sweep("density", densities, mechanisms.density_trial, many, ("epsilon",)),
        "density_losses": mechanisms.density_losses(),
        "degrees": sweep("degrees", degrees, mechanisms.degree_trial, max(5, few // 3), ("graph", "epsilon", "k")),
        "game": sweep("game", game, mechanisms.game_trial, few, ("mechanism", "epsilon")),
    }


def _maps(frames: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    trials = frames["intersection"]
    trials = trials[trials["n_releases"] == MAP_RELEASES]
    anonymity = ru_frame(
        trials[trials["criterion"] != "none"].assign(method=trials["criterion"].map(tables.CRITERIA)),
        method="method",
        parameter="strength",
        risk="perfect",
        utility="utility",
        attack=f"share of people disclosed by {MAP_RELEASES} releases",
        analysis="1 - normalised certainty penalty of the quasi-identifiers",
    )
    anonymity["parameter"] = anonymity["method"].map({name: short for short, name in tables.CRITERIA.items()})
    raw = float(trials.loc[trials["criterion"] == "none", "perfect"].mean())
    anonymity = anchor(anchor(anonymity, ORIGINAL, risk=raw, utility=1.0), NOTHING, risk=0.0, utility=0.0)
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
