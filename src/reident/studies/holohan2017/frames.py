"""From the plan of the study to its sweeps, and from their trials to the frames that figures and pages show."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reident.studies.holohan2017 import EPSILONS, Profile, readings, summaries
from reident.studies.holohan2017.differencing import differencing_trial
from reident.studies.holohan2017.lists import POPULATIONS, lists_trial, plausible
from reident.studies.holohan2017.trials import (
    CONDITIONS,
    classes_trial,
    minimality_trial,
    modes_trial,
    noise_trial,
    published_trial,
    time_trial,
)
from reident.studies.study import Sweep

__all__ = ["claims", "frames", "sweeps"]

#: Standard deviations of heights and weights, as a share of the survey's.
SPREADS = (1.0, 0.5, 0.4, 0.33)


def sweeps(plan: Profile, seed: int) -> dict[str, Sweep]:
    """Return the sweeps; the seed also draws heights, weights and voter lists."""
    common: dict[str, list[Any]] = {"data_seed": [seed], "small": [plan.small], "spread": [plan.spread]}
    pairs = {"dataset": list(plan.datasets), "method": list(plan.algorithms)}
    ola = {"loss": [plan.loss], "suppression_limit": [plan.suppression_limit]}
    # Figure 6 and the text ask for 99 %.
    confidences = {"confidences": [sorted({*plan.confidences, 0.99})]}
    modes = {"mode": ["class range", "public bounds"], "method": ["mondrian"], "k": [2, 10, 50], "epsilon": EPSILONS}
    lists: dict[str, Any] = {
        "grid": {
            "dataset": [name for name in plan.datasets if name != "adult"],
            "population": list(POPULATIONS),
            "ks": [plan.ks],
            "small": [plan.small],
            **ola,
        },
        "trial": lists_trial,
        "repetitions": plan.lists,
        # The same streams for every population.
        "shared": ["population", "ks", *ola],
    }
    return {
        "classes": {
            "grid": {**pairs, "k": plan.ks, **common, **ola},
            "trial": classes_trial,
            "shared": list(CONDITIONS),
        },
        "noise": {
            "grid": {**pairs, "k": plan.ks, "epsilon": plan.epsilons, **common, **ola, **confidences},
            "trial": noise_trial,
            "shared": [*CONDITIONS, "confidences"],
            "repetitions": plan.repetitions,
        },
        "modes": {
            "grid": {**modes, **common},
            "trial": modes_trial,
            "repetitions": plan.repetitions,
            "shared": ["spread"],
        },
        "minimality": {
            "grid": {"k": [2, 5, 10], "ell": [2, 3, 4], "n_draws": [500 if plan.small else 2000], **common},
            "trial": minimality_trial,
            "shared": ["spread"],
        },
        "differencing": {
            "grid": {
                "mode": ["class range", "public bounds"],
                "method": ["ola", "mondrian"],
                "k": [10],
                "epsilon": EPSILONS,
                **common,
            },
            "trial": differencing_trial,
            "repetitions": min(plan.repetitions, 10),
            "shared": ["spread"],
        },
        # Half and a third of the survey's spread: what would explain two of the paper's numbers.
        "spreads": {
            "grid": [
                {"dataset": dataset, "method": method, "k": k, "data_seed": seed, "small": plan.small, "spread": spread}
                for dataset, method, ks in (
                    ("adult", "ola", [20, 50, 100]),
                    ("michigan", "ola", [100]),
                    ("michigan", "mondrian", [100]),
                )
                for k in ks
                for spread in SPREADS
            ],
            "trial": classes_trial,
        },
        **({"lists": lists} if lists["grid"]["dataset"] else {}),
        "times_published": {
            "grid": {**pairs, "k": plan.time_ks, **common, **ola},
            "trial": published_trial,
            "shared": list(CONDITIONS),
            "jobs": 1,
            "scheduler": None,
        },
        # Times are measured in this process, one after the other.
        "times": {
            "grid": {**pairs, "k": plan.time_ks, **common, **ola},
            "trial": time_trial,
            "shared": list(CONDITIONS),
            "repetitions": plan.time_repetitions,
            "jobs": 1,
            "scheduler": None,
        },
    }


def frames(plan: Profile, seed: int, trials: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the trials of every sweep, and what is drawn: errors, the lattice, readings of table IV, the maps."""
    fixed = [*CONDITIONS, "confidences", "ks"]
    made = {
        name: frame.drop(
            columns=[column for column in fixed if (name, column) != ("spreads", "spread")], errors="ignore"
        )
        for name, frame in trials.items()
    }
    return {
        **made,
        "noise_summary": summaries.noise_summary(made["noise"]),
        "errors": summaries.error_distributions(plan, seed),
        "lattice": summaries.lattice(plan, seed),
        "ru": summaries.ru(made["noise"], made["modes"]),
        "readings": summaries.readings(plan, seed),
        "plausible": plausible(made.get("lists"), plan.ks, small=plan.small),
    }


def claims(plan: Profile, _seed: int, frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the ledger: every claim beside what was found."""
    return readings.comparison(frames, small=plan.small)
