"""What the study found for each claim of the paper; its curves are printed as pictures only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from reident import published
from reident.data.papers import claims
from reident.studies.comparison import DRAWN, PUBLIC, Reading, ledger
from reident.studies.kroll2016 import SCENARIOS, trials
from reident.studies.together import confidence, prediction

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
        *_areas(frames["areas"], facts, england),
        *_utility(frames["utility"], england),
        *_uses(frames["utility"], england),
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
            yield Reading("possible matches of the two files", orders.mean(), *prediction(orders),
                          england if name == "england" else PUBLIC, row=name, published=facts[f"{name}_candidates"],
                          draws=len(orders))  # fmt: skip


def _conjectures(cities: pd.DataFrame, pairs: pd.DataFrame) -> Iterator[Reading]:
    """Test the three conjectures on the city pairs' mean released distances, to two standard errors."""
    columns = {pair: f"{pair}_km" for pair in trials.PAIRS}
    for pair, km in pairs.itertuples(index=False):
        above = int((cities[columns[pair]] > km + 1e-9).sum())
        yield Reading("Proposition 1: released distances above the true one", above, got=PUBLIC, row=pair)
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


def _areas(areas: pd.DataFrame, facts: pd.Series, got: str) -> Iterator[Reading]:
    """Judge the printed precision in England under every reference area."""
    printed = {10: facts["england_safest_first"], 30: facts["england_large_k"]}
    by, measures = ["area", "reference_set_size", "dataset"], ["precision", "strong_precision"]
    for (area, k), part in areas.groupby(by, sort=False)[measures].mean().groupby(level=[0, 1], sort=False):
        if k in printed:
            note = f"stronger search: {part['strong_precision'].mean():.3f}"
            yield Reading("precision in England at d = 20, alpha .5, by reference area", part["precision"].mean(),
                          *_within(prediction(part["precision"])), got, note, area, f"k={k}", printed[k],
                          len(part))  # fmt: skip


def _utility(utility: pd.DataFrame, got: str) -> Iterator[Reading]:
    by = ["n_reference_sets", "reference_set_size"]
    measures = ["nearest_neighbour", "spearman_centre", "spearman_border"]
    # One line a data set, one column a setting.
    wide = {name: utility.pivot_table(index="dataset", columns=by, values=name) for name in measures}
    neighbour = wide[measures[0]]
    d_values, k_values = (neighbour.columns.unique(name) for name in by)
    enough = neighbour.loc[:, [column for column in neighbour if column[0] >= 10]]
    claim = "figure 2: share of right nearest neighbours at d of 10 and more, least over k"
    if enough.shape[1]:
        yield Reading(claim, *_mean(enough.min(axis=1)), got=got)
    if {5, 20} <= set(d_values) and len(k_values) > 1:
        fall = {d: np.log(neighbour[d, k_values[0]] / neighbour[d, k_values[-1]]) for d in (5, 20)}
        claim = "figure 2: right nearest neighbours fall faster with k at d = 5 than at d = 20"
        yield Reading(claim, *_mean(fall[5] - fall[20]), got=got, note="log of the ratio of both falls")
    for claim, level, sign in (
        ("figure 2: rank correlation falls with k, at every d and both points", 1, -1),
        ("figure 2: rank correlation rises with d, at every k and both points", 0, 1),
    ):
        ends = {}
        for point in measures[1:]:
            for value, line in wide[point].T.groupby(level=1 - level):
                if len(line) > 1:
                    ends[f"{point.removeprefix('spearman_')}, {by[1 - level]} {value}"] = _effect(
                        sign * (line.iloc[-1] - line.iloc[0])
                    )
        yield from _in_all(claim, ends, got)
    ahead = wide["spearman_centre"] - wide["spearman_border"]
    claim = "figure 2: the central point is kept better than the border one, at every d and k"
    yield from _in_all(claim, {f"d={d}, k={k}": _effect(ahead[d, k]) for d, k in ahead}, got)


def _uses(utility: pd.DataFrame, got: str) -> Iterator[Reading]:
    """Judge the uses that the paper calls accurate at a middling setting, over data sets."""
    at = utility[(utility["n_reference_sets"] == 20) & (utility["reference_set_size"] == 20)]
    if len(at):
        means = at.groupby("dataset").mean(numeric_only=True)
        for claim, values in (
            ("discussion: cluster analysis gives very similar results (adjusted Rand index of .9, d=20, k=20)",
             means["clusters_ari"]),
            ("discussion: local statistics are accurate (error of Moran's I on neighbours at d=20, k=20)",
             means["moran_contiguity_error"]),
            ("discussion: local statistics are accurate (error of Geary's C on neighbours at d=20, k=20)",
             means["geary_contiguity_error"]),
            ("discussion: gaps filled from neighbours (error over that by true distances, d=20, k=20)",
             means["imputation_error"]),
            ("discussion: local regression (error of slopes over that by true distances, d=20, k=20)",
             means["gwr_slope_error"] / means["gwr_slope_error_true"]),
            ("discussion: spatial eigenvectors (share of the first ten that is kept, d=20, k=20)",
             means["pcnm_overlap"]),
            ("discussion: scan for clusters (overlap with the true one over that by true distances, d=20, k=20)",
             means["scan_overlap"].rename(None) / means["scan_overlap_true"].mean()),
        ):  # fmt: skip
            yield Reading(claim, *_mean(values), got=got)


