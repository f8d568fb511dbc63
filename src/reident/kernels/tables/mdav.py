"""Microaggregation by maximum distance to average vector (MDAV)."""

from __future__ import annotations

import numpy as np

from reident.kernels._jit import jit


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
    in the table is taken; s is sought among the records that r's cluster leaves. Time O(n^2 p / k), memory O(n p).
    """
    n, p = points.shape
    clusters = np.full(n, -1, np.int64)
    left = np.arange(n)
    # One coordinate after the other: the distance loops then run over contiguous memory.
    coords = np.empty((p, n))
    for record in range(n):
        for c in range(p):
            coords[c, record] = points[record, c]
    distance = np.empty(n)
    nearest = np.empty(k, np.int64)
    near_distance = np.empty(k)
    centre = np.empty(p)
    size = n
    label = 0
    while size >= 2 * k:
        for c in range(p):
            centre[c] = coords[c, :size].mean()
        _distances(coords, size, centre, distance)
        _take_point(coords, _farthest(distance, size), centre)
        _distances(coords, size, centre, distance)
        _k_nearest(distance, size, k, nearest, near_distance)
        _assign(left, nearest, clusters, label)
        label += 1
        if size < 3 * k:
            size = _compact(coords, left, size, clusters)
            break
        for i in range(k):
            distance[nearest[i]] = -1.0
        _take_point(coords, _farthest(distance, size), centre)
        size = _compact(coords, left, size, clusters)
        _distances(coords, size, centre, distance)
        _k_nearest(distance, size, k, nearest, near_distance)
        _assign(left, nearest, clusters, label)
        label += 1
        size = _compact(coords, left, size, clusters)
    for i in range(size):
        clusters[left[i]] = label
    return clusters


@jit
def _distances(coords, size, point, distance):
    """Write the squared Euclidean distances from `point` into `distance`, modified in place."""
    distance[:size] = 0.0
    for c in range(coords.shape[0]):
        centre = point[c]
        for i in range(size):
            step = coords[c, i] - centre
            distance[i] += step * step


@jit
def _take_point(coords, position, point):
    for c in range(coords.shape[0]):
        point[c] = coords[c, position]


@jit
def _farthest(distance, size):
    best = 0
    for i in range(1, size):
        if distance[i] > distance[best]:
            best = i
    return best


@jit
def _k_nearest(distance, size, k, nearest, near_distance):
    """Write the positions of the k smallest distances into `nearest`, sorted by distance, then position."""
    for i in range(k):
        near_distance[i] = np.inf
        nearest[i] = -1
    worst = np.inf
    for i in range(size):
        # Strictly nearer only: of equally near records the first keeps its place.
        if distance[i] < worst or nearest[k - 1] < 0:
            place = k - 1
            while place > 0 and (nearest[place - 1] < 0 or near_distance[place - 1] > distance[i]):
                near_distance[place] = near_distance[place - 1]
                nearest[place] = nearest[place - 1]
                place -= 1
            near_distance[place] = distance[i]
            nearest[place] = i
            worst = near_distance[k - 1]


@jit
def _assign(left, positions, clusters, label):
    for i in range(positions.size):
        clusters[left[positions[i]]] = label


@jit
def _compact(coords, left, size, clusters):
    """Drop the records that have a cluster, keeping the order of the others; returns how many are left."""
    kept = 0
    for i in range(size):
        if clusters[left[i]] < 0:
            left[kept] = left[i]
            for c in range(coords.shape[0]):
                coords[c, kept] = coords[c, i]
            kept += 1
    return kept
