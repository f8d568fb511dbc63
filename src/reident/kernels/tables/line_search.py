"""The most blocks linked on a line of weights or measures: exact, by one pass over the rows and a sort."""

from __future__ import annotations

import numpy as np

from reident.kernels._argsort import argsort
from reident.kernels._numba import jit


@jit
def spans(index, value, starts, x, step, eps, low, high):
    """Write between which s each block reaches `eps` in all its rows at x + s step; both ends are modified in place.

    Parameters
    ----------
    index, value, starts : ndarray
        Sparse rows, block by block.
    x, step : ndarray of float64
        A point and a direction.
    eps : float
        What each row must reach.
    low, high : ndarray of float64, shape (blocks,)
        The ends, both included; `low` above `high` where no s will do.
    """
    for b in range(starts.size - 1):
        lower, upper = -np.inf, np.inf
        for r in range(starts[b], starts[b + 1]):
            at, slope = -eps, 0.0
            for e in range(index.shape[1]):
                at += value[r, e] * x[index[r, e]]
                slope += value[r, e] * step[index[r, e]]
            if slope > 0.0:
                lower = max(lower, -at / slope)
            elif slope < 0.0:
                upper = min(upper, -at / slope)
            elif at < 0.0:
                lower = np.inf
            if lower > upper:
                break
        low[b], high[b] = lower, upper


@jit
def densest(low, high, lower, upper):
    """Find the s between `lower` and `upper` that lies in the most spans.

    Returns
    -------
    s : float
        The middle of the longest stretch of those that lie in as many spans; `lower` if there is none.
    held : int
        Spans in which s lies.
    """
    begins, ends = np.empty(low.size), np.empty(low.size)
    count = 0
    for b in range(low.size):
        begins[count], ends[count] = max(low[b], lower), min(high[b], upper)
        if begins[count] < ends[count]:
            count += 1
    opening, closing = argsort(begins[:count]), argsort(ends[:count])
    best, most, length = lower, 0, 0.0
    opened, closed = 0, 0
    while opened < count:
        # What begins before the next span ends is open together, from the last beginning to that end.
        while opened < count and begins[opening[opened]] < ends[closing[closed]]:
            opened += 1
        at, until = begins[opening[opened - 1]], ends[closing[closed]]
        total = opened - closed
        if total > most or (total == most and until - at > length):
            best, most, length = (at + until) / 2.0, total, until - at
        while opened < count and closed < opened and ends[closing[closed]] <= begins[opening[opened]]:
            closed += 1
    return best, most
