"""Points drawn uniformly on the sphere inside an area, many at a time.

A polygon's edges are straight in longitude and latitude, as geometry libraries and most map files mean them. Uniform is
meant on the sphere: a square degree near a pole gets as many points as its share of the surface, not as a square degree
at the equator.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from reident.base import BoolArray, DataError, FloatArray, Generator, IntArray, ParameterError, check_area
from reident.places.points import Coordinates, longitudes_within, unit_vectors

#: Draws after which a record finds no place within its area.
_ROUNDS = 10_000

# Cells a side of the grid that tells most draws inside or outside without a look at the outline.
_CELLS = 48


class AreaSampler:
    """Draw points uniformly on the sphere inside an area; a bare polygon is longitudes and latitudes in degrees.

    The bounding box is cut into cells of equal surface (equal steps of longitude and of the sine of latitude). Draws go
    to the cells that touch the area; only in a cell that the outline crosses is a draw compared with the outline.
    """

    def __init__(self, area: Any) -> None:
        self.geometry, self._step, self._x, self._z, self._inside = _cells(check_area(area))

    def contains(self, lat_deg: FloatArray, lon_deg: FloatArray) -> BoolArray:
        """Tell for each point whether it lies inside the area."""
        return np.asarray(shapely.contains_xy(self.geometry, lon_deg, lat_deg), dtype=bool)

    def draw(self, size: int, rng: Generator) -> Coordinates:
        """Return `size` latitudes and longitudes in degrees."""
        lat, lon = np.empty(size), np.empty(size)
        filled = 0
        # Rejection: a rare sliver needs rounds; an area without interior cannot fill any.
        for _ in range(10_000):
            wanted = size - filled
            if wanted == 0:
                return lat, lon
            x, y = self._propose(int(wanted * 1.1) + 8, rng)
            accepted = min(wanted, x.size)
            lon[filled : filled + accepted], lat[filled : filled + accepted] = x[:accepted], y[:accepted]
            filled += accepted
        raise ParameterError("`area` is too thin to draw points in: none of 10,000 rounds filled the sets")

    def draw_vectors(self, shape: tuple[int, ...], rng: Generator) -> FloatArray:
        """Return points as unit vectors, shape (*shape, 3)."""
        return unit_vectors(*self.draw(int(np.prod(shape)), rng)).reshape(*shape, 3)

    def _propose(self, size: int, rng: Generator) -> Coordinates:
        cell = rng.integers(self._x.size, size=size)
        offset = rng.random((2, size))
        x = self._x[cell] + offset[0] * self._step[0]
        y = np.rad2deg(np.arcsin(np.clip(self._z[cell] + offset[1] * self._step[1], -1.0, 1.0)))
        keep = self._inside[cell]
        doubtful = np.flatnonzero(~keep)
        keep[doubtful] = shapely.contains_xy(self.geometry, x[doubtful], y[doubtful])
        return x[keep], y[keep]


@lru_cache(maxsize=16)
def _cells(geometry: BaseGeometry) -> tuple[BaseGeometry, FloatArray, FloatArray, FloatArray, BoolArray]:
    """Return the prepared outline, a cell's size, the corners of the cells that touch it, and which lie inside."""
    west, south, east, north = geometry.bounds
    low, high = np.sin(np.deg2rad([south, north]))
    columns, rows = (grid.ravel() for grid in np.meshgrid(np.arange(_CELLS), np.arange(_CELLS)))
    step = np.array([(east - west) / _CELLS, (high - low) / _CELLS])
    x = west + columns * step[0]
    z = np.clip(low + rows * step[1], -1.0, 1.0)
    z_next = np.clip(z + step[1], -1.0, 1.0)
    boxes = shapely.box(x, np.rad2deg(np.arcsin(z)), x + step[0], np.rad2deg(np.arcsin(z_next)))
    shapely.prepare(geometry)
    touched = shapely.intersects(geometry, boxes)
    return geometry, step, x[touched], z[touched], shapely.contains_properly(geometry, boxes[touched])


def areas_of(areas: Any, lat: FloatArray, lon: FloatArray, name: str = "areas") -> IntArray:
    """Return the number of the first area that holds each place, its border too, -1 for none."""
    which = np.full(lat.size, -1, dtype=np.int64)
    place, area = shapely.STRtree(polygons_of(areas, name)).query(
        shapely.points(longitudes_within(lon), lat), predicate="intersects"
    )
    # The last assignment wins, so the first area is written last.
    order = np.argsort(-area, kind="stable")
    which[place[order]] = area[order]
    return which


def polygons_of(areas: Any, name: str) -> Any:
    """Return the polygons of a frame with a CRS, in degrees."""
    if not hasattr(areas, "to_crs") or areas.crs is None:
        raise DataError(
            f"`{name}` must be a GeoDataFrame or GeoSeries of polygons with a CRS, got {type(areas).__name__}"
        )
    if other := sorted(set(areas.geometry.geom_type.dropna()) - {"Polygon", "MultiPolygon"}):
        raise DataError(f"`{name}` must hold polygons, got {', '.join(other)}")
    return areas.geometry.to_crs("EPSG:4326").to_numpy()


def drawn_within(
    container: Any, lat: FloatArray, lon: FloatArray, draw: Callable[[IntArray], Coordinates]
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Draw places again until each lies in the area of its true place; return them and which ones have been placed.

    `draw` takes positions of places and returns their new latitudes and longitudes. Not placed are those outside all
    areas of the `container`, which are drawn once, and those without a place after 10,000 draws.
    """
    new_lat, new_lon = lat.copy(), lon.copy()
    wanted = np.arange(lat.size)
    new_lat[wanted], new_lon[wanted] = draw(wanted)
    if container is None:
        return new_lat, new_lon, np.ones(lat.size, dtype=bool)
    area = areas_of(container, lat, lon, "container")
    for _ in range(_ROUNDS):
        wanted = wanted[areas_of(container, new_lat[wanted], new_lon[wanted]) != area[wanted]]
        wanted = wanted[area[wanted] >= 0]
        if not wanted.size:
            break
        new_lat[wanted], new_lon[wanted] = draw(wanted)
    is_placed = area >= 0
    is_placed[wanted] = False
    return new_lat, new_lon, is_placed


def nearest_within(container: Any, which: IntArray | None, lat: FloatArray, lon: FloatArray) -> Coordinates:
    """Return the nearest places within numbered areas, within their union for None; -1 leaves a place where it is."""
    polygons = polygons_of(container, "container")
    area = np.full(lat.size, shapely.union_all(polygons)) if which is None else polygons[which]
    points = shapely.points(longitudes_within(lon), lat)
    outside = ~shapely.intersects(area, points) & (True if which is None else which >= 0)
    lat, lon = lat.copy(), lon.copy()
    nearest = shapely.get_point(shapely.shortest_line(area[outside], points[outside]), 0)
    lat[outside], lon[outside] = shapely.get_y(nearest), shapely.get_x(nearest)
    return lat, lon


def warn_left_out(keep: BoolArray, problem: str) -> None:
    """Warn of the records that a mask leaves out since a public input does not cover them."""
    if not keep.all():
        rows = np.flatnonzero(~keep)
        listed = ", ".join(str(row + 1) for row in rows[:5]) + (", ..." if rows.size > 5 else "")
        warnings.warn(f"{rows.size} record(s) {problem} (record {listed})", stacklevel=3)
