"""The thesis's argument in one game: tables released again and again beside noisy histograms (1.6, 3.4, 5.4).

The same analyst wants ten marginals of Adult; the same intruder guesses a person's occupation and says when sure. Of
tables the intruder knows the quasi-identifiers of the people who are in all of them; of histograms, in which nobody
could be located, the intruder knows all other records, the most that differential privacy allows for.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd

from reident import discrete_laplace, intersection_course, k_anonymise, private_degree_sequence
from reident.base import FloatArray, IntArray, Parameters
from reident.studies._seeded import seeded_noise
from reident.studies.vanhoef2012_tables.mechanisms import graph_degrees
from reident.studies.vanhoef2012_tables.tables import QUASI, adult, by_releases, overlapping_samples
from reident.tables.labels import LabelReader

__all__ = ["CERTAIN_NATS", "METHODS", "SURE", "argument_trial", "by_answers", "node_trial", "pair_marginals"]

SENSITIVE = "occupation"
#: From this probability on the intruder says to be sure.
SURE = 0.95
#: Gains beyond this many nats are drawn as certainty: no other value is left.
CERTAIN_NATS = 12.0

#: Name of a method -> criteria of `k_anonymise`; for Laplace noise the strength is epsilon.
METHODS: dict[str, dict[str, Any]] = {
    "k-anonymity": {},
    "with l-diversity": {"ell": 4, "sensitive": SENSITIVE},
    "with t-closeness": {"t": 0.4, "sensitive": SENSITIVE},
    "Laplace histograms": {},
}


def argument_trial(params: Parameters, rng: np.random.Generator) -> dict[str, Any]:
    """Release the same people several times and measure what the analyst and the intruder get.

    Parameters: ``method`` (of `METHODS`), ``strength`` (k, or epsilon of each release), ``n_common`` (people in all
    releases), ``n_own`` (others in each), ``releases`` (after how many the intruder is asked).
    """
    people = adult()
    common, samples = overlapping_samples(people, params, rng)
    values = sorted(people[SENSITIVE].unique())
    truth = pd.Index(values).get_indexer(common[SENSITIVE])
    prior = people[SENSITIVE].value_counts(normalize=True).reindex(values).to_numpy()
    if params["method"] == "Laplace histograms":
        errors, courses = _histograms(samples, truth, prior, params["strength"], rng)
    else:
        errors, courses = _tables(samples, common, values, params)
    measures: dict[str, Any] = {"utility": 1 - float(np.mean(errors))}
    for n in params["releases"]:
        for name, value in _intruder(courses[n - 1], truth, prior).items():
            measures[f"{name}_{n}"] = value
    return measures


def _intruder(posterior: FloatArray, truth: IntArray, prior: FloatArray) -> dict[str, float]:
    """Return how often the most probable value is true, how often surely, and the gain of the worst-off twentieth."""
    rows = np.arange(len(truth))
    held = posterior[rows, truth]
    with np.errstate(divide="ignore"):
        gain = np.log(held) - np.log1p(-np.minimum(held, 1)) - np.log(prior[truth] / (1 - prior[truth]))
    return {
        "right": float((posterior.argmax(axis=1) == truth).mean()),
        "named": float((held >= SURE).mean()),
        "gain": float(np.quantile(np.minimum(gain, CERTAIN_NATS), 0.95, method="lower")),
        "most": float(np.minimum(gain, CERTAIN_NATS).max()),
    }


def _tables(
    samples: list[pd.DataFrame], common: pd.DataFrame, values: list[Any], params: Parameters
) -> tuple[list[float], list[FloatArray]]:
    made = [
        k_anonymise(one, QUASI, k=params["strength"], method="mondrian", **METHODS[params["method"]]) for one in samples
    ]
    course = intersection_course(made, common[QUASI], quasi=QUASI, sensitive=SENSITIVE)
    places = pd.Index(values)
    posteriors = []
    for attack in course:
        posterior = np.zeros((len(common), len(values)))
        posterior[:, places.get_indexer(pd.Index(attack.values))] = attack.probabilities
        posteriors.append(posterior)
    return [_table_error(one, sample) for one, sample in zip(made, samples, strict=True)], posteriors


def _table_error(release: Any, sample: pd.DataFrame) -> float:
    """Return the mean total variation error of the marginals, a label spread evenly over the values it covers."""
    errors = []
    for column in sample:
        shares = sample[column].value_counts(normalize=True)
        labels = release.table[column].astype(str).value_counts(normalize=True)
        cover = LabelReader(shares.index, labels.index).cover().astype(np.float64)
        spread = cover / np.maximum(cover.sum(axis=0), 1)
        errors.append(0.5 * np.abs(spread @ labels.to_numpy() - shares.to_numpy()).sum())
    return float(np.mean(errors))


def _histograms(
    samples: list[pd.DataFrame], truth: IntArray, prior: FloatArray, epsilon: float, rng: np.random.Generator
) -> tuple[list[float], list[FloatArray]]:
    """Answer ten marginals, each for a tenth of epsilon; a person in another place changes two counts of each."""
    n_columns = samples[0].shape[1]
    scale = 2 * n_columns / epsilon
    errors, courses = [], []
    weight = np.tile(np.log(prior), (len(truth), 1))
    with seeded_noise():
        for sample in samples:
            errors.append(float(np.mean([_noisy_error(sample[column], scale, rng) for column in sample])))
            # The others are known, so that what is left of each count is the target, or nobody, and noise.
            left = discrete_laplace(scale, 1.0, weight.size, rng=rng).reshape(weight.shape)
            left[np.arange(len(truth)), truth] += 1
            weight = weight + (np.abs(left) - np.abs(left - 1)) / scale
            posterior = np.exp(weight - weight.max(axis=1, keepdims=True))
            courses.append(posterior / posterior.sum(axis=1, keepdims=True))
    return errors, courses


def _noisy_error(column: pd.Series, scale: float, rng: np.random.Generator) -> float:
    counts = column.value_counts().to_numpy()
    noisy = np.maximum(counts + discrete_laplace(scale, 1.0, len(counts), rng=rng), 0)
    return float(0.5 * np.abs(noisy / max(noisy.sum(), 1) - counts / counts.sum()).sum())


def by_answers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the sweep with one row a trial and number of releases."""
    return by_releases(frame, ("right", "named", "gain", "most"))


