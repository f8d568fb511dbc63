"""The branch and bound of Konc and Janežič (2007) with dynamic re-sorting, step by step.

The candidates of a level are a list with a colour each, ascending; the lists of all levels lie one behind the other in
`members` and `colours`.
"""

from __future__ import annotations

import numpy as np

from reident.kernels._jit import jit
from reident.kernels._loops import fill, put
from reident.kernels.cliques.bitset import ONE, ZERO, has_bit, lowest_bit

# Positions in the state, and what `advance` returns.
LEVEL, STEPS, BEST = range(3)
STOPPED, FINISHED, NEEDS_ROOM = range(3)

# Candidates are sorted by degree on levels that took a smaller share of the steps.
_SORTED_SHARE = 0.025


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
def _sort_by_degree(rows, members):
    """Sort candidates, in place, by descending degree among themselves; return the number of looks at the graph."""
    n = members.shape[0]
    degrees = np.zeros(n, dtype=np.int64)
    for i in range(n):
        row = rows[members[i]]
        for j in range(i):
            if has_bit(row, members[j]):
                degrees[i] += 1
                degrees[j] += 1
    put(members, members[np.argsort(-degrees, kind="mergesort")])
    return n * n // 2


@jit
def _colour(rows, members, colours, need):
    """Colour candidates one after another and sort them by colour, in place, those of colours below `need` first.

    A candidate of a colour below `need` cannot complete a clique of `need` members, and keeps its place and the colour
    0. Returns the number of looks at the graph.
    """
    n = members.shape[0]
    first = np.full(n + 1, -1, dtype=np.int64)
    last = np.full(n + 1, -1, dtype=np.int64)
    following = np.full(n, -1, dtype=np.int64)
    vertices = members.copy()
    n_colours = kept = looks = 0
    for i in range(n):
        row = rows[vertices[i]]
        k = 1
        while k <= n_colours:
            j = first[k]
            while j >= 0 and not has_bit(row, vertices[j]):
                looks += 1
                j = following[j]
            if j < 0:
                break
            looks += 1
            k += 1
        n_colours = max(n_colours, k)
        if first[k] < 0:
            first[k] = i
        else:
            following[last[k]] = i
        last[k] = i
        if k < need:
            members[kept] = vertices[i]
            colours[kept] = 0
            kept += 1
    for k in range(max(need, 1), n_colours + 1):
        j = first[k]
        while j >= 0:
            members[kept] = vertices[j]
            colours[kept] = k
            kept += 1
            j = following[j]
    return looks + n


@jit
def advance(rows, state, stops, chosen, sums, members, colours, best, step_limit, work):
    """Go on for at most `step_limit` steps in all and about `work` looks at the graph.

    A step is a vertex that joins the growing clique and leaves candidates behind. `sums` holds, level by level, the
    two running counts of steps by which the algorithm decides where to sort. Returns whether it stopped at a limit,
    is finished, or `members` and `colours` must grow first.
    """
    level = state[LEVEL]
    status = FINISHED
    while level > 0:
        low, high = stops[level - 1], stops[level]
        if high == low or level - 1 + colours[high - 1] <= state[BEST]:
            # Nothing here can lead to a larger clique: back to the level before, whose last candidate is done.
            level -= 1
            if level > 0:
                stops[level] -= 1
            continue
        if state[STEPS] >= step_limit or work <= 0:
            status = STOPPED
            break
        if high + (high - low) > members.shape[0]:
            status = NEEDS_ROOM
            break
        v = members[high - 1]
        chosen[level - 1] = v
        row = rows[v]
        end = high
        if level == 1:
            # The root's candidates are 0, 1, 2 and so on: they are read off the row, word by word.
            for w in range((v + 63) >> 6):
                word = row[w] if w < v >> 6 else row[w] & ((ONE << np.uint64(v & 63)) - ONE)
                while word != ZERO:
                    members[end] = (w << 6) + lowest_bit(word)
                    word &= word - ONE
                    end += 1
            work -= (high >> 6) + end - high
        else:
            for p in range(low, high - 1):
                if has_bit(row, members[p]):
                    members[end] = members[p]
                    end += 1
            work -= high - low
        if end == high:
            if level > state[BEST]:
                state[BEST] = level
                put(best[:level], chosen[:level])
            stops[level] -= 1
            continue
        state[STEPS] += 1
        candidates = members[high:end]
        if sums[level, 0] < _SORTED_SHARE * state[STEPS]:
            work -= _sort_by_degree(rows, candidates)
        work -= _colour(rows, candidates, colours[high:end], state[BEST] - level + 1)
        sums[level, 0] += 1
        level += 1
        stops[level] = end
        sums[level, 0] += sums[level - 1, 0] - sums[level, 1]
        sums[level, 1] = sums[level - 1, 0]
    state[LEVEL] = level
    return status
