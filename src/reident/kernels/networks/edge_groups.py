"""The two steps of finding k-edge-connected groups: peeling and scanning."""

import numpy as np

from reident.kernels._numba import jit


@jit
def peel(indptr, indices, k):
    """Return which nodes are left when those with fewer than k edges are taken out, again and again."""
    n = indptr.shape[0] - 1
    degree = np.empty(n, np.int64)
    in_core = np.ones(n, np.bool_)
    waiting = np.empty(n, np.int64)
    m = 0
    for i in range(n):
        degree[i] = indptr[i + 1] - indptr[i]
        if degree[i] < k:
            in_core[i] = False
            waiting[m] = i
            m += 1
    at = 0
    while at < m:
        node = waiting[at]
        at += 1
        for p in range(indptr[node], indptr[node + 1]):
            other = indices[p]
            degree[other] -= 1
            if in_core[other] and degree[other] < k:
                in_core[other] = False
                waiting[m] = other
                m += 1
    return in_core


@jit
def scan(indptr, indices, k):
    """Scan once; merge nodes that k edges join to those scanned with the node that brought the k-th.

    Returns the smallest node that each is merged with, and whether any were merged.
    """
    n = indptr.shape[0] - 1
    reached = np.zeros(n, np.int64)
    scanned = np.zeros(n, np.bool_)
    root = np.empty(n, np.int64)
    for i in range(n):
        root[i] = i
    # Stacks by the number of edges to the scanned, at most k; a node lies in each that it has passed.
    top = np.empty(k + 1, np.int64)
    for level in range(k + 1):
        top[level] = -1
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
                    a, b = node, other
                    while root[a] != a:
                        root[a] = root[root[a]]
                        a = root[a]
                    while root[b] != b:
                        root[b] = root[root[b]]
                        b = root[b]
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
    # A root is the smallest of its nodes, so those before are settled.
    for i in range(n):
        root[i] = root[root[i]]
    return root, merged
