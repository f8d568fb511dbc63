"""Branch and bound for maximum cliques of a small graph of bitset rows, in slices that can be interrupted."""

from __future__ import annotations

import numpy as np

from reident.kernels._jit import jit
from reident.kernels._loops import fill, put
from reident.kernels.cliques.bitset import (
    ONE,
    ZERO,
    bit,
    count_bits,
    highest_bit,
    is_empty,
    list_bits,
    lowest_bit,
    popcount,
)

# Positions in the state of a branch and bound (`advance`).
DEPTH, TARGET, FOUND, NODES, FULL = range(5)


@jit
def min_width_order(rows):
    """Return the order for branch and bound: a vertex of least degree last, one of least degree without it before."""
    n = rows.shape[0]
    degrees = np.empty(n, dtype=np.int64)
    for v in range(n):
        degrees[v] = count_bits(rows[v])
    order = np.empty(n, dtype=np.int64)
    gone = np.zeros(n, dtype=np.bool_)
    for at in range(n - 1, -1, -1):
        least = -1
        for v in range(n):
            if not gone[v] and (least < 0 or degrees[v] < degrees[least]):
                least = v
        gone[least] = True
        order[at] = least
        row = rows[least]
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
    while not is_empty(uncoloured):
        colours += 1
        put(free, uncoloured)
        for w in range(words):
            while free[w] != ZERO:
                b = lowest_bit(free[w])
                free[w] &= free[w] - ONE
                uncoloured[w] &= ~(ONE << np.uint64(b))
                row = rows[(w << 6) + b]
                for x in range(w, words):
                    free[x] &= ~row[x]
    return colours


@jit
def _left(members, alive):
    """Return how many members are alive, counting no further than two, and the first of them."""
    first = -1
    for w in range(members.shape[0]):
        word = members[w] & alive[w]
        if word != ZERO:
            if first >= 0 or word & (word - ONE) != ZERO:
                return 2, first
            first = (w << 6) + lowest_bit(word)
    return (1 if first >= 0 else 0), first


@jit
def _conflict(rows, v, classes, locked, n_classes, alive, unit, unit_class):
    """Find and lock colour classes that with {v} hold at most as many members of any clique as they are.

    A clique with v and a member of each class would have, of a class in which all but one member are ruled out, that
    one: what is not adjacent to it is ruled out as well, and so on until a class has none left (unit propagation). Of
    the classes that had to give a member only those are locked that ruled out what is missing.
    """
    words = classes.shape[1]
    put(alive, rows[v])
    unit[0] = v
    n_units = 1
    empty = -1
    waiting = True
    while waiting and empty < 0:
        waiting = False
        for k in range(n_classes):
            if locked[k]:
                continue
            left, u = _left(classes[k], alive)
            if left == 0:
                empty = k
                break
            if left == 1:
                # Locked for now: it is not looked at again.
                locked[k] = True
                unit[n_units] = u
                unit_class[n_units] = k
                n_units += 1
                for w in range(words):
                    alive[w] &= rows[u, w]
                waiting = True
    for i in range(1, n_units):
        locked[unit_class[i]] = False
    if empty < 0:
        return False
    locked[empty] = True
    _need(rows, classes[empty], unit, unit_class, n_units, locked)
    # From the last back: a class that is needed needs those that ruled out its other members.
    for i in range(n_units - 1, 0, -1):
        if locked[unit_class[i]]:
            _need(rows, classes[unit_class[i]], unit, unit_class, i, locked)
    return True


@jit
def _need(rows, members, unit, unit_class, n_units, locked):
    """Lock, of each member that some of the first units rule out, the class of the first that does; v has none."""
    for w in range(members.shape[0]):
        word = members[w]
        while word != ZERO:
            b = lowest_bit(word)
            word &= word - ONE
            for i in range(n_units):
                if rows[unit[i], w] & (ONE << np.uint64(b)) == ZERO:
                    if i > 0:
                        locked[unit_class[i]] = True
                    break


