"""Direct edits: a graph's degrees moved to given ones by as few edges as can be."""

from __future__ import annotations

import numpy as np

from reident.kernels._numba import jit
from reident.kernels.networks.edgeset import contains, insert, remove, set_of_edges
from reident.kernels.networks.network import has_edge
from reident.kernels.networks.realise import stubs_of

# The graph that is being edited is its rows, less the set `removed`, plus the set `added`; the two sets stay disjoint
# from and inside the rows, so that together they are the net difference at any time.


@jit
def _joined(indptr, indices, added, removed, u, v):
    if contains(added, u, v):
        return True
    return has_edge(indptr, indices, u, v) and not contains(removed, u, v)


@jit
def _cut(indptr, indices, added, removed, u, v):
    if has_edge(indptr, indices, u, v):
        insert(removed, u, v)
    else:
        remove(added, u, v)


@jit
def _join(indptr, indices, added, removed, u, v):
    if has_edge(indptr, indices, u, v):
        remove(removed, u, v)
    else:
        insert(added, u, v)


@jit
def _free_neighbour(indptr, indices, added, removed, u, w, offset):
    """Find an original neighbour x of u, still joined to it, that is neither w nor joined to w; -1 for none."""
    size = indptr[u + 1] - indptr[u]
    for i in range(size):
        x = np.int64(indices[indptr[u] + (i + offset) % size])
        if x == w or contains(removed, u, x):
            continue
        if not _joined(indptr, indices, added, removed, x, w):
            return x
    return np.int64(-1)


@jit
def _raise_pair(indptr, indices, added, removed, s, t, tries, rng):
    """Raise s and t by one each: take a random edge (x, y) out, put (s, x) and (t, y) in."""
    if indices.shape[0] == 0:
        return False
    for _ in range(tries):
        p = rng.integers(0, indices.shape[0])
        x = np.int64(indices[p])
        y = np.int64(0)  # the row that place p belongs to
        high = indptr.shape[0] - 1
        while high - y > 1:
            middle = (y + high) // 2
            if indptr[middle] <= p:
                y = middle
            else:
                high = middle
        if (s == x or s == y) or (t == x or t == y) or contains(removed, x, y):
            continue
        if _joined(indptr, indices, added, removed, s, x) or _joined(indptr, indices, added, removed, t, y):
            continue
        _cut(indptr, indices, added, removed, x, y)
        _join(indptr, indices, added, removed, s, x)
        _join(indptr, indices, added, removed, t, y)
        return True
    return False


@jit
def _lower_pair(indptr, indices, added, removed, s, t, rng):
    """Lower s and t by one each: take (s, x) and (t, y) out, put (x, y) in."""
    size = indptr[t + 1] - indptr[t]
    if size == 0:
        return False
    for p in range(indptr[s], indptr[s + 1]):
        x = np.int64(indices[p])
        if x == t or contains(removed, s, x):
            continue
        offset = rng.integers(0, size)
        for i in range(size):
            y = np.int64(indices[indptr[t] + (i + offset) % size])
            if (y == x or y == s) or contains(removed, t, y):
                continue
            if not _joined(indptr, indices, added, removed, x, y):
                _cut(indptr, indices, added, removed, s, x)
                _cut(indptr, indices, added, removed, t, y)
                _join(indptr, indices, added, removed, x, y)
                return True
    return False


@jit
def settle(indptr, indices, add_u, add_v, cut_u, cut_v, short, excess, tries, rng):
    """Finish a direct edit: turn, add and cut edges until no node is short of edges or has too many.

    `add_*`, `cut_*` are the edits so far; `short` and `excess` what they left (modified in place). An edge that ends at
    a node with too many is turned to one that is short; remaining pairs of one kind are settled with a third edge.

    Returns the net edits: the sets of the edges added and removed (see `reident.kernels.networks.edgeset`).
    """
    low = stubs_of(short, rng)
    high = stubs_of(excess, rng)
    room = add_u.shape[0] + cut_u.shape[0] + 2 * (low.shape[0] + high.shape[0]) + 8
    added = set_of_edges(add_u, add_v, add_u.shape[0], room)
    removed = set_of_edges(cut_u, cut_v, cut_u.shape[0], room)
    a = low.shape[0]
    b = high.shape[0]
    for i in range(b - 1, -1, -1):
        s = high[i]
        for j in range(a - 1, max(a - 65, -1), -1):
            t = low[j]
            x = _free_neighbour(indptr, indices, added, removed, s, t, rng.integers(0, 1 << 30))
            if x >= 0:
                _cut(indptr, indices, added, removed, s, x)
                _join(indptr, indices, added, removed, t, x)
                short[t] -= 1
                excess[s] -= 1
                a -= 1
                low[j] = low[a]
                b -= 1
                high[i] = high[b]
                break
    for i in range(0, a - 1, 2):
        s = low[i]
        t = low[i + 1]
        done = s != t and not _joined(indptr, indices, added, removed, s, t)
        if done:
            _join(indptr, indices, added, removed, s, t)
        else:
            done = _raise_pair(indptr, indices, added, removed, s, t, tries, rng)
        if done:
            short[s] -= 1
            short[t] -= 1
    for i in range(0, b - 1, 2):
        s = high[i]
        t = high[i + 1]
        done = s != t and _joined(indptr, indices, added, removed, s, t)
        if done:
            _cut(indptr, indices, added, removed, s, t)
        else:
            done = _lower_pair(indptr, indices, added, removed, s, t, rng)
        if done:
            excess[s] -= 1
            excess[t] -= 1
    return added, removed


@jit
def patch_rows(indptr, indices, add_u, add_v, cut_u, cut_v):
    """Return the rows of the graph with some edges added (that it lacks) and some cut (that it has)."""
    n = indptr.shape[0] - 1
    change = np.zeros(n, np.int64)
    touched = np.zeros(n, np.bool_)
    for e in range(add_u.shape[0]):
        change[add_u[e]] += 1
        change[add_v[e]] += 1
        touched[add_u[e]] = True
        touched[add_v[e]] = True
    removed = set_of_edges(cut_u, cut_v, cut_u.shape[0], cut_u.shape[0])
    for e in range(cut_u.shape[0]):
        change[cut_u[e]] -= 1
        change[cut_v[e]] -= 1
        touched[cut_u[e]] = True
        touched[cut_v[e]] = True
    new_ptr = np.zeros(n + 1, np.int64)
    for i in range(n):
        new_ptr[i + 1] = new_ptr[i] + indptr[i + 1] - indptr[i] + change[i]
    new = np.empty(new_ptr[n], np.int32)
    fill = np.empty(n, np.int64)
    for i in range(n):
        fill[i] = new_ptr[i]
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            if not touched[i] or not contains(removed, i, np.int64(indices[p])):
                new[fill[i]] = indices[p]
                fill[i] += 1
    for e in range(add_u.shape[0]):
        new[fill[add_u[e]]] = add_v[e]
        fill[add_u[e]] += 1
        new[fill[add_v[e]]] = add_u[e]
        fill[add_v[e]] += 1
    for i in range(n):
        if touched[i]:
            # All but the added entries, which stand last, are sorted already.
            for p in range(new_ptr[i] + 1, new_ptr[i + 1]):
                value, at = new[p], p
                while at > new_ptr[i] and new[at - 1] > value:
                    new[at] = new[at - 1]
                    at -= 1
                new[at] = value
    return new_ptr, new
