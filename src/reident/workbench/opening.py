"""Open a file for a release: find dialect, types, gaps and roles, with a receipt for each change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident.base import (
    DataError,
    ParameterError,
    check_choice,
    check_columns,
    check_listed,
    check_path,
    check_several,
    check_text,
)
from reident.networks._reading import is_graph_file, is_matrix
from reident.places.points import check_crs
from reident.tables.classes import class_ids
from reident.tables.labels import texts_of
from reident.workbench.columns import Typed, file_decimal, type_text, type_values
from reident.workbench.readers import (
    DELIMITED,
    EXCEL,
    GEOGRAPHIC,
    KINDS,
    READERS,
    check_content,
    file_kind,
    geometry_of,
    is_blank,
)
from reident.workbench.roles import place_columns, place_notes, propose
from reident.workbench.schema import Column, Schema

#: What a line begins with that adds a table up.
_TOTALS = {"summe", "gesamtsumme", "gesamt", "insgesamt", "zusammen", "sum", "total", "totals", "grand total"}
#: Up to this many lines below a table are looked at.
_BELOW = 5
#: Up to this many lines above the records may hold units, or what the columns mean.
_UNITS = 2
#: Values from which two columns that correspond do so by no chance, and up to which whole numbers may be codes.
_FEWEST_SAME, _FEW_NUMBERS = 5, 12


@dataclass(frozen=True, eq=False)
class OpenedFile:
    """A file as it was read, with its dialect, types and proposed roles.

    Attributes
    ----------
    data : DataFrame or GeoDataFrame
        The records; the columns keep their names and their order.
    schema : Schema
        The types (integer, number, date, text, geometry) and the proposed roles of the columns, with a reason; the
        columns with places.
    source : mapping
        What was found about the file, such as ``separator``, ``decimal``, ``encoding``, ``sheet``, ``layer``, ``crs``.
    receipts : list of str
        Each conversion that would not write back what was read.
    notes : list of str
        What a custodian should look at; nothing was changed there.
    parts : list of str
        The sheets or layers of the file with content, where it can have several.
    """

    data: Any
    schema: Schema
    source: Mapping[str, Any]
    receipts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    @cached_property
    def columns(self) -> pd.DataFrame:
        """One row a column, see `Schema.profile`."""
        return self.schema.profile(self.data).drop(columns="unique")

    def __str__(self) -> str:
        """Return the text that `reident open` prints."""
        source = ", ".join(f"{name} {value!r}" for name, value in self.source.items() if value not in (None, ""))
        lines = [f"{len(self.data)} records, {len(self.columns)} columns: {source}", ""]
        table = self.columns.astype(str)
        lines += table.to_string(index=False, justify="left").splitlines()
        for title, listed in (("Changed while reading", self.receipts), ("To be looked at", self.notes)):
            if listed:
                lines += ["", f"{title}:", *(f"  {line}" for line in listed)]
        return "\n".join(line.rstrip() for line in lines)


def open_file(
    path: str | Path,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    layer: str | None = None,
    crs: str | None = None,
    missing: Sequence[str] | None = None,
    text: str | Sequence[str] = (),
    names: str | Sequence[str] = (),
    types: Mapping[str, str] | None = None,
) -> OpenedFile:
    """Open a file as it is: find its dialect and the types and gaps of its columns, and propose a role for each.

    Text files of any separator, decimal sign and encoding, plain or gzipped; Excel; Parquet and GeoParquet; Stata and
    SPSS; GeoPackage, GeoJSON, shapefile and FlatGeobuf. Codes with leading zeros stay text; whole numbers stay whole
    where values are missing; what would not be written back as it was read is listed. The roles are proposals by names
    and values: a custodian who knows the data confirms them.

    Parameters
    ----------
    path : str or Path
    separator, decimal, encoding : str, optional
        For text files; default: found.
    sheet, layer : str, optional
        For Excel and geographic files with several; default: the one with most records.
    crs : str, optional
        Of the coordinates where the file does not say it, such as "EPSG:25832".
    missing : sequence of str, optional
        Further cells that mean "missing", such as "-9"; an empty list: only the empty cell.
    text : str or sequence of str
        Columns to leave as text.
    names : str or sequence of str
        What the columns are called in a text file or Excel sheet without a line of names; where its first line looks
        like a record, it is not read without.
    types : mapping of str to str, optional
        Types of columns from before: one that is "text" here stays text, though its cells may be numbers.

    Returns
    -------
    OpenedFile

    Raises
    ------
    DataError
        If there is no such file, it is of another kind, is empty, has two columns of one name, or cannot be read; the
        message says which.
    ParameterError
        If an option does not fit the file.

    Examples
    --------
    >>> from reident.data.datasets import embedded_file
    >>> found = open_file(embedded_file("places_germany.csv.gz"))
    >>> found.schema.places, found.source["separator"]
    (('lat_deg', 'lon_deg'), ',')
    """
    path = check_path(path, "file")
    if not path.is_file():
        raise DataError(f"`file` must name a file that exists, got {str(path)!r}")
    kind = file_kind(path)
    if missing is not None:
        missing = [str(cell) if isinstance(cell, int | float) else cell for cell in check_listed(missing, "missing")]
    columns = check_several(names, "names")
    stated = {"separator": separator, "encoding": encoding, "sheet": sheet, "layer": layer}
    for name, value in [*stated.items(), *(("missing", c) for c in missing or ()), *(("names", c) for c in columns)]:
        check_text(value, name, optional=name in stated)
    check_crs(crs, "crs")
    if decimal is not None:
        check_choice(decimal, "decimal", (".", ","))
    if kind not in READERS:
        advice = "; a network is given as --network (`network=`)" if is_graph_file(path) else ""
        advice = "; save it as .xlsx" if kind == ".xls" else advice
        raise DataError(f"`file` must be one of {KINDS}, got {path.name!r}{advice}")
    check_content(path, kind)
    for option, value in {**stated, "decimal": decimal, "names": columns or None}.items():
        if value is not None and kind not in _KINDS_OF_OPTION[option]:
            kinds = ", ".join(_KINDS_OF_OPTION[option])
            raise ParameterError(f"`{option}` must be left out for {path.name!r}, it is for {kinds}, got {value!r}")
    try:
        cells, dialect, receipts, notes = READERS[kind](path, **stated, crs=crs, names=columns)
    except (DataError, ParameterError):
        raise
    except Exception as error:
        raise DataError(f"{path.name!r} could not be read as {kind[1:].upper()}: {error}") from error
    if not len(cells):
        raise DataError(f"{path.name!r} must hold at least one record, it is empty")
    cells.columns = [str(name) for name in cells.columns]
    in_one_line = [" ".join(name.split()) for name in cells.columns]
    if any("\n" in name for name in cells.columns) and len(set(in_one_line)) == len(in_one_line):
        cells = cells.rename(columns=dict(zip(cells.columns, in_one_line, strict=True)))
        receipts = [*receipts, "line breaks in the names of columns are not written back"]
    source: dict[str, Any] = {"kind": kind[1:], **dialect}
    if kind in DELIMITED:
        decimal = source["decimal"] = decimal or file_decimal(cells, source["separator"])
    forced = {name for name, kind in (types or {}).items() if kind == "text"}
    forced |= {*check_columns(cells, text, "text", table_name="file", min_columns=0)}
    return describe(cells, source, decimal, missing, forced, receipts, notes, crs)


#: The kinds of file that an option is about.
_KINDS_OF_OPTION = {
    **dict.fromkeys(("separator", "decimal", "encoding"), DELIMITED),
    "sheet": EXCEL,
    "layer": GEOGRAPHIC,
    "names": (*DELIMITED, *EXCEL),
}


def describe(
    cells: Any,
    source: dict[str, Any],
    decimal: str | None,
    missing: Sequence[str] | None,
    forced: set[str],
    receipts: Sequence[str],
    notes: Sequence[str],
    crs: str | None,
) -> OpenedFile:
    """Type the columns of a table and propose their roles; `decimal` None: the table's own types are kept."""
    changes, look = list(receipts), [*notes, *_below(cells)]
    geometry = geometry_of(cells)
    typed: dict[str, Typed] = {}
    # Columns of a sheet that hold texts alone may be numbers or dates.
    is_sheet = f".{source.get('kind')}" in EXCEL
    written = [name for name in cells if is_sheet and pd.api.types.infer_dtype(cells[name]) == "string"]
    sign = file_decimal(cells[written].fillna(""), ",") if written else None
    for name in cells.columns:
        if name == geometry:
            typed[name] = Typed(cells[name], "geometry")
        elif decimal is not None:
            typed[name] = type_text(cells[name], decimal, missing=missing, text=name in forced)
        else:
            texts = sign if name in written else None
            typed[name] = type_values(cells[name], texts, missing=missing, text=name in forced)
        changes += [f"{name}: {line}" for line in typed[name].receipts]
        look += [f"{name}: {line}" for line in typed[name].notes]
    if len(cells.columns) == 1 and source.get("separator"):
        look.append("the file has one column: if its fields are separated by another sign, give `separator` (--sep)")
    if is_matrix(cells):
        look.append("the records and the other columns have the same names: a network's matrix is given as --network")
    data = pd.DataFrame({name: column.cells for name, column in typed.items()})
    if geometry is not None:
        import geopandas as gpd

        data = gpd.GeoDataFrame(data, geometry=geometry, crs=cells.crs)
    data = data.reset_index(drop=True)
    types = {name: column.type for name, column in typed.items()}
    places = place_columns(data, crs) if geometry is None else None
    if places is not None and places["crs"] is None:
        look.append(f"{places['lat']}, {places['lon']}: {places['reason']}")
    roles = propose(data, types, places)
    columns = {name: Column(roles[name][0], types[name], roles[name][1]) for name in data.columns}
    schema = Schema(columns, crs=None if places is None else places["crs"])
    look += [*_headings(cells, data, types), *_same_values(data), *_few_numbers(data, types)]
    look += place_notes(data, schema)
    return OpenedFile(data, schema, source, changes, look, source.pop("parts", []))


