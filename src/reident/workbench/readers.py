"""Read each kind of file as a table, with receipts of changes and notes for the custodian."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from reident.base import DataError, ParameterError, Parameters
from reident.base.cost import afford
from reident.data.delimited import read_delimited
from reident.data.header import table_of_rows
from reident.tables.classes import text_of
from reident.workbench.columns import is_gap

#: The kinds of file that can be read, by the end of the name.
KINDS = (
    ".csv, .csv.gz, .csv.bz2, .csv.xz, .tsv, .txt, .parquet, .pq, .xlsx, .xlsm, .dta, .sav, .zsav, .por, .gpkg, "
    ".geojson, .shp, .fgb"
)
GEOGRAPHIC = (".gpkg", ".geojson", ".shp", ".fgb")
#: What a reader gives: the table, what was found about the file, receipts and notes.
_Read = tuple[Any, Parameters, list[str], list[str]]
DELIMITED, PACKED = (".csv", ".tsv", ".txt"), (".gz", ".bz2", ".xz")
EXCEL = (".xlsx", ".xlsm")
#: What a file of each kind begins with: its name alone decides nothing, or a name would choose what reads the content.
_BEGINNINGS = {
    **dict.fromkeys(EXCEL, (b"PK\x03\x04",)),
    **dict.fromkeys((".parquet", ".pq"), (b"PAR1",)),
    **dict.fromkeys((".sav", ".zsav"), (b"$FL2", b"$FL3")),
    ".dta": (b"<stata_dta>", *(bytes([version]) for version in (105, 108, 110, 111, 112, 113, 114, 115))),
    ".gpkg": (b"SQLite format 3\0",),
    ".geojson": (b"{",),
    ".shp": (b"\0\0\x27\x0a",),
    ".fgb": (b"fgb",),
}
#: Drivers of GDAL that may read a file.
_DRIVERS = {"GPKG", "GeoJSON", "ESRI Shapefile", "FlatGeobuf"}
#: Bytes of memory for a byte of a sheet's XML, for a cell of a sheet, and for a cell of another table.
_XML, _CELL, _PLAIN = 3, 100, 16
#: The format of numbers that are shown with so many digits, such as 00000 of postcodes.
_ZEROS = re.compile(r"(?:\[\$[^\]]*\])?(0{2,})")
#: A cell with a formula that no program has computed yet; the result of one of text may be empty.
_NO_RESULT = re.compile(rb"""<c(?: (?!t="str")[^ >]*)*><f(?:[^>]*/>|[^>]*>[^<]*</f>)(?:<v ?/>|<v></v>)?</c>""")


def file_kind(path: Path) -> str:
    """Return the suffix that gives a file's kind, in small letters; of a packed text file that before ``.gz``."""
    suffix = path.suffix.lower()
    inner = Path(path.stem.lower()).suffix
    return inner if suffix in PACKED and inner in DELIMITED else suffix


def check_content(path: Path, kind: str) -> None:
    """Refuse a file that does not begin as its kind does.

    Raises
    ------
    DataError
        If it begins otherwise: renamed, damaged, or made to be read by another driver.
    """
    with path.open("rb") as file:
        beginning = file.read(100)
    if kind == ".geojson":
        beginning = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()
    if beginning and not beginning.startswith(_BEGINNINGS.get(kind, (b"",))):
        raise DataError(f"{path.name!r} must hold what its name says, {kind[1:].upper()}, but it begins otherwise")
    if kind == ".gpkg" and beginning[68:72] not in (b"GPKG", b"GP10", b"GP11"):
        raise DataError(f"{path.name!r} must be a GeoPackage, it is another database of SQLite")


def _fits(path: Path, needed: float, what: str) -> None:
    afford(needed, "file", f"{path.name!r} with {what}", "take fewer records or columns")


def _chosen(wanted: str | None, sizes: Mapping[str, int], what: str, name: str) -> tuple[str, list[str]]:
    """Choose a sheet or layer: the one that is named, else the one with most in it."""
    if wanted is not None:
        if wanted not in sizes:
            raise ParameterError(f"`{what}` must be one of {list(sizes)!r} in {name!r}, got {wanted!r}")
        return wanted, []
    if not sizes:
        raise DataError(f"{name!r} must hold at least one {what} with records, it has none")
    best = max(sizes, key=lambda title: sizes[title])
    others = [repr(title) for title in sizes if title != best]
    return best, [
        f"the {what} {best!r} was read, it has most in it; there are also {', '.join(others)}"
    ] if others else []


def _read_text(path: Path, *, separator: str | None, encoding: str | None, names: list[str], **_: Any) -> _Read:
    return *read_delimited(path, separator=separator, encoding=encoding, names=names), []


