"""Releases by registered methods: arguments, return value, and the deviations that an intruder tolerates.

A method is called by the names of its arguments: `ARGUMENTS` finds those that are data; public inputs are read as the
methods that take them say, and the confidential data never stand in for them. Its return value is read by its form. So
a method needs no code of its own: map, explorer, command line, studies and real releases call `release`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from reident.base import (
    DataError,
    Options,
    ParameterError,
    Parameters,
    PrivacyWarning,
    Public,
    PublicPlaces,
    RNGLike,
    check_mapping,
    quiet,
)
from reident.methods._entry import Entry
from reident.methods.registry import entries, find
from reident.methods.release import LAT, LON, Release, places_of
from reident.networks.graph import as_network
from reident.places.distances import great_circle_km
from reident.places.points import read_places
from reident.places.tolerance import tolerated
from reident.tables._lattice import too_large

#: The method that releases the data as they are: the anchor of every map.
NONE = "original"


# -- arguments ---------------------------------------------------------------------------------------------------------


def _points(data: Any, table: pd.DataFrame) -> Any:
    """Return places as the custodian has them: in a projected CRS a grid is that of the CRS."""
    if not data.crs:
        return table
    import geopandas as gpd

    points = gpd.points_from_xy(table[LON], table[LAT], crs="EPSG:4326")
    return gpd.GeoDataFrame(table.drop(columns=[LAT, LON]), geometry=points).to_crs(data.crs)


def _needed(columns: Sequence[str], parameter: str, kind: str) -> list[str]:
    """Return the columns of a role; data without one lack an argument of the method."""
    if not columns:
        raise ParameterError(f"`{parameter}` must name {kind}, got none")
    return list(columns)


def _numeric(data: Any, _: Any) -> list[str]:
    return _needed(data.numeric, "quasi", "a numeric column")


def _sensitive(data: Any, options: Options) -> str | None:
    """Return the sensitive column where a criterion about it is set; without one it plays no part."""
    return data.sensitive if any(options.get(name) is not None for name in ("ell", "t")) else None


#: The argument that a method receives under each name, of the data and the options; docs/own-methods.md describes them.
ARGUMENTS = {
    "points": lambda data, _: _points(data, data.table),
    "lat": lambda data, _: places_of(data.table)[0],
    "lon": lambda data, _: places_of(data.table)[1],
    "distances_km": lambda data, _: great_circle_km(*places_of(data.table)),
    "table": lambda data, _: data.table,
    "urban": lambda data, _: "urban" if "urban" in data.table.columns else None,
    "columns": _numeric,
    "groups": _numeric,
    "quasi": lambda data, _: _needed(data.quasi, "quasi", "the columns that are protected"),
    "k_quasi": lambda data, _: [column for column in data.quasi if column not in data.epsilon_quasi],
    "epsilon_quasi": lambda data, _: _needed(data.epsilon_quasi, "epsilon_quasi", "a column"),
    "hierarchies": lambda data, _: data.hierarchies,
    "sensitive": _sensitive,
    "graph": lambda data, _: data.network,
}


def _takers() -> dict[str, Public]:
    return {name: public for entry in entries() for name, public in entry.public.items()}


def read_public(public: Options) -> dict[str, pd.DataFrame]:
    """Return public inputs as plain tables, each read as the methods that take it say.

    Raises
    ------
    ParameterError, DataError
        If no registered method takes an input of the name, or it cannot be read.
    """
    takers = _takers()
    read = {}
    for name, value in check_mapping(public, "public").items():
        if name not in takers:
            raise ParameterError(f"`public` must hold inputs that a method takes ({', '.join(takers)}), got {name!r}")
        read[name] = takers[name].read(value, name)
    return read


def _public_input(entry: Entry, name: str, data: Any, public: Mapping[str, pd.DataFrame]) -> Any:
    """Return a public input as a method takes it, or raise."""
    declared = entry.public[name]
    if name not in public:
        raise ParameterError(
            f"`{name}` must be given for the method {entry.name!r} ({declared.meaning}); it must be public: "
            "the places of the records are never used for it"
        )
    value = declared.give(public[name])
    # Beside `points` they come as these do; beside `lat` and `lon` in degrees.
    return _points(data, value) if isinstance(declared, PublicPlaces) and "points" in entry.signature else value


def check_public_used(public: Options, chosen: Sequence[Entry]) -> None:
    """Refuse public inputs that none of the methods, attacks and metrics takes: they would have no effect.

    Raises
    ------
    ParameterError
        If there is one; it says which methods take it.
    """
    for name in public:
        if not any(name in entry.public for entry in chosen):
            takers = ", ".join(entry.name for entry in entries() if name in entry.public) or "no method"
            raise ParameterError(
                f"`{name}` must be left out, nothing here uses it "
                f"({', '.join(entry.name for entry in chosen[:5]) or 'no places'}): it is an input of {takers}"
            )


def _arguments(
    entry: Entry, data: Any, options: Options, public: Mapping[str, pd.DataFrame], rng: RNGLike
) -> Parameters:
    """Bind the arguments of a method by their names."""
    arguments = entry.arguments(options)
    for name in entry.signature:
        if name in arguments or (name in entry.public and name not in public and name not in entry.required):
            continue
        if name in entry.public:
            arguments[name] = _public_input(entry, name, data, public)
        elif name == "rng":
            arguments[name] = rng
        elif name in ARGUMENTS:
            arguments[name] = ARGUMENTS[name](data, options)
    return arguments


def lacking(entry: Entry, data: Any) -> str:
    """Return the reason why an anonymiser cannot be applied to the data, "" if it can."""
    try:
        for name in entry.signature:
            if name in entry.required:
                _public_input(entry, name, data, data.public)
            elif name in ("columns", "groups", "quasi", "epsilon_quasi"):
                ARGUMENTS[name](data, {})
    except (ParameterError, DataError) as error:
        return str(error)
    if entry.fixed.get("method") == "ola":
        return too_large(data.hierarchies[name].n_levels for name in data.quasi)
    return ""


def touched(entry: Entry, data: Any) -> list[str]:
    """Return the columns that an anonymiser changes; none for places, since the place is moved."""
    names = entry.signature
    if {"columns", "groups"} & set(names):
        return data.numeric
    return data.quasi if {"quasi", "k_quasi"} & set(names) else []


# -- return values -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Form:
    """One kind of release: reads the return value of a method.

    Attributes
    ----------
    read : callable
        Returns attributes of a `Release` from a method's return value and the data, None for any other value.
    returns : str
        The return value of a method of this form, for authors of methods.
    most_records : float
        Records of which a real release can be made.
    """

    read: Callable[[Any, Any], Parameters | None]
    returns: str
    most_records: float = np.inf


def _read_points(returned: Any, data: Any) -> Parameters | None:
    if isinstance(returned, tuple):
        return {"table": data.table.assign(**{LAT: returned[0], LON: returned[1]})}
    if not isinstance(returned, pd.DataFrame):
        return None
    lat, lon = read_places(returned)
    return {"table": data.table.loc[returned.index].assign(**{LAT: lat, LON: lon})}


def _read_distances(returned: Any, data: Any) -> Parameters | None:
    matrix_km = returned.distances().distances_km if hasattr(returned, "distances") else returned
    if np.shape(matrix_km) != (len(data.table), len(data.table)):
        return None
    return {"table": data.table.drop(columns=[LAT, LON]), "matrix_km": matrix_km}


def _read_table(returned: Any, data: Any) -> Parameters | None:
    table = returned if isinstance(returned, pd.DataFrame) else getattr(returned, "table", None)
    if not isinstance(table, pd.DataFrame):
        return None
    if table is not returned and hasattr(returned, "source"):
        table = table.set_axis(data.table.index[returned.source])
        table = table.loc[data.table.index.intersection(table.index, sort=False)]
    return {"table": table}


def _read_network(returned: Any, data: Any) -> Parameters | None:
    if returned is None:
        return None
    network = as_network(getattr(returned, "network", returned))
    mapping = getattr(returned, "mapping", None)
    names = list(network.nodes) if mapping is None else sorted(mapping, key=mapping.get)
    return {"table": data.table.loc[names] if len(data.table) else pd.DataFrame(index=names), "network": network}


FORMS = {
    "points": Form(
        _read_points,
        "the pair `(lat, lon)` of ndarrays, degrees, of all records in their order; or `points` with other places, of "
        "the same type, without rows that are left out (index labels tell which stay, other columns are not read)",
    ),
    "distances": Form(
        _read_distances,
        "an ndarray of distances between all records in their order, km, shape (n, n); or an object whose "
        "`distances()` has it as `distances_km`",
        20_000,
    ),
    "table": Form(
        _read_table,
        "a DataFrame of records with the index labels of the original, without rows that are left out; or an object "
        "that has it as `table`, and as `source` the original's row of each record where they are shuffled",
    ),
    "network": Form(
        _read_network,
        "whatever `as_network` takes, on nodes with the names of the original; or an object that has it as `network`, "
        "and as `mapping` the new name of each old one where nodes are renamed 0, 1, ...",
    ),
}


# -- releases ----------------------------------------------------------------------------------------------------------


def release(
    data: Any,
    method: str,
    options: Options | None = None,
    *,
    public: Options | None = None,
    rng: RNGLike = None,
) -> Release:
    """Release data by a registered method: the only way to a `Release` of own data.

    Parameters
    ----------
    data : Microdata
        Records with the roles of their columns. Not modified.
    method : str
        A registered anonymiser; ``"original"`` releases the data as they are.
    options : mapping, optional
        Its parameters; those left out have their defaults.
    public : mapping of str to object, optional
        Public inputs of the method, such as the candidates of a swap; default those of the data. A missing one is an
        error: the confidential data are never used in its place.
    rng : Generator, int or None
        None draws from the operating system's entropy, as a real release should.

    Returns
    -------
    Release
        Its guarantee is that of `guarantee`; most methods have none.

    Raises
    ------
    ParameterError, DataError
        If a name or option is wrong, or a column or public input that the method needs is lacking.
    """
    if method == NONE:
        plain = "points" if data.kind == "places" else data.kind
        network = data.network if plain == "network" else None
        return Release(plain, data.table, NONE, {}, len(data.table), network=network)
    entry = find(method, "anonymiser")
    if entry.data != data.kind:
        raise ParameterError(f"`method` must be for {data.kind} here, got {method!r}, which is for {entry.data}")
    checked = entry.check(options or {})
    arguments = _arguments(entry, data, checked, data.public | read_public(public or {}), rng)
    with quiet(PrivacyWarning):
        # The guarantee says the same: a range from the data, a trial's repeatable noise.
        returned = entry.function(**arguments)
    form = FORMS[entry.form]
    attributes = form.read(returned, data)
    if attributes is None:
        raise DataError(
            f"a method of the form {entry.form!r} must return {form.returns}, got {type(returned).__name__}"
        )
    return Release(entry.form, method=entry.name, options=checked, n_original=len(data.table), **attributes)


def guarantee(entry: Entry, options: Options) -> str:
    """Return the guarantee of a method with these options, in a sentence."""
    if not entry.guarantee:
        return "none: the risk depends on what an intruder knows"
    if options.get("k") == 1 and not (options.get("ell") or options.get("t")):
        return "none: with k = 1 a record may be alone in its class"
    return entry.guarantee.format(**options, others=int(options.get("k") or 1) - 1)


def tolerance(
    known: Any, protected: Release, *, alpha: float, n_simulations: int = 100, rng: RNGLike = None
) -> Parameters:
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
    rng : Generator, int or None
        Source of randomness.

    Returns
    -------
    dict
        ``window_km`` or ``intervals_km``, arguments of `common_subgraph_attack`; empty where no distances are released.
    """
    if not protected.has_distances:
        return {}
    takers = _takers()
    public = {name: takers[name].give(stored) for name, stored in known.public.items()}

    def repeat(generator: np.random.Generator) -> tuple[Any, Any]:
        repeated = release(known, protected.method, protected.options, rng=generator)
        return known.table.index.get_indexer(repeated.table.index), repeated.distances_km

    lat, lon = places_of(known.table)
    return tolerated(
        lat=lat, lon=lon, options={**protected.options, **public}, simulate=repeat, alpha=alpha,
        n_simulations=n_simulations, rng=rng,
    )  # fmt: skip
