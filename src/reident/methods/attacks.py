"""Run every attack in one way: from a release and the intruder's knowledge to claims about persons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reident.base import ParameterError, check_listed, trial_seed
from reident.methods._entry import Entry
from reident.methods.catalogue import entries, find
from reident.methods.outcome import Knowledge, NotApplicable, Outcome
from reident.methods.persons import in_persons, once_each
from reident.methods.release import Release

__all__ = ["attack_names", "check_attacks", "lacking", "run_attack"]


def attack_names() -> list[str]:
    """Return the names of all attacks that can be run by name."""
    return [entry.name for entry in entries("attack")]


def check_attacks(names: Sequence[str] | None) -> Sequence[str] | None:
    """Return names of attacks, each of which there is; None for all."""
    if names is None:
        return None
    known, listed = attack_names(), check_listed(names, "attacks")
    for name in listed:
        if not isinstance(name, str) or name not in known:
            raise ParameterError(f"`attacks` must name registered attacks, got {name!r}: there are {', '.join(known)}")
    return listed


def lacking(entry: Entry, release: Release, knowledge: Knowledge) -> str:
    """Return the missing inputs of an attack on a release, "" if it can be tried."""
    sensitive = knowledge.sensitive is not None and (
        bool(release.answers) or knowledge.sensitive in release.table.columns
    )
    met = {
        "records": (release.has_records or len(release.table.columns) > 0, "no records are released"),
        "places": (knowledge.has_places, "the intruder is not said to know places"),
        "distances": (release.has_distances, "no places and no distances are released"),
        "points": (release.has_places, "no places are released"),
        "network": (release.network is not None, "no network is released"),
        "relations": (knowledge.network is not None, "the intruder is not said to know relations"),
        "answers": (bool(release.answers), "no answers to counting queries are released"),
        "labels": (bool(knowledge.quasi), "no quasi-identifier is known"),
        "sensitive": (sensitive, "no sensitive column is released"),
        "register": (knowledge.register is not None, "no register of the population is given"),
        "households": (knowledge.households is not None, "nobody is said to live together"),
        "earlier": (
            bool(knowledge.earlier) or knowledge.again is not None,
            "no other release of the same persons is given, and the method is not known",
        ),
        "method": (release.method not in ("unknown", "original"), "the method of the release is not known"),
    }
    alone = "households" in entry.needs.split()
    of_data = {
        "table": ("records",) if alone else ("records", "labels"),
        "places": ("distances", "places"),
        "network": ("network", "relations"),
        "queries": ("answers",),
    }
    for need in (*of_data[entry.data], *entry.needs.split()):
        holds, why = met.get(need, (True, ""))
        if not holds:
            return why
    return next(
        (f"`{name}` is not given: {public.meaning}" for name, public in entry.public.items()
         if name not in knowledge.public and name in entry.required), "",
    )  # fmt: skip


def run_attack(
    name: str,
    release: Release,
    knowledge: Knowledge,
    options: Mapping[str, Any] | None = None,
    *,
    seed: int = 0,
    rng: np.random.Generator | None = None,
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
    if not len(knowledge.known) or not (len(release.table) or release.answers):
        raise NotApplicable("nothing is released, or nobody is known")
    for public, public_input in entry.public.items():
        if public not in knowledge.public:
            if public not in entry.required:
                continue
            raise NotApplicable(f"`{public}` is not given: {public_input.meaning}")
        arguments[public] = public_input.give(knowledge.public[public])
    if rng is None:
        rng = np.random.default_rng(trial_seed(seed, "attack", {"name": name}, None))
    if entry.data in ("table", "places"):
        release, knowledge = in_persons(
            release, knowledge, value="sensitive" in entry.needs.split(), place=entry.data == "places"
        )
    outcome: Outcome = entry.function(release, knowledge, rng=rng, **arguments)
    return once_each(outcome, knowledge)
