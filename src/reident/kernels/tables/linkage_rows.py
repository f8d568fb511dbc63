"""The rows of the learning problem: one linear inequality for each block and each rival that matters.

Block i is one released record; a rival is a known record other than its true partner. With the squared differences
d_ij of all columns, the block is linked if g_ij(x) = C(d_ij; x) - C(d_ii; x) > 0 for every rival j, where C is linear
in x: the weights of a mean, the values of a fuzzy measure by bit mask, or the entries of a matrix. (For that C takes
the differences themselves, and no rival dominates another.)
"""

from __future__ import annotations

import numpy as np

from reident.kernels._argsort import argsort
from reident.kernels._numba import jit


@jit
def rivals(release, known, blocks):
    """Find, for each block, the rivals that no other rival dominates.

    Parameters
    ----------
    release, known : ndarray of float64, shapes (n, p) and (m, p), m at least n
        Records in one order: row i of both belongs to one person; further rows of `known` are rivals only.
    blocks : ndarray of int64, shape (b,)
        The blocks wanted.

    Returns
    -------
    block, rival : ndarray of int64, shape (rows,)
        The pairs, block by block.

    Notes
    -----
    C is monotone: if d_ij' <= d_ij in every column, the row of j' implies that of j. Candidates come in the order of
    their sum, so that a dominating one is always seen first; of equal ones the first stays. Time O(n r p) a block with
    r rivals kept.
    """
    n, p = known.shape
    capacity = 1024
    out_block = np.empty(capacity, np.int64)
    out_rival = np.empty(capacity, np.int64)
    count = 0
    squares = np.empty((n, p))
    sums = np.empty(n)
    chosen = np.empty(n, np.int64)
    for i in blocks:
        for j in range(n):
            sums[j] = 0.0
            for c in range(p):
                gap = release[i, c] - known[j, c]
                squares[j, c] = gap * gap
                sums[j] += squares[j, c]
        size = 0
        for j in argsort(sums):
            if j == i:
                continue
            dominated = False
            for place in range(size):
                dominated = True
                for c in range(p):
                    if squares[chosen[place], c] > squares[j, c]:
                        dominated = False
                        break
                if dominated:
                    # What dominated once tends to dominate again: move it one place to the front.
                    if place > 0:
                        chosen[place], chosen[place - 1] = chosen[place - 1], chosen[place]
                    break
            if not dominated:
                chosen[size] = j
                size += 1
        if count + size > capacity:
            capacity = 2 * (count + size)
            out_block = np.append(out_block[:count], np.empty(capacity - count, np.int64))
            out_rival = np.append(out_rival[:count], np.empty(capacity - count, np.int64))
        for place in range(size):
            out_block[count] = i
            out_rival[count] = chosen[place]
            count += 1
    return out_block[:count].copy(), out_rival[:count].copy()


@jit
def block_margins(index, value, starts, blocks, x, margins, worst):
    """Write the listed blocks' least row values at x, and their rows; both arrays are modified in place."""
    for b in blocks:
        margins[b] = np.inf
        worst[b] = -1
        for r in range(starts[b], starts[b + 1]):
            total = 0.0
            for e in range(index.shape[1]):
                total += value[r, e] * x[index[r, e]]
            if total < margins[b]:
                margins[b] = total
                worst[b] = r


@jit
def spans(index, value, starts, x, step, eps, low, high):
    """Write between which s each block reaches `eps` in all its rows at x + s step; both ends are modified in place.

    Parameters
    ----------
    index, value, starts : ndarray
        Sparse rows, block by block.
    x, step : ndarray of float64
        A point and a direction.
    eps : float
        What each row must reach.
    low, high : ndarray of float64, shape (blocks,)
        The ends, both included; `low` above `high` where no s will do.
    """
    for b in range(starts.size - 1):
        lower, upper = -np.inf, np.inf
        for r in range(starts[b], starts[b + 1]):
            at, slope = -eps, 0.0
            for e in range(index.shape[1]):
                at += value[r, e] * x[index[r, e]]
                slope += value[r, e] * step[index[r, e]]
            if slope > 0.0:
                lower = max(lower, -at / slope)
            elif slope < 0.0:
                upper = min(upper, -at / slope)
            elif at < 0.0:
                lower = np.inf
            if lower > upper:
                break
        low[b], high[b] = lower, upper
