"""Lipschitz embedding: distances to the nearest point of each reference set, and the largest difference of them.

Points are unit vectors (n, 3), reference sets (d, k, 3); coordinates have one row a reference set, shape (d, n), so
that the innermost loops run over points that lie side by side in memory.
"""

from __future__ import annotations

import numpy as np

from reident.kernels._jit import unrolled_jit
from reident.kernels._loops import fill, put
from reident.kernels.places.sphere import arc_km

#: Columns of one tile: its accumulators and the coordinates it reads stay in the nearest cache.
TILE = 256
#: Columns that are sorted side by side: with all simulations they stay in a cache.
COLUMNS = 64


@unrolled_jit
def coordinates_of_set(points, reference, out):
    """Fill `out` (n,) with the distance, km, of each point to the nearest point of one reference set (k, 3)."""
    n = points.shape[0]
    # Side by side in memory, points are compared several an instruction.
    x, y, z = points[:, 0].copy(), points[:, 1].copy(), points[:, 2].copy()
    nearest, best = np.zeros(n, dtype=np.int64), np.full(n, np.inf)
    for j in range(reference.shape[0]):
        r0, r1, r2 = reference[j, 0], reference[j, 1], reference[j, 2]
        for i in range(n):
            a, b, c = x[i] - r0, y[i] - r1, z[i] - r2
            chord2 = a * a + b * b + c * c
            closer = chord2 < best[i]
            nearest[i] = j if closer else nearest[i]
            best[i] = chord2 if closer else best[i]
    for i in range(n):
        r = reference[nearest[i]]
        out[i] = arc_km(x[i], y[i], z[i], r[0], r[1], r[2])


@unrolled_jit
def lipschitz_coordinates(points, reference_sets):
    """Return the (d, n) distances, km, of points to the nearest point of each reference set."""
    d, n = reference_sets.shape[0], points.shape[0]
    out = np.empty((d, n))
    for m in range(d):
        coordinates_of_set(points, reference_sets[m], out[m])
    return out


@unrolled_jit
def coordinates_from_nearest(points, reference_sets, nearest):
    """Return the (d, n) distances, km, of points to the reference points numbered `nearest` (d, n)."""
    d, n = nearest.shape
    out = np.empty((d, n))
    for m in range(d):
        for i in range(n):
            r = reference_sets[m, nearest[m, i]]
            out[m, i] = arc_km(points[i, 0], points[i, 1], points[i, 2], r[0], r[1], r[2])
    return out


@unrolled_jit
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


@unrolled_jit
def _four(coordinates, m, i):
    # The last set stands for those that would follow it: it raises nothing twice.
    last = coordinates.shape[0] - 1
    m1, m2, m3 = min(m + 1, last), min(m + 2, last), min(m + 3, last)
    return coordinates[m, i], coordinates[m1, i], coordinates[m2, i], coordinates[m3, i]


@unrolled_jit
def _raised(largest, a, b, c, e, to):
    a, b, c, e = abs(a - to[0]), abs(b - to[1]), abs(c - to[2]), abs(e - to[3])
    a = a if a > b else b
    c = c if c > e else e
    a = a if a > c else c
    return a if a > largest else largest


@unrolled_jit
def _four_rows(coordinates, i, low, high, row0, row1, row2, row3):
    # Four rows at once: what is loaded for one serves four.
    last = coordinates.shape[0] - 1
    for j in range(high - low):
        row0[j] = row1[j] = row2[j] = row3[j] = 0.0
    for m in range(0, last + 1, 4):
        to0, to1 = _four(coordinates, m, i), _four(coordinates, m, i + 1)
        to2, to3 = _four(coordinates, m, i + 2), _four(coordinates, m, i + 3)
        r0, r1 = coordinates[m, low:high], coordinates[min(m + 1, last), low:high]
        r2, r3 = coordinates[min(m + 2, last), low:high], coordinates[min(m + 3, last), low:high]
        for j in range(high - low):
            a, b, c, e = r0[j], r1[j], r2[j], r3[j]
            row0[j] = _raised(row0[j], a, b, c, e, to0)
            row1[j] = _raised(row1[j], a, b, c, e, to1)
            row2[j] = _raised(row2[j], a, b, c, e, to2)
            row3[j] = _raised(row3[j], a, b, c, e, to3)


