"""Vanhoef (2012), section 3.2: older defences of query systems, and why each fails."""

from functools import cache

import numpy as np
import pandas as pd
from numpy.random import Generator

from reident.base import Row
from reident.data.datasets import load_adult
from reident.queries import (
    MaxAuditor,
    auditing_attack,
    averaging_attack,
    laplace_count,
    query_set_attack,
    randomised_response,
    sampling_exposure,
)
from reident.queries.randomisation import response_variance

#: Columns by which the intruder knows a person.
KNOWN = ("age", "education", "marital-status", "occupation", "race", "sex", "native-country")


@cache
def _people() -> pd.DataFrame:
    return load_adult()


def query_set_trial(rng: Generator, *, n: int = 2000, min_set_size: int = 1000) -> Row:
    """Learn the income of a random person of `n` from queries over at least `min_set_size`."""
    people = _people().iloc[:n]
    target = int(rng.integers(n))
    attack = query_set_attack(people, target, lambda row: row["income"] == ">50K", min_set_size=min_set_size)
    truth = int(people["income"].iloc[target] == ">50K")
    return {"is_learned": attack.learned == truth, "smallest_set": attack.queries["n_in_set"].min()}


def auditing_trial(rng: Generator, *, group_size: int, n_records: int = 600) -> Row:
    """Ask an auditor for maxima of groups; it refuses if the answer would disclose a value, and so discloses it."""
    auditor = MaxAuditor(rng.permutation(n_records).astype(float))
    attack = auditing_attack(auditor, group_size=group_size, rng=rng)
    return {"learned_share": len(attack.learned) / (n_records // group_size), "expected_share": 1 / group_size}


def sampling_trial(rng: Generator, *, rate: float) -> Row:
    """Publish a random sample of Adult and count the sampled persons that are unique in the whole table."""
    return {"exposed_share": sampling_exposure(_people(), quasi=list(KNOWN), rate=rate, rng=rng).exposed_share}


def averaging_trial(rng: Generator, *, truth: int = 100, epsilon: float = 0.1, n_answers: int = 1000) -> list[Row]:
    """Average repeated answers with independent noise; a row for each of 30 numbers of answers."""
    averaged = averaging_attack(lambda: laplace_count(truth, epsilon=epsilon, rng=rng), n_answers)
    counts = np.unique(np.geomspace(1, n_answers, 30).round().astype(int))
    return [{"n": n, "off": abs(averaged.estimates[n - 1] - truth)} for n in counts]


def response_trial(rng: Generator, *, truth_probability: float, n: int = 1000, share: float = 0.3) -> Row:
    """Randomise `n` yes-or-no answers, `share` of them yes, and estimate the share."""
    truth = np.arange(n) < round(share * n)
    response = randomised_response(truth, truth_probability=truth_probability, rng=rng)
    error = response.estimate().loc[True, "share"] - truth.mean()
    formula = response_variance(truth.mean(), n, truth_probability, 2)
    return {"error": error, "z": error / np.sqrt(formula), "variance_formula": formula}
