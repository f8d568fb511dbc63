"""Rank swapping."""

from __future__ import annotations

import numpy as np

from reident.kernels._loops import numbers
from reident.kernels._numba import jit


@jit
def swap_partners(n, window, uniforms):
    """Pair ranks at most `window` apart at random.

    Parameters
    ----------
    n : int
        Number of ranks.
    window : int
        Largest distance between two ranks that are swapped.
    uniforms : ndarray of float64, shape (n,)
        Random numbers in [0, 1), one a rank.

    Returns
    -------
    ndarray of int64, shape (n,)
        The rank whose value each rank receives: an involution; a rank without a free partner keeps its own.

    Notes
    -----
    Going up the ranks, each one that is still free is swapped with a partner drawn evenly from the free ranks at most
    `window` above it. Time O(n window).
    """
    partner = numbers(n)
    free = np.ones(n, np.bool_)
    for rank in range(n):
        if not free[rank]:
            continue
        end = min(n, rank + window + 1)
        candidates = 0
        for other in range(rank + 1, end):
            candidates += free[other]
        if candidates == 0:
            continue
        wanted = int(uniforms[rank] * candidates)
        for other in range(rank + 1, end):
            if free[other]:
                if wanted == 0:
                    partner[rank] = other
                    partner[other] = rank
                    free[other] = False
                    break
                wanted -= 1
        free[rank] = False
    return partner
