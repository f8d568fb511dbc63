"""Contrasts behind the sentences of Holohan et al. (2017): one row a drawing of the data, one column a contrast."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import default_rng

from reident.base import FloatArray
from reident.experiments.holohan2017 import anonymous, draw, released
from reident.tables.k_epsilon import class_noise_scales

_BOTH = ["case", "method"]


def relative_errors(method: str, k: int, *, is_whole: bool = False, seed: int, **data: Any) -> FloatArray:
    """Draw the sorted relative errors at epsilon 1 of noise scaled to classes, or to the range of all values."""
    values, classes = released(draw(**data), method, k)
    classes = np.zeros_like(classes) if is_whole else classes
    scales = class_noise_scales(values, classes, epsilon=1.0)[classes]
    noise = default_rng(seed).laplace(size=values.size) * scales
    return np.sort(np.abs(noise / values))


def average_of_copies(datasets: Sequence[int], *, spread: float = 1.0) -> pd.DataFrame:
    """Return the error of the average of 16 noisy copies of Adult's heights, over that of one copy (section IV).

    Each copy has a budget of its own, or all share one budget.
    """
    rows = {}
    for dataset in datasets:
        values, classes = released(draw("adult", dataset, spread=spread), "mondrian", 10)
        scales = class_noise_scales(values, classes, epsilon=1.0)[classes]
        noise = default_rng(dataset).laplace(size=(16, values.size)) * scales
        ratio = np.abs(noise.mean(axis=0)).mean() / np.abs(noise[0]).mean()
        rows[dataset] = {"own budgets": ratio, "shared budget": 16 * ratio}
    return pd.DataFrame(rows).T


def _wide(rows: pd.DataFrame, value: str, columns: list[str], where: str = "") -> pd.DataFrame:
    """Return an expression in the columns of the trials: one row a drawing, one column a cell."""
    rows = rows.query(where) if where else rows
    return rows.assign(value=rows.eval(value)).pivot_table("value", "dataset", columns)


def _between(rows: pd.DataFrame, value: str, columns: list[str], high: str, low: str) -> pd.DataFrame:
    """Return an expression for the trials of the query `high` less that for `low`, where both were run."""
    return (_wide(rows, value, columns, high) - _wide(rows, value, columns, low)).dropna(axis=1)


def _narrowing(datasets: Sequence[int]) -> pd.DataFrame:
    """Return by how much the mean range of Adult's classes that stay falls from k = 50 to k = 100, cm."""
    falls = {}
    for dataset in datasets:
        adult = draw("adult", dataset)
        at_50, at_100 = (anonymous(adult, "ola", k).classes for k in (50, 100))
        heights = adult.table["height_cm"][at_100 >= 0]
        spans = [heights.groupby(classes[at_100 >= 0]).agg(np.ptp).mean() for classes in (at_50, at_100)]
        falls[dataset] = {"mean range": spans[0] - spans[1]}
    return pd.DataFrame(falls).T


