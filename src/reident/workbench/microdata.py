"""Records in the form in which methods take them: plain columns, places in degrees, hierarchies of the columns."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from reident.base import (
    DataError,
    ParameterError,
    check_choice,
    check_columns,
    check_coordinates,
    check_listed,
    check_real,
    check_table,
    is_numeric,
)
from reident.methods.forms import read_public
from reident.methods.release import LAT as LAT
from reident.methods.release import LON as LON
from reident.networks.graph import DirectedNetwork, Network
from reident.places.points import find_places
from reident.tables.hierarchy import Hierarchy
from reident.workbench.cells import round_up


@dataclass(frozen=True, eq=False)
class Microdata:
    """Records with the roles of their columns.

    Attributes
    ----------
    kind : {"places", "table", "network"}
        What is released: places, in the columns ``lat_deg`` and ``lon_deg``; a table; or relations.
    table : DataFrame
        The quasi-identifiers, the sensitive column and the places; other columns are left behind.
    quasi, numeric : list of str
        The quasi-identifiers, and those of them that are numbers.
    sensitive : str or None
    stated : mapping of str to Hierarchy
        The hierarchies that the user states.
    epsilon_quasi : sequence of str
        Numeric quasi-identifiers that may get noise inside classes.
    public : mapping of str to DataFrame
        Public inputs of methods, as plain tables.
    crs : str
        The projected CRS that places came in, as text; empty for degrees.
    network : Network or None
        Relations between the records; node i is the record of row i of `table`.
    persons : Series or None
        The person of each record, where persons have several; all of a person's records are drawn together.
    guarded : sequence or None
        The sensitive values that are a secret; None: all.
    """

    kind: str
    table: pd.DataFrame
    quasi: list[str]
    sensitive: str | None
    numeric: list[str]
    stated: Mapping[str, Hierarchy]
    epsilon_quasi: Sequence[str] = ()
    public: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    crs: str = ""
    network: Any = None
    persons: pd.Series | None = None
    guarded: Sequence[Any] | None = None

    @cached_property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """The hierarchy of each quasi-identifier of a table: the stated one, else one that its values give."""
        quasi = self.quasi if self.kind == "table" else []
        return {name: self.stated.get(name) or automatic_hierarchy(self.table[name]) for name in quasi}

    def digest(self) -> str:
        """Return a hash of the content."""
        plain = [self.kind, self.quasi, self.sensitive, self.numeric, self.epsilon_quasi, self.crs, self.guarded]
        trees = {f"hierarchy of {name}": tree.to_frame() for name, tree in self.hierarchies.items()}
        tables = {**self.public, **trees}
        if self.persons is not None:
            tables["persons"] = self.persons.to_frame()
        if self.network is None:
            return digest_of(plain, tables | {"records": self.table})
        return digest_of(plain, tables | {"edges": pd.DataFrame(np.transpose(self.network.edges()))})


def digest_of(plain: Any, tables: Mapping[str, pd.DataFrame]) -> str:
    """Return a hash of plain values and of tables by name, cells as texts."""
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True, default=str).encode())
    for name, table in sorted(tables.items()):
        digest.update(json.dumps([name, *map(str, table.columns)]).encode())
        digest.update(pd.util.hash_pandas_object(table.astype(str)).to_numpy().tobytes())
    return digest.hexdigest()


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
    return without_geometry(data).assign(**{LAT: lat, LON: lon})


def without_geometry(data: Any) -> pd.DataFrame:
    """Return a plain table without its geometry."""
    return pd.DataFrame(data.drop(columns=data.geometry.name) if hasattr(data, "to_crs") else data)


def is_graph(data: Any) -> bool:
    """Tell whether data are relations, in one of the forms that `as_network` takes."""
    return isinstance(data, Network | DirectedNetwork) or hasattr(data, "adj") or issparse(data)


def persons_of(network: Network) -> pd.DataFrame:
    """Return the nodes as a table of persons without columns; the index names them."""
    return pd.DataFrame(index=pd.Index(list(network.nodes), dtype=object, tupleize_cols=False))


def microdata(
    dataset: Any, kind: str | None = None, *, data: Any = None, quasi: Sequence[str] | None = None,
    sensitive: str | None = "", hierarchies: Mapping[str, Any] | None = None, public: Mapping[str, Any] | None = None,
) -> Microdata:  # fmt: skip
    """Return the records of a data set as methods take them, with the hierarchies that are not stated.

    Parameters
    ----------
    dataset : Dataset
    kind : {"places", "table", "network"}, optional
        Default: a network, else places where the data have them, else a table.
    data : DataFrame or GeoDataFrame, optional
        Default: all records, under the labels of the data.
    quasi, sensitive, hierarchies, public : optional
        Default: those of the data set; of several sensitive columns the one with the fewest values.

    Raises
    ------
    DataError, ParameterError
        If a column is absent, quasi-identifiers are missing values, or places are out of range.
    """
    if kind == "network" or (kind is None and dataset.named_network is not None):
        return _relations(dataset.named_network)
    table = _plain(dataset.frame.set_axis(dataset.labels) if data is None else data)
    listed = dataset.quasi if quasi is None else list(quasi)
    kind = check_choice(kind or ("places" if has_places(table) else "table"), "kind", ("places", "table"))
    if kind == "places" and not has_places(table):
        raise DataError(
            f"`data` must be a GeoDataFrame or have the columns {LAT!r} and {LON!r}, got {list(table.columns)!r}"
        )
    if kind != "places" and not listed:
        raise ParameterError("`quasi` must name at least 1 column, got none: without one an intruder links no record")
    secret = dataset.first_sensitive if sensitive == "" else sensitive
    columns = [*listed, *([] if secret is None else [secret]), *([LAT, LON] if kind == "places" else [])]
    cells = table[check_columns(table, columns, "quasi", table_name="data", min_columns=0)].copy()
    if absent := {column: int(count) for column, count in cells[listed].isna().sum().items() if count}:
        raise DataError(
            f"`data` must not have missing quasi-identifiers, got {absent} (column: records): give them a label of "
            "their own or leave the records out"
        )
    numeric = [name for name in listed if is_numeric(cells[name])]
    noisy = [name for name in dataset.epsilon_quasi if name in listed]
    if noisy and (not set(noisy) <= set(numeric) or set(noisy) == set(listed)):
        raise ParameterError(
            f"`epsilon_quasi` must name some, not all, of the numeric quasi-identifiers {numeric!r}, got {noisy!r}"
        )
    cells = cells.astype({name: str for name in listed if name not in numeric})
    persons = dataset.persons() if data is None else None
    crs = getattr(dataset.frame if data is None else data, "crs", None)  # of a projected one a grid is its own
    return Microdata(
        kind, cells, listed, secret, numeric, dataset.hierarchies if hierarchies is None else hierarchies, noisy,
        read_public(dataset.public if public is None else public),
        str(crs.to_wkt()) if kind == "places" and crs is not None and crs.is_projected else "",
        persons=None if persons is None else persons.set_axis(dataset.labels), guarded=dataset.guarded.get(str(secret)),
    )  # fmt: skip


def _relations(network: Network | None) -> Microdata:
    """Return the nodes of a network as records."""
    if network is None:
        raise ParameterError("`kind` must not be 'network': no relations are given")
    if network.n_nodes < 10:
        raise ParameterError(f"`data` must have at least 10 nodes, got {network.n_nodes}")
    persons = persons_of(network)
    return Microdata("network", persons.set_axis(persons.index.infer_objects()), [], None, [], {}, network=network)


def _plain(data: Any) -> pd.DataFrame:
    """Return a plain table, places in ``lat_deg`` and ``lon_deg``, with a unique index."""
    table = in_columns(check_table(data, "data", min_records=8), "data")
    if has_places(table):
        check_coordinates(table[LAT], table[LON])
    if not table.index.is_unique:
        raise DataError(
            f"the index of `data` must be unique, got {table.index[table.index.duplicated()][0]!r} more than once"
        )
    return table


# -- hierarchies ------------------------------------------------------------------------------------------------------


def hierarchies_of(forms: Mapping[str, Any], table: pd.DataFrame) -> dict[str, Hierarchy]:
    """Return the hierarchy of each named column.

    Raises
    ------
    ParameterError, DataError
        If a column is absent, a form is none, or a hierarchy does not know a value.
    """
    check_columns(table, list(forms), "hierarchies", table_name="data", min_columns=0)
    trees = {name: hierarchy_of(form, table[name]) for name, form in forms.items()}
    for name, tree in trees.items():
        known = table[name].dropna()
        numeric = pd.api.types.is_numeric_dtype(known)
        try:
            tree.rows_of(pd.Index((known if numeric else known.astype(str)).unique()), name)
        except DataError as error:
            raise DataError(f"{error}: add a line for each, its labels from the value to the coarsest") from None
    return trees


def hierarchy_of(form: Any, column: pd.Series) -> Hierarchy:
    """Return the hierarchy that a form gives for the values of a column.

    Parameters
    ----------
    form : Hierarchy, str, path or mapping
        A hierarchy as it is; the path of a CSV in ARX's form (``{"file": path}``); ``"prefixes"``, one character less
        a level; ``{"intervals": [5, 10], "origin": 0}``, widths that nest; ``"date"``, from day to month, year, decade.

    Examples
    --------
    >>> hierarchy_of({"intervals": [10, 20]}, pd.Series([3, 38])).labels_of(38)
    [38, '[30, 40)', '[20, 40)', '*']
    """
    if isinstance(form, Hierarchy):
        return form
    if isinstance(form, str | Path):
        form = {str(form): True} if str(form) in ("prefixes", "date") else {"file": form}
    if not isinstance(form, Mapping) or len(set(form) & {"file", "prefixes", "date", "intervals"}) != 1:
        raise ParameterError(
            f"`hierarchies` must hold a file, prefixes, date or intervals for {column.name!r}, got {form!r}"
        )
    values = pd.unique(column.dropna())
    if "file" in form:
        tree = Hierarchy.from_csv(Path(form["file"]))  # semicolons between the levels, as ARX writes them, or commas
        return Hierarchy.from_csv(Path(form["file"]), sep=",") if tree.n_levels == 1 else tree
    if "prefixes" in form:
        return Hierarchy.from_prefixes(values.tolist())
    if "date" in form:
        return Hierarchy.from_dates(column.dropna().astype(str))
    widths = [check_real(width, "intervals", low=0) for width in check_listed(form["intervals"], "intervals")]
    widths = [int(width) if float(width).is_integer() else width for width in widths]
    return Hierarchy.from_intervals(sorted(values.tolist()), widths, origin=form.get("origin", 0))


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
