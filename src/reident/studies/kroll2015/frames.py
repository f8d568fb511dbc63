"""From the plan of the study to its sweeps, and from their trials to the frames that figures and pages show."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reident import published, ru_frame
from reident.rumap import anchor_both
from reident.studies.kroll2015 import PROFILES, SPLIT, Profile, readings, summaries
from reident.studies.kroll2015.examples import example_2, example_10
from reident.studies.kroll2015.trials import CONDITIONS, calibration_trial, shown, trial, variant_trial
from reident.studies.study import Sweep

__all__ = ["claims", "frames", "sweeps"]

#: Data sets of what is beside the paper's tables: the calibration and the variants.
N_FEWER = 5


def sweeps(plan: Profile, seed: int) -> dict[str, Sweep]:
    """Return the sweeps: the grid of the paper, and noise on coordinates and on distances against quasi-cliques too.

    Data sets are numbered from the seed.
    """
    datasets = [seed + i for i in range(plan.n_datasets)]
    fixed = {name: getattr(plan, name) for name in CONDITIONS}
    sizes = [{"method": "coordinate noise", "sigma_deg": s} for s in plan.sigmas_deg]
    sizes += [{"method": "distance noise", "sigma_km": s} for s in plan.distance_sigmas_km]
    variants = [
        {**size, "alpha": 0.5, "gamma": gamma, "dataset": dataset, **fixed}
        for gamma in dict.fromkeys((1.0, plan.gamma))
        for size in sizes
        for dataset in datasets[:N_FEWER]
    ]
    shared = ["alpha", *CONDITIONS]
    parts = {"narrow": plan.narrow_repetitions, "trials": plan.repetitions}
    alphas = {"narrow": [a for a in plan.alphas if a < SPLIT], "trials": [a for a in plan.alphas if a >= SPLIT]}
    grid = {name: [value] for name, value in fixed.items()}
    return {
        **{
            # One stem: a release is the same in both, whatever window it is attacked with.
            name: {
                "grid": {"sigma_deg": plan.sigmas_deg, "alpha": alphas[name], "dataset": datasets, **grid},
                "trial": trial,
                "repetitions": repetitions,
                "shared": shared,
                "stem": "kroll2015",
            }
            for name, repetitions in parts.items()
            if alphas[name]
        },
        "calibration": {
            "grid": {
                "sigma_deg": plan.sigmas_deg[1::2] or plan.sigmas_deg,
                "dataset": datasets[:N_FEWER],
                **{name: value for name, value in grid.items() if name != "jitter_km"},
                **plan.calibration,
            },
            "trial": calibration_trial,
            "shared": shared,
        },
        "variants": {
            "grid": variants,
            "trial": variant_trial,
            "repetitions": -(-plan.variant_repetitions // len(datasets[:N_FEWER])),
            "shared": ["gamma", *CONDITIONS],
        },
    }


def frames(plan: Profile, seed: int, trials: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return `trials`, `summary`, what ties and the jitter do, the maps, and what figures 1 to 4 and 7 show."""
    parts = [trials[name] for name in ("narrow", "trials") if name in trials]
    attacked = pd.concat(parts, ignore_index=True).drop(columns=list(CONDITIONS))
    summary = summaries.summarise(attacked)
    return {
        "trials": attacked,
        "summary": summary,
        "agreement": summaries.agreement(summary),
        "ties": summaries.ties(attacked),
        "tie_rules": summaries.tie_rules(attacked),
        "calibration": summaries.calibration(trials["calibration"]),
        "deviations": summaries.deviations(plan.sigmas_deg, seed),
        "ru_map": _ru_map(attacked),
        "ru_variants": _variants(trials["variants"], plan.gamma),
        **example_2(),
        **example_10(),
        **shown({"dataset": seed, **{name: getattr(plan, name) for name in CONDITIONS}}, *_matched(plan)),
    }


def _matched(plan: Profile) -> tuple[list[float], list[float]]:
    """Return the noises and thresholds whose matches are drawn: the paper's, or the ends of a user's own."""
    asked = []
    for name, papers in (("sigmas_deg", [0.005, 0.05]), ("alphas", [0.5, 0.9])):
        values = getattr(plan, name)
        own = all(values != getattr(profile, name) for profile in PROFILES.values())
        asked.append(sorted({min(values), max(values)}) if own else papers)
    return asked[0], asked[1]


def claims(_plan: Profile, _seed: int, frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the ledger: every claim beside what was found."""
    return readings.comparison(frames | {name: _printed(frames[name]) for name in ("trials", "summary", "deviations")})


def _printed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in cells of the paper's grid."""
    cells = published("kroll2015", "table4")
    in_grid = [frame[name].isin(cells[name]) for name in ("sigma_deg", "alpha") if name in frame]
    return frame[np.logical_and.reduce(in_grid)]


def _ru_map(trials: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's map; exact distances err nowhere, and link with precision 1 up to coinciding records."""
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
    return anchor_both(frame, utility=np.inf)


def _variants(trials: pd.DataFrame, gamma: float) -> pd.DataFrame:
    """Return one map with two panels, cliques and quasi-cliques."""
    in_degrees, in_km = trials["sigma_deg"].map("{:g} deg".format), trials["sigma_km"].map("{:g} km".format)
    trials["size"] = in_degrees.where(trials["sigma_deg"].notna(), in_km)
    panels = []
    for share, name in ((1.0, "clique attack"), (gamma, f"{gamma:g}-quasi-clique attack")):
        part = trials[trials["gamma"].eq(share)]
        frame = ru_frame(
            part,
            method="method",
            parameter="size",
            risk="precision",
            utility="utility_per_km2",
            attack=f"precision of the {name}, alpha 0.5",
            analysis="1 / variance of d - d', per km$^2$",
        )
        panels.append(anchor_both(frame, utility=np.inf))
    return pd.concat(panels, ignore_index=True)
