"""The trials of study abril2012: one draw of records, protected, linked, learned, and tried on other records."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from reident import LearnedLinkage, Microaggregation, learn_linkage, link_records, microaggregate
from reident.base import DataError, SearchLimitWarning
from reident.data.datasets import load_casc
from reident.data.simulate import money_table
from reident.studies.abril2012 import MODELS
from reident.tables.microaggregation import NAMED_PROTECTIONS

__all__ = [
    "CONDITIONS",
    "available_data",
    "draw_records",
    "is_at_hand",
    "learn",
    "probabilistic_trial",
    "table",
    "trial",
    "variants",
    "whole_trial",
]

#: The same for all settings of a run; a trial without them takes the paper's.
CONDITIONS = ("drawn", "models", "own")

# Records drawn for each file, as in the paper.
_DRAWN = 400

#: Seed of the simulated stand-in table: any fixed number.
_STAND_IN = 4


def is_at_hand(name: str) -> bool:
    """Tell whether a CASC file is at hand."""
    try:
        load_casc(name)
    except DataError:
        return False
    return True


def available_data() -> str:
    """Return "census" if the CASC file is at hand, else "simulated"."""
    return "census" if is_at_hand("census") else "simulated"


@cache
def table(data: str) -> pd.DataFrame:
    """Return the table that records are drawn from; never modified."""
    return load_casc("census") if data == "census" else money_table(1080, rng=_STAND_IN)


def draw_records(data: str, rng: np.random.Generator, drawn: int = _DRAWN) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw records to learn from, and as many others."""
    chosen = rng.choice(len(table(data)), 2 * drawn, replace=False)
    return table(data).iloc[chosen[:drawn]], table(data).iloc[chosen[drawn:]]


def own(protection: Any, k: int | None = None) -> dict[str, Any]:
    """Return a protection as settings of a trial: its name, and what makes it if it is not one of the paper."""
    if isinstance(protection, str):
        if k is None:
            return {"file": protection}
        groups = [size for size, _ in NAMED_PROTECTIONS[protection]]
        protection = {"name": f"{protection}, k = {k}", "groups": groups}
    made = {"groups": protection["groups"], "k": k or protection["k"], "columns": protection.get("columns")}
    return {"file": protection["name"], "own": made}


def protect(records: pd.DataFrame, params: dict[str, Any]) -> Microaggregation:
    """Microaggregate as the setting says: `file`, a name of `NAMED_PROTECTIONS`, or `own`."""
    made = params.get("own")
    if made is None:
        return microaggregate(records, params["file"])
    columns = made["columns"] or list(records.columns[: sum(made["groups"])])
    ends = np.cumsum(made["groups"])
    groups = [columns[end - size : end] for end, size in zip(ends.tolist(), made["groups"], strict=True)]
    return microaggregate(records, groups, made["k"])


@cache
def _compile(model: str) -> None:
    """Learn a small problem once a process, so that compiling takes nothing of the time that a trial gives."""
    values = np.random.default_rng(0).random((2, 30, 3))
    original, release = (pd.DataFrame(part, columns=list("abc")) for part in (values[0], values.mean(axis=0)))
    learn_linkage(release, original, columns=list("abc"), model=model, time_limit_s=60, rng=0)


def learn(release: pd.DataFrame, original: pd.DataFrame, **options: Any) -> LearnedLinkage:
    """Learn without a warning at the time limit: the frames say what is proven."""
    if options.get("time_limit_s") is not None:
        _compile(options["model"])
    with warnings.catch_warnings(action="ignore", category=SearchLimitWarning):
        return learn_linkage(release, original, **options)


def trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Protect one draw as the paper does, link it with every distance, and apply what was learned to another draw.

    `params`: file or own (see `protect`), data, time_limit_s (for each model), drawn, models.
    """
    inside, outside = draw_records(params["data"], rng, params.get("drawn", _DRAWN))
    protected, other = protect(inside, params), protect(outside, params)
    columns = protected.columns
    measures: dict[str, Any] = {
        "information_loss": protected.information_loss,
        "utility": 1 - protected.information_loss,
    }
    for name in ("dbrl1", "dbrl2", "mahalanobis"):
        measures[f"ratio_{name}"] = link_records(protected.table, inside, columns=columns, distance=name).ratio
    measures["outside_dbrl1"] = link_records(other.table, outside, columns=columns).ratio
    for model in MODELS:
        if model not in params.get("models", MODELS):
            measures |= dict.fromkeys([f"{name}_{model}" for name in _LEARNED], np.nan)
            continue
        learned = learn(
            protected.table, inside, columns=columns, model=model, time_limit_s=params["time_limit_s"], rng=rng
        )
        measures |= {
            f"ratio_{model}": learned.ratio,
            f"bound_{model}": learned.upper_bound,
            f"proven_{model}": learned.is_optimal,
            f"seconds_{model}": learned.seconds,
            f"conflicts_{model}": len(learned.certificate),
            f"outside_{model}": link_records(other.table, outside, distance=learned).ratio,
        }
    return measures


_LEARNED = ("ratio", "bound", "proven", "seconds", "conflicts", "outside")


def whole_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Learn from all records of the table at once.

    `params`: data, file, model, time_limit_s.
    """
    whole = table(params["data"])
    protected = protect(whole, params)
    options: dict[str, Any] = {"columns": protected.columns, "model": params["model"], "rng": rng}
    learned = learn(protected.table, whole, time_limit_s=params["time_limit_s"], **options)
    return {
        "mean": link_records(protected.table, whole, columns=protected.columns).ratio,
        "ratio": learned.ratio,
        "bound": learned.upper_bound,
        "proven": learned.is_optimal,
        "seconds": learned.seconds,
    }


