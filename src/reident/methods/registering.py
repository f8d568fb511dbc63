"""Methods of this session, registered in a notebook."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

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
        A method that is not of the house; its function says by `reident.base` what a user may set. One registered
        before under the same name is replaced.

    Returns
    -------
    Entry
        The same.

    Raises
    ------
    ParameterError
        If it is no entry, its name is one of the house's, or its role, its kind of data, its form or its arguments are
        unknown.

    Notes
    -----
    Guarantees nothing about the method: what it claims is its author's word.

    An anonymiser is called by the names of its arguments. A name means:

    {given}

    ``rng`` is the source of randomness. Public inputs are annotated as such (`reident.base.PublicPlaces`); beside
    ``points`` places among them come as these do, else in degrees. By its form it must return:

    {returns}

    An attack is ``f(release, knowledge, *, rng, ...)`` and returns an `Outcome` of claims about persons, or raises
    `NotApplicable` (`reident.methods.outcome`). A measure of utility is called by its form (`reident.methods.CALLS`)
    and returns a float that grows with utility. Every attribute is told in ``docs/own-methods.md``.

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


def _listed(meanings: Mapping[str, str]) -> str:
    """Return the meaning of names as a list for a docstring."""
    return "\n".join(f"- ``{name}``: {meaning}" for name, meaning in meanings.items())


register.__doc__ = (
    inspect.cleandoc(register.__doc__ or "").format(
        given=_listed({name: one.told for name, one in GIVEN.items()}),
        returns=_listed({name: form.returns for name, form in FORMS.items()}),
    )
    + "\n"
)


def check_entry(entry: Entry) -> None:
    """Raise `ParameterError` where an entry from outside could not take part, see `register`."""
    if not isinstance(entry, Entry):
        raise ParameterError(f"`entry` must be an Entry, got {type(entry).__name__}")
    if any(existing.name == entry.name for existing in ENTRIES):
        raise ParameterError(f"`entry` must have a name of its own, got {entry.name!r}, which is one of the house's")
    check_choice(entry.role, "role", ROLES)
    check_choice(entry.data, "data", DATA)
    check_choice(entry.form, "form", list(FORMS) if entry.role == "anonymiser" else list(CALLS))
    check_arguments(entry)


def check_arguments(entry: Entry) -> None:
    """Raise `ParameterError` where the function of an anonymiser has a required argument without a source."""
    if entry.role != "anonymiser":
        return
    known_names = {
        *GIVEN,
        *entry.public,
        *dict(entry.fixed),
        "rng",
        *(parameter.name for parameter in entry.parameters),
    }
    for name, argument in entry.signature.items():
        required = argument.default is argument.empty and argument.kind is not argument.VAR_KEYWORD
        if required and name not in known_names:
            raise ParameterError(
                f"`{entry.name}` must say what its argument {name!r} is: annotate it by `reident.base`, or call it "
                f"by a name that data have ({', '.join(GIVEN)})"
            )


CHECKS.append(check_entry)
