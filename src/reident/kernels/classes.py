"""Counting the classes of generalised tuples."""

from __future__ import annotations

import numpy as np

from reident.kernels._jit import jit

__all__ = ["group_tuples"]


@jit
def _prime_from(number):
    """Return the first odd prime not below `number`."""
    candidate = max(number, 3) | 1
    while True:
        divisor = 3
        while divisor * divisor <= candidate and candidate % divisor:
            divisor += 2
        if divisor * divisor > candidate:
            return candidate
        candidate += 2


@jit
def group_tuples(tuples, weights, maps, node, strides, most):
    """Merge the tuples that agree after generalisation.

    Parameters
    ----------
    tuples : int32 array, shape (m, q)
        Codes of the values on level 0, the tuples distinct at some node not above `node`.
    weights : int64 array, shape (m,)
        The records of each tuple.
    maps : int32 array, shape (q, levels, values)
        The label of each value on each level.
    node : int64 array, shape (q,)
    strides : int64 array, shape (q,)
        Such that the sum of label * stride tells generalised tuples apart.
    most : int
        The groups after which to give up.

    Returns
    -------
    group : int64 array, shape (m,)
        The group of each tuple, in order of first appearance.
    first : int64 array, shape (g,)
        A tuple of each group; of more than `most` groups the first most + 1, and then the rest is unfinished.
    sizes : int64 array, shape (g,)
        The records of each group.
    """
    m, q = tuples.shape
    room = min(m, most + 1)
    n_slots = _prime_from(2 * room)
    slots = np.full(n_slots, -1, dtype=np.int32)
    group = np.empty(m, dtype=np.int64)
    first = np.empty(room, dtype=np.int64)
    keys = np.empty(room, dtype=np.int64)
    sizes = np.zeros(room, dtype=np.int64)
    n_groups = 0
    for i in range(m):
        key = np.int64(0)
        for j in range(q):
            key += maps[j, node[j], tuples[i, j]] * strides[j]
        slot = key % n_slots
        while slots[slot] >= 0 and keys[slots[slot]] != key:
            slot += 1
            if slot == n_slots:
                slot = 0
        g = slots[slot]
        if g < 0:
            g = n_groups
            slots[slot] = g
            first[g] = i
            keys[g] = key
            n_groups += 1
            if n_groups > most:
                break
        group[i] = g
        sizes[g] += weights[i]
    return group, first[:n_groups].copy(), sizes[:n_groups].copy()
