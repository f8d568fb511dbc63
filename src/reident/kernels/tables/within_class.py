"""Questions about a value among the sorted values of its class."""

from __future__ import annotations

import numpy as np

from reident.kernels._numba import jit


@jit
def _bisect(values, low, high, x, or_equal):
    """Return the first place in values[low:high] with a value not below x; with `or_equal`, above x."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < x or (or_equal and values[middle] == x):
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
        counts[i] = _bisect(values, start, end, high[i], True) - _bisect(values, start, end, low[i], False)
    return counts


@jit
def nearest_ties(values, starts, classes, queries, true_values):
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
        place = _bisect(values, start, end, query, False)
        above = values[place] - query if place < end else np.inf
        below = query - values[place - 1] if place > start else np.inf
        nearest = min(above, below)
        if abs(query - true_values[i]) > nearest:
            continue
        if above == nearest:
            ties[i] += _bisect(values, place, end, values[place], True) - place
        if below == nearest:
            ties[i] += place - _bisect(values, start, place, values[place - 1], False)
    return ties
