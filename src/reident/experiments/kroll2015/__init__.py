"""Study kroll2015: linking two files by noisy distances (M. Kroll, Trans. Data Privacy 8, 2015).

Files, noise and attack follow section 5 of the paper. Three things that the paper does not state are choices of this
study, and the notebook says so:

- *Point pattern.* The addresses of the paper were never published. Homes are drawn here from German places by
  population, with a normal jitter of `JITTER_KM` around the place's centre. The jitter decides how hard the attack is
  and was calibrated to the printed precision at alpha >= .3: over 18 cells the mean difference from print was -.009 at
  10 km and +.029 at 12 km. Uniform points are far too easy to attack.
- *Window rule.* One sample of 1000 pairs a setting and data set gives the window for all repetitions, as in the paper.
- *Tie rule.* Of all maximum cliques the attack claims one at random, each equally likely. For small alpha that decides
  the outcome.

The paper attacked one data set whose points are unknown. Repetitions here are spread over several data sets, and a
printed number agrees if it lies in the interval that the next data set's average would fall in with 95 % probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident._validation import check_choice
from reident.experiments import grid, study
from reident.experiments.kroll2015 import summaries
from reident.experiments.kroll2015.examples import example_2, example_10
from reident.experiments.kroll2015.trials import JITTER_KM, QUASI, files, shown, trial, variant_trial
from reident.experiments.study import Results
from reident.rumap import NOTHING, ORIGINAL, anchor, ru_frame

__all__ = ["JITTER_KM", "PROFILES", "QUASI", "Profile", "files", "run", "trial", "variant_trial"]

_STEM = "kroll2015"

#: Share of agreeing distances among the matches of a quasi-clique, each match with the others.
_GAMMA = 0.9


@dataclass(frozen=True)
class Profile:
    """How much of the grid a profile covers."""

    sigmas_deg: list[float]
    alphas: list[float]
    n_datasets: int
    repetitions: int
    distance_sigmas_km: list[float]
    variant_repetitions: int


_SIGMAS_DEG = [0.005, 0.010, 0.015, 0.020, 0.025, 0.030, 0.035, 0.040, 0.045, 0.050]
_ALPHAS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]

PROFILES = {
    "smoke": Profile([0.01], [0.1, 0.5], 2, 1, [5.0], 1),
    "quick": Profile([0.005, 0.020, 0.035, 0.050], [0.1, 0.3, 0.5, 0.7, 0.9], 3, 2, [1.0, 3.0, 7.0], 2),
    "full": Profile(_SIGMAS_DEG, _ALPHAS, 10, 10, [0.7, 1.4, 2.1, 3.4, 4.9, 7.0, 10.0], 10),
}


def run(
    profile: str = "quick",
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    seed: int = 2015,
    folder: str | Path | None = None,
    progress: bool = True,
) -> Results:
    """Run the study.

    Parameters
    ----------
    profile : {"smoke", "quick", "full"}
        How much of the grid: `PROFILES`. Full is the paper's: 10 sigmas, 9 alphas, 100 repetitions.
    jobs, scheduler, progress
        As for `reident.experiments.grid.run`.
    seed : int
        Root of the trials' streams; data sets are numbered from it.
    folder : path, optional
        Where finished trials are kept and the results are written; an interrupted run goes on there.

    Returns
    -------
    Results
        Frames: `trials`, `summary`, `ties`, `deviations`, `ru_map`, `ru_variants`, and what figures 1 to 4 and 7 show.
    """
    plan = PROFILES[check_choice(profile, "profile", list(PROFILES))]
    datasets = [seed + i for i in range(plan.n_datasets)]
    # The examples come first: they compile the kernels once, before several workers would do it side by side.
    drawn = {**example_2(), **example_10(), **shown(datasets[0])}
    engine = study.engine(seed=seed, folder=folder, jobs=jobs, scheduler=scheduler, progress=progress)
    trials = grid.run(
        {"sigma_deg": plan.sigmas_deg, "alpha": plan.alphas, "dataset": datasets},
        trial,
        repetitions=plan.repetitions,
        stem=_STEM,
        shared=["alpha"],
        **engine,
    )
    summary = summaries.summarise(trials)
    deviations = summaries.deviations(plan.sigmas_deg, seed)
    frames = {
        "trials": trials,
        "summary": summary,
        "agreement": summaries.agreement(summary),
        "ties": summaries.ties(trials),
        "deviations": deviations,
        "ru_map": _ru_map(trials),
        "ru_variants": _variants(plan, datasets, engine),
        **drawn,
    }
    return Results("kroll2015", profile, seed, frames, summaries.comparison(frames)).kept(folder)


def _ru_map(trials: pd.DataFrame) -> pd.DataFrame:
    at = min(trials["alpha"].unique(), key=lambda alpha: abs(alpha - 0.5))
    frame = ru_frame(
        trials[trials["alpha"] == at],
        method="coordinate noise",
        parameter="sigma_deg",
        risk="precision",
        utility="utility_per_km2",
        attack=f"precision of the clique attack, alpha {at:g}",
        analysis="1 / variance of d - d', per km$^2$",
    )
    return _anchored(frame)


def _anchored(frame: pd.DataFrame) -> pd.DataFrame:
    """Add what is known without a run: exact distances err nowhere, nothing released can be neither used nor linked.

    Exact distances are linked with precision 1 up to coinciding records.
    """
    return anchor(anchor(frame, ORIGINAL, risk=1.0, utility=np.inf), NOTHING, risk=0.0, utility=0.0)


def _variants(plan: Profile, datasets: list[int], engine: dict[str, Any]) -> pd.DataFrame:
    """Run noise on coordinates and on distances against cliques and quasi-cliques; return one map with two panels."""
    sizes = [{"method": "coordinate noise", "sigma_deg": s} for s in plan.sigmas_deg]
    sizes += [{"method": "distance noise", "sigma_km": s} for s in plan.distance_sigmas_km]
    settings = [
        {**size, "alpha": 0.5, "gamma": gamma, "dataset": dataset}
        for gamma in (1.0, _GAMMA)
        for size in sizes
        for dataset in datasets
    ]
    trials = grid.run(
        settings,
        variant_trial,
        repetitions=-(-plan.variant_repetitions // len(datasets)),
        stem=f"{_STEM}-variants",
        shared=["gamma"],
        **engine,
    )
    in_degrees, in_km = trials["sigma_deg"].map("{:g} deg".format), trials["sigma_km"].map("{:g} km".format)
    trials["size"] = in_degrees.where(trials["sigma_deg"].notna(), in_km)
    panels = []
    for gamma, name in ((1.0, "clique attack"), (_GAMMA, f"{_GAMMA:g}-quasi-clique attack")):
        part = trials[trials["gamma"].eq(gamma)]
        frame = ru_frame(
            part,
            method="method",
            parameter="size",
            risk="precision",
            utility="utility_per_km2",
            attack=f"precision of the {name}, alpha 0.5",
            analysis="1 / variance of d - d', per km$^2$",
        )
        panels.append(_anchored(frame))
    return pd.concat(panels, ignore_index=True)
