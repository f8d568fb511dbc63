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
from reident.kernels.tables.choquet import sort_few


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
def _sorted_chain(values, order, masks):
    """Sort `values` into `order`; masks[k] is the set of the variables from the k-th smallest up."""
    n = values.size
    sort_few(values, order)
    mask = (1 << n) - 1
    for k in range(n):
        masks[k] = mask
        mask ^= 1 << order[k]


@jit
def _greatest(a, b, order, masks):
    """Greatest C(a) - C(b) over all fuzzy measures; `order` and `masks` are those of a.

    It is reached by a measure that is 1 exactly on the sets around one upper level set S of a: there C(a) is the
    minimum of a over S, and C(b) that of b over S; no other measure with values 0 and 1 does better.
    """
    best = -np.inf
    for k in range(a.size):
        smallest = np.inf
        for c in range(a.size):
            if masks[k] >> c & 1:
                smallest = min(smallest, b[c])
        best = max(best, a[order[k]] - smallest)
    return best


@jit
def choquet_rows(release, known, block, rival):
    """Rows for the Choquet integral in the values of the measure.

    Returns
    -------
    index : ndarray of int64, shape (rows, 2 p)
        Bit masks; a padding entry has mask 0 and value 0.
    value : ndarray of float64, shape (rows, 2 p)
        Coefficients.
    low, high : ndarray of float64, shape (rows,)
        Least and greatest value of the row over all fuzzy measures.
    """
    rows, p = block.size, release.shape[1]
    index = np.zeros((rows, 2 * p), np.int64)
    value = np.zeros((rows, 2 * p))
    low = np.empty(rows)
    high = np.empty(rows)
    rival_gaps, true_gaps = np.empty(p), np.empty(p)
    rival_order, true_order = np.empty(p, np.int64), np.empty(p, np.int64)
    rival_masks, true_masks = np.empty(p, np.int64), np.empty(p, np.int64)
    for r in range(rows):
        i, j = block[r], rival[r]
        for c in range(p):
            rival_gaps[c] = (release[i, c] - known[j, c]) ** 2
            true_gaps[c] = (release[i, c] - known[i, c]) ** 2
        _sorted_chain(rival_gaps, rival_order, rival_masks)
        _sorted_chain(true_gaps, true_order, true_masks)
        used = _add_chain(index[r], value[r], np.int64(0), rival_gaps, rival_order, rival_masks, 1.0)
        _add_chain(index[r], value[r], used, true_gaps, true_order, true_masks, -1.0)
        high[r] = _greatest(rival_gaps, true_gaps, rival_order, rival_masks)
        low[r] = -_greatest(true_gaps, rival_gaps, true_order, true_masks)
    return index, value, low, high


@jit
def _add_chain(index, value, used, gaps, order, masks, sign):
    """Add the terms (c_(k) - c_(k-1)) mu(A_(k)) to a sparse row, summed by set; returns the entries used."""
    below = 0.0
    for k in range(gaps.size):
        step = gaps[order[k]] - below
        below = gaps[order[k]]
        if step == 0.0:
            continue
        place = 0
        while place < used and index[place] != masks[k]:
            place += 1
        if place == used:
            index[used] = masks[k]
            used += 1
        value[place] += sign * step
    return used


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
