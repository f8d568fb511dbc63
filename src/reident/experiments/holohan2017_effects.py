"""Contrasts behind the sentences of Holohan et al. (2017): one row a drawing of the data, one column a contrast."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from reident.base import FloatArray
from reident.experiments.holohan2017 import anonymous, draw, released
from reident.tables.k_epsilon import class_noise_scales

_BOTH = ["case", "method"]


def relative_errors(method: str, k: int, *, is_whole: bool = False, seed: int, **data: Any) -> FloatArray:
    """Draw the sorted relative errors at epsilon 1 of noise scaled to classes, or to the range of all values."""
    values, classes = released(method, k, **data)
    classes = np.zeros_like(classes) if is_whole else classes
    scales = class_noise_scales(values, classes, epsilon=1.0)[classes]
    noise = np.random.default_rng(seed).laplace(size=values.size) * scales
    return np.asarray(np.sort(np.abs(noise / values)))


def average_of_copies(datasets: Sequence[int], *, n_copies: int = 16, spread: float = 1.0) -> pd.DataFrame:
    """Return the error of the average of noisy copies of Adult's heights, over that of one copy (section IV).

    Each copy has a budget of its own, or all share one budget.
    """
    rows = {}
    for dataset in datasets:
        values, classes = released("mondrian", 10, case="adult", dataset=dataset, spread=spread)
        scales = class_noise_scales(values, classes, epsilon=1.0)[classes]
        noise = np.random.default_rng(dataset).laplace(size=(n_copies, values.size)) * scales
        ratio = np.abs(noise.mean(axis=0)).mean() / np.abs(noise[0]).mean()
        rows[dataset] = {"own budgets": ratio, "shared budget": n_copies * ratio}
    return pd.DataFrame(rows).T


def _wide(rows: pd.DataFrame, measure: str, columns: list[str], scale: float = 1.0) -> pd.DataFrame:
    """Return a measure, one row a drawing and one column a cell."""
    return scale * rows.pivot_table(measure, "dataset", columns) if len(rows) else pd.DataFrame()


def _between(rows: pd.DataFrame, measure: str, along: str, high: Any, low: Any, each: list[str]) -> pd.DataFrame:
    """Return the difference of a measure at two values of a column, one column for each other cell."""
    first, second = (_wide(rows[rows[along] == value], measure, each) for value in (high, low))
    return (first - second).dropna(axis=1) if len(first) and len(second) and high != low else pd.DataFrame()


def _narrowing(datasets: Sequence[int]) -> pd.DataFrame:
    """Return by how much the mean range of Adult's classes that stay falls from k = 50 to k = 100, cm."""
    falls = {}
    for dataset in datasets:
        heights = draw("adult", dataset, n_records=0, spread=1.0).table["height_cm"].to_numpy()
        at_50, at_100 = (anonymous("ola", k, case="adult", dataset=dataset, n_records=0, spread=1.0).classes
                         for k in (50, 100))  # fmt: skip
        stay = at_100 >= 0
        spans = [pd.Series(heights[stay]).groupby(classes[stay]).agg(np.ptp).mean() for classes in (at_50, at_100)]
        falls[dataset] = {"mean range": spans[0] - spans[1]}
    return pd.DataFrame(falls).T


