"""Large cliques without proof: a multi-neighbourhood tabu search (add, swap, drop) on a bitset graph."""

from __future__ import annotations

import numpy as np

from reident.kernels._numba import jit
from reident.kernels.cliques.bitset import ONE, ZERO, bit, count_shared, lowest_bit, popcount

# How long a vertex that was dropped, or swapped out, stays out; the ring of expiry dates is a power of two.
_DROPPED = 7
_RING = 1024


@jit
def random_number(state):
    """Return a whole number below 2^53 from an xorshift generator and advance its word of state."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64(x >> np.uint64(11))


@jit
def _pick(row, other, n):
    """Return the n-th member that two rows share."""
    for w in range(row.shape[0]):
        word = row[w] & other[w]
        inside = popcount(word)
        if n < inside:
            for _ in range(n):
                word &= word - ONE
            return (w << 6) + lowest_bit(word)
        n -= inside
    return -1


@jit
def _narrow(addable, swappable, row):
    """Leave addable what is adjacent to one more member, of this row, and swappable what misses it alone."""
    for w in range(row.shape[0]):
        swappable[w] = (swappable[w] & row[w]) | (addable[w] & ~row[w])
        addable[w] &= row[w]


@jit
def _candidates(rows, everything, clique, size, addable, swappable):
    """Find the vertices adjacent to all of the clique, and those adjacent to all but one of it."""
    for w in range(addable.shape[0]):
        addable[w] = everything[w]
        swappable[w] = ZERO
    for k in range(size):
        _narrow(addable, swappable, rows[clique[k]])
    # A member misses only itself.
    for k in range(size):
        swappable[clique[k] >> 6] &= ~bit(clique[k])


@jit
def climb(rows, first, patience, state, best):
    """Search from vertex `first` until `patience` moves brought no improvement.

    Each move adds a vertex that is adjacent to all of the clique, else swaps one in for the only member that it
    misses, else drops a member. A vertex that left stays out for a while. Returns the size of the clique put into
    `best`, and the number of moves.
    """
    n, words = rows.shape
    sets = np.zeros((4, words), dtype=np.uint64)
    everything, allowed, addable, swappable = sets[0], sets[1], sets[2], sets[3]
    following = np.empty(n, dtype=np.int64)
    clique = np.empty(n, dtype=np.int64)
    ring = np.empty(_RING, dtype=np.int64)
    for v in range(n):
        everything[v >> 6] |= ONE << np.uint64(v & 63)
        allowed[v >> 6] |= ONE << np.uint64(v & 63)
        following[v] = -1
    for slot in range(_RING):
        ring[slot] = -1
    clique[0] = first
    size = np.int64(1)
    best[0] = first
    largest = 1
    _candidates(rows, everything, clique, size, addable, swappable)
    move = 0
    since = 0
    while since < patience:
        move += 1
        since += 1
        slot = move & (_RING - 1)
        while ring[slot] >= 0:
            v = ring[slot]
            ring[slot] = following[v]
            allowed[v >> 6] |= bit(v)
        out = -1
        n_add = count_shared(addable, allowed)
        if n_add > 0:
            v = _pick(addable, allowed, random_number(state) % n_add)
            highest = -1
            # The best of a few draws: what leaves most candidates for the next move.
            for _ in range(min(3, n_add - 1)):
                u = _pick(addable, allowed, random_number(state) % n_add)
                if highest < 0:
                    highest = count_shared(addable, rows[v])
                shared = count_shared(addable, rows[u])
                if shared > highest:
                    highest = shared
                    v = u
            _narrow(addable, swappable, rows[v])
            swappable[v >> 6] &= ~bit(v)
            clique[size] = v
            size += 1
            if size > largest:
                largest = size
                for k in range(size):
                    best[k] = clique[k]
                since = 0
            continue
        n_swap = count_shared(swappable, allowed)
        tenure = _DROPPED
        if n_swap > 0:
            v = _pick(swappable, allowed, random_number(state) % n_swap)
            k = 0
            while (rows[v, clique[k] >> 6] >> np.uint64(clique[k] & 63)) & ONE != ZERO:
                k += 1
            out = clique[k]
            clique[k] = v
            tenure += random_number(state) % (n_swap + 1)
        elif size > 0:
            k = random_number(state) % size
            out = clique[k]
            size -= 1
            clique[k] = clique[size]
        if out >= 0:
            tenure = min(tenure, _RING - 1)
            slot = (move + tenure) & (_RING - 1)
            allowed[out >> 6] &= ~bit(out)
            following[out] = ring[slot]
            ring[slot] = out
        _candidates(rows, everything, clique, size, addable, swappable)
    return largest, move
