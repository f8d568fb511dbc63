"""Reading a custodian's file, and writing a release in the same kind of file."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype, is_string_dtype

from reident.base import DataError, FloatArray, Options, ParameterError, check_columns, check_table
from reident.places.points import check_crs, degrees_of, find_places, longitudes_within
from reident.workbench.microdata import LAT, LON
from reident.workbench.opening import OpenedFile, open_file
from reident.workbench.readers import GEOGRAPHIC, file_kind, geometry_of

#: The kinds of file that a release is written as.
WRITTEN = (".csv", ".parquet", ".pq", ".xlsx", *GEOGRAPHIC)


def read_file(path: str | Path) -> Any:
    """Read the records of a file of any kind that `open_file` opens."""
    return open_file(path).data


def read_like(path: Path, original: Any, crs: str | None = None, names: str | Sequence[str] = ()) -> OpenedFile:
    """Read a release: a column that is text in the original stays text, though its cells might be numbers."""
    columns = {} if original is None else dict(original.items())
    texts = [name for name, cells in columns.items() if is_string_dtype(cells) or cells.dtype == object]
    crs = crs if path.suffix.lower() in GEOGRAPHIC else None
    return open_file(path, names=names, crs=crs, types=dict.fromkeys(texts, "text"))


def with_places(data: Any, lat: str | None, lon: str | None, crs: str | None = None, *, refuses: bool = False) -> Any:
    """Return data with their places, missing where they are impossible: every file enters here.

    Coordinate columns become ``lat_deg`` and ``lon_deg``, longitudes in [-180, 180]; a GeoDataFrame keeps its geometry.

    Parameters
    ----------
    data : DataFrame or GeoDataFrame
        The records; not modified.
    lat, lon : str or None
        Columns of degrees or, in another `crs`, of north and east.
    crs : str, optional
        The CRS of the columns, or of a geometry without one.
    refuses : bool
        Whether impossible places are an error, instead of missing ones with a warning.

    Raises
    ------
    ParameterError, DataError
        If a column is absent or holds no numbers, a GeoDataFrame is given columns besides,
        `crs` is none of the earth's surface, most places are impossible, or one is where that is refused.
    """
    check_table(data, "data")
    check_crs(crs, "crs")
    if hasattr(data, "to_crs"):
        if lat is not None:
            raise ParameterError("`lat` and `lon` must be left out for a file with a geometry of its own")
        if crs is not None and data.crs is not None and data.crs != crs:
            raise ParameterError(f"`crs` must be that of the file, {data.crs.to_string()}, or be left out, got {crs!r}")
        return _possible(data.set_crs(crs) if data.crs is None and crs is not None else data, refuses)
    if lat is None or lon is None:
        if crs is not None:
            raise ParameterError(f"`crs` must come with `lat` and `lon`, the columns of coordinates in it, got {crs!r}")
        return _possible(data, refuses) if {LAT, LON} <= set(data.columns) else data
    for name, column in (("lat", lat), ("lon", lon)):
        check_columns(data, [column], name, table_name="data")
        if not is_numeric_dtype(data[column]):
            raise DataError(
                f"`{name}` must be a column of numbers (decimal degrees), got {data[column].dtype} in {column!r}"
            )
    placed = data.rename(columns={lat: LAT, lon: LON})
    known = placed[LAT].notna() & placed[LON].notna()
    east, north = (placed.loc[known, name].to_numpy(float) for name in (LON, LAT))
    if crs not in (None, "EPSG:4326"):
        north, east = degrees_of(east, north, str(crs))
        for name, values in ((LAT, north), (LON, east)):
            placed[name] = placed[name].astype("float64")
            placed.loc[known, name] = values
    _check_most(north, east, crs, f"`lat` and `lon`, {lat!r} and {lon!r},")
    return _possible(placed, refuses, f"{lat}, {lon}")


def _check_most(north: FloatArray, east: FloatArray, crs: Any, what: str) -> None:
    """Refuse places, degrees, of which most lie outside the area of their CRS; a few others count as missing."""
    box, why = (-180.0, -90.0, 360.0, 90.0), "no degrees: for metres a CRS must be named"
    if crs not in (None, "EPSG:4326"):
        import geopandas as gpd

        system = gpd.GeoSeries([], crs=crs).crs
        area, box = system.area_of_use, (-np.inf, -np.inf, np.inf, np.inf)
        if area is not None and area.west < area.east:
            box = (area.west - 10, area.south - 10, area.east + 10, area.north + 10)
        why = f"no places in {system.to_string()}: is it that, and are north and east not interchanged?"
    within = (east >= box[0]) & (north >= box[1]) & (east <= box[2]) & (north <= box[3])
    if len(within) and within.mean() < 0.5:
        raise DataError(f"{what} hold {why}")


def _possible(placed: Any, refuses: bool, columns: str = f"{LAT}, {LON}") -> Any:
    """Return records with impossible places missing, with a warning, or refuse them."""
    geometry = geometry_of(placed)
    if geometry and (placed.crs is None or set(placed.geometry.geom_type.dropna()) - {"Point"}):
        return placed  # the role of such a geometry is decided elsewhere
    lat, lon, odd = find_places(placed, "data")
    if geometry:
        known = odd | ~np.isnan(lat)
        _check_most(lat[known], lon[known], placed.crs, f"`{geometry}`: most points")
    rows = np.flatnonzero(odd)
    if rows.size:
        listed = ", ".join(str(row + 1) for row in rows[:5]) + (", ..." if rows.size > 5 else "")
        problem = f"{geometry or columns}: {rows.size} record(s) with an impossible place (record {listed})"
        if refuses:
            raise DataError(f"{problem}: correct them, or leave them out")
        warnings.warn(f"{problem} count as records without a place", stacklevel=3)
    if geometry:
        return placed.assign(**{geometry: placed.geometry.where(~odd, None)}) if rows.size else placed
    places = {LAT: lat, LON: longitudes_within(lon)}
    before = {name: placed[name].to_numpy(float, na_value=np.nan) for name in places}
    same = all(np.array_equal(before[name], places[name], equal_nan=True) for name in places)
    return placed if same else placed.assign(**places)


def plain_table(data: Any) -> Any:
    """Return a copy of the cells alone, without categories, attributes, index, or names of axes."""
    plain = data.reset_index(drop=True)
    for name, column in plain.select_dtypes("category").items():
        plain[name] = column.astype(column.cat.categories.dtype)
    plain.columns = [str(name) for name in plain.columns]
    plain.attrs = {}
    return plain


#: What a spreadsheet takes for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_file(data: Any, path: Path, dialect: Options | None = None) -> list[str]:
    """Write the cells of a table by the kind of its path: no index, no metadata but the kind's own.

    Text that a spreadsheet would execute is written as text: in Excel as such, in CSV behind an apostrophe.

    Parameters
    ----------
    data : DataFrame or GeoDataFrame
    path : Path
    dialect : mapping, optional
        ``separator``, ``decimal`` and ``encoding`` of a text file.

    Returns
    -------
    list of str
        What was written otherwise than it stands in the table.
    """
    kind, plain = file_kind(path), plain_table(data)
    is_parquet, shaped = kind in (".parquet", ".pq"), hasattr(plain, "to_crs")
    if shaped and (is_parquet or kind in GEOGRAPHIC):
        plain.to_parquet(path, index=False) if is_parquet else plain.to_file(path, index=False)
        return []
    if shaped:
        plain = pd.DataFrame(plain.assign(**{plain.geometry.name: plain.geometry.to_wkt()}))
    if is_parquet:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.Table.from_pandas(plain, preserve_index=False).replace_schema_metadata(None)
        pq.write_table(table, path, store_schema=False)
    elif kind == ".xlsx":
        with pd.ExcelWriter(path, engine="openpyxl") as book:
            plain.to_excel(book, index=False)
            for cell in (cell for sheet in book.sheets.values() for row in sheet.iter_rows() for cell in row):
                cell.data_type = "s" if cell.data_type == "f" else cell.data_type
    else:
        return _write_text(plain, path, dialect or {})
    return []


def without_apostrophes(table: Any) -> Any:
    """Return a table without the apostrophes of `write_file` before formulas."""
    live = "'[" + re.escape("".join(_FORMULA)) + "]"
    plain = table
    for name in table.columns:
        column = table[name]
        if column.dtype == object or isinstance(column.dtype, pd.StringDtype):
            written = column.astype("str").str.match(live).fillna(False).to_numpy(bool)
            if written.any():
                plain = plain.assign(**{name: column.mask(written, column.astype("str").str[1:])})
    names = {name: name[1:] for name in table.columns if isinstance(name, str) and re.match(live, name)}
    return plain.rename(columns={old: new for old, new in names.items() if new not in table.columns})


def _write_text(plain: pd.DataFrame, path: Path, dialect: Options) -> list[str]:
    receipts = []
    for name in plain.columns:
        if is_numeric_dtype(plain[name]) or is_datetime64_any_dtype(plain[name]):
            continue
        text = plain[name].astype("str")
        live = text.str.startswith(_FORMULA).fillna(False)
        live[live] = pd.to_numeric(text[live], errors="coerce").isna()
        if live.any():
            plain[name] = text.where(~live, "'" + text).where(plain[name].notna(), None)
            receipts.append(f"{name}: {live.sum()} cells that a spreadsheet would execute stand behind an apostrophe")
    plain.columns = [f"'{name}" if name.startswith(_FORMULA) else name for name in plain.columns]
    options = {"sep": dialect.get("separator") or ",", "decimal": dialect.get("decimal") or ".", "index": False}
    encoding = dialect.get("encoding") or "utf-8"
    try:
        plain.to_csv(path, encoding=encoding, **options)
    except UnicodeEncodeError:
        plain.to_csv(path, encoding="utf-8", **options)
        receipts.append(f"written as UTF-8: {encoding} lacks a letter")
    return receipts
