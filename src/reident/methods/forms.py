"""The forms of release: how a method makes one, and the assumptions open to an intruder.

A method is called by the names of its arguments, see `reident.methods.given`. What it returns is read into a `Release`.
So a method of a form that is here needs no code of its own: map, explorer, command line, studies and real releases
call `release`.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError, ParameterError, PrivacyWarning, RNGLike
from reident.methods._entry import Entry
from reident.methods.catalogue import entries, find
from reident.methods.given import GIVEN, Records, known_public, public_input, read_public
from reident.methods.reading import cells_of
from reident.methods.release import LAT, LON, Release
from reident.networks.graph import as_network
from reident.places.points import read_places
from reident.places.tolerance import tolerated
from reident.tables._lattice import too_large

__all__ = [
    "FORMS",
    "NONE",
    "Form",
    "guarantee",
    "lacking",
    "law_of",
    "release",
    "tolerance",
    "touched",
]

#: The method that releases the data as they are: the anchor of every map.
NONE = "original"


def law_of(release: Release) -> str:
    """Return the public law by which a release was made, see `Entry.law`; "" for none, or an unknown method."""
    if release.method == NONE:
        return "ring"  # of no width
    return next((entry.law for entry in entries("anonymiser") if entry.name == release.method), "")


class Form(ABC):
    """One kind of release: reads the return value of a method."""

    #: Records of which a real release can be made.
    most_records: float = np.inf
    #: What a method of this form must return, for those who write one.
    returns: str

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def read(self, returned: Any, data: Records) -> dict[str, Any]:
        """Return the attributes of a `Release` from a method's return value, or raise `wrong`."""

    def wrong(self, returned: Any) -> DataError:
        """Return the error of a method that returned something else."""
        return DataError(
            f"a method of the form {self.name!r} must return {self.returns}, got {type(returned).__name__}"
        )

    def plain(self, data: Records) -> dict[str, Any]:
        """Return the attributes of a `Release` of the data as they are."""
        return {"table": data.table}

    def release(
        self,
        entry: Entry,
        data: Records,
        options: Mapping[str, Any],
        public: Mapping[str, pd.DataFrame],
        rng: RNGLike = None,
    ) -> Release:
        """Make a release by a method with checked options; None as `rng` draws from the operating system's entropy."""
        arguments = entry.arguments(options)
        for name, parameter in entry.signature.items():
            spare = name in entry.public and name not in public and parameter.default is not parameter.empty
            if name in arguments or spare:
                continue
            if name in entry.public:
                arguments[name] = public_input(entry, name, data, public)
            elif name == "rng":
                arguments[name] = rng
            elif name in GIVEN:
                arguments[name] = GIVEN[name](data, options)
        with warnings.catch_warnings(action="ignore", category=PrivacyWarning):
            # What a method warns of is said in the guarantee: a range from the data, a trial's repeatable noise.
            returned = entry.function(**arguments)
        return Release(
            self.name,
            method=entry.name,
            options=options,
            n_original=len(data.table),
            made=returned,
            **self.read(returned, data),
        )


class Distances(Form):
    """Records with the distances between them, or with codes that give them; the places are not released."""

    most_records: float = 20_000
    returns = (
        "an ndarray of distances between all records in their order, km, shape (n, n); or an object whose "
        "`distances()` has it as `distances_km`"
    )

    def read(self, returned: Any, data: Records) -> dict[str, Any]:
        matrix_km = returned.distances().distances_km if hasattr(returned, "distances") else returned
        if np.shape(matrix_km) != (len(data.table), len(data.table)):
            raise self.wrong(returned)
        return {"table": data.table.drop(columns=[LAT, LON]), "matrix_km": matrix_km}


class Points(Form):
    """Records with places."""

    returns = (
        "the pair `(lat, lon)` of ndarrays, degrees, of all records in their order; or `points` with other places, of "
        "the same type, without rows that are left out (index labels tell which stay, other columns are not read)"
    )

    def read(self, returned: Any, data: Records) -> dict[str, Any]:
        if isinstance(returned, tuple):
            return {"table": data.table.assign(**{LAT: returned[0], LON: returned[1]})}
        if not isinstance(returned, pd.DataFrame):
            raise self.wrong(returned)
        lat, lon = read_places(returned)
        return {"table": data.table.loc[returned.index].assign(**{LAT: lat, LON: lon})}


class Table(Form):
    """Records without places; where a method shuffles them, its `source` tells which was which."""

    returns = (
        "a DataFrame of records with the index labels of the original, without rows that are left out; or an object "
        "that has it as `table`, and as `source` the original's row of each record where they are shuffled"
    )

    def read(self, returned: Any, data: Records) -> dict[str, Any]:
        if isinstance(returned, pd.DataFrame):
            return {"table": returned}
        table = getattr(returned, "table", None)
        if not isinstance(table, pd.DataFrame):
            raise self.wrong(returned)
        if hasattr(returned, "source"):
            table = table.set_axis(data.table.index[returned.source])
            table = table.loc[data.table.index[data.table.index.isin(table.index)]]
        return {"table": table}


class Networks(Form):
    """A network; its table has one row a node, the index identifies the person."""

    returns = (
        "whatever `as_network` takes, on nodes with the names of the original; or an object that has it as `network`, "
        "and as `mapping` the new name of each old one where nodes are renamed 0, 1, ..."
    )

    def read(self, returned: Any, data: Records) -> dict[str, Any]:
        if returned is None:
            raise self.wrong(returned)
        network = as_network(getattr(returned, "network", returned))
        names = (
            sorted(returned.mapping, key=returned.mapping.get) if hasattr(returned, "mapping") else list(network.nodes)
        )
        return {"table": data.table.loc[names] if len(data.table) else pd.DataFrame(index=names), "network": network}

    def plain(self, data: Records) -> dict[str, Any]:
        return {"table": data.table, "network": data.network}


