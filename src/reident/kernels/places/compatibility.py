"""The product graph of two complete labelled graphs, by a band join over sorted distances.

A vertex is a pair of records with the same label, one of the release and one of the known file. Vertices are
numbered known record by known record: the pairs of known record w are `offsets[w] + r`, where r is the rank of the
release record among those of its label. For each two labels the distances between release records are sorted once; the
records compatible with a pair of known records are then one contiguous range, found by bisection.
"""

import numpy as np

from reident.kernels._numba import jit
from reident.kernels.cliques.bitset import ONE, ZERO, bit


@jit
def _first_below(length, lo, hi, known, bound, or_equal):
    """Bisect for the first position with a deviation `known - length` below `bound` (or equal to it)."""
    # The deviation itself is compared, not a rearranged bound: rounding must not move a pair across the edge.
    while lo < hi:
        middle = (lo + hi) >> 1
        deviation = known - length[middle]
        if deviation < bound or (or_equal and deviation == bound):
            hi = middle
        else:
            lo = middle + 1
    return lo


@jit
def known_ranges(codes, d_known, low, high, closed, starts, length, n_codes, from_known, to_known, start, end):
    """Write, for each two known records, the range of release pairs with a deviation between `low` and `high`.

    This is done for those whose first is one of from_known..to_known-1, into `start` and `end`, which are zero.
    """
    n = codes.shape[0]
    for a in range(from_known, to_known):
        if codes[a] < 0:
            continue
        for b in range(a + 1, n):
            if codes[b] < 0:
                continue
            labels = min(codes[a], codes[b]) * n_codes + max(codes[a], codes[b])
            lo = starts[labels]
            hi = starts[labels + 1]
            lo = _first_below(length, lo, hi, d_known[a, b], high[a, b], closed)
            hi = _first_below(length, lo, hi, d_known[a, b], low[a, b], not closed)
            start[a, b] = lo
            start[b, a] = lo
            end[a, b] = hi
            end[b, a] = hi


@jit
def count_neighbours(codes, offsets, first, second, start, end, from_known, to_known, degrees):
    """Add up the degrees, zero at first, of the vertices of the known records from_known..to_known-1."""
    n = codes.shape[0]
    for a in range(from_known, to_known):
        base = offsets[a]
        for b in range(n):
            # Two records of one label meet in both orders: either of the release pair may stand for `a`.
            if codes[a] <= codes[b]:
                for p in range(start[a, b], end[a, b]):
                    degrees[base + first[p]] += 1
            if codes[a] >= codes[b]:
                for p in range(start[a, b], end[a, b]):
                    degrees[base + second[p]] += 1


@jit
def _insert(indices, start, at, column):
    """Put `column` into a list that is sorted but for the few entries of the last known record."""
    while at > start and indices[at - 1] > column:
        indices[at] = indices[at - 1]
        at -= 1
    indices[at] = column


@jit
def fill_lists(codes, offsets, first, second, start, end, from_known, to_known, indptr, indices):
    """Write the adjacency lists, each ascending, of the vertices of the known records from_known..to_known-1."""
    n = codes.shape[0]
    for a in range(from_known, to_known):
        base = offsets[a]
        place = np.empty(offsets[a + 1] - base, dtype=np.int64)
        for r in range(place.shape[0]):
            place[r] = indptr[base + r]
        for b in range(n):
            other = offsets[b]
            if codes[a] <= codes[b]:
                for p in range(start[a, b], end[a, b]):
                    r = first[p]
                    _insert(indices, indptr[base + r], place[r], other + second[p])
                    place[r] += 1
            if codes[a] >= codes[b]:
                for p in range(start[a, b], end[a, b]):
                    r = second[p]
                    _insert(indices, indptr[base + r], place[r], other + first[p])
                    place[r] += 1


@jit
def _fill_block(rows, columns, low, high, base, other, bits, block):
    """Set the bits of release pairs low..high-1 in rows `base` on and columns `other` on, by way of a word a row."""
    for r in range(block.shape[0]):
        block[r] = ZERO
    for p in range(low, high):
        block[rows[p]] |= bit(columns[p])
    word, shift = other >> 6, np.uint64(other & 63)
    for r in range(block.shape[0]):
        if block[r] != ZERO:
            bits[base + r, word] |= block[r] << shift
            # A shift by 64 is none: in two steps nothing is left of a word that has not to be cut.
            beyond = (block[r] >> ONE) >> (np.uint64(63) - shift)
            if beyond != ZERO:
                bits[base + r, word + 1] |= beyond


@jit
def fill_bits(codes, offsets, first, second, start, end, from_known, to_known, bits):
    """Set, in rows of bits that are zero, the neighbours that belong to later known records, as `fill_lists` otherwise.

    For graphs too dense for lists; the neighbours before are then set by `mirror_rows`.
    """
    n = codes.shape[0]
    for a in range(from_known, to_known):
        base = offsets[a]
        block = np.empty(offsets[a + 1] - base, dtype=np.uint64)
        for b in range(a + 1, n):
            other = offsets[b]
            if offsets[b + 1] - other <= 64:
                # The few columns of `b` are gathered in a cache first.
                if codes[a] <= codes[b]:
                    _fill_block(first, second, start[a, b], end[a, b], base, other, bits, block)
                if codes[a] >= codes[b]:
                    _fill_block(second, first, start[a, b], end[a, b], base, other, bits, block)
                continue
            if codes[a] <= codes[b]:
                for p in range(start[a, b], end[a, b]):
                    u = other + second[p]
                    bits[base + first[p], u >> 6] |= bit(u)
            if codes[a] >= codes[b]:
                for p in range(start[a, b], end[a, b]):
                    u = other + first[p]
                    bits[base + second[p], u >> 6] |= bit(u)


@jit
def _agrees(known, released, low, high, closed, either):
    """Decide whether two distances in one direction agree; NaN is a missing one."""
    if np.isnan(known) or np.isnan(released):
        return either or (np.isnan(known) and np.isnan(released))
    deviation = known - released
    return low <= deviation <= high if closed else low < deviation < high


@jit
def fill_directed(pairs, d_release, d_known, low, high, closed, either, from_vertex, to_vertex, bits):
    """Set, in rows of bits that are zero, the later neighbours of vertices from_vertex..to_vertex-1.

    Each pair of vertices is compared in both directions: for distances that may be missing or directed.
    """
    for u in range(from_vertex, to_vertex):
        r, a = pairs[u, 0], pairs[u, 1]
        for v in range(u + 1, pairs.shape[0]):
            s, b = pairs[v, 0], pairs[v, 1]
            if r == s or a == b:
                continue
            if not _agrees(d_known[a, b], d_release[r, s], low[a, b], high[a, b], closed, either):
                continue
            if _agrees(d_known[b, a], d_release[s, r], low[b, a], high[b, a], closed, either):
                bits[u, v >> 6] |= bit(v)
