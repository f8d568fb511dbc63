"""Points drawn uniformly on the sphere inside an area, many at a time.

A polygon's edges are straight in longitude and latitude, as geometry libraries and most map files mean them. Uniform is
meant on the sphere: a square degree near a pole gets as many points as its share of the surface, not as a square degree
at the equator.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from reident.base import BoolArray, FloatArray, ParameterError, check_area
from reident.places.points import sphere_vectors

__all__ = ["AreaSampler"]

# Cells a side of the grid that tells most draws inside or outside without a look at the outline.
_CELLS = 48


class AreaSampler:
    """Draw points uniformly on the sphere inside an area.

    The bounding box is cut into cells of equal surface (equal steps of longitude and of the sine of latitude). Draws go
    to the cells that touch the area; only in a cell that the outline crosses is a draw compared with the outline, and
    rejected where it falls outside or into a hole.

    Parameters
    ----------
    area : Polygon, MultiPolygon, GeoSeries or GeoDataFrame
        A bare polygon is taken as longitudes and latitudes in degrees.
    """

    def __init__(self, area: Any) -> None:
        self.geometry, self._step, self._x, self._z, self._inside = _cells(check_area(area))

    def contains(self, lat_deg: FloatArray, lon_deg: FloatArray) -> BoolArray:
        """Tell for each point whether it lies inside the area."""
        return np.asarray(shapely.contains_xy(self.geometry, lon_deg, lat_deg), dtype=bool)

    def draw(self, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
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

    def draw_vectors(self, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        """Return points as unit vectors, shape (*shape, 3)."""
        return sphere_vectors(*self.draw(int(np.prod(shape)), rng)).reshape(*shape, 3)

    def _propose(self, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
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
    """Return the prepared outline, a cell's size, the corners of the cells that touch it, and which lie wholly inside.

    A small draw takes a hundredth of the time of this, and many are made in the same few areas.
    """
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
