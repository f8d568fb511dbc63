"""Vanhoef (2012), section 3.2: older defences of query systems, and why each fails."""

from functools import cache

import numpy as np
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


_people = cache(load_adult)


def query_set_trial(rng: Generator) -> Row:
    """Learn the income of a random person of 2,000 from queries over at least 1,000."""
    people = _people().head(2000)
    target = int(rng.integers(len(people)))
    attack = query_set_attack(people, target, lambda row: row["income"] == ">50K", min_set_size=1000)
    truth = int(people["income"].iloc[target] == ">50K")
    return {"is_learned": attack.learned == truth, "smallest_set": attack.queries["n_in_set"].min()}


def auditing_trial(rng: Generator, *, group_size: int) -> Row:
    """Ask an auditor of 600 records for maxima of groups; a refusal, since a value would be disclosed, discloses it."""
    auditor = MaxAuditor(rng.permutation(600).astype(float))
    attack = auditing_attack(auditor, group_size=group_size, rng=rng)
    return {"learned_share": len(attack.learned) / (600 // group_size), "expected_share": 1 / group_size}


def sampling_trial(rng: Generator, *, rate: float) -> Row:
    """Publish a random sample of Adult and count the sampled persons that are unique in the whole table."""
    return {"exposed_share": sampling_exposure(_people(), quasi=list(KNOWN), rate=rate, rng=rng).exposed_share}


def averaging_trial(rng: Generator) -> list[Row]:
    """Average 1,000 answers to a count of 100 with independent noise; a row for each of 30 numbers of answers."""
    averaged = averaging_attack(lambda: laplace_count(100, epsilon=0.1, rng=rng), 1000)
    counts = np.unique(np.geomspace(1, 1000, 30).round().astype(int))
    return [{"n": n, "off": abs(averaged.estimates[n - 1] - 100)} for n in counts]


def response_trial(rng: Generator, *, truth_probability: float) -> Row:
    """Randomise 1,000 answers, 300 of them yes and the others no, and estimate the share of yes."""
    truth = np.arange(1000) < 300
    response = randomised_response(truth, truth_probability=truth_probability, rng=rng)
    error = response.estimate().loc[True, "share"] - truth.mean()
    formula = response_variance(truth.mean(), truth.size, truth_probability, 2)
    return {"error": error, "z": error / np.sqrt(formula), "variance_formula": formula}
