"""Make the tables of simulated maps: `python -m benchmarks._released_maps TABLE DATA_SETS [--first SEED]`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import _map_trials, _protection
from benchmarks._map_trials import FAILING, PATTERNS, RELEASES
from reident import sweep
from reident.experiments import released_maps
from reident.experiments.released_maps import FITTING

#: What may be done to distances themselves, no embedding: records; standard deviation of noise and step of rounding,
#: km; share of the pairs left out; the longest distance released, km (0: all are); places of work instead of homes.
#: Then what the intruder may suppose wrongly: the scatter of homes, populations (deviation of their logarithm), how
#: many towns there are.
PLAIN: dict[str, dict[str, float]] = {
    "as they are": {},
    "noise of 20 km": {"sigma_km": 20.0},
    "noise of 80 km": {"sigma_km": 80.0},
    "noise of 320 km": {"sigma_km": 320.0},
    "rounded to 25 km": {"step_km": 25.0},
    "rounded to 100 km": {"step_km": 100.0},
    "half of the pairs": {"left_out": 0.5},
    "a tenth of the pairs": {"left_out": 0.9},
    "a fiftieth of the pairs": {"left_out": 0.98},
    "only below 100 km": {"longest_km": 100.0},
    "only below 30 km": {"longest_km": 30.0},
    "50 records": {"n": 50},
    "20 records": {"n": 20},
    "10 records": {"n": 10},
    "work places": {"work": 1},
    "scatter supposed as 5 km": {"scatter_km": 5.0},
    "scatter supposed as 22 km": {"scatter_km": 22.0},
    "populations off by a half": {"wrong_by": 0.5},
    "only 100 towns known": {"n_towns": 100},
}


def km_against_n() -> list[dict[str, Any]]:
    """Return the settings of distances: sizes of the file, knowledge, noise and rounding."""
    sizes = (50, 100, 200, 500, 1000, 2000)
    cells: list[dict[str, Any]] = [{"n": n, "knowledge": known} for n in sizes for known in ("towns", "outline")]
    cells += [{"n": n, "knowledge": "file", "n_common": m} for n in sizes if n <= 500 for m in (50, 5, 0)]
    cells += [{"n": 200, "sigma_km": sigma} for sigma in (5.0, 20.0, 80.0, 160.0)]
    cells += [{"n": 200, "step_km": step} for step in (1.0, 5.0, 25.0, 100.0)]
    return [{"knowledge": "towns", "n_common": -1, "sigma_km": 0.0, "step_km": 0.0} | cell for cell in cells]


#: Table -> trial, settings without data sets, seed of the first data set.
TABLES: dict[str, tuple[Callable[..., Any], list[dict[str, Any]], int]] = {
    "km_against_n": (released_maps.locating_trial, km_against_n(), 100),
    "plain_distances": (_map_trials.plain_trial, [{"n": 300} | changed for changed in PLAIN.values()], 400),
    "certificate_level": (
        _map_trials.level_trial, [{"kind": kind, "n": n} for kind in (*FAILING, *FITTING) for n in (100, 300)], 500,
    ),
    "overlap": (
        _map_trials.overlap_trial,
        [
            {"pattern": pattern, "release": release, "n_common": n_common}
            for pattern in PATTERNS for release in RELEASES for n_common in (50, 20, 5, 0, -1)
        ], 200,
    ),
    "protection": (_protection.protection_trial, [{"candidate": name} for name in _protection.CANDIDATES], 100),
}  # fmt: skip


def main() -> None:
    """Run one table and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("n_datasets", type=int)
    parser.add_argument("--first", type=int, help="seed of the first data set")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, help="default: data/measured/TABLE.csv")
    given = parser.parse_args()
    trial, settings, first = TABLES[given.table]
    first = first if given.first is None else given.first
    datasets = range(first, first + given.n_datasets)
    runs = sweep(trial, [cell | {"dataset": dataset} for cell in settings for dataset in datasets], jobs=given.jobs)
    runs = runs.drop(columns="repetition")
    if given.table == "plain_distances":
        runs.insert(0, "release", [name for name in PLAIN for _ in datasets])
    runs.to_csv(given.out or f"data/measured/{given.table}.csv", index=False, float_format="%.6g")


if __name__ == "__main__":
    main()
