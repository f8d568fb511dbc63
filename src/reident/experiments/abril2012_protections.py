"""Protections beyond the paper: six maskings of four columns, and clusters that grow where the columns leak."""

from functools import cache

import numpy as np
import pandas as pd
from numpy.random import Generator

from reident.base import FloatArray, Row
from reident.experiments.abril2012 import MODELS, draw_records, learn, protect
from reident.tables.anonymisation import k_anonymise
from reident.tables.choquet.choquet_linkage import learn_linkage
from reident.tables.microaggregation import microaggregate
from reident.tables.perturbation import add_noise, round_values, swap_ranks
from reident.tables.record_linkage import link_records

#: From weak to strong: smallest cluster, share of a standard deviation (noise, rounding base), per cent of the ranks,
#: share of cells whose class is drawn anew.
MASKINGS = {
    "microaggregation": [3, 5, 10, 25],
    "k-anonymity": [3, 5, 10, 25],
    "additive noise": [0.05, 0.1, 0.25, 0.5],
    "rank swapping": [1, 3, 8, 20],
    "rounding": [0.05, 0.2, 0.5, 1.0],
    "PRAM": [0.02, 0.05, 0.15, 0.4],
}

#: Classes of equal count into which PRAM's values are put first.
CLASSES = 20

#: Smallest clusters of a leakage-driven protection, one step at a time.
LADDER = (2, 3, 5, 8, 13, 21, 34)


#: Groups whose k rises at a step: both, the one that leaks most, or the other.
GROWING = {
    "all": lambda _: [0, 1],
    "leaking": lambda leaks: [int(leaks.argmax())],
    "other": lambda leaks: [int(leaks.argmin())],
}


def leakage_trial(
    rng: Generator, *, n_steps: int = 6, n_records: int = 400, table: str = "", step_limit: int = 20_000
) -> list[Row]:
    """Protect two pairs of columns step by step, under each rule of `GROWING`; return one row a rule and step.

    From k = 2, each step raises the k of the rule's groups by one place of `LADDER`. A group's leak is the sum of its
    columns' Shapley values, the middle of their range over all optimal measures of the Choquet integral. Risk is the
    optimum's linked share, on the records learned from and on others.
    """
    inside, outside = draw_records(rng, n_records, table)

    @cache  # rules share their first choices of k
    def learned_at(*places: int) -> tuple[Row, FloatArray]:
        file = " ".join(f"2/{LADDER[place]}" for place in places)
        release, columns, loss = protect(inside, file)
        learned = learn(release, inside, columns=columns, model="choquet", step_limit=step_limit, rng=0)
        shapley = learned.ranges(step_limit=step_limit, max_sets=5).shapley
        leaks = shapley.mean(axis=1).reindex(columns).to_numpy().reshape(2, 2).sum(axis=1)
        other = protect(outside, file)[0]
        return {
            "k": " ".join(str(LADDER[place]) for place in places), "utility": 1 - loss,
            "risk": learned.ratio, "outside_risk": link_records(other, outside, distance=learned).ratio,
            "mean": link_records(release, inside, columns=columns).ratio, "is_optimal": learned.is_optimal,
            "leading_group": leaks.argmax() + 1, "leak": leaks.max(),
        }, leaks  # fmt: skip

    rows = []
    for rule, groups in GROWING.items():
        places = [0, 0]
        for step in range(n_steps):
            row, leaks = learned_at(*places)
            rows.append({"rule": rule, "step": step} | row)
            for group in groups(leaks):
                places[group] = min(places[group] + 1, len(LADDER) - 1)
    return rows


def masking_trial(rng: Generator, *, masking: str, amount: float, n_records: int = 400, table: str = "") -> Row:
    """Mask four columns, link by the simple mean and by distances learned without proof, inside and outside."""
    inside, outside = (part.iloc[:, :4] for part in draw_records(rng, n_records, table))
    (release, loss), (other, _) = (mask(part, masking, amount, rng) for part in (inside, outside))
    result = {"utility": 1 - loss, "mean": link_records(release, inside).ratio}
    result["outside_mean"] = link_records(other, outside).ratio
    for model in MODELS:
        learned = learn_linkage(release, inside, model=model, method="climb", rng=rng)
        result |= {model: learned.ratio, f"outside_{model}": link_records(other, outside, distance=learned).ratio}
    return result


def mask(records: pd.DataFrame, masking: str, amount: float, rng: Generator) -> tuple[pd.DataFrame, float]:
    """Mask all columns; return the release and the information loss, the mean over columns of SSE / SST.

    Microaggregation clusters two pairs of columns, k-anonymity (Mondrian) releases means of classes of all. For PRAM
    each column is cut into classes of equal count; some cells get a class drawn anew; means of classes are released.
    """
    columns = list(records.columns)
    if masking == "microaggregation":
        release = microaggregate(records, [columns[:2], columns[2:]], int(amount), scale="std").table
    elif masking == "k-anonymity":
        classes = k_anonymise(records, columns, k=int(amount), method="mondrian").classes
        release = records.groupby(classes).transform("mean")
    elif masking == "additive noise":
        release = add_noise(records, relative=amount, rng=rng).table
    elif masking == "rank swapping":
        release = swap_ranks(records, percent=amount, rng=rng).table
    elif masking == "rounding":
        release = round_values(records, base={c: amount * float(records[c].std()) for c in columns}).table
    else:
        release = records.apply(lambda values: _pram(values, amount, rng))
    squares = ((release - records) ** 2).sum() / ((records - records.mean()) ** 2).sum()
    return release, float(squares.mean())


def _pram(values: pd.Series, share: float, rng: Generator) -> pd.Series:
    """Return the means of classes of equal count, of which a share is drawn anew."""
    classes = ((values.rank(method="first").to_numpy() - 1) * CLASSES // len(values)).astype(np.int64)
    means = values.groupby(classes).mean().to_numpy(float)
    anew = rng.random(len(values)) < share
    return pd.Series(means[np.where(anew, rng.integers(len(means), size=len(values)), classes)], index=values.index)
