"""Graphs with given degrees: ConstructGraph, SuperGraph, and the stub switches that finish them."""

import numpy as np

from reident.kernels._argsort import argsort
from reident.kernels._numba import jit
from reident.kernels.networks.edgeset import contains, insert, remove, set_of_edges
from reident.kernels.networks.network import has_edge

# Nodes with a residual are kept in `order`, the largest residual first; residual r fills the places start[r] to
# start[r - 1] - 1, so that taking one off a node is one exchange with the last of its bucket.


@jit
def _buckets(a, rng):
    n = a.shape[0]
    largest = np.int64(0)
    for i in range(n):
        largest = max(largest, a[i])
    start = np.zeros(largest + 2, np.int64)
    for i in range(n):
        if a[i] > 0:
            start[a[i] - 1] += 1
    # Until here start[r] counts residual r + 1; now it counts the residuals above r.
    for r in range(largest - 1, -1, -1):
        start[r] += start[r + 1]
    order = np.empty(start[0], np.int64)
    place = np.full(n, -1, np.int64)
    fill = start.copy()
    for i in range(n):
        if a[i] > 0:
            order[fill[a[i]]] = i
            fill[a[i]] += 1
    # Equal residuals are taken in random order.
    for r in range(1, largest + 1):
        for i in range(start[r - 1] - 1, start[r], -1):
            j = rng.integers(start[r], i + 1)
            order[i], order[j] = order[j], order[i]
    for i in range(order.shape[0]):
        place[order[i]] = i
    return start, order, place


@jit
def _decrement(a, start, order, place, u):
    r = a[u]
    end = start[r - 1] - 1
    other = order[end]
    here = place[u]
    order[here] = other
    place[other] = here
    order[end] = u
    place[u] = end
    start[r - 1] = end
    a[u] = r - 1


@jit
def realise(indptr, indices, residual, largest_first, strict, rng):
    """Add edges between nodes that are not joined until every residual degree is used up.

    A pivot (random, or the one with the largest residual) is joined to the nodes with the largest residuals that it is
    not joined to. `strict`: give up as soon as a pivot finds too few partners (the literal SuperGraph, and
    ConstructGraph where `indices` is empty). Otherwise go on with what there is.

    Returns the added edges (u, v) and what is left of the residuals.
    """
    a = residual.copy()
    n = a.shape[0]
    total = a.sum()
    u = np.empty(total // 2 + 1, np.int32)
    v = np.empty(total // 2 + 1, np.int32)
    m = 0
    missing = np.zeros(n, np.int64)
    start, order, place = _buckets(a, rng)
    mark = np.full(n, -1, np.int64)
    partners = np.empty(order.shape[0], np.int64)
    while start[0] > 0:
        pivot = order[0] if largest_first else order[rng.integers(0, start[0])]
        mark[pivot] = pivot
        for p in range(indptr[pivot], indptr[pivot + 1]):
            mark[indices[p]] = pivot
        wanted = a[pivot]
        n_found = 0
        at = 0
        while n_found < wanted and at < start[0]:
            if mark[order[at]] != pivot:
                partners[n_found] = order[at]
                n_found += 1
            at += 1
        while a[pivot] > 0:
            _decrement(a, start, order, place, pivot)
        for i in range(n_found):
            _decrement(a, start, order, place, partners[i])
            u[m] = pivot
            v[m] = partners[i]
            m += 1
        missing[pivot] = wanted - n_found
        if n_found < wanted and strict:
            for i in range(n):
                missing[i] += a[i]
            break
    return u[:m], v[:m], missing


@jit
def drop_edges(indptr, indices, excess):
    """Delete edges between nodes that both have too many, the largest excess first.

    Returns the deleted edges (u, v) and what is left of the excess.
    """
    remaining = excess.copy()
    n = remaining.shape[0]
    total = remaining.sum()
    u = np.empty(total // 2 + 1, np.int32)
    v = np.empty(total // 2 + 1, np.int32)
    m = 0
    done = np.zeros(n, np.bool_)
    order = argsort(-remaining)
    for step in range(n):
        pivot = order[step]
        if excess[pivot] == 0:
            break
        done[pivot] = True
        if remaining[pivot] == 0:
            continue
        partners = np.empty(indptr[pivot + 1] - indptr[pivot], np.int64)
        weights = np.empty(partners.size, np.int64)
        count = 0
        for p in range(indptr[pivot], indptr[pivot + 1]):
            if remaining[indices[p]] > 0 and not done[indices[p]]:
                partners[count] = indices[p]
                weights[count] = -remaining[indices[p]]
                count += 1
        chosen = argsort(weights[:count])
        for i in range(min(count, remaining[pivot])):
            other = partners[chosen[i]]
            remaining[other] -= 1
            u[m] = pivot
            v[m] = other
            m += 1
        remaining[pivot] -= min(count, remaining[pivot])
    return u[:m], v[:m], remaining


@jit
def stubs_of(counts, rng):
    """List every node as often as its count says, in random order."""
    total = counts.sum()
    stubs = np.empty(total, np.int64)
    fill = 0
    for i in range(counts.shape[0]):
        for _ in range(counts[i]):
            stubs[fill] = i
            fill += 1
    for i in range(total - 1, 0, -1):
        j = rng.integers(0, i + 1)
        stubs[i], stubs[j] = stubs[j], stubs[i]
    return stubs


@jit
def switch_stubs(indptr, indices, u, v, missing, tries, rng):
    """Use added edges to place stubs that found no partner: (x, y) becomes (s, x) and (t, y). Modifies all arrays.

    `u`, `v` hold the added edges and room for half of `missing` more. Returns the number of added edges.
    """
    total = missing.sum()
    m = u.shape[0] - total // 2
    if m == 0 or total < 2:
        return m
    added = set_of_edges(u, v, m, u.shape[0] + 8)
    stubs = stubs_of(missing, rng)
    for i in range(0, total - 1, 2):
        s = stubs[i]
        t = stubs[i + 1]
        if s != t and not has_edge(indptr, indices, s, t) and not contains(added, s, t):
            insert(added, s, t)
            u[m] = s
            v[m] = t
            m += 1
            missing[s] -= 1
            missing[t] -= 1
            continue
        for _ in range(tries):
            e = rng.integers(0, m)
            x = np.int64(u[e])
            y = np.int64(v[e])
            if rng.integers(0, 2) == 1:
                x, y = y, x
            if (s == x or s == y) or (t == x or t == y):
                continue
            if has_edge(indptr, indices, s, x) or contains(added, s, x):
                continue
            if has_edge(indptr, indices, t, y) or contains(added, t, y):
                continue
            remove(added, x, y)
            insert(added, s, x)
            insert(added, t, y)
            u[e] = s
            v[e] = x
            u[m] = t
            v[m] = y
            m += 1
            missing[s] -= 1
            missing[t] -= 1
            break
    return m
