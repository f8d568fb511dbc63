"""Directions at a point of the sphere, moves along them, and crossings of circles.

Points are unit vectors, distances km.
"""

import numpy as np

from reident.base import EARTH_RADIUS_KM
from reident.kernels._numba import jit
from reident.kernels.places.sphere import arc_km


@jit
def km_between(p, q):
    """Return the distance of two points."""
    return arc_km(p[0], p[1], p[2], q[0], q[1], q[2])


@jit
def lead_away(p, q, out):
    """Write the direction at p, a unit tangent, that leads straight away from q; return the distance, km."""
    a, b, c = p[0] - q[0], p[1] - q[1], p[2] - q[2]
    along = a * p[0] + b * p[1] + c * p[2]
    a, b, c = a - along * p[0], b - along * p[1], c - along * p[2]
    length = max(np.sqrt(a * a + b * b + c * c), 1e-300)
    out[0], out[1], out[2] = a / length, b / length, c / length
    return km_between(p, q)


@jit
def tangents(p, east, north):
    """Write two unit tangents at p, at right angles."""
    if abs(p[2]) < 0.9:
        length = max(np.sqrt(p[0] * p[0] + p[1] * p[1]), 1e-300)  # a point that is not located yet is 0
        east[0], east[1], east[2] = -p[1] / length, p[0] / length, 0.0
    else:
        length = np.sqrt(p[1] * p[1] + p[2] * p[2])
        east[0], east[1], east[2] = 0.0, -p[2] / length, p[1] / length
    north[0] = p[1] * east[2] - p[2] * east[1]
    north[1] = p[2] * east[0] - p[0] * east[2]
    north[2] = p[0] * east[1] - p[1] * east[0]


@jit
def move(p, east, north, by_east, by_north):
    """Move p, in place, along two tangents by km."""
    for a in range(3):
        p[a] += (by_east * east[a] + by_north * north[a]) / EARTH_RADIUS_KM
    length = max(np.sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]), 1e-300)
    for a in range(3):
        p[a] /= length


@jit
def dot(p, q):
    """Return the scalar product."""
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]


@jit
def chord2(p, q):
    """Return the square of the chord between two points, in radii."""
    a, b, c = p[0] - q[0], p[1] - q[1], p[2] - q[2]
    return a * a + b * b + c * c


@jit
def copy_point(out, p):
    """Write p into `out`."""
    for a in range(3):
        out[a] = p[a]


@jit
def cross_circles(p, p_km, q, q_km, out):
    """Write the two points at given distances from p and q into `out` (2, 3); False if the circles do not meet."""
    cosine = dot(p, q)
    sine2 = 1.0 - cosine * cosine
    if sine2 < 1e-14:
        return False
    to_p, to_q = np.cos(p_km / EARTH_RADIUS_KM), np.cos(q_km / EARTH_RADIUS_KM)
    alpha, beta = (to_p - cosine * to_q) / sine2, (to_q - cosine * to_p) / sine2
    rest = (1.0 - alpha * alpha - beta * beta - 2 * alpha * beta * cosine) / sine2
    if rest < 0:
        return False
    gamma = np.sqrt(rest)
    normal = (p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0])
    for a in range(3):
        out[0, a] = alpha * p[a] + beta * q[a] + gamma * normal[a]
        out[1, a] = alpha * p[a] + beta * q[a] - gamma * normal[a]
    return True


@jit
def solve_symmetric(h00, h01, h02, h11, h12, h22, g0, g1, g2):
    """Solve three equations with a symmetric matrix by Cramer's rule; zeros if it is not positive definite."""
    m00, m01, m02 = h11 * h22 - h12 * h12, h02 * h12 - h01 * h22, h01 * h12 - h02 * h11
    m11, m12, m22 = h00 * h22 - h02 * h02, h01 * h02 - h00 * h12, h00 * h11 - h01 * h01
    determinant = h00 * m00 + h01 * m01 + h02 * m02
    if determinant <= 0.0:
        return 0.0, 0.0, 0.0
    s0 = (m00 * g0 + m01 * g1 + m02 * g2) / determinant
    s1 = (m01 * g0 + m11 * g1 + m12 * g2) / determinant
    s2 = (m02 * g0 + m12 * g1 + m22 * g2) / determinant
    return s0, s1, s2
