"""The catalogue: every registered method, by name: those of the house, of installed packages, and of this session.

A package offers its methods by an entry point of the group ``reident.methods`` that names an `Entry` or a list of them;
a notebook calls `register`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import pandas as pd

from reident.base import ParameterError, check_choice, load_offered
from reident.methods._anonymisers import ANONYMISERS
from reident.methods._attacks import ATTACKS
from reident.methods._entry import DATA, ROLES, Entry
from reident.methods._utilities import UTILITIES

__all__ = ["CHECKS", "ENTRIES", "GROUP", "REGISTERED", "entries", "find", "methods_table", "told"]

#: The group of entry points by which a package offers its methods.
GROUP = "reident.methods"

#: All entries of the house, in the order in which they are listed.
ENTRIES: tuple[Entry, ...] = (*ANONYMISERS, *ATTACKS, *UTILITIES)

#: What this session has registered (`reident.register`), by name.
REGISTERED: dict[str, Entry] = {}

#: What an entry of a package is held to; `reident.methods.registering`, which knows the forms, adds its check.
CHECKS: list[Callable[[Any], None]] = []


@lru_cache(maxsize=1)
def _installed() -> tuple[Entry, ...]:
    """Return the entries of installed packages, in the order of their names, held to the rules of `register`."""
    found: dict[str, Entry] = {}

    def take(offered: Any) -> None:
        listed = list(offered) if isinstance(offered, Iterable) else [offered]
        for one in listed:
            for check in CHECKS:
                check(one)
            if one.name in found:
                raise ParameterError(
                    f"`entry` must have a name of its own, got {one.name!r}, which another package has"
                )
        found.update({one.name: one for one in listed})

    load_offered(GROUP, take)
    return tuple(found.values())


def _all() -> list[Entry]:
    """Return every entry; of two with one name the later one is not listed."""
    named: dict[str, Entry] = {}
    for entry in (*ENTRIES, *REGISTERED.values(), *_installed()):
        named.setdefault(entry.name, entry)
    return list(named.values())


def find(name: str, role: str | None = None) -> Entry:
    """Return an entry by its name.

    Raises
    ------
    ParameterError
        If there is none of this name, or it has another role; the message lists the names there are.
    """
    for entry in _all():
        if entry.name == name and role in (None, entry.role):
            return entry
    listed = ", ".join(entry.name for entry in _all() if role in (None, entry.role))
    raise ParameterError(f"`name` must be that of a registered {role or 'method'}, got {name!r}: there are {listed}")


def entries(role: str | None = None, data: str | None = None) -> list[Entry]:
    """Return the entries of a role and a kind of data."""
    if role is not None:
        check_choice(role, "role", ROLES)
    if data is not None:
        check_choice(data, "data", DATA)
    return [entry for entry in _all() if role in (None, entry.role) and data in (None, entry.data)]


def told(entry: Entry) -> dict[str, Any]:
    """Return all that is known of a method as plain values: what `reident methods --json` prints."""
    defaults = entry.defaults()
    return {
        "name": entry.name,
        "role": entry.role,
        "kind": entry.data,
        "label": entry.label,
        "form": entry.form,
        "call": entry.call,
        "parameters": [
            {
                "name": one.name,
                "type": one.kind,
                "range": list(one.choices) if one.choices else one.range,
                "unit": one.unit,
                "default": defaults[one.name],
            }
            for one in (*entry.parameters, *entry.extras)
        ],
        "public": {name: said.meaning for name, said in entry.public.items()},
        "source": entry.source,
        "guarantee": entry.guarantee or "none: the risk depends on what an intruder knows",
    }


def methods_table(role: str | None = None, data: str | None = None) -> pd.DataFrame:
    """Return one row a parameter of every method: name, role, data, parameter, type, range, unit, default, source."""
    rows: list[dict[str, Any]] = []
    for one in map(told, entries(role, data)):
        head = {"name": one["name"], "role": one["role"], "data": one["kind"]}
        tail = {"source": one["source"], "call": one["call"]}
        for parameter in one["parameters"] or [dict.fromkeys(("name", "type", "range", "unit", "default"), "")]:
            allowed = parameter["range"]
            shown = {
                "parameter": parameter["name"],
                "type": parameter["type"],
                "range": allowed if isinstance(allowed, str) else ", ".join(map(repr, allowed)),
                "unit": parameter["unit"],
                "default": repr(parameter["default"]) if parameter["name"] else "",
            }
            rows.append({**head, **shown, **tail})
    return pd.DataFrame(rows)
