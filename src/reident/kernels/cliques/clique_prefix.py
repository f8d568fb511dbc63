"""Prefixes: the clique search of a large graph, cut into one subproblem a vertex.

Vertices are numbered so that vertex i's subproblem is the clique search among its neighbours of smaller number, its
prefix: every clique is found at its member of largest number, exactly once. A neighbour that has too few neighbours
inside the prefix is dropped, again and again; what is left is packed into a small bitset graph.
"""

import numpy as np

from reident.kernels._numba import jit
from reident.kernels.cliques.bitset import ONE, ZERO, bit, count_bits, lowest_bit, popcount


@jit
def prefix_lists(indptr, indices, order, rank):
    """Return, with vertices renamed by `rank`, each vertex's neighbours of smaller number, ascending."""
    n = order.shape[0]
    starts = np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        v = order[i]
        smaller = 0
        for p in range(indptr[v], indptr[v + 1]):
            if rank[indices[p]] < i:
                smaller += 1
        starts[i + 1] = starts[i] + smaller
    place = np.empty(n, dtype=np.int64)
    for i in range(n):
        place[i] = starts[i]
    prefixes = np.empty(starts[n], dtype=np.int32)
    # Scattering the vertices in ascending order leaves every list sorted.
    for i in range(n):
        v = order[i]
        for p in range(indptr[v], indptr[v + 1]):
            j = rank[indices[p]]
            if j > i:
                prefixes[place[j]] = i
                place[j] += 1
    return starts, prefixes


@jit
def _filter_list(starts, prefixes, members, n_members, need, marked, place, counts):
    """Keep the members that have at least `need - 1` neighbours among the members; return how many are left."""
    while n_members >= need:
        for k in range(n_members):
            marked[members[k]] = 1
            place[members[k]] = k
            counts[k] = 0
        for k in range(n_members):
            u = members[k]
            for p in range(starts[u], starts[u + 1]):
                x = prefixes[p]
                if marked[x]:
                    counts[k] += 1
                    counts[place[x]] += 1
        remaining = 0
        for k in range(n_members):
            marked[members[k]] = 0
        for k in range(n_members):
            if counts[k] >= need - 1:
                members[remaining] = members[k]
                remaining += 1
        if remaining == n_members:
            return remaining
        n_members = remaining
    return 0


@jit
def survivors_lists(starts, prefixes, low, high, target):
    """Return, for vertices low..high-1, the size of the filtered prefix; zero: no clique of `target` ends there."""
    n = starts.shape[0] - 1
    marked = np.zeros(n, dtype=np.uint8)
    place = np.empty(n, dtype=np.int32)
    counts = np.empty(n, dtype=np.int32)
    members = np.empty(n, dtype=np.int32)
    remaining = np.zeros(high - low, dtype=np.int64)
    for i in range(low, high):
        n_members = starts[i + 1] - starts[i]
        if n_members < target - 1:
            continue
        for k in range(n_members):
            members[k] = prefixes[starts[i] + k]
            marked[members[k]] = 1
        # The second largest member of a clique shares `target - 2` smaller neighbours with vertex i: the cheapest test,
        # which nearly every vertex fails.
        n_found = False
        for k in range(n_members):
            u = members[k]
            if starts[u + 1] - starts[u] < target - 2:
                continue
            inside = 0
            for p in range(starts[u], starts[u + 1]):
                inside += marked[prefixes[p]]
            if inside >= target - 2:
                n_found = True
                break
        for k in range(n_members):
            marked[members[k]] = 0
        if not n_found:
            continue
        remaining[i - low] = _filter_list(starts, prefixes, members, n_members, target - 1, marked, place, counts)
    return remaining


@jit
def subgraph_lists(starts, prefixes, members, need):
    """Filter `members` and pack the graph that they induce. Returns the members left and their bitset rows."""
    n = starts.shape[0] - 1
    place = np.empty(n, dtype=np.int32)
    remaining = members.shape[0]
    n_kept = np.empty(remaining, dtype=np.int32)
    for k in range(remaining):
        n_kept[k] = members[k]
    if need > 1:
        marked = np.zeros(n, dtype=np.uint8)
        counts = np.empty(remaining, dtype=np.int32)
        remaining = _filter_list(starts, prefixes, n_kept, remaining, need, marked, place, counts)
    for u in range(n):
        place[u] = -1
    for k in range(remaining):
        place[n_kept[k]] = k
    rows = np.zeros((remaining, (remaining + 63) >> 6), dtype=np.uint64)
    for k in range(remaining):
        u = n_kept[k]
        for p in range(starts[u], starts[u + 1]):
            j = place[prefixes[p]]
            if j >= 0:
                rows[k, j >> 6] |= bit(j)
                rows[j, k >> 6] |= bit(k)
    return n_kept[:remaining], rows


