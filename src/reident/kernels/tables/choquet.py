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


@jit
def choquet_integral(matrix, mu):
    """Choquet integral of each row.

    Parameters
    ----------
    matrix : ndarray of float64, shape (m, n)
        Non-negative values, n variables a row.
    mu : ndarray of float64, shape (2**n,)
        Fuzzy measure by bit mask.

    Returns
    -------
    ndarray of float64, shape (m,)

    Notes
    -----
    Abril et al. (2012), definition 1: the sum over the sorted values of (c_(i) - c_(i-1)) mu(A_(i)), where A_(i)
    holds the variables from the i-th smallest value up. Time O(m n^2) for the insertion sort, memory O(m).
    """
    totals = np.empty(matrix.shape[0])
    for row in range(matrix.shape[0]):
        totals[row] = choquet_one(matrix[row], mu)
    return totals


@jit
def zeta_transform(values, sign):
    """Sum over subsets (sign 1, Moebius to measure) or its inverse (sign -1), in O(n 2^n)."""
    out = values.copy()
    bit = 1
    while bit < out.size:
        for mask in range(out.size):
            if mask & bit:
                out[mask] += sign * out[mask ^ bit]
        bit <<= 1
    return out
