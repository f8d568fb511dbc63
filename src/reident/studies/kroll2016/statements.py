"""What the study found for each claim of the paper; its curves are printed as pictures only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from reident.data.papers import claims, published
from reident.studies.comparison import DRAWN, PUBLIC, Reading, ledger
from reident.studies.kroll2016 import SCENARIOS, trials

__all__ = ["comparison"]


def comparison(frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Set every claim of the paper beside what the profile found.

    The hospitals are a later list of the same kind, a public stand-in; where they are simulated they are drawn. The
    German files are simulated by the paper's recipe from public places.
    """
    facts = published("kroll2016", "statements").set_index("item")["value"]
    sources = frames["files"].groupby("scenario")["source"].first()
    england = DRAWN if sources["england"] == "simulated" else PUBLIC
    first, second = frames["first_summary"], frames["second_summary"]
    found = [
        *_files(frames, facts, england),
        *_conjectures(frames["cities"], frames["city_pairs"]),
        *_utility(frames["utility"], england),
        *_first(first, england),
        *_second(second, england),
        *_germany(second, england),
    ]
    return ledger(claims("kroll2016"), found)


def _files(frames: Mapping[str, pd.DataFrame], facts: pd.Series, england: str) -> Iterator[Reading]:
    for pair, km in frames["city_pairs"].itertuples(index=False):
        yield Reading("distance between the cities, km", km, got=PUBLIC, note="city centres of GeoNames", row=pair,
                      published=facts[f"{pair}_km"])  # fmt: skip
    for name in SCENARIOS:
        orders = frames["first"].loc[frames["first"]["scenario"] == name].drop_duplicates("dataset")["n_candidates"]
        if len(orders):
            value = float(orders.iloc[0])
            # Over data sets drawn alike the standard deviation is 1.5 %.
            yield Reading("possible matches of the two files", value, 0.96 * value, 1.04 * value,
                          england if name == "england" else PUBLIC, "one data set; the interval is that of others",
                          row=name, published=facts[f"{name}_candidates"])  # fmt: skip


def _conjectures(cities: pd.DataFrame, pairs: pd.DataFrame) -> Iterator[Reading]:
    """Test the three conjectures on the city pairs' mean released distances, to two standard errors."""
    columns = {pair: f"{pair}_km" for pair in trials.PAIRS}
    grouped = cities.groupby(["n_reference_sets", "reference_set_size"])[list(columns.values())]
    mean, error = grouped.mean(), grouped.sem().fillna(0.0)
    for pair, column in columns.items():
        for claim, level, sign in (
            ("conjecture 1: more sets, longer released distances", "n_reference_sets", 1),
            ("conjecture 2: larger sets, shorter released distances", "reference_set_size", -1),
        ):
            held = _never(mean[column], error[column], along=level, sign=-sign)
            held &= _once(mean[column], error[column], along=level, sign=sign)
            yield Reading(claim, held, got=PUBLIC, row=pair)
    share = mean.loc[(20, 5)].to_numpy() / pairs["distance_km"].to_numpy()
    yield Reading("conjecture 3: short distances kept better (d=20, k=5)", bool((np.diff(share) < 0).all()), got=PUBLIC)


def _steps(mean: pd.Series, error: pd.Series, along: str) -> Iterator[tuple[pd.Series, pd.Series]]:
    """Yield the steps along a parameter, one series for each value of the other, and two standard errors of each."""
    other = next(name for name in mean.index.names if name != along)
    for value in mean.index.unique(other):
        steps = mean.xs(value, level=other).diff().dropna()
        yield steps, 2 * np.sqrt((error.xs(value, level=other) ** 2).rolling(2).sum().dropna())


def _never(mean: pd.Series, error: pd.Series, *, along: str, sign: int) -> bool:
    """Tell whether no step goes in the direction `sign` beyond two standard errors."""
    return all(not (sign * steps > spread).any() for steps, spread in _steps(mean, error, along))


def _once(mean: pd.Series, error: pd.Series, *, along: str, sign: int) -> bool:
    """Tell whether some step surely goes in the direction `sign`: a flat course is no support."""
    return any((sign * steps > spread).any() for steps, spread in _steps(mean, error, along))


