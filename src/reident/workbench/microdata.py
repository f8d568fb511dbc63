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

from reident.base import DataError, FloatArray, is_numeric
from reident.methods.release import LAT, LON
from reident.networks.graph import DirectedNetwork, Network
from reident.places.points import find_places
from reident.tables.hierarchy import Hierarchy
from reident.workbench.numerals import round_up

__all__ = [
    "LAT",
    "LON",
    "Microdata",
    "automatic_hierarchy",
    "is_graph",
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
    guarded : sequence or None
        The sensitive values that are a secret; None: all.
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
    guarded: Sequence[Any] | None = None

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
            **({} if self.guarded is None else {"guarded": list(map(str, self.guarded))}),
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