def _read_excel(path: Path, *, sheet: str | None, names: list[str], **_: Any) -> _Read:
    import openpyxl

    with zipfile.ZipFile(path) as parts:
        size = sum(part.file_size for part in parts.infolist())
        _fits(path, _XML * size, f"{size:,} bytes of XML")
        pages = [parts.read(name) for name in parts.namelist() if "worksheets/" in name]
    has_merged = any(b"mergeCell " in page for page in pages)
    n_open = sum(len(_NO_RESULT.findall(page)) for page in pages)
    # Only a sheet that is read whole knows which of its cells are merged.
    book = openpyxl.load_workbook(path, read_only=not has_merged, data_only=True)
    try:
        sheets, changes = {}, {}
        for page in book.worksheets:
            sheets[page.title], changes[page.title] = _cells_of(page, path)
    finally:
        book.close()
    sizes = {name: sum(len(row) for row in rows) for name, rows in sheets.items()}
    chosen, notes = _chosen(sheet, sizes, "sheet", path.name)
    cells = sheets[chosen]
    columns = sorted(set().union(*cells))
    _fits(path, _PLAIN * len(cells) * len(columns), f"{len(cells):,} rows and {len(columns):,} columns")
    rows = [[row.get(j) for j in columns] for row in cells]
    table, receipts = table_of_rows(rows, path.name, None, names)
    if n_open:
        notes = [
            *notes,
            f"{n_open} formulas have no result in the file and are read as missing: save it in a spreadsheet",
        ]
    source = {"sheet": chosen, "parts": [name for name, size in sizes.items() if size]}
    return table, source, [*receipts, *changes[chosen]], notes


def _cells_of(sheet: Any, path: Path) -> tuple[list[dict[int, Any]], list[str]]:
    """Return the cells of each row of a sheet that has some, by column, and receipts."""
    last_row = {}
    if sheet.parent.read_only:
        sheet.reset_dimensions()  # a file may say too few, or a million
    else:
        last_row = {(area.min_row, area.min_col - 1): area.max_row for area in sheet.merged_cells.ranges}
    rows = []
    n_cells = n_coded = n_wrong = n_merged = 0
    merged: dict[int, tuple[int, Any]] = {}
    for i, row in enumerate(sheet.rows, start=1):
        cells = {j: value for j, (last, value) in merged.items() if i <= last}
        n_merged += len(cells)
        for j, cell in enumerate(row):
            value = cell.value
            if cell.data_type == "e":
                n_wrong += 1
                continue
            if is_blank(value):
                continue
            if isinstance(value, int | float) and not isinstance(value, bool) and float(value).is_integer():
                form = _ZEROS.fullmatch(str(cell.number_format))
                value = f"{int(value):0{len(form.group(1))}d}" if form and value >= 0 else int(value)
                n_coded += isinstance(value, str)
            cells[j] = value
            if (i, j) in last_row:
                merged[j] = (last_row[i, j], value)
        if cells:
            rows.append(cells)
            n_cells += len(cells)
            _fits(path, _CELL * n_cells, f"more than {n_cells:,} cells")
    receipts = {
        "numbers of a format such as 00000 are read as they are shown: codes with their zeros": n_coded,
        "cells with an error such as #N/A are read as missing": n_wrong,
        "cells below the first of merged ones take its value": n_merged,
    }
    return rows, [f"{count} {receipt}" for receipt, count in receipts.items() if count]


def geometry_of(table: Any) -> str | None:
    """Return the name of the geometry of a GeoDataFrame, None for a plain table."""
    return str(table.geometry.name) if hasattr(table, "to_crs") else None


def is_blank(cell: Any) -> bool:
    """Return whether a cell of a sheet is empty."""
    return is_gap(cell) or (isinstance(cell, str) and not cell)


def _read_parquet(path: Path, *, crs: str | None, **_: Any) -> _Read:
    import pyarrow.parquet as pq

    schema, told_size = pq.read_schema(path), pq.read_metadata(path)
    n_rows, n_columns = told_size.num_rows, told_size.num_columns
    _fits(path, _PLAIN * n_rows * n_columns, f"{n_rows:,} rows and {n_columns:,} columns")
    twice = [name for name in schema.names if schema.names.count(name) > 1]
    if twice:
        raise DataError(f"{path.name!r} must have unique column names, got {twice[0]!r} more than once")
    if b"geo" in (schema.metadata or {}):
        import geopandas as gpd

        return _geographic(gpd.read_parquet(path), crs, {}, [], path.name)
    table = pd.read_parquet(path)
    for column in schema:
        if str(column.type).startswith(("int", "uint")) and pd.api.types.is_float_dtype(table.get(column.name)):
            table[column.name] = table[column.name].astype("Int64")  # gaps made them floats
    receipts = []
    if any(name is not None for name in table.index.names) or not isinstance(table.index, pd.RangeIndex):
        n_before, table = len(table.columns), table.reset_index()
        levels = ", ".join(map(str, table.columns[: len(table.columns) - n_before]))
        receipts = [f"the index {levels} became a column"]
    return table.reset_index(drop=True), {}, receipts, []


