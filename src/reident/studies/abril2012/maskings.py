"""The learned attack beyond the paper: six ways to mask four columns of four tables, linked inside and outside."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from reident import (
    add_noise,
    k_anonymise,
    learn_linkage,
    link_records,
    microaggregate,
    round_values,
    ru_frame,
    swap_ranks,
)
from reident.data.datasets import load_adult, load_casc
from reident.rumap import anchor_both
from reident.studies.abril2012 import MODELS
from reident.studies.abril2012.trials import is_at_hand, table
from reident.tables._masked import MaskedTable, masked_table

__all__ = ["ATTACKS", "MASKINGS", "TABLES", "mask", "masked_map", "masking_settings", "masking_trial"]

#: From weak to strong: smallest cluster (k), share of a standard deviation (noise, rounding base), per cent of the
#: ranks, share of the cells whose class is drawn anew.
MASKINGS: dict[str, list[float]] = {
    "microaggregation": [3, 5, 10, 25],
    "k-anonymity": [3, 5, 10, 25],
    "additive noise": [0.05, 0.1, 0.25, 0.5],
    "rank swapping": [1, 3, 8, 20],
    "rounding": [0.05, 0.2, 0.5, 1.0],
    "PRAM": [0.02, 0.05, 0.15, 0.4],
}

#: Those whose amount is the smallest cluster.
CLUSTERED = ("microaggregation", "k-anonymity")

#: Where records are drawn from; "census" stands for the study's own table, drawn or not.
TABLES = ("census", "tarragona", "eia", "adult")

#: Classes of equal count into which PRAM's values are put first.
_CLASSES = 20

#: The first four columns of amounts of each table; of Adult four numbers that are not mostly 0.
_COLUMNS = {
    "tarragona": slice(0, 4),
    "eia": slice(5, 9),
    "adult": ["age", "fnlwgt", "education-num", "hours-per-week"],
}

#: What the map shows of each trial.
ATTACKS = {
    "dbrl1": "simple mean, nothing learned",
    "ratio_weighted_mean": "weighted mean, on the records it was learned from",
    "outside_weighted_mean": "weighted mean, on other records",
    "ratio_choquet": "Choquet integral, on the records it was learned from",
    "outside_choquet": "Choquet integral, on other records",
}


@cache
def four_columns(name: str, data: str) -> pd.DataFrame:
    """Return four columns of a table of `TABLES`; never modified."""
    if name == "census":
        return table(data).iloc[:, :4]
    whole = load_adult() if name == "adult" else load_casc(name)
    columns = _COLUMNS[name]
    return whole[columns] if isinstance(columns, list) else whole.iloc[:, columns]


def masking_settings(names: Sequence[str], data: str, drawn: int) -> list[dict[str, Any]]:
    """Return the settings of `masking_trial`, without tables that are not at hand, and clusters of all records."""
    return [
        {"data": data, "drawn": n, "table": name, "method": method, "amount": float(amount)}
        for name in names
        if name in ("census", "adult") or (data == "census" and is_at_hand(name))
        for n in [min(drawn, len(four_columns(name, data)) // 2)]
        for method, amounts in MASKINGS.items()
        for amount in amounts
        if method not in CLUSTERED or 2 * amount <= n
    ]


def masking_trial(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Mask some records and as many others, and link both: by the simple mean, and by what the first ones teach.

    `params`: data, drawn, table, method, amount (see `MASKINGS`).
    """
    whole = four_columns(params["table"], params["data"])
    chosen = rng.choice(len(whole), 2 * params["drawn"], replace=False)
    inside, outside = whole.iloc[chosen[: params["drawn"]]], whole.iloc[chosen[params["drawn"] :]]
    masked, other = (mask(records, params["method"], params["amount"], rng) for records in (inside, outside))
    measures: dict[str, Any] = {
        "utility": 1 - masked.information_loss,
        "dbrl1": link_records(masked.table, inside).ratio,
        "outside_dbrl1": link_records(other.table, outside).ratio,
    }
    for model in MODELS:
        learned = learn_linkage(masked.table, inside, model=model, method="climb", rng=rng)
        measures |= {
            f"ratio_{model}": learned.ratio,
            f"outside_{model}": link_records(other.table, outside, distance=learned).ratio,
        }
    return measures


def mask(records: pd.DataFrame, method: str, amount: float, rng: np.random.Generator) -> MaskedTable:
    """Mask all columns of a table.

    Microaggregation clusters the columns in two pairs, as the paper does, so that the whole record is not k-anonymous;
    k-anonymity forms classes over all of them (Mondrian) and releases their means. PRAM needs categories: each column
    is cut into 20 classes of equal count, some cells get a class drawn evenly, and the means of classes are released.
    """
    columns = list(records.columns)
    if method == "microaggregation":
        return microaggregate(records, [columns[:2], columns[2:]], int(amount), scale="std")
    if method == "k-anonymity":
        classes = k_anonymise(records, columns, k=int(amount), method="mondrian").classes
        return masked_table(records, columns, records.groupby(classes).transform("mean").to_numpy(np.float64))
    if method == "additive noise":
        return add_noise(records, amount=amount, rng=rng)
    if method == "rank swapping":
        return swap_ranks(records, percent=amount, rng=rng)
    if method == "rounding":
        return round_values(records, base={c: amount * float(records[c].std()) for c in columns})
    return masked_table(records, columns, np.column_stack([_pram(records[c], amount, rng) for c in columns]))


def _pram(values: pd.Series, share: float, rng: np.random.Generator) -> np.ndarray:
    classes = ((values.rank(method="first").to_numpy() - 1) * _CLASSES // len(values)).astype(np.int64)
    means = values.groupby(classes).mean().to_numpy(np.float64)
    anew = rng.random(len(values)) < share
    return np.asarray(means[np.where(anew, rng.integers(len(means), size=len(values)), classes)])


def masked_map(trials: pd.DataFrame) -> pd.DataFrame:
    """Return the map: a panel for each table and attack, "attack, table" as its name."""
    panels = []
    for name, rows in trials.groupby("table", sort=False):
        for risk, attack in ATTACKS.items():
            frame = ru_frame(
                rows,
                method="method",
                parameter="amount",
                risk=risk,
                utility="utility",
                attack=f"{attack}: {name}",
                analysis="1 - information loss (SSE / SST), four columns",
            )
            # Originals are linked but for exact duplicates.
            panels.append(anchor_both(frame).assign(table=name, risk_by=risk))
    return pd.concat(panels, ignore_index=True)
