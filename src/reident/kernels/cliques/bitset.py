"""Sets of small whole numbers as rows of 64-bit words: vertex v is bit v % 64 of word v // 64."""

# ruff: noqa: ARG001 (intrinsics are called with a context)
from __future__ import annotations

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from reident.kernels._numba import jit

ONE = np.uint64(1)
ZERO = np.uint64(0)

# Above this share of ones the words of a block are turned round, below it the ones are moved one by one.
_DENSE = 0.1

if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]

    def popcount(word):
        """Return the number of ones in a word."""
        return int(word).bit_count()

    def lowest_bit(word):
        """Return the position of the lowest one of a word that is not zero."""
        return (int(word) & -int(word)).bit_length() - 1

    def highest_bit(word):
        """Return the position of the highest one of a word that is not zero."""
        return int(word).bit_length() - 1

else:
    # One machine instruction each, which LLVM would not find by itself in a portable formula.

    @intrinsic
    def popcount(typing_context, word):
        """Return the number of ones in a word."""

        def generate(context, builder, signature, arguments):
            return builder.ctpop(arguments[0])

        return types.int64(types.uint64), generate

    @intrinsic
    def lowest_bit(typing_context, word):
        """Return the position of the lowest one of a word that is not zero."""

        def generate(context, builder, signature, arguments):
            return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

        return types.int64(types.uint64), generate

    @intrinsic
    def highest_bit(typing_context, word):
        """Return the position of the highest one of a word that is not zero."""

        def generate(context, builder, signature, arguments):
            zeros = builder.ctlz(arguments[0], context.get_constant(types.boolean, True))
            return builder.sub(context.get_constant(types.int64, 63), zeros)

        return types.int64(types.uint64), generate


@jit
def bit(v):
    """Return the word in which only the bit of vertex `v` is set."""
    return ONE << np.uint64(v & 63)


@jit
def count_bits(row):
    """Return how many vertices are in the set."""
    total = 0
    for w in range(row.shape[0]):
        total += popcount(row[w])
    return total


@jit
def count_shared(row, other):
    """Return how many vertices are in both sets."""
    total = 0
    for w in range(row.shape[0]):
        total += popcount(row[w] & other[w])
    return total


@jit
def pack_lists(indptr, indices, order, rank, low, high, bits):
    """Set rows low..high-1 of a packed graph, zero at first, from adjacency lists: row i is vertex `order[i]`'s."""
    for i in range(low, high):
        v = order[i]
        for p in range(indptr[v], indptr[v + 1]):
            u = rank[indices[p]]
            bits[i, u >> 6] |= bit(u)
    return bits


@jit
def _transpose_block(block):
    """Turn 64 words round, in place: bit j of word i changes places with bit i of word j."""
    step, mask = 32, np.uint64(0xFFFFFFFF)
    while step > 0:
        for low in range(0, 64, 2 * step):
            for i in range(low, low + step):
                other = block[i + step]
                swapped = ((block[i] >> np.uint64(step)) ^ other) & mask
                block[i + step] = other ^ swapped
                block[i] ^= swapped << np.uint64(step)
        step >>= 1
        mask ^= mask << np.uint64(step)


@jit
def mirror_rows(bits, low, high):
    """Set, in place, the edges of vertices low..high-1, multiples of 64 or the end, to those before them.

    The rows hold the edges to larger vertices only, at first.
    """
    n = bits.shape[0]
    block = np.zeros(64, dtype=np.uint64)
    for w in range(low >> 6, (high + 63) >> 6):
        rows = min(64, n - 64 * w)
        for other in range(w + 1):
            for i in range(min(64, n - 64 * other)):
                block[i] = bits[64 * other + i, w]
            _transpose_block(block)
            for i in range(rows):
                bits[64 * w + i, other] |= block[i]
            for i in range(64):
                block[i] = ZERO


@jit
def permute_rows(bits, order, rank):
    """Rename the vertices of a packed graph: row i of the result is row `order[i]`, its columns renamed by `rank`."""
    n, words = bits.shape
    out = np.zeros((n, words), dtype=np.uint64)
    total = 0
    for v in range(n):
        for w in range(words):
            total += popcount(bits[v, w])
    if total > _DENSE * n * n:
        # Block by block; what is adjacent to a vertex is also what the vertex is adjacent to.
        block = np.zeros(64, dtype=np.uint64)
        for b in range(words):
            for w in range(words):
                for i in range(min(64, n - 64 * b)):
                    block[i] = bits[order[64 * b + i], w]
                _transpose_block(block)
                for i in range(min(64, n - 64 * w)):
                    out[rank[64 * w + i], b] = block[i]
                for i in range(64):
                    block[i] = ZERO
        return out
    for i in range(n):
        v = order[i]
        for w in range(words):
            word = bits[v, w]
            while word != ZERO:
                u = rank[(w << 6) + lowest_bit(word)]
                out[i, u >> 6] |= bit(u)
                word &= word - ONE
    return out
