"""From the plan of the study to its sweeps, and from their trials to the frames that figures and pages show."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from reident import attribute_leakage, microaggregate, ru_frame
from reident.base import SearchLimitWarning, check_columns
from reident.rumap import anchor_both
from reident.studies.abril2012 import FILES, SHOWN_SEED, Profile, readings, summaries
from reident.studies.abril2012.instruments import (
    INSTRUMENTS,
    SETUPS,
    determined_settings,
    determined_trial,
    instrument_trial,
    joint_test,
    ranges_of,
)
from reident.studies.abril2012.maskings import masked_map, masking_settings, masking_trial
from reident.studies.abril2012.trials import (
    CONDITIONS,
    available_data,
    own,
    probabilistic_trial,
    race_trial,
    shown,
    shown_draw,
    table,
    trial,
    variants,
    whole_trial,
)
from reident.studies.study import Sweep

__all__ = ["claims", "frames", "sweeps"]

_SAID = {"choquet": "Choquet", "weighted_mean": "weighted-mean"}


def sweeps(plan: Profile, _seed: int) -> dict[str, Sweep]:
    """Return the sweeps: linkage of every draw, two ways to learn, other maskings, and all records at once."""
    data = [_data(plan)]
    files = [own(protection, plan.k) for protection in plan.protections]
    for file in files:
        check_columns(table(data[0]), file.get("own", {}).get("columns") or [], "protections: columns", min_columns=0)
    common = {"data": data[0], "drawn": plan.n_records}
    chosen: dict[str, Sweep] = {
        "trials": {
            "grid": [
                {**file, **common, "models": list(plan.models), "time_limit_s": plan.time_limit_s} for file in files
            ],
            "trial": trial,
            "repetitions": plan.draws,
            "shared": ["file", "time_limit_s", *_given(files)],
            "stem": "abril2012",
        },
        "race": {
            "grid": {
                "data": data,
                "n_records": plan.race_sizes,
                "method": ["milp", "benders"],
                "time_limit_s": [plan.race_limit_s],
            },
            "trial": race_trial,
            "shared": ["method", "n_records", "time_limit_s"],
        },
        "maskings": {
            "grid": masking_settings(plan.mask_tables, data[0], min(plan.mask_records, plan.n_records)),
            "trial": masking_trial,
            "repetitions": plan.mask_draws,
            # The same records for every masking of a table.
            "shared": ["method", "amount", "drawn"],
        },
        "whole": {
            "grid": [
                {"data": data[0], **file, "model": model, "time_limit_s": plan.whole_limit_s}
                for file in files
                for model in plan.models
            ],
            "trial": whole_trial,
            "shared": [name for name in _given(files) if name == "own"],
        },
    }
    # The same records for every set-up, so that set-ups can be compared draw by draw.
    chosen["instruments"] = {
        "grid": [{**common, "instrument": name, "setup": setup} for name in INSTRUMENTS for setup in SETUPS],
        "trial": instrument_trial,
        "repetitions": plan.draws,
        "shared": ["instrument", "setup", "drawn"],
    }
    chosen["determined"] = {
        "grid": determined_settings(data[0], plan.n_records, plan.time_limit_s),
        "trial": determined_trial,
        "repetitions": plan.draws,
        "shared": ["file", "model", "drawn", "time_limit_s"],
    }
    # The stem and what is not shared are those of the trials, hence the streams and so the records drawn.
    chosen["probabilistic"] = {
        "grid": [{**file, **common, "distance": "probabilistic"} for file in files],
        "trial": probabilistic_trial,
        "repetitions": plan.probabilistic_draws,
        "shared": ["file", "distance", *(name for name in _given(files) if name != "models")],
        "stem": "abril2012",
    }
    return chosen


def _given(files: list[dict[str, Any]]) -> list[str]:
    """Return which of the conditions stand in the settings."""
    return [name for name in CONDITIONS if name != "own" or any("own" in file for file in files)]


def _data(plan: Profile) -> str:
    return plan.data or available_data()


def frames(plan: Profile, _seed: int, trials: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the frames: `ratios` is table 1, `times` table 2, `measures` tables 3 and 4, `weights` table 5."""
    data = _data(plan)
    learned = shown(data, SHOWN_SEED, plan.time_limit_s)
    linked = _with_probabilistic(trials)
    ranges = ranges_of(learned, plan.time_limit_s)
    nodes, edges = summaries.lattices(learned)
    return {
        "trials": linked,
        "ratios": summaries.ratios(linked),
        "times": summaries.times(linked),
        "race": trials["race"],
        "measures": summaries.measures(learned),
        "weights": summaries.weights(learned),
        "shapley": summaries.indices(learned),
        "lattice_nodes": nodes,
        "lattice_edges": edges,
        "instruments": trials["instruments"],
        "determined": trials["determined"],
        "ranges": ranges,
        "joint": joint_test(linked, [file for file in FILES if file != readings.UNKNOWN]),
        "leakage": _leakage(data, plan, ranges),
        "variants": variants(data, SHOWN_SEED, plan.variant_limit_s),
        "ru_map": _ru_map(linked, plan),
        "ru_maskings": masked_map(trials["maskings"]),
        "whole": trials["whole"].drop(columns="own", errors="ignore"),
        "about": pd.DataFrame([{"data": data, "draws": plan.draws, "shown_seed": SHOWN_SEED}]),
    }


