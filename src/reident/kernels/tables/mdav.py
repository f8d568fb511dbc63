"""Microaggregation by maximum distance to average vector (MDAV)."""

from __future__ import annotations

import numpy as np

from reident.kernels._numba import jit
from reident.kernels.tables.nearest import build_tree

__all__ = ["mdav_clusters"]


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
    tree = build_tree(points, np.ones(p))
    members, spans, _, _ = tree
    parents, leaf_of = np.zeros(spans.shape[0], np.int64), np.empty(n, np.int64)
    for node in range(spans.shape[0]):
        child = spans[node, 2]
        if child > 0:
            parents[child] = parents[child + 1] = node
            continue
        for place in range(spans[node, 0], spans[node, 1]):
            leaf_of[members[place]] = node
    total, rest = np.zeros(p), np.zeros(p)
    for i in range(n):
        _add(total, rest, points[i], 1.0)
    nearest, farthest = np.empty(k, np.int64), np.empty(1, np.int64)
    space = np.empty(spans.shape[0], np.int64), np.empty(spans.shape[0]), np.empty(k)
    size, label = n, 0
    while size >= 2 * k:
        _search(points, (total + rest) / size, -1.0, tree, space, farthest)
        r = farthest[0]
        several = size >= 3 * k
        centre = points[r]
        for _ in range(2):
            _search(points, centre, 1.0, tree, space, nearest)
            for record in nearest:
                clusters[record] = label
                _add(total, rest, points[record], -1.0)
                _remove(points, record, leaf_of[record], parents, tree)
            label += 1
            size -= k
            if not several:
                break
            _search(points, points[r], -1.0, tree, space, farthest)
            centre = points[farthest[0]]
        if not several:
            break
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
def _remove(points, record, leaf, parents, tree):
    """Take a record out of its leaf; the boxes above shrink to the remaining records."""
    members, spans, low, high = tree
    start, last = spans[leaf, 0], spans[leaf, 1] - 1
    for place in range(start, last + 1):
        if members[place] == record:
            members[place], members[last] = members[last], members[place]
            break
    spans[leaf, 1] -= 1
    for c in range(points.shape[1]):
        low[leaf, c], high[leaf, c] = np.inf, -np.inf
        for place in range(start, last):
            value = points[members[place], c]
            low[leaf, c] = min(low[leaf, c], value)
            high[leaf, c] = max(high[leaf, c], value)
    node = leaf
    while node > 0:
        node = parents[node]
        child = spans[node, 2]
        spans[node, 1] -= 1
        for c in range(points.shape[1]):
            low[node, c] = min(low[child, c], low[child + 1, c])
            high[node, c] = max(high[child, c], high[child + 1, c])


@jit
def _search(points, centre, sign, tree, space, found):
    """Write the records nearest to a point into `found`, by distance, then by place in the table.

    The farthest where `sign` is -1: those of the least distance times `sign`.
    """
    members, spans, low, high = tree
    stack, bounds, distances = space
    k, p = found.size, points.shape[1]
    count = 0
    stack[0], bounds[0] = 0, -np.inf
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if count == k and bounds[depth] > distances[k - 1]:
            continue
        child = spans[node, 2]
        if child == 0:
            for at in range(spans[node, 0], spans[node, 1]):
                record = members[at]
                distance = 0.0
                for c in range(p):
                    step = points[record, c] - centre[c]
                    distance += step * step
                distance *= sign
                place = count
                while place > 0 and (
                    distance < distances[place - 1] or (distance == distances[place - 1] and record < found[place - 1])
                ):
                    place -= 1
                if place == k:
                    continue
                for later in range(min(count, k - 1), place, -1):
                    distances[later], found[later] = distances[later - 1], found[later - 1]
                distances[place], found[place] = distance, record
                count = min(count + 1, k)
            continue
        before = depth
        for box in range(child, child + 2):
            if spans[box, 0] < spans[box, 1]:
                # No distance to a record of the box is less, rounding included.
                bound = 0.0
                for c in range(p):
                    below, above = low[box, c] - centre[c], centre[c] - high[box, c]
                    step = max(below, above, 0.0) if sign > 0.0 else min(below, above)
                    bound += step * step
                stack[depth], bounds[depth] = box, sign * bound
                depth += 1
        # The more promising one is looked at first.
        if depth == before + 2 and bounds[before] < bounds[before + 1]:
            stack[before], stack[before + 1] = stack[before + 1], stack[before]
            bounds[before], bounds[before + 1] = bounds[before + 1], bounds[before]
