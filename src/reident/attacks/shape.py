"""The shape of a released distance matrix: points on the sphere, and the motions that lay them on others."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.sparse.linalg import eigsh

from reident._typing import FloatArray
from reident.kernels import registration, sphere

__all__ = ["RADIUS_KM", "degrees", "gaps_km", "procrustes", "recover_shape", "refit", "unit_vectors"]

# Multiples of the smallest standard deviation up to which distances may count as sure.
_LADDER = (1.6, 4.0, 8.0, 16.0, 32.0)

RADIUS_KM = sphere.EARTH_RADIUS_KM


def unit_vectors(lat_deg: ArrayLike, lon_deg: ArrayLike) -> FloatArray:
    """Return places as unit vectors, shape (n, 3)."""
    return np.ascontiguousarray(sphere.unit_vectors(np.radians(lat_deg), np.radians(lon_deg)).T)


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


def recover_shape(distances_km: FloatArray, sd_km: FloatArray | None = None, *, sweeps: int = 60) -> FloatArray:
    """Return points on the sphere, in a frame of their own, whose distances fit a released matrix.

    Scaling on the sphere (the three leading eigenvectors of the cosines of the angles), then Gauss-Newton steps point
    by point under robust weights. With standard deviations, the sure distances are chained first, and the chains stand
    in for the unsure ones.
    """
    weight = np.ones_like(distances_km)
    if sd_km is not None:
        distances_km, weight = _chained(distances_km, sd_km)
    cosine = np.cos(distances_km / RADIUS_KM)
    n = cosine.shape[0]
    if n > 20:
        # The start vector is fixed: the same matrix gives the same shape.
        values, vectors = eigsh(cosine, k=3, which="LA", v0=np.linspace(1, 2, n))
    else:
        values, vectors = (part[..., -3:] for part in np.linalg.eigh(cosine))
    x = vectors * np.sqrt(np.maximum(values, 1e-15))
    x = np.ascontiguousarray(x / np.linalg.norm(x, axis=1, keepdims=True))
    return refit(x, distances_km, weight, sweeps=sweeps)


def _chained(distances_km: FloatArray, sd_km: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return distances and weights in which the shortest chain of sure distances stands in for an unsure one.

    As sure counts the smallest standard deviation of a ladder at which chains reach nearly all records; if none does,
    the distances stay as they are. A chain is longer than the straight way and counts for less, the more so the longer.
    """
    usable = (sd_km > 0) & np.isfinite(sd_km) & ~np.eye(len(sd_km), dtype=bool)
    weight = np.where(usable, 1.0 / np.where(usable, sd_km, 1.0) ** 2, 0.0)
    lowest = float(sd_km[usable].min())
    for factor in _LADDER:
        sure = usable & (sd_km <= factor * lowest)
        graph = csr_array(np.where(sure, np.maximum(distances_km, 1e-6), 0.0))
        _, part = connected_components(graph, directed=False)
        if np.bincount(part).max() >= 0.9 * len(part):
            break
    else:
        return distances_km, weight / weight.max()
    if not (usable & ~sure).any():
        return distances_km, weight / weight.max()
    chain = shortest_path(graph, directed=False)
    reached = np.isfinite(chain) & ~sure & ~np.eye(len(chain), dtype=bool)
    distances_km = np.where(reached, chain, distances_km)
    weight = np.where(reached, 1.0 / (10 * lowest + 0.1 * np.where(reached, chain, 0.0)) ** 2, weight)
    return distances_km, weight / weight.max()


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
