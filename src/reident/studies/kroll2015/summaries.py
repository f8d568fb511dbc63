"""Summaries of the study: tables 3 to 5 and ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from reident import published
from reident.studies.kroll2015 import SPLIT
from reident.studies.kroll2015.trials import deviation

_LEVEL = 0.95
_CELL = ["sigma_deg", "alpha"]
_TABLE_3 = [0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95]


def _predicted(trials: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return mean and 95 % prediction interval, for the average on one further data set, of each cell.

    Averages on different data sets are independent, so the interval is Student's for one more draw. It is a little too
    wide: the paper's average is over 100 repetitions, ours on each data set over fewer. Where all averages coincide the
    deviation is taken to be at least what one match more or less changes, since no average can be told finer.
    """
    claimed = trials["true_positives"] + (trials["false_positives" if measure == "precision" else "false_negatives"])
    grouped = trials.assign(claimed=claimed).groupby(["sigma_deg", "alpha", "dataset"])
    averages = grouped.agg(average=(measure, "mean"), claimed=("claimed", "sum"))
    cells = averages.groupby(["sigma_deg", "alpha"]).agg(
        mean=("average", "mean"), deviation=("average", "std"), n=("average", "size"), claimed=("claimed", "mean")
    )
    deviation, n = np.maximum(cells["deviation"], 1 / cells["claimed"]), cells["n"]
    half = stdtrit(n - 1, (1 + _LEVEL) / 2) * deviation * np.sqrt(1 + 1 / n)
    return pd.DataFrame(
        {
            measure: cells["mean"],
            f"{measure}_low": (cells["mean"] - half).clip(0, 1),
            f"{measure}_high": (cells["mean"] + half).clip(0, 1),
        }
    )


def summarise(trials: pd.DataFrame) -> pd.DataFrame:
    """Return tables 4 and 5: averages, intervals and printed values, one row a cell."""
    cells = _predicted(trials, "precision").join(_predicted(trials, "recall"))
    grouped = trials.groupby(["sigma_deg", "alpha"])
    cells = cells.assign(
        n=grouped.size(), share_optimal=grouped["is_optimal"].mean(), share_enumerated=grouped["is_enumerated"].mean()
    ).reset_index()
    for table, measure in (("table4", "precision"), ("table5", "recall")):
        printed = published("kroll2015", table).rename(columns={measure: f"{measure}_published"})
        cells = cells.merge(printed, on=["sigma_deg", "alpha"], how="left")
    return cells


def agreement(summary: pd.DataFrame) -> pd.DataFrame:
    """Count the cells in which the average lies close to print, and in which print lies in the interval."""
    rows = []
    for measure, tolerance in (("recall", 0.05), ("precision", 0.08)):
        printed = summary[f"{measure}_published"]
        rows.append(
            {
                "measure": measure,
                "tolerance": tolerance,
                "cells": len(summary),
                "within_tolerance": int(((summary[measure] - printed).abs() <= tolerance).sum()),
                "within_interval": int(printed.between(summary[f"{measure}_low"], summary[f"{measure}_high"]).sum()),
            }
        )
    return pd.DataFrame(rows)


def ties(trials: pd.DataFrame) -> pd.DataFrame:
    """Return smallest, mean and largest precision over all maximum cliques where ties decide: alpha at most .3.

    Of larger alphas alone the smallest is taken.
    """
    small = trials[trials["alpha"] <= max(0.3, trials["alpha"].min())]
    columns = [f"precision_{name}" for name in ("published", "random", "min", "mean", "max")]
    columns += ["n_max_cliques", "is_enumerated"]
    cells = small.groupby(["sigma_deg", "alpha"])[columns].mean().reset_index()
    printed = published("kroll2015", "table4").rename(columns={"precision": "published"})
    return cells.merge(printed, on=["sigma_deg", "alpha"], how="left")


def tie_rules(trials: pd.DataFrame) -> pd.DataFrame:
    """Return, for each alpha, mean precision by the program's clique and by a drawn one, their difference, and print.

    Both rules choose in the same product graph, so that the difference is paired; its standard error is over releases.
    """
    printed = published("kroll2015", "table4").set_index(["sigma_deg", "alpha"])["precision"]
    frame = trials.assign(
        printed=printed.reindex(pd.MultiIndex.from_frame(trials[["sigma_deg", "alpha"]])).to_numpy(),
        difference=trials["precision_random"] - trials["precision_published"],
    )
    grouped = frame.groupby("alpha")
    columns = {"precision_published": "published", "precision_random": "random", "precision_mean": "mean_over_all"}
    made = grouped[[*columns, "printed", "difference"]].mean().rename(columns=columns)
    return made.assign(standard_error=grouped["difference"].sem(), pairs=grouped.size()).reset_index()


def calibration(trials: pd.DataFrame) -> pd.DataFrame:
    """Return how far the averages lie from print at each jitter: in the cells it was chosen by, and in the others."""
    rows = []
    for jitter_km, part in trials.groupby("jitter_km"):
        row: dict[str, Any] = {"jitter_km": jitter_km}
        for name, half in (("calibrated", part["alpha"] >= SPLIT), ("predicted", part["alpha"] < SPLIT)):
            means = part[half].groupby(["dataset", *_CELL], as_index=False)[["precision", "recall"]].mean()
            for table, measure in (("table4", "precision"), ("table5", "recall")):
                both = means.merge(published("kroll2015", table), on=_CELL, suffixes=("", "_printed"))
                gaps = (both[measure] - both[f"{measure}_printed"]).groupby(both["dataset"]).mean()
                row |= {f"{measure}_{name}": gaps.mean(), f"{measure}_{name}_se": gaps.sem()}
        rows.append(row)
    return pd.DataFrame(rows)


def deviations(sigmas_deg: list[float], seed: int) -> pd.DataFrame:
    """Return Table 3 as printed, from 200,000 pairs, from the study's own sample, and the interval for such a sample.

    A sample quantile of n draws lies between the population's quantiles at p -+ z sqrt(p (1 - p) / n); the population
    is stood in for by 200,000 pairs. A sample variance has the standard error sqrt((m4 - m2^2) / n). The level is
    .99 for each number, so that of 80 numbers one or none should fall outside, of the study's own sample as of print.
    """
    printed = published("kroll2015", "table3").set_index("sigma_deg").reindex(sigmas_deg)
    n, z = 1000, float(ndtri(0.995))
    rows: list[tuple[Any, ...]] = []
    for sigma_deg in sigmas_deg:
        sample, reference = deviation(sigma_deg, seed), deviation(sigma_deg, seed, 200_000)
        for p in _TABLE_3:
            spread = z * np.sqrt(p * (1 - p) / n)
            low, high = reference.quantiles_km([p - spread, p + spread])
            named, value = f"quantile {p:.2f}, km", printed.loc[sigma_deg, f"q{p:.2f}"]
            rows.append(
                (sigma_deg, named, value, reference.quantiles_km([p])[0], sample.quantiles_km([p])[0], low, high)
            )
        centred = reference.deviations_km - reference.deviations_km.mean()
        half = z * np.sqrt((np.mean(centred**4) - np.mean(centred**2) ** 2) / n)
        low, high = reference.variance_km2 - half, reference.variance_km2 + half
        value = printed.loc[sigma_deg, "variance_km2"]
        rows.append((sigma_deg, "variance, km2", value, reference.variance_km2, sample.variance_km2, low, high))
    return pd.DataFrame(
        rows, columns=["sigma_deg", "statistic", "published", "reproduced", "own_sample", "low", "high"]
    )
