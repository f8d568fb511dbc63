"""Chapter 3: the printed examples, the intersection attack on Adult, and why older defences of query systems fail."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from reident import (
    MaxAuditor,
    auditing_attack,
    averaging_attack,
    background_knowledge_attack,
    equivalence_classes,
    homogeneity_attack,
    intersection_course,
    k_anonymise,
    k_anonymity,
    l_diversity,
    laplace_count,
    query_set_attack,
    randomised_response,
    sampling_exposure,
    similarity_attack,
    skewness_attack,
)
from reident.base import Parameters
from reident.data.datasets import load_adult, load_vanhoef2012_table
from reident.queries.randomised_response import response_variance
from reident.studies._seeded import seeded_noise
from reident.studies.vanhoef2012_tables import ATTRIBUTES

EXAMPLE: dict[str, Any] = {"quasi": ["zip", "age", "nationality"], "sensitive": "condition"}

#: What the intruder knows of the people of Adult.
QUASI = ["age", "marital-status", "race", "sex", "native-country"]
#: Records behind the auditor that refuses.
N_AUDITED = 600
#: Sensitive attributes that differ in the size of their domain alone: occupations merged into groups of nearly equal
#: mass, and an attribute that is drawn evenly and depends on nothing.
DOMAINS = [f"{kind} {size}" for kind in ("occupation in", "uniform of") for size in (2, 4, 7, 14)]
#: What the figures call a criterion; "none" releases the samples as they are.
CRITERIA = {"k": "k-anonymity", "l": "with l-diversity", "t": "with t-closeness"}


def example_measures() -> pd.DataFrame:
    """Return k, distinct and entropy l, and the sizes of the classes of tables 3.1 and 3.2."""
    rows = []
    for name in ("3.1", "3.2"):
        table = load_vanhoef2012_table(name)
        sizes = np.bincount(equivalence_classes(table, EXAMPLE["quasi"]))
        rows.append(
            {
                "table": name,
                "k": k_anonymity(table, EXAMPLE["quasi"]),
                "distinct_l": l_diversity(table, **EXAMPLE),
                "entropy_l": l_diversity(table, **EXAMPLE, kind="entropy"),
                "n_classes": len(sizes),
            }
        )
    return pd.DataFrame(rows)


def virus_release(n: int = 10_000) -> pd.DataFrame:
    """Return the example of the skewness attack: 1 % positive in all, one class with as many positive as negative."""
    n_positive = n // 100
    mixed = ["positive", "negative"] * n_positive
    rest = ["negative"] * (n - len(mixed))
    return pd.DataFrame({"region": ["A"] * len(mixed) + ["B"] * len(rest), "test": mixed + rest})


def diagnosis_release() -> pd.DataFrame:
    """Return an example of the similarity attack: three different diagnoses in a class, all of them cancers."""
    ill = ["lung cancer", "skin cancer", "bone cancer", "influenza", "lung cancer", "heart disease"]
    return pd.DataFrame({"region": ["A"] * 3 + ["B"] * 3, "condition": ill})


def example_breaches() -> pd.DataFrame:
    """Return which records of the examples each attack of section 3.3 breaches, and by how much."""
    table = load_vanhoef2012_table("3.1")
    found = {
        "Table 3.1": [
            homogeneity_attack(table, **EXAMPLE),
            background_knowledge_attack(table, **EXAMPLE, knowledge={"Heart Disease": 0}),
        ],
        "Table 3.2": [
            homogeneity_attack(load_vanhoef2012_table("3.2"), **EXAMPLE),
            background_knowledge_attack(
                load_vanhoef2012_table("3.2"), **EXAMPLE, knowledge={"Heart Disease": 0}, min_posterior=0.6
            ),
        ],
        "virus": [skewness_attack(virus_release(), quasi="region", sensitive="test")],
        "diagnoses": [
            similarity_attack(
                diagnosis_release(), quasi="region", sensitive="condition", groups=lambda ill: ill.split()[-1]
            )
        ],
    }
    parts = [
        breaches.records.rename_axis("record").reset_index().assign(example=example, attack=breaches.attack)
        for example, attacks in found.items()
        for breaches in attacks
    ]
    frame = pd.concat([part.astype({"record": int, "value": str}) for part in parts if len(part)], ignore_index=True)
    return frame[["example", "attack", "record", "equivalence_class", "value", "prior", "posterior", "gain"]]


@lru_cache(maxsize=1)
def adult() -> pd.DataFrame:
    """Return the columns of Adult that the attack is about."""
    return load_adult()[[*QUASI, *ATTRIBUTES]]


def entropy_bits(column: pd.Series) -> float:
    """Return the Shannon entropy of an attribute, bits."""
    shares = column.value_counts(normalize=True).to_numpy()
    return float(-(shares * np.log2(shares)).sum())


def with_domain(people: pd.DataFrame, name: str, rng: np.random.Generator) -> pd.DataFrame:
    """Return the people with the attribute `name` of `DOMAINS` added, or as they are for another name."""
    if name not in DOMAINS:
        return people
    size = int(name.rsplit(" ", 1)[1])
    if name.startswith("uniform"):
        return people.assign(**{name: rng.integers(size, size=len(people))})
    mass = [0] * size
    group = {}
    for value, count in people["occupation"].value_counts().items():
        group[value] = int(np.argmin(mass))
        mass[group[value]] += count
    return people.assign(**{name: people["occupation"].map(group)})


def overlapping_samples(
    people: pd.DataFrame, params: Parameters, rng: np.random.Generator
) -> tuple[pd.DataFrame, list[pd.DataFrame]]:
    """Draw the people who are in all releases, and for each release them and others: as many releases as are asked for.

    Parameters: ``n_common``, ``n_own`` (people of a release besides the common ones), ``releases``.
    """
    order = rng.permutation(len(people))
    common, rest = people.iloc[order[: params["n_common"]]], order[params["n_common"] :]
    others = [rng.choice(rest, params["n_own"], replace=False) for _ in range(max(params["releases"]))]
    return common, [pd.concat([common, people.iloc[own]]) for own in others]


def intersection_trial(params: Parameters, rng: np.random.Generator) -> dict[str, Any]:
    """Anonymise overlapping samples of Adult independently and attack the people who are in all of them.

    Parameters: ``criterion`` ("k", "l", "t", or "none": the samples as they are), ``k``, ``strength`` (of l or t; k
    again for k), ``sensitive``, ``shuffled`` (the sensitive attribute permuted over all records, so that only its
    distribution remains), ``releases`` (after how many the attack is looked at), ``n_common``, ``n_own`` (people of a
    release besides the common ones).
    """
    sensitive = params["sensitive"]
    people = with_domain(adult(), sensitive, rng)
    if params["shuffled"]:
        people = people.assign(**{sensitive: rng.permutation(people[sensitive].to_numpy())})
    common, samples = overlapping_samples(people, params, rng)
    rule = {"l": "ell", "t": "t"}.get(params["criterion"])
    extra = {} if rule is None else {rule: params["strength"], "sensitive": sensitive}
    if params["criterion"] == "none":
        releases: list[Any] = samples
        utility = 1.0
    else:
        releases = [k_anonymise(sample, QUASI, k=params["k"], method="mondrian", **extra) for sample in samples]
        utility = 1 - float(np.mean([release.losses["ncp"] for release in releases]))
    measures: dict[str, Any] = {"utility": utility, "entropy_bits": entropy_bits(people[sensitive])}
    course = intersection_course(releases, common[QUASI], quasi=QUASI, sensitive=sensitive)
    for n in params["releases"]:
        quality = course[n - 1].assess(common[sensitive])
        measures |= {
            f"perfect_{n}": quality.perfect_correct,
            f"partial_{n}": quality.partial_correct,
            f"confidence_{n}": quality.confidence,
            f"guessed_{n}": quality.guessed,
            f"contradicted_{n}": quality.contradicted,
            f"baseline_{n}": quality.baseline,
        }
    return measures


#: What `intersection_trial` measures after each number of releases.
SEVERITY = ("perfect", "partial", "confidence", "guessed", "contradicted", "baseline")


def by_releases(frame: pd.DataFrame, names: Sequence[str] = SEVERITY) -> pd.DataFrame:
    """Return a sweep that measures `names` after some numbers of releases with one row a trial and such number."""
    listed = sorted({int(column.rpartition("_")[2]) for column in frame if column.startswith(f"{names[0]}_")})
    fixed = [column for column in frame if column.rpartition("_")[0] not in names and column != "releases"]
    parts = [frame[fixed].assign(n_releases=n, **{name: frame[f"{name}_{n}"] for name in names}) for n in listed]
    return pd.concat(parts, ignore_index=True)


def query_system_failures(rng: np.random.Generator, *, n_repeats: int) -> dict[str, pd.DataFrame]:
    """Return one small run a defence: minimum query sets, auditing, sampling, independent noise."""
    people = load_adult().iloc[:2000]
    target = int(rng.integers(len(people)))
    sets = query_set_attack(people, target, lambda row: row["income"] == ">50K", min_set_size=1000)
    truth = int(people["income"].iloc[target] == ">50K")
    query_sets = sets.queries.assign(learned=sets.learned, truth=truth)
    auditing = []
    for group_size in (3, 4, 6, 10):
        for repetition in range(n_repeats):
            auditor = MaxAuditor(rng.permutation(N_AUDITED).astype(float))
            attack = auditing_attack(auditor, group_size=group_size, rng=rng)
            share = len(attack.learned) / (N_AUDITED // group_size)
            auditing.append((group_size, repetition, share, 1 / group_size, attack.n_refused, attack.n_asked))
    known = ["age", "education", "marital-status", "occupation", "race", "sex", "native-country"]
    sampling = [
        {"rate": rate, **vars(sampling_exposure(load_adult(), quasi=known, rate=rate, rng=rng))}
        for rate in (0.01, 0.05, 0.2, 0.5)
    ]
    with seeded_noise():
        averaged = averaging_attack(lambda: laplace_count(100, epsilon=0.1, rng=rng), 1000)
    shown = np.unique(np.geomspace(1, 1000, 60).astype(int))
    averaging = pd.DataFrame(
        {"n_answers": shown, "estimate": averaged.estimates[shown - 1], "epsilon_spent": 0.1 * shown, "truth": 100}
    )
    columns = ["group_size", "repetition", "learned_share", "expected_share", "n_refused", "n_asked"]
    return {
        "query_sets": query_sets,
        "auditing": pd.DataFrame(auditing, columns=columns),
        "sampling": pd.DataFrame(sampling),
        "averaging": averaging,
    }


def response_trial(params: Parameters, rng: np.random.Generator) -> dict[str, Any]:
    """Randomise ``n`` yes-or-no answers, ``share`` of them yes, and estimate the share.

    Parameters: ``truth_probability``, ``n``, ``share``.
    """
    truth = np.arange(params["n"]) < round(params["share"] * params["n"])
    with seeded_noise():
        response = randomised_response(truth, truth_probability=params["truth_probability"], rng=rng)
    row = response.estimate().loc[True]
    return {
        "epsilon": response.epsilon,
        "estimate": row["share"],
        "error": row["share"] - truth.mean(),
        "variance": row["variance"],
        "variance_formula": response_variance(truth.mean(), params["n"], params["truth_probability"], 2),
        "covered": bool(row["low"] <= truth.mean() <= row["high"]),
    }
