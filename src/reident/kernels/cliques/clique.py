"""Branch and bound for maximum cliques of a small graph of bitset rows, in slices that can be interrupted."""

from __future__ import annotations

import numpy as np

from reident.kernels._numba import jit
from reident.kernels.cliques.bitset import (
    ONE,
    ZERO,
    count_bits,
    highest_bit,
    lowest_bit,
    popcount,
)

# Positions in the state of a branch and bound (`advance`).
DEPTH, TARGET, FOUND, NODES, FULL = range(5)

# Room for so many blanks (`_relax`), a multiple of 64. Few nodes would use more, even of dense graphs of 700 vertices.
BLANKS = 128
# So few classes are counted one by one, more by what is missing from them.
_FEW = 16
# Rows of marks: of each class the number of members, how many of these are not ruled out, a list of classes, and which
# are listed; of each member its class, and the class whose lone member ruled it out.
_SIZE, _LEFT, _QUEUE, _SEEN, _COLOUR, _REASON = range(6)


@jit
def degeneracy_order(rows):
    """Return the order for branch and bound: a vertex of least degree last, one of least degree without it before."""
    n = rows.shape[0]
    degrees = np.empty(n, dtype=np.int64)
    for v in range(n):
        degrees[v] = count_bits(rows[v])
    order = np.empty(n, dtype=np.int64)
    gone = np.zeros(n, dtype=np.bool_)
    for at in range(n - 1, -1, -1):
        smallest = -1
        for v in range(n):
            if not gone[v] and (smallest < 0 or degrees[v] < degrees[smallest]):
                smallest = v
        gone[smallest] = True
        order[at] = smallest
        row = rows[smallest]
        for w in range(row.shape[0]):
            word = row[w]
            while word != ZERO:
                degrees[(w << 6) + lowest_bit(word)] -= 1
                word &= word - ONE
    return order


@jit
def count_colours(rows, members):
    """Return the number of colours that sequential colouring needs: no clique among the members is larger."""
    words = members.shape[0]
    uncoloured = members.copy()
    free = np.empty(words, dtype=np.uint64)
    colours = 0
    n_left = count_bits(members)
    while n_left > 0:
        colours += 1
        for w in range(words):
            free[w] = uncoloured[w]
        for w in range(words):
            while free[w] != ZERO:
                b = lowest_bit(free[w])
                free[w] &= free[w] - ONE
                uncoloured[w] &= ~(ONE << np.uint64(b))
                n_left -= 1
                row = rows[(w << 6) + b]
                for x in range(w, words):
                    free[x] &= ~row[x]
    return colours


@jit
def _cover(rows, v, space, n_classes, n_blanks):
    """Show that with v no more classes than before can give a member to a clique; return the number of blanks, or -1.

    Either a class has no neighbour of v: v joins it. Or no clique has v and a member of each class: of a class in which
    all but one are ruled out it has that one, which rules out all that are not adjacent to it, and so on, until a class
    has none left. Then the classes in conflict (the class left with no possible member, those whose lone members ruled
    its members out, those that made these lone, and so on, and {v}) each get a blank that may stand for a member, but
    only one of these blanks at a time, so that classes serve in several conflicts.
    """
    classes, blanks, marks = space
    coloured, possible = classes.shape[0] - 2, classes.shape[0] - 1
    words = rows.shape[1]
    for w in range(words):
        classes[possible, w] = classes[coloured, w] & rows[v, w]
    wide = words + ((n_blanks + 63) >> 6)
    for w in range(words, wide):
        classes[possible, w] = classes[coloured, w]
    free = np.int64(-1)
    if n_classes < _FEW:
        for k in range(n_classes):
            n_left = 0
            for w in range(wide):
                n_left += popcount(classes[k, w] & classes[possible, w])
            marks[_LEFT, k] = n_left
            if n_left == 0:
                free = k
    else:
        for k in range(n_classes):
            marks[_LEFT, k] = marks[_SIZE, k]
        for w in range(words):
            word = classes[coloured, w] & ~rows[v, w]
            while word != ZERO:
                k = marks[_COLOUR, (w << 6) + lowest_bit(word)]
                word &= word - ONE
                marks[_LEFT, k] -= 1
                if marks[_LEFT, k] == 0:
                    free = k
    unit = ONE << np.uint64(v & 63)
    if free >= 0:
        classes[free, v >> 6] |= unit
        classes[coloured, v >> 6] |= unit
        marks[_COLOUR, v] = free
        marks[_SIZE, free] += 1
        return n_blanks
    n_lone = 0
    for k in range(n_classes):
        if marks[_LEFT, k] == 1:
            marks[_QUEUE, n_lone] = k
            n_lone += 1
    empty, at = np.int64(-1), 0
    while at < n_lone and empty < 0:
        k = marks[_QUEUE, at]
        at += 1
        w = 0
        while classes[k, w] & classes[possible, w] == ZERO:
            w += 1
        word = classes[k, w] & classes[possible, w]
        u = (w << 6) + lowest_bit(word)
        classes[possible, w] &= ~(word & (~word + ONE))
        marks[_REASON, u] = k
        # All blanks are adjacent to all vertices.
        first, last = (0, words) if w < words else (words, words + blanks.shape[1])
        for x in range(first, last):
            row = rows[u, x] if w < words else blanks[u - (words << 6), x - words]
            word = classes[possible, x] & ~row
            classes[possible, x] ^= word
            while word != ZERO:
                t = (x << 6) + lowest_bit(word)
                word &= word - ONE
                marks[_REASON, t] = k
                c = marks[_COLOUR, t]
                marks[_LEFT, c] -= 1
                if marks[_LEFT, c] == 0:
                    empty = c
                elif marks[_LEFT, c] == 1:
                    marks[_QUEUE, n_lone] = c
                    n_lone += 1
    if empty < 0:
        return np.int64(-1)
    for k in range(n_classes):
        marks[_SEEN, k] = 0
    marks[_QUEUE, 0] = empty
    marks[_SEEN, empty] = 1
    n_found, at = 1, 0
    while at < n_found:
        members = marks[_QUEUE, at]
        at += 1
        for w in range(classes.shape[1]):
            word = classes[members, w] & ~classes[possible, w]
            if w < words:
                word &= rows[v, w]
            while word != ZERO:
                k = marks[_REASON, (w << 6) + lowest_bit(word)]
                word &= word - ONE
                if not marks[_SEEN, k]:
                    marks[_SEEN, k] = 1
                    marks[_QUEUE, n_found] = k
                    n_found += 1
    end = n_blanks + n_found + 1
    if end > BLANKS:
        return np.int64(-1)
    for w in range(classes.shape[1]):
        classes[n_classes, w] = ZERO
    classes[n_classes, v >> 6] |= unit
    classes[coloured, v >> 6] |= unit
    marks[_COLOUR, v] = n_classes
    marks[_SIZE, n_classes] = 1
    marks[_QUEUE, n_found] = n_classes
    for i in range(n_blanks, end):
        k = marks[_QUEUE, i - n_blanks]
        z = (words << 6) + i
        unit = ONE << np.uint64(z & 63)
        classes[k, z >> 6] |= unit
        classes[coloured, z >> 6] |= unit
        marks[_COLOUR, z] = k
        marks[_SIZE, k] += 1
        for w in range(blanks.shape[1]):
            blanks[i, w] = ~ZERO
        for other in range(n_blanks, end):
            blanks[i, other >> 6] &= ~(ONE << np.uint64(other & 63))
    return end


