"""What the paper's text says about its results, compared with the trials; its curves are printed as pictures only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from reident.experiments.comparison import compare, exact, stand_in, within
from reident.experiments.kroll2016 import trials
from reident.experiments.kroll2016.scenarios import SCENARIOS
from reident.papers import published

__all__ = ["comparison"]

_SETTING = ["scenario", "alpha", "n_reference_sets", "reference_set_size"]


def comparison(frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Compare the numbers and the statements in the paper's text with the study's frames."""
    facts = published("kroll2016", "statements").set_index("item")["value"]
    rows = []
    for pair, found in frames["city_pairs"].itertuples(index=False):
        km = facts[f"{pair}_km"]
        rows.append(within(f"{pair}: km", km, found, found * 0.97, found * 1.03, "city centres of GeoNames, 3 %"))
    first, second = frames["first_summary"], frames["second_summary"]
    for name in SCENARIOS:
        v = frames["first"].loc[frames["first"]["scenario"] == name, "n_candidates"]
        if len(v):
            note = "one data set; the paper's is not known. Expected over data sets: 3 %"
            rows.append(within(f"{name}: possible matches", facts[f"{name}_candidates"], v.iloc[0], v.iloc[0] * 0.94,
                               v.iloc[0] * 1.06, note))  # fmt: skip
    rows += _statement(first, "england", 20, 10, 0.5, facts["england_safest_first"], "England d=20 k=10 alpha .5")
    for d in (20, 100):
        rows += _statement(second, "england", d, 30, 0.5, facts["england_large_k"], f"England d={d} k=30 alpha .5")
    for alpha in (0.1, 0.5):
        rows += _statement(second, "germany", 20, 30, alpha, facts["germany_recommended"],
                           f"Germany d=20 k=30 alpha {alpha:g}")  # fmt: skip
    rows += _courses(first, second, facts)
    sources = frames["files"].groupby("scenario")["source"].first()
    if sources["england"] == "simulated":
        rows = [stand_in(row) if "england" in row["item"].lower() else row for row in rows]
    rows += _conjectures(frames["cities"], frames["city_pairs"])
    return compare(rows)


def _statement(
    summary: pd.DataFrame, name: str, d: int, k: int, alpha: float, printed: float, item: str
) -> list[dict[str, Any]]:
    """Compare a precision that the text states, rounded to a tenth or so, with that of the repetitions.

    The interval is .1 each way, or 1.96 standard errors where those are larger. Their standard deviation is pooled over
    all settings of the experiment: two or three repetitions of one setting say nothing about their own spread.
    """
    precision = summary[summary["measure"] == "precision"]
    setting = pd.Series({"scenario": name, "alpha": alpha, "n_reference_sets": d, "reference_set_size": k})
    at = precision[(precision[_SETTING] == setting[_SETTING]).all(axis=1)]
    if at.empty:
        return []
    row = at.iloc[0]
    pooled = np.sqrt((precision["se"] ** 2 * precision["n"]).mean())
    half = max(0.1, 1.96 * float(np.nan_to_num(pooled)) / np.sqrt(row["n"]))
    note = f"printed in words; {row['n']:.0f} repetitions, {row['share_proven']:.0%} of the cliques proven maximum"
    return [within(f"precision, {item}", printed, row["mean"], row["mean"] - half, row["mean"] + half, note)]


def _courses(first: pd.DataFrame, second: pd.DataFrame, facts: pd.Series) -> list[dict[str, Any]]:
    """Test what section Results says about how precision and recall run over the settings."""
    rows = []
    for alpha in (0.1, 0.5):
        for measure, d in (("precision", 20), ("precision", 100), ("recall", 500)):
            course = _course(first, measure, scenario="england", alpha=alpha, n_reference_sets=d)
            if len(course) > 1:
                small, large = course.iloc[0], course.iloc[-1]
                error = float(np.hypot(small["se"], large["se"]))
                note = f"{small['mean']:.3f} at k={small.name}, {large['mean']:.3f} at k={large.name}"
                note += "; falls: by more than two standard errors"
                falls = bool(small["mean"] - large["mean"] > 2 * error)
                rows.append(exact(f"{measure}, England d={d} alpha {alpha:g}: falls with k", True, falls, note))
    limit = facts["england_recall_rarely_above"]
    recall = _course(second, "recall", scenario="england")["mean"]
    if len(recall):
        share = float((recall > limit).mean())
        note = f"above it in {share:.0%} of {len(recall)} settings; rarely is read as one in ten"
        rows.append(exact(f"recall, England, second experiment: rarely above {limit:.0%}", True, share <= 0.1, note))
    limit = facts["germany_recall_below"]
    recall = _course(second, "recall", scenario="germany", n_reference_sets=20)["mean"]
    recall = recall[recall.index >= 20]
    if len(recall):
        note = f"at most {recall.max():.3f} in {len(recall)} settings"
        rows.append(exact(f"recall, Germany d=20 k>=20: below {limit:.0%}", True, bool((recall < limit).all()), note))
    return rows


def _course(summary: pd.DataFrame, measure: str, **where: Any) -> pd.DataFrame:
    """Return a measure's means and their standard errors in the settings asked for, by the size of the sets."""
    asked = (summary["measure"] == measure) & (summary[list(where)] == pd.Series(where)).all(axis=1)
    # A single repetition has no standard error; its word is taken.
    return summary[asked].set_index("reference_set_size")[["mean", "se"]].sort_index().fillna({"se": 0.0})


def _conjectures(cities: pd.DataFrame, pairs: pd.DataFrame) -> list[dict[str, Any]]:
    """Test the three conjectures on the city pairs' mean released distances, to two standard errors."""
    columns = {pair: f"{pair}_km" for pair in trials.PAIRS}
    grouped = cities.groupby(["n_reference_sets", "reference_set_size"])[list(columns.values())]
    mean, error = grouped.mean(), grouped.sem().fillna(0.0)
    rows = []
    for pair, column in columns.items():
        rises = _never(mean[column], error[column], level="reference_set_size", sign=-1)
        falls = _never(mean[column], error[column], level="n_reference_sets", sign=1)
        rows.append(exact(f"conjecture 1, {pair}: more sets, longer released distances", True, rises))
        note = "" if falls else _WHY_NOT_LARGER_SETS
        rows.append(exact(f"conjecture 2, {pair}: larger sets, shorter released distances", True, falls, note))
    share = mean.loc[(20, 5)].to_numpy() / pairs["distance_km"].to_numpy()
    rows.append(exact("conjecture 3: short distances kept better (d=20, k=5)", True, bool((np.diff(share) < 0).all())))
    return rows


_WHY_NOT_LARGER_SETS = (
    "a released distance is close to the true one if a nearest place lies in line with the pair; the country is long "
    "from north to south, so that far places rarely lie in line with a pair from west to east, but near ones may"
)


def _never(mean: pd.Series, error: pd.Series, *, level: str, sign: int) -> bool:
    """Tell whether, along the other parameter, no step goes in the direction `sign` beyond two standard errors."""
    for value in mean.index.unique(level):
        steps = sign * mean.xs(value, level=level).diff().dropna()
        spread = np.sqrt((error.xs(value, level=level) ** 2).rolling(2).sum().dropna())
        if (steps > 2 * spread).any():
            return False
    return True