@jit
def branching_set(rows, members, need, classes, locked, branch):
    """Choose the vertices to branch on: every clique of `need` members has one of them.

    The rest is coloured with `need - 1` colours, or shown by conflicts among colour classes to hold no more than
    `need - 1` members of any clique.
    """
    words = members.shape[0]
    uncoloured = branch
    put(uncoloured, members)
    n_classes = need - 1
    for k in range(n_classes):
        free = classes[k]
        # `free` holds the candidates still to come in the words from w on, and the class itself before.
        put(free, uncoloured)
        anything = False
        for w in range(words):
            todo = free[w]
            chosen = ZERO
            while todo != ZERO:
                b = lowest_bit(todo)
                one = ONE << np.uint64(b)
                chosen |= one
                row = rows[(w << 6) + b]
                todo &= ~one & ~row[w]
                for x in range(w + 1, words):
                    free[x] &= ~row[x]
            free[w] = chosen
            if chosen != ZERO:
                uncoloured[w] &= ~chosen
                anything = True
        locked[k] = False
        if not anything:
            for rest in range(k + 1, n_classes):
                fill(classes[rest], ZERO)
                locked[rest] = False
            return
    if is_empty(uncoloured):
        return
    alive = classes[need]  # the row behind the classes is free
    unit = np.empty(need, dtype=np.int64)
    unit_class = np.empty(need, dtype=np.int64)
    for w in range(words):
        word = uncoloured[w]
        while word != ZERO:
            b = lowest_bit(word)
            word &= word - ONE
            v = (w << 6) + b
            if _conflict(rows, v, classes, locked, n_classes, alive, unit, unit_class):
                uncoloured[w] &= ~(ONE << np.uint64(b))


@jit
def next_branch(rows, depth, target, members, branch, needs, classes, locked):
    """Take the next vertex to branch on off the sets of a depth, for cliques of `target` members; -1: there is none."""
    if target - depth > needs[depth]:
        # The target rose since this node was bounded.
        branching_set(rows, members[depth], target - depth, classes, locked, branch[depth])
        needs[depth] = target - depth
    for w in range(branch.shape[1] - 1, -1, -1):
        if branch[depth, w] != ZERO:
            v = (w << 6) + highest_bit(branch[depth, w])
            branch[depth, w] &= ~bit(v)
            members[depth, w] &= ~bit(v)
            return v
    return -1


@jit
def start(rows, target, state, members, branch, needs, classes, locked):
    """Set a branch and bound to its root."""
    n = rows.shape[0]
    fill(members[0], ZERO)
    for v in range(n):
        members[0, v >> 6] |= bit(v)
    branching_set(rows, members[0], target, classes, locked, branch[0])
    needs[0] = target
    state[DEPTH] = 0
    state[TARGET] = target
    state[FOUND] = 0
    state[NODES] = 0
    state[FULL] = 0


@jit
def advance(rows, state, members, branch, needs, chosen, classes, locked, best, every, node_budget):
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
        v = next_branch(rows, depth, target, members, branch, needs, classes, locked)
        if v < 0:
            depth -= 1
            continue
        chosen[depth] = v
        nodes += 1
        size = depth + 1
        if size >= target:
            if every:
                put(best[state[FOUND], :size], chosen[:size])
                state[FOUND] += 1
                if state[FOUND] == best.shape[0]:
                    state[FULL] = 1
                continue
            put(best[0, :size], chosen[:size])
            state[FOUND] = size
            target = size + 1
        total = 0
        for w in range(words):
            word = members[depth, w] & rows[v, w]
            members[depth + 1, w] = word
            total += popcount(word)
        need = target - size
        if total < need:
            continue
        branching_set(rows, members[depth + 1], need, classes, locked, branch[depth + 1])
        needs[depth + 1] = need
        depth += 1
    state[DEPTH] = depth
    state[TARGET] = target
    state[NODES] += nodes
    return depth < 0


@jit
def fill_row(row, n):
    """Put the vertices 0..n-1 into a set."""
    for v in range(n):
        row[v >> 6] |= bit(v)


@jit
def set_bits(row, members):
    """Put the given vertices into a set."""
    for k in range(members.shape[0]):
        row[members[k] >> 6] |= bit(members[k])


@jit
def listed(row):
    """Return the members of a set, ascending."""
    members = np.empty(count_bits(row), dtype=np.int64)
    list_bits(row, members)
    return members
