"""Reductions of a graph that keep every clique of a wanted size: edges with too few common neighbours are removed.

The ends of an edge of a clique of t members share its other t - 2. In sparse graphs nearly all edges fail this.
"""

import numpy as np

from reident.kernels._numba import jit
from reident.kernels.cliques.bitset import ONE, ZERO, bit, count_bits, lowest_bit, popcount
from reident.kernels.cliques.clique_prefix import filter_row


@jit
def prune_bits(bits, low, high, need, beyond):
    """Remove, in place, the edges from low..high-1 to smaller vertices with fewer than `need` common neighbours.

    To be called for runs of vertices from the last to the first, each beginning at a multiple of 64. ``beyond[v]``,
    zero at first, counts v's edges to the runs done before: hardly any are left there, so that those columns are
    bounded by a number and seldom read. The rows of a run stay in the cache while the others stream past.

    Returns the number of edges looked at and of those removed.
    """
    first = low >> 6
    last = (high + 63) >> 6
    words = bits.shape[1]
    mark = 0
    removed = 0
    for i in range(high):
        row = bits[i]
        for w in range(max(first, i >> 6), last):
            word = row[w]
            while word != ZERO:
                u = (w << 6) + lowest_bit(word)
                word &= word - ONE
                if u <= i:
                    continue
                other = bits[u]
                shared = 0
                for x in range(last):
                    shared += popcount(row[x] & other[x])
                mark += 1
                if shared < need <= shared + min(beyond[i], beyond[u]):
                    for x in range(last, words):
                        shared += popcount(row[x] & other[x])
                if shared < need:
                    row[w] &= ~bit(u)
                    other[i >> 6] &= ~bit(i)
                    removed += 1
    for v in range(low):
        for w in range(first, last):
            beyond[v] += popcount(bits[v, w])
    return mark, removed


@jit
def count_shared(starts, prefixes, low, high, marked, place, shared):
    """Add, for every edge, the triangles with a largest vertex in low..high-1.

    `shared` runs parallel to `prefixes`: entry p of vertex v counts for the edge from v to ``prefixes[p]``.
    """
    for i in range(low, high):
        first = starts[i]
        for p in range(first, starts[i + 1]):
            marked[prefixes[p]] = 1
            place[prefixes[p]] = p
        for p in range(first, starts[i + 1]):
            u = prefixes[p]
            inside = 0
            for q in range(starts[u], starts[u + 1]):
                x = prefixes[q]
                if marked[x]:
                    inside += 1
                    shared[place[x]] += 1
                    shared[q] += 1
            shared[p] += inside
        for p in range(first, starts[i + 1]):
            marked[prefixes[p]] = 0


@jit
def prune_lists(starts, prefixes, shared, need):
    """Remove, in place, the edges with fewer than `need` common neighbours, or ends of too small a degree for a clique.

    Returns the number of edges left, which are the first so many of `prefixes`.
    """
    n = starts.shape[0] - 1
    degrees = np.zeros(n, dtype=np.int64)
    for i in range(n):
        for p in range(starts[i], starts[i + 1]):
            if shared[p] >= need:
                degrees[i] += 1
                degrees[prefixes[p]] += 1
    remaining = 0
    first = starts[0]
    for i in range(n):
        last = starts[i + 1]
        for p in range(first, last):
            # A member of a clique of need + 2 has need + 1 neighbours.
            if shared[p] >= need and degrees[i] > need and degrees[prefixes[p]] > need:
                prefixes[remaining] = prefixes[p]
                remaining += 1
        first = last
        starts[i + 1] = remaining
    return remaining


@jit
def pack_prefixes(starts, prefixes, row, n_rows, place, n_core):
    """Return the neighbours in a core of vertices v in rows of bits, row `row[v]`; `place` is that in the core.

    `row` and `place` are negative for vertices without a row, and for those outside the core.
    """
    rows = np.zeros((n_rows, (n_core + 63) >> 6), dtype=np.uint64)
    for v in range(starts.shape[0] - 1):
        for p in range(starts[v], starts[v + 1]):
            u = prefixes[p]
            if row[v] >= 0 and place[u] >= 0:
                rows[row[v], place[u] >> 6] |= bit(place[u])
            if row[u] >= 0 and place[v] >= 0:
                rows[row[u], place[v] >> 6] |= bit(place[v])
    return rows


@jit
def may_hold_share(rows, core, graph, share):
    """Tell for each vertex whether it can be in a clique that has `share` members in the core.

    The core's members are the vertices `core`, ascending, and `graph` is what they induce; `rows` has each vertex's
    neighbours among them.
    """
    n_remaining = np.zeros(rows.shape[0], dtype=np.bool_)
    at = 0
    for v in range(rows.shape[0]):
        need = share
        if at < core.shape[0] and core[at] == v:
            need -= 1
            at += 1
        if count_bits(rows[v]) >= need:
            n_remaining[v] = filter_row(graph, rows[v].copy(), need) > 0
    return n_remaining
