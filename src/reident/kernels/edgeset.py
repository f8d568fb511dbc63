"""A set of undirected edges with open addressing, for graphs that change."""

from __future__ import annotations

import numpy as np

from reident.kernels._jit import jit

FREE = -1
GONE = -2


@jit
def new_set(capacity):
    """Return an empty set that keeps short probe chains up to `capacity` edges."""
    return np.full(2 * capacity + 17, -1, np.int64)


@jit
def _slot(table, u, v):
    # Two odd multipliers below 2^27 keep the products inside 64 bits without overflow.
    return (u * 73856093 ^ v * 19349663) % table.shape[0]


@jit
def contains(table, u, v):
    """Tell whether the edge (u, v) is in the set, whichever end comes first."""
    if u > v:
        u, v = v, u
    u = np.int64(u)
    v = np.int64(v)
    key = (u << 31) | v
    slot = _slot(table, u, v)
    while table[slot] != -1:
        if table[slot] == key:
            return True
        slot += 1
        if slot == table.shape[0]:
            slot = 0
    return False


@jit
def insert(table, u, v):
    """Add an edge that is not yet in the set. Modifies `table`."""
    if u > v:
        u, v = v, u
    u = np.int64(u)
    v = np.int64(v)
    slot = _slot(table, u, v)
    while table[slot] >= 0:
        slot += 1
        if slot == table.shape[0]:
            slot = 0
    table[slot] = (u << 31) | v


@jit
def remove(table, u, v):
    """Take an edge out of the set, if it is there. Modifies `table`."""
    if u > v:
        u, v = v, u
    u = np.int64(u)
    v = np.int64(v)
    key = (u << 31) | v
    slot = _slot(table, u, v)
    while table[slot] != -1:
        if table[slot] == key:
            table[slot] = -2
            return
        slot += 1
        if slot == table.shape[0]:
            slot = 0


@jit
def set_of_edges(u, v):
    """Return the set that holds all given edges."""
    table = new_set(u.shape[0])
    for e in range(u.shape[0]):
        insert(table, u[e], v[e])
    return table


@jit
def is_end(x, u, v):
    """Tell whether x is an end of the edge (u, v)."""
    # Spelled out: a tuple of two integer types does not compile.
    first = x == u
    return first or x == v
