"""From trials to the tables of study abril2012."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reident import FuzzyMeasure, LearnedLinkage, published
from reident.studies.abril2012 import MODELS
from reident.studies.together import prediction

__all__ = ["DISTANCES", "lattices", "measures", "ratios", "times", "weights"]

#: Distance -> what the columns of the trials call it.
DISTANCES = {
    "mean": "dbrl1",
    "probabilistic": "probabilistic",
    "weighted_mean": "weighted_mean",
    "choquet": "choquet",
}


def ratios(trials: pd.DataFrame) -> pd.DataFrame:
    """Return table 1: for each file and distance the mean, spread and range over draws, inside and outside, and print.

    `low` and `high` bound what one further draw would give with 95 % probability: mean +- t sd sqrt(1 + 1/n). Without
    repetitions they are missing. The paper names probabilistic linkage and prints nothing for it; it learns nothing
    from the true pairs, so that there is no outside either.
    """
    printed = published("abril2012", "ratios").set_index("file").assign(probabilistic=np.nan)
    trials = trials.assign(outside_probabilistic=np.nan)
    rows = []
    for file, group in trials.groupby("file", sort=False):
        for shown, name in DISTANCES.items():
            values = group[f"ratio_{name}"].dropna()
            low, high = prediction(values)
            rows.append(
                {
                    "file": file,
                    "distance": shown,
                    "published": float(printed[shown].get(str(file), np.nan)),
                    "mean": values.mean(),
                    "low": low,
                    "high": high,
                    "least": values.min(),
                    "greatest": values.max(),
                    "outside": group[f"outside_{name}"].mean(),
                    "n": len(values),
                    "proven": int(group[f"proven_{name}"].sum()) if name in MODELS else len(values),
                }
            )
    return pd.DataFrame(rows)


def times(trials: pd.DataFrame) -> pd.DataFrame:
    """Return table 2: wall-clock seconds here, and the paper's on its hardware, which is context only."""
    printed = published("abril2012", "seconds").set_index("file")
    rows = []
    for file, group in trials.groupby("file", sort=False):
        for model in MODELS:
            seconds = group[f"seconds_{model}"]
            rows.append(
                {
                    "file": file,
                    "model": model,
                    "published_s": float(printed[model].get(str(file), np.nan)),
                    "median_s": seconds.median(),
                    "longest_s": seconds.max(),
                    "conflicts": group[f"conflicts_{model}"].mean(),
                    "proven": int(group[f"proven_{model}"].sum()),
                    "n": len(group),
                }
            )
    return pd.DataFrame(rows)


def measures(learned: dict[str, LearnedLinkage]) -> pd.DataFrame:
    """Return tables 3 and 4: the learned measures set by set, with the printed values where the paper prints them."""
    frames = []
    for file, table in (("M4-28", "measure_m4_28"), ("M6-853", "measure_m6_853")):
        frame = _measure(learned[f"{file} choquet"]).table()
        printed = published("abril2012", table)
        codes = printed["code"].astype(str).str.zfill(int(file[1]))
        frame["published"] = frame["code"].map(dict(zip(codes, printed["measure"], strict=True)))
        frames.append(frame.assign(file=file))
    return pd.concat(frames, ignore_index=True)


def _measure(learned: LearnedLinkage) -> FuzzyMeasure:
    assert learned.measure is not None
    return learned.measure


def weights(learned: dict[str, LearnedLinkage]) -> pd.DataFrame:
    """Return table 5: the learned weights of M6-853."""
    found = learned["M6-853 weighted_mean"].weights
    assert found is not None
    printed = published("abril2012", "weights_m6_853")
    order = printed["code"].astype(str).str.zfill(6).map(lambda code: code.index("1"))
    by_place = dict(zip(order, printed["weight"], strict=True))
    return pd.DataFrame(
        {
            "variable": found.index,
            "weight": found.to_numpy(),
            "published": [by_place[place] for place in range(len(found))],
        }
    )


def lattices(learned: dict[str, LearnedLinkage]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return nodes and edges of figures 1 (M4-28, all sets) and 2 (M6-385, sets with a measure of at least .1)."""
    all_nodes, all_edges = [], []
    for file, threshold in (("M4-28", 0.0), ("M6-385", 0.1)):
        nodes, edges = _measure(learned[f"{file} choquet"]).lattice(threshold)
        all_nodes.append(nodes.assign(file=file))
        all_edges.append(pd.DataFrame(edges, columns=["below", "above"]).assign(file=file))
    return pd.concat(all_nodes, ignore_index=True), pd.concat(all_edges, ignore_index=True)


def indices(learned: dict[str, LearnedLinkage]) -> pd.DataFrame:
    """Return Shapley values of every shown measure."""
    frames = [
        _measure(one)
        .shapley()
        .rename("shapley")
        .reset_index()
        .assign(file=name.split()[0], model=one.model, ratio=one.ratio)
        for name, one in learned.items()
    ]
    return pd.concat(frames, ignore_index=True)