def claims(plan: Profile, _seed: int, frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the ledger: every claim beside what was found."""
    return readings.comparison(frames, _data(plan))


def _with_probabilistic(trials: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Add probabilistic linkage of the first draws, missing for the others."""
    linked = trials["trials"].drop(columns=list(CONDITIONS), errors="ignore")
    if "probabilistic" not in trials:
        return linked.assign(ratio_probabilistic=np.nan, tied_probabilistic=np.nan)
    found = trials["probabilistic"][["file", "repetition", "seed_key", "ratio_probabilistic", "tied_probabilistic"]]
    return linked.merge(found, how="left", validate="1:1")


def _ru_map(trials: pd.DataFrame, plan: Profile) -> pd.DataFrame:
    """Return the map of the protections: learned linkage, inside and outside the records learned from."""
    model, panels = plan.models[-1], []
    for risk, where in (
        (f"ratio_{model}", "the records learned from"),
        (f"outside_{model}", f"{plan.n_records} other records"),
    ):
        frame = ru_frame(
            trials,
            method="microaggregation",
            parameter="file",
            risk=risk,
            utility="utility",
            attack=f"{_SAID[model]} linkage, linked share of {where}",
            analysis="1 - information loss (SSE / SST)",
        )
        panels.append(anchor_both(frame))
    return pd.concat(panels, ignore_index=True)


def _leakage(data: str, plan: Profile, ranges: pd.DataFrame) -> pd.DataFrame:
    """Rank the attributes of one file by Shapley value: ranges over all optima, and bootstrap intervals of one."""
    inside = shown_draw(data, SHOWN_SEED)
    frames = []
    for file in ("M4-28", "M6-853"):
        protected = microaggregate(inside, file)
        options: dict[str, Any] = {"resamples": plan.resamples, "time_limit_s": 10 * plan.time_limit_s}
        with warnings.catch_warnings(action="ignore", category=SearchLimitWarning):
            found = attribute_leakage(protected.table, inside, columns=protected.columns, **options)
        own = ranges.query("file == @file and model == 'choquet' and what == 'shapley'").set_index("code")
        frame = found.table.assign(file=file, resamples=plan.resamples, proven=found.proven)
        for name, column in (("optima_low", "low"), ("optima_high", "high"), ("leader", "leader"), ("sets", "n_sets")):
            frame[name] = frame["variable"].map(own[column])
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)
