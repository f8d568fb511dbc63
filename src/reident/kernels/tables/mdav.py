"""Microaggregation by maximum distance to average vector (MDAV), and by pairs of the two most distant records."""

from __future__ import annotations

import numpy as np

from reident.kernels._argsort import argsort
from reident.kernels._numba import jit

#: Records in a leaf of the tree, at most.
_LEAF = 16


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
    members, starts, counts, low, high = _tree(points)
    leaf_of = np.empty(n, np.int64)
    first_leaf = counts.size // 2
    for leaf in range(first_leaf, counts.size):
        for place in range(starts[leaf], starts[leaf] + counts[leaf]):
            leaf_of[members[place]] = leaf
    total, rest = np.zeros(p), np.zeros(p)
    for i in range(n):
        _add(total, rest, points[i], 1.0)
    nearest = np.empty(k, np.int64)
    distances = np.empty(k)
    stack, bounds = np.empty(2 * counts.size, np.int64), np.empty(2 * counts.size)
    size, label = n, 0
    while size >= 2 * k:
        r = _farthest(points, (total + rest) / size, members, starts, counts, low, high, stack, bounds)
        several = size >= 3 * k
        centre = points[r]
        for _ in range(2):
            _k_nearest(points, centre, members, starts, counts, low, high, stack, bounds, nearest, distances)
            for record in nearest:
                clusters[record] = label
                _add(total, rest, points[record], -1.0)
                _remove(points, record, leaf_of[record], members, starts, counts, low, high)
            label += 1
            size -= k
            if not several:
                break
            centre = points[_farthest(points, points[r], members, starts, counts, low, high, stack, bounds)]
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
def _tree(points):
    """Halve the records along the widest column, again and again, down to leaves.

    Node i has the children 2i + 1 and 2i + 2. Returned are the records leaf by leaf, and each node's first place,
    number of records, and box.
    """
    n, p = points.shape
    levels = 0
    while n > (_LEAF << levels):
        levels += 1
    n_nodes = (2 << levels) - 1
    members = np.empty(n, np.int64)
    for i in range(n):
        members[i] = i
    starts, counts = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64)
    low, high = np.empty((n_nodes, p)), np.empty((n_nodes, p))
    counts[0] = n
    for node in range(n_nodes):
        start, count = starts[node], counts[node]
        _enclose(points, members[start : start + count], low[node], high[node])
        widest = 0
        for c in range(p):
            if high[node, c] - low[node, c] > high[node, widest] - low[node, widest]:
                widest = c
        if node < n_nodes // 2:
            part = members[start : start + count].copy()
            values = np.empty(count)
            for i in range(count):
                values[i] = points[part[i], widest]
            order = argsort(values)
            for i in range(count):
                members[start + i] = part[order[i]]
            half = count // 2
            starts[2 * node + 1], counts[2 * node + 1] = start, half
            starts[2 * node + 2], counts[2 * node + 2] = start + half, count - half
    return members, starts, counts, low, high


@jit
def _remove(points, record, leaf, members, starts, counts, low, high):
    """Take a record out of its leaf; the boxes above shrink to the remaining records."""
    start, last = starts[leaf], starts[leaf] + counts[leaf] - 1
    for place in range(start, last + 1):
        if members[place] == record:
            members[place], members[last] = members[last], members[place]
            break
    counts[leaf] -= 1
    _enclose(points, members[start:last], low[leaf], high[leaf])
    node = leaf
    while node > 0:
        node = (node - 1) // 2
        counts[node] -= 1
        for c in range(points.shape[1]):
            low[node, c] = min(low[2 * node + 1, c], low[2 * node + 2, c])
            high[node, c] = max(high[2 * node + 1, c], high[2 * node + 2, c])


@jit
def _farthest(points, centre, members, starts, counts, low, high, stack, bounds):
    """Return the record farthest from a point; of equally far ones the first."""
    p = points.shape[1]
    best, best_distance = -1, -1.0
    first_leaf = counts.size // 2
    stack[0], bounds[0] = 0, np.inf
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if counts[node] == 0 or bounds[depth] < best_distance:
            continue
        if node >= first_leaf:
            for place in range(starts[node], starts[node] + counts[node]):
                record = members[place]
                distance = _square(points, record, centre)
                if distance > best_distance or (distance == best_distance and record < best):
                    best, best_distance = record, distance
            continue
        for child in range(2 * node + 1, 2 * node + 3):
            if counts[child] > 0:
                # No distance to a record of the box is greater, rounding included.
                bound = 0.0
                for c in range(p):
                    step = max(high[child, c] - centre[c], centre[c] - low[child, c])
                    bound += step * step
                stack[depth], bounds[depth] = child, bound
                depth += 1
        # The farther one is looked at first.
        if depth > 1 and stack[depth - 2] == 2 * node + 1 and bounds[depth - 2] > bounds[depth - 1]:
            stack[depth - 2], stack[depth - 1] = stack[depth - 1], stack[depth - 2]
            bounds[depth - 2], bounds[depth - 1] = bounds[depth - 1], bounds[depth - 2]
    return best


@jit
def _k_nearest(points, centre, members, starts, counts, low, high, stack, bounds, nearest, distances):
    """Write the k records nearest to a point into `nearest`, by distance, then by place in the table."""
    k, p = nearest.size, points.shape[1]
    count = 0
    first_leaf = counts.size // 2
    stack[0], bounds[0] = 0, 0.0
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if counts[node] == 0 or (count == k and bounds[depth] > distances[k - 1]):
            continue
        if node >= first_leaf:
            for at in range(starts[node], starts[node] + counts[node]):
                record = members[at]
                distance = _square(points, record, centre)
                place = count
                while place > 0 and (
                    distance < distances[place - 1]
                    or (distance == distances[place - 1] and record < nearest[place - 1])
                ):
                    place -= 1
                if place == k:
                    continue
                for later in range(min(count, k - 1), place, -1):
                    distances[later], nearest[later] = distances[later - 1], nearest[later - 1]
                distances[place], nearest[place] = distance, record
                count = min(count + 1, k)
            continue
        for child in range(2 * node + 2, 2 * node, -1):
            if counts[child] > 0:
                # No distance to a record of the box is smaller, rounding included.
                bound = 0.0
                for c in range(p):
                    step = max(low[child, c] - centre[c], centre[c] - high[child, c], 0.0)
                    bound += step * step
                stack[depth], bounds[depth] = child, bound
                depth += 1
        # The nearer one is looked at first.
        if depth > 1 and stack[depth - 2] == 2 * node + 2 and bounds[depth - 1] > bounds[depth - 2]:
            stack[depth - 2], stack[depth - 1] = stack[depth - 1], stack[depth - 2]
            bounds[depth - 2], bounds[depth - 1] = bounds[depth - 1], bounds[depth - 2]
