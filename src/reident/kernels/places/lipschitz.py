"""Lipschitz embedding: distances to the nearest point of each reference set, and the largest difference of them.

Points are unit vectors (n, 3), reference sets (d, k, 3); coordinates have one row a reference set, shape (d, n), so
that the innermost loops run over points that lie side by side in memory.
"""

from __future__ import annotations

import numba
import numpy as np

from reident.kernels._jit import jit, parallel_jit
from reident.kernels._loops import put
from reident.kernels.places.sphere import arc_km

# Columns of one tile: its accumulators and the coordinates it reads stay in the nearest cache.
_TILE = 256


@jit
def coordinates_of_set(points, reference, out):
    """Fill `out` (n,) with the distance, km, of each point to the nearest point of one reference set (k, 3)."""
    n, k = points.shape[0], reference.shape[0]
    for i in range(n):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        nearest, best = 0, np.inf
        for j in range(k):
            a, b, c = x - reference[j, 0], y - reference[j, 1], z - reference[j, 2]
            chord2 = a * a + b * b + c * c
            if chord2 < best:
                nearest, best = j, chord2
        out[i] = arc_km(x, y, z, reference[nearest, 0], reference[nearest, 1], reference[nearest, 2])


@parallel_jit
def lipschitz_coordinates(points, reference_sets):
    """Return the (d, n) distances, km, of points to the nearest point of each reference set."""
    d, n = reference_sets.shape[0], points.shape[0]
    out = np.empty((d, n))
    for m in numba.prange(d):
        coordinates_of_set(points, reference_sets[m], out[m])
    return out


@parallel_jit
def coordinates_from_nearest(points, reference_sets, nearest):
    """Return the (d, n) distances, km, of points to the reference points numbered `nearest` (d, n)."""
    d, n = nearest.shape
    out = np.empty((d, n))
    for m in numba.prange(d):
        for i in range(n):
            r = reference_sets[m, nearest[m, i]]
            out[m, i] = arc_km(points[i, 0], points[i, 1], points[i, 2], r[0], r[1], r[2])
    return out


@jit
def _largest_difference(coordinates, i, low, high, row):
    # Four reference sets a pass: one load and store of the accumulator serves four comparisons.
    d = coordinates.shape[0]
    for j in range(high - low):
        row[j] = 0.0
    m = 0
    while m + 4 <= d:
        c0, c1, c2, c3 = coordinates[m, i], coordinates[m + 1, i], coordinates[m + 2, i], coordinates[m + 3, i]
        r0, r1 = coordinates[m, low:high], coordinates[m + 1, low:high]
        r2, r3 = coordinates[m + 2, low:high], coordinates[m + 3, low:high]
        for j in range(high - low):
            a, b, c, e = abs(r0[j] - c0), abs(r1[j] - c1), abs(r2[j] - c2), abs(r3[j] - c3)
            a = a if a > b else b
            c = c if c > e else e
            a = a if a > c else c
            row[j] = a if a > row[j] else row[j]
        m += 4
    while m < d:
        c0 = coordinates[m, i]
        r0 = coordinates[m, low:high]
        for j in range(high - low):
            a = abs(r0[j] - c0)
            row[j] = a if a > row[j] else row[j]
        m += 1


@jit
def _four(coordinates, m, i):
    return coordinates[m, i], coordinates[m + 1, i], coordinates[m + 2, i], coordinates[m + 3, i]


@jit
def _raised(largest, a, b, c, e, to):
    a, b, c, e = abs(a - to[0]), abs(b - to[1]), abs(c - to[2]), abs(e - to[3])
    a = a if a > b else b
    c = c if c > e else e
    a = a if a > c else c
    return a if a > largest else largest


