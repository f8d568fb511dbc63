"""Read each kind of file as a table, with receipts of what is not written back and notes of what to look at."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from reident.base import DataError, ParameterError
from reident.data.delimited import read_delimited, table_of_rows
from reident.workbench.columns import is_gap

__all__ = ["DELIMITED", "EXCEL", "GEOGRAPHIC", "KINDS", "READERS", "file_kind", "is_blank"]

#: The kinds of file that can be read, by the end of the name.
KINDS = ".csv, .csv.gz, .tsv, .txt, .parquet, .xlsx, .xls, .dta, .sav, .zsav, .por, .gpkg, .geojson, .shp, .fgb"
GEOGRAPHIC = (".gpkg", ".geojson", ".shp", ".fgb")
#: What a reader gives: the table, what was found about the file, receipts and notes.
_Read = tuple[Any, dict[str, Any], list[str], list[str]]
DELIMITED = (".csv", ".tsv", ".txt")
EXCEL = ("xlsx", "xls", "xlsm")
#: The format of numbers that are shown with so many digits, such as 00000 of postcodes.
_ZEROS = re.compile(r"(?:\[\$[^\]]*\])?(0{2,})")


def file_kind(path: Path) -> str:
    """Return the end of a file's name that tells its kind, in small letters, ``.gz`` aside."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _chosen(wanted: str | None, sizes: Mapping[str, int], what: str, name: str) -> tuple[str, list[str]]:
    """Choose a sheet or layer: the one that is named, else the one with most in it."""
    if wanted is not None:
        if wanted not in sizes:
            raise ParameterError(f"`{what}` must be one of {list(sizes)!r} in {name!r}, got {wanted!r}")
        return wanted, []
    if not sizes:
        raise DataError(f"{name!r} must hold at least one {what} with records, it has none")
    best = max(sizes, key=lambda one: sizes[one])
    others = [repr(one) for one in sizes if one != best]
    return best, [
        f"the {what} {best!r} was read, it has most in it; there are also {', '.join(others)}"
    ] if others else []


def _read_text(path: Path, *, separator: str | None, encoding: str | None, names: list[str], **_: Any) -> _Read:
    return *read_delimited(path, separator=separator, encoding=encoding, names=names), []


def _read_excel(path: Path, *, sheet: str | None, names: list[str], **_: Any) -> _Read:
    sheets = pd.read_excel(path, sheet_name=None, header=None, dtype=object, keep_default_na=False, na_filter=False)
    sizes = {str(name): int((one.astype(str) != "").to_numpy().sum()) for name, one in sheets.items()}
    chosen, notes = _chosen(sheet, sizes, "sheet", path.name)
    cells, shown = _with_zeros(path, chosen, sheets[chosen])
    rows = [[None if is_blank(cell) else cell for cell in row] for row in cells.itertuples(index=False)]
    rows = [row for row in rows if any(cell is not None for cell in row)]
    empty = [j for j in range(cells.shape[1]) if all(row[j] is None for row in rows)]
    rows = [[cell for j, cell in enumerate(row) if j not in empty] for row in rows]
    table, told = table_of_rows(rows, path.name, None, names)
    return table, {"sheet": chosen, "parts": list(sizes)}, [*told, *shown], notes


