"""Read the places of a table, degrees, and write moved places into a copy of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reident.base import (
    BoolArray,
    DataError,
    FloatArray,
    ParameterError,
    check_array,
    check_columns,
    check_coordinates,
    check_table,
    check_text,
)

LAT, LON = "lat_deg", "lon_deg"

#: Latitudes and longitudes, degrees.
Coordinates = tuple[FloatArray, FloatArray]


def unit_vectors(lat_deg: ArrayLike, lon_deg: ArrayLike) -> FloatArray:
    """Return places as unit vectors, shape (n, 3)."""
    lat, lon = (np.radians(np.asarray(angles, dtype=np.float64)) for angles in (lat_deg, lon_deg))
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)


def without_strays(vectors: FloatArray) -> BoolArray:
    """Return which vectors lie no further from the middle of all than twenty times the distance of nine in ten.

    A few records at 0, 0 would otherwise stretch a map over half the world.
    """
    if not len(vectors):
        return np.zeros(0, dtype=bool)
    away = np.linalg.norm(vectors - np.median(vectors, axis=0), axis=1)
    return np.asarray(away <= 20 * np.quantile(away, 0.9))


def degrees(vectors: FloatArray) -> Coordinates:
    """Return the latitudes and longitudes of vectors."""
    x, y, z = vectors.T
    return np.degrees(np.arctan2(z, np.hypot(x, y))), np.degrees(np.arctan2(y, x))


def longitudes_within(lon_deg: FloatArray, low: float = -180, high: float = 180) -> FloatArray:
    """Bring longitudes outside [low, high] back by whole turns."""
    return np.where((lon_deg < low) | (lon_deg > high), (lon_deg - low) % 360 + low, lon_deg)


def longitudes_like(lon_deg: FloatArray, others: FloatArray) -> FloatArray:
    """Bring longitudes into the range that others keep: [-180, 180], [0, 360], or both where they mix them."""
    high = 360 if (others > 180).any() else 180
    return longitudes_within(lon_deg, 0 if high == 360 and not (others < 0).any() else -180, high)


def find_places(points: Any, name: str = "points") -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return latitudes and longitudes, degrees, NaN where there is none, and which records have an impossible place.

    Impossible is a place that is not finite or outside [-90, 90] or [-180, 360] degrees. A missing coordinate, or a
    missing or empty geometry, is no place. `points` that are no GeoDataFrame of points with a CRS of the earth and no
    table with ``lat_deg`` and ``lon_deg`` are refused.
    """
    check_table(points, name, min_records=0)
    if hasattr(points, "to_crs"):
        if points.crs is None:
            raise DataError(f"`{name}` must have a CRS: without one its coordinates could be degrees or metres")
        check_crs(points.crs, name)
        missing = (points.geometry.isna() | points.geometry.is_empty).to_numpy(bool)
        other = np.flatnonzero((points.geometry.geom_type != "Point").to_numpy() & ~missing)
        if other.size:
            kind = points.geometry.geom_type.iloc[other[0]]
            remedy = "`explode` parts them" if kind == "MultiPoint" else "`centroid` gives points"
            raise DataError(f"`{name}` must hold points only, got a {kind} at position {other[0]}: {remedy}")
        places = points.geometry.to_crs("EPSG:4326")
        lat, lon = places.y.to_numpy(float), places.x.to_numpy(float)
    else:
        check_columns(points, [LAT, LON], name, table_name=name)
        missing = (points[LAT].isna() | points[LON].isna()).to_numpy(bool)
        lat, lon = (check_array(points[column].where(~missing, np.nan), column) for column in (LAT, LON))
    with np.errstate(invalid="ignore"):
        possible = (np.abs(lat) <= 90) & (lon >= -180) & (lon <= 360)
    lat, lon = (np.where(possible & ~missing, values, np.nan) for values in (lat, lon))
    return lat, lon, ~possible & ~missing


