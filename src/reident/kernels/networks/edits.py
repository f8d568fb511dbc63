"""Direct edits: a graph's degrees moved to given ones by as few edges as can be."""

import numpy as np

from reident.kernels._numba import jit
from reident.kernels.networks.edgeset import contains, insert, remove, set_of_edges
from reident.kernels.networks.network import has_edge
from reident.kernels.networks.realise import stubs_of

# A graph that is edited is (indptr, indices, added, removed): its rows, plus one set of edges, less another. The two
# sets stay disjoint from and inside the rows, so that together they are the net difference at any time.


@jit
def _joined(graph, u, v):
    indptr, indices, added, removed = graph
    return contains(added, u, v) or (has_edge(indptr, indices, u, v) and not contains(removed, u, v))


@jit
def _cut(graph, u, v):
    indptr, indices, added, removed = graph
    if has_edge(indptr, indices, u, v):
        insert(removed, u, v)
    else:
        remove(added, u, v)


@jit
def _join(graph, u, v):
    indptr, indices, added, removed = graph
    if has_edge(indptr, indices, u, v):
        remove(removed, u, v)
    else:
        insert(added, u, v)


@jit
def _free_neighbour(graph, u, w, offset):
    """Find an original neighbour x of u, still joined to it, that is neither w nor joined to w; -1 for none."""
    indptr, indices, removed = graph[0], graph[1], graph[3]
    size = indptr[u + 1] - indptr[u]
    for i in range(size):
        x = np.int64(indices[indptr[u] + (i + offset) % size])
        if x == w or contains(removed, u, x):
            continue
        if not _joined(graph, x, w):
            return x
    return np.int64(-1)


@jit
def _raise_pair(graph, s, t, tries, rng):
    """Raise s and t by one each: take a random edge (x, y) out, put (s, x) and (t, y) in."""
    indptr, indices, removed = graph[0], graph[1], graph[3]
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
        if _joined(graph, s, x) or _joined(graph, t, y):
            continue
        _cut(graph, x, y)
        _join(graph, s, x)
        _join(graph, t, y)
        return True
    return False


@jit
def _lower_pair(graph, s, t, rng):
    """Lower s and t by one each: take (s, x) and (t, y) out, put (x, y) in."""
    indptr, indices, removed = graph[0], graph[1], graph[3]
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
            if not _joined(graph, x, y):
                _cut(graph, s, x)
                _cut(graph, t, y)
                _join(graph, x, y)
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
    room = add_u.size + cut_u.size + 2 * (low.size + high.size) + 8
    added = set_of_edges(add_u, add_v, add_u.size, room)
    removed = set_of_edges(cut_u, cut_v, cut_u.size, room)
    graph = indptr, indices, added, removed
    a, b = low.size, high.size
    for i in range(b - 1, -1, -1):
        s = high[i]
        for j in range(a - 1, max(a - 65, -1), -1):
            t = low[j]
            x = _free_neighbour(graph, s, t, rng.integers(0, 1 << 30))
            if x >= 0:
                _cut(graph, s, x)
                _join(graph, t, x)
                short[t] -= 1
                excess[s] -= 1
                a -= 1
                low[j] = low[a]
                b -= 1
                high[i] = high[b]
                break
    for i in range(0, a - 1, 2):
        s, t = low[i], low[i + 1]
        done = s != t and not _joined(graph, s, t)
        if done:
            _join(graph, s, t)
        else:
            done = _raise_pair(graph, s, t, tries, rng)
        if done:
            short[s] -= 1
            short[t] -= 1
    for i in range(0, b - 1, 2):
        s, t = high[i], high[i + 1]
        done = s != t and _joined(graph, s, t)
        if done:
            _cut(graph, s, t)
        else:
            done = _lower_pair(graph, s, t, rng)
        if done:
            excess[s] -= 1
            excess[t] -= 1
    return added, removed
