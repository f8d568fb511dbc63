"""Cells of the simplex of weights: which blocks a cell decides, how many of the others fit, and where to cut it.

A cell is a simplex with p corners; a row is a linear function, known by its values at the corners. A block is held at a
point where all its rows are 0 or more. Rows of one block stand together.
"""

from __future__ import annotations

import numpy as np

from reident.kernels._argsort import argsort
from reident.kernels._numba import jit

#: A value nearer to 0 than this is 0: a cut through a row's zero leaves this much by rounding.
_ZERO = 1e-12

#: Cutting planes of a bound at most, and how near to its least value the bound is taken.
_PLANES = 40
_CLOSE = 0.05

#: What a row that does not bind counts for when a cut is chosen, beside 1 for one that does.
_NOT_BINDING = 0.01


@jit
def settle(rows, owner):
    """Leave out rows and blocks decided by the whole cell: rows never below 0, blocks with a row that always is.

    Parameters
    ----------
    rows : ndarray of float64, shape (m, p)
        Values at the corners.
    owner : ndarray of int64, shape (m,)
        The block of each row.

    Returns
    -------
    rows, owner : ndarray
        The rows that are left.
    lost : int
        Blocks that no point of the cell holds.
    undecided : int
        Blocks whose rows are left.
    """
    m, p = rows.shape
    remaining = np.empty(m, np.int64)
    count, lost, undecided = 0, 0, 0
    r = np.int64(0)
    while r < m:
        block, first, never = owner[r], count, False
        while r < m and owner[r] == block:
            if not never:
                low, high = rows[r, 0], rows[r, 0]
                for v in range(1, p):
                    low, high = min(low, rows[r, v]), max(high, rows[r, v])
                if high <= _ZERO:
                    never = True
                elif low < -_ZERO:
                    remaining[count] = r
                    count += 1
            r += 1
        if never:
            count = first
            lost += 1
        elif count > first:
            undecided += 1
    open_rows, of = np.empty((count, p)), np.empty(count, np.int64)
    for i in range(count):
        of[i] = owner[remaining[i]]
        for v in range(p):
            open_rows[i, v] = rows[remaining[i], v]
    return open_rows, of, lost, undecided


@jit
def held_at_most(rows, owner, target):
    """Bound the number of blocks that one point of the cell can hold.

    Parameters
    ----------
    rows, owner : ndarray
        As `settle` leaves them.
    target : float
        The bound is made no tighter once it is below this.

    Returns
    -------
    bound : float
        No point holds more blocks.
    place : ndarray of float64, shape (p,)
        Barycentric coordinates of a point where the relaxation is greatest, or nearly so.
    held : int
        Blocks held at the best point seen.
    seen : ndarray of float64, shape (p,)
        That point.

    Notes
    -----
    A block counts at most 1 - g / low for each of its rows g < 0 whose least value in the cell is low: the concave
    envelope of "held". The sum over the blocks is concave, and Kelley's cutting planes (1960) bound its maximum from
    above: each plane is a row of a matrix game against the corners.
    """
    p = rows.shape[1]
    place = np.full(p, 1.0 / p)
    evaluated = place.copy()
    lows = _lows(rows)
    planes = np.empty((_PLANES, p))
    bound, largest = np.inf, -1
    for k in range(_PLANES):
        value, holds = _envelope(rows, lows, owner, place, planes[k])
        if holds > largest:
            largest = holds
            for v in range(p):
                evaluated[v] = place[v]
        if bound - value < _CLOSE:
            break
        bound = min(bound, matrix_game(planes[: k + 1], place))
        if bound < target:
            break
    return bound, place, largest, evaluated


@jit
def _lows(rows):
    lows = np.empty(rows.shape[0])
    for r in range(lows.size):
        lows[r] = rows[r, 0]
        for v in range(1, rows.shape[1]):
            lows[r] = min(lows[r], rows[r, v])
    return lows


@jit
def _envelope(rows, lows, owner, place, plane):
    """Return the envelopes' sum and the blocks held at `place`; write the plane that touches the sum there."""
    for v in range(place.size):
        plane[v] = 0.0
    value, holds = 0.0, 0
    r = np.int64(0)
    while r < owner.size:
        r, factor, binding = _binding(rows, lows, owner, r, place)
        value += factor
        if binding < 0:
            holds += 1
        else:
            for v in range(place.size):
                plane[v] += 1.0 - rows[binding, v] / lows[binding]
    for v in range(place.size):
        plane[v] += holds
    return value, holds