def probabilistic_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Link the draw of `trial` by match weights estimated without true pairs.

    `params`: file, data, distance.
    """
    inside, _ = draw_records(params["data"], rng, params.get("drawn", _DRAWN))
    protected = protect(inside, params)
    linked = link_records(protected.table, inside, columns=protected.columns, distance=params["distance"])
    return {"ratio_probabilistic": linked.ratio, "tied_probabilistic": (linked.links["outcome"] == "tied").mean()}


def race_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Learn the Choquet integral for M4-33 on fewer records by one method: the like-for-like race of formulations.

    `params`: data, method, n_records, time_limit_s.
    """
    inside, _ = draw_records(params["data"], rng)
    few = inside.iloc[: params["n_records"]]
    protected = microaggregate(few, "M4-33")
    learned = learn(
        protected.table,
        few,
        columns=protected.columns,
        model="choquet",
        method=params["method"],
        time_limit_s=params["time_limit_s"],
    )
    return {"seconds": learned.seconds, "ratio": learned.ratio, "proven": learned.is_optimal}


def variants(data: str, seed: int, time_limit_s: float) -> pd.DataFrame:
    """Try what the paper leaves open for M7-999: the k, the scale, how clusters form, and what was protected."""
    whole, inside = table(data), shown_draw(data, seed)
    text, name = "k = 3, as the text says", "k = 9, as the name says"
    rows = []
    for k, said, scale, method in (
        (3, text, None, "mdav"),
        (3, text, "std", "mdav"),
        (3, text, None, "pairs"),
        (4, "k = 4, whose mean is print's", "std", "mdav"),
        (9, name, None, "mdav"),
        (9, name, "std", "mdav"),
    ):
        how = "standardised columns" if scale else "columns as they are"
        if method == "pairs":
            how += ", the tool's pairs (MDAV for the single column)"
        orders = {"drawn, then protected": _m7_999(inside, k, scale, method)}
        if method == "mdav" and k != 4:
            orders["protected, then drawn"] = _m7_999(whole, k, scale, method).loc[inside.index]
        for order, release in orders.items():
            columns = list(whole.columns[:7])
            rows.append(
                {"k": said, "distances": how, "order": order, **_ratios(release, inside, columns, time_limit_s)}
            )
    return pd.DataFrame(rows)


def _m7_999(records: pd.DataFrame, k: int, scale: str | None, method: str) -> pd.DataFrame:
    """Protect seven columns; the single one by MDAV, since the tool's pairs need several."""
    columns = list(records.columns)
    six = microaggregate(records, [columns[:3], columns[3:6]], k, scale=scale, method=method)
    return microaggregate(six.table, [columns[6:7]], k, scale=scale).table


def _ratios(release: pd.DataFrame, inside: pd.DataFrame, columns: list[str], time_limit_s: float) -> dict[str, Any]:
    options: dict[str, Any] = {"columns": columns, "time_limit_s": time_limit_s}
    learned = {model: learn(release, inside, model=model, **options) for model in MODELS}
    return {
        "mean": link_records(release, inside, columns=columns).ratio,
        "mean_reversed": link_records(inside, release, columns=columns).ratio,
        **{model: one.ratio for model, one in learned.items()},
        **{f"proven_{model}": one.is_optimal for model, one in learned.items()},
    }


def shown_draw(data: str, seed: int) -> pd.DataFrame:
    """Return the records of the draw that is shown."""
    whole = table(data)
    return whole.iloc[np.random.default_rng(seed).choice(len(whole), _DRAWN, replace=False)]


def shown(data: str, seed: int, time_limit_s: float) -> dict[str, LearnedLinkage]:
    """Learn the measures of tables 3 to 5 and figures 1 and 2 on one stated draw."""
    inside = shown_draw(data, seed)
    wanted = [("M4-28", "choquet"), ("M6-385", "choquet"), ("M6-853", "choquet"), ("M6-853", "weighted_mean")]
    learned = {}
    for file, model in wanted:
        protected = microaggregate(inside, file)
        learned[f"{file} {model}"] = learn(
            protected.table, inside, columns=protected.columns, model=model, time_limit_s=time_limit_s
        )
    return learned