@jit
def _four_rows(coordinates, i, low, high, out):
    # Four rows at once: what is loaded for one serves four.
    row0, row1, row2, row3 = out[i, low:high], out[i + 1, low:high], out[i + 2, low:high], out[i + 3, low:high]
    for j in range(high - low):
        row0[j] = row1[j] = row2[j] = row3[j] = 0.0
    for m in range(0, coordinates.shape[0], 4):
        to0, to1 = _four(coordinates, m, i), _four(coordinates, m, i + 1)
        to2, to3 = _four(coordinates, m, i + 2), _four(coordinates, m, i + 3)
        r0, r1 = coordinates[m, low:high], coordinates[m + 1, low:high]
        r2, r3 = coordinates[m + 2, low:high], coordinates[m + 3, low:high]
        for j in range(high - low):
            a, b, c, e = r0[j], r1[j], r2[j], r3[j]
            row0[j] = _raised(row0[j], a, b, c, e, to0)
            row1[j] = _raised(row1[j], a, b, c, e, to1)
            row2[j] = _raised(row2[j], a, b, c, e, to2)
            row3[j] = _raised(row3[j], a, b, c, e, to3)


@parallel_jit
def chebyshev_matrix(coordinates, out):
    """Write the largest absolute differences of the columns of (d, n) coordinates into `out` (n, n), in place.

    The caller allocates, for the reason that `great_circle_cross` has.
    """
    d, n = coordinates.shape
    # Sets without any difference make up whole passes.
    padded = np.zeros(((d + 3) // 4 * 4, n))
    for i in range(d):
        put(padded[i], coordinates[i])
    tiles = (n + _TILE - 1) // _TILE
    for t in numba.prange(tiles):
        low, high = t * _TILE, min(n, (t + 1) * _TILE)
        for i in range(0, n - 3, 4):
            _four_rows(padded, i, low, high, out)
        for i in range(n // 4 * 4, n):
            _largest_difference(coordinates, i, low, high, out[i, low:high])


@jit
def chebyshev_rows(coordinates, first, last, out):
    """Fill `out` with the distances of the pairs (i, j), first <= i < last, i < j, row by row (condensed order)."""
    n = coordinates.shape[1]
    position = 0
    for i in range(first, last):
        low = i + 1
        while low < n:
            high = min(n, low + _TILE)
            _largest_difference(coordinates, i, low, high, out[position : position + high - low])
            position += high - low
            low = high


@parallel_jit
def simulated_rows(points, reference_sets, first, last, out):
    """Fill row s of `out` with the released distances of simulation s, from (simulations, d, k, 3) reference sets."""
    d, n = reference_sets.shape[1], points.shape[0]
    for s in numba.prange(reference_sets.shape[0]):
        coordinates = np.empty((d, n))
        for m in range(d):
            coordinates_of_set(points, reference_sets[s, m], coordinates[m])
        chebyshev_rows(coordinates, first, last, out[s])


@jit
def shortest_interval(values, count):
    """Return the ends of the shortest interval that holds `count` of the sorted values; the lowest one of several."""
    best, start = np.inf, 0
    for i in range(values.shape[0] - count + 1):
        length = values[i + count - 1] - values[i]
        if length < best:
            best, start = length, i
    return values[start], values[start + count - 1]


@parallel_jit
def shortest_intervals(simulated, counts, lo, hi):
    """Fill `lo` and `hi` (counts, pairs) with the shortest intervals of each column of (simulations, pairs)."""
    simulations, pairs = simulated.shape
    blocks = (pairs + 63) // 64
    for b in numba.prange(blocks):
        low, high = b * 64, min(pairs, (b + 1) * 64)
        # A tile turned round: reading one column at a time would miss the cache at every step.
        turned = np.empty((high - low, simulations))
        for s in range(simulations):
            for p in range(low, high):
                turned[p - low, s] = simulated[s, p]
        for p in range(low, high):
            values = turned[p - low]
            values.sort()
            for c in range(counts.shape[0]):
                lo[c, p], hi[c, p] = shortest_interval(values, counts[c])


@parallel_jit
def count_inside(simulated, lo, hi):
    """Count, in each row of (simulations, pairs), the distances inside their interval."""
    out = np.zeros(simulated.shape[0])
    for s in numba.prange(simulated.shape[0]):
        inside = 0
        for p in range(simulated.shape[1]):
            inside += lo[p] <= simulated[s, p] <= hi[p]
        out[s] = inside
    return out
