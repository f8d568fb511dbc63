"""Run every attack in one way: from a release and the intruder's knowledge to claims about persons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
        lambda _, k: bool(k.earlier) or k.again is not None,
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
    return next(
        (f"`{name}` is not given: {entry.public[name].meaning}" for name in entry.public
         if name in entry.required and name not in knowledge.public), "",
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
    if not len(knowledge.known) or not len(release.table):
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
