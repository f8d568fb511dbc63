"""Reading places out of a table and writing moved ones back into a copy of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from reident.base import (
    BoolArray,
    DataError,
    FloatArray,
    ParameterError,
    check_columns,
    check_coordinates,
    check_table,
    check_text,
)

LAT, LON = "lat_deg", "lon_deg"


def sphere_vectors(lat_deg: FloatArray, lon_deg: FloatArray) -> FloatArray:
    """Return places as unit vectors, shape (n, 3), by numpy's sines: no kernel is compiled for a mask."""
    lat, lon = np.radians(lat_deg), np.radians(lon_deg)
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)


def degrees(vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the latitudes and longitudes of vectors."""
    x, y, z = vectors.T
    return np.degrees(np.arctan2(z, np.hypot(x, y))), np.degrees(np.arctan2(y, x))


def longitudes_in_range(lon_deg: FloatArray) -> FloatArray:
    """Bring longitudes that left [-180, 360] back by whole turns; leave the others in the caller's convention."""
    return np.where((lon_deg < -180) | (lon_deg > 360), (lon_deg + 180) % 360 - 180, lon_deg)


def read_places(points: Any, name: str = "points") -> tuple[FloatArray, FloatArray]:
    """Return latitudes and longitudes, degrees, of a GeoDataFrame of points or of a table with coordinate columns.

    Raises
    ------
    DataError, ParameterError
        If `points` is neither, has no CRS, an empty, missing or non-point geometry, or coordinates out of range.
    """
    check_table(points, name, min_records=0)
    if not hasattr(points, "to_crs"):
        check_columns(points, [LAT, LON], name, table_name=name)
        return check_coordinates(points[LAT], points[LON], lat_name=LAT, lon_name=LON)
    if points.crs is None:
        raise DataError(f"`{name}` must have a CRS: without one its coordinates could be degrees or metres")
    geometry = points.geometry
    bad = np.flatnonzero(geometry.isna() | geometry.is_empty)
    if bad.size:
        raise DataError(f"`{name}` must not have empty geometries, got {bad.size}, the first at position {bad[0]}")
    other = np.flatnonzero(geometry.geom_type != "Point")
    if other.size:
        kind = geometry.geom_type.iloc[other[0]]
        raise DataError(f"`{name}` must hold points only, got a {kind} at position {other[0]}")
    places = geometry.to_crs("EPSG:4326")
    return check_coordinates(places.y, places.x, lat_name=f"{name} latitude", lon_name=f"{name} longitude")


def check_crs(crs: str | None, name: str) -> str | None:
    """Return the name of a coordinate system that there is, or None.

    Raises
    ------
    ParameterError
        If there is none of this name.
    """
    check_text(crs, name)
    if crs is not None:
        import geopandas as gpd

        try:
            gpd.GeoSeries([], crs=crs)
        except RuntimeError:  # that of pyproj
            raise ParameterError(f"`{name}` must name a coordinate system, such as EPSG:25832, got {crs!r}") from None
    return crs


def degrees_of(east: FloatArray, north: FloatArray, crs: str) -> tuple[FloatArray, FloatArray]:
    """Return latitudes and longitudes, degrees, of coordinates in a reference system; RuntimeError without such one."""
    import geopandas as gpd

    there = gpd.GeoSeries(gpd.points_from_xy(east, north, crs=crs)).to_crs("EPSG:4326")
    return there.y.to_numpy(float), there.x.to_numpy(float)


def write_places(points: Any, lat: FloatArray, lon: FloatArray, keep: BoolArray | None = None) -> Any:
    """Return a copy of `points` at other places, without the records that `keep` leaves out.

    Type, index, other columns, CRS and the name of the geometry column stay; height (z) is dropped, because it would
    help to find the true place.
    """
    moved = points.copy()
    if not hasattr(points, "to_crs"):
        moved[LAT], moved[LON] = lat, lon
    else:
        import geopandas as gpd

        there = gpd.GeoSeries(gpd.points_from_xy(lon, lat, crs="EPSG:4326"), index=points.index).to_crs(points.crs)
        moved[points.geometry.name] = there
    return moved if keep is None else moved[np.asarray(keep)]


def same_kind(points: Any, candidates: Any) -> None:
    """Refuse a mixture of a GeoDataFrame and a plain table: nobody could tell in which units they meet."""
    if hasattr(points, "to_crs") != hasattr(candidates, "to_crs"):
        raise DataError(
            "`points` and `candidates` must both be GeoDataFrames or both be tables, got "
            f"{type(points).__name__} and {type(candidates).__name__}"
        )
    if hasattr(points, "to_crs") and candidates.crs is not None and points.crs != candidates.crs:
        raise DataError(
            f"`candidates` must have the CRS of `points` ({_crs_name(points)}), got {_crs_name(candidates)}: "
            "transform it first"
        )


def _crs_name(frame: pd.DataFrame) -> str:
    return str(frame.crs.to_string())
