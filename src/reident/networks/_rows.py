"""Graphs as compressed rows, by numpy and scipy: building, edges, components, pairs of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reident.base import FloatArray, IntArray

__all__ = [
    "are_joined",
    "components",
    "count_shared",
    "edges_from_rows",
    "incidence",
    "pair_scores",
    "rows_from_edges",
    "sort_rows",
]

Indices = NDArray[np.int32]


def rows_from_edges(u: Indices, v: Indices, n: int) -> tuple[IntArray, Indices]:
    """Return ``indptr`` and sorted ``indices`` of the undirected graph with the edges (u, v), each given once."""
    ones = np.ones(2 * u.size, dtype=np.int8)
    rows = sparse.coo_array((ones, (np.concatenate([u, v]), np.concatenate([v, u]))), shape=(n, n)).tocsr()
    rows.sort_indices()
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False)


def sort_rows(indptr: IntArray, indices: Indices) -> Indices:
    """Return the indices with every row sorted; those given may be changed."""
    rows = _matrix(indptr, indices)
    rows.sort_indices()
    return np.asarray(rows.indices, dtype=np.int32)


def edges_from_rows(indptr: IntArray, indices: Indices) -> tuple[Indices, Indices]:
    """Return the edges (u, v) with u < v, ordered by u and then v."""
    u = np.repeat(np.arange(indptr.size - 1, dtype=np.int32), np.diff(indptr))
    forward = indices > u
    return u[forward], indices[forward]


def incidence(u: Indices, v: Indices, n: int) -> tuple[IntArray, IntArray]:
    """Return for each node the numbers of its edges, ascending: ``edges[indptr[x]:indptr[x + 1]]``."""
    ends, numbers = np.concatenate([u, v]), np.tile(np.arange(u.size), 2)
    return np.append(0, np.cumsum(np.bincount(ends, minlength=n))), numbers[np.lexsort((numbers, ends))]


def components(indptr: IntArray, indices: Indices) -> IntArray:
    """Return the number of each node's connected component."""
    return sparse.csgraph.connected_components(_matrix(indptr, indices), directed=False)[1].astype(np.int64)


def count_shared(indptr: IntArray, indices: Indices, other_ptr: IntArray, other: Indices) -> int:
    """Count the edges that two graphs on the same nodes have in common."""
    return int(_matrix(indptr, indices).multiply(_matrix(other_ptr, other)).nnz) // 2


def are_joined(indptr: IntArray, indices: Indices, u: IntArray | Indices, v: IntArray | Indices) -> IntArray:
    """Return 1 for each pair that is an edge, else 0."""
    n = indptr.size - 1
    keys = np.repeat(np.arange(n) * n, np.diff(indptr)) + indices
    wanted = np.asarray(u, dtype=np.int64) * n + v
    place = np.searchsorted(keys, wanted)
    return (np.append(keys, -1)[place] == wanted).astype(np.int64)


def pair_scores(indptr: IntArray, indices: Indices, u: IntArray, v: IntArray) -> FloatArray:
    """Return for each pair the number of common neighbours, and their weights by 1 / log(degree) and 1 / degree.

    Shape (pairs, 3): common neighbours, Adamic and Adar, resource allocation.
    """
    rows = _matrix(indptr, indices)
    degrees = np.maximum(np.diff(indptr), 2).astype(np.float64)  # a common neighbour has two
    weights = np.column_stack([np.ones(degrees.size), 1.0 / np.log(degrees), 1.0 / degrees])
    return np.asarray(rows[u].multiply(rows[v]) @ weights)


def _matrix(indptr: IntArray, indices: Indices) -> Any:
    return sparse.csr_array((np.ones(indices.size, dtype=np.int8), indices, indptr), shape=(indptr.size - 1,) * 2)
