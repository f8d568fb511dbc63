"""Arguments of methods: the meaning of each name, for data and public inputs.

A method is called by the names of its arguments. `GIVEN` says what each name of data means; public inputs are read as
the methods that take them say, and the confidential data never stand in for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd

from reident.base import ParameterError, Public, PublicPlaces, check_mapping
from reident.methods._entry import Entry
from reident.methods.catalogue import entries
from reident.methods.release import LAT, LON
from reident.places.distances import great_circle_km

__all__ = ["GIVEN", "Given", "Records", "check_public_used", "known_public", "public_input", "read_public"]


class Records(Protocol):
    """Data with the roles of their columns, as `reident.workbench.microdata` reads them."""

    @property
    def kind(self) -> str:
        """places, table or network."""

    @property
    def table(self) -> pd.DataFrame:
        """The records; places in ``lat_deg``, ``lon_deg``."""

    @property
    def quasi(self) -> list[str]:
        """Knowledge of an intruder in addition to places."""

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


def _sensitive(data: Records, options: Mapping[str, Any]) -> str | None:
    """Return the sensitive column where a criterion about it is asked for; without one it plays no part."""
    return data.sensitive if any(options.get(name) is not None for name in ("ell", "t")) else None


@dataclass(frozen=True)
class Given:
    """The argument that a method receives under a name.

    Attributes
    ----------
    types : str
        Joined by "or".
    kinds : str
        The kinds of data that have it, separated by blanks.
    meaning : str
        For those who write a method.
    find : callable
        Returns it, of the data and the options.
    """

    types: str
    kinds: str
    meaning: str
    find: Callable[..., Any]

    @property
    def told(self) -> str:
        """Types, owner and meaning of the argument."""
        return f"{self.types} ({self.kinds.replace(' ', ', ')}), {self.meaning}"

    def __call__(self, *arguments: Any) -> Any:
        """Return the argument's value."""
        return self.find(*arguments)


_RECORDS = "places table"

#: What each name of an argument means, of the data and the options.
GIVEN: dict[str, Given] = {
    "points": Given(
        "DataFrame or GeoDataFrame", "places",
        "the records with their places, in the columns `lat_deg` and `lon_deg`; of data in a projected CRS a "
        "GeoDataFrame in that CRS, without these columns: a method that works in degrees takes `lat` and `lon`",
        lambda data, _: _points(data, data.table),
    ),
    "lat": Given(
        "ndarray", "places", "latitudes, degrees, whatever the CRS",
        lambda data, _: data.table[LAT].to_numpy(np.float64),
    ),
    "lon": Given(
        "ndarray", "places", "longitudes, degrees, whatever the CRS",
        lambda data, _: data.table[LON].to_numpy(np.float64),
    ),
    "distances_km": Given(
        "ndarray", "places", "great-circle distances between the records, km, shape (n, n)",
        lambda data, _: great_circle_km(data.table[LAT].to_numpy(), data.table[LON].to_numpy()),
    ),
    "table": Given(
        "DataFrame", _RECORDS, "the records: quasi-identifiers, the sensitive column, and places in degrees",
        lambda data, _: data.table,
    ),
    "urban": Given(
        "str or None", _RECORDS, "`\"urban\"` if a quasi-identifier is called so, else None",
        lambda data, _: "urban" if "urban" in data.table.columns else None,
    ),
    "columns": Given(
        "list", _RECORDS, "the numeric quasi-identifiers; data without one lack what the method needs", _numeric
    ),
    "groups": Given("list", _RECORDS, "as `columns`: one group of columns", _numeric),
    "quasi": Given("list", _RECORDS, "the quasi-identifiers; data without one lack what the method needs", _quasi),
    "k_quasi": Given(
        "list", _RECORDS, "the quasi-identifiers that are not among `epsilon_quasi`",
        lambda data, _: [column for column in data.quasi if column not in data.epsilon_quasi],
    ),
    "epsilon_quasi": Given(
        "list", "table",
        "the numeric quasi-identifiers that may get noise; data without one lack what the method needs", _noisy,
    ),
    "hierarchies": Given(
        "dict", "table", "a `Hierarchy` for each quasi-identifier, by its name", lambda data, _: data.hierarchies
    ),
    "sensitive": Given(
        "str or None", _RECORDS, "the sensitive column where an option `ell` or `t` is set, else None", _sensitive
    ),
    "graph": Given("Network", "network", "the relations between the records", lambda data, _: data.network),
}  # fmt: skip


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
    declared = entry.public[name]
    if name not in public:
        raise ParameterError(
            f"`{name}` must be given for the method {entry.name!r} ({declared.meaning}); it must be public: "
            "the places of the records are never used for it"
        )
    value = declared.give(public[name])
    # Beside `points` they come as these do; beside `lat` and `lon` in degrees.
    return _points(data, value) if isinstance(declared, PublicPlaces) and "points" in entry.signature else value


def _takers() -> dict[str, Public]:
    return {name: public for entry in entries() for name, public in entry.public.items()}


def check_public_used(public: Mapping[str, Any], chosen: Sequence[Entry]) -> None:
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


def known_public(public: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """Return public inputs as methods take them: the intruder has them too."""
    takers = _takers()
    return {name: takers[name].give(stored) for name, stored in public.items()}
