"""Great-circle distances between unit vectors, by a chord and a polynomial arcsine.

The angle between unit vectors p and q is 2 asin(|p - q| / 2), and pi minus 2 asin(|p + q| / 2): the shorter of the two
chords keeps full accuracy from coinciding points to antipodes. asin(sqrt(m)) / sqrt(m) is smooth in m, so a polynomial
in m replaces the library's arcsine, which no compiler turns into vector instructions.
"""

from __future__ import annotations

import numpy as np

from reident.base import EARTH_RADIUS_KM
from reident.kernels._numba import fused, jit

# Highest m = (chord / 2)^2 for which the short polynomial holds: points within 1,275 km of each other.
NEAR = 0.01


def _arcsine_series(highest: float, degree: int) -> tuple[float, ...]:
    """Fit 2 R asin(sqrt(m)) / sqrt(m) on [0, highest] at Chebyshev nodes; coefficients from the constant up."""
    nodes = np.polynomial.chebyshev.chebpts1(4 * degree)
    m = 0.5 * highest * (nodes + 1)
    values = 2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(m)) / np.sqrt(m)
    fitted = np.polynomial.Chebyshev.fit(m, values, degree, domain=[0, highest])
    return tuple(float(c) for c in fitted.convert(kind=np.polynomial.Polynomial, domain=[-1, 1]).coef)


_SHORT = _arcsine_series(NEAR, 5)
_LONG = _arcsine_series(0.5, 12)
_HALF_TURN = np.pi * EARTH_RADIUS_KM


@fused
def _short_series(m):
    a, b, c, d, e, f = _SHORT
    return a + m * (b + m * (c + m * (d + m * (e + m * f))))


@fused
def _long_series(m):
    a, b, c, d, e, f, g, h, i, j, k, n, o = _LONG
    high = g + m * (h + m * (i + m * (j + m * (k + m * (n + m * o)))))
    return a + m * (b + m * (c + m * (d + m * (e + m * (f + m * high)))))


@jit
def arc_km(px, py, pz, qx, qy, qz):
    """Distance of any two points, to a hundredth of a millimetre."""
    apart = (px - qx) ** 2 + (py - qy) ** 2 + (pz - qz) ** 2
    across = (px + qx) ** 2 + (py + qy) ** 2 + (pz + qz) ** 2
    m = 0.25 * min(apart, across)
    arc = np.sqrt(m) * _long_series(m)
    return arc if apart <= across else _HALF_TURN - arc


@jit
def _near_km(px, py, pz, qx, qy, qz):
    """Return the distance of two points with a squared half chord of at most NEAR."""
    m = 0.25 * ((px - qx) ** 2 + (py - qy) ** 2 + (pz - qz) ** 2)
    return np.sqrt(m) * _short_series(m)


def all_near(p, q):
    """Tell whether every point of p and of q lies so close to their common mean that all pairs are near."""
    points = np.concatenate([p, q], axis=1)
    if points.shape[1] == 0:
        return True
    widest = ((points - points.mean(axis=1, keepdims=True)) ** 2).sum(axis=0).max()
    # Two points are at most twice the widest radius apart, so their half chord squared is at most its square.
    return bool(widest <= NEAR)


@jit
def great_circle_cross(p, q, near, out):
    """Write distances, km, between every p (3, n) and every q (3, m) into `out` (n, m), modified in place.

    `near` tells whether all of them are (`all_near`); parts of a matrix must get the same value. The caller allocates:
    numpy asks for huge pages, which numba's own arrays do not get, and new pages cost more than the distances.
    """
    for i in range(p.shape[1]):
        px, py, pz = p[0, i], p[1, i], p[2, i]
        if near:
            for j in range(q.shape[1]):
                out[i, j] = _near_km(px, py, pz, q[0, j], q[1, j], q[2, j])
        else:
            for j in range(q.shape[1]):
                out[i, j] = arc_km(px, py, pz, q[0, j], q[1, j], q[2, j])


@jit
def great_circle_pairs(p, q):
    """Return distances, km, between p[:, i] and q[:, i]: shape (n,)."""
    out = np.empty(p.shape[1])
    for i in range(p.shape[1]):
        out[i] = arc_km(p[0, i], p[1, i], p[2, i], q[0, i], q[1, i], q[2, i])
    return out