def opened_with_roles(opened: OpenedFile, **roles: Any) -> OpenedFile:
    """Return an opened file with these roles, as `Schema.with_roles` takes them, and the notes on where it lies."""
    schema = opened.schema.with_roles(**roles)
    earlier = place_notes(opened.data, opened.schema)
    notes = [note for note in opened.notes if note not in earlier]
    return replace(opened, schema=schema, notes=[*notes, *place_notes(opened.data, schema)])


def _same_values(table: pd.DataFrame) -> list[str]:
    """Return notes about records that are equal, and about columns that correspond, such as postcodes and towns."""
    codes = {name: pd.factorize(texts_of(table[name]), use_na_sentinel=False)[0] for name in table}
    n = len(table) - class_ids(list(codes.values()))[1] if codes else 0
    notes = [f"{n} record(s) are equal to an earlier one in every column: perhaps written twice"] if n else []
    names = [name for name, code in codes.items() if _FEWEST_SAME <= code.max(initial=-1) + 1 <= len(table) / 2]
    return notes + [
        f"{first}, {second}: say the same, value by value: a release needs one of them"
        for first, second in combinations(names, 2)
        if np.array_equal(codes[first], codes[second])  # codes count values as they are met
    ]


def _few_numbers(table: pd.DataFrame, types: Mapping[str, str]) -> list[str]:
    """Return a note about whole numbers with few values, which may be codes."""
    names = [name for name in types if types[name] == "integer" and 2 <= table[name].nunique() <= _FEW_NUMBERS]
    if not names or len(table) < 10 * _FEW_NUMBERS:
        return []
    listed = ",".join(names)
    return [f"{', '.join(names)}: few whole numbers: if they are codes, --text {listed} keeps them from being ranges"]


