"""Search graphs of Kroll and Schnell (2016) as long as the paper did: `python -m benchmarks._kroll2016_searches`."""

from __future__ import annotations

import argparse
from typing import Any

import pandas as pd

from reident import sweep
from reident.experiments.kroll2016 import trial

STEPS = 20_000_000
#: Dense graphs of which the paper names precisions: scenario, sets, places in a set.
CELLS = [("england", 20, 10), ("england", 20, 30), ("england", 60, 30), ("england", 100, 30), ("germany", 20, 30)]
DATASETS = range(2016, 2021)
COLUMNS = [
    "scenario", "n_reference_sets", "reference_set_size", "alpha", "dataset", "repetition", "steps", "n_simulations",
    *[f"{search}_{measure}" for search in ("published", "strong")
      for measure in ("n_links", "precision", "recall", "is_optimal")],
    "n_candidates", "density", "steps_taken",
]  # fmt: skip


def measure(dataset: int, scenario: str, d: int, k: int, steps: int = STEPS) -> dict[str, Any]:
    """Return one row of ``data/measured/kroll2016_searches.csv``."""
    setting = {"n_reference_sets": d, "reference_set_size": k, "dataset": dataset, "scenario": scenario}
    options = {"alphas": [0.5], "n_simulations": 100, "steps": steps}
    shared = ["alphas", "steps", "n_simulations"]
    row = sweep(trial, [setting | options], seed=2016, shared=shared, progress=False).iloc[0]
    return dict(row[COLUMNS])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", help="CSV file to be written")
    rows = [measure(dataset, *cell) for cell in CELLS for dataset in DATASETS]
    pd.DataFrame(rows).round(6).to_csv(parser.parse_args().out, index=False)
