"""Registered methods by name: those of the package, of installed packages, and of this session.

A package offers its methods by an entry point of the group ``reident.methods`` that names an `Entry` or a list of them;
a notebook calls `register`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any

import pandas as pd

from reident.base import Choice, ParameterError, check_choice
from reident.methods._entries import ENTRIES
from reident.methods._entry import CALLS, DATA, NAMES, ROLES, Entry
from reident.methods.release import RELEASES

#: The group of entry points by which a package offers its methods.
GROUP = "reident.methods"

#: The methods registered in this session, by name.
REGISTERED: dict[str, Entry] = {}


@lru_cache(maxsize=1)
def _installed() -> tuple[Entry, ...]:
    """Return the entries of installed packages, in the order of their names, held to the rules of `register`."""
    by_name = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            offered = point.load()
            listed = list(offered) if isinstance(offered, Iterable) else [offered]
            for entry in listed:
                _check_entry(entry)
                if entry.name in by_name:
                    raise ParameterError(
                        f"`entry` must have a name of its own, got {entry.name!r}, which another package has"
                    )
        except Exception as error:  # of any package: it is left out, and the next one follows
            package = point.dist.name if point.dist else point.value
            broken = f"whose entry point {point.name!r} of {GROUP!r} is broken: {type(error).__name__}: {error}"
            warnings.warn(f"the package {package} is left out, {broken}", stacklevel=2)
        else:
            by_name.update({entry.name: entry for entry in listed})
    return tuple(by_name.values())


#: Names of methods in version 0.2, which recipes may hold.
FORMER = {"k_anonymity_lattice": "k_anonymity", "additive_noise": "add_noise"}


def entries(role: str | None = None, data: str | None = None) -> list[Entry]:
    """Return the entries of a role and a kind of data; of two with one name the first."""
    if role is not None:
        check_choice(role, "role", ROLES)
    if data is not None:
        check_choice(data, "data", DATA)
    by_name: dict[str, Entry] = {}
    for entry in (*ENTRIES, *REGISTERED.values(), *_installed()):
        by_name.setdefault(entry.name, entry)
    return [entry for entry in by_name.values() if role in (None, entry.role) and data in (None, entry.data)]


def find(name: str, role: str | None = None) -> Entry:
    """Return an entry by its name.

    Raises
    ------
    ParameterError
        If there is none of this name, or it has another role; the message lists the names there are.
    """
    listed = {entry.name: entry for entry in entries(role)}
    if isinstance(name, str) and (entry := listed.get(name) or listed.get(FORMER.get(name, ""))):
        return entry
    names = ", ".join(listed)
    parameter = "attacks" if role == "attack" else "name"
    raise ParameterError(f"`{parameter}` must name a registered {role or 'method'}, got {name!r}: there are {names}")


def register(entry: Entry) -> Entry:
    """Add a method to the registry for this session: it then takes part in maps, the explorer and releases.

    Parameters
    ----------
    entry : Entry
        A method from outside the package; the annotations of its function (`reident.base`) declare its parameters. One
        registered before under the same name is replaced.

    Returns
    -------
    Entry
        The same.

    Raises
    ------
    ParameterError
        If it is no entry, its name is one of the package's, or its role, kind of data, form or arguments are unknown.

    Notes
    -----
    Guarantees nothing about the method. Its arguments, its return value and all attributes of an entry are described
    in ``docs/own-methods.md``, with an anonymiser, an attack and a measure of utility from the first to the last line.

    Examples
    --------
    >>> from typing import Annotated
    >>> from reident.methods import Entry
    >>> from reident.base import Real
    >>> def north(lat, lon, *, shift_deg: Annotated[float, Real(0, 1, unit="degrees")] = 0.1):
    ...     return lat + shift_deg, lon
    >>> register(Entry("north", "anonymiser", "places", north, "points", source="an example", label="north")).call
    'reident.methods.registry.north'
    """
    _check_entry(entry)
    REGISTERED[entry.name] = entry
    return entry


def registered() -> list[Entry]:
    """Return the methods registered in this session, for the processes that run its trials."""
    return list(REGISTERED.values())


def _check_entry(entry: Entry) -> None:
    """Raise `ParameterError` if an entry from outside cannot take part, see `register`."""
    if not isinstance(entry, Entry):
        raise ParameterError(f"`entry` must be an Entry, got {type(entry).__name__}")
    if any(existing.name == entry.name for existing in ENTRIES):
        raise ParameterError(f"`entry` must have a name of its own, got {entry.name!r}, which the package has")
    check_choice(entry.role, "role", ROLES)
    check_choice(entry.data, "data", DATA)
    check_choice(entry.form, "form", RELEASES if entry.role == "anonymiser" else CALLS)
    if entry.role == "metric":
        return
    given = NAMES if entry.role == "anonymiser" else ("release", "knowledge")
    bound = {*given, *entry.public, *entry.fixed, "rng", *(parameter.name for parameter in entry.parameters)}
    for name, argument in entry.signature.items():
        required = argument.default is argument.empty and argument.kind is not argument.VAR_KEYWORD
        if required and name not in bound:
            raise ParameterError(
                f"`{entry.name}` must say what its argument {name!r} is: annotate it by `reident.base`, or call it "
                f"one of {', '.join(given)}"
            )


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
                "type": option.rule.kind,
                "range": list(option.rule.choices) if isinstance(option.rule, Choice) else option.rule.range,
                "unit": option.unit,
                "default": defaults[option.name],
            }
            for option in entry.parameters
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
    columns = ["name", "role", "data", "parameter", "type", "range", "unit", "default", "source", "call"]
    blank = dict.fromkeys(columns, "")
    rows = [
        {**parameter, **method, "data": method["kind"], "parameter": parameter["name"]}
        for method in map(describe, entries(role, data))
        for parameter in method["parameters"] or [blank]
    ]
    return pd.DataFrame(rows, columns=columns)