def _headings(cells: pd.DataFrame, data: pd.DataFrame, types: Mapping[str, str]) -> list[str]:
    """Return a note about records that hold the names again or, as first ones, units in place of all numbers."""
    numbers = [name for name, kind in types.items() if kind in ("integer", "number", "date")]
    first = np.flatnonzero(cells.iloc[:, 0].astype(str) == cells.columns[0])
    rows = [int(row) for row in first if [*map(str, cells.iloc[row])] == [*cells.columns]]
    for row in range(min(_UNITS, len(cells)) if len(numbers) > 1 else 0):
        if data[numbers].iloc[row].notna().any() or any(map(is_blank, cells[numbers].iloc[row])):
            break
        rows.append(row)
    listed = ", ".join(str(row + 1) for row in sorted({*rows})[:5])
    return (
        [f"record {listed}: names or units in place of values: if these are no persons, take them out"] if rows else []
    )


def _below(cells: pd.DataFrame) -> list[str]:
    """Return a note about last records that look like a sum or a remark below a table."""
    remarks: list[str] = []
    for row in cells.iloc[: -_BELOW - 1 : -1].itertuples(index=False, name=None):
        filled = [text for text in (str(cell).strip() for cell in row if not is_blank(cell)) if text]
        total = bool(filled) and filled[0].rstrip(" :").lower() in _TOTALS
        if not total and not (len(filled) == 1 < len(row) - 1):
            break
        remarks.insert(0, repr(filled[0]))
    if not remarks or len(remarks) == min(_BELOW, len(cells)):
        return []  # records with one value each
    return [f"the last {len(remarks)} record(s) begin with {', '.join(remarks)}: if they are no persons, take them out"]
