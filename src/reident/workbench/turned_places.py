"""Places that were moved, turned, mirrored or scaled all together: the motion is found by laying map on map."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from reident.base import BoolArray, FloatArray
from reident.places.points import degrees_of

__all__ = ["turned_back"]

#: The share of the points that a motion must lay within this part of the usual gap between neighbours.
_ALIKE, _NEAR = 0.9, 0.2
#: Points by which a motion is sought, headings in which the maps are laid first, and rounds of laying.
_SOUGHT, _HEADINGS, _ROUNDS = 400, 36, 12
#: Points and distinct places from which on agreement is no accident.
_LEAST = 20


def turned_back(points: FloatArray, lat: FloatArray, lon: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return the degrees of points in an unknown plane, shape (n, 2), None where no motion lays them on known places.

    `lat` and `lon` are the known places, degrees. They are laid in metres of their zone, and as degrees on squared
    paper, by a shift, a turn, one scale, mirrored or not: the points' own axes first, then 36 headings.
    """
    known, there = _finite(points), _finite(np.stack([lat, lon], axis=1))
    distinct = len(np.unique(points[known], axis=0)) if known.any() else 0
    if distinct < _LEAST or len(np.unique(lat[there])) < _LEAST or np.ptp(points[known], axis=0).min() == 0:
        return None
    system = _zone(lat[there], lon[there])
    for in_metres in (True, False):
        east_north = (lon[there], lat[there])
        plane = _metres(lat[there], lon[there], system) if in_metres else np.stack(east_north, axis=1)
        motion = _motion(points[known], np.unique(plane, axis=0))
        if motion is None:
            continue
        turn, shift = motion
        laid = points[known] @ turn.T + shift
        found = np.full((2, len(points)), np.nan)
        found[:, known] = degrees_of(laid[:, 0], laid[:, 1], system) if in_metres else laid.T[::-1]
        return found[0], found[1]
    return None


def _finite(points: FloatArray) -> BoolArray:
    return np.asarray(np.isfinite(points).all(axis=1))


def _zone(lat: FloatArray, lon: FloatArray) -> str:
    return f"EPSG:{(32700 if np.median(lat) < 0 else 32600) + int((np.median(lon) + 180) % 360 // 6) + 1}"


def _metres(lat: FloatArray, lon: FloatArray, system: str) -> FloatArray:
    import geopandas as gpd

    there = gpd.GeoSeries(gpd.points_from_xy(lon, lat, crs="EPSG:4326")).to_crs(system)
    return np.stack([there.x.to_numpy(float), there.y.to_numpy(float)], axis=1)


def _motion(points: FloatArray, plane: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return the turn with its scale, and the shift, that lay points on those of a plane."""
    tree = cKDTree(plane)
    gap = float(np.median(tree.query(plane, k=2)[0][:, 1]))
    some = points[np.random.default_rng(0).permutation(len(points))[:_SOUGHT]]
    centre, middle = points.mean(axis=0), plane.mean(axis=0)
    scale = np.sqrt(plane.var(axis=0).sum() / points.var(axis=0).sum())
    own, theirs = (np.linalg.eigh(np.cov(one.T))[1] for one in (points, plane))
    starts = [theirs @ np.diag(signs) @ own.T for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
    for heading in 2 * np.pi * np.arange(_HEADINGS) / _HEADINGS:
        turn = np.array([[np.cos(heading), -np.sin(heading)], [np.sin(heading), np.cos(heading)]])
        starts += [turn, turn @ np.diag([1.0, -1.0])]
    for start in starts:
        turn, shift = scale * start, middle - scale * start @ centre
        for _ in range(_ROUNDS):
            far, place = tree.query(some @ turn.T + shift)
            if (far <= _NEAR * gap).mean() >= _ALIKE:
                return _settled(some, plane, tree, turn, shift)
            turn, shift = _laid(some, plane[place])
    return None


def _settled(
    points: FloatArray, plane: FloatArray, tree: cKDTree, turn: FloatArray, shift: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return a motion, settled on the nearest nine of ten pairs."""
    for _ in range(_ROUNDS):
        far, place = tree.query(points @ turn.T + shift)
        near = far <= np.quantile(far, _ALIKE)
        turn, shift = _laid(points[near], plane[place[near]])
    return turn, shift


def _laid(points: FloatArray, onto: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the turn, mirrored or not, with one scale, and the shift that bring points nearest to others (Umeyama)."""
    centre, middle = points.mean(axis=0), onto.mean(axis=0)
    left, size, right = np.linalg.svd((onto - middle).T @ (points - centre))
    turn = left @ right * (size.sum() / ((points - centre) ** 2).sum())
    return turn, middle - turn @ centre
