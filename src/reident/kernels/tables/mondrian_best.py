"""Partitioning of coded records by the cut that leaves the least loss, where Mondrian cuts the widest attribute."""

from __future__ import annotations

import numpy as np

from reident.kernels._loops import numbers, put, ranked
from reident.kernels._numba import jit

__all__ = ["mondrian_best"]


@jit
def _spread(values, low, high, scale):
    """Return the sum of the widths of a part, each as a share of the table's."""
    total = 0.0
    for j in range(low.size):
        if scale[j] > 0:
            total += (values[j, high[j]] - values[j, low[j]]) / scale[j]
    return total


@jit
def _losses_behind(codes, order, places, scale, reverse, out):
    """Write the spread of the first 1, 2, ... records of an order into `out`, or of the last ones."""
    m, q = order.size, codes.shape[1]
    first = order[m - 1] if reverse else order[0]
    low, high = codes[first].copy(), codes[first].copy()
    for step in range(m):
        record = order[m - 1 - step] if reverse else order[step]
        changed = step == 0
        for j in range(q):
            value = codes[record, j]
            if value < low[j]:
                low[j] = value
                changed = True
            elif value > high[j]:
                high[j] = value
                changed = True
        out[step] = _spread(places, low, high, scale) if changed else out[step - 1]


@jit
def _best_cut(codes, part, k, places, scale):
    """Return the cut of least loss as (records in its order, number that go left); 0 if there is none."""
    m, q = part.size, codes.shape[1]
    best_loss, best_left = np.inf, 0
    best_order = part
    left, right = np.empty(m), np.empty(m)
    column = np.empty(m, codes.dtype)
    for j in range(q):
        for i in range(m):
            column[i] = codes[part[i], j]
        order = part[ranked(column)]
        if codes[order[0], j] == codes[order[m - 1], j]:
            continue
        _losses_behind(codes, order, places, scale, False, left)
        _losses_behind(codes, order, places, scale, True, right)
        for n_left in range(k, m - k + 1):
            if codes[order[n_left - 1], j] == codes[order[n_left], j]:
                continue
            loss = n_left * left[n_left - 1] + (m - n_left) * right[m - n_left - 1]
            if loss < best_loss:
                best_loss, best_left, best_order = loss, n_left, order
    return best_order, best_left


@jit
def mondrian_best(codes, places, n_codes, k):
    """Partition records into parts of at least k by the cuts that lose least.

    Parameters
    ----------
    codes : int32 array, shape (n, q)
        Ordered codes 0..n_codes[j]-1 of each attribute. Not modified.
    places : float64 array, shape (q, max n_codes)
        Where each code lies on its attribute's scale; increasing.
    n_codes : int64 array, shape (q,)
    k : int

    Returns
    -------
    order : int64 array, shape (n,)
        The records, part by part.
    starts : int64 array, shape (n_parts + 1,)

    Notes
    -----
    Every cut between two values that leaves at least k records on both sides is weighed by the sum over both sides of
    their records times their widths: the normalised certainty penalty. The first of equally good ones is taken. Time
    O(q^2 n log n) a level of cuts.
    """
    n, q = codes.shape
    scale = np.empty(q)
    for j in range(q):
        scale[j] = places[j, n_codes[j] - 1] - places[j, 0]
    order = numbers(n)
    starts = np.empty(n // k + 2, dtype=np.int64)
    stack = np.empty((n // k + 2, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1] = 0, n
    depth, n_parts = 1, 0
    while depth > 0:
        depth -= 1
        start, end = stack[depth, 0], stack[depth, 1]
        n_left = 0
        if end - start >= 2 * k:
            ranked, n_left = _best_cut(codes, order[start:end].copy(), k, places, scale)
            if n_left:
                put(order[start:end], ranked)
                stack[depth, 0], stack[depth, 1] = start + n_left, end
                stack[depth + 1, 0], stack[depth + 1, 1] = start, start + n_left
                depth += 2
        if not n_left:
            starts[n_parts] = start
            n_parts += 1
    starts[n_parts] = n
    return order, starts[: n_parts + 1].copy()
