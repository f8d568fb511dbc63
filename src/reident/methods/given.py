"""What a method is given: what each name of an argument means, of the data and of public inputs.

A method is called by the names of its arguments. `GIVEN` says what each name of data means; public inputs are read as
the methods that take them say, and the confidential data never stand in for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd

from reident.base import ParameterError, Public, PublicPlaces, check_mapping
from reident.methods._entry import Entry
from reident.methods.catalogue import entries
from reident.methods.reading import cells_of
from reident.methods.release import LAT, LON
from reident.places.distances import great_circle_km

__all__ = ["CRITERIA", "GIVEN", "Records", "known_public", "public_input", "read_public"]


class Records(Protocol):
    """Data with the roles of their columns, as `reident.workbench.microdata` reads them."""

    @property
    def kind(self) -> str:
        """places, table, network or queries."""

    @property
    def table(self) -> pd.DataFrame:
        """The records; places in ``lat_deg``, ``lon_deg``."""

    @property
    def quasi(self) -> list[str]:
        """What an intruder knows beside places."""

    @property
    def sensitive(self) -> str | None:
        """The column that must not become known."""

    @property
    def numeric(self) -> list[str]:
        """The quasi-identifiers that are numbers."""

    @property
    def hierarchies(self) -> Mapping[str, Any]:
        """One for each quasi-identifier."""

    @property
    def epsilon_quasi(self) -> Sequence[str]:
        """Numeric quasi-identifiers that may get noise inside classes."""

    @property
    def network(self) -> Any:
        """Relations between the records."""

    @property
    def crs(self) -> str:
        """The projected CRS that places came in, or empty."""

    @property
    def public(self) -> Mapping[str, pd.DataFrame]:
        """Public inputs of methods, as `read_public` returns them."""


def _points(data: Records, table: pd.DataFrame) -> Any:
    """Return places as the custodian has them: in a projected CRS a grid is that of the CRS."""
    if not data.crs:
        return table
    import geopandas as gpd

    points = gpd.points_from_xy(table[LON], table[LAT], crs="EPSG:4326")
    return gpd.GeoDataFrame(table.drop(columns=[LAT, LON]), geometry=points).to_crs(data.crs)


def _numeric(data: Records, _: Mapping[str, Any]) -> list[str]:
    if not data.numeric:
        raise ParameterError(f"`quasi` must name a numeric column, got {data.quasi!r}")
    return list(data.numeric)


def _quasi(data: Records, _: Mapping[str, Any]) -> list[str]:
    if not data.quasi:
        raise ParameterError("`quasi` must name the columns that are protected, got none")
    return list(data.quasi)


def _noisy(data: Records, _: Mapping[str, Any]) -> list[str]:
    if not data.epsilon_quasi:
        raise ParameterError("`epsilon_quasi` must name a column, got none")
    return list(data.epsilon_quasi)


#: Options that are about the sensitive column.
CRITERIA = ("ell", "t")


def _sensitive(data: Records, options: Mapping[str, Any]) -> str | None:
    """Return the sensitive column where a criterion about it is asked for; without one it plays no part."""
    return data.sensitive if any(options.get(name) is not None for name in CRITERIA) else None


#: What each name of an argument means: a function of the data and the options.
GIVEN: dict[str, Callable[[Records, Mapping[str, Any]], Any]] = {
    "points": lambda data, _: _points(data, data.table),
    "lat": lambda data, _: data.table[LAT].to_numpy(np.float64),
    "lon": lambda data, _: data.table[LON].to_numpy(np.float64),
    "distances_km": lambda data, _: great_circle_km(data.table[LAT].to_numpy(), data.table[LON].to_numpy()),
    "table": lambda data, _: data.table,
    "urban": lambda data, _: "urban" if "urban" in data.table.columns else None,
    "columns": _numeric,
    "groups": _numeric,
    "quasi": _quasi,
    "k_quasi": lambda data, _: [column for column in data.quasi if column not in data.epsilon_quasi],
    "epsilon_quasi": _noisy,
    "hierarchies": lambda data, _: data.hierarchies,
    "sensitive": _sensitive,
    "graph": lambda data, _: data.network,
    "counts": lambda data, _: cells_of(data).count(data.table),
    "queries": lambda data, _: cells_of(data).queries,
}


def read_public(public: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
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


def public_input(entry: Entry, name: str, data: Records, public: Mapping[str, pd.DataFrame]) -> Any:
    """Return a public input as a method takes it, or say that it must be given."""
    said = entry.public[name]
    if name not in public:
        raise ParameterError(
            f"`{name}` must be given for the method {entry.name!r} ({said.meaning}): it must be public, so that the "
            "records' own places never stand in for it"
        )
    value = said.give(public[name])
    return _points(data, value) if isinstance(said, PublicPlaces) else value


def _takers() -> dict[str, Public]:
    return {name: said for entry in entries() for name, said in entry.public.items()}


def known_public(public: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """Return public inputs as methods take them: the intruder has them too."""
    takers = _takers()
    return {name: takers[name].give(stored) for name, stored in public.items()}
