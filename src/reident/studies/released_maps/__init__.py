"""Beyond the five documents: released distances are a map. Who is located, with which knowledge, and who can tell.

Not a reproduction: nothing of this is in print, so there is nothing to compare with. Data sets are named by their
seeds: the attack was built on sets 0 to 11 of each population; sets from 100 on were not looked at while building.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from reident._old_sweep import grid
from reident.base import check_choice
from reident.studies.released_maps.trials import FAILING, FITTING, level_trial, locating_trial

__all__ = ["PROFILES", "certificate_level", "run"]

_TOWNS: dict[str, Any] = {"country": "germany", "knowledge": "towns", "sigma_km": 0.0, "step_km": 0.0}

#: Profile -> data sets, sizes of the file, standard deviations of noise (km), steps of rounding (km).
PROFILES: dict[str, tuple[int, tuple[int, ...], tuple[float, ...], tuple[float, ...]]] = {
    "smoke": (1, (60,), (20.0,), (5.0,)),
    "quick": (2, (50, 200), (20.0, 80.0), (25.0,)),
    "full": (12, (50, 100, 200, 500, 1000, 2000), (5.0, 20.0, 80.0, 160.0), (1.0, 5.0, 25.0, 100.0)),
}
#: Records of the files whose noise and rounding vary.
_USUAL = 200


def run(
    profile: str = "quick", *, first_dataset: int = 100, n_datasets: int | None = None, **options: Any
) -> pd.DataFrame:
    """Run the sweep of one profile: km against the size of the file, knowledge, noise and rounding.

    `first_dataset` is the seed of the first data set, `n_datasets` are drawn instead of the profile's; `options` go to
    `reident._old_sweep.grid.run`.
    """
    drawn, sizes, noises, steps = PROFILES[check_choice(profile, "profile", list(PROFILES))]
    datasets = range(first_dataset, first_dataset + (drawn if n_datasets is None else n_datasets))
    cells = [{**_TOWNS, "n": n, "knowledge": known} for n in sizes for known in ("towns", "outline")]
    cells += [
        {**_TOWNS, "n": n, "knowledge": "file", "n_common": common} for n in sizes if n <= 500 for common in (50, 5, 0)
    ]
    usual = min(_USUAL, max(sizes))
    cells += [{**_TOWNS, "n": usual, "sigma_km": sigma} for sigma in noises]
    cells += [{**_TOWNS, "n": usual, "step_km": step} for step in steps]
    settings = [{"n_common": -1, **cell, "dataset": dataset} for cell in cells for dataset in datasets]
    return grid.run(settings, locating_trial, stem="released_maps", **options).drop(columns=["repetition", "seed_key"])


def certificate_level(n_datasets: int, *, first_dataset: int = 500, **options: Any) -> pd.DataFrame:
    """Measure the certificate of each record: a row a run, of people whom no map can be right about, and of others."""
    settings = [
        {"kind": kind, "n": n, "dataset": dataset}
        for kind in (*FAILING, *FITTING)
        for n in (100, 300)
        for dataset in range(first_dataset, first_dataset + n_datasets)
    ]
    runs = grid.run(settings, level_trial, stem="certificate_level", **options)
    return runs.drop(columns=["repetition", "seed_key"])
