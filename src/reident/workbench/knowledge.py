"""Value of an intruder's knowledge: of each subset of the columns, and of who is in the file."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd

from reident.base import RNGLike, check_rng, ratio
from reident.methods.attacks import in_persons
from reident.methods.release import LAT, LON, Knowledge, Release
from reident.tables.agreement import agreement
from reident.workbench.evaluate import RiskReport, evaluate, individual_risks

#: Columns up to which every subset is tried, and of more columns the largest subsets that are and how many.
ALL, UP_TO, MOST = 8, 3, 3000
#: Orders drawn to share the risk out among more columns than that, and the least of them among a great many.
_ORDERS, _LEAST_ORDERS = 100, 10
#: What the place of a person is called among the columns known.
PLACE = "place"
#: Persons on whom an intruder who knows the place is tried.
_PERSONS = 500


@dataclass(frozen=True, eq=False)
class KnowledgePrice:
    """The value of each piece of knowledge to an intruder.

    Attributes
    ----------
    subsets : DataFrame
        One row a subset: ``known`` (columns, separated by commas), ``size``, ``risk`` (mean success),
        ``share_above_limit``, ``worst`` (the largest risk of a person). Sorted by size, then by risk, highest first.
    columns : DataFrame
        One row a column: ``column``, ``share_above_limit`` and ``risk``: what knowing it adds to either, the mean over
        all orders in which an intruder may learn the columns (Shapley value). They sum to what knowing all adds.
    """

    subsets: pd.DataFrame
    columns: pd.DataFrame

    @property
    def worst(self) -> pd.DataFrame:
        """The subset of each size that puts most persons above the limit; among equals the one with most success."""
        order = self.subsets.sort_values(
            ["size", "share_above_limit", "risk"], ascending=[True, False, False], kind="stable"
        )
        return order.drop_duplicates("size").reset_index(drop=True)


def price(release: Release, knowledge: Knowledge, *, limit: float = 0.25, rng: RNGLike = 0) -> KnowledgePrice | None:
    """Attack a release with each subset of an intruder's knowledge; None where no known column is released.

    Each intruder knows some quasi-identifiers of every person, exactly, and joins by the columns that the release left
    as they were, generalised or rounded; an intruder with the place also takes the nearest released place. The column
    that contributes most is the one to coarsen. A column changed by noise is no evidence to a join; `evaluate` has
    attacks for it.

    Parameters
    ----------
    release : Release
    knowledge : Knowledge
        As `Dataset.knowledge` returns it. The place, if both have it, is one more piece of knowledge, `place`.
    limit : float, default 0.25
        The tolerable risk of a person.
    rng : Generator, int or None
        Draws the orders in which more than 8 columns are learned, and the 500 persons on whom places are tried.

    Notes
    -----
    Contributions are Shapley (1953) values of the game whose players are the columns: over all subsets of up to 8 of
    them; of more, subsets of up to 3 (fewer where there are more than 3,000), and the mean over 100 drawn orders, 10 at
    least where there are many columns. One grouping of the records a subset.

    Examples
    --------
    >>> from reident.workbench.dataset import Dataset
    >>> people = pd.DataFrame({"age": [30, 30, 30, 41, 41, 52], "sex": list("ffffmm")})
    >>> release = Release("table", people, "original", {}, 6)
    >>> known = Dataset(people, quasi=["age", "sex"]).knowledge(np.arange(6))
    >>> result = price(release, known, limit=0.4)
    >>> result.subsets[["known", "share_above_limit"]].round(2).values.tolist()
    [['age', 0.5], ['sex', 0.33], ['age, sex', 0.5]]
    >>> result.columns.round(2).values.tolist()
    [['age', 0.33, 0.33], ['sex', 0.17, 0.17]]
    """
    generator = check_rng(rng)
    knowledge = knowledge.on(release)
    names = list(knowledge.compared) if len(release.table) else []
    if release.has_places and knowledge.has_places:
        names.append(PLACE)
    if not names:
        return None
    every = len(names) <= ALL
    n_subsets = np.cumsum([math.comb(len(names), k) for k in range(1, UP_TO + 1)])
    size = len(names) if every else max(1, (n_subsets <= MOST).sum())
    value = _values(knowledge, limit, int(generator.integers(2**31)))
    tried = [subset for k in range(1, size + 1) for subset in itertools.combinations(names, k)]
    tried += [] if size == len(names) else [tuple(names)]
    rows = [{"known": ", ".join(subset), "size": len(subset), **value(frozenset(subset))} for subset in tried]
    order = {"kind": "stable", "ignore_index": True}
    subsets = pd.DataFrame(rows).sort_values(["size", "risk"], ascending=[True, False], **order)
    if every:  # each name after each subset of the others, weighted by the share of all orders that begin so
        n = len(names)
        steps = [
            (1 / (n * math.comb(n - 1, len(known) - 1)), {*known} - {name}, name) for known in tried for name in known
        ]
    else:
        n_orders = max(_LEAST_ORDERS, min(_ORDERS, MOST // len(names)))
        orders = [generator.permutation(names).tolist() for _ in range(n_orders)]
        steps = [(1 / n_orders, {*learned[:i]}, name) for learned in orders for i, name in enumerate(learned)]
    added = []
    for weight, before, name in steps:
        without, with_it = value(frozenset(before)), value(frozenset(before | {name}))
        added.append({measure: weight * (with_it[measure] - without[measure]) for measure in with_it})
    shared = pd.DataFrame(added).groupby([name for _, _, name in steps]).sum().loc[names, ["share_above_limit", "risk"]]
    columns = shared.reset_index(names="column").sort_values(["share_above_limit", "risk"], ascending=False, **order)
    return KnowledgePrice(subsets, columns)


def _values(knowledge: Knowledge, limit: float, seed: int) -> Callable[[frozenset[str]], dict[str, float]]:
    """Return the risks by the columns known, each computed once."""
    compared, usable = knowledge.compared, set(knowledge.unperturbed)

    def joined(known: frozenset[str]) -> dict[str, float]:
        used = [name for name in compared if name in known and name in usable]
        reduced = knowledge
        if knowledge.persons is not None:  # whose records are one in these columns need not be one in others
            reduced = in_persons(replace(knowledge, known=knowledge.known[used], quasi=used))
        result = agreement(reduced.compared, used, reduced.release.table, len(reduced.known))
        persons = np.flatnonzero(reduced.present)
        counts = result.counts()[persons]
        sure = ratio(1.0, counts)
        right = sure * result.holds(persons, reduced.truth[persons])
        sure, right = (pd.Series(subset).groupby(reduced.who[persons], sort=False).max() for subset in (sure, right))
        above = (sure > limit + 1e-12).mean()
        return {"risk": right.mean(), "share_above_limit": above, "worst": sure.max()}

    def placed(known: frozenset[str]) -> dict[str, float]:
        used = [name for name in compared if name in known]
        reduced = replace(knowledge, known=knowledge.known[[*used, LAT, LON]], quasi=used, n_persons=_PERSONS)
        result = evaluate(knowledge.release, reduced, limit=limit, attacks=["nearest_place"], seed=seed)
        alone, risk = value(known - {PLACE}), result.frame["risk"].fillna(0.0).item()
        found = {"risk": risk, "share_above_limit": result.share_above_limit, "worst": result.highest}
        return {name: max(alone[name], found[name]) for name in found}

    @cache
    def value(known: frozenset[str]) -> dict[str, float]:
        return placed(known) if PLACE in known else joined(known)

    return value


# -- the population for which records stand by their survey weights -----------------------------------------------


@dataclass(frozen=True)
class Population:
    """Risks in the population that the records represent by their weights.

    Attributes
    ----------
    persons : float
        The sum of the weights of the persons in the release.
    share_above_limit : float
        The share of them for whom a record stands that is above the limit, the intruder knowing who is in the file.
    risk, worst : float
        The individual risk of Benedetti and Franconi, for an intruder who does not know who is in the file: its mean
        over the records, and the largest.
    sampled_share_above_limit : float
        The share of the population for whom a record stands whose individual risk is above the limit.
    """

    persons: float
    share_above_limit: float
    risk: float
    worst: float
    sampled_share_above_limit: float

    def sentence(self, limit: float) -> str:
        """Say it in a sentence."""
        return (
            f"By their weights the records stand for {self.persons:,.0f} persons, {self.share_above_limit:.1%} of whom "
            f"are above a risk of {limit:.0%}. An intruder who does not know which persons are in the file finds a "
            f"record's person with a probability of {_percent(self.risk)} on average and {_percent(self.worst)} at "
            f"most by the labels released; {self.sampled_share_above_limit:.1%} are above the limit by that (Benedetti "
            "and Franconi's model)."
        )


def _percent(share: float) -> str:
    return "less than 0.1%" if 0 < share < 0.001 else f"{share:.1%}"


def population_of(knowledge: Knowledge, judged: RiskReport) -> Population | None:
    """Return the risks in the population; None without weights or persons."""
    if knowledge.weights is None or judged.persons.empty:
        return None
    model = individual_risks(knowledge)
    weights, risks, above = model["weight"], model["risk"], judged.persons["above"].to_numpy(bool)
    total = weights.sum()
    return Population(
        total, weights[above].sum() / total, risks.mean(), risks.max(),
        weights[risks > judged.limit + 1e-12].sum() / total,
    )  # fmt: skip


def group_notes(
    knowledge: Knowledge, judged: RiskReport, stands_for: Population | None, receipt: str = ""
) -> list[str]:
    """Return sentences about the weights and their changes, the intruder, and households."""
    notes = [] if stands_for is None else [*filter(None, [receipt]), stands_for.sentence(judged.limit)]
    if not knowledge.knows_presence:
        notes.append(
            "The intruder is assumed not to know which persons are in the file: each risk is multiplied by the "
            "probability that a person with the same labels is (by the survey weights, Benedetti and Franconi's model)."
        )
    if knowledge.households is not None:
        n = knowledge.households[knowledge.present].nunique()
        n_above = judged.persons["above"].sum()
        for_another = f": {judged.by_household} of the {n_above} persons above the limit are so for another member"
        notes.append(
            f"Finding one member of a household finds them all ({n} households){for_another if n_above else ''}."
        )
    return notes
