"""The branch and bound of Konc and Janežič (2007) with dynamic re-sorting, step by step.

The candidates of a level are a list with a colour each, ascending; the lists of all levels lie one behind the other in
`members` and `colours`.
"""

from __future__ import annotations

import numpy as np

from reident.kernels._jit import jit
from reident.kernels._loops import fill, put, ranked
from reident.kernels.cliques.bitset import ONE, ZERO, count_shared, fetch, has_bit, list_bits, lowest_bit

# Positions in the state, and what `advance` returns.
LEVEL, STEPS, BEST = range(3)
STOPPED, FINISHED, NEEDS_ROOM = range(3)

# Candidates are sorted by degree on levels that took a smaller share of the steps.
_SORTED_SHARE = 0.025
# So many candidates get a graph of their own, small enough for a cache, once the words that were read for what follows
# from them are so many times its edges and gaps: then making it has cost little beside.
_FEW, _EARNED = 1024, 4
# Words that are fetched at once.
_LINE = 8


@jit
def start(degrees, state, stops, sums, members, colours):
    """Set the search to its root: vertices, numbered by descending degree, with the colours that need no colouring."""
    n = degrees.shape[0]
    for v in range(n):
        members[v] = v
        colours[v] = min(v, degrees[0]) + 1
    fill(sums, 0)
    stops[0] = 0
    stops[1] = n
    state[LEVEL] = 1
    state[STEPS] = 0
    state[BEST] = 0


