"""Attack. Compute population density from a public list of places, an outline, or both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import shapely
from scipy.ndimage import gaussian_filter

from reident.base import (
    BoolArray,
    DataError,
    FloatArray,
    ParameterError,
    check_area,
    check_positive,
    check_table,
    check_vector,
)
from reident.location.spherical_mds import RADIUS_KM
from reident.places.points import degrees, read_places, unit_vectors, without_strays

# The blur of the search's three looks, as multiples of the homes' own scatter around their place: 40, 20 and 11 km.
BLURS = (40 / 11, 20 / 11, 1.0)
# Blur of the surroundings, for a file that covers only a part of the country.
_SURROUNDINGS = 60 / 11
# Share of homes that may be anywhere, and the cost of a home outside the outline in a file of unknown coverage, nats.
_ANYWHERE, _OFF_LAND = 0.03, 3.0
# Cells a scatter, and the widest map in cells: a continent gets coarser cells instead of no memory.
_CELLS_A_SCATTER, _WIDEST = 5.5, 1600


class PopulationDensity:
    """Log population density at several blurs, in the plane that touches the globe at the centre of the country.

    Parameters
    ----------
    places : DataFrame or None
        `lat_deg`, `lon_deg`, and `population` if known (otherwise all places count alike).
    area : polygon or None
        Outline outside which no one lives.
    scatter_km : float
        Standard deviation, in each direction, of homes around their place.
    part : bool
        Whether the file may cover a part of the country only: densities are then compared with their surroundings, so
        that a place far from the big cities has no lower score.
    """

    def __init__(self, places: pd.DataFrame | None, area: Any, *, scatter_km: float, part: bool = False) -> None:
        self.scatter_km = check_positive(scatter_km, "scatter_km")
        self.part = part
        outline = None if area is None else check_area(area)
        vectors, weight = _listed(places)
        near = without_strays(vectors)
        vectors, weight = vectors[near], weight[near]
        if outline is None and not len(vectors):
            raise ParameterError("`places` or `area` must be given: records are aligned with one of them")
        border = np.empty((0, 3)) if outline is None else unit_vectors(*shapely.get_coordinates(outline).T[::-1])
        self.axes = _frame(vectors if len(vectors) else border)
        flat_km = RADIUS_KM * np.vstack([vectors, border]) @ self.axes.T
        if (flat_km[:, 2] <= 0.3 * RADIUS_KM).any():
            raise DataError("`places` and `area` must lie in one part of the world: they span more than a continent")
        half = np.abs(flat_km[:, :2]).max() + 3 * BLURS[0] * scatter_km
        self.cell_km = max(scatter_km / _CELLS_A_SCATTER, 2 * half / _WIDEST)
        self.side = 2 * int(np.ceil(half / self.cell_km)) + 1
        self.inside = self._inside(outline)
        mass = self.inside / self.inside.sum() if not len(vectors) else self._spread(vectors, weight)
        self._density = mass / self.cell_km**2
        #: Log density of a record off the map.
        self.outside = -_OFF_LAND if part else float(np.log(_ANYWHERE) - 2 * np.log(self.side * self.cell_km))
        self._cache: dict[float, FloatArray] = {}
        #: Surface, km^2, on which a wrong map could put a record: the outline's, or that of the places' hull.
        self.surface_km2 = hull_km2(vectors) if outline is None else float(self.inside.sum()) * self.cell_km**2

    @property
    def scale(self) -> float:
        """Cells a radian."""
        return RADIUS_KM / self.cell_km

    def cells(self, x: FloatArray) -> FloatArray:
        """Return points in cells from the map's corner, shape (n, 2)."""
        return np.ascontiguousarray(self.scale * x @ self.axes[:2].T + (self.side - 1) / 2)

    def vectors(self, cells: FloatArray) -> FloatArray:
        """Return the unit vectors of places given in cells from the map's corner."""
        flat = (cells - (self.side - 1) / 2) / self.scale
        up = np.sqrt(np.clip(1 - (flat**2).sum(axis=-1, keepdims=True), 0, 1))
        return np.ascontiguousarray(np.concatenate([flat, up], axis=-1) @ self.axes)

    def log_density(self, blur: float) -> FloatArray:
        """Return the logs of the density, per km^2, blurred by a multiple of the scatter."""
        if blur not in self._cache:
            log = np.log(self._blurred(blur))
            if self.part:
                log = np.where(self.inside, log - np.log(self._blurred(_SURROUNDINGS)), -_OFF_LAND)
            self._cache[blur] = log
        return self._cache[blur]

    def _blurred(self, blur: float) -> FloatArray:
        cells = blur * self.scatter_km / self.cell_km
        density = gaussian_filter(self._density, cells, mode="constant", truncate=4)
        if blur <= 1.5:
            density = np.where(self.inside, density, 0.0)
            density /= density.sum() * self.cell_km**2
        anywhere = 1 / (self.side * self.cell_km) ** 2
        return (1 - _ANYWHERE) * density + _ANYWHERE * anywhere

    def _inside(self, outline: Any) -> BoolArray:
        if outline is None:
            return np.ones((self.side, self.side), dtype=bool)
        steps = np.arange(self.side, dtype=np.float64)
        lat, lon = degrees(self.vectors(np.stack(np.meshgrid(steps, steps, indexing="ij"), axis=-1).reshape(-1, 2)))
        west = outline.bounds[0]
        inside = np.asarray(shapely.contains_xy(outline, (lon - west) % 360 + west, lat))
        if not inside.any():
            raise ParameterError(f"`area` must be wider than a cell of the map ({self.cell_km:g} km): none is inside")
        return inside.reshape(self.side, self.side)

    def _spread(self, vectors: FloatArray, weight: FloatArray) -> FloatArray:
        """Return shares of the population in cells; a place counts for the four around it."""
        mass = np.zeros((self.side, self.side))
        where = self.cells(vectors)
        corner = where.astype(np.int64)
        part = where - corner
        for a in (0, 1):
            for b in (0, 1):
                share = np.abs(1 - a - part[:, 0]) * np.abs(1 - b - part[:, 1])
                np.add.at(mass, (corner[:, 0] + a, corner[:, 1] + b), weight * share)
        return mass / mass.sum()


