"""Methods of this session, registered in a notebook."""

from __future__ import annotations

from reident.base import ParameterError, check_choice
from reident.methods._entry import CALLS, DATA, ROLES, Entry
from reident.methods.catalogue import CHECKS, ENTRIES, REGISTERED
from reident.methods.forms import FORMS
from reident.methods.given import GIVEN

__all__ = ["register", "registered"]


def register(entry: Entry) -> Entry:
    """Add a method to the catalogue for this session: it then takes part in maps, the explorer and releases.

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
    'reident.methods.registering.north'
    """
    check_entry(entry)
    REGISTERED[entry.name] = entry
    return entry


def registered() -> list[Entry]:
    """Return the methods registered in this session, for the processes that run its trials."""
    return list(REGISTERED.values())


def check_entry(entry: Entry) -> None:
    """Raise `ParameterError` if an entry from outside cannot take part, see `register`."""
    if not isinstance(entry, Entry):
        raise ParameterError(f"`entry` must be an Entry, got {type(entry).__name__}")
    if any(existing.name == entry.name for existing in ENTRIES):
        raise ParameterError(f"`entry` must have a name of its own, got {entry.name!r}, which the package has")
    check_choice(entry.role, "role", ROLES)
    check_choice(entry.data, "data", DATA)
    check_choice(entry.form, "form", list(FORMS) if entry.role == "anonymiser" else list(CALLS))
    if entry.role != "anonymiser":
        return
    bound = {*GIVEN, *entry.public, *dict(entry.fixed), "rng", *(parameter.name for parameter in entry.parameters)}
    for name, argument in entry.signature.items():
        required = argument.default is argument.empty and argument.kind is not argument.VAR_KEYWORD
        if required and name not in bound:
            raise ParameterError(
                f"`{entry.name}` must say what its argument {name!r} is: annotate it by `reident.base`, or call it "
                f"by a name that data have ({', '.join(GIVEN)})"
            )


CHECKS.append(check_entry)