def _utility(utility: pd.DataFrame, got: str) -> Iterator[Reading]:
    by = ["n_reference_sets", "reference_set_size"]
    measures = ["nearest_neighbour", "spearman_centre", "spearman_border"]
    mean = utility.groupby(by)[measures].mean()
    neighbour = mean["nearest_neighbour"].reset_index().pivot_table(index=by[0], columns=by[1], values=measures[0])
    enough = neighbour[neighbour.index >= 10]
    claim = "figure 2: share of right nearest neighbours at d of 10 and more, least over k"
    if enough.size:
        yield Reading(claim, float(enough.to_numpy().min()), got=got)
    if {5, 20} <= set(neighbour.index) and neighbour.shape[1] > 1:
        fall = neighbour.iloc[:, 0] / neighbour.iloc[:, -1]
        claim = "figure 2: right nearest neighbours fall faster with k at d = 5 than at d = 20"
        yield Reading(claim, float(np.log(fall[5] / fall[20])), got=got, note="log of the ratio of both falls")
    points = mean[measures[1:]]
    for claim, level, sign in (
        ("figure 2: rank correlation falls with k, at every d and both points", by[1], -1),
        ("figure 2: rank correlation rises with d, at every k and both points", by[0], 1),
    ):
        other = by[1 - by.index(level)]
        ends = [
            sign * (line.iloc[-1] - line.iloc[0])
            for point in points
            for _, line in points[point].groupby(level=other)
            if len(line) > 1
        ]
        if ends:
            yield Reading(claim, int(np.sum(np.array(ends) > 0)), got=got, published=len(ends))
    ahead = points["spearman_centre"] > points["spearman_border"]
    claim = "figure 2: the central point is kept better than the border one, at every d and k"
    yield Reading(claim, int(ahead.sum()), got=got, published=len(ahead))
    at = utility[(utility[by[0]] == 20) & (utility[by[1]] == 20)]
    if len(at):
        claim = "discussion: cluster analysis gives very similar results (adjusted Rand index of .9, d=20, k=20)"
        yield Reading(claim, *_mean(at["clusters_ari"]), got=got)
        claim = "discussion: local statistics are accurate (error of Moran's I on neighbours at d=20, k=20)"
        yield Reading(claim, *_mean(at["moran_contiguity_error"]), got=got)


def _mean(values: pd.Series) -> tuple[float, float, float]:
    """Return a mean over releases with two standard errors on each side."""
    half = 2 * float(np.nan_to_num(values.sem()))
    return float(values.mean()), float(values.mean()) - half, float(values.mean()) + half


def _at(summary: pd.DataFrame, measure: str, **where: Any) -> pd.DataFrame:
    """Return a measure's means and two standard errors in the settings asked for, by the size of the sets."""
    asked = (summary["measure"] == measure) & (summary[list(where)] == pd.Series(where)).all(axis=1)
    part = summary[asked].set_index("reference_set_size").sort_index()
    # Two or three repetitions of one setting say nothing about their own spread: it is pooled over the experiment.
    pooled = np.sqrt((summary.loc[summary["measure"] == measure, "se"] ** 2 * summary["n"]).mean())
    error = part["se"].fillna(0.0).clip(lower=float(np.nan_to_num(pooled)) / np.sqrt(part["n"]))
    return part.assign(half=2 * error)[["mean", "half", "n", "share_proven"]]


def _one(claim: str, course: pd.DataFrame, k: int, got: str, row: str = "", column: str = "") -> Iterator[Reading]:
    """Yield a precision that the text states, with two standard errors, if the profile has its setting."""
    if k in course.index:
        at = course.loc[k]
        note = f"{at['n']:.0f} repetitions on one data set, {at['share_proven']:.0%} of the cliques proven maximum"
        low, high = at["mean"] - at["half"], at["mean"] + at["half"]
        yield Reading(claim, float(at["mean"]), float(low), float(high), got, note, row, column)


def _in_all(claim: str, effects: Mapping[Any, tuple[float, float]], got: str) -> Iterator[Reading]:
    """Count settings in which an effect, given with its half-width, is positive."""
    if effects:
        held = sum(effect > 0 for effect, _ in effects.values())
        surely = sum(effect - half > 0 for effect, half in effects.values())
        perhaps = sum(effect + half > 0 for effect, half in effects.values())
        against = [str(setting) for setting, (effect, half) in effects.items() if effect + half <= 0]
        note = f"not so at {'; '.join(against[:6])}" if against else ""
        yield Reading(claim, held, surely, perhaps, got, note, published=len(effects))


def _courses(
    summary: pd.DataFrame,
    measure: str,
    effect: Callable[[pd.DataFrame], tuple[float, float]],
    ds: list[int] | None = None,
) -> dict[str, tuple[float, float]]:
    """Return an effect of every course over k in England, by d and alpha."""
    english = summary[summary["scenario"] == "england"]
    found = {}
    for (d, alpha), _ in english.groupby(["n_reference_sets", "alpha"]):
        course = _at(summary, measure, scenario="england", n_reference_sets=d, alpha=alpha)
        if len(course) > 1 and (ds is None or d in ds):
            found[f"d={d}, alpha {alpha:g}"] = effect(course)
    return found


def _fall(course: pd.DataFrame) -> tuple[float, float]:
    """Return how far a course falls from the smallest to the largest sets."""
    ends = course.iloc[[0, -1]]
    return float(ends["mean"].iloc[0] - ends["mean"].iloc[1]), float(np.hypot(*ends["half"]))


