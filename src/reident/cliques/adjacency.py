"""Attack. A simple graph as the clique search wants it: adjacency lists, or rows of bits where the graph is dense."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from reident.base import BoolArray, DataError, Int32Array, IntArray, ParameterError

#: A set of vertices as a row of 64-bit words, vertex v is bit v % 64 of word v // 64; or such rows of a graph.
Bits = NDArray[np.uint64]


def set_of(members: IntArray, words: int) -> Bits:
    """Return a set of vertices as a row of bits."""
    is_member = np.zeros(64 * words, dtype=np.bool_)
    is_member[members] = True
    return np.packbits(is_member, bitorder="little").view(np.uint64)


def members_of(row: Bits) -> IntArray:
    """Return the members of a row of bits, ascending."""
    return np.flatnonzero(np.unpackbits(np.ascontiguousarray(row).view(np.uint8), bitorder="little"))


def pack_rows(dense: BoolArray) -> Bits:
    """Pack the rows of a boolean matrix."""
    n, m = dense.shape
    wide = np.zeros((n, (m + 63) // 64 * 8), dtype=np.uint8)
    wide[:, : (m + 7) // 8] = np.packbits(dense, axis=1, bitorder="little")
    return wide.view(np.uint64)


def count_rows(bits: Bits) -> IntArray:
    """Return the number of ones of each row."""
    return np.bitwise_count(bits).sum(axis=1, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Adjacency:
    """A simple undirected graph on the vertices 0..n_vertices-1, kept in one of two forms.

    Attributes
    ----------
    n_vertices, n_edges : int
        Order and size.
    indptr, indices : ndarray or None
        Adjacency lists: the neighbours of v are ``indices[indptr[v]:indptr[v + 1]]``, ascending.
    bits : ndarray of uint64, shape (n_vertices, words), or None
        Adjacency rows: u and v are adjacent if bit ``u % 64`` of ``bits[v, u // 64]`` is set.
    largest : int or None
        No clique is larger, as is known from how the graph was made.
    """

    n_vertices: int
    n_edges: int
    indptr: IntArray | None = None
    indices: Int32Array | None = None
    bits: Bits | None = None
    largest: int | None = None

    @property
    def density(self) -> float:
        """Edges over possible edges."""
        possible = self.n_vertices * (self.n_vertices - 1) / 2
        return self.n_edges / possible if possible else 0.0

    def degrees(self) -> IntArray:
        """Return the degree of each vertex."""
        if self.indptr is not None:
            return np.diff(self.indptr)
        assert self.bits is not None
        return count_rows(self.bits)

    def neighbours(self, v: int) -> IntArray:
        """Return the neighbours of vertex `v`, ascending."""
        if self.indptr is not None and self.indices is not None:
            return self.indices[self.indptr[v] : self.indptr[v + 1]].astype(np.int64)
        assert self.bits is not None
        return members_of(self.bits[v])

    def lists(self) -> tuple[IntArray, Int32Array]:
        """Return the graph as adjacency lists, whatever its form."""
        if self.indptr is not None and self.indices is not None:
            return self.indptr, self.indices
        pointers = np.append(0, np.cumsum(self.degrees()))
        return pointers, np.concatenate([self.neighbours(v) for v in range(self.n_vertices)]).astype(np.int32)

    def is_clique(self, vertices: Any) -> bool:
        """Tell whether the vertices are pairwise adjacent."""
        members = np.unique(np.asarray(vertices, dtype=np.int64))
        return all(np.isin(members, [v, *self.neighbours(int(v))]).all() for v in members)


def as_adjacency(graph: Any) -> tuple[Adjacency, list[Hashable] | None]:
    """Return a graph of any accepted kind, and the names of its vertices if they are not 0..n-1.

    Loops are ignored. Refused are other kinds, directed graphs, and an adjacency matrix that is not square or not
    symmetric.
    """
    if isinstance(graph, Adjacency):
        return graph, None
    if isinstance(graph, nx.Graph):
        if graph.is_directed():
            raise ParameterError("`graph` must be undirected, got a directed graph: convert it with to_undirected()")
        names = list(graph)
        options = {"nodelist": names, "weight": None, "format": "csr"}
        return _from_matrix(nx.to_scipy_sparse_array(graph, **options) if names else sp.csr_array((0, 0))), names
    if sp.issparse(graph) or (isinstance(graph, np.ndarray) and graph.dtype.kind in "biuf"):
        return _from_matrix(graph), None
    raise ParameterError(
        "`graph` must be a compatibility graph, a networkx graph, a scipy sparse or a numpy adjacency matrix, "
        f"got {type(graph).__name__}"
    )


def _from_matrix(matrix: Any) -> Adjacency:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"`graph` must be a square adjacency matrix, got shape {matrix.shape}")
    edges = sp.csr_array(matrix != 0)
    edges.sum_duplicates()
    mirrored = edges.T.tocsr()
    if not (np.array_equal(edges.indptr, mirrored.indptr) and np.array_equal(edges.indices, mirrored.indices)):
        row, column = (ends[0] for ends in (edges != mirrored).nonzero())
        raise DataError(f"`graph` must be symmetric, got an edge between {row} and {column} in one direction only")
    if edges.diagonal().any():
        edges.setdiag(False)
        edges.eliminate_zeros()
    return Adjacency(
        edges.shape[0], edges.nnz // 2, edges.indptr.astype(np.int64), edges.indices.astype(np.int32, copy=False)
    )
