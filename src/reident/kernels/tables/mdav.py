"""Microaggregation by maximum distance to average vector (MDAV), and by pairs of the two most distant records."""

from __future__ import annotations

import numpy as np

from reident.kernels._numba import jit
from reident.kernels.tables.nearest import build_tree

_NEAREST, _FARTHEST = 1.0, -1.0


@jit
def mdav_clusters(points, k):
    """Partition points into clusters of k to 2k - 1 by MDAV.

    Parameters
    ----------
    points : ndarray of float64, shape (n, p)
        One record a row, n >= k >= 1. Not modified.
    k : int
        Smallest size of a cluster.

    Returns
    -------
    ndarray of int64, shape (n,)
        Cluster of each record, 0, 1, ... in the order in which MDAV forms them.

    Notes
    -----
    Generic MDAV (Domingo-Ferrer and Torra 2005, Algorithm 1): take the record r farthest from the centroid of what is
    left and its k - 1 nearest, then the record s farthest from r and its k - 1 nearest; from 2k to 3k - 1 records left,
    one cluster about r and one of the rest; fewer, one cluster. Among equally distant records the one that comes first
    in the table is taken; s is sought among the records that r's cluster leaves. Both searches run in a tree of boxes
    that shrink with what is left: about O(n log n) where few columns tell records apart, O(n^2 p / k) at worst.
    """
    n, p = points.shape
    clusters = np.full(n, -1, np.int64)
    members, spans, low, high = build_tree(points, np.ones(p))
    parents, leaf_of = np.full(len(spans), -1, np.int64), np.empty(n, np.int64)
    for node in range(len(spans)):
        child = spans[node, 2]
        if child > 0:
            parents[child] = parents[child + 1] = node
            continue
        for place in range(spans[node, 0], spans[node, 1]):
            leaf_of[members[place]] = node
    total, rest = np.zeros(p), np.zeros(p)
    for i in range(n):
        _add(total, rest, points[i], 1.0)
    stack, bounds = np.empty(len(spans) + 1, np.int64), np.empty(len(spans) + 1)
    first, nearest = np.empty(1, np.int64), np.empty(k, np.int64)
    distances = np.empty(k)
    size, label = n, 0
    while size >= 2 * k:
        _search(points, (total + rest) / size, members, spans, low, high, stack, bounds, _FARTHEST, first, distances)
        start = points[first[0]]
        for later in range(1 + np.int64(size >= 3 * k)):
            if later > 0:
                _search(points, start, members, spans, low, high, stack, bounds, _FARTHEST, first, distances)
            centre = points[first[0]]
            _search(points, centre, members, spans, low, high, stack, bounds, _NEAREST, nearest, distances)
            for record in nearest:
                clusters[record] = label
                _add(total, rest, points[record], -1.0)
                _remove(points, record, leaf_of[record], members, spans, parents, low, high)
            label += 1
            size -= k
    for i in range(n):
        if clusters[i] < 0:
            clusters[i] = label
    return clusters


@jit
def _add(total, rest, point, sign):
    """Add a point to a compensated sum, so that the point can be subtracted again without loss."""
    for c in range(total.size):
        value = sign * point[c]
        after = total[c] + value
        part = after - total[c]
        rest[c] += (total[c] - (after - part)) + (value - part)
        total[c] = after


@jit
def _enclose(points, members, low, high):
    """Write the ends of the box around some records."""
    for c in range(low.size):
        low[c], high[c] = np.inf, -np.inf
        for record in members:
            low[c] = min(low[c], points[record, c])
            high[c] = max(high[c], points[record, c])


@jit
def _square(points, record, centre):
    """Return the squared distance of a record from a point."""
    total = 0.0
    for c in range(centre.size):
        step = points[record, c] - centre[c]
        total += step * step
    return total


@jit
def _remove(points, record, leaf, members, spans, parents, low, high):
    """Take a record out of its leaf; the boxes above shrink to the remaining records."""
    start, last = spans[leaf, 0], spans[leaf, 1] - 1
    for place in range(start, last + 1):
        if members[place] == record:
            members[place], members[last] = members[last], members[place]
            break
    spans[leaf, 1] = last
    _enclose(points, members[start:last], low[leaf], high[leaf])
    node = parents[leaf]
    while node >= 0:
        child = spans[node, 2]
        for c in range(points.shape[1]):
            low[node, c] = min(low[child, c], low[child + 1, c])
            high[node, c] = max(high[child, c], high[child + 1, c])
        node = parents[node]


@jit
def _search(points, centre, members, spans, low, high, stack, bounds, sign, found, scores):
    """Write the records nearest to a point (`sign` 1) or farthest (-1) into `found`; of equally far ones the first.

    A score is the squared distance times the sign; the least come first.
    """
    k, p = found.size, points.shape[1]
    count = 0
    stack[0], bounds[0] = 0, -np.inf
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if low[node, 0] > high[node, 0] or (count == k and bounds[depth] > scores[k - 1]):  # emptied, or too far
            continue
        child = spans[node, 2]
        if child == 0:
            for at in range(spans[node, 0], spans[node, 1]):
                record = members[at]
                score = sign * _square(points, record, centre)
                place = count
                while place > 0 and (
                    score < scores[place - 1] or (score == scores[place - 1] and record < found[place - 1])
                ):
                    place -= 1
                if place == k:
                    continue
                for later in range(min(count, k - 1), place, -1):
                    scores[later], found[later] = scores[later - 1], found[later - 1]
                scores[place], found[place] = score, record
                count = min(count + 1, k)
            continue
        for box in range(child, child + 2):
            # No score of a record of the box is less, rounding included.
            bound = 0.0
            for c in range(p):
                below, above = low[box, c] - centre[c], centre[c] - high[box, c]
                step = max(below, above, 0.0) if sign > 0 else min(below, above)
                bound += step * step
            stack[depth], bounds[depth] = box, sign * bound
            depth += 1
        # The more promising one is looked at first.
        if bounds[depth - 1] > bounds[depth - 2]:
            stack[depth - 2], stack[depth - 1] = stack[depth - 1], stack[depth - 2]
            bounds[depth - 2], bounds[depth - 1] = bounds[depth - 1], bounds[depth - 2]
