"""Attack. Align a cloud of points with an outline."""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely
from scipy.ndimage import distance_transform_edt, map_coordinates
from scipy.optimize import minimize

from reident.base import FloatArray
from reident.location.spherical_mds import RADIUS_KM, gaps_km, procrustes
from reident.places.points import unit_vectors

# Cells a side of the map of distances from the area, directions tried, steps of shifts, starts refined, walk.
_CELLS, _TURNS, _SHIFTS, _STARTS, _WALK = 400, 72, 7, 12, 3000


def align_inside(points: FloatArray, area: Any, rng: np.random.Generator) -> tuple[FloatArray, float]:
    """Return the motion, perhaps with a mirror, that brings unit vectors inside an area, and the spread of others, km.

    Least sum of the distances outside; then the mean over a random walk among the motions that are about as good, since
    points that do not touch the border leave many.
    """
    board = _Board(points, area)
    rough = sorted(
        (board.outside_km(np.array([turn, *shift]), mirror), mirror, turn, *shift)
        for mirror in (1.0, -1.0)
        for turn in np.linspace(0, 2 * np.pi, _TURNS, endpoint=False)
        for shift in board.shifts
    )
    size = np.array([0.06, *(2 * [0.05 * board.width])])
    best: tuple[float, FloatArray, float] = (np.inf, np.zeros(3), 1.0)
    for _, mirror, *start in rough[:_STARTS]:
        simplex = np.array(start) + np.vstack([np.zeros(3), np.diag(size)])
        result = minimize(
            board.outside_km, start, args=(mirror,), method="Nelder-Mead",
            options={"initial_simplex": simplex, "maxiter": 500},
        )  # fmt: skip
        if result.fun < best[0]:
            best = float(result.fun), result.x, mirror
    cost, at, mirror = best
    step = size * [0.07, 0.05, 0.05]
    places, now, now_cost = [], at, cost
    for turn in range(_WALK):
        tried = now + rng.normal(0, step)
        tried_cost = board.outside_km(tried, mirror)
        if tried_cost <= now_cost or rng.random() < np.exp(now_cost - tried_cost):
            now, now_cost = tried, tried_cost
        if turn > _WALK // 8 and turn % 10 == 0:
            places.append(board.placed(now, mirror))
    mean = np.mean(places, axis=0)
    spread = float(np.sqrt(((np.array(places) - mean) ** 2).sum(axis=2).mean(axis=0)).mean())
    target = board.to_sphere(mean)
    motion = procrustes(points, target)
    return motion, spread + float(gaps_km(points @ motion.T, target).mean())


class _Board:
    """The plane that touches the globe at the centre of the area: distances from it, and the points to be laid."""

    def __init__(self, points: FloatArray, area: Any) -> None:
        centre = area.centroid
        lon = np.radians(centre.x)
        self._up = unit_vectors([centre.y], [centre.x])[0]
        east = np.array([-np.sin(lon), np.cos(lon), 0.0])
        self._axes = np.stack([east, np.cross(self._up, east)])
        outline = shapely.transform(area, lambda ll: self._to_plane(unit_vectors(ll[:, 1], ll[:, 0])))
        low, high = np.array(outline.bounds[:2]), np.array(outline.bounds[2:])
        self.width = float((high - low).max())
        self._low = low - self.width / 2
        self._cell = 2 * self.width / _CELLS
        grid = self._low + self._cell * np.stack(np.meshgrid(*2 * [np.arange(_CELLS)], indexing="ij"), axis=-1)
        shapely.prepare(outline)
        self._outside = distance_transform_edt(~shapely.contains_xy(outline, grid[..., 0], grid[..., 1])) * self._cell
        steps = np.linspace(-0.3, 0.3, _SHIFTS) * self.width
        self.shifts = [(a, b) for a in steps for b in steps]
        middle = points.mean(axis=0)
        middle /= np.linalg.norm(middle)
        self._flat = self._to_plane(points @ procrustes(_frame(middle), _frame(self._up)).T)

    def _to_plane(self, vectors: FloatArray) -> FloatArray:
        """Return the points at their distance and direction from the centre, km."""
        along = vectors @ self._axes.T
        angle = np.arctan2(np.linalg.norm(along, axis=1), vectors @ self._up)
        return np.asarray(RADIUS_KM * (angle / np.maximum(np.sin(angle), 1e-15))[:, None] * along)

    def to_sphere(self, plane: FloatArray) -> FloatArray:
        """Return the unit vectors of points of the plane."""
        angle = np.linalg.norm(plane, axis=1)[:, None] / RADIUS_KM
        return np.asarray(np.cos(angle) * self._up + np.sinc(angle / np.pi) * (plane / RADIUS_KM) @ self._axes)

    def placed(self, at: FloatArray, mirror: float) -> FloatArray:
        """Return the points turned by ``at[0]`` and moved by the rest, km."""
        cosine, sine = np.cos(at[0]), np.sin(at[0])
        return np.asarray(self._flat * [1, mirror] @ np.array([[cosine, sine], [-sine, cosine]]) + at[1:])

    def outside_km(self, at: FloatArray, mirror: float) -> float:
        """Return the sum of the distances from the area, a tenth of its width at most each."""
        cells = (self.placed(at, mirror) - self._low) / self._cell
        outside = map_coordinates(self._outside, cells.T, order=1, mode="nearest")
        return float(np.minimum(outside, 0.1 * self.width).sum())


def _frame(up: FloatArray) -> FloatArray:
    """Return three vectors at right angles, the first as given."""
    frame = np.linalg.svd(up[None])[2]
    return np.asarray(frame * np.sign(frame[0] @ up))
