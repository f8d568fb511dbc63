"""Attack. Spherical multidimensional scaling: points on the sphere from distances, and motions of point sets."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.sparse.linalg import eigsh

from reident.base import EARTH_RADIUS_KM, BoolArray, FloatArray, IntArray
from reident.kernels.location import registration

# Multiples of the smallest standard deviation up to which distances may count as sure.
_LADDER = (1.6, 4.0, 8.0, 16.0, 32.0)
# The rung that leaves parts where none reaches this share of the records.
_PARTS, _NEARLY_ALL = 4.0, 0.9

# Records above which so many landmarks fix the frame; other records are placed so many at once.
_MANY, _LANDMARKS, _AT_ONCE = 3000, 1500, 500

RADIUS_KM = EARTH_RADIUS_KM


def gaps_km(p: FloatArray, q: FloatArray) -> FloatArray:
    """Return the distances, km, between corresponding unit vectors (by chords: exact for small gaps)."""
    return np.asarray(2 * RADIUS_KM * np.arcsin(np.clip(np.linalg.norm(p - q, axis=-1) / 2, 0, 1)))


def procrustes(p: FloatArray, q: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return the orthogonal matrix (a rotation, perhaps with a mirror) that best brings points p to q."""
    w = np.ones(p.shape[0]) if weight is None else weight
    u, _, vt = np.linalg.svd((q * w[:, None]).T @ p)
    return np.asarray(u @ vt)


@dataclass(frozen=True, eq=False)
class Shape:
    """Points on the sphere, in a frame of their own, and the distances that they were fitted to.

    Attributes
    ----------
    x : ndarray, shape (n, 3)
        Unit vectors.
    fixed : ndarray of int, shape (m,)
        The records that fix the frame: all, or landmarks among many; the others follow from their distances to these.
    distances_km, sd_km : ndarray, shape (m, m)
        Distances with chains in place of unsure ones, and their standard deviations (None: all count alike).
    part : ndarray of int, shape (n,)
        Records with the same number are connected by chains of sure distances. All have 0 where no standard deviations
        were given, or chains reach nearly all.
    """

    x: FloatArray
    fixed: IntArray
    distances_km: FloatArray
    sd_km: FloatArray | None
    part: IntArray
    _all: tuple[FloatArray, FloatArray | None]

    def follow(self, moved: FloatArray) -> FloatArray:
        """Return all points (n, 3) where `fixed` were moved: these there, the others by their distances to these."""
        distances_km, sd_km = self._all
        n = len(distances_km)
        if len(self.fixed) == n:
            return moved
        x = np.empty((n, 3))
        for first in range(0, n, _AT_ONCE):
            rows = slice(first, first + _AT_ONCE)
            x[rows] = _placed(moved, distances_km[rows, self.fixed], None if sd_km is None else sd_km[rows, self.fixed])
        x[self.fixed] = moved
        return x


def fit_shape(distances_km: FloatArray, sd_km: FloatArray | None = None) -> Shape:
    """Fit points on the sphere to a released matrix.

    Scaling on the sphere (the three leading eigenvectors of the cosines of the angles), then Gauss-Newton steps point
    by point under robust weights. With standard deviations, the sure distances are chained first, and a chain replaces
    a distance that is less sure than the chain. Of more than 3,000 records, half of that many fix the frame; the
    others are placed by their distances to these.
    """
    n = len(distances_km)
    fixed, km, sd = np.arange(n), distances_km, sd_km
    if n > _MANY:
        fixed = np.unique(np.linspace(0, n - 1, _LANDMARKS).astype(np.int64))
        square = np.ix_(fixed, fixed)
        km, sd = km[square], None if sd is None else sd[square]
    weight, part = np.ones_like(km), np.zeros(len(fixed), dtype=np.int64)
    if sd is not None:
        km, sd, part = _chained(km, sd)
        weight = _inverse_squares(sd, usable_pairs(sd))
    x = refit(_scaled(km), km, weight)
    shape = Shape(x, fixed, km, sd, part, (distances_km, sd_km))
    if n == len(fixed):
        return shape
    placed = shape.follow(x)
    return replace(shape, x=placed, part=part[(placed @ x.T).argmax(axis=1)])


def fit_parts(distances_km: FloatArray, sd_km: FloatArray | None, min_records: int) -> list[tuple[IntArray, Shape]]:
    """Return all records with their shape, and each part of at least `min_records` that has a shape of its own."""
    whole = fit_shape(distances_km, sd_km)
    shapes = [(np.arange(len(distances_km)), whole)]
    for number in range(whole.part.max() + 1 if whole.part.any() else 0):
        rows = np.flatnonzero(whole.part == number)
        if len(rows) >= min_records:
            square = np.ix_(rows, rows)
            shapes.append((rows, fit_shape(distances_km[square], None if sd_km is None else sd_km[square])))
    return shapes


