"""Trilateration of one secret point with unknown shift and sign; linearised equations of all.

A column of values belongs to distances sign value + shift from the nearest place of a set; sign and shift are unknown.
Points are unit vectors, distances km.
"""

import numpy as np

from reident.kernels._argsort import argsort
from reident.kernels._numba import jit
from reident.kernels.location.tangents import (
    copy_point,
    dot,
    km_between,
    lead_away,
    move,
    solve_symmetric,
    tangents,
)  # fmt: skip


@jit
def fit_cone(x, value, r, shift, scale, steps):
    """Move r, in place, and the shift so that the distances of x to r are `value` plus the shift; returns the shift.

    Levenberg steps under weights that deviations above `scale` km lose.
    """
    m = x.shape[0]
    east, north, away, trial = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    damp, cost = 1e-3, 0.0
    for y in range(m):
        e = km_between(r, x[y]) - value[y] - shift
        cost += e * e / (scale * scale + e * e)
    for _ in range(steps):
        tangents(r, east, north)
        h00 = h01 = h02 = h11 = h12 = h22 = g0 = g1 = g2 = 0.0
        for y in range(m):
            e = lead_away(r, x[y], away) - value[y] - shift
            w = (scale * scale / (scale * scale + e * e)) ** 2
            a, b = dot(away, east), dot(away, north)
            h00, h01, h02 = h00 + w * a * a, h01 + w * a * b, h02 - w * a
            h11, h12, h22 = h11 + w * b * b, h12 - w * b, h22 + w
            g0, g1, g2 = g0 + w * a * e, g1 + w * b * e, g2 - w * e
        h00, h11, h22 = h00 + (damp * h00 + 1e-9), h11 + (damp * h11 + 1e-9), h22 + (damp * h22 + 1e-9)
        right, up, longer = solve_symmetric(h00, h01, h02, h11, h12, h22, g0, g1, g2)
        copy_point(trial, r)
        move(trial, east, north, -right, -up)
        new = 0.0
        for y in range(m):
            e = km_between(trial, x[y]) - value[y] - shift + longer
            new += e * e / (scale * scale + e * e)
        if new < cost:
            copy_point(r, trial)
            shift -= longer
            damp = max(damp / 6, 1e-12)
            if cost - new < 1e-9 * cost:
                break
            cost = new
        else:
            damp *= 8
            if damp > 1e6:
                break
    return shift


@jit
def search_cone(x, value, sign, width, n_top, out, shifts):
    """Write the best places of one reference for distances sign value + shift, on rings round x, and their shifts.

    Returns their costs: the sum of deviations, each cut at `width` km.
    """
    m = x.shape[0]
    centre = np.empty(3)
    for a in range(3):
        centre[a] = 0.0
        for y in range(m):
            centre[a] += x[y, a]
    centre /= np.sqrt(dot(centre, centre))
    east, north, p = np.empty(3), np.empty(3), np.empty(3)
    tangents(centre, east, north)
    costs = np.full(n_top, np.inf)
    rest = np.empty(m)
    for ring in range(24):
        radius = 1.5 * (100.0 ** (ring / 23.0))
        for turn in range(64):
            angle = 2 * np.pi * turn / 64
            copy_point(p, centre)
            move(p, east, north, radius * np.cos(angle), radius * np.sin(angle))
            for y in range(m):
                rest[y] = km_between(p, x[y]) - sign * value[y]
            order = argsort(rest)
            shift = (rest[order[(m - 1) // 2]] + rest[order[m // 2]]) / 2
            cost = 0.0
            for y in range(m):
                cost += min(abs(rest[y] - shift), width)
            last = n_top - 1
            if cost < costs[last]:
                while last > 0 and costs[last - 1] > cost:
                    costs[last], shifts[last] = costs[last - 1], shifts[last - 1]
                    copy_point(out[last], out[last - 1])
                    last -= 1
                costs[last], shifts[last] = cost, shift
                copy_point(out[last], p)
    return costs


@jit
def orient_column(x, value, near, tol, needed, r):
    """Find sign and shift of a column from the records `near` (rows of neighbours), in place of r its first reference.

    Returns (sign, shift), sign 0 if no reference explains `needed` of a row.
    """
    places, shifts = np.empty((4, 3)), np.empty(4)
    for row in near:
        xs, values = x[row], value[row]
        for sign in (1.0, -1.0):
            search_cone(xs, values, sign, 1.5, 4, places, shifts)
            for which in range(4):
                copy_point(r, places[which])
                shift = shifts[which]
                for scale in (1.0, 0.2, 10 * tol, 3 * tol):
                    shift = fit_cone(xs, sign * values, r, shift, scale, 25)
                right = 0
                for y in range(row.shape[0]):
                    right += abs(km_between(r, xs[y]) - sign * values[y] - shift) < tol
                if right < needed:
                    continue
                lowest = np.inf
                for y in range(value.shape[0]):
                    if not np.isnan(value[y]):
                        lowest = min(lowest, sign * value[y] + shift)
                if lowest > -max(0.5, 5 * tol) or lowest > -0.5:
                    return sign, shift
    return 0.0, 0.0


@jit
def linearise(points, shift, first, second, column, value, residual, slopes):
    """Fill residuals (m,) of |first - second| = value + shift, and slopes (m, 5).

    Slopes are by east and north of the first point, of the second, and by the shift.
    """
    n = points.shape[0]
    axes = np.empty((n, 2, 3))
    for a in range(n):
        tangents(points[a], axes[a, 0], axes[a, 1])
    away = np.empty(3)
    for q in range(first.shape[0]):
        a, b = first[q], second[q]
        lead_away(points[b], points[a], away)
        slopes[q, 2], slopes[q, 3], slopes[q, 4] = dot(away, axes[b, 0]), dot(away, axes[b, 1]), -1.0
        residual[q] = lead_away(points[a], points[b], away) - shift[column[q]] - value[q]
        slopes[q, 0], slopes[q, 1] = dot(away, axes[a, 0]), dot(away, axes[a, 1])


@jit
def shifted(points, step):
    """Return the points moved by (m, 2) km east and north of their own tangents."""
    out = points.copy()
    east, north = np.empty(3), np.empty(3)
    for a in range(points.shape[0]):
        tangents(points[a], east, north)
        move(out[a], east, north, step[a, 0], step[a, 1])
    return out
