"""The data of a map, in the memory of every process that needs them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from reident.base import (
    DataError,
    FloatArray,
    ParameterError,
    check_choice,
    check_columns,
    check_coordinates,
    check_table,
    is_numeric,
)
from reident.methods.forms import read_public
from reident.methods.release import LAT, LON
from reident.networks.graph import DirectedNetwork, Network, as_network
from reident.places.points import find_places
from reident.tables.hierarchy import Hierarchy
from reident.workbench.numerals import round_up

__all__ = [
    "LAT",
    "LON",
    "Microdata",
    "automatic_hierarchy",
    "is_graph",
    "microdata",
    "persons_of",
]


@dataclass(frozen=True, eq=False)
class Microdata:
    """Records with the roles of their columns.

    Attributes
    ----------
    kind : {"places", "table", "network"}
        What is released of them: places, in the columns ``lat_deg`` and ``lon_deg``; a table; relations; or counts.
    table : DataFrame
        The quasi-identifiers, the sensitive column and the places; other columns are left behind.
    quasi : list of str
    sensitive : str or None
    numeric : list of str
        The quasi-identifiers that are numbers.
    hierarchies : mapping of str to Hierarchy
        One for each quasi-identifier.
    known : DataFrame or None
        The intruder's real file, if there is one; who is who is told by equal index labels.
    epsilon_quasi : sequence of str
        Numeric quasi-identifiers that may get noise inside classes.
    public : mapping of str to DataFrame
        Public inputs of methods, such as the candidates of a swap, as plain tables.
    crs : str
        The projected CRS that places came in, as text; empty for degrees.
    network : Network or None
        Relations between the records; node i is the record of row i of `table`.
    persons : Series or None
        Whose each record of `table` is, where persons have several; all of a person's are drawn together.
    """

    kind: str
    table: pd.DataFrame
    quasi: list[str]
    sensitive: str | None
    numeric: list[str]
    hierarchies: Mapping[str, Hierarchy]
    known: pd.DataFrame | None = None
    epsilon_quasi: Sequence[str] = ()
    public: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    crs: str = ""
    network: Any = None
    persons: pd.Series | None = None

    def digest(self) -> str:
        """Return a name for the data that their content gives."""
        described = {
            "kind": self.kind,
            "quasi": self.quasi,
            "sensitive": self.sensitive,
            "numeric": self.numeric,
            "hierarchies": {name: _rows(one) for name, one in self.hierarchies.items()},
            "epsilon_quasi": list(self.epsilon_quasi),
            "crs": self.crs,
            "public": sorted(self.public),
            "relations": None if self.network is None else self.network.n_nodes,
        }
        digest = hashlib.sha256(json.dumps(described, sort_keys=True).encode())
        for table in (
            None if self.network is not None else self.table,
            self.known,
            None if self.persons is None else self.persons.astype(str).to_frame(),
            *(self.public[one] for one in sorted(self.public)),
        ):
            if table is not None:
                digest.update(pd.util.hash_pandas_object(table, index=True).to_numpy().tobytes())
                digest.update(json.dumps(list(map(str, table.columns))).encode())
        ends = None if self.network is None else np.stack(self.network.edges())
        digest.update(b"" if ends is None else ends.tobytes())
        return digest.hexdigest()[:24]


def _rows(hierarchy: Hierarchy) -> list[list[Any]]:
    """Return a hierarchy as plain values, numbers to their last digit."""
    listed = hierarchy.to_frame().astype(object).to_numpy().tolist()
    return [[value.item() if isinstance(value, np.generic) else value for value in row] for row in listed]


def microdata(
    data: Any,
    *,
    quasi: str | Sequence[str],
    sensitive: str | None = None,
    kind: str | None = None,
    area: Any = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    known: Any = None,
    epsilon_quasi: str | Sequence[str] = (),
    public: Mapping[str, Any] | None = None,
    person: str | None = None,
) -> Microdata:
    """Read the roles of a table's columns, and complete what is not said.

    Parameters
    ----------
    data : GeoDataFrame, DataFrame or graph
        Points with a CRS, or a table, with the columns ``lat_deg`` and ``lon_deg`` if it has places, or whatever
        `as_network` takes.
    quasi : str or sequence of str
        What the intruder knows beside places; empty for places alone.
    sensitive : str, optional
    kind : {"places", "table", "network"}, optional
        Default: places if the data have them; a network for a graph. Queries are counts of a table.
    area : polygon, optional
        For places: the public area in which an embedding draws reference places. Short for ``public={"area": ...}``.
    hierarchies : mapping, optional
        For tables; default `automatic_hierarchy` of each quasi-identifier.
    known : GeoDataFrame or DataFrame, optional
        The intruder's file with the same columns.
    epsilon_quasi : str or sequence of str
        Those of the numeric quasi-identifiers, not all, that may get noise inside classes.
    public : mapping of str to object, optional
        What methods need beside the data and is public: "candidates" of a swap, the "area" of an embedding. A method
        whose input is lacking is left out; the data never stand in for it.
    person : str, optional
        The column that says which records are one person's.

    Raises
    ------
    DataError, ParameterError
        If a column is absent, quasi-identifiers are missing values, or places are out of range.
    """
    if kind == "network" or is_graph(data):
        return _relations(data, quasi, sensitive)
    table = _plain(data, "data")
    listed = check_columns(table, quasi, "quasi", table_name="data", min_columns=0)
    placed = has_places(table)
    kind = check_choice(kind or ("places" if placed else "table"), "kind", ("places", "table"))
    if kind == "places" and not placed:
        raise DataError(
            f"`data` must be a GeoDataFrame or have the columns {LAT!r} and {LON!r}, got {list(table.columns)!r}"
        )
    if kind != "places" and not listed:
        raise ParameterError(
            "`quasi` must name at least 1 column, got none: an intruder who knows nothing links nothing"
        )
    wanted = [
        *listed,
        *([] if sensitive is None else check_columns(table, [sensitive], "sensitive", table_name="data")),
    ]
    if sensitive in listed:
        raise ParameterError(f"`sensitive` must not be a quasi-identifier too, got {sensitive!r}")
    if kind == "places":
        wanted += [LAT, LON]
    kept = table[wanted].copy()
    _refuse_missing(kept, listed, "data")
    numeric = [column for column in listed if is_numeric(kept[column])]
    as_texts = {column: str for column in listed if column not in numeric}
    kept = kept.astype(as_texts)
    noisy = check_columns(table, epsilon_quasi, "epsilon_quasi", table_name="data", min_columns=0)
    if noisy and (not set(noisy) <= set(numeric) or set(noisy) == set(listed)):
        raise ParameterError(
            f"`epsilon_quasi` must name some, not all, of the numeric quasi-identifiers {numeric!r}, got {noisy!r}"
        )
    other = None
    if known is not None:
        shown = _plain(known, "known")
        other = shown[check_columns(shown, [column for column in wanted if column != sensitive], "known")]
        _refuse_missing(other, listed, "known")
        other = other.astype(as_texts)
    trees = {column: (hierarchies or {}).get(column) or automatic_hierarchy(kept[column]) for column in listed}
    given = read_public({**({} if area is None else {"area": area}), **(public or {})})
    return Microdata(
        kind, kept, listed, sensitive, numeric, {} if kind == "places" else trees, other, noisy, given,
        _projected(data) if kind == "places" else "",
        persons=None if person is None or table[person].is_unique else table[person],
    )  # fmt: skip


def has_places(data: Any) -> bool:
    """Tell whether records have places: a geometry, or the columns ``lat_deg`` and ``lon_deg``."""
    return hasattr(data, "to_crs") or {LAT, LON} <= set(data.columns)


def located(data: Any) -> pd.Series:
    """Return which records have a place on the earth."""
    return pd.Series(np.isfinite(find_places(data, "data")[0]), index=data.index)


def in_columns(data: Any, name: str) -> pd.DataFrame:
    """Return a plain table, the places of a geometry in ``lat_deg`` and ``lon_deg``, missing ones as NaN."""
    if not hasattr(data, "to_crs"):
        return pd.DataFrame(data)
    lat, lon, _ = find_places(data, name)
    return pd.DataFrame(data.drop(columns=data.geometry.name)).assign(**{LAT: lat, LON: lon})


def is_graph(data: Any) -> bool:
    """Tell whether data are relations, in one of the forms that `as_network` takes."""
    return isinstance(data, Network | DirectedNetwork) or hasattr(data, "adj") or issparse(data)


def persons_of(network: Network) -> pd.DataFrame:
    """Return the nodes as a table of persons, of whom nothing but their relations is known; the index names them."""
    return pd.DataFrame(index=pd.Index(list(network.nodes), dtype=object))


def _relations(data: Any, quasi: Any, sensitive: Any) -> Microdata:
    """Return a network: an intruder knows relations, and nothing else of the persons."""
    if quasi or sensitive is not None:
        raise ParameterError("`quasi` and `sensitive` must not be given for a network: only relations are released")
    network = as_network(data, "data")
    if network.n_nodes < 10:
        raise ParameterError(f"`data` must have at least 10 nodes, got {network.n_nodes}")
    names = np.empty(network.n_nodes, dtype=object)
    names[:] = list(network.nodes)
    index = pd.Index(names, tupleize_cols=False).infer_objects()
    return Microdata("network", pd.DataFrame(index=index), [], None, [], {}, network=network)


def _refuse_missing(table: pd.DataFrame, quasi: list[str], name: str) -> None:
    absent = {column: int(count) for column, count in table[quasi].isna().sum().items() if count}
    if absent:
        raise DataError(
            f"`{name}` must not have missing quasi-identifiers, got {absent} (column: records): give them a label of "
            "their own or leave the records out"
        )


def _plain(data: Any, name: str) -> pd.DataFrame:
    """Return a plain table, places in ``lat_deg`` and ``lon_deg``, with a unique index."""
    check_table(data, name, min_records=8)
    table = in_columns(data, name)
    if has_places(table):
        check_coordinates(table[LAT], table[LON])
    if not table.index.is_unique:
        raise DataError(
            f"the index of `{name}` must be unique, got {table.index[table.index.duplicated()][0]!r} more than once"
        )
    return table


def _projected(data: Any) -> str:
    """Return the projected CRS of a GeoDataFrame as text: a grid of cells is that of the CRS."""
    crs = getattr(data, "crs", None)
    return str(crs.to_wkt()) if crs is not None and crs.is_projected else ""


_DATE = re.compile(r"\d{4}-\d{2}-\d{2}( \d{2}:\d{2}.*)?")
_CODE = re.compile(r"\d{3,}")


def automatic_hierarchy(column: pd.Series) -> Hierarchy:
    """Return a hierarchy for a column: intervals that double in width for numbers, else the value and ``"*"``.

    Dates go from day to month, year and decade; codes of three or more digits lose one from the right a level.

    The narrowest intervals cut the range into about 32 parts; widths are 1, 2 or 5 times a power of ten times a power
    of two. A custodian who knows the subject makes better ones.

    Examples
    --------
    >>> automatic_hierarchy(pd.Series(range(90))).n_levels
    8
    """
    days = pd.api.types.is_datetime64_any_dtype(column)
    values = pd.unique(column.dropna().astype(str) if days else column.dropna())
    if not len(values):
        raise DataError(f"column {column.name!r} must have values, got none")
    numeric = is_numeric(column)
    spread = float(np.ptp(values.astype(float))) if numeric else 0.0
    if not numeric and all(_DATE.fullmatch(str(value)) for value in values):
        return Hierarchy.from_dates(values)
    if not numeric and len({len(str(value)) for value in values}) == 1 and all(_CODE.fullmatch(str(v)) for v in values):
        return Hierarchy.from_prefixes(sorted(str(value) for value in values))
    if spread <= 0:
        return Hierarchy([[value, "*"] for value in sorted(values, key=str)])
    width = round_up(spread / 32)
    widths = [width * 2**level for level in range(6) if width * 2**level < 2 * spread]
    return Hierarchy.from_intervals(sorted(values.tolist()), widths)


def places_of(table: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
    """Return the latitudes and longitudes of a table, degrees."""
    return table[LAT].to_numpy(np.float64), table[LON].to_numpy(np.float64)
