"""Counting the classes of generalised tuples.

A tuple is known by its cell: the sum over its attributes of an offset for each value, equal for values with one label.
"""

from __future__ import annotations

import numpy as np

from reident.kernels._loops import fill
from reident.kernels._numba import jit

__all__ = ["class_sizes", "group_tuples"]

#: Tuples whose cells are worked out together.
_BLOCK = 1024

#: Cells for each tuple up to which an array of all cells is faster than a hash table.
_DENSE = 4


@jit
def _cells(columns, varied, offsets, start, stop, cells):
    """Write the cells of some tuples into `cells`; modified in place."""
    fill(cells[: stop - start], 0)
    for a in range(varied.shape[0]):
        codes = columns[varied[a]]
        for i in range(start, stop):
            cells[i - start] += offsets[a, codes[i]]


@jit
def _n_bits(room):
    """Return the binary digits of the size of a hash table that stays half empty."""
    bits = 4
    while (1 << bits) < 2 * room:
        bits += 1
    return bits


@jit
def _slot(cell, bits):
    """Spread a cell over the slots of a table by Fibonacci hashing, without overflow."""
    folded = (cell ^ (cell >> 31)) & 0x7FFFFFFF
    return ((folded * 0x9E3779B1) & 0xFFFFFFFF) >> (32 - bits)


@jit
def _count_densely(columns, weights, varied, offsets, n_cells, most):
    counts = np.zeros(n_cells, np.int32)
    cells = np.empty(_BLOCK, np.int64)
    m, n_groups = weights.shape[0], 0
    for start in range(0, m, _BLOCK):
        stop = min(start + _BLOCK, m)
        _cells(columns, varied, offsets, start, stop, cells)
        for i in range(start, stop):
            cell = cells[i - start]
            n_groups += counts[cell] == 0
            counts[cell] += weights[i]
        if n_groups > most:
            break
    found = np.flatnonzero(counts)
    return found, counts[found].astype(np.int64)


@jit
def _count_hashed(columns, weights, varied, offsets, most):
    m, n_groups = weights.shape[0], 0
    bits = _n_bits(min(m, most + _BLOCK))
    mask = (1 << bits) - 1
    table = np.zeros((1 << bits, 2), np.int64)  # cell and count
    cells = np.empty(_BLOCK, np.int64)
    for start in range(0, m, _BLOCK):
        stop = min(start + _BLOCK, m)
        _cells(columns, varied, offsets, start, stop, cells)
        for i in range(start, stop):
            cell = cells[i - start]
            slot = _slot(cell, bits)
            while table[slot, 1] and table[slot, 0] != cell:
                slot = (slot + 1) & mask
            if table[slot, 1] == 0:
                table[slot, 0] = cell
                n_groups += 1
            table[slot, 1] += weights[i]
        if n_groups > most:
            break
    found = np.flatnonzero(table[:, 1])
    return table[found, 0], table[found, 1]


@jit
def class_sizes(columns, weights, varied, offsets, n_cells, most):
    """Count the records in each class of generalised tuples.

    Parameters
    ----------
    columns : int array, shape (q, m)
        Codes of the values of the tuples, an attribute a row.
    weights : int64 array, shape (m,)
        The records of each tuple, at least 1, and below 2 ** 31 together.
    varied : int64 array, shape (a,)
        The attributes that have several labels.
    offsets : int64 array, shape (a, values)
        What each value of each of them adds to the cell of its tuple.
    n_cells : int
        The cells that there may be; below 2 ** 62.
    most : int
        The classes after which to give up.

    Returns
    -------
    cells, sizes : int64 arrays, shape (g,)
        The cell of each class and its records; of more than `most` classes more than `most`, and unfinished.
    """
    if n_cells <= _DENSE * weights.shape[0] + _BLOCK:
        return _count_densely(columns, weights, varied, offsets, n_cells, most)
    return _count_hashed(columns, weights, varied, offsets, most)


@jit
def group_tuples(columns, weights, varied, offsets):
    """Give each class of generalised tuples a number, in order of first appearance.

    Parameters
    ----------
    columns, weights, varied, offsets
        As for `class_sizes`.

    Returns
    -------
    group : int64 array, shape (m,)
        The class of each tuple.
    sizes : int64 array, shape (g,)
        The records of each class.
    """
    m, n_groups = weights.shape[0], 0
    bits = _n_bits(m)
    mask = (1 << bits) - 1
    slots = np.full(1 << bits, -1, dtype=np.int32)
    group = np.empty(m, dtype=np.int64)
    found = np.empty(m, dtype=np.int64)
    sizes = np.zeros(m, dtype=np.int64)
    cells = np.empty(_BLOCK, np.int64)
    for start in range(0, m, _BLOCK):
        stop = min(start + _BLOCK, m)
        _cells(columns, varied, offsets, start, stop, cells)
        for i in range(start, stop):
            cell = cells[i - start]
            slot = _slot(cell, bits)
            while slots[slot] >= 0 and found[slots[slot]] != cell:
                slot = (slot + 1) & mask
            if slots[slot] < 0:
                slots[slot] = n_groups
                found[n_groups] = cell
                n_groups += 1
            group[i] = slots[slot]
            sizes[group[i]] += weights[i]
    return group, sizes[:n_groups].copy()
