"""Attack. Run every attack in one way: from a release and the intruder's knowledge to claims about persons.

Several records of one person: a class of k records does not protect if all are the same person's. Both files are
reduced before an attack: the release to one record a person and class (of the columns that are not perturbed, and where
values or places are sought of these too), the known file to one row for each thing known of a person. Of the claims
about a person the surest counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from reident.base import trial_seed
from reident.methods._entry import Entry
from reident.methods.outcome import NotApplicable, Outcome
from reident.methods.registry import find
from reident.methods.release import Knowledge, Release, places_of, value_ids
from reident.tables.classes import first_rows

#: Requirement of an attack -> whether a release and an intruder's knowledge meet it, and the reason if they do not.
REQUIREMENTS: dict[str, tuple[Callable[[Release, Knowledge], bool], str]] = {
    "records": (lambda r, _: r.has_records or len(r.table.columns) > 0, "no records are released"),
    "places": (lambda _, k: k.has_places, "the intruder is not said to know places"),
    "distances": (lambda r, _: r.has_distances, "no places and no distances are released"),
    "points": (lambda r, _: r.has_places, "no places are released"),
    "network": (lambda r, _: r.network is not None, "no network is released"),
    "relations": (lambda _, k: k.network is not None, "the intruder is not said to know relations"),
    "labels": (lambda _, k: bool(k.quasi), "no quasi-identifier is known"),
    "sensitive": (
        lambda r, k: k.sensitive is not None and k.sensitive in r.table.columns, "no sensitive column is released",
    ),
    "register": (lambda _, k: k.register is not None, "no register of the population is given"),
    "households": (lambda _, k: k.households is not None, "no households are given"),
    "earlier": (
        lambda _, k: bool(k.earlier) or k.repeat is not None,
        "no other release of the same persons is given, and the method is not known",
    ),
    "method": (lambda r, _: r.method not in ("unknown", "original"), "the method of the release is not known"),
}  # fmt: skip


def lacking(entry: Entry, release: Release, knowledge: Knowledge) -> str:
    """Return the reason why an attack cannot be tried on a release with some knowledge, "" if it can."""
    for need in entry.requirements:
        is_met, reason = REQUIREMENTS[need]
        if not is_met(release, knowledge):
            return reason
    absent = [name for name in entry.public if name in entry.required and name not in knowledge.public]
    return f"`{absent[0]}` is not given: {entry.public[absent[0]].meaning}" if absent else ""


def run_attack(
    name: str,
    release: Release,
    knowledge: Knowledge,
    options: Mapping[str, Any] | None = None,
    *,
    seed: int = 0,
) -> Outcome:
    """Run an attack by its name; where persons have several records, persons are counted.

    Raises
    ------
    NotApplicable
        With the reason why it says nothing about this release.
    ParameterError
        If there is no such attack, or an option breaks its rule.
    """
    entry = find(name, "attack")
    arguments = entry.arguments(options or {})
    if reason := lacking(entry, release, knowledge):
        raise NotApplicable(reason)
    if not len(knowledge.known) or not len(release.table):
        raise NotApplicable("the release or the known file is empty")
    public = {public: entry.public[public].give(knowledge.public[public])
              for public in entry.public if public in knowledge.public}  # fmt: skip
    rng = np.random.default_rng(trial_seed(seed, "attack", {"name": name}, None))
    if entry.data in ("table", "places"):
        release, knowledge = in_persons(
            release, knowledge, value="sensitive" in entry.needs.split(), place=entry.data == "places"
        )
    drawn = {"rng": rng} if "rng" in entry.signature else {}
    outcome: Outcome = entry.function(release, knowledge, **drawn, **arguments, **public)
    return _surest(outcome, knowledge)


# -- several records of a person ---------------------------------------------------------------------------------------


def in_persons(
    release: Release, knowledge: Knowledge, *, value: bool = False, place: bool = False
) -> tuple[Release, Knowledge]:
    """Return both files with one record a person and class; as they are where each record is a person's.

    Parameters
    ----------
    release : Release
    knowledge : Knowledge
    value, place : bool
        Whether the attack is about the sensitive value, or about the place: records that differ in it then stay apart.
    """
    if knowledge.persons is None:
        return release, knowledge
    name = f"in persons, {knowledge.sensitive if value else None}, {place}"
    return knowledge.once(release, name, lambda: _reduced(release, knowledge, value=value, place=place))


def _reduced(release: Release, knowledge: Knowledge, *, value: bool, place: bool) -> tuple[Release, Knowledge]:
    table, known = release.table, knowledge.known
    alike: list[Any] = [knowledge.compared(release)[name].record_codes for name in knowledge.unperturbed(release)]
    if value and knowledge.sensitive in table:
        alike.append(table[knowledge.sensitive].to_numpy(object))
    if place:
        alike += places_of(table) if release.has_places else [np.arange(len(table))]
    ids = value_ids([knowledge.who_of(table.index), *alike])
    rows = first_rows(ids, int(ids.max()) + 1)  # in order: the classes are numbered as they appear
    truth = np.where(knowledge.truth >= 0, ids[knowledge.truth], -1)
    secret = [knowledge.secret.to_numpy(object)] if value and knowledge.secrets else []
    ids = value_ids([knowledge.who, truth, *secret, *known.to_numpy(object).T])
    persons, present = first_rows(ids, int(ids.max()) + 1), knowledge.present
    persons = persons[present[persons] | ~knowledge.who.isin(knowledge.who[present])[persons]]
    matrix = None if release.matrix_km is None else release.matrix_km[np.ix_(rows, rows)]
    fewer = replace(knowledge, truth=truth).of(persons)
    return replace(release, table=table.iloc[rows], matrix_km=matrix), fewer


def _surest(outcome: Outcome, knowledge: Knowledge) -> Outcome:
    """Return one claim a person, the surest.

    The same thing known of a person may be sought in several records: these exclude one another, so that chances add
    up.
    """
    if knowledge.persons is None:
        return outcome
    claims, rows = outcome.claims, knowledge.known.index.get_indexer(outcome.claims.index)
    person = knowledge.who_of(claims.index)
    alone = rows < 0  # claims of released records
    words = np.where(alone, None, knowledge.known.to_numpy(object)[rows].T)
    same = value_ids([person, np.where(alone, np.arange(len(claims)), -1), *words])
    numbers = [name for name in ("confidence", "right", "base", "control") if name in claims]
    summed = claims[numbers].groupby(same).transform("sum", min_count=1).clip(upper=1)
    order = np.lexsort((-summed["confidence"].to_numpy(), ~claims["present"].to_numpy(bool)))
    order = np.sort(order[~pd.Index(person[order]).duplicated()])
    each = claims.assign(**{name: summed[name] for name in numbers}).iloc[order]
    return replace(outcome, claims=each.set_axis(pd.Index(person[order])))
