"""Reading a custodian's file, and writing a release in the same kind of file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from reident._validation import check_table
from reident.errors import DataError, ParameterError
from reident.experiments.microdata import LAT, LON

__all__ = ["read_file", "with_places", "write_file"]

_GEOGRAPHIC = (".gpkg", ".geojson", ".shp", ".fgb")
#: The kinds of file that a release is written as.
WRITTEN = (".csv", ".parquet", ".pq", ".xlsx", *_GEOGRAPHIC)
_KINDS = ".csv, .csv.gz, .tsv, .parquet, .xlsx, .xls, .gpkg, .geojson, .shp, .fgb"


def _kind(path: Path) -> str:
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def read_file(path: str | Path) -> Any:
    """Read CSV, TSV, Parquet, GeoParquet, Excel, GeoPackage, GeoJSON or a shapefile.

    Returns
    -------
    DataFrame, or GeoDataFrame where the file has a geometry

    Raises
    ------
    DataError
        If there is no such file, it is of another kind, is empty or cannot be read; the message says which.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"`file` must name a file that exists, got {str(path)!r}")
    kind = _kind(path)
    try:
        if kind in (".csv", ".tsv", ".txt"):
            data = pd.read_csv(path, sep="," if kind == ".csv" else "\t")
        elif kind in (".parquet", ".pq"):
            data = _read_parquet(path)
        elif kind in (".xlsx", ".xls"):
            data = pd.read_excel(path)
        elif kind in _GEOGRAPHIC:
            import geopandas as gpd

            data = gpd.read_file(path)
        else:
            raise DataError(f"`file` must be one of {_KINDS}, got {path.name!r}")
    except DataError:
        raise
    except Exception as error:
        raise DataError(f"{path.name!r} could not be read as {kind[1:].upper()}: {error}") from error
    if not len(data):
        raise DataError(f"{path.name!r} must hold at least one record, it is empty")
    return data


def _read_parquet(path: Path) -> Any:
    import pyarrow.parquet as pq

    if b"geo" in (pq.read_schema(path).metadata or {}):
        import geopandas as gpd

        return gpd.read_parquet(path)
    return pd.read_parquet(path)


def with_places(data: Any, lat: str | None, lon: str | None) -> Any:
    """Return data with the named coordinate columns as ``lat_deg`` and ``lon_deg``; a GeoDataFrame as it is.

    Raises
    ------
    ParameterError, DataError
        If only one is named, a column is absent or no number, or a GeoDataFrame is given columns besides.
    """
    if (lat is None) != (lon is None):
        raise ParameterError("`lat` and `lon` must be given together, got only one of them")
    check_table(data, "data")
    if lat is None:
        return data
    if hasattr(data, "to_crs"):
        raise ParameterError("`lat` and `lon` must be left out for a file with a geometry of its own")
    for name, column in (("lat", lat), ("lon", lon)):
        if column not in data.columns:
            raise ParameterError(
                f"`{name}` must name a column of the file, got {column!r}: it has {list(data.columns)!r}"
            )
        if not pd.api.types.is_numeric_dtype(data[column]):
            raise DataError(
                f"`{name}` must be a column of numbers (decimal degrees), got {data[column].dtype} in {column!r}"
            )
    return data.rename(columns={lat: LAT, lon: LON})


def write_file(data: Any, path: Path) -> None:
    """Write a table by the kind of its path; no index, no metadata but the kind's own."""
    kind = _kind(path)
    if hasattr(data, "to_crs"):
        if kind in (".parquet", ".pq"):
            data.to_parquet(path, index=False)
        else:
            data.to_file(path, index=False)
    elif kind in (".parquet", ".pq"):
        data.to_parquet(path, index=False)
    elif kind in (".xlsx", ".xls"):
        data.to_excel(path, index=False)
    else:
        data.to_csv(path, index=False)