@jit
def branching_set(rows, members, need, space, branch):
    """Choose the vertices to branch on: every clique of `need` members has one of them.

    The rest is coloured with `need - 1` colours, or shown by conflicts among colour classes to hold no more than
    `need - 1` members of any clique. `space` is what `reident.cliques.search.workspace` returns.
    """
    classes, _, marks = space
    words = members.shape[0]
    wide = classes.shape[1]
    uncoloured = branch
    for w in range(words):
        uncoloured[w] = members[w]
    n_classes = need - 1
    for k in range(n_classes):
        # Row k holds the candidates still to come in the words from w on, and the class itself before.
        for w in range(wide):
            classes[k, w] = uncoloured[w] if w < words else ZERO
        size = 0
        for w in range(words):
            todo = classes[k, w]
            chosen = ZERO
            while todo != ZERO:
                unit = todo & (~todo + ONE)
                v = (w << 6) + lowest_bit(todo)
                chosen |= unit
                todo &= ~unit & ~rows[v, w]
                marks[_COLOUR, v] = k
                size += 1
                for x in range(w + 1, words):
                    classes[k, x] &= ~rows[v, x]
            classes[k, w] = chosen
            uncoloured[w] &= ~chosen
        marks[_SIZE, k] = size
        if size == 0:
            return
    coloured = classes.shape[0] - 2
    for w in range(wide):
        classes[coloured, w] = members[w] & ~uncoloured[w] if w < words else ZERO
    n_blanks = np.int64(0)
    for w in range(words):
        word = uncoloured[w]
        while word != ZERO:
            unit = word & (~word + ONE)
            v = (w << 6) + lowest_bit(word)
            word &= word - ONE
            after = _cover(rows, v, space, n_classes, n_blanks)
            if after >= 0:
                uncoloured[w] &= ~unit
            if after > n_blanks:
                n_classes += 1
                n_blanks = after


@jit
def advance(rows, state, members, branch, needs, space, chosen, best, every, node_budget):
    """Go on with a branch and bound for at most `node_budget` nodes; return whether it is finished.

    With `every` false, a clique of the target size is kept in `best[0]` and the target raised. With `every` true,
    each clique of the target size is appended to `best` until that is full.
    """
    depth = state[DEPTH]
    target = state[TARGET]
    nodes = 0
    words = members.shape[1]
    while depth >= 0 and nodes < node_budget:
        if state[FULL]:
            break
        if target - depth > needs[depth]:
            # The target rose since this node was bounded, or it never was.
            branching_set(rows, members[depth], target - depth, space, branch[depth])
            needs[depth] = target - depth
        w = words - 1
        while w >= 0 and branch[depth, w] == ZERO:
            w -= 1
        if w < 0:
            depth -= 1
            continue
        v = (w << 6) + highest_bit(branch[depth, w])
        branch[depth, w] &= ~(ONE << np.uint64(v & 63))
        members[depth, w] &= ~(ONE << np.uint64(v & 63))
        chosen[depth] = v
        nodes += 1
        size = depth + 1
        if size >= target:
            n_found = state[FOUND] if every else 0
            for k in range(size):
                best[n_found, k] = chosen[k]
            if every:
                state[FOUND] += 1
                if state[FOUND] == best.shape[0]:
                    state[FULL] = 1
                continue
            state[FOUND] = size
            target = size + 1
        total = 0
        for w in range(words):
            word = members[depth, w] & rows[v, w]
            members[depth + 1, w] = word
            total += popcount(word)
        if total < target - size:
            continue
        depth += 1
        needs[depth] = 0
    state[DEPTH] = depth
    state[TARGET] = target
    state[NODES] += nodes
    return depth < 0