@jit
def _binding(rows, lows, owner, first, place):
    """Return where the next block begins, this one's envelope at `place`, and the row it lies on; -1 if held there."""
    r, smallest, binding = first, 1.0, -1
    while r < owner.size and owner[r] == owner[first]:
        total = 0.0
        for v in range(place.size):
            total += rows[r, v] * place[v]
        if total < 0.0:
            share = 1.0 - total / lows[r]
            if share < smallest:
                smallest, binding = share, r
        r += 1
    return r, smallest, binding


@jit
def matrix_game(gains, place):
    """Solve max over mixtures of columns of the least row of `gains`, by the simplex method.

    Parameters
    ----------
    gains : ndarray of float64, shape (k, p)
        What the column player gains.
    place : ndarray of float64, shape (p,)
        Overwritten by the best mixture of columns.

    Returns
    -------
    float
        The value seen from the rows: an upper bound even where rounding stopped the method early.
    """
    k, p = gains.shape
    smallest = gains[0, 0]
    for row in range(k):
        for v in range(p):
            smallest = min(smallest, gains[row, v])
    shift = 1.0 - smallest
    # the row player's programme: maximise the sum of y >= 0 with (gains + shift)' y <= 1
    table = np.zeros((p + 1, k + p + 1))
    for v in range(p):
        for row in range(k):
            table[v, row] = gains[row, v] + shift
        table[v, k + v] = 1.0
        table[v, k + p] = 1.0
    for row in range(k):
        table[p, row] = -1.0
    basis = np.empty(p, np.int64)
    for v in range(p):
        basis[v] = k + v
    for _ in range(50 * p):
        enter = np.int64(0)
        for column in range(1, k + p):
            if table[p, column] < table[p, enter]:
                enter = column
        if table[p, enter] > -1e-11:
            break
        leave, best = np.int64(-1), np.inf
        for v in range(p):
            if table[v, enter] > 1e-12 and table[v, k + p] / table[v, enter] < best:
                leave, best = v, table[v, k + p] / table[v, enter]
        if leave < 0:
            break
        scale = table[leave, enter]
        for column in range(k + p + 1):
            table[leave, column] /= scale
        for v in range(p + 1):
            factor = table[v, enter]
            if v != leave and factor != 0.0:
                for column in range(k + p + 1):
                    table[v, column] -= factor * table[leave, column]
        basis[leave] = enter
    total = 0.0
    for v in range(p):
        place[v] = max(table[p, k + v], 0.0)
        total += place[v]
    for v in range(p):
        place[v] /= total
    mixture = np.zeros(k)
    total = 0.0
    for v in range(p):
        if basis[v] < k:
            mixture[basis[v]] = max(table[v, k + p], 0.0)
    for row in range(k):
        total += mixture[row]
    best = -np.inf
    for v in range(p):
        gain = 0.0
        for row in range(k):
            gain += mixture[row] / total * gains[row, v]
        best = max(best, gain)
    return best


@jit
def where_to_cut(rows, owner, place):
    """Choose the edge that most rows cross, and on it the median of the crossings.

    A row that keeps its block from counting fully at `place` weighs most. Cutting at the median, and not in the middle,
    matters: crossings gather near corners, at scales of many powers of ten.

    Returns
    -------
    one, other : int
        The ends of the edge.
    share : float
        How far from `one` to `other`.
    """
    m, p = rows.shape
    weights, lows = np.full(m, _NOT_BINDING), _lows(rows)
    r = np.int64(0)
    while r < m:
        r, _, binding = _binding(rows, lows, owner, r, place)
        if binding >= 0:
            weights[binding] = 1.0
    heaviest, first, second = -1.0, 0, 1
    for u in range(p):
        for w in range(u + 1, p):
            total = 0.0
            for r in range(m):
                a, b = rows[r, u], rows[r, w]
                if (a < -_ZERO and b > _ZERO) or (a > _ZERO and b < -_ZERO):
                    total += weights[r]
            if total > heaviest:
                heaviest, first, second = total, u, w
    shares = np.empty(m)
    weight = np.empty(m)
    count = 0
    for r in range(m):
        a, b = rows[r, first], rows[r, second]
        if (a < -_ZERO and b > _ZERO) or (a > _ZERO and b < -_ZERO):
            shares[count] = a / (a - b)
            weight[count] = weights[r]
            count += 1
    order = argsort(shares[:count])
    passed, half = 0.0, heaviest / 2 - _ZERO
    for position in order:
        passed += weight[position]
        if passed >= half:
            return first, second, shares[position]
    return first, second, 0.5
