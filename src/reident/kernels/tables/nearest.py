"""Nearest records under distances that aggregate squared differences of columns monotonically.

The aggregation is the sum, or the Choquet integral where a fuzzy measure is given: a vector of 2^n values
indexed by sets as bit masks, where variable v is in set s if bit v of s is 1. Both are monotone, so the aggregate of
the gaps between a record and a box bounds its distance to all records in the box: a tree of boxes serves both.
"""

from __future__ import annotations

import numpy as np

from reident.kernels._argsort import argsort
from reident.kernels._numba import jit

_LEAF = 12
_STACK = 128


@jit
def build_tree(points, split_weights):
    """Sort points into a balanced tree of bounding boxes.

    Parameters
    ----------
    points : ndarray of float64, shape (m, p)
        m >= 1.
    split_weights : ndarray of float64, shape (p,)
        How much each column counts: a node is cut across its widest column by weight times squared extent.

    Returns
    -------
    order : ndarray of int64, shape (m,)
        The points' positions, those of one node next to each other.
    spans : ndarray of int64, shape (nodes, 3)
        First and last-plus-one place in `order`, and the node's left child (its right one follows it), 0 for a leaf.
    low, high : ndarray of float64, shape (nodes, p)
        Bounding boxes.

    Notes
    -----
    Time O(m log^2 m), memory O(m p).
    """
    m, p = points.shape
    capacity = 4 * (m // _LEAF + 1)
    order = np.empty(m, np.int64)
    for i in range(m):
        order[i] = i
    spans = np.zeros((capacity, 3), np.int64)
    low = np.empty((capacity, p))
    high = np.empty((capacity, p))
    spans[0, 1] = m
    nodes = 1
    node = 0
    while node < nodes:
        first, last = spans[node, 0], spans[node, 1]
        widest = 0.0
        axis = 0
        for c in range(p):
            lowest = points[order[first], c]
            greatest = lowest
            for i in range(first + 1, last):
                value = points[order[i], c]
                lowest = min(lowest, value)
                greatest = max(greatest, value)
            low[node, c] = lowest
            high[node, c] = greatest
            extent = split_weights[c] * (greatest - lowest) ** 2
            if extent > widest:
                widest = extent
                axis = c
        if last - first > _LEAF:
            part = order[first:last].copy()
            values = np.empty(last - first)
            for i in range(last - first):
                values[i] = points[part[i], axis]
            by_value = argsort(values)
            for i in range(last - first):
                order[first + i] = part[by_value[i]]
            middle = (first + last) // 2
            spans[node, 2] = nodes
            spans[nodes, 0], spans[nodes, 1] = first, middle
            spans[nodes + 1, 0], spans[nodes + 1, 1] = middle, last
            nodes += 2
        node += 1
    return order, spans[:nodes], low[:nodes], high[:nodes]


@jit
def _sort_few(values, order):
    """Write the order of few values into `order`, by insertion; equal values stay as they are."""
    for i in range(values.size):
        place = i
        while place > 0 and values[order[place - 1]] > values[i]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = i


@jit
def _choquet_one(values, mu):
    """Choquet integral of one vector of few values."""
    n = values.size
    order = np.empty(n, np.int64)
    _sort_few(values, order)
    mask = (1 << n) - 1
    total = 0.0
    below = 0.0
    for i in range(n):
        value = values[order[i]]
        total += (value - below) * mu[mask]
        below = value
        mask ^= 1 << order[i]
    return total


@jit
def _choquet_distance(release, row, low, high, i, mu, squares):
    """Choquet integral of the squared gaps from a record to a box, or to a point that is both its ends."""
    for c in range(squares.size):
        value = release[row, c]
        gap = value - min(max(value, low[i, c]), high[i, c])
        squares[c] = gap * gap
    return _choquet_one(squares, mu)


@jit
def nearest_records(release, points, order, spans, low, high, mu, tie):
    """Find the nearest known record of each released one in a tree of boxes.

    Parameters
    ----------
    release : ndarray of float64, shape (n, p)
        Released records.
    points : ndarray of float64, shape (m, p)
        Known records, in the tree's order.
    order, spans, low, high
        The tree, from `build_tree`.
    mu : ndarray of float64, shape (2**p,) or (0,)
        Fuzzy measure by bit mask; empty for the sum of squares.
    tie : float
        Relative difference up to which two distances are tied.

    Returns
    -------
    nearest : ndarray of int64, shape (n,)
        Position (as in `order`) of the nearest record, the smallest among ties.
    distance : ndarray of float64, shape (n,)
        Its distance.
    ties : ndarray of int64, shape (n,)
        How many known records are tied at that distance, itself included.

    Notes
    -----
    Two walks a record: the least distance first, then who shares it, since a tie is relative to the least distance.
    Time about O(n log m) for few columns, O(n m p) at worst; memory O(n + m p).
    """
    n, p = release.shape
    nearest = np.empty(n, np.int64)
    distance = np.empty(n)
    ties = np.empty(n, np.int64)
    squares = np.empty(p)
    stack = np.empty(_STACK, np.int64)
    bounds = np.empty(_STACK)
    for row in range(n):
        best = np.inf
        count = 0
        first = np.int64(-1)
        for walk in range(2):
            limit = best if walk == 0 else best * (1.0 + tie)
            stack[0] = 0
            bounds[0] = 0.0
            top = 1
            while top > 0:
                top -= 1
                node = stack[top]
                if bounds[top] > limit:
                    continue
                child = spans[node, 2]
                if child == 0:
                    for i in range(spans[node, 0], spans[node, 1]):
                        if mu.size > 0:
                            d = _choquet_distance(release, row, points, points, i, mu, squares)
                        else:
                            d = 0.0
                            for c in range(p):
                                gap = release[row, c] - points[i, c]
                                d += gap * gap
                        if walk == 0:
                            best = min(best, d)
                            limit = best
                        elif d <= limit:
                            count += 1
                            if first < 0 or order[i] < first:
                                first = order[i]
                    continue
                # Lower bounds of the distances to both boxes, shaved by more than rounding can lift them.
                below = above = 0.0
                for box in range(child, child + 2):
                    if mu.size > 0:
                        bound = _choquet_distance(release, row, low, high, box, mu, squares)
                    else:
                        bound = 0.0
                        for c in range(p):
                            value = release[row, c]
                            gap = value - min(max(value, low[box, c]), high[box, c])
                            bound += gap * gap
                    below, above = above, bound * (1.0 - 1e-12)
                # The nearer box is put on top, to be searched first.
                near = child if below <= above else child + 1
                stack[top] = 2 * child + 1 - near
                bounds[top] = max(below, above)
                stack[top + 1] = near
                bounds[top + 1] = min(below, above)
                top += 2
        nearest[row] = first
        distance[row] = best
        ties[row] = count
    return nearest, distance, ties
