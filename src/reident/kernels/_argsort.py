"""Stable sorting for kernels: that of numba compiles slowly and is unsafe in a shared cache (docs/kernels.md)."""

import numpy as np

from reident.kernels._numba import jit

# Runs of so many are sorted by insertion.
_RUN = 8


@jit
def argsort(values):
    """Return the positions, int64, that sort a vector without NaN; equal values keep their order. Time O(n log n)."""
    n = values.shape[0]
    order, spare = np.empty(n, np.int64), np.empty(n, np.int64)
    for start in range(0, n, _RUN):
        for i in range(start, min(start + _RUN, n)):
            at = i
            while at > start and values[order[at - 1]] > values[i]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = i
    run = _RUN
    while run < n:
        for start in range(0, n, 2 * run):
            middle, end = min(start + run, n), min(start + 2 * run, n)
            head, right = start, middle
            for at in range(start, end):
                if right == end or (head < middle and values[order[head]] <= values[order[right]]):
                    spare[at] = order[head]
                    head += 1
                else:
                    spare[at] = order[right]
                    right += 1
        order, spare = spare, order
        run *= 2
    return order
