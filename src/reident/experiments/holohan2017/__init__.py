"""Holohan et al. (2017): (k, epsilon)-anonymity on Adult and on two simulated voter lists.

The voter lists of the paper name living people and are not used: lists of their sizes are drawn (`reident.people`).
What the paper prints about them is shown beside what the drawn lists give, never counted as reproduced.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from reident._validation import check_choice
from reident.experiments import grid, study
from reident.experiments.holohan2017 import summaries
from reident.experiments.holohan2017.cases import CASES, METHODS
from reident.experiments.holohan2017.minimality import minimality_trial
from reident.experiments.holohan2017.trials import classes_trial, modes_trial, noise_trial, time_trial
from reident.experiments.study import Results

__all__ = ["PROFILES", "run"]

STUDY = "holohan2017"

_K = [2, 5, 10, 20, 50, 100]
_EPSILON = [0.05, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0]

#: `small` cuts every data set to its first 1,500 records.
PROFILES: dict[str, dict[str, Any]] = {
    "smoke": {"k": [2, 10], "epsilon": [0.5, 8.0], "repetitions": 2, "time_k": [10], "time_repetitions": 1, "small": 1},
    "quick": {
        "k": _K,
        "epsilon": [0.05, 0.5, 2.0, 8.0],
        "repetitions": 2,
        "time_k": [5, 20, 100],
        "time_repetitions": 1,
        "small": 0,
    },
    "full": {"k": _K, "epsilon": _EPSILON, "repetitions": 30, "time_k": _K, "time_repetitions": 5, "small": 0},
}


def run(
    profile: str = "quick",
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    seed: int = 2017,
    folder: str | Path | None = None,
    progress: bool = True,
) -> Results:
    """Run the study.

    Parameters
    ----------
    profile : {"smoke", "quick", "full"}
        "full" is the paper's grid with its 30 runs; "quick" has every k, four epsilons and 2 runs; "smoke" a corner of
        it on the first 1,500 records of each data set.
    jobs, scheduler, folder, progress
        As for `reident.experiments.grid.run`. Times are always measured in this process, one after the other.
    seed : int
        Of the drawn heights, weights and voter lists, and of all noise.

    Returns
    -------
    Results
        Frames: classes, noise, noise_summary, errors, times, modes, minimality, lattice, ru, readings.
    """
    chosen = PROFILES[check_choice(profile, "profile", tuple(PROFILES))]
    common: dict[str, list[Any]] = {"data_seed": [seed], "small": [bool(chosen["small"])]}
    spread = study.engine(seed=seed, folder=folder, jobs=jobs, scheduler=scheduler, progress=progress)
    pairs: dict[str, list[Any]] = {"dataset": list(CASES), "method": list(METHODS)}
    classes = grid.run({**pairs, "k": chosen["k"], **common}, classes_trial, stem=f"{STUDY}-classes", **spread)
    noise = grid.run(
        {**pairs, "k": chosen["k"], "epsilon": chosen["epsilon"], **common},
        noise_trial,
        stem=f"{STUDY}-noise",
        repetitions=chosen["repetitions"],
        **spread,
    )
    modes = grid.run(
        {
            "mode": ["class range", "public bounds"],
            "method": ["mondrian"],
            "k": [2, 10, 50],
            "epsilon": _EPSILON,
            **common,
        },
        modes_trial,
        stem=f"{STUDY}-modes",
        repetitions=chosen["repetitions"],
        **spread,
    )
    minimality = grid.run(
        {"k": [2, 5, 10], "ell": [2, 3, 4], "n_draws": [500 if chosen["small"] else 2000], **common},
        minimality_trial,
        stem=f"{STUDY}-minimality",
        **spread,
    )
    times = grid.run(
        {**pairs, "k": chosen["time_k"], **common},
        time_trial,
        stem=f"{STUDY}-times",
        repetitions=chosen["time_repetitions"],
        **{**spread, "jobs": 1, "scheduler": None},
    )
    frames: dict[str, pd.DataFrame] = {
        "classes": classes,
        "noise": noise,
        "noise_summary": summaries.noise_summary(noise),
        "errors": summaries.error_distributions(seed, small=bool(chosen["small"])),
        "times": times,
        "modes": modes,
        "minimality": minimality,
        "lattice": summaries.lattice(seed, small=bool(chosen["small"])),
        "ru": summaries.ru(noise, modes),
        "readings": summaries.readings(chosen["k"], seed, small=bool(chosen["small"])),
    }
    return Results(STUDY, profile, seed, frames, summaries.comparison(frames, small=bool(chosen["small"]))).kept(folder)
