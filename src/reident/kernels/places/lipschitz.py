"""Lipschitz embedding: distances to the nearest point of each reference set, and the largest difference of them.

Points are unit vectors (n, 3), reference sets (d, k, 3); coordinates have one row a reference set, shape (d, n), so
that the innermost loops run over points that lie side by side in memory.
"""

from __future__ import annotations

import numpy as np

from reident.kernels._numba import jit
from reident.kernels.places.sphere import arc_km

#: Columns of one tile: with the eight reference sets of a pass its coordinates stay in a near cache for all rows.
TILE = 512


@jit
def lipschitz_coordinates(points, reference_sets):
    """Return the (d, n) distances, km, of points to the nearest point of each reference set."""
    d, k, n = reference_sets.shape[0], reference_sets.shape[1], points.shape[0]
    out = np.empty((d, n))
    # Coordinate by coordinate in memory, several points are compared by one instruction.
    across = np.empty((3, n))
    for i in range(n):
        for c in range(3):
            across[c, i] = points[i, c]
    nearest, best = np.empty(n, dtype=np.int64), np.empty(n)
    for m in range(d):
        for i in range(n):
            nearest[i] = 0
            best[i] = np.inf
        for j in range(k):
            r0, r1, r2 = reference_sets[m, j, 0], reference_sets[m, j, 1], reference_sets[m, j, 2]
            for i in range(n):
                a, b, c = across[0, i] - r0, across[1, i] - r1, across[2, i] - r2
                chord2 = a * a + b * b + c * c
                closer = chord2 < best[i]
                nearest[i] = j if closer else nearest[i]
                best[i] = chord2 if closer else best[i]
        for i in range(n):
            j = nearest[i]
            r0, r1, r2 = reference_sets[m, j, 0], reference_sets[m, j, 1], reference_sets[m, j, 2]
            out[m, i] = arc_km(across[0, i], across[1, i], across[2, i], r0, r1, r2)
    return out


@jit
def _raise_to_difference(coordinates, i, start, low, high, out):
    """Raise `out` to the absolute differences of column i and columns low..high-1 in eight reference sets."""
    # Eight sets a pass: one load and store of the result serves eight comparisons, and all of it fits in the registers.
    # The last set stands for those that would follow it.
    last = coordinates.shape[0] - 1
    m0, m1, m2, m3 = start, min(start + 1, last), min(start + 2, last), min(start + 3, last)
    m4, m5, m6, m7 = min(start + 4, last), min(start + 5, last), min(start + 6, last), min(start + 7, last)
    c0, c1, c2, c3 = coordinates[m0, i], coordinates[m1, i], coordinates[m2, i], coordinates[m3, i]
    c4, c5, c6, c7 = coordinates[m4, i], coordinates[m5, i], coordinates[m6, i], coordinates[m7, i]
    # Views, not coordinates[m, low + j]: where an index may be negative the loop is not vectorised.
    r0, r1, r2, r3 = (coordinates[m0, low:high], coordinates[m1, low:high],
                      coordinates[m2, low:high], coordinates[m3, low:high])  # fmt: skip
    r4, r5, r6, r7 = (coordinates[m4, low:high], coordinates[m5, low:high],
                      coordinates[m6, low:high], coordinates[m7, low:high])  # fmt: skip
    for j in range(out.shape[0]):
        top = out[j]
        a, b = abs(r0[j] - c0), abs(r1[j] - c1)
        a = a if a > b else b
        top = a if a > top else top
        a, b = abs(r2[j] - c2), abs(r3[j] - c3)
        a = a if a > b else b
        top = a if a > top else top
        a, b = abs(r4[j] - c4), abs(r5[j] - c5)
        a = a if a > b else b
        top = a if a > top else top
        a, b = abs(r6[j] - c6), abs(r7[j] - c7)
        a = a if a > b else b
        out[j] = a if a > top else top


@jit
def chebyshev_matrix(coordinates, first, last, out):
    """Write the largest absolute differences of the columns of (d, n) coordinates into `out` (n, n), in place.

    Only the columns first <= j < last of `out` are written. The caller allocates, for the reason that
    `great_circle_cross` has.
    """
    d, n = coordinates.shape
    for low in range(first, last, TILE):
        high = min(last, low + TILE)
        for i in range(n):
            for j in range(low, high):
                out[i, j] = 0.0
        for start in range(0, d, 8):
            for i in range(n):
                _raise_to_difference(coordinates, i, start, low, high, out[i, low:high])


@jit
def chebyshev_rows(coordinates, first, last, out):
    """Fill `out` with the distances of the pairs (i, j), first <= i < last, i < j, row by row (condensed order)."""
    d, n = coordinates.shape
    for j in range(out.shape[0]):
        out[j] = 0.0
    for low in range(first + 1, n, TILE):
        high = min(n, low + TILE)
        for start in range(0, d, 8):
            for i in range(first, min(last, high - 1)):
                left = max(low, i + 1)
                at = (i - first) * (2 * n - first - i - 1) // 2 + left - i - 1
                part = out[at : at + high - left]
                _raise_to_difference(coordinates, i, start, left, high, part)
