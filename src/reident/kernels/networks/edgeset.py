"""A set of undirected edges with open addressing, for graphs that change."""

import numpy as np

from reident.kernels._numba import jit

FREE = -1
GONE = -2


@jit
def _key_and_slot(table, u, v):
    """Return the number of an edge, whichever end comes first, and where its probe chain begins."""
    low, high = np.int64(min(u, v)), np.int64(max(u, v))
    # Two odd multipliers below 2^27 keep the products inside 64 bits without overflow.
    return (low << 31) | high, (low * 73856093 ^ high * 19349663) % table.shape[0]


@jit
def _find(table, u, v):
    """Return the slot of an edge, or the free slot that ends its probe chain."""
    key, slot = _key_and_slot(table, u, v)
    while table[slot] != FREE and table[slot] != key:
        slot += 1
        if slot == table.shape[0]:
            slot = 0
    return slot


@jit
def contains(table, u, v):
    """Tell whether the edge (u, v) is in the set, whichever end comes first."""
    return table[_find(table, u, v)] != FREE


@jit
def insert(table, u, v):
    """Add an edge that is not yet in the set. Modifies `table`."""
    key, slot = _key_and_slot(table, u, v)
    while table[slot] >= 0:
        slot += 1
        if slot == table.shape[0]:
            slot = 0
    table[slot] = key


@jit
def remove(table, u, v):
    """Take an edge out of the set, if it is there. Modifies `table`."""
    slot = _find(table, u, v)
    if table[slot] != FREE:
        table[slot] = GONE


@jit
def set_of_edges(u, v, n, capacity):
    """Return the set of the first n edges; its probe chains stay short up to `capacity` edges."""
    table = np.full(2 * capacity + 17, FREE, np.int64)
    for e in range(n):
        insert(table, np.int64(u[e]), np.int64(v[e]))
    return table


def list_edges(table):
    """Return the edges of a set as two arrays, by numpy."""
    keys = table[table >= 0]
    return (keys >> 31).astype(np.int32), (keys & 0x7FFFFFFF).astype(np.int32)
