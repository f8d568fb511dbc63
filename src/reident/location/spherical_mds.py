"""Attack. Spherical multidimensional scaling: points on the sphere from distances, and motions of point sets."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.sparse.linalg import eigsh

from reident.base import EARTH_RADIUS_KM, BoolArray, FloatArray, IntArray
from reident.kernels.location import registration

__all__ = [
    "RADIUS_KM",
    "Shape",
    "fit_shape",
    "gaps_km",
    "procrustes",
    "recover_shape",
    "refit",
    "usable_pairs",
]

# Multiples of the smallest standard deviation up to which distances may count as sure.
_LADDER = (1.6, 4.0, 8.0, 16.0, 32.0)
# The rung that leaves parts where none reaches this share of the records.
_PARTS, _NEARLY_ALL = 4.0, 0.9

# Records above which so many of them fix the frame and the others are placed by their distances to these; records
# placed at once, and steps that each takes at most.
_MANY, _LANDMARKS, _AT_ONCE, _STEPS = 3000, 1500, 500, 20

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
        The records that fix the frame: all, or some of many; the others follow from their distances to these.
    distances_km, sd_km : ndarray, shape (m, m)
        Distances with chains in place of unsure ones, and their standard deviations (None: all count alike).
    part : ndarray of int, shape (n,)
        Records with the same number hang together by chains of sure distances. Everybody has 0 where no standard
        deviations were given, or chains reach nearly all.
    misfit : float
        Median gap between the fitted and the given distances, in their standard deviations: the self-check. Near 0
        where the sure distances are kept; above 1 the shape contradicts what it was made from. nan without deviations.
    """

    x: FloatArray
    fixed: IntArray
    distances_km: FloatArray
    sd_km: FloatArray | None
    part: IntArray
    misfit: float
    _given: tuple[FloatArray, FloatArray | None]

    def follow(self, moved: FloatArray) -> FloatArray:
        """Return all points (n, 3) where those that fix the frame were moved: these there, the others by distance."""
        if len(self.fixed) == len(self.x):
            return moved
        distances, sd = self._given
        x = np.empty_like(self.x)
        for first in range(0, len(x), _AT_ONCE):
            rows = slice(first, first + _AT_ONCE)
            own = None if sd is None else sd[rows, self.fixed]
            x[rows] = _placed(moved, distances[rows, self.fixed] / RADIUS_KM, own)
        x[self.fixed] = moved
        return x


def recover_shape(distances_km: FloatArray, sd_km: FloatArray | None = None, *, sweeps: int = 60) -> FloatArray:
    """Return points on the sphere, in a frame of their own, whose distances fit a released matrix."""
    return fit_shape(distances_km, sd_km, sweeps=sweeps).x


def fit_shape(distances_km: FloatArray, sd_km: FloatArray | None = None, *, sweeps: int = 60) -> Shape:
    """Fit points on the sphere to a released matrix.

    Scaling on the sphere (the three leading eigenvectors of the cosines of the angles), then Gauss-Newton steps point
    by point under robust weights. With standard deviations, the sure distances are chained first, and a chain stands
    in for a distance that is less sure than the chain. Of more than 3,000 records, half of that many fix the frame; the
    others are placed by their distances to these.
    """
    n, given = len(distances_km), (distances_km, sd_km)
    fixed = np.arange(n)
    if n > _MANY:
        fixed = np.unique(np.linspace(0, n - 1, _LANDMARKS).astype(np.int64))
        square = np.ix_(fixed, fixed)
        distances_km, sd_km = distances_km[square], None if sd_km is None else sd_km[square]
    if sd_km is None:
        x = refit(_scaled(distances_km), distances_km, np.ones_like(distances_km), sweeps=sweeps)
        found = Shape(x, fixed, distances_km, None, np.zeros(len(fixed), dtype=np.int64), float("nan"), given)
    else:
        chained, sd, part = _chained(distances_km, sd_km)
        x = refit(_scaled(chained), chained, _inverse_squares(sd, usable_pairs(sd)), sweeps=sweeps)
        usable = usable_pairs(sd_km)
        fitted = RADIUS_KM * np.arccos(np.clip(x @ x.T, -1, 1))
        misfit = float(np.median(np.abs(fitted - distances_km)[usable] / sd_km[usable]))
        found = Shape(x, fixed, chained, sd, part, misfit, given)
    if n == len(fixed):
        return found
    everybody = replace(found, x=np.empty((n, 3))).follow(x)
    return replace(found, x=everybody, part=found.part[(everybody @ x.T).argmax(axis=1)])


