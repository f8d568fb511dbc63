"""The catalogue: every registered method, by name: those of the package, of installed packages, and of this session.

A package offers its methods by an entry point of the group ``reident.methods`` that names an `Entry` or a list of them;
a notebook calls `register`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import pandas as pd

from reident.base import ParameterError, check_choice, load_offered
from reident.methods._anonymisers import ANONYMISERS
from reident.methods._attacks import ATTACKS
from reident.methods._entry import DATA, ROLES, Entry
from reident.methods._utilities import UTILITIES

__all__ = ["CHECKS", "ENTRIES", "GROUP", "REGISTERED", "describe", "entries", "find", "methods_table"]

#: The group of entry points by which a package offers its methods.
GROUP = "reident.methods"

#: All entries of the package, in the order in which they are listed.
ENTRIES: tuple[Entry, ...] = (*ANONYMISERS, *ATTACKS, *UTILITIES)

#: What this session has registered (`reident.register`), by name.
REGISTERED: dict[str, Entry] = {}

#: Checks of an entry from a package; `reident.methods.registering`, which knows the forms, adds its own.
CHECKS: list[Callable[[Any], None]] = []


@lru_cache(maxsize=1)
def _installed() -> tuple[Entry, ...]:
    """Return the entries of installed packages, in the order of their names, held to the rules of `register`."""
    by_name: dict[str, Entry] = {}

    def take(offered: Any) -> None:
        listed = list(offered) if isinstance(offered, Iterable) else [offered]
        for entry in listed:
            for check in CHECKS:
                check(entry)
            if entry.name in by_name:
                raise ParameterError(
                    f"`entry` must have a name of its own, got {entry.name!r}, which another package has"
                )
        by_name.update({entry.name: entry for entry in listed})

    load_offered(GROUP, take)
    return tuple(by_name.values())


def _all() -> list[Entry]:
    """Return every entry; of two with one name the later one is not listed."""
    by_name: dict[str, Entry] = {}
    for entry in (*ENTRIES, *REGISTERED.values(), *_installed()):
        by_name.setdefault(entry.name, entry)
    return list(by_name.values())


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


def describe(entry: Entry) -> dict[str, Any]:
    """Return a method's description as plain values, as `reident methods --json` prints it."""
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
                "name": option.name,
                "type": option.kind,
                "range": list(option.choices) if option.choices else option.range,
                "unit": option.unit,
                "default": defaults[option.name],
            }
            for option in (*entry.parameters, *entry.extras)
        ],
        "public": {name: public.meaning for name, public in entry.public.items()},
        "source": entry.source,
        "needs": list(entry.requirements) if entry.role == "attack" else entry.needs.split(),
        "guarantee": _in_symbols(entry.guarantee) if entry.role == "anonymiser" else "",
    }


def _in_symbols(guarantee: str) -> str:
    """Return a guarantee with the names of its options: "at least k - 1 others"."""
    words = re.sub(r"\{(\w+)[^}]*\}", lambda option: "k - 1" if option[1] == "others" else option[1], guarantee)
    return words or "none: the risk depends on the intruder's knowledge"


def methods_table(role: str | None = None, data: str | None = None) -> pd.DataFrame:
    """Return one row a parameter of every method: name, role, data, parameter, type, range, unit, default, source."""
    rows: list[dict[str, Any]] = []
    for method in map(describe, entries(role, data)):
        head = {"name": method["name"], "role": method["role"], "data": method["kind"]}
        tail = {"source": method["source"], "call": method["call"]}
        for parameter in method["parameters"] or [dict.fromkeys(("name", "type", "range", "unit", "default"), "")]:
            allowed = parameter["range"]
            middle = {
                "parameter": parameter["name"],
                "type": parameter["type"],
                "range": allowed if isinstance(allowed, str) else ", ".join(map(repr, allowed)),
                "unit": parameter["unit"],
                "default": repr(parameter["default"]) if parameter["name"] else "",
            }
            rows.append({**head, **middle, **tail})
    return pd.DataFrame(rows)