def pair_marginals(people: pd.DataFrame) -> tuple[IntArray, IntArray]:
    """Return a table's counts by all its columns at once, and its marginals of pairs as queries of 0 and 1.

    Shapes (cells,) and (queries, cells): a query for each pair of columns and each pair of their values.
    """
    values = [np.unique(people[name]) for name in people]
    places = [np.searchsorted(known, people[name]) for name, known in zip(people, values, strict=True)]
    shape = [len(known) for known in values]
    counts = np.bincount(np.ravel_multi_index(places, shape), minlength=math.prod(shape))
    codes = np.indices(shape).reshape(len(shape), -1)
    queries = [
        (codes[one] == a) & (codes[other] == b)
        for one, other in itertools.combinations(range(len(shape)), 2)
        for a, b in np.ndindex(shape[one], shape[other])
    ]
    return counts, np.array(queries, np.int64)


# -- node privacy (7.4.1) -------------------------------------------------------------------------------------------


def node_trial(params: Parameters, rng: np.random.Generator) -> dict[str, Any]:
    """Publish a degree sequence and the number of edges, hiding an edge, five, or a node with all its edges.

    A node has up to n - 1 edges: hiding it is hiding so many. Parameters: ``graph``, ``epsilon``, ``hidden``.
    """
    true = graph_degrees(params["graph"])
    k = {"an edge": 1, "five edges": 5, "a node": true.size - 1}[params["hidden"]]
    with seeded_noise():
        made = private_degree_sequence(true, epsilon=params["epsilon"], k=k, rng=rng)
        edges = true.sum() / 2 + float(discrete_laplace(k / params["epsilon"], 1.0, 1, rng=rng)[0])
    return {
        "n_nodes": int(true.size),
        "sensitivity": made.sensitivity,
        "degrees_error": float(np.abs(made.released - true).mean() / true.mean()),
        # Who answers the same number for every degree looks at nothing.
        "blind_error": float(np.abs(np.median(true) - true).mean() / true.mean()),
        "edges_error": float(abs(edges / (true.sum() / 2) - 1)),
    }
