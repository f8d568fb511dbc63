"""Groups that no few edges take apart: the maximal k-edge-connected subgraphs."""

from __future__ import annotations

import numpy as np

from reident.kernels._loops import numbers, put
from reident.kernels._numba import jit


@jit
def edge_connected_groups(u, v, n, k):
    """Return a label for each of n nodes: equal labels where a maximal k-edge-connected subgraph holds both.

    Parameters
    ----------
    u, v : ndarray of int32
        The edges, each once.
    n, k : int
        Nodes; how many edges must be cut to take a group apart, at least 1.

    Notes
    -----
    Edges at nodes with fewer than k are peeled off. Then nodes are scanned in the order of most edges to those scanned
    (Nagamochi and Ibaraki, 1992): a node that k edges join to them is k-edge-connected to the one scanned when it
    reached k, and both are merged. A merged node with fewer than k edges to others is cut off, and all begins anew,
    as what held together by edges that are gone may not any more. Time O(edges + n k) a scan; a few scans a cut.
    """
    alive = np.ones(u.shape[0], np.bool_)
    group = numbers(n)
    while True:
        _peel(u, v, alive, n, k)
        put(group, numbers(n))
        while _merge(u, v, alive, group, k):
            pass
        if not _cut(u, v, alive, group, k):
            return group


@jit
def _rows(u, v, alive, group):
    """Return pointers and neighbours of the merged nodes, an edge as often as it is there."""
    n = group.shape[0]
    indptr = np.zeros(n + 1, np.int64)
    for e in range(u.shape[0]):
        if alive[e] and group[u[e]] != group[v[e]]:
            indptr[group[u[e]] + 1] += 1
            indptr[group[v[e]] + 1] += 1
    for i in range(n):
        indptr[i + 1] += indptr[i]
    fill = indptr[:-1].copy()
    indices = np.empty(indptr[n], np.int64)
    for e in range(u.shape[0]):
        a = group[u[e]]
        b = group[v[e]]
        if alive[e] and a != b:
            indices[fill[a]] = b
            fill[a] += 1
            indices[fill[b]] = a
            fill[b] += 1
    return indptr, indices


@jit
def _peel(u, v, alive, n, k):
    """Take out the edges at nodes that have fewer than k, and at those that this leaves with fewer."""
    indptr, indices = _rows(u, v, alive, numbers(n))
    degree = indptr[1:] - indptr[:-1]
    gone = degree < k
    waiting = np.empty(n, np.int64)
    m = 0
    for i in range(n):
        if gone[i]:
            waiting[m] = i
            m += 1
    at = 0
    while at < m:
        node = waiting[at]
        at += 1
        for p in range(indptr[node], indptr[node + 1]):
            other = indices[p]
            degree[other] -= 1
            if not gone[other] and degree[other] < k:
                gone[other] = True
                waiting[m] = other
                m += 1
    for e in range(u.shape[0]):
        if gone[u[e]] or gone[v[e]]:
            alive[e] = False


@jit
def _merge(u, v, alive, group, k):
    """Scan once; merge who k edges join to those scanned with who brought the k-th. Tell whether any were."""
    n = group.shape[0]
    indptr, indices = _rows(u, v, alive, group)
    reached = np.zeros(n, np.int64)
    scanned = np.zeros(n, np.bool_)
    root = numbers(n)
    # Stacks by the number of edges to the scanned, at most k; a node lies in each that it has passed.
    top = np.full(k + 1, -1, np.int64)
    below = np.empty(indices.shape[0], np.int64)
    entry = np.empty(indices.shape[0], np.int64)
    used = 0
    merged = False
    for start in range(n):
        if scanned[start] or indptr[start] == indptr[start + 1]:
            continue
        node = start
        level = 0
        while node >= 0:
            scanned[node] = True
            for p in range(indptr[node], indptr[node + 1]):
                other = indices[p]
                if scanned[other]:
                    continue
                reached[other] += 1
                at = min(reached[other], k)
                if reached[other] >= k:
                    a = _root(root, node)
                    b = _root(root, other)
                    if a != b:
                        root[max(a, b)] = min(a, b)
                        merged = True
                if reached[other] <= k:
                    entry[used] = other
                    below[used] = top[at]
                    top[at] = used
                    used += 1
                    level = max(level, at)
            node = -1
            while level > 0 and node < 0:
                if top[level] < 0:
                    level -= 1
                    continue
                candidate = entry[top[level]]
                top[level] = below[top[level]]
                if not scanned[candidate] and min(reached[candidate], k) == level:
                    node = candidate
    if merged:
        for i in range(n):
            group[i] = _root(root, group[i])
    return merged


@jit
def _root(root, node):
    while root[node] != node:
        root[node] = root[root[node]]
        node = root[node]
    return node


@jit
def _cut(u, v, alive, group, k):
    """Take out the edges of merged nodes that have fewer than k to others; tell whether there were any."""
    crossing = np.zeros(group.shape[0], np.int64)
    for e in range(u.shape[0]):
        if alive[e] and group[u[e]] != group[v[e]]:
            crossing[group[u[e]]] += 1
            crossing[group[v[e]]] += 1
    cut = False
    for e in range(u.shape[0]):
        a = group[u[e]]
        b = group[v[e]]
        if alive[e] and a != b and (crossing[a] < k or crossing[b] < k):
            alive[e] = False
            cut = True
    return cut
