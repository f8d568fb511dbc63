"""The branch and bound of Konc and Janežič (2007) with dynamic re-sorting, step by step.

The candidates of a level are a list with a colour each, ascending; the lists of all levels lie one behind the other in
`members` and `colours`.
"""

import numpy as np

from reident.kernels._argsort import argsort
from reident.kernels._numba import jit
from reident.kernels.cliques.bitset import ONE, ZERO, lowest_bit, popcount

# Positions in the state, and what `advance` returns.
LEVEL, STEPS, BEST = range(3)
STOPPED, FINISHED, NEEDS_ROOM = range(3)

# Candidates are sorted by degree on levels that took a smaller share of the steps.
_SORTED_SHARE = 0.025
# So many candidates get a graph of their own, small enough for a cache, once the words that were read for what follows
# from them are so many times its edges and gaps: then making it has cost little beside.
_FEW, _EARNED = 1024, 4


@jit
def sort_by_degree(rows, words, members):
    """Sort candidates, in place, by descending degree among themselves; return the number of looks at the graph."""
    n = members.shape[0]
    missing = np.zeros(n, dtype=np.int64)
    if n < 4 * words:
        for i in range(n):
            v = members[i]
            for j in range(i):
                u = members[j]
                adjacent = np.int64((rows[v, u >> 6] >> np.uint64(u & 63)) & ONE)
                missing[i] -= adjacent
                missing[j] -= adjacent
    else:
        # Many candidates are counted word by word.
        inside = np.zeros(words, dtype=np.uint64)
        for i in range(n):
            inside[members[i] >> 6] |= ONE << np.uint64(members[i] & 63)
        for i in range(n):
            v = members[i]
            for w in range(words):
                missing[i] -= popcount(inside[w] & rows[v, w])
    order = argsort(missing)
    before = np.empty(n, dtype=np.int32)
    for i in range(n):
        before[i] = members[i]
    for i in range(n):
        members[i] = before[order[i]]
    return n * min(n // 2, words)


@jit
def colour(rows, words, members, colours, need):
    """Colour candidates one after another and sort them by colour, in place, those of colours below `need` first.

    A candidate of a colour below `need` cannot complete a clique of `need` members, and keeps its place and the colour
    0. Returns the number of looks at the graph.
    """
    n = members.shape[0]
    is_taken = np.empty(words, dtype=np.uint64)
    remaining, sorted_ones, colour_of = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    for i in range(n):
        remaining[i] = members[i]
    n_left, n_sorted, k, looks = n, 0, 0, 0
    while n_left > 0:
        k += 1
        if k == need:
            # Both lists are in the candidates' order: those that are left come out of `members`.
            n_kept = at = 0
            for i in range(n):
                if at < n_left and members[i] == remaining[at]:
                    at += 1
                else:
                    members[n_kept] = members[i]
                    n_kept += 1
        for w in range(words):
            is_taken[w] = ZERO
        looks += n_left
        still = 0
        for i in range(n_left):
            v = remaining[i]
            if (is_taken[v >> 6] >> np.uint64(v & 63)) & ONE != ZERO:
                remaining[still] = v
                still += 1
            else:
                row = rows[v]
                for w in range(words):
                    is_taken[w] |= row[w]
                looks += 1
                if k >= need:
                    sorted_ones[n_sorted] = v
                    colour_of[n_sorted] = k
                    n_sorted += 1
        n_left = still
    low = n - n_sorted
    for i in range(low):
        colours[i] = 0
    for i in range(n_sorted):
        members[low + i] = sorted_ones[i]
        colours[low + i] = colour_of[i]
    return looks


@jit
def colour_ascending(rows, everything, members, colours, need):
    """Colour an ascending list of candidates as `colour` does; `everything` is the set of them.

    Colour after colour: the lowest candidate that is left gets it and crosses out its neighbours, and so on.
    """
    n, words = members.shape[0], everything.shape[0]
    remaining, free = np.empty(words, dtype=np.uint64), np.empty(words, dtype=np.uint64)
    for w in range(words):
        remaining[w] = everything[w]
    for i in range(n):
        colours[i] = 0
    coloured = n_kept = k = looks = 0
    while coloured < n:
        k += 1
        if k == need:
            # Those of the colours before come first, in their places.
            for w in range(words):
                word = everything[w] & ~remaining[w]
                while word != ZERO:
                    members[n_kept] = (w << 6) + lowest_bit(word)
                    n_kept += 1
                    word &= word - ONE
        for w in range(words):
            free[w] = remaining[w]
        for w in range(words):
            while free[w] != ZERO:
                u = (w << 6) + lowest_bit(free[w])
                free[w] &= free[w] - ONE
                remaining[w] &= ~(ONE << np.uint64(u & 63))
                # Views, so that the loop is vectorised.
                ahead, row = free[w:], rows[u, w:words]
                for x in range(ahead.shape[0]):
                    ahead[x] &= ~row[x]
                looks += words - w
                coloured += 1
                if k >= need:
                    members[n_kept] = u
                    colours[n_kept] = k
                    n_kept += 1
        looks += words
    return looks


@jit
def among(rows, members, out, words):
    """Fill `out` with the rows of the candidates' own graph, in which they are numbered as they are listed."""
    m = members.shape[0]
    for i in range(m):
        v = members[i]
        for w in range(words):
            word = ZERO
            for j in range(w << 6, min(m, (w + 1) << 6)):
                u = members[j]
                word |= ((rows[v, u >> 6] >> np.uint64(u & 63)) & ONE) << np.uint64(j & 63)
            out[i, w] = word


@jit
def advance(rows, state, stops, chosen, sums, members, colours, best, step_limit, work):
    """Go on for at most `step_limit` steps in all and about `work` looks at the graph.

    A step is a vertex that joins the growing clique and leaves candidates behind. `sums` holds, level by level, the
    two running counts of steps by which the algorithm decides where to sort. Returns whether it stopped at a limit,
    is finished, or `members` and `colours` must grow first.
    """
    level = state[LEVEL]
    status = FINISHED
    everything = np.empty(0, dtype=np.uint64)
    # From the level `few` on, if there is one, candidates are numbered in a graph of their own.
    few, graph, words = 0, rows, rows.shape[1]
    names, local = np.empty(_FEW, dtype=np.int32), np.empty((_FEW, _FEW >> 6), dtype=np.uint64)
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
                few, graph, words = 0, rows, rows.shape[1]
            continue
        if state[STEPS] >= step_limit or work <= 0:
            status = STOPPED
            break
        if high + (high - low) > members.shape[0]:
            status = NEEDS_ROOM
            break
        m = high - low
        if few == 0 and level > 1 and m <= _FEW and read - before[level] > _EARNED * m * m:
            few, graph, words = level, local, (m + 63) >> 6
            among(rows, members[low:high], local, words)
            for p in range(m):
                names[p] = members[low + p]
                members[low + p] = p
        v = members[high - 1]
        chosen[level - 1] = names[v] if few > 0 else v
        end = high
        if level == 1:
            # The root's candidates are 0, 1, 2 and so on: they are read off the row, word by word.
            everything = np.empty((v + 63) >> 6, dtype=np.uint64)
            for w in range(everything.shape[0]):
                word = graph[v, w]
                if w == v >> 6:
                    word &= (ONE << np.uint64(v & 63)) - ONE
                everything[w] = word
                while word != ZERO:
                    members[end] = (w << 6) + lowest_bit(word)
                    end += 1
                    word &= word - ONE
            work -= (high >> 6) + end - high
        else:
            for p in range(low, high - 1):
                # Written before it is known whether it stays: there is no branch to be guessed.
                u = members[p]
                members[end] = u
                end += np.int64((graph[v, u >> 6] >> np.uint64(u & 63)) & ONE)
            work -= high - low
        if end == high:
            if level > state[BEST]:
                state[BEST] = level
                for p in range(level):
                    best[p] = chosen[p]
            stops[level] -= 1
            continue
        state[STEPS] += 1
        is_sorted = sums[level, 0] < _SORTED_SHARE * state[STEPS]
        need = max(state[BEST] - level + 1, 1)
        if end - high < need:
            # There are not as many colours.
            for p in range(high, end):
                colours[p] = 0
            work -= end - high
        elif is_sorted or level > 1:
            if is_sorted:
                work -= sort_by_degree(graph, words, members[high:end])
            work -= colour(graph, words, members[high:end], colours[high:end], need)
        else:
            work -= colour_ascending(graph, everything, members[high:end], colours[high:end], need)
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