@unrolled_jit
def chebyshev_matrix(coordinates, first, last, out):
    """Write the largest absolute differences of the columns of (d, n) coordinates into `out` (n, n), in place.

    Only the columns first <= j < last of `out` are written. The caller allocates, for the reason that
    `great_circle_cross` has.
    """
    n = coordinates.shape[1]
    for low in range(first, last, TILE):
        high = min(last, low + TILE)
        for i in range(0, n - 3, 4):
            row0, row1, row2, row3 = out[i, low:high], out[i + 1, low:high], out[i + 2, low:high], out[i + 3, low:high]
            _four_rows(coordinates, i, low, high, row0, row1, row2, row3)
        for i in range(n // 4 * 4, n):
            _largest_difference(coordinates, i, low, high, out[i, low:high])


@unrolled_jit
def chebyshev_rows(coordinates, first, last, out):
    """Fill `out` with the distances of the pairs (i, j), first <= i < last, i < j, row by row (condensed order)."""
    n = coordinates.shape[1]
    start = 0
    for i in range(first, last, 4):
        # Where the rows of i to i + 3 begin in `out`, were they whole; columns that all four have are done together.
        at0 = start - i - 1
        at1, at2, at3 = at0 + n - i - 2, at0 + 2 * (n - i) - 5, at0 + 3 * (n - i) - 9
        together = min(i + 4, n) if i + 4 <= last else n
        for row in range(i, min(i + 4, last)):
            at = start - row - 1
            start += n - row - 1
            low = row + 1
            if low < together:
                _largest_difference(coordinates, row, low, together, out[at + low : at + together])
        low = together
        while low < n:
            high = min(n, low + TILE)
            row0, row1 = out[at0 + low : at0 + high], out[at1 + low : at1 + high]
            row2, row3 = out[at2 + low : at2 + high], out[at3 + low : at3 + high]
            _four_rows(coordinates, i, low, high, row0, row1, row2, row3)
            low = high


@unrolled_jit
def simulated_rows(points, reference_sets, first, last, out):
    """Fill row s of `out` with the released distances of simulation s, from (simulations, d, k, 3) reference sets."""
    d, n = reference_sets.shape[1], points.shape[0]
    for s in range(reference_sets.shape[0]):
        coordinates = np.empty((d, n))
        for m in range(d):
            coordinates_of_set(points, reference_sets[s, m], coordinates[m])
        chebyshev_rows(coordinates, first, last, out[s])


@unrolled_jit
def _exchange(upper, lower):
    for p in range(upper.shape[0]):
        a, b = upper[p], lower[p]
        upper[p] = a if a < b else b
        lower[p] = b if a < b else a


@unrolled_jit
def sort_columns(rows):
    """Sort every column, in place: Batcher's merge exchange compares whole rows, many columns an instruction."""
    n = rows.shape[0]
    top = 1
    while 2 * top < n:
        top *= 2
    p = top
    while p > 0:
        q, r, d = top, 0, p
        while d > 0:
            for i in range(n - d):
                if i & p == r:
                    _exchange(rows[i], rows[i + d])
            d, q, r = q - p, q >> 1, p
        p >>= 1


@unrolled_jit
def _shortest(ends, starts, shortest, lo, hi):
    for p in range(ends.shape[0]):
        length = ends[p] - starts[p]
        shorter = length < shortest[p]
        shortest[p] = length if shorter else shortest[p]
        lo[p] = starts[p] if shorter else lo[p]
        hi[p] = ends[p] if shorter else hi[p]


@unrolled_jit
def shortest_intervals(simulated, counts, lo, hi):
    """Fill `lo` and `hi` (counts, pairs) with the ends of each column's shortest intervals in (simulations, pairs).

    An interval holds `counts` of the column's values; of several shortest ones it is the lowest.
    """
    simulations, pairs = simulated.shape
    blocks = (pairs + COLUMNS - 1) // COLUMNS
    for b in range(blocks):
        low, high = b * COLUMNS, min(pairs, (b + 1) * COLUMNS)
        tile = np.empty((simulations, high - low))
        for s in range(simulations):
            put(tile[s], simulated[s, low:high])
        sort_columns(tile)
        shortest = np.empty(high - low)
        for c in range(counts.shape[0]):
            fill(shortest, np.inf)
            for i in range(simulations - counts[c] + 1):
                _shortest(tile[i + counts[c] - 1], tile[i], shortest, lo[c, low:high], hi[c, low:high])


@unrolled_jit
def count_inside(simulated, lo, hi):
    """Count, in each row of (simulations, pairs), the distances inside their interval."""
    out = np.zeros(simulated.shape[0])
    for s in range(simulated.shape[0]):
        inside = 0
        for p in range(simulated.shape[1]):
            inside += lo[p] <= simulated[s, p] <= hi[p]
        out[s] = inside
    return out
