"""Attack. Run every attack in one way: from a release and the intruder's knowledge to claims about persons.

Several records of one person: a class of k records does not protect if all are the same person's. Both files are
reduced before an attack: the release to one record a person and class (of the columns that are not perturbed, and where
values or places are sought of these too), the known file to one row for each thing known of a person. Of the claims
about a person the surest counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from reident.base import ParameterError, trial_seed
from reident.methods._entry import Entry
from reident.methods.outcome import NotApplicable, Outcome
from reident.methods.registry import find
from reident.methods.release import Knowledge, places_of, value_ids
from reident.tables.classes import first_rows

#: Requirement of an attack -> whether an intruder's knowledge and its release meet it, and the reason if they do not.
REQUIREMENTS = {
    "records": (lambda k: k.release.has_records or len(k.release.table.columns) > 0, "no records are released"),
    "places": (lambda k: k.has_places, "the intruder is not said to know places"),
    "distances": (lambda k: k.release.has_distances, "no places and no distances are released"),
    "points": (lambda k: k.release.has_places, "no places are released"),
    "network": (lambda k: k.release.network is not None, "no network is released"),
    "relations": (lambda k: k.network is not None, "the intruder is not said to know relations"),
    "labels": (lambda k: bool(k.compared), "no quasi-identifier is known and released"),
    "unperturbed": (lambda k: bool(k.unperturbed), "no quasi-identifier was left as it was, generalised or rounded"),
    "sensitive": (
        lambda k: k.sensitive is not None and k.sensitive in k.release.table.columns,
        "no sensitive column is released",
    ),
    "register": (lambda k: k.register is not None, "no register of the population is given"),
    "households": (lambda k: k.households is not None, "no households are given"),
    "earlier": (
        lambda k: bool(k.earlier) or k.repeat is not None,
        "no other release of the same persons is given, and the method is not known",
    ),
    "method": (lambda k: k.release.method not in ("unknown", "original"), "the method of the release is not known"),
}  # fmt: skip


def lacking(entry: Entry, knowledge: Knowledge) -> str:
    """Return the reason why an attack cannot be tried with some knowledge of a release, "" if it can."""
    for need in entry.requirements:
        is_met, reason = REQUIREMENTS[need]
        if not is_met(knowledge):
            return reason
    absent = [name for name in entry.public if name in entry.required and name not in knowledge.public]
    return f"`{absent[0]}` is not given: {entry.public[absent[0]].meaning}" if absent else ""


def run_attack(name: str, knowledge: Knowledge, options: Mapping[str, Any] | None = None, *, seed: int = 0) -> Outcome:
    """Run an attack by its name on the release of a knowledge; where persons have several records, persons are counted.

    Raises
    ------
    NotApplicable
        With the reason why it says nothing about this release.
    ParameterError
        If there is no such attack, an option breaks its rule, or the knowledge is about no release.
    """
    entry = find(name, "attack")
    if not isinstance(knowledge, Knowledge) or knowledge.release is None:
        got = "no release" if isinstance(knowledge, Knowledge) else type(knowledge).__name__
        raise ParameterError(f"`knowledge` must be a Knowledge about a release (`knowledge.on(release)`), got {got}")
    arguments = entry.arguments(options or {})
    if not len(knowledge.known) or not len(knowledge.release.table):
        raise NotApplicable("the release or the known file is empty")
    if reason := lacking(entry, knowledge):
        raise NotApplicable(reason)
    public = {public: entry.public[public].give(knowledge.public[public])
              for public in entry.public if public in knowledge.public}  # fmt: skip
    rng = np.random.default_rng(trial_seed(seed, "attack", {"name": name}, None))
    if entry.data in ("table", "places"):
        knowledge = in_persons(knowledge, value="sensitive" in entry.needs.split(), place=entry.data == "places")
    subject = {"release": knowledge.release, "knowledge": knowledge, "rng": rng}
    named = {argument: value for argument, value in subject.items() if argument in entry.signature}
    outcome = entry.function(**named, **arguments, **public)
    return _surest(outcome, knowledge)


# -- several records of a person ---------------------------------------------------------------------------------------


def in_persons(knowledge: Knowledge, *, value: bool = False, place: bool = False) -> Knowledge:
    """Return both files with one record a person and class; as they are where each record is a person's.

    Parameters
    ----------
    knowledge : Knowledge
    value, place : bool
        Whether the attack is about the sensitive value, or about the place: records that differ in it then stay apart.
    """
    if knowledge.persons is None:
        return knowledge
    name = f"in persons, {knowledge.sensitive if value else None}, {place}"
    return knowledge.once(name, lambda: _reduced(knowledge, value=value, place=place))


def _reduced(knowledge: Knowledge, *, value: bool, place: bool) -> Knowledge:
    release, known = knowledge.release, knowledge.known
    table = release.table
    alike: list[Any] = [knowledge.compared[name].record_codes for name in knowledge.unperturbed]
    if value and knowledge.sensitive in table:
        alike.append(table[knowledge.sensitive].to_numpy(object))
    if place:
        alike += places_of(table) if release.has_places else [np.arange(len(table))]
    ids = value_ids([knowledge.who_of(table.index), *alike])
    rows = first_rows(ids, int(ids.max()) + 1)  # in order: the classes are numbered as they appear
    truth = np.append(ids, -1)[knowledge.truth]
    secret = [knowledge.secret.to_numpy(object)] if value and knowledge.secrets else []
    ids = value_ids([knowledge.who, truth, *secret, *known.to_numpy(object).T])
    persons, present = first_rows(ids, int(ids.max()) + 1), knowledge.present
    persons = persons[present[persons] | ~knowledge.who.isin(knowledge.who[present])[persons]]
    matrix = None if release.matrix_km is None else release.matrix_km[np.ix_(rows, rows)]
    return knowledge.on(replace(release, table=table.iloc[rows], matrix_km=matrix), truth=truth).of(persons)


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
    order = np.sort(order[~person[order].duplicated()])
    return replace(outcome, claims=claims.assign(**summed).iloc[order].set_axis(person[order]))
