"""Study abril2012: record linkage with learned weights (Abril, Navarro-Arribas, Torra, Ann. Oper. Res. 195, 2012).

Files of 400 records drawn from the CASC reference file Census are microaggregated in seven ways and linked to their
originals. What the paper does not say follows from its own table 1:

- *Columns.* "The first n variables" are those in the order of the CASC file; copies sorted by name give other ratios.
- *Protection.* MDAV on columns as they are. On standardised columns the mean distance links far more than printed.
- *Direction.* A released record is compared with all originals.
- *Draw.* The paper's 400 records are not published: ratios are distributions over draws here. Tables 3 to 5 and
  figures 1 and 2 show one stated draw, that of seed 6, picked among 60 because its simple-mean ratios are nearest to
  print.

Without the CASC file (see `reident.datasets.load_casc`) a simulated table of the same size stands in, and every figure
says so.
"""

from __future__ import annotations

import importlib.util
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident._validation import check_choice
from reident.anonymisers.microaggregation import microaggregate
from reident.attacks.attribute_leakage import attribute_leakage
from reident.errors import SearchLimitWarning
from reident.experiments import grid, study
from reident.experiments.abril2012 import summaries
from reident.experiments.abril2012.trials import (
    FILES,
    MODELS,
    available_data,
    masking_trial,
    probabilistic_trial,
    race_trial,
    shown,
    table,
    trial,
    variants,
    whole_trial,
)
from reident.experiments.study import Results
from reident.rumap import NOTHING, ORIGINAL, anchor, ru_frame

__all__ = ["PROFILES", "SHOWN_SEED", "Profile", "run"]

_STEM = "abril2012"

#: Seed of the draw that tables 3 to 5 and figures 1 and 2 show.
SHOWN_SEED = 6


@dataclass(frozen=True)
class Profile:
    """How much of the study a profile covers."""

    files: list[str]
    draws: int
    probabilistic_draws: int
    time_limit_s: float
    mask_draws: int
    resamples: int
    race_sizes: list[int]
    race_limit_s: float
    variant_limit_s: float
    whole_limit_s: float


PROFILES = {
    "smoke": Profile(["M4-33", "M7-999"], 2, 1, 5.0, 1, 3, [20], 2.0, 0.2, 0.5),
    "quick": Profile(FILES, 2, 1, 8.0, 5, 20, [20, 30], 8.0, 1.0, 3.0),
    "full": Profile(FILES, 20, 5, 120.0, 30, 50, [20, 30, 40], 30.0, 5.0, 300.0),
}

_MASKINGS: dict[str, list[float]] = {
    "microaggregation": [3, 5, 10, 25],
    "additive noise": [0.02, 0.05, 0.1, 0.25],
    "rank swapping": [1, 3, 8, 20],
    "rounding": [0.05, 0.2, 0.5, 1.0],
}


def run(
    profile: str = "quick",
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    seed: int = 2012,
    folder: str | Path | None = None,
    progress: bool = True,
    data: str | None = None,
) -> Results:
    """Run the study.

    Parameters
    ----------
    profile : {"smoke", "quick", "full"}
        Number of draws and time limits: `PROFILES`. Full has 20 draws, and 300 s for each proof on all 1,080 records.
    jobs, scheduler, progress
        As for `reident.experiments.grid.run`.
    seed : int
        Root of the trials' streams.
    folder : path, optional
        Where finished trials are kept and the results are written; an interrupted run goes on there.
    data : {"census", "simulated"}, optional
        The table drawn from; by default census if it is at hand.

    Returns
    -------
    Results
        Frames: `trials`, `ratios` (table 1), `times` (table 2), `race`, `measures` (tables 3, 4), `weights` (table 5),
        `shapley`, `lattice_nodes`, `lattice_edges`, `leakage`, `variants`, `ru_map`, `ru_maskings`, `whole`, `about`.
    """
    plan = PROFILES[check_choice(profile, "profile", list(PROFILES))]
    data = check_choice(available_data() if data is None else data, "data", ("census", "simulated"))
    engine = study.engine(seed=seed, folder=folder, jobs=jobs, scheduler=scheduler, progress=progress)
    # First, in this process: it compiles the kernels once, before several workers would do it side by side.
    learned = shown(data, SHOWN_SEED, plan.time_limit_s)
    settings: dict[str, list[Any]] = {"file": plan.files, "data": [data], "time_limit_s": [plan.time_limit_s]}
    trials = grid.run(settings, trial, repetitions=plan.draws, stem=_STEM, shared=["file", "time_limit_s"], **engine)
    trials = _with_probabilistic(trials, data, plan, engine)
    race = grid.run(
        {
            "data": [data],
            "n_records": plan.race_sizes,
            "method": ["milp", "benders"],
            "time_limit_s": [plan.race_limit_s],
        },
        race_trial,
        stem=f"{_STEM}-race",
        shared=["method", "n_records", "time_limit_s"],
        **engine,
    )
    ratios = summaries.ratios(trials)
    nodes, edges = summaries.lattices(learned)
    frames = {
        "trials": trials,
        "ratios": ratios,
        "times": summaries.times(trials),
        "race": race,
        "measures": summaries.measures(learned),
        "weights": summaries.weights(learned),
        "shapley": summaries.indices(learned),
        "lattice_nodes": nodes,
        "lattice_edges": edges,
        "leakage": _leakage(data, plan),
        "variants": variants(data, SHOWN_SEED, plan.variant_limit_s),
        "ru_map": _ru_map(trials),
        "ru_maskings": _maskings(data, plan, engine),
        "whole": _whole(data, plan, engine),
        "about": pd.DataFrame([{"data": data, "draws": plan.draws, "shown_seed": SHOWN_SEED}]),
    }
    return Results(_STEM, profile, seed, frames, summaries.comparison(ratios, data)).kept(folder)