def _with_zeros(path: Path, sheet: str, cells: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return cells as a sheet shows them where a format gives numbers leading zeros: they are codes."""
    if not zipfile.is_zipfile(path):
        return cells, []
    with zipfile.ZipFile(path) as parts:
        styles = parts.read("xl/styles.xml").decode("utf-8", "replace") if "xl/styles.xml" in parts.namelist() else ""
    if not re.search(rf'formatCode="{_ZEROS.pattern}"', styles):
        return cells, []
    import openpyxl

    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    book[sheet].reset_dimensions()
    made, n = cells.to_numpy(object).copy(), 0
    for i, row in enumerate(book[sheet].rows):
        for j, cell in enumerate(row):
            form = isinstance(cell.value, int | float) and _ZEROS.fullmatch(str(cell.number_format))
            if form and cell.value == int(cell.value) >= 0:
                made[i, j] = f"{int(cell.value):0{len(form.group(1))}d}"
                n += 1
    book.close()
    told = f"{n} numbers of a format such as 00000 are read as they are shown: codes with their zeros"
    return pd.DataFrame(made, columns=cells.columns), [told] if n else []


def is_blank(cell: Any) -> bool:
    """Whether nothing stands in a cell of a sheet."""
    return is_gap(cell) or (isinstance(cell, str) and not cell)


def _read_parquet(path: Path, *, crs: str | None, **_: Any) -> _Read:
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    twice = [name for name in schema.names if schema.names.count(name) > 1]
    if twice:
        raise DataError(f"{path.name!r} must have unique column names, got {twice[0]!r} more than once")
    if b"geo" in (schema.metadata or {}):
        import geopandas as gpd

        return _geographic(gpd.read_parquet(path), crs, {}, [], path.name)
    table = pd.read_parquet(path)
    for one in schema:
        if str(one.type).startswith(("int", "uint")) and pd.api.types.is_float_dtype(table.get(one.name)):
            table[one.name] = table[one.name].astype("Int64")  # gaps made them floats
    told = []
    if any(name is not None for name in table.index.names):
        named = [str(name) for name in table.index.names]
        table, told = table.reset_index(), [f"the index {', '.join(named)} became a column"]
    return table.reset_index(drop=True), {}, told, []


def _read_labelled(path: Path, **_: Any) -> _Read:
    """Read Stata or SPSS: coded answers as their labels, with a receipt."""
    import pyreadstat

    kind = file_kind(path)
    read: Any = {".dta": pyreadstat.read_dta, ".por": pyreadstat.read_por}.get(kind, pyreadstat.read_sav)
    table, meta = read(str(path), apply_value_formats=True, formats_as_category=False)
    labelled = [name for name in table.columns if meta.variable_value_labels.get(name)]
    told = [f"{name}: codes were replaced by their labels" for name in labelled]
    notes = [f"{name} is described as {label!r}" for name, label in meta.column_names_to_labels.items() if label]
    for name in table.columns:
        column = table[name]
        if column.dtype == object:
            table[name] = column.map(lambda cell: None if cell == "" else cell)
        elif pd.api.types.is_float_dtype(column) and (column.dropna() % 1 == 0).all() and column.abs().max() < 2**53:
            table[name] = column.astype("Int64" if column.isna().any() else "int64")
    return table, {}, told, notes


def _read_geographic(path: Path, *, layer: str | None, crs: str | None, **_: Any) -> _Read:
    import geopandas as gpd
    import pyogrio

    listed = {str(name): kind for name, kind in pyogrio.list_layers(path)}
    shaped = [name for name, kind in listed.items() if kind is not None] or list(listed)
    sizes = {name: pyogrio.read_info(path, layer=name)["features"] for name in (list(listed) if layer else shaped)}
    chosen, notes = _chosen(layer, sizes, "layer", path.name)
    return _geographic(gpd.read_file(path, layer=chosen), crs, {"layer": chosen, "parts": shaped}, notes, path.name)


def _geographic(table: Any, crs: str | None, source: dict[str, Any], notes: list[str], name: str) -> _Read:
    if not hasattr(table, "to_crs"):
        return table, source, [], notes
    told: list[str] = []
    if crs is not None and table.crs is None:
        table = table.set_crs(crs)
        told.append(f"the file names no CRS: its coordinates were read as {crs}, as told")
    elif crs is not None and table.crs != crs:
        raise ParameterError(
            f"`crs` must be that of {name!r}, {table.crs.to_string()}, where the file says it, got {crs!r}"
        )
    if table.crs is None:
        notes = [*notes, "the file names no CRS: `crs` must say what its coordinates mean"]
    return table, {**source, "crs": None if table.crs is None else table.crs.to_string()}, told, notes


#: By the end of the name.
READERS: dict[str, Any] = {
    **dict.fromkeys(DELIMITED, _read_text),
    **dict.fromkeys((f".{kind}" for kind in EXCEL), _read_excel),
    **dict.fromkeys((".parquet", ".pq"), _read_parquet),
    **dict.fromkeys((".dta", ".sav", ".zsav", ".por"), _read_labelled),
    **dict.fromkeys(GEOGRAPHIC, _read_geographic),
}