def _effect(values: pd.Series) -> tuple[float, float]:
    """Return a mean over data sets and the half width of its interval; nothing is sure of one data set."""
    low, high = confidence(values)
    return float(values.mean()), 1e9 if np.isnan(low) else (high - low) / 2


def _mean(values: pd.Series) -> tuple[float, float, float]:
    """Return a mean over data sets with its interval."""
    mean, half = _effect(values)
    return mean, mean - half, mean + half


def _within(interval: tuple[float, float]) -> tuple[float, float]:
    """Cut an interval of shares at 0 and 1."""
    return float(np.clip(interval[0], 0, 1)), float(np.clip(interval[1], 0, 1))


def _at(summary: pd.DataFrame, measure: str, **where: Any) -> pd.DataFrame:
    """Return a measure's means over data sets in the settings asked for, by the size of the sets.

    `half` is the half width of the interval of the mean, `further` that of one further data set.
    """
    asked = (summary["measure"] == measure) & (summary[list(where)] == pd.Series(where)).all(axis=1)
    part = summary[asked].set_index("reference_set_size").sort_index()
    half = (part["high"] - part["mean"]).fillna(1e9)
    part = part.assign(half=half, further=half * np.sqrt(part["n"] + 1))
    return part[["mean", "half", "further", "n", "share_proven"]]


def _one(
    claim: str, summary: pd.DataFrame, k: int, got: str, row: str = "", column: str = "", **where: Any
) -> Iterator[Reading]:
    """Yield a precision that the text states, with the interval of a further data set, if the profile has its setting.

    Both searches met the same graphs; the paper's is judged.
    """
    course, ours = (_at(summary, measure, **where) for measure in ("precision", "strong_precision"))
    if k in course.index:
        at = course.loc[k]
        note = f"stronger search: {ours.loc[k, 'mean']:.3f}; {at['share_proven']:.0%} of the cliques proven maximum"
        low, high = _within((at["mean"] - at["further"], at["mean"] + at["further"]))
        yield Reading(claim, float(at["mean"]), low, high, got, note, row, column, draws=int(at["n"]))


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
    claim = "precision of the first experiment, England, at the safest setting (d=20, k=10, alpha .5)"
    yield from _one(claim, summary, 10, got, scenario="england", n_reference_sets=20, alpha=0.5)
    settings = summary[(summary["scenario"] == "england") & (summary["measure"] == "precision")]
    reached = {
        f"d={row.n_reference_sets}, k={row.reference_set_size}, alpha {row.alpha:g}": (
            row.mean - 0.25,
            row.high - row.mean if row.n > 1 else 1e9,
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
        for alpha in (0.1, 0.5, 0.9):
            where = {"scenario": "england", "n_reference_sets": d, "alpha": alpha}
            yield from _one(claim, summary, 30, got, f"d={d}", f"alpha {alpha:g}", **where)
    yield from _larger(summary, got)
    recall = summary[(summary["scenario"] == "england") & (summary["measure"] == "recall")]
    table = recall.pivot_table(index=["alpha", "reference_set_size"], columns="n_reference_sets", values="mean")
    if table.shape[1] > 1:
        halves = (
            recall.assign(half=recall["high"] - recall["mean"])
            .pivot_table(index=["alpha", "reference_set_size"], columns="n_reference_sets", values="half", dropna=False)
            .fillna(1e9)
        )
        drops = {
            f"alpha {at[0]:g}, k={at[1]}": (
                0.1 - (row.iloc[0] - row.iloc[-1]),
                float(np.hypot(*halves.loc[at].iloc[[0, -1]])),
            )
            for at, row in table.iterrows()
        }
        claim = "second experiment, England: recall falls with d only slightly (by .1 at most)"
        yield from _in_all(claim, drops, got)
    kept = _courses(summary, "recall", _kept)
    yield from _in_all("second experiment, England: recall does not fall with k (by a third of it at most)", kept, got)
    if len(recall):
        above = recall["mean"] > 0.25
        claim = "second experiment, England: share of settings with recall above .25"
        yield Reading(claim, float(above.mean()), got=got, note=f"of {len(recall)} settings; rarely is one in ten")


def _larger(summary: pd.DataFrame, got: str) -> Iterator[Reading]:
    """Judge that still larger sets lower precision no further, by .05 at most, on average over settings."""
    complete = {30, 100} <= set(summary["reference_set_size"])
    effects = list(_courses(summary, "precision", _drop).values()) if complete else []
    if effects:
        effect, half = np.mean([e for e, _ in effects]), np.sqrt(np.sum([h**2 for _, h in effects])) / len(effects)
        claim = "second experiment: k of 50 and 100 does not decrease precision further"
        yield Reading(claim, effect, effect - half, effect + half, got, note=".05 less the mean fall from k = 30")


def _drop(course: pd.DataFrame) -> tuple[float, float]:
    at, later = course.loc[30], course.loc[[k for k in (50, 100) if k in course.index]]
    half = float(np.hypot(at["half"], np.sqrt((later["half"] ** 2).sum()) / len(later)))
    return float(0.05 - (at["mean"] - later["mean"].mean())), half


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
        yield from _one(claim, summary, 30, PUBLIC, row, scenario="germany", n_reference_sets=20, alpha=alpha)
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