def effects(
    classes: pd.DataFrame, frame: pd.DataFrame, times: pd.DataFrame, copies: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return the contrasts of each sentence by its item in ``data/published/holohan2017.yaml``; absent if not run.

    `classes`, `frame` and `times` are sweeps of `classes_trial`, `trial` and `time_trial`, `copies` is
    `average_of_copies`.
    """
    by_item = {**_losses(classes), **_errors(classes, frame), **_risks(frame), **_suppression(frame), **_speed(times)}
    by_item["IV: the average of independently noised copies is nearer to the value than one copy"] = copies[
        ["own budgets"]
    ]
    return {item: contrasts for item, contrasts in by_item.items() if contrasts.size}


def _losses(classes: pd.DataFrame) -> dict[str, pd.DataFrame]:
    adult = classes[classes["case"] == "adult"]
    fall = adult.assign(fall=100 * (1 - adult["loss_alone"] / adult["loss_with_number"])).query("method == 'mondrian'")
    large = adult.assign(change=adult["loss_with_number"] - adult["loss_alone"]).query("method == 'ola' and k > 20")
    ratio = classes.assign(ratio=classes["error_of_whole_range"] / classes["error_at_epsilon_1"]).query("k == 10")
    same = "III-A: Adult, OLA, k > 20: losses of the other quasi-identifiers do not change"
    return {
        same: _wide(large, "change", ["k"]),
        "III-A: Adult, OLA, k > 20: loss of height is above .8": _wide(large, "loss_of_number", ["k"]),
        "III-A: Adult, Mondrian: the loss falls by 4 to 10 % without height, in all k": _wide(fall, "fall", ["k"]),
        "III-B: noise on the whole range has the larger error, in all cases and methods": _wide(ratio, "ratio", _BOTH),
    }


def _errors(classes: pd.DataFrame, frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    error = "error_at_epsilon_1"
    adult, florida = (
        classes[(classes["case"] == case) & (classes["method"] == "ola")] for case in ("adult", "florida")
    )
    ks = sorted(classes["k"].unique())
    steps = [_between(classes, error, "k", high, low, _BOTH) for low, high in itertools.pairwise(ks)]
    plain = frame[frame["confidence"] == 0]
    product = plain.assign(off=plain["error_expected"] * plain["epsilon"])
    product["off"] /= product.groupby([*_BOTH, "k", "dataset"])["off"].transform("mean")
    product["off"] -= 1
    spike = [_between(florida, error, "k", 5, k, ["case"]) for k in (2, 10)]
    narrows = "VII-A: more suppression narrows classes: Adult, OLA, classes kept at k = 50 and 100"
    return {
        "VII-A: Adult: error at epsilon 8 and more is at most 5 %": _wide(
            classes[classes["case"] == "adult"], error, ["method", "k"], 100 / 8
        ),
        "VII-A: error rises with k, in all steps, cases and methods": pd.concat(steps, axis=1) if steps else adult[:0],
        "VII-A: error times epsilon is constant, in all cases, methods and k": _wide(
            product, "off", [*_BOTH, "k", "epsilon"]
        ),
        "VII-A: Adult, OLA: error drops from k = 50 to k = 100": _between(adult, error, "k", 50, 100, ["method"]),
        narrows: _narrowing([int(dataset) for dataset in adult["dataset"].unique()]),
        "VII-A: Florida, OLA: error has a spike at k = 5": pd.concat(spike, axis=1),
    }


def _risks(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    plain = frame[frame["confidence"] == 0]
    adult = plain[plain["case"] == "adult"]
    moderate = adult[adult["k"].isin([10, 20]) & adult["epsilon"].between(0.5, 2)]
    lowest = moderate.groupby(["dataset", "method", "k", "epsilon"])["linking_risk"].mean()
    lowest = 100 * lowest.groupby(["dataset", "method"]).min().unstack()  # noqa: PD010
    above = plain.assign(above=plain["linking_risk"] * plain["k"])
    above = above.groupby(["dataset", *_BOTH, "k", "epsilon"])["above"].mean().groupby(["dataset", *_BOTH]).max()
    attainable = "VII-B: Adult: linking risk below 5 % is attainable for k 10 or 20 and epsilon .5 to 2, in all methods"
    largest = adult[(adult["k"] == 100) & (adult["epsilon"] >= 8)]
    epsilons, ks = ((plain[name].max(), plain[name].min()) for name in ("epsilon", "k"))
    by_epsilon = _between(plain, "linking_risk", "epsilon", *epsilons, [*_BOTH, "k"])
    by_k = _between(plain, "linking_risk", "k", *ks[::-1], [*_BOTH, "epsilon"])
    return {
        attainable: lowest,
        "VII-B: Adult: linking risk at k = 100 and the largest epsilon is below or close to 5 %": _wide(
            largest, "linking_risk", ["method", "epsilon"], 100
        ),
        "VII-B: linking risk falls with epsilon, in all cases, methods and k": by_epsilon,
        "VII-B: linking risk falls with k, in all cases, methods and epsilon": by_k,
        "VII-B: linking risk exceeds 1/k somewhere, in all cases and methods": above.unstack(_BOTH),  # noqa: PD010
    }


def _suppression(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    percent = frame.assign(percent=100 * frame["suppressed"], within=(frame["total_suppressed"] <= 0.05).astype(float))
    sure = percent[percent["confidence"] == 0.99]
    small = sure[(sure["case"] == "adult") & (sure["epsilon"] <= 0.5)]
    within = "VII-C: Adult, OLA: with its own suppression within 5 % in most cases at epsilon .5 and less"
    return {
        "VII-C: Adult: 99 % confidence suppresses less than 2 % at epsilon .5 and less, in all k and methods": _wide(
            small, "percent", ["method", "k", "epsilon"]
        ),
        within: _wide(small[small["method"] == "ola"], "within", ["method"]),
        "VII-C: Mondrian needs more suppression than OLA for 99 %, in all cases, k and epsilon": _between(
            sure, "percent", "method", "mondrian", "ola", ["case", "k", "epsilon"]
        ),
        "VII-C: more confidence, less suppression, in all cases, methods, k and epsilon": _between(
            percent, "percent", "confidence", 0.9, 0.99, [*_BOTH, "k", "epsilon"]
        ),
    }


def _speed(times: pd.DataFrame) -> dict[str, pd.DataFrame]:
    contrasts: dict[str, pd.DataFrame] = {}
    if times.empty:
        return contrasts
    for algorithm, how in (("ours", ""), ("published", " by the textbook")):
        raced = times[times["algorithm"] == algorithm]
        ola, mondrian = (_wide(raced[raced["method"] == name], "factor", ["case", "k"]) for name in ("ola", "mondrian"))
        start = "at least" if how else "(k, epsilon)-anonymity is at least"
        contrasts[f"VII-D: OLA{how}: {start} 14 times faster"] = ola
        contrasts[f"VII-D: OLA{how}: at most 32 times faster"] = ola
        contrasts[f"VII-D: Mondrian{how}: (k, epsilon)-anonymity takes longer"] = mondrian
    return contrasts