def effects(
    classes: pd.DataFrame, frame: pd.DataFrame, times: pd.DataFrame, copies: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return the contrasts of each sentence by its item in ``data/published/holohan2017.yaml``; absent if not run.

    `classes`, `frame` and `times` are sweeps of `classes_trial`, `trial` and `time_trial`, `copies` is
    `average_of_copies`.
    """
    average = "IV: the average of independently noised copies is nearer to the value than one copy"
    by_item = {
        average: copies[["own budgets"]],
        **_classes(classes), **_risks(frame), **_suppression(frame), **_speed(times),
    }  # fmt: skip
    return {item: contrasts for item, contrasts in by_item.items() if contrasts.size}


def _classes(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the contrasts of k-anonymous classes: their losses, and the expected error at epsilon 1."""
    error, adult, ola = "error_at_epsilon_1", "case == 'adult'", "case == 'adult' and method == 'ola'"
    steps = [
        _between(rows, error, _BOTH, f"k == {high}", f"k == {low}")
        for low, high in itertools.pairwise(sorted(rows["k"].unique()))
    ]
    florida = "case == 'florida' and method == 'ola'"
    spike = [_between(rows, error, ["case"], f"{florida} and k == 5", f"{florida} and k == {k}") for k in (2, 10)]
    return {
        "III-A: Adult, OLA, k > 20: losses of the other quasi-identifiers do not change": _wide(
            rows, "loss_with_number - loss_alone", ["k"], f"{ola} and k > 20"
        ),
        "III-A: Adult, OLA, k > 20: loss of height is above .8": _wide(
            rows, "loss_of_number", ["k"], f"{ola} and k > 20"
        ),
        "III-A: Adult, Mondrian: the loss falls by 4 to 10 % without height, in all k": _wide(
            rows, "100 * (1 - loss_alone / loss_with_number)", ["k"], f"{adult} and method == 'mondrian'"
        ),
        "III-B: noise on the whole range has the larger error, in all cases and methods": _wide(
            rows, f"error_of_whole_range / {error}", _BOTH, "k == 10"
        ),
        "VII-A: Adult: error at epsilon 8 and more is at most 5 %": _wide(
            rows, f"100 / 8 * {error}", ["method", "k"], adult
        ),
        "VII-A: error rises with k, in all steps, cases and methods": pd.concat([pd.DataFrame(), *steps], axis=1),
        "VII-A: Adult, OLA: error drops from k = 50 to k = 100": _between(
            rows, error, ["method"], f"{ola} and k == 50", f"{ola} and k == 100"
        ),
        "VII-A: more suppression narrows classes: Adult, OLA, classes kept at k = 50 and 100": _narrowing(
            rows.query(ola)["dataset"].unique().tolist()
        ),
        "VII-A: Florida, OLA: error has a spike at k = 5": pd.concat(spike, axis=1),
    }


def _risks(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the contrasts of releases without additional suppression: error and linking risk."""
    plain = frame.query("confidence == 0")
    plain = plain.assign(product=plain["error_expected"] * plain["epsilon"])
    plain["mean_product"] = plain.groupby([*_BOTH, "k", "dataset"])["product"].transform("mean")
    moderate = "case == 'adult' and k in [10, 20] and epsilon >= .5 and epsilon <= 2"
    moderate_risk = _wide(plain, "100 * linking_risk", ["method", "k", "epsilon"], moderate)
    attainable = "VII-B: Adult: linking risk below 5 % is attainable for k 10 or 20 and epsilon .5 to 2, in all methods"
    ends = {name: (f"{name} == {name}.max()", f"{name} == {name}.min() and {name} < {name}.max()")
            for name in ("epsilon", "k")}  # fmt: skip
    return {
        "VII-A: error times epsilon is constant, in all cases, methods and k": _wide(
            plain, "product / mean_product - 1", [*_BOTH, "k", "epsilon"]
        ),
        attainable: moderate_risk.T.groupby("method").min().T,
        "VII-B: Adult: linking risk at k = 100 and the largest epsilon is below or close to 5 %": _wide(
            plain, "100 * linking_risk", ["method", "epsilon"], "case == 'adult' and k == 100 and epsilon >= 8"
        ),
        "VII-B: linking risk falls with epsilon, in all cases, methods and k": _between(
            plain, "linking_risk", [*_BOTH, "k"], *ends["epsilon"]
        ),
        "VII-B: linking risk falls with k, in all cases, methods and epsilon": -_between(
            plain, "linking_risk", [*_BOTH, "epsilon"], *ends["k"]
        ),
        "VII-B: linking risk exceeds 1/k somewhere, in all cases and methods": _wide(
            plain, "linking_risk * k", [*_BOTH, "k", "epsilon"]
        ).T.groupby(_BOTH).max().T,
    }  # fmt: skip


def _suppression(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    sure, small = frame.query("confidence == .99"), "case == 'adult' and epsilon <= .5"
    return {
        "VII-C: Adult: 99 % confidence suppresses less than 2 % at epsilon .5 and less, in all k and methods": _wide(
            sure, "100 * suppressed", ["method", "k", "epsilon"], small
        ),
        "VII-C: Adult, OLA: with its own suppression within 5 % in most cases at epsilon .5 and less": _wide(
            sure, "total_suppressed <= .05", ["method"], f"{small} and method == 'ola'"
        ),
        "VII-C: Mondrian needs more suppression than OLA for 99 %, in all cases, k and epsilon": _between(
            sure, "100 * suppressed", ["case", "k", "epsilon"], "method == 'mondrian'", "method == 'ola'"
        ),
        "VII-C: more confidence, less suppression, in all cases, methods, k and epsilon": _between(
            frame, "100 * suppressed", [*_BOTH, "k", "epsilon"], "confidence == .9", "confidence == .99"
        ),
    }


def _speed(times: pd.DataFrame) -> dict[str, pd.DataFrame]:
    contrasts = {}
    for algorithm, how in () if times.empty else (("ours", ""), ("published", " by the textbook")):
        ola, mondrian = (
            _wide(times, "factor", ["case", "k"], f"algorithm == '{algorithm}' and method == '{method}'")
            for method in ("ola", "mondrian")
        )
        start = "at least" if how else "(k, epsilon)-anonymity is at least"
        contrasts[f"VII-D: OLA{how}: {start} 14 times faster"] = ola
        contrasts[f"VII-D: OLA{how}: at most 32 times faster"] = ola
        contrasts[f"VII-D: Mondrian{how}: (k, epsilon)-anonymity takes longer"] = mondrian
    return contrasts
