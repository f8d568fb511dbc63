"""Where blocks are linked on a line of weights or measures."""

from __future__ import annotations

import numpy as np

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