def _listed(places: pd.DataFrame | None) -> tuple[FloatArray, FloatArray]:
    """Return the places as unit vectors and their populations."""
    if places is None:
        return np.empty((0, 3)), np.empty(0)
    vectors = unit_vectors(*read_places(check_table(places, "places"), "places"))
    if "population" not in places:
        return vectors, np.ones(len(vectors))
    weight = check_vector(places["population"], "population", length=len(vectors))
    if (weight < 0).any() or not weight.any():
        raise DataError(f"`population` must not be negative nor all zero, got a minimum of {weight.min():g}")
    return vectors[weight > 0], weight[weight > 0]


def hull_km2(x: FloatArray) -> float:
    """Return the area of the convex hull of places, km^2: where a wrong map could put a record."""
    flat = RADIUS_KM * x @ np.linalg.svd(x.mean(axis=0)[None])[2][1:].T
    return max(float(shapely.MultiPoint(flat).convex_hull.area), 1.0)


def _frame(vectors: FloatArray) -> FloatArray:
    """Return the directions east, north and up at the middle of some places."""
    up = vectors.mean(axis=0)
    up /= np.linalg.norm(up)
    # At a pole every direction is as good as east.
    pole = np.array([0.0, 0.0, 1.0]) if abs(up[2]) < 0.999 else np.array([1.0, 0.0, 0.0])
    east = np.cross(pole, up)
    east /= np.linalg.norm(east)
    return np.stack([east, np.cross(up, east), up])
