"""Graphs as compressed rows: edges, triangles and distances."""

import numpy as np

from reident.kernels._numba import jit


@jit
def has_edge(indptr, indices, u, v):
    """Tell whether v stands in the sorted row of u."""
    low = indptr[u]
    high = indptr[u + 1]
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low < indptr[u + 1] and indices[low] == v


@jit
def _leads_up(indptr, u, v):
    """Tell whether v has the larger degree, of equal ones the larger number."""
    rise = indptr[v + 1] - indptr[v] - indptr[u + 1] + indptr[u]
    return rise > 0 or (rise == 0 and v > u)


@jit
def triangles(indptr, indices):
    """Count the triangles at each node, each found once along edges directed towards the larger degree."""
    n = indptr.shape[0] - 1
    out_ptr = np.zeros(n + 1, np.int64)
    for u in range(n):
        out_ptr[u + 1] = out_ptr[u]
        for p in range(indptr[u], indptr[u + 1]):
            out_ptr[u + 1] += _leads_up(indptr, u, indices[p])
    out = np.empty(out_ptr[n], np.int32)
    for u in range(n):
        fill = out_ptr[u]
        for p in range(indptr[u], indptr[u + 1]):
            if _leads_up(indptr, u, indices[p]):
                out[fill] = indices[p]
                fill += 1
    count = np.zeros(n, np.int64)
    mark = np.full(n, -1, np.int32)
    for u in range(n):
        for p in range(out_ptr[u], out_ptr[u + 1]):
            mark[out[p]] = u
        for p in range(out_ptr[u], out_ptr[u + 1]):
            v = out[p]
            for q in range(out_ptr[v], out_ptr[v + 1]):
                w = out[q]
                if mark[w] == u:
                    count[u] += 1
                    count[v] += 1
                    count[w] += 1
    return count


@jit
def distances_from(indptr, indices, sources):
    """Return for each source the sum of distances, the number of other nodes reached, and the eccentricity.

    Up to 64 sources at once by one breadth-first search over bit sets.
    """
    n = indptr.shape[0] - 1
    count = sources.shape[0]
    sums = np.zeros(count, np.int64)
    reached = np.zeros(count, np.int64)
    eccentricity = np.zeros(count, np.int64)
    visited = np.empty(n, np.uint64)
    now = np.empty(n, np.uint64)
    later = np.zeros(n, np.uint64)
    unit = np.uint64(1)
    zero = np.uint64(0)
    for base in range(0, count, 64):
        for u in range(n):
            visited[u] = zero
            now[u] = zero
        for s in range(min(64, count - base)):
            visited[sources[base + s]] |= unit << np.uint64(s)
            now[sources[base + s]] |= unit << np.uint64(s)
        level = 0
        alive = True
        while alive:
            level += 1
            alive = False
            for u in range(n):
                if now[u] != zero:
                    word = now[u]
                    for p in range(indptr[u], indptr[u + 1]):
                        later[indices[p]] |= word
            for u in range(n):
                fresh = later[u] & ~visited[u]
                later[u] = zero
                now[u] = fresh
                if fresh != zero:
                    alive = True
                    visited[u] |= fresh
                    s = base
                    while fresh != zero:
                        if fresh & unit:
                            sums[s] += level
                            reached[s] += 1
                            eccentricity[s] = level
                        fresh >>= unit
                        s += 1
    return sums, reached, eccentricity


@jit
def bound_diameter(indptr, indices, members, searches):
    """Bound the diameter of one component by bounding every eccentricity (Takes and Kosters, 2011).

    `members` are the component's nodes. Each search from a node gives its eccentricity and narrows those of all
    others; the next node is by turns the one with the largest upper and the smallest lower bound.
    """
    n = indptr.shape[0] - 1
    distance = np.empty(n, np.int64)
    queue = np.empty(n, np.int64)
    lower = np.zeros(n, np.int64)
    upper = np.full(n, n, np.int64)
    low = 0
    high = n
    widest = True
    for _ in range(searches):
        best = -1
        for i in range(members.shape[0]):
            u = members[i]
            if lower[u] == upper[u] or (upper[u] <= low and 2 * lower[u] >= high):
                continue
            du = indptr[u + 1] - indptr[u]
            if best < 0:
                best = u
                continue
            db = indptr[best + 1] - indptr[best]
            if widest:
                if upper[u] > upper[best] or (upper[u] == upper[best] and du > db):
                    best = u
            elif lower[u] < lower[best] or (lower[u] == lower[best] and du > db):
                best = u
        if best < 0:
            break
        widest = not widest
        for u in range(n):
            distance[u] = -1
        distance[best] = 0
        queue[0] = best
        head = 0
        tail = 1
        while head < tail:
            u = queue[head]
            head += 1
            for p in range(indptr[u], indptr[u + 1]):
                v = indices[p]
                if distance[v] < 0:
                    distance[v] = distance[u] + 1
                    queue[tail] = v
                    tail += 1
        reach = distance[queue[tail - 1]]
        low = max(low, reach)
        high = 0
        for i in range(members.shape[0]):
            u = members[i]
            lower[u] = max(lower[u], reach - distance[u], distance[u])
            upper[u] = min(upper[u], reach + distance[u])
            high = max(high, upper[u])
        if low >= high:
            high = low
            break
    return low, high


@jit
def attach_preferentially(n, m, rng):
    """Return the edges of a preferential attachment graph: each new node links to m distinct earlier ones."""
    count = (n - m) * m
    u = np.empty(count, np.int32)
    v = np.empty(count, np.int32)
    stubs = np.empty(2 * count + m, np.int32)
    for i in range(m):
        stubs[i] = i
    filled = m
    e = 0
    for new in range(m, n):
        first = e
        while e - first < m:
            old = stubs[rng.integers(0, filled)]
            twice = False
            for other in range(first, e):
                if v[other] == old:
                    twice = True
                    break
            if not twice:
                u[e] = new
                v[e] = old
                e += 1
        for other in range(first, e):
            stubs[filled] = new
            stubs[filled + 1] = v[other]
            filled += 2
    return u, v
