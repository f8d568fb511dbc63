"""Scores of node pairs from their common neighbours."""

from __future__ import annotations

import numpy as np

from reident.kernels._numba import jit
from reident.kernels.networks.network import has_edge


@jit
def pair_scores(indptr, indices, u, v):
    """Return for each pair the number of common neighbours, and their weights by 1 / log(degree) and 1 / degree.

    Shape (pairs, 3): common neighbours, Adamic and Adar, resource allocation.
    """
    scores = np.zeros((u.shape[0], 3), np.float64)
    for e in range(u.shape[0]):
        p = indptr[u[e]]
        q = indptr[v[e]]
        while p < indptr[u[e] + 1] and q < indptr[v[e] + 1]:
            a = indices[p]
            b = indices[q]
            if a == b:
                degree = float(indptr[a + 1] - indptr[a])
                scores[e, 0] += 1.0
                scores[e, 1] += 1.0 / np.log(degree)
                scores[e, 2] += 1.0 / degree
                p += 1
                q += 1
            elif a < b:
                p += 1
            else:
                q += 1
    return scores


@jit
def are_joined(indptr, indices, u, v):
    """Return 1 for each pair that is an edge, else 0."""
    joined = np.zeros(u.shape[0], np.int64)
    for e in range(u.shape[0]):
        if has_edge(indptr, indices, u[e], v[e]):
            joined[e] = 1
    return joined