@jit
def filter_row(bits, members, need):
    """Keep the members (a row) that have at least `need - 1` neighbours among the members; return how many are left."""
    words = members.shape[0]
    total = count_bits(members)
    while total >= need:
        dropped = 0
        for w in range(words):
            word = members[w]
            keep = word
            while word != ZERO:
                b = lowest_bit(word)
                word &= word - ONE
                u = (w << 6) + b
                inside = 0
                for x in range(words):
                    inside += popcount(bits[u, x] & members[x])
                if inside < need - 1:
                    # Dropped at once, so that the ones after it are already judged without it.
                    keep &= ~bit(b)
                    members[w] &= ~bit(b)
                    dropped += 1
            members[w] = keep
        if dropped == 0:
            return total
        total -= dropped
    for w in range(words):
        members[w] = ZERO
    return np.int64(0)


@jit
def survivors_bits(bits, low, high, target):
    """Return, for vertices low..high-1, the size of the filtered prefix; zero: no clique of `target` ends there."""
    remaining = np.zeros(high - low, dtype=np.int64)
    members = np.empty(bits.shape[1], dtype=np.uint64)
    for i in range(low, high):
        # The neighbours of vertex i of smaller number.
        words = (i + 63) >> 6
        for w in range(words):
            members[w] = bits[i, w]
        if i & 63:
            members[words - 1] &= bit(i) - ONE
        # Some member of the prefix must share `target - 2` smaller neighbours with vertex i (see `survivors_lists`).
        n_found = False
        w = 0
        while w < words and not n_found:
            word = members[w]
            while word != ZERO and not n_found:
                u = (w << 6) + lowest_bit(word)
                word &= word - ONE
                inside = 0
                # The last word may count a few larger ones, which does no harm: the test stays a necessary one.
                for x in range(w + 1):
                    inside += popcount(bits[u, x] & members[x])
                n_found = inside >= target - 2
            w += 1
        if n_found:
            remaining[i - low] = filter_row(bits, members[:words], target - 1)
    return remaining


@jit
def subgraph_bits(bits, members, need):
    """Filter `members` (a row) and pack the graph that they induce. Returns the members left and their bitset rows."""
    words = members.shape[0]
    inside = np.empty(words, dtype=np.uint64)
    for w in range(words):
        inside[w] = members[w]
    remaining = filter_row(bits, inside, need) if need > 1 else count_bits(inside)
    n_kept = np.empty(remaining, dtype=np.int64)
    total = 0
    for w in range(words):
        word = inside[w]
        while word != ZERO:
            n_kept[total] = (w << 6) + lowest_bit(word)
            total += 1
            word &= word - ONE
    return n_kept, core_rows(bits, n_kept, inside)


@jit
def core_rows(bits, vertices, core):
    """Return the neighbours of some vertices in the core, a set, as rows over the core's members only."""
    words = core.shape[0]
    before = np.empty(words, dtype=np.int64)
    total = 0
    for w in range(words):
        before[w] = total
        total += popcount(core[w])
    rows = np.zeros((vertices.shape[0], (total + 63) >> 6), dtype=np.uint64)
    for k in range(vertices.shape[0]):
        for w in range(words):
            word = bits[vertices[k], w] & core[w]
            while word != ZERO:
                below = (word & (~word + ONE)) - ONE
                j = before[w] + popcount(core[w] & below)
                rows[k, j >> 6] |= bit(j)
                word &= word - ONE
    return rows


@jit
def colours_lists(starts, prefixes):
    """Return the number of colours that first-fit colouring in the order of the numbers needs."""
    n = starts.shape[0] - 1
    colour = np.zeros(n, dtype=np.int64)
    used_by = np.full(n + 1, -1, dtype=np.int64)
    colours = 0
    for i in range(n):
        for p in range(starts[i], starts[i + 1]):
            used_by[colour[prefixes[p]]] = i
        c = 0
        while used_by[c] == i:
            c += 1
        colour[i] = c
        colours = max(colours, c + 1)
    return colours
