"""Vanhoef (2012), sections 1.6, 3.4 and 5.4: the same persons in several anonymised tables, and noisy histograms.

The thesis attacks UCI Adult and describes its results in words. `intersection_trial` anonymises overlapping samples on
their own and intersects them; `argument_trial` plays the same game against tables and against histograms.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy import stats

from reident import k_anonymise
from reident.base import FloatArray, IntArray, ParameterError, Parameters, Row
from reident.data.datasets import load_adult
from reident.experiments.parameters import read_own
from reident.queries import discrete_laplace
from reident.tables import intersection_course
from reident.tables.labels import LabelReader

#: Columns of Adult that the intruder knows, and sensitive attributes of very different entropy.
QUASI = ("age", "marital-status", "race", "sex", "native-country")
ATTRIBUTES = ("income", "workclass", "relationship", "education", "occupation")

#: Sensitive attributes that differ in the number of their values alone: occupations merged into groups of nearly equal
#: mass, and an attribute that is drawn evenly.
DOMAINS = [f"{kind} {size}" for kind in ("occupation in", "uniform of") for size in (2, 4, 7, 14)]

#: From this probability on the intruder is sure; gains beyond so many nats count as certainty.
SURE, CERTAIN_NATS = 0.95, 12.0

HISTOGRAMS = "Laplace histograms"
#: Kinds of tables, by their criteria of `k_anonymise`.
METHODS: dict[str, Parameters] = {"k-anonymity": {}, "with l-diversity": {"ell": 4}, "with t-closeness": {"t": 0.4}}


@lru_cache(maxsize=4)
def load_people(table: str = "", columns: tuple[str, ...] = (*QUASI, *ATTRIBUTES)) -> pd.DataFrame:
    """Return these columns of Adult, or of an own CSV file named as `pinned` does, without incomplete records."""
    if not table:
        return load_adult()[list(columns)]
    return read_own(table, "table", columns)[list(columns)].dropna().reset_index(drop=True)


def with_domain(people: pd.DataFrame, name: str, rng: Generator) -> pd.DataFrame:
    """Add the attribute `name` of `DOMAINS` to the persons; leave them unchanged for another name."""
    if name not in DOMAINS:
        return people
    size = int(name.rsplit(" ", 1)[1])
    if name.startswith("uniform"):
        return people.assign(**{name: rng.integers(size, size=len(people))})
    mass = [0] * size
    group = {}
    for value, count in people["occupation"].value_counts().items():
        group[value] = np.argmin(mass)
        mass[group[value]] += count
    return people.assign(**{name: people["occupation"].map(group)})


def overlapping_samples(
    people: pd.DataFrame, rng: Generator, *, releases: int, n_common: int, n_own: int
) -> tuple[pd.DataFrame, list[pd.DataFrame]]:
    """Draw the persons of all releases, and for each release these and `n_own` others."""
    if n_common + n_own > len(people):
        raise ParameterError(
            f"`n_common` and `n_own` must sum to at most {len(people)}, the records, got {n_common} and {n_own}"
        )
    order = rng.permutation(len(people))
    common, rest = people.iloc[order[:n_common]], order[n_common:]
    others = [rng.choice(rest, n_own, replace=False) for _ in range(releases)]
    return common, [pd.concat([common, people.iloc[others_of]]) for others_of in others]


def intersection_trial(
    rng: Generator, *, criterion: str, k: int, strength: float, sensitive: str = "occupation", shuffled: bool = False,
    releases: int = 5, n_common: int = 1200, n_own: int = 1200, table: str = "", quasi: Sequence[str] = QUASI,
) -> list[Row]:  # fmt: skip
    """Anonymise overlapping samples independently and attack the persons in all of them.

    `criterion` is "k" (k-anonymity alone), "l" or "t" (with l-diversity or t-closeness of this `strength`), or "none":
    the samples unchanged. `sensitive` is the attribute that the intruder looks for, a column or one of `DOMAINS`; if
    `shuffled`, it is permuted over all records, so that only its distribution remains. Of the `releases` each has the
    same `n_common` persons and `n_own` others. `table` is an own file in place of Adult, `quasi` the columns that the
    intruder knows.

    Returns a row for each number of releases: shares of persons with one value left (`perfect`) or few (`partial`),
    both true; mean confidence in the true value; share of right guesses; utility.
    """
    known = list(quasi)
    columns = (*known, sensitive) if table else (*QUASI, *ATTRIBUTES)
    people = with_domain(load_people(table, columns), sensitive, rng)[[*known, sensitive]]
    if shuffled:
        people = people.assign(**{sensitive: rng.permutation(people[sensitive].to_numpy())})
    common, samples = overlapping_samples(people, rng, releases=releases, n_common=n_common, n_own=n_own)
    rule = {"l": "ell", "t": "t"}.get(criterion)
    extra: Parameters = {} if rule is None else {rule: strength, "sensitive": sensitive}
    tables: list[Any] = samples
    utility, entropy = 1.0, stats.entropy(people[sensitive].value_counts(), base=2)
    if criterion != "none":
        tables = [k_anonymise(sample, known, k=k, method="mondrian", **extra) for sample in samples]
        utility = 1 - np.mean([release.losses["ncp"] for release in tables])
    course = intersection_course(tables, common[known], quasi=known, sensitive=sensitive)
    qualities = [attack.assess(common[sensitive]) for attack in course]
    return [
        {"n_releases": n, "utility": utility, "entropy_bits": entropy, "perfect": quality.perfect_correct,
         "partial": quality.partial_correct, "confidence": quality.confidence, "guessed": quality.guessed,
         "baseline": quality.baseline} for n, quality in enumerate(qualities, 1)
    ]  # fmt: skip


def argument_trial(
    rng: Generator, *, method: str, strength: float, sensitive: str = "occupation", releases: int = 5,
    n_common: int = 1200, n_own: int = 1200, table: str = "", quasi: Sequence[str] = QUASI,
) -> list[Row]:  # fmt: skip
    """Release the same persons several times and measure the analyst's error and the intruder's gain.

    Of tables the intruder knows the quasi-identifiers of the persons in all of them; of histograms, one a column, all
    other records. `method` is one of `METHODS` or `HISTOGRAMS`; `strength` is k, or epsilon of each release. The other
    parameters are those of `intersection_trial`.

    Returns a row for each number of releases: `utility`, 1 less the mean total variation error of the marginals; share
    of persons guessed rightly (`right`) and surely so (`named`); the log odds gained for the true value, of the
    twentieth of the persons who lose most (`gain`) and at most (`most`), nats.
    """
    known = list(quasi)
    columns = tuple(dict.fromkeys([*known, sensitive])) if table else (*QUASI, *ATTRIBUTES)
    people = load_people(table, columns)
    common, samples = overlapping_samples(people, rng, releases=releases, n_common=n_common, n_own=n_own)
    values = pd.Index(sorted(people[sensitive].unique()))
    truth = values.get_indexer(common[sensitive])
    prior = people[sensitive].value_counts(normalize=True).reindex(values).to_numpy()
    if method == HISTOGRAMS:
        errors, courses = histogram_course(samples, truth, prior, strength, rng)
    else:
        criteria = METHODS[method] | ({"sensitive": sensitive} if METHODS[method] else {})
        released = [k_anonymise(part, known, k=int(strength), method="mondrian", **criteria) for part in samples]
        errors = [table_error(release.table, sample) for release, sample in zip(released, samples, strict=True)]
        courses = []
        for attack in intersection_course(released, common[known], quasi=known, sensitive=sensitive):
            posterior = np.zeros((len(common), len(values)))
            posterior[:, values.get_indexer(attack.values)] = attack.probabilities
            courses.append(posterior)
    utility = 1 - np.mean(errors)
    return [
        {"n_releases": n, "utility": utility, **intruder(posterior, truth, prior)}
        for n, posterior in enumerate(courses, 1)
    ]


def intruder(posterior: FloatArray, truth: IntArray, prior: FloatArray) -> Row:
    """Return how often the likeliest value is true, how often surely, and the gain in log odds of the true value."""
    true_share = posterior[np.arange(len(truth)), truth]
    with np.errstate(divide="ignore"):
        gain = np.log(true_share) - np.log1p(-np.minimum(true_share, 1)) - np.log(prior[truth] / (1 - prior[truth]))
    return {
        "right": (posterior.argmax(axis=1) == truth).mean(),
        "named": (true_share >= SURE).mean(),
        "gain": np.quantile(np.minimum(gain, CERTAIN_NATS), 0.95, method="lower"),
        "most": np.minimum(gain, CERTAIN_NATS).max(),
    }


def table_error(table: pd.DataFrame, sample: pd.DataFrame) -> float:
    """Return the mean total variation error of the marginals, a label spread evenly over the values it covers."""
    errors = []
    for column in sample:
        if table[column].equals(sample[column]):
            errors.append(0.0)
            continue
        shares = sample[column].value_counts(normalize=True)
        labels = table[column].astype(str).value_counts(normalize=True)
        cover = LabelReader(shares.index, labels.index).cover().astype(float)
        spread = cover / np.maximum(cover.sum(axis=0), 1)
        errors.append(0.5 * np.abs(spread @ labels.to_numpy() - shares.to_numpy()).sum())
    return float(np.mean(errors))


def histogram_course(
    samples: list[pd.DataFrame], truth: IntArray, prior: FloatArray, epsilon: float, rng: Generator
) -> tuple[list[float], list[FloatArray]]:
    """Answer a histogram a column, each for an equal part of epsilon; another person changes two counts of each."""
    scale = 2 * samples[0].shape[1] / epsilon
    errors, courses = [], []
    weight = np.tile(np.log(prior), (len(truth), 1))
    for sample in samples:
        errors.append(float(np.mean([_noisy_error(sample[column], scale, rng) for column in sample])))
        # All other records are known: each count less these is noise, and 1 more where the target is.
        noise = discrete_laplace(scale, 1.0, weight.size, rng=rng).reshape(weight.shape)
        noise[np.arange(len(truth)), truth] += 1
        weight = weight + (np.abs(noise) - np.abs(noise - 1)) / scale
        posterior = np.exp(weight - weight.max(axis=1, keepdims=True))
        courses.append(posterior / posterior.sum(axis=1, keepdims=True))
    return errors, courses


def _noisy_error(column: pd.Series, scale: float, rng: Generator) -> float:
    counts = column.value_counts().to_numpy()
    noisy = np.maximum(counts + discrete_laplace(scale, 1.0, len(counts), rng=rng), 0)
    return float(0.5 * np.abs(noisy / max(noisy.sum(), 1) - counts / counts.sum()).sum())