def _placed(fixed: FloatArray, angle: FloatArray, sd: FloatArray | None) -> FloatArray:
    """Return points at given angles, shape (m, k), from fixed ones: the best linear guess, then robust Gauss-Newton.

    Angles whose deviation is 0 or infinite do not count; who has fewer than three others lies at the nearest point.
    """
    sure = np.ones_like(angle) if sd is None else _inverse_squares(sd, (sd > 0) & np.isfinite(sd))
    # A cosine is the surer, the smaller its angle.
    weight = sure / np.maximum(np.sin(angle) ** 2, 1e-9) if sd is not None else sure
    squares = (weight @ (fixed[:, :, None] * fixed[:, None]).reshape(-1, 9)).reshape(-1, 3, 3)
    stiff = 1e-9 * np.trace(squares, axis1=1, axis2=2)[:, None, None] * np.eye(3) + 1e-300 * np.eye(3)
    x = np.linalg.solve(squares + stiff, ((weight * np.cos(angle)) @ fixed)[:, :, None])[:, :, 0]
    lost = (sure > 0).sum(axis=1) < 3
    x[lost] = fixed[np.where(sure[lost] > 0, angle[lost], 2 * np.pi).argmin(axis=1)]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    for _ in range(_STEPS):
        cosine = np.clip(x @ fixed.T, -1, 1)
        off = np.arccos(cosine) - angle
        slope = (cosine[:, :, None] * x[:, None] - fixed) / np.sqrt(np.maximum(1 - cosine**2, 1e-18))[:, :, None]
        square = sure * off**2
        scale = 25 * np.maximum(_median_of(square, sure > 0), 1e-16)
        pull = (slope * (sure / (1 + square / scale) ** 2)[:, :, None]).swapaxes(1, 2)
        # A step along x itself changes no angle.
        along = x[:, :, None] * x[:, None] * np.maximum(sure.sum(axis=1), 1e-9)[:, None, None]
        step = np.linalg.solve(pull @ slope + along + 1e-12 * np.eye(3), pull @ off[:, :, None])[:, :, 0]
        step[lost] = 0.0
        x -= step
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        if np.abs(step).max() < 1e-3 / RADIUS_KM:
            break
    return x


def _median_of(values: FloatArray, counted: BoolArray) -> FloatArray:
    """Return the median of each row over what counts, shape (m, 1); 0 where nothing does."""
    n = counted.sum(axis=1)
    ordered = np.sort(np.where(counted, values, np.inf), axis=1)
    rows = np.arange(len(values))
    low, high = (ordered[rows, np.minimum(k, values.shape[1] - 1)] for k in (np.maximum(n - 1, 0) // 2, n // 2))
    return np.where(n > 0, (low + high) / 2, 0.0)[:, None]


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
    """Tell which pairs have a distance that is known to some deviation."""
    return (sd_km > 0) & np.isfinite(sd_km) & ~np.eye(len(sd_km), dtype=bool)


def _inverse_squares(sd_km: FloatArray, usable: BoolArray) -> FloatArray:
    """Return the weights of deviations, the largest 1."""
    weight = np.where(usable, 1.0 / np.where(usable, sd_km, 1.0) ** 2, 0.0)
    return np.asarray(weight / max(float(weight.max()), 1e-300))


def _chained(distances_km: FloatArray, sd_km: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return distances and deviations in which the shortest chain of sure distances stands in for a less sure one.

    As sure counts the smallest standard deviation of a ladder at which chains reach nearly all records. If none does,
    chains hold within the parts that the middle rung leaves. A chain is longer than the straight way and counts for
    less, the more so the longer.
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
    """Return which distances are at least so sure, their graph, and each record's component of it."""
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
    """Return `x` moved to fit distances under weights, and pinned points to their pins."""
    angle = np.ascontiguousarray(distances_km / RADIUS_KM)
    x = x.copy()
    fitted = np.arccos(np.clip(x @ x.T, -1, 1))
    used = (weight * (fitted - angle) ** 2)[weight > 0]
    # A distance loses half its weight at five times the typical residual.
    scale = 25 * max(float(np.median(used)), 1e-16) if used.size else 1.0
    if pins is None or pin_weight is None:
        pins, pin_weight = x.copy(), np.zeros(x.shape[0])
    registration.refine_shape(x, angle, weight, pins, pin_weight, scale, sweeps, 1e-3 / RADIUS_KM)
    return x