def _placed(fixed: FloatArray, km: FloatArray, sd: FloatArray | None) -> FloatArray:
    """Return points at given distances, shape (m, k), from fixed ones: the best linear guess, then the robust fit.

    Distances whose deviation is 0 or infinite do not count; a record with fewer than three lies at the nearest point.
    """
    sure = np.ones_like(km) if sd is None else _inverse_squares(sd, (sd > 0) & np.isfinite(sd))
    angle = km / RADIUS_KM
    # A cosine is the surer, the smaller its angle.
    weight = sure / np.maximum(np.sin(angle) ** 2, 1e-9) if sd is not None else sure
    squares = (weight @ (fixed[:, :, None] * fixed[:, None]).reshape(-1, 9)).reshape(-1, 3, 3)
    stiff = 1e-9 * np.trace(squares, axis1=1, axis2=2)[:, None, None] * np.eye(3) + 1e-300 * np.eye(3)
    x = np.linalg.solve(squares + stiff, ((weight * np.cos(angle)) @ fixed)[:, :, None])[:, :, 0]
    lost = (sure > 0).sum(axis=1) < 3
    x[lost] = fixed[np.where(sure[lost] > 0, angle[lost], 2 * np.pi).argmin(axis=1)]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return refit(np.concatenate([fixed, x]), km, np.where(lost[:, None], 0.0, sure))[len(fixed) :]


def _scaled(distances_km: FloatArray) -> FloatArray:
    cosine = np.cos(distances_km / RADIUS_KM)
    n = cosine.shape[0]
    if n > 20:
        # The start vector is fixed: the same matrix gives the same shape.
        values, vectors = eigsh(cosine, k=3, which="LA", v0=np.linspace(1, 2, n))
    else:
        values, vectors = (part[..., -3:] for part in np.linalg.eigh(cosine))
    x = vectors * np.sqrt(np.maximum(values, 1e-15))
    return np.ascontiguousarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def usable_pairs(sd_km: FloatArray) -> BoolArray:
    """Return the pairs with a finite standard deviation above 0 of their distance."""
    return (sd_km > 0) & np.isfinite(sd_km) & ~np.eye(len(sd_km), dtype=bool)


def _inverse_squares(sd_km: FloatArray, usable: BoolArray) -> FloatArray:
    """Return the weights of deviations, the largest 1."""
    weight = np.where(usable, 1.0 / np.where(usable, sd_km, 1.0) ** 2, 0.0)
    return np.asarray(weight / max(float(weight.max()), 1e-300))


def _chained(distances_km: FloatArray, sd_km: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return distances and deviations with the shortest chain of sure distances in place of a less sure one.

    Distances are sure up to the smallest deviation of a ladder at which chains reach nearly all records; if none does,
    up to the middle rung, which leaves parts. A chain is longer than the straight way: its deviation grows with it.
    """
    usable = usable_pairs(sd_km)
    lowest = float(sd_km[usable].min())
    part = np.zeros(len(sd_km), dtype=np.int64)
    for factor in _LADDER:
        sure, graph, which = _sure_graph(distances_km, sd_km, usable, factor * lowest)
        if np.bincount(which).max() >= _NEARLY_ALL * len(which):
            break
    else:
        sure, graph, part = _sure_graph(distances_km, sd_km, usable, _PARTS * lowest)
    chain = shortest_path(graph, directed=False)
    chain_sd = 10 * lowest + 0.1 * np.where(np.isfinite(chain), chain, 0.0)
    own_sd = np.where(usable, sd_km, np.inf)
    better = np.isfinite(chain) & (chain_sd < own_sd) & ~sure & ~np.eye(len(chain), dtype=bool)
    return np.where(better, chain, distances_km), np.where(better, chain_sd, sd_km), part


def _sure_graph(
    distances_km: FloatArray, sd_km: FloatArray, usable: BoolArray, most_km: float
) -> tuple[BoolArray, csr_array, IntArray]:
    """Return the distances with at most that deviation as mask and graph, and each record's component."""
    sure = usable & (sd_km <= most_km)
    graph = csr_array(np.where(sure, np.maximum(distances_km, 1e-6), 0.0))
    return sure, graph, connected_components(graph, directed=False)[1].astype(np.int64)


def refit(
    x: FloatArray,
    distances_km: FloatArray,
    weight: FloatArray,
    *,
    pins: FloatArray | None = None,
    pin_weight: FloatArray | None = None,
    sweeps: int = 60,
) -> FloatArray:
    """Move the last m points to fit distances (m, k) from the first k under weights, and the pinned to their pins."""
    angle = np.ascontiguousarray(distances_km / RADIUS_KM)
    x = x.copy()
    m, k = distances_km.shape
    fitted = np.arccos(np.clip(x[-m:] @ x[:k].T, -1, 1))
    used = (weight * (fitted - angle) ** 2)[weight > 0]
    # A distance loses half its weight at five times the typical residual.
    scale = 25 * max(float(np.median(used)), 1e-16) if used.size else 1.0
    if pins is None or pin_weight is None:
        pins, pin_weight = x.copy(), np.zeros(x.shape[0])
    registration.refine_shape(x, angle, weight, pins, pin_weight, scale, sweeps, 1e-3 / RADIUS_KM)
    return x
