"""The trials of study abril2012: one draw of records, protected, linked, learned, and tried on other records."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from reident.anonymisers._masked import MaskedTable
from reident.anonymisers.microaggregation import NAMED_PROTECTIONS, microaggregate
from reident.anonymisers.perturbation import add_noise, round_values, swap_ranks
from reident.attacks.choquet_linkage import LearnedLinkage, learn_linkage
from reident.attacks.record_linkage import link_records
from reident.datasets import load_casc
from reident.errors import DataError, SearchLimitWarning
from reident.simulate import money_table

__all__ = [
    "DRAW",
    "MODELS",
    "available_data",
    "draw_records",
    "learn",
    "masking_trial",
    "probabilistic_trial",
    "table",
    "trial",
    "variants",
    "whole_trial",
]

#: Records drawn for each file, as in the paper.
DRAW = 400

MODELS = ("weighted_mean", "choquet")

#: Seed of the simulated stand-in table: any fixed number.
_STAND_IN = 4


def available_data() -> str:
    """Return "census" if the CASC file is at hand, else "simulated"."""
    try:
        load_casc("census")
    except DataError:
        return "simulated"
    return "census"


@cache
def table(data: str) -> pd.DataFrame:
    """Return the table that records are drawn from; never modified."""
    return load_casc("census") if data == "census" else money_table(1080, rng=_STAND_IN)


def draw_records(data: str, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw 400 records to learn from, and 400 others."""
    chosen = rng.choice(len(table(data)), 2 * DRAW, replace=False)
    return table(data).iloc[chosen[:DRAW]], table(data).iloc[chosen[DRAW:]]


def learn(release: pd.DataFrame, original: pd.DataFrame, **options: Any) -> LearnedLinkage:
    """Learn without a warning at the time limit: the frames say what is proven."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchLimitWarning)
        return learn_linkage(release, original, **options)


def trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Protect one draw as the paper does, link it with every distance, and apply what was learned to another draw.

    `params`: file (a name of `NAMED_PROTECTIONS`), data, time_limit_s (for each model).
    """
    inside, outside = draw_records(params["data"], rng)
    protected, other = microaggregate(inside, params["file"]), microaggregate(outside, params["file"])
    columns = protected.columns
    measures: dict[str, Any] = {
        "information_loss": protected.information_loss,
        "utility": 1 - protected.information_loss,
    }
    for name in ("dbrl1", "dbrl2", "mahalanobis"):
        measures[f"ratio_{name}"] = link_records(protected.table, inside, columns=columns, distance=name).ratio
    measures["outside_dbrl1"] = link_records(other.table, outside, columns=columns).ratio
    for model in MODELS:
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


def whole_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Learn from all records of the table at once.

    `params`: data, file, model, time_limit_s.
    """
    whole = table(params["data"])
    protected = microaggregate(whole, params["file"])
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
    inside, _ = draw_records(params["data"], rng)
    protected = microaggregate(inside, params["file"])
    linked = link_records(protected.table, inside, columns=protected.columns, distance=params["distance"])
    return {"ratio_probabilistic": linked.ratio, "tied_probabilistic": (linked.links["outcome"] == "tied").mean()}


def masking_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Mask the first four columns of one draw by another method, and link it by DBRL1.

    `params`: data, method, amount (k, share of a standard deviation, per cent of the ranks, or share of a standard
    deviation as rounding base).
    """
    inside, _ = draw_records(params["data"], rng)
    columns, amount = list(inside.columns[:4]), params["amount"]
    if params["method"] == "microaggregation":
        masked: MaskedTable = microaggregate(inside, [columns[:2], columns[2:]], int(amount), scale="std")
    elif params["method"] == "additive noise":
        masked = add_noise(inside, columns, amount=amount, rng=rng)
    elif params["method"] == "rank swapping":
        masked = swap_ranks(inside, columns, percent=amount, rng=rng)
    else:
        masked = round_values(inside, columns, base={c: amount * float(inside[c].std()) for c in columns})
    linked = link_records(masked.table, inside, columns=columns)
    return {"ratio": linked.ratio, "utility": 1 - masked.information_loss}


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
    """Try what the paper leaves open for M7-999: the k, the scale, the direction, and what was protected."""
    whole = table(data)
    inside = whole.iloc[np.random.default_rng(seed).choice(len(whole), DRAW, replace=False)]
    groups = [list(whole.columns[:3]), list(whole.columns[3:6]), list(whole.columns[6:7])]
    rows = []
    for k, said in ((3, "k = 3, as the text says"), (9, "k = 9, as the name says")):
        for scale, how in ((None, "columns as they are"), ("std", "standardised columns")):
            drawn = microaggregate(inside, groups, k, scale=scale)
            first = microaggregate(whole, groups, k, scale=scale)
            released = {
                "drawn, then protected": drawn.table,
                "protected, then drawn": first.table.loc[inside.index],
            }
            for order, release in released.items():
                rows.append(
                    {
                        "k": said,
                        "distances": how,
                        "order": order,
                        **_ratios(release, inside, drawn.columns, time_limit_s),
                    }
                )
    return pd.DataFrame(rows)


def _ratios(release: pd.DataFrame, inside: pd.DataFrame, columns: list[str], time_limit_s: float) -> dict[str, Any]:
    options: dict[str, Any] = {"columns": columns, "time_limit_s": time_limit_s}
    learned = {model: learn(release, inside, model=model, **options) for model in MODELS}
    return {
        "mean": link_records(release, inside, columns=columns).ratio,
        "mean_reversed": link_records(inside, release, columns=columns).ratio,
        **{model: one.ratio for model, one in learned.items()},
        **{f"proven_{model}": one.is_optimal for model, one in learned.items()},
    }


def shown(data: str, seed: int, time_limit_s: float) -> dict[str, LearnedLinkage]:
    """Learn the measures of tables 3 to 5 and figures 1 and 2 on one stated draw."""
    whole = table(data)
    inside = whole.iloc[np.random.default_rng(seed).choice(len(whole), DRAW, replace=False)]
    wanted = [("M4-28", "choquet"), ("M6-385", "choquet"), ("M6-853", "choquet"), ("M6-853", "weighted_mean")]
    learned = {}
    for file, model in wanted:
        protected = microaggregate(inside, file)
        learned[f"{file} {model}"] = learn(
            protected.table, inside, columns=protected.columns, model=model, time_limit_s=time_limit_s
        )
    return learned


FILES = list(NAMED_PROTECTIONS)