class Answers(Form):
    """Answers to `Cells.queries` about records that are kept back: the table has none of their columns."""

    returns = "an ndarray of numbers, the answers to `queries` in their order"

    def read(self, returned: Any, data: Records) -> dict[str, Any]:
        cells = cells_of(data)
        if np.shape(returned) != (len(cells.queries),):
            raise self.wrong(returned)
        return {"table": data.table[[]], "answers": {"counts": returned, "cells": cells}}

    def plain(self, data: Records) -> dict[str, Any]:
        cells = cells_of(data)
        return self.read(cells.queries @ cells.count(data.table), data)


#: Name -> form.
FORMS: dict[str, Form] = {
    form.name: form
    for form in (Points("points"), Distances("distances"), Table("table"), Networks("network"), Answers("answers"))
}  # fmt: skip

#: The form of a release of the data as they are, by their kind.
_AS_THEY_ARE = {"places": "points", "table": "table", "network": "network", "queries": "answers"}


def form_of(method: str, data: Records) -> Form:
    """Return the form of a method's releases."""
    return FORMS[_AS_THEY_ARE[data.kind] if method == NONE else find(method, "anonymiser").form]


def release(
    data: Records,
    method: str,
    options: Mapping[str, Any] | None = None,
    *,
    public: Mapping[str, Any] | None = None,
    rng: RNGLike = None,
) -> Release:
    """Release data by a registered method: the one way in which anything in this house is released.

    Parameters
    ----------
    data : Microdata
        Records with the roles of their columns (`reident.workbench.microdata.microdata`). Not modified.
    method : str
        A registered anonymiser; ``"original"`` releases the data as they are.
    options : mapping, optional
        Its parameters; those left out have their defaults.
    public : mapping of str to object, optional
        Public inputs of the method, such as the candidates of a swap; default those of the data. What the method needs
        and nobody gives is an error: the confidential data never stand in for it.
    rng : Generator, int or None
        None draws from the operating system's entropy, as a real release should.

    Returns
    -------
    Release
        What it guarantees is told by `guarantee`; most methods guarantee nothing.

    Raises
    ------
    ParameterError, DataError
        If a name or option is wrong, or a column or public input that the method needs is lacking.
    """
    if method == NONE:
        form = form_of(method, data)
        return Release(form.name, method=NONE, options={}, n_original=len(data.table), **form.plain(data))
    entry = find(method, "anonymiser")
    if not entry.fits(data.kind):
        raise ParameterError(f"`method` must be for {data.kind} here, got {method!r}, which is for {entry.data}")
    public_inputs = read_public(public or {})
    return FORMS[entry.form].release(entry, data, entry.check(options or {}), {**data.public, **public_inputs}, rng)


def tolerance(
    known: Records,
    protected: Release,
    *,
    alpha: float,
    n_simulations: int = 100,
    rule: str | None = None,
    rng: RNGLike = None,
) -> dict[str, Any]:
    """Return the deviations of distances tolerated by an intruder with knowledge of the method of a release.

    Parameters
    ----------
    known : Microdata
        The intruder's file, and what is public.
    protected : Release
        Only its method and options are read.
    alpha : float
        The share of deviations that is tolerated, inside (0, 1).
    n_simulations : int, default 100
        Releases to simulate, at most.
    rule : str, optional
        A key of `reident.places.tolerance.RULES`; default the method's own.
    rng : Generator, int or None
        Source of randomness.

    Returns
    -------
    dict
        ``window_km`` or ``intervals_km``, arguments of `common_subgraph_attack`; empty where no distances are released.
    """
    entry = None if protected.method == NONE else find(protected.method, "anonymiser")
    if not protected.has_distances:
        return {}

    def again(generator: np.random.Generator) -> tuple[Any, Any]:
        remade = release(known, protected.method, protected.options, rng=generator)
        return known.table.index.get_indexer(remade.table.index), remade.distances_km

    return tolerated(
        rule or ("exact" if entry is None else entry.tolerance),
        lat=GIVEN["lat"](known, {}),
        lon=GIVEN["lon"](known, {}),
        options=protected.options
        if entry is None
        else {**entry.arguments(protected.options), **known_public(known.public)},
        again=again,
        alpha=alpha,
        n_simulations=n_simulations,
        rng=rng,
    )


def lacking(entry: Entry, data: Records) -> str:
    """Return why an anonymiser cannot be applied to the data, "" if it can."""
    try:
        for name, parameter in entry.signature.items():
            if name in entry.public:
                if parameter.default is parameter.empty:
                    public_input(entry, name, data, data.public)
            elif name in GIVEN and name not in ("points", "lat", "lon", "distances_km", "table", "graph"):
                GIVEN[name](data, {})
    except (ParameterError, DataError) as error:
        return str(error)
    if dict(entry.fixed).get("method") == "ola":
        return too_large(data.hierarchies[name].n_levels for name in data.quasi)
    return ""


def touched(entry: Entry, data: Records) -> list[str]:
    """Return the columns that an anonymiser changes; none for places, since the place is moved."""
    names = entry.signature
    if {"columns", "groups"} & set(names):
        return list(data.numeric)
    return list(data.quasi) if {"quasi", "k_quasi"} & set(names) else []


def guarantee(entry: Entry, options: Mapping[str, Any]) -> str:
    """Return the guarantee of a method with these options, in a sentence."""
    if not entry.guarantee:
        return "none: the risk depends on what an intruder knows"
    if options.get("k") == 1 and not (options.get("ell") or options.get("t")):
        return "none: with k = 1 a record may be alone, which hides nobody"
    return entry.guarantee.format(**options, others=int(options.get("k") or 1) - 1)