@jit
def sort_by_degree(rows, members):
    """Sort candidates, in place, by descending degree among themselves; return the number of looks at the graph."""
    n, words = members.shape[0], rows.shape[1]
    degrees = np.zeros(n, dtype=np.int64)
    if n < 4 * words:
        for i in range(n):
            row = rows[members[i]]
            for j in range(i):
                if has_bit(row, members[j]):
                    degrees[i] += 1
                    degrees[j] += 1
    else:
        # Many candidates are counted word by word.
        among = np.zeros(words, dtype=np.uint64)
        for i in range(n):
            among[members[i] >> 6] |= ONE << np.uint64(members[i] & 63)
        for i in range(n):
            degrees[i] = count_shared(among, rows[members[i]])
    put(members, members[ranked(-degrees)])
    return n * min(n // 2, words)


@jit
def colour(rows, members, colours, need):
    """Colour candidates one after another and sort them by colour, in place, those of colours below `need` first.

    A candidate of a colour below `need` cannot complete a clique of `need` members, and keeps its place and the colour
    0. Returns the number of looks at the graph.
    """
    n = members.shape[0]
    taken = np.empty(rows.shape[1], dtype=np.uint64)
    left, sorted_ones, colour_of = members.copy(), np.empty_like(members), np.empty_like(colours)
    n_left, n_sorted, k, looks = n, 0, 0, 0
    while n_left > 0:
        k += 1
        if k == need:
            # Both lists are in the candidates' order: those that are left come out of `members`.
            kept = at = 0
            for i in range(n):
                if at < n_left and members[i] == left[at]:
                    at += 1
                else:
                    members[kept] = members[i]
                    kept += 1
        fill(taken, ZERO)
        looks += n_left
        still = 0
        for i in range(n_left):
            v = left[i]
            if has_bit(taken, v):
                left[still] = v
                still += 1
            else:
                row = rows[v]
                for w in range(row.shape[0]):
                    taken[w] |= row[w]
                looks += 1
                if k >= need:
                    sorted_ones[n_sorted] = v
                    colour_of[n_sorted] = k
                    n_sorted += 1
        n_left = still
    fill(colours[: n - n_sorted], 0)
    put(members[n - n_sorted :], sorted_ones[:n_sorted])
    put(colours[n - n_sorted :], colour_of[:n_sorted])
    return looks


@jit
def _cross_out(members, row):
    for w in range(members.shape[0]):
        members[w] &= ~row[w]


@jit
def _fetch_next(rows, free, w):
    """Have the row of the lowest candidate from word `w` on brought near: it is likely the next that is read."""
    words = free.shape[0]
    while w < words and free[w] == ZERO:
        w += 1
    if w < words:
        row = rows[(w << 6) + lowest_bit(free[w])]
        for x in range(w, words, _LINE):
            fetch(row, x)


@jit
def colour_ascending(rows, everything, members, colours, need):
    """Colour an ascending list of candidates as `colour` does; `everything` is the set of them.

    Colour after colour: the lowest candidate that is left gets it and crosses out its neighbours, and so on.
    """
    n, words = members.shape[0], everything.shape[0]
    left, free = everything.copy(), np.empty(words, dtype=np.uint64)
    coloured = kept = k = looks = 0
    fill(colours, 0)
    while coloured < n:
        k += 1
        if k == need:
            # Those of the colours before come first, in their places.
            put(free, everything)
            _cross_out(free, left)
            kept = list_bits(free, members)
        put(free, left)
        for w in range(words):
            while free[w] != ZERO:
                u = (w << 6) + lowest_bit(free[w])
                free[w] &= free[w] - ONE
                _fetch_next(rows, free, w)
                left[w] &= ~(ONE << np.uint64(u & 63))
                _cross_out(free[w:], rows[u, w:words])
                looks += words - w
                coloured += 1
                if k >= need:
                    members[kept] = u
                    colours[kept] = k
                    kept += 1
        looks += words
    return looks


@jit
def among(rows, members, out):
    """Fill `out` with the rows of the candidates' own graph, in which they are numbered as they are listed."""
    m = members.shape[0]
    for i in range(m):
        row = rows[members[i]]
        for w in range(out.shape[1]):
            word = ZERO
            for j in range(w << 6, min(m, (w + 1) << 6)):
                u = members[j]
                word |= ((row[u >> 6] >> np.uint64(u & 63)) & ONE) << np.uint64(j & 63)
            out[i, w] = word


@jit
def _prepare(rows, members, colours, need, is_sorted, everything):
    """Sort and colour candidates, in place; `everything` is the set of them where they ascend, else empty."""
    if members.shape[0] < need:
        # There are not as many colours.
        fill(colours, 0)
        return members.shape[0]
    looks = 0
    if is_sorted:
        looks = sort_by_degree(rows, members)
    elif everything.shape[0] > 0:
        return colour_ascending(rows, everything, members, colours, need)
    return looks + colour(rows, members, colours, need)


@jit
def advance(rows, state, stops, chosen, sums, members, colours, best, step_limit, work):
    """Go on for at most `step_limit` steps in all and about `work` looks at the graph.

    A step is a vertex that joins the growing clique and leaves candidates behind. `sums` holds, level by level, the
    two running counts of steps by which the algorithm decides where to sort. Returns whether it stopped at a limit,
    is finished, or `members` and `colours` must grow first.
    """
    level = state[LEVEL]
    status = FINISHED
    everything = nothing = np.empty(0, dtype=np.uint64)
    # From the level `few` on, if there is one, candidates are numbered in a graph of their own.
    few, graph, names, words = 0, rows, np.empty(_FEW, dtype=np.int32), np.empty(_FEW * _FEW >> 6, dtype=np.uint64)
    # Words of `rows` that were read, in all and before each level began.
    read, before = 0, np.zeros(stops.shape[0], dtype=np.int64)
    while level > 0:
        low, high = stops[level - 1], stops[level]
        if high == low or level - 1 + colours[high - 1] <= state[BEST]:
            # Nothing here can lead to a larger clique: back to the level before, whose last candidate is done.
            level -= 1
            if level > 0:
                stops[level] -= 1
            if level < few:
                few, graph = 0, rows
            continue
        if state[STEPS] >= step_limit or work <= 0:
            status = STOPPED
            break
        if high + (high - low) > members.shape[0]:
            status = NEEDS_ROOM
            break
        m = high - low
        if few == 0 and level > 1 and m <= _FEW and read - before[level] > _EARNED * m * m:
            few, graph = level, words[: m * ((m + 63) >> 6)].reshape(m, (m + 63) >> 6)
            among(rows, members[low:high], graph)
            for p in range(m):
                names[p] = members[low + p]
                members[low + p] = p
        v = members[high - 1]
        chosen[level - 1] = names[v] if few > 0 else v
        row = graph[v]
        end = high
        if level == 1:
            # The root's candidates are 0, 1, 2 and so on: they are read off the row, word by word.
            everything = row[: (v + 63) >> 6].copy()
            if v & 63:
                everything[-1] &= (ONE << np.uint64(v & 63)) - ONE
            end += list_bits(everything, members[high:])
            work -= (high >> 6) + end - high
        else:
            for p in range(low, high - 1):
                # Written before it is known whether it stays: there is no branch to be guessed.
                members[end] = members[p]
                end += has_bit(row, members[p])
            everything = nothing
            work -= high - low
        if end == high:
            if level > state[BEST]:
                state[BEST] = level
                put(best[:level], chosen[:level])
            stops[level] -= 1
            continue
        state[STEPS] += 1
        is_sorted = sums[level, 0] < _SORTED_SHARE * state[STEPS]
        need = max(state[BEST] - level + 1, 1)
        work -= _prepare(graph, members[high:end], colours[high:end], need, is_sorted, everything)
        before[level + 1] = read
        if few == 0:
            read += (end - high) * rows.shape[1]
        sums[level, 0] += 1
        level += 1
        stops[level] = end
        sums[level, 0] += sums[level - 1, 0] - sums[level, 1]
        sums[level, 1] = sums[level - 1, 0]
    if few > 0:
        for p in range(stops[few - 1], stops[level]):
            members[p] = names[members[p]]
    state[LEVEL] = level
    return status