def _with_probabilistic(trials: pd.DataFrame, data: str, plan: Profile, engine: dict[str, Any]) -> pd.DataFrame:
    """Add probabilistic linkage of the first draws, missing for the others and where splink is not installed."""
    if importlib.util.find_spec("splink") is None:
        return trials.assign(ratio_probabilistic=np.nan, tied_probabilistic=np.nan)
    # The stem and what is not shared are those of the trials, hence the streams and so the records drawn.
    found = grid.run(
        {"file": plan.files, "data": [data], "distance": ["probabilistic"]},
        probabilistic_trial,
        repetitions=plan.probabilistic_draws,
        stem=_STEM,
        shared=["file", "distance"],
        **engine,
    )
    measures = ["ratio_probabilistic", "tied_probabilistic"]
    return trials.merge(found[["file", "repetition", "seed_key", *measures]], how="left", validate="1:1")


def _ru_map(trials: pd.DataFrame) -> pd.DataFrame:
    """Return the map of the seven protections: learned Choquet linkage, inside and outside the records learned from."""
    panels = []
    for risk, where in (("ratio_choquet", "the records learned from"), ("outside_choquet", "400 other records")):
        frame = ru_frame(
            trials,
            method="microaggregation",
            parameter="file",
            risk=risk,
            utility="utility",
            attack=f"Choquet linkage, linked share of {where}",
            analysis="1 - information loss (SSE / SST)",
        )
        panels.append(_anchored(frame))
    return pd.concat(panels, ignore_index=True)


def _anchored(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the ends: originals are linked but for exact duplicates; with nothing released nothing is linked or told."""
    return anchor(anchor(frame, ORIGINAL, risk=1.0, utility=1.0), NOTHING, risk=0.0, utility=0.0)


def _maskings(data: str, plan: Profile, engine: dict[str, Any]) -> pd.DataFrame:
    settings = [
        {"data": data, "method": method, "amount": float(amount)}
        for method, amounts in _MASKINGS.items()
        for amount in amounts
    ]
    trials = grid.run(
        settings,
        masking_trial,
        repetitions=plan.mask_draws,
        stem=f"{_STEM}-maskings",
        shared=["method", "amount"],
        **engine,
    )
    frame = ru_frame(
        trials,
        method="method",
        parameter="amount",
        risk="ratio",
        utility="utility",
        attack="nearest record (DBRL1), linked share",
        analysis="1 - information loss (SSE / SST), first four columns",
    )
    return _anchored(frame)


def _leakage(data: str, plan: Profile) -> pd.DataFrame:
    """Rank the attributes of one file by Shapley value, with bootstrap intervals."""
    whole = table(data)
    inside = whole.sample(400, random_state=SHOWN_SEED)
    frames = []
    for file in ("M4-28", "M6-853"):
        protected = microaggregate(inside, file)
        options: dict[str, Any] = {"resamples": plan.resamples, "time_limit_s": 10 * plan.time_limit_s}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SearchLimitWarning)
            found = attribute_leakage(protected.table, inside, columns=protected.columns, **options)
        frames.append(found.table.assign(file=file, resamples=plan.resamples, proven=found.proven))
    return pd.concat(frames, ignore_index=True)


def _whole(data: str, plan: Profile, engine: dict[str, Any]) -> pd.DataFrame:
    """Learn from all records of the table at once."""
    limits = [plan.whole_limit_s]
    settings: dict[str, list[Any]] = {"data": [data], "file": plan.files, "model": [*MODELS], "time_limit_s": limits}
    return grid.run(settings, whole_trial, stem=f"{_STEM}-whole", **engine)
