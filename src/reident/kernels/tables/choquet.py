"""The Choquet integral and the Moebius transform.

Sets of variables are bit masks: variable v is in set s if bit v of s is 1. A fuzzy measure is a vector of 2^n values
indexed by the mask, mu[0] = 0 and mu[2^n - 1] = 1.
"""

from __future__ import annotations

import numpy as np

from reident.kernels._numba import jit


@jit
def sort_few(values, order):
    """Write the order of few values into `order`, by insertion; equal values stay as they are."""
    for i in range(values.size):
        place = i
        while place > 0 and values[order[place - 1]] > values[i]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = i


@jit
def choquet_one(values, mu):
    """Choquet integral of one vector of few values."""
    n = values.size
    order = np.empty(n, np.int64)
    sort_few(values, order)
    mask = (1 << n) - 1
    total = 0.0
    below = 0.0
    for i in range(n):
        value = values[order[i]]
        total += (value - below) * mu[mask]
        below = value
        mask ^= 1 << order[i]
    return total
