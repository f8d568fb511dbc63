"""Swaps that keep every degree and bring a graph nearer to another."""

import numpy as np

from reident.kernels._numba import jit
from reident.kernels.networks.edgeset import contains, insert, remove, set_of_edges
from reident.kernels.networks.network import has_edge


@jit
def greedy_swaps(indptr, indices, u, v, sample, patience, rng):
    """Swap towards the graph in rows by the best of all pairs in a random sample of edges (Algorithm 9.6).

    Stops after `patience` samples in a row without an improving swap (1: the literal rule). Modifies `u` and `v`.
    Returns the number of swaps.
    """
    m = u.shape[0]
    present = set_of_edges(u, v, u.shape[0], u.shape[0])
    picked = np.empty(sample, np.int64)
    swaps = 0
    failures = 0
    while failures < patience:
        for i in range(sample):
            picked[i] = rng.integers(0, m)
        best = np.int64(0)
        best_e = 0
        best_f = 0
        best_crossed = False
        for i in range(sample):
            e = picked[i]
            old_e = np.int64(has_edge(indptr, indices, u[e], v[e]))
            for j in range(i):
                f = picked[j]
                old = old_e + has_edge(indptr, indices, u[f], v[f])
                if old == 2:
                    continue
                for crossed in range(2):
                    a = u[f] if crossed == 0 else v[f]
                    b = v[f] if crossed == 0 else u[f]
                    # (u, v), (a, b) become (u, a), (v, b).
                    if (u[e] == a or u[e] == b) or (v[e] == a or v[e] == b):
                        continue
                    new = np.int64(has_edge(indptr, indices, u[e], a)) + has_edge(indptr, indices, v[e], b)
                    if new - old <= best:
                        continue
                    if contains(present, u[e], a) or contains(present, v[e], b):
                        continue
                    best = new - old
                    best_e = e
                    best_f = f
                    best_crossed = crossed == 1
        if best == 0:
            failures += 1
            continue
        failures = 0
        swaps += 1
        a = v[best_f] if best_crossed else u[best_f]
        b = u[best_f] if best_crossed else v[best_f]
        remove(present, u[best_e], v[best_e])
        remove(present, u[best_f], v[best_f])
        insert(present, u[best_e], a)
        insert(present, v[best_e], b)
        u[best_f] = v[best_e]
        v[best_f] = b
        v[best_e] = a
    return swaps


@jit
def _replace(ptr, at, node, old, new):
    for p in range(ptr[node], ptr[node + 1]):
        if at[p] == old:
            at[p] = new
            return


@jit
def _best_pair(indptr, indices, u, v, ptr, at, foreign, present, s, t, offset):
    """Find foreign edges (s, x) and (t, y) such that (x, y) can be added; the first, or one with (x, y) wanted."""
    found_e = -1
    found_f = -1
    looked = 0
    size_s = ptr[s + 1] - ptr[s]
    size_t = ptr[t + 1] - ptr[t]
    for i in range(size_s):
        e = at[ptr[s] + (i + offset) % size_s]
        if not foreign[e]:
            continue
        x = v[e] if u[e] == s else u[e]
        if x == t:
            continue
        for j in range(size_t):
            f = at[ptr[t] + (j + offset) % size_t]
            if not foreign[f]:
                continue
            y = v[f] if u[f] == t else u[f]
            if (y == s or y == x) or contains(present, x, y):
                continue
            if has_edge(indptr, indices, x, y):
                return e, f
            if found_e < 0:
                found_e = e
                found_f = f
            looked += 1
            if looked >= 64:
                return found_e, found_f
    return found_e, found_f


@jit
def targeted_swaps(indptr, indices, u, v, ptr, at, rng):
    """Swap towards the graph in rows, one missing edge at a time. Modifies `u` and `v`. Returns the number of swaps.

    ``at[ptr[x]:ptr[x + 1]]`` are the numbers of the edges at node x; modified, too. A missing edge (s, t) is put in by
    taking two foreign edges (s, x), (t, y) out and joining x to y; passes repeat until none helps.
    """
    n = indptr.shape[0] - 1
    m = u.shape[0]
    present = set_of_edges(u, v, u.shape[0], u.shape[0])
    foreign = np.empty(m, np.bool_)
    for e in range(m):
        foreign[e] = not has_edge(indptr, indices, u[e], v[e])
    missing_s = np.empty(indices.shape[0] // 2, np.int64)
    missing_t = np.empty(indices.shape[0] // 2, np.int64)
    count = 0
    for s in range(n):
        for p in range(indptr[s], indptr[s + 1]):
            t = indices[p]
            if t > s and not contains(present, s, t):
                missing_s[count] = s
                missing_t[count] = t
                count += 1
    swaps = 0
    gained = True
    while gained:
        gained = False
        for i in range(count - 1, 0, -1):
            j = rng.integers(0, i + 1)
            missing_s[i], missing_s[j] = missing_s[j], missing_s[i]
            missing_t[i], missing_t[j] = missing_t[j], missing_t[i]
        n_kept = 0
        for i in range(count):
            s = missing_s[i]
            t = missing_t[i]
            if contains(present, s, t):
                continue
            offset = rng.integers(0, 1 << 30)
            e, f = _best_pair(indptr, indices, u, v, ptr, at, foreign, present, s, t, offset)
            if e < 0:
                missing_s[n_kept] = s
                missing_t[n_kept] = t
                n_kept += 1
                continue
            x = v[e] if u[e] == s else u[e]
            y = v[f] if u[f] == t else u[f]
            remove(present, s, x)
            remove(present, t, y)
            insert(present, s, t)
            insert(present, x, y)
            # Edge e becomes (s, t), edge f becomes (x, y): only t and x change their entries.
            _replace(ptr, at, t, f, e)
            _replace(ptr, at, x, e, f)
            u[e] = s
            v[e] = t
            foreign[e] = False
            u[f] = x
            v[f] = y
            foreign[f] = not has_edge(indptr, indices, x, y)
            swaps += 1
            gained = True
        count = n_kept
    return swaps
