"""The product graph of two complete labelled graphs, by a band join over sorted distances.

A vertex is a pair of records with the same label, one of the release and one of the known file. Vertices are
numbered known record by known record: the pairs of known record w are `offsets[w] + r`, where r is the rank of the
release record among those of its label. For each two labels the distances between release records are sorted once; the
records compatible with a pair of known records are then one contiguous range, found by bisection.
"""

from __future__ import annotations

import numpy as np

from reident.kernels._jit import jit
from reident.kernels._loops import fill
from reident.kernels.cliques.bitset import ONE, ZERO, bit


@jit
def release_pairs(codes, ranks, distances, n_codes):
    """List the pairs of labelled release records: distance, ranks of both, and the two labels as one number.

    The record with the smaller label comes first; a pair's number of labels is (smaller * n_codes + larger).
    """
    n = codes.shape[0]
    n_labelled = 0
    for i in range(n):
        if codes[i] >= 0:
            n_labelled += 1
    m = n_labelled * (n_labelled - 1) // 2
    length = np.empty(m, dtype=np.float64)
    first = np.empty(m, dtype=np.int32)
    second = np.empty(m, dtype=np.int32)
    labels = np.empty(m, dtype=np.int64)
    p = 0
    for i in range(n):
        if codes[i] < 0:
            continue
        for j in range(i + 1, n):
            if codes[j] < 0:
                continue
            length[p] = distances[i, j]
            if codes[i] <= codes[j]:
                first[p] = ranks[i]
                second[p] = ranks[j]
                labels[p] = codes[i] * n_codes + codes[j]
            else:
                first[p] = ranks[j]
                second[p] = ranks[i]
                labels[p] = codes[j] * n_codes + codes[i]
            p += 1
    return length, first, second, labels


@jit
def group_by_labels(order, length, first, second, labels, n_labels):
    """Rearrange pairs, already in the order of their distances, so that those of two labels lie together."""
    starts = np.zeros(n_labels + 1, dtype=np.int64)
    for p in range(labels.shape[0]):
        starts[labels[p] + 1] += 1
    for k in range(n_labels):
        starts[k + 1] += starts[k]
    place = starts[:-1].copy()
    length_out = np.empty_like(length)
    first_out = np.empty_like(first)
    second_out = np.empty_like(second)
    for q in range(order.shape[0]):
        p = order[q]
        at = place[labels[p]]
        place[labels[p]] += 1
        length_out[at] = length[p]
        first_out[at] = first[p]
        second_out[at] = second[p]
    return starts, length_out, first_out, second_out


@jit
def _first_below(length, lo, hi, known, bound, or_equal):
    """Bisect for the first position whose deviation `known - length` is below `bound` (or equal to it)."""
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
def known_ranges(codes, d_known, low, high, closed, starts, length, n_codes, from_known, to_known, begin, end):
    """Write, for each two known records, the range of release pairs whose deviation lies between `low` and `high`.

    This is done for those whose first is one of from_known..to_known-1, into `begin` and `end`, which are zero.
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
            begin[a, b] = lo
            begin[b, a] = lo
            end[a, b] = hi
            end[b, a] = hi


@jit
def count_ends(codes, begin, end):
    """Return the sum of all degrees."""
    n = codes.shape[0]
    total = 0
    for a in range(n):
        for b in range(n):
            total += (end[a, b] - begin[a, b]) * (2 if codes[a] == codes[b] else 1)
    return total


@jit
def count_neighbours(codes, offsets, first, second, begin, end, from_known, to_known, degrees):
    """Add up the degrees, zero at first, of the vertices of the known records from_known..to_known-1."""
    n = codes.shape[0]
    for a in range(from_known, to_known):
        mine = degrees[offsets[a] : offsets[a + 1]]
        for b in range(n):
            # Two records of one label meet in both orders: either of the release pair may stand for `a`.
            if codes[a] <= codes[b]:
                for p in range(begin[a, b], end[a, b]):
                    mine[first[p]] += 1
            if codes[a] >= codes[b]:
                for p in range(begin[a, b], end[a, b]):
                    mine[second[p]] += 1


@jit
def _insert(indices, start, at, column):
    """Put `column` into a list that is sorted but for the few entries of the last known record."""
    while at > start and indices[at - 1] > column:
        indices[at] = indices[at - 1]
        at -= 1
    indices[at] = column


@jit
def fill_lists(codes, offsets, first, second, begin, end, from_known, to_known, indptr, indices):
    """Write the adjacency lists, each ascending, of the vertices of the known records from_known..to_known-1."""
    n = codes.shape[0]
    for a in range(from_known, to_known):
        mine = indptr[offsets[a] : offsets[a + 1]]
        place = mine.copy()
        for b in range(n):
            other = offsets[b]
            if codes[a] <= codes[b]:
                for p in range(begin[a, b], end[a, b]):
                    r = first[p]
                    _insert(indices, mine[r], place[r], other + second[p])
                    place[r] += 1
            if codes[a] >= codes[b]:
                for p in range(begin[a, b], end[a, b]):
                    r = second[p]
                    _insert(indices, mine[r], place[r], other + first[p])
                    place[r] += 1


@jit
def _fill_block(rows, columns, low, high, base, other, bits, block):
    """Set the bits of release pairs low..high-1 in rows `base` on and columns `other` on, by way of a word a row."""
    fill(block, ZERO)
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
def fill_bits(codes, offsets, first, second, begin, end, from_known, to_known, bits):
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
                    _fill_block(first, second, begin[a, b], end[a, b], base, other, bits, block)
                if codes[a] >= codes[b]:
                    _fill_block(second, first, begin[a, b], end[a, b], base, other, bits, block)
                continue
            if codes[a] <= codes[b]:
                for p in range(begin[a, b], end[a, b]):
                    u = other + second[p]
                    bits[base + first[p], u >> 6] |= bit(u)
            if codes[a] >= codes[b]:
                for p in range(begin[a, b], end[a, b]):
                    u = other + first[p]
                    bits[base + second[p], u >> 6] |= bit(u)
