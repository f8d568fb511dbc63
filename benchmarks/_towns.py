"""Lay 500 people of Germany on its towns, from three releases: `python -m benchmarks._towns DATASET ...`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks._map_trials import PATTERNS, RELEASES, drawn_files, overlap_trial
from reident import great_circle_km
from reident.experiments.released_maps import SCATTER_KM, errors_km
from reident.location import locate_by_population

RECORDS = 500


def measure(dataset: int, release: str) -> dict[str, object]:
    """Draw one data set as the study of shared records does, release it, and lay it on the list of towns."""
    setting: dict[str, Any] = {
        "pattern": PATTERNS[0],
        "release": release,
        "n_common": -1,
        "n": RECORDS,
        "dataset": dataset,
    }
    if release != "exact":
        return {**setting, **overlap_trial(np.random.default_rng(0), **setting)}
    rng = np.random.default_rng([dataset, 0, 31])
    files, towns, area = drawn_files(PATTERNS[0], RECORDS, 0, rng)
    homes = files.original
    found = locate_by_population(
        great_circle_km(homes["lat_deg"], homes["lon_deg"]), towns, area, scatter_km=SCATTER_KM
    )  # fmt: skip
    off = errors_km(found.positions, homes)
    certified = found.certified().to_numpy()
    return {
        **setting, "median_km": np.median(off), "within_5_km": (off <= 5).mean(), "within_25_km": (off <= 25).mean(),
        "certified": certified.mean(), "certified_wrong": (certified & (off > 25)).mean(),
    }  # fmt: skip


def main() -> None:
    """Append the rows of the data sets asked for to the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", type=int, nargs="+")
    parser.add_argument("--out", type=Path, default=Path("data/measured/towns.csv"))
    given = parser.parse_args()
    for dataset in given.datasets:
        for release in ("exact", *RELEASES):
            row = pd.DataFrame([measure(dataset, release)])
            row.to_csv(given.out, mode="a", header=not given.out.exists(), index=False, float_format="%.6g")


if __name__ == "__main__":
    main()
