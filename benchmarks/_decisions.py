"""Simulate papers with known deviations and count verdicts: `python -m benchmarks._decisions [PAPERS]`.

A simulated paper has the shape of Table 4 or 5 of Kroll (2015): 90 cells on a grid, one data set of 100 repetitions,
effects of data sets that cells share. The rule may err in 5 % of the papers whose deviation is one margin.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

from reident.base import FloatArray
from reident.experiments.decide import SCHEDULE, PublishedTable, decide_table

#: Table -> margin, standard deviations between data sets and between repetitions, as measured on the experiment.
TABLES = {"precision": (0.05, 0.025, 0.14), "recall": (0.02, 0.009, 0.06)}

#: Deviation of each cell, in margins, by name.
DEVIATIONS: dict[str, FloatArray] = {
    "equal": np.zeros(90),
    "all off by half a margin": np.full(90, 0.5),
    "all off by a margin": np.full(90, 1.0),
    "signs by turns, a margin each": np.resize([1.0, -1.0], 90),
    "trend, root mean square one margin": np.linspace(-1, 1, 90) * np.sqrt(3),
    "one cell off by three margins": 3.0 * (np.arange(90) == 44),
    "all off by two margins": np.full(90, 2.0),
}

VERDICTS = ("agrees", "differs", "open", "undecidable")


def trials(
    rng: np.random.Generator, n_datasets: int, repetitions: int, mean: FloatArray, sd: tuple[float, float]
) -> FloatArray:
    """Draw values[data set, repetition, cell]; half of a data set's variance is common to all cells."""
    effects = np.sqrt(0.5) * (rng.normal(size=(n_datasets, 1)) + rng.normal(size=(n_datasets, mean.size)))
    return mean + sd[0] * effects[:, None] + rng.normal(0, sd[1], (n_datasets, repetitions, mean.size))


def simulate(papers: int = 200) -> pd.DataFrame:
    """Return the shares of verdicts and the mean number of data sets, one row a table and deviation."""
    rows = []
    for table, (margin, *sd) in TABLES.items():
        for name, deviation in DEVIATIONS.items():
            verdicts, looks = [], []
            for paper in range(papers):
                rng = np.random.default_rng([paper, len(name)])
                mean = np.linspace(0.2, 0.9, 90)
                printed = trials(rng, 1, 100, mean - deviation * margin, (sd[0], sd[1])).mean(axis=(0, 1))
                ours = trials(rng, SCHEDULE[-1], 10, mean, (sd[0], sd[1]))
                decision = decide_table(ours, PublishedTable(printed, np.full(90, margin)))
                assert decision is not None
                verdicts.append(decision[0].verdict)
                looks.append(decision[1])
            shares = {verdict: verdicts.count(verdict) / papers for verdict in VERDICTS}
            rows.append({"table": table, "truth": name, **shares, "data sets": np.mean(looks)})
    return pd.DataFrame(rows)


if __name__ == "__main__":
    print(simulate(*map(int, sys.argv[1:2])).round(3).to_string(index=False))