def _read_labelled(path: Path, **_: Any) -> _Read:
    """Read Stata or SPSS: coded answers as their labels, with a receipt."""
    import pyreadstat

    kind = file_kind(path)
    read: Any = {".dta": pyreadstat.read_dta, ".por": pyreadstat.read_por}.get(kind, pyreadstat.read_sav)
    meta = read(str(path), metadataonly=True, **({"user_missing": True} if read is pyreadstat.read_sav else {}))[1]
    receipts = [f"{name}: values that the file declares as missing are read as missing" for name in meta.missing_ranges]
    n_rows = meta.number_rows or 0
    _fits(path, _PLAIN * n_rows * meta.number_columns, f"{n_rows:,} rows and {meta.number_columns:,} columns")
    table, meta = read(str(path))
    notes = [f"{name} is described as {label!r}" for name, label in meta.column_names_to_labels.items() if label]
    for name in table.columns:
        column, labels = table[name], meta.variable_value_labels.get(name, {})
        codes = [code for code in column.dropna().unique() if code in labels]
        if codes and 2 * len(codes) >= column.nunique():
            often = Counter(labels.values())
            texts = {
                code: label if often[label] == 1 else f"{label} ({text_of(code)})" for code, label in labels.items()
            }
            notes += [
                f"{name}: {texts[code]!r} may mean missing ({(column == code).sum()} records): --missing reads it so"
                for code in codes
                if not isinstance(code, str) and code < 0
            ]
            receipts.append(f"{name}: codes were replaced by their labels")
            table[name] = column = column.astype(object).map(
                lambda cell, texts=texts: texts.get(cell, cell), na_action="ignore"
            )
        elif codes:
            said = ", ".join(f"{text_of(code)} {labels[code]!r}" for code in codes[:5])
            notes.append(f"{name}: few of its numbers have a label and it stays a number: {said}")
        if column.dtype == object:
            table[name] = column.where(column != "", None)
        elif pd.api.types.is_float_dtype(column) and (column.dropna() % 1 == 0).all() and column.abs().max() < 2**53:
            table[name] = column.astype("Int64" if column.isna().any() else "int64")
    return table, {}, receipts, notes


def _read_geographic(path: Path, *, layer: str | None, crs: str | None, **_: Any) -> _Read:
    import geopandas as gpd
    import pyogrio

    listed = {str(name): kind for name, kind in pyogrio.list_layers(path)}
    driver = pyogrio.read_info(path, layer=next(iter(listed)))["driver"] if listed else None
    if driver is not None and driver not in _DRIVERS:
        raise DataError(f"{path.name!r} must be one of {', '.join(GEOGRAPHIC)}, it holds {driver}")
    shaped = [name for name, kind in listed.items() if kind is not None] or list(listed)
    sizes = {name: pyogrio.read_info(path, layer=name)["features"] for name in listed}
    chosen, notes = _chosen(layer, {name: sizes[name] for name in (listed if layer else shaped)}, "layer", path.name)
    source = {"layer": chosen, "parts": [name for name, size in sizes.items() if size]}
    return _geographic(gpd.read_file(path, layer=chosen), crs, source, notes, path.name)


def _geographic(table: Any, crs: str | None, source: Parameters, notes: list[str], name: str) -> _Read:
    import shapely

    if not hasattr(table, "to_crs"):
        return table, source, [], notes
    receipts = []
    shapes = table.geometry.to_numpy()
    alone = (table.geometry.geom_type == "MultiPoint").to_numpy() & (shapely.get_num_geometries(shapes) == 1)
    if alone.any():
        table = table.set_geometry(table.geometry.where(~alone, shapely.get_geometry(shapes, 0)))
        receipts.append(f"{alone.sum()} shapes of one point each are read as points")
    if crs is not None and table.crs is None:
        table = table.set_crs(crs)
        receipts.append(f"the file names no CRS: its coordinates were read as {crs}")
    elif crs is not None and table.crs != crs:
        raise ParameterError(
            f"`crs` must be that of {name!r}, {table.crs.to_string()}, where the file says it, got {crs!r}"
        )
    if table.crs is None:
        notes = [*notes, "the file names no CRS: `crs` must say what its coordinates mean"]
    return table, {**source, "crs": None if table.crs is None else table.crs.to_string()}, receipts, notes


#: By the end of the name.
READERS: Parameters = {
    **dict.fromkeys(DELIMITED, _read_text),
    **dict.fromkeys(EXCEL, _read_excel),
    **dict.fromkeys((".parquet", ".pq"), _read_parquet),
    **dict.fromkeys((".dta", ".sav", ".zsav", ".por"), _read_labelled),
    **dict.fromkeys(GEOGRAPHIC, _read_geographic),
}
