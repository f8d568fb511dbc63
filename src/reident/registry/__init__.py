"""Every anonymiser, attack and metric of the house by name: what the command line, the explorer and the docs read.

Adding a method is one file (the function, in its layer) and one `Entry` in the module of its kind of data here.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from reident._validation import check_choice
from reident.errors import ParameterError
from reident.registry._entry import DATA, FORMS, ROLES, Entry, Parameter
from reident.registry._networks import NETWORKS
from reident.registry._places import PLACES
from reident.registry._tables import TABLES

__all__ = ["DATA", "ENTRIES", "FORMS", "ROLES", "Entry", "Parameter", "entries", "find", "methods_table"]

#: All entries, in the order in which they are listed.
ENTRIES: tuple[Entry, ...] = (*PLACES, *TABLES, *NETWORKS)


def find(name: str, role: str | None = None) -> Entry:
    """Return an entry by its name.

    Raises
    ------
    ParameterError
        If there is none of this name, or it has another role; the message lists the names there are.
    """
    for entry in ENTRIES:
        if entry.name == name and role in (None, entry.role):
            return entry
    listed = ", ".join(entry.name for entry in ENTRIES if role in (None, entry.role))
    raise ParameterError(f"`name` must be that of a registered {role or 'method'}, got {name!r}: there are {listed}")


def entries(role: str | None = None, data: str | None = None, *, mapped: bool = False) -> list[Entry]:
    """Return the entries of a role and a kind of data; with `mapped` only those that can stand on a map."""
    if role is not None:
        check_choice(role, "role", ROLES)
    if data is not None:
        check_choice(data, "data", DATA)
    return [
        entry
        for entry in ENTRIES
        if role in (None, entry.role) and data in (None, entry.data) and not (mapped and entry.form == "other")
    ]


def methods_table(role: str | None = None, data: str | None = None) -> pd.DataFrame:
    """Return one row a parameter of every method: name, role, data, parameter, type, range, unit, default, source."""
    rows: list[dict[str, Any]] = []
    for entry in entries(role, data):
        head = {"name": entry.name, "role": entry.role, "data": entry.data}
        tail = {"source": entry.source, "call": entry.call}
        defaults = entry.defaults()
        for parameter in entry.parameters or (None,):
            told: dict[str, Any] = dict.fromkeys(("parameter", "type", "range", "unit", "default"), "")
            if parameter is not None:
                allowed = parameter.range or ", ".join(map(repr, parameter.choices))
                told = {
                    "parameter": parameter.name,
                    "type": parameter.kind,
                    "range": allowed,
                    "unit": parameter.unit,
                    "default": repr(defaults[parameter.name]),
                }
            rows.append({**head, **told, **tail})
    return pd.DataFrame(rows)