def _first(summary: pd.DataFrame, got: str) -> Iterator[Reading]:
    course = _at(summary, "precision", scenario="england", n_reference_sets=20, alpha=0.5)
    claim = "precision of the first experiment, England, at the safest setting (d=20, k=10, alpha .5)"
    yield from _one(claim, course, 10, got)
    settings = summary[(summary["scenario"] == "england") & (summary["measure"] == "precision")]
    reached = {
        f"d={row.n_reference_sets}, k={row.reference_set_size}, alpha {row.alpha:g}": (
            row.mean - 0.25,
            2 * float(np.nan_to_num(row.se)),
        )
        for row in settings.itertuples()
    }
    claim = "first experiment, England: the attack succeeds (precision of .25 and more), in all settings"
    yield from _in_all(claim, reached, got)
    falls = _courses(summary, "precision", _fall)
    claim = "first experiment, England: precision falls with k for all but the largest d (d = 20 and 100)"
    yield from _in_all(claim, {at: fall for at, fall in falls.items() if not at.startswith("d=500")}, got)
    claim = "first experiment, England: precision does not fall with k at the largest d (d = 500; by .1 at most)"
    flat = {at: (0.1 - fall, half) for at, (fall, half) in falls.items() if at.startswith("d=500")}
    yield from _in_all(claim, flat, got)
    claim = "first experiment, England: precision falls fastest with k at the smallest d"
    faster = {}
    for alpha in (0.1, 0.5, 0.9):
        small, others = f"d=20, alpha {alpha:g}", [f"d={d}, alpha {alpha:g}" for d in (100, 500)]
        if small in falls and all(other in falls for other in others):
            rival = max(falls[other] for other in others)
            faster[f"alpha {alpha:g}"] = (falls[small][0] - rival[0], float(np.hypot(falls[small][1], rival[1])))
    yield from _in_all(claim, faster, got)
    recall = _courses(summary, "recall", _fall, [500])
    claim = "first experiment, England: recall falls with k at d = 500, alpha .1 and .5"
    yield from _in_all(claim, {at: fall for at, fall in recall.items() if not at.endswith("0.9")}, got)


def _second(summary: pd.DataFrame, got: str) -> Iterator[Reading]:
    claim = "second experiment, England: precision approaches .25 for large k, for all levels of d"
    for d in (20, 60, 100):
        for alpha in (0.1, 0.5):
            course = _at(summary, "precision", scenario="england", n_reference_sets=d, alpha=alpha)
            yield from _one(claim, course, 30, got, row=f"d={d}", column=f"alpha {alpha:g}")
    recall = summary[(summary["scenario"] == "england") & (summary["measure"] == "recall")]
    table = recall.pivot_table(index=["alpha", "reference_set_size"], columns="n_reference_sets", values="mean")
    if table.shape[1] > 1:
        drops = {f"alpha {a:g}, k={k}": (0.1 - (row.iloc[0] - row.iloc[-1]), 0.0) for (a, k), row in table.iterrows()}
        claim = "second experiment, England: recall falls with d only slightly (by .1 at most)"
        yield from _in_all(claim, drops, got)
    kept = _courses(summary, "recall", _kept)
    yield from _in_all("second experiment, England: recall does not fall with k (by a third of it at most)", kept, got)
    if len(recall):
        above = recall["mean"] > 0.25
        claim = "second experiment, England: share of settings with recall above .25"
        yield Reading(claim, float(above.mean()), got=got, note=f"of {len(recall)} settings; rarely is one in ten")


def _kept(course: pd.DataFrame) -> tuple[float, float]:
    """Return what is left of a course beyond two thirds of its start, and two standard errors of it."""
    start, end = course.iloc[0], course.iloc[-1]
    return float(end["mean"] - 2 / 3 * start["mean"]), float(np.hypot(end["half"], 2 / 3 * start["half"]))


def _germany(summary: pd.DataFrame, england: str) -> Iterator[Reading]:
    for alpha in (0.1, 0.5):
        course = _at(summary, "precision", scenario="germany", n_reference_sets=20, alpha=alpha)
        other = _at(summary, "precision", scenario="england", n_reference_sets=20, alpha=alpha)
        row = f"alpha {alpha:g}"
        claim = "second experiment, Germany: precision close to 0 (d=20, k=30)"
        yield from _one(claim, course, 30, PUBLIC, row=row)
        if 30 in course.index and 30 in other.index:
            effect = float(other.loc[30, "mean"] - course.loc[30, "mean"])
            half = float(np.hypot(other.loc[30, "half"], course.loc[30, "half"]))
            claim = "second experiment: precision is higher in England than in Germany (d=20, k=30)"
            yield Reading(claim, effect, effect - half, effect + half, england, row=row)
    recall = summary[
        (summary["scenario"] == "germany") & (summary["measure"] == "recall") & (summary["n_reference_sets"] == 20)
    ]
    recall = recall[recall["reference_set_size"] >= 20]["mean"]
    if len(recall):
        claim = "second experiment, Germany: recall at d=20 and k of 20 and more, largest"
        yield Reading(claim, float(recall.max()), got=PUBLIC, note=f"of {len(recall)} settings")
