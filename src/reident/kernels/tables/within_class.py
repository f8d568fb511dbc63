"""Questions about a value among the sorted values of its class."""

from __future__ import annotations

import numpy as np

from reident.kernels._numba import jit

__all__ = ["count_between", "nearest_ties", "surprisal_bits"]


@jit
def _left(values, low, high, x):
    """Return the first place in values[low:high] whose value is not below x."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def _right(values, low, high, x):
    """Return the first place in values[low:high] whose value is above x."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] <= x:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def count_between(values, starts, classes, low, high):
    """Count for each query the values of its class in [low, high].

    Parameters
    ----------
    values : float64 array, shape (n,)
        Class by class, ascending inside a class.
    starts : int64 array, shape (n_classes + 1,)
    classes : int64 array, shape (m,)
        The class of each query.
    low, high : float64 arrays, shape (m,)
    """
    counts = np.zeros(classes.size, dtype=np.int64)
    for i in range(classes.size):
        start, end = starts[classes[i]], starts[classes[i] + 1]
        counts[i] = _right(values, start, end, high[i]) - _left(values, start, end, low[i])
    return counts


@jit
def nearest_ties(values, starts, classes, queries, own):
    """Return for each query how many values of its class are nearest to it, if its own value is one of them; else 0.

    Parameters
    ----------
    values, starts, classes
        As for `count_between`.
    queries, own : float64 arrays, shape (m,)
        The noisy value, and the value that it was made from, which is in the class.
    """
    ties = np.zeros(classes.size, dtype=np.int64)
    for i in range(classes.size):
        start, end = starts[classes[i]], starts[classes[i] + 1]
        query = queries[i]
        place = _left(values, start, end, query)
        above = values[place] - query if place < end else np.inf
        below = query - values[place - 1] if place > start else np.inf
        nearest = min(above, below)
        if abs(query - own[i]) > nearest:
            continue
        if above == nearest:
            ties[i] += _right(values, place, end, values[place]) - place
        if below == nearest:
            ties[i] += place - _left(values, start, place, values[place - 1])
    return ties


@jit
def surprisal_bits(support, counts, own, noisy, scales):
    """Return -log2 of the probability of each record's value, given its noisy value and the column's distribution.

    Parameters
    ----------
    support : float64 array, shape (u,)
        The distinct values of the column.
    counts : float64 array, shape (u,)
        How often each occurs.
    own : int64 array, shape (n,)
        The place of each record's value in `support`.
    noisy, scales : float64 arrays, shape (n,)
        The noisy value and the scale of its Laplace noise; a scale of 0 leaves no doubt.
    """
    bits = np.zeros(own.size)
    for i in range(own.size):
        if scales[i] == 0:
            continue
        # Relative to the record's own term, so that nothing underflows where it matters.
        distance = abs(noisy[i] - support[own[i]])
        total = 0.0
        for u in range(support.size):
            total += counts[u] * np.exp((distance - abs(noisy[i] - support[u])) / scales[i])
        bits[i] = np.log2(total / counts[own[i]])
    return bits