def read_places(points: Any, name: str = "points") -> Coordinates:
    """Return latitudes and longitudes, degrees, of a GeoDataFrame of points or of a table with coordinate columns.

    A missing or impossible place is refused (see `find_places`).
    """
    if not hasattr(points, "to_crs"):
        check_table(points, name, min_records=0)
        check_columns(points, [LAT, LON], name, table_name=name)
        return check_coordinates(points[LAT], points[LON], lat_name=LAT, lon_name=LON)
    lat, lon, impossible = find_places(points, name)
    bad = np.flatnonzero(np.isnan(lat) & ~impossible)
    if bad.size:
        raise DataError(f"`{name}` must not have empty geometries, got {bad.size}, the first at position {bad[0]}")
    bad = np.flatnonzero(impossible)
    if bad.size:
        raise DataError(
            f"`{name}` must hold places on the earth, got {points.geometry.iloc[bad[0]]} at position {bad[0]} "
            f"({bad.size} such place(s)): are these metres of another CRS?"
        )
    return lat, lon


def check_crs(crs: Any, name: str) -> Any:
    """Return a coordinate system of the earth's surface, or None; refuse any other."""
    if crs is None:
        return None
    if not hasattr(crs, "to_wkt"):
        check_text(crs, name)
    import geopandas as gpd

    try:
        system = gpd.GeoSeries([], crs=crs).crs
    except RuntimeError:  # that of pyproj
        raise ParameterError(f"`{name}` must name a coordinate system, such as EPSG:25832, got {crs!r}") from None
    is_earth = system.ellipsoid is not None and abs(system.ellipsoid.semi_major_metre / 6_378_137 - 1) < 0.01
    if not (system.is_geographic or system.is_projected) or system.is_geocentric or not is_earth:
        raise ParameterError(
            f"`{name}` must be a geographic or projected coordinate system of the earth, got {system.name!r}: "
            "transform the coordinates to one, such as EPSG:4326"
        )
    return crs


def degrees_of(east: FloatArray, north: FloatArray, crs: str) -> Coordinates:
    """Return latitudes and longitudes, degrees, of coordinates in a reference system."""
    import geopandas as gpd

    places = gpd.GeoSeries(gpd.points_from_xy(east, north, crs=crs)).to_crs("EPSG:4326")
    return places.y.to_numpy(float), places.x.to_numpy(float)


def projected(lat: FloatArray, lon: FloatArray, crs: Any) -> Coordinates:
    """Return east and north in a reference system of latitudes and longitudes, degrees."""
    import geopandas as gpd

    places = gpd.GeoSeries(gpd.points_from_xy(lon, lat, crs="EPSG:4326")).to_crs(crs)
    return places.x.to_numpy(float), places.y.to_numpy(float)


def write_places(points: Any, lat: FloatArray, lon: FloatArray, keep: BoolArray | None = None) -> Any:
    """Return a copy of `points` at other places, without the records that `keep` leaves out.

    Type, index, other columns, CRS, the name of the geometry column and the range of longitudes stay; height (z) is
    dropped, because it would help to find the true place.
    """
    moved = points.copy()
    if not hasattr(points, "to_crs"):
        moved[LAT], moved[LON] = lat, longitudes_like(lon, points[LON].to_numpy(float))
    else:
        import geopandas as gpd

        is_wgs84 = points.crs == "EPSG:4326"
        lon = longitudes_like(lon, points.geometry.x.to_numpy()) if is_wgs84 else longitudes_within(lon)
        wgs84 = gpd.GeoSeries(gpd.points_from_xy(lon, lat, crs="EPSG:4326"), index=points.index)
        moved[points.geometry.name] = wgs84.set_crs(points.crs) if is_wgs84 else wgs84.to_crs(points.crs)
    return moved if keep is None else moved[np.asarray(keep)]


def same_kind(points: Any, candidates: Any) -> None:
    """Refuse a mixture of a GeoDataFrame and a plain table: their units may differ."""
    if hasattr(points, "to_crs") != hasattr(candidates, "to_crs"):
        raise DataError(
            "`points` and `candidates` must both be GeoDataFrames or both be tables, got "
            f"{type(points).__name__} and {type(candidates).__name__}"
        )
    if hasattr(points, "to_crs") and candidates.crs is not None and points.crs != candidates.crs:
        raise DataError(
            f"`candidates` must have the CRS of `points` ({points.crs.to_string()}), got "
            f"{candidates.crs.to_string()}: transform it first"
        )
