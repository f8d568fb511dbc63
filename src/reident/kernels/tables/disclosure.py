"""Distances between a class's distribution of a sensitive attribute and the table's."""

from __future__ import annotations

import numpy as np

from reident.kernels._loops import numbers
from reident.kernels._numba import jit

__all__ = ["ordered_distances", "sort_by_class"]


@jit
def _counting_sort(records, keys, n_keys):
    """Return the records by their keys, those of one key in the order they came in."""
    starts = np.zeros(n_keys + 1, dtype=np.int64)
    for i in records:
        starts[keys[i] + 1] += 1
    for key in range(n_keys):
        starts[key + 1] += starts[key]
    order = np.empty(records.size, dtype=np.int64)
    for i in records:
        order[starts[keys[i]]] = i
        starts[keys[i]] += 1
    return order


@jit
def sort_by_class(classes, n_classes, codes, n_codes):
    """Return the order of records by class and, inside a class, by code (two counting sorts)."""
    return _counting_sort(_counting_sort(numbers(classes.size), codes, n_codes), classes, n_classes)


@jit
def _segment(cumulative, sums, low, high, level):
    """Sum |level - cumulative[i]| over low <= i < high, for a non-decreasing `cumulative` with prefix sums `sums`."""
    if high <= low:
        return 0.0
    split = low + np.searchsorted(cumulative[low:high], level)
    below = level * (split - low) - (sums[split] - sums[low])
    above = (sums[high] - sums[split]) - level * (high - split)
    return below + above


@jit
def ordered_distances(run_starts, run_values, run_counts, class_sizes, cumulative, sums):
    """Return each class's ordered (earth mover's) distance to the table, not yet divided by m - 1.

    Parameters
    ----------
    run_starts : int64 array, shape (n_classes + 1,)
        Where the runs (value, count) of each class start; values ascend inside a class.
    run_values, run_counts : int64 arrays
    class_sizes : int64 array, shape (n_classes,)
    cumulative : float64 array, shape (m,)
        The table's distribution function at each of the m values.
    sums : float64 array, shape (m + 1,)
        Prefix sums of `cumulative`.
    """
    distances = np.zeros(class_sizes.size)
    m = cumulative.size
    for c in range(class_sizes.size):
        total = 0.0
        at = 0
        seen = 0
        for run in range(run_starts[c], run_starts[c + 1]):
            total += _segment(cumulative, sums, at, run_values[run], seen / class_sizes[c])
            at = run_values[run]
            seen += run_counts[run]
        total += _segment(cumulative, sums, at, m, seen / class_sizes[c])
        distances[c] = total
    return distances
