"""Attack. The shape of a released distance matrix: points on the sphere, and the motions that lay them on others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.sparse.linalg import eigsh

from reident._types import BoolArray, FloatArray, IntArray
from reident.kernels.places import registration, sphere

__all__ = [
    "RADIUS_KM",
    "Shape",
    "degrees",
    "fit_shape",
    "gaps_km",
    "procrustes",
    "recover_shape",
    "refit",
    "unit_vectors",
]

# Multiples of the smallest standard deviation up to which distances may count as sure.
_LADDER = (1.6, 4.0, 8.0, 16.0, 32.0)
# The rung that leaves parts where none reaches this share of the records.
_PARTS, _NEARLY_ALL = 4.0, 0.9

# Records above which, where all distances count alike, so many of them fix the frame and the others are placed by their
# distances to these; records placed at once, and steps that each takes at most.
_MANY, _LANDMARKS, _AT_ONCE, _STEPS = 3000, 1500, 500, 20

RADIUS_KM = sphere.EARTH_RADIUS_KM


def unit_vectors(lat_deg: ArrayLike, lon_deg: ArrayLike) -> FloatArray:
    """Return places as unit vectors, shape (n, 3)."""
    lat, lon = (np.radians(np.asarray(angles, dtype=np.float64)) for angles in (lat_deg, lon_deg))
    return np.ascontiguousarray(sphere.unit_vectors(lat, lon).T)


def degrees(vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the latitudes and longitudes of unit vectors."""
    x, y, z = vectors.T
    return np.degrees(np.arctan2(z, np.hypot(x, y))), np.degrees(np.arctan2(y, x))


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
    distances_km, sd_km : ndarray, shape (n, n)
        Distances with chains in place of unsure ones, and their standard deviations (None: all count alike).
    part : ndarray of int, shape (n,)
        Records with the same number hang together by chains of sure distances. Everybody has 0 where no standard
        deviations were given, or chains reach nearly all.
    misfit : float
        Median gap between the fitted and the given distances, in their standard deviations: the self-check. Near 0
        where the sure distances are kept; above 1 the shape contradicts what it was made from. nan without deviations.
    """

    x: FloatArray
    distances_km: FloatArray
    sd_km: FloatArray | None
    part: IntArray
    misfit: float


def recover_shape(distances_km: FloatArray, sd_km: FloatArray | None = None, *, sweeps: int = 60) -> FloatArray:
    """Return points on the sphere, in a frame of their own, whose distances fit a released matrix."""
    return fit_shape(distances_km, sd_km, sweeps=sweeps).x


def fit_shape(distances_km: FloatArray, sd_km: FloatArray | None = None, *, sweeps: int = 60) -> Shape:
    """Fit points on the sphere to a released matrix.

    Scaling on the sphere (the three leading eigenvectors of the cosines of the angles), then Gauss-Newton steps point
    by point under robust weights. With standard deviations, the sure distances are chained first, and a chain stands
    in for a distance that is less sure than the chain. Of more than 3,000 records whose distances count alike, half of
    that many fix the frame; the others are placed by their distances to these.
    """
    n = len(distances_km)
    if sd_km is None and n > _MANY:
        x = _by_landmarks(distances_km, sweeps)
        return Shape(x, distances_km, None, np.zeros(n, dtype=np.int64), float("nan"))
    if sd_km is None:
        return Shape(
            refit(_scaled(distances_km), distances_km, np.ones((n, n)), sweeps=sweeps),
            distances_km, None, np.zeros(n, dtype=np.int64), float("nan"),
        )  # fmt: skip
    chained, sd, part = _chained(distances_km, sd_km)
    x = refit(_scaled(chained), chained, _weights(sd), sweeps=sweeps)
    usable = _usable(sd_km)
    fitted = RADIUS_KM * np.arccos(np.clip(x @ x.T, -1, 1))
    misfit = float(np.median(np.abs(fitted - distances_km)[usable] / sd_km[usable]))
    return Shape(x, chained, sd, part, misfit)


def _by_landmarks(distances_km: FloatArray, sweeps: int) -> FloatArray:
    n = len(distances_km)
    chosen = np.unique(np.linspace(0, n - 1, _LANDMARKS).astype(np.int64))
    fixed = fit_shape(distances_km[np.ix_(chosen, chosen)], sweeps=sweeps).x
    x = np.empty((n, 3))
    for first in range(0, n, _AT_ONCE):
        rows = slice(first, first + _AT_ONCE)
        x[rows] = _placed(fixed, distances_km[rows, chosen] / RADIUS_KM)
    x[chosen] = fixed
    return x


def _placed(fixed: FloatArray, angle: FloatArray) -> FloatArray:
    """Return points at given angles, shape (m, k), from fixed ones: the best linear guess, then robust Gauss-Newton."""
    x = np.cos(angle) @ np.linalg.pinv(fixed).T
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    for _ in range(_STEPS):
        cosine = np.clip(x @ fixed.T, -1, 1)
        off = np.arccos(cosine) - angle
        slope = (cosine[:, :, None] * x[:, None] - fixed) / np.sqrt(np.maximum(1 - cosine**2, 1e-18))[:, :, None]
        scale = 25 * np.maximum(np.median(off**2, axis=1, keepdims=True), 1e-16)
        pull = (slope * (1 / (1 + off**2 / scale) ** 2)[:, :, None]).swapaxes(1, 2)
        # A step along x itself changes no angle.
        step = np.linalg.solve(pull @ slope + x[:, :, None] * x[:, None], pull @ off[:, :, None])[:, :, 0]
        x -= step
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        if np.abs(step).max() < 1e-3 / RADIUS_KM:
            break
    return x


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


def _usable(sd_km: FloatArray) -> BoolArray:
    return (sd_km > 0) & np.isfinite(sd_km) & ~np.eye(len(sd_km), dtype=bool)


def _weights(sd_km: FloatArray) -> FloatArray:
    usable = _usable(sd_km)
    weight = np.where(usable, 1.0 / np.where(usable, sd_km, 1.0) ** 2, 0.0)
    return np.asarray(weight / weight.max())


def _chained(distances_km: FloatArray, sd_km: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return distances and deviations in which the shortest chain of sure distances stands in for a less sure one.

    As sure counts the smallest standard deviation of a ladder at which chains reach nearly all records. If none does,
    chains hold within the parts that the middle rung leaves. A chain is longer than the straight way and counts for
    less, the more so the longer.
    """
    usable = _usable(sd_km)
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
