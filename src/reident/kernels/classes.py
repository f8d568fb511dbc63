"""Counting the classes of generalised tuples."""

from __future__ import annotations

import numpy as np

from reident.kernels._jit import jit

__all__ = ["group_tuples"]

# An odd 64-bit constant (2^64 / golden ratio) spreads keys over a table whose size is a power of two.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@jit
def _first_slots(keys, bits):
    """Return the slot at which the search for each key starts; products of arrays wrap around without a word."""
    return ((keys.astype(np.uint64) * _SPREAD) >> np.uint64(64 - bits)).astype(np.int64)


@jit
def _keys(tuples, maps, node, strides):
    """Return one number for each generalised tuple."""
    m, q = tuples.shape
    keys = np.zeros(m, dtype=np.int64)
    for i in range(m):
        key = np.int64(0)
        for j in range(q):
            key += maps[j, node[j], tuples[i, j]] * strides[j]
        keys[i] = key
    return keys


@jit
def group_tuples(tuples, weights, maps, node, strides):
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

    Returns
    -------
    group : int64 array, shape (m,)
        The group of each tuple, in order of first appearance.
    first : int64 array, shape (g,)
        A tuple of each group.
    sizes : int64 array, shape (g,)
        The records of each group.
    """
    m = tuples.shape[0]
    bits = 1
    while (1 << bits) < 2 * m:
        bits += 1
    mask = (1 << bits) - 1
    keys = _keys(tuples, maps, node, strides)
    first_slots = _first_slots(keys, bits)
    slots = np.full(1 << bits, -1, dtype=np.int32)
    group = np.empty(m, dtype=np.int64)
    first = np.empty(m, dtype=np.int64)
    sizes = np.zeros(m, dtype=np.int64)
    n_groups = 0
    for i in range(m):
        slot = first_slots[i]
        while slots[slot] >= 0 and keys[first[slots[slot]]] != keys[i]:
            slot = (slot + 1) & mask
        g = slots[slot]
        if g < 0:
            g = n_groups
            slots[slot] = g
            first[g] = i
            n_groups += 1
        group[i] = g
        sizes[g] += weights[i]
    return group, first[:n_groups].copy(), sizes[:n_groups].copy()
