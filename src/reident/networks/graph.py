"""Networks: one inner form (compressed rows) for networkx graphs, sparse matrices and files, in and out.

Simple undirected graphs unless a name says directed. Attributes of nodes and edges are not carried along: what is
released is structure, and a guarantee about degrees says nothing about attributes.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from reident.base import BoolArray, DataError, Int32Array, IntArray, check_names, is_row
from reident.networks._reading import read_edges

_MOST_NODES = 2**31 - 2


class _Nodes:
    """The nodes of a graph by their rows."""

    nodes: Sequence[Hashable]

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.nodes)

    @cached_property
    def positions(self) -> Mapping[Hashable, int]:
        """Node name -> row."""
        return dict(zip(self.nodes, range(self.n_nodes), strict=True))


@dataclass(frozen=True, eq=False)
class Network(_Nodes):
    """A simple undirected graph as compressed sparse rows.

    Attributes
    ----------
    indptr : ndarray of int64, shape (n + 1,)
        Where each node's neighbours begin in `indices`.
    indices : ndarray of int32, shape (2 * edges,)
        The neighbours, ascending in every row.
    nodes : sequence
        The nodes' names, in the order of the rows.
    """

    indptr: IntArray
    indices: Int32Array
    nodes: Sequence[Hashable]

    def __post_init__(self) -> None:
        arrays = self.indptr, self.indices
        if (
            not all(isinstance(array, np.ndarray) and array.ndim == 1 for array in arrays)
            or not is_row(self.nodes)
            or len(self.indptr) != len(self.nodes) + 1
            or (self.indptr[0], self.indptr[-1]) != (0, len(self.indices))
        ):
            raise DataError("`indptr`, `indices` and `nodes` must be compressed rows, as `as_network` makes them")

    @property
    def n_edges(self) -> int:
        """The number of edges."""
        return len(self.indices) // 2

    @property
    def degrees(self) -> IntArray:
        """The degree of every node, in the order of `nodes`."""
        return np.diff(self.indptr)

    def edges(self) -> tuple[Int32Array, Int32Array]:
        """Return the edges as rows (u, v), u < v, ordered."""
        u = np.repeat(np.arange(self.n_nodes, dtype=np.int32), self.degrees)
        is_forward = self.indices > u
        return u[is_forward], self.indices[is_forward]

    def neighbours(self, row: int) -> set[int]:
        """Return the rows of a node's neighbours."""
        return set(self.indices[self.indptr[row] : self.indptr[row + 1]].tolist())

    def has_edges(self, u: Any, v: Any) -> BoolArray:
        """Return which pairs of rows (u, v) are joined."""
        keys = np.repeat(np.arange(self.n_nodes) * self.n_nodes, self.degrees) + self.indices
        wanted = np.asarray(u, np.int64) * self.n_nodes + v
        return np.asarray(np.append(keys, -1)[np.searchsorted(keys, wanted)] == wanted)

    def n_shared(self, other: Network) -> int:
        """Count the edges that two networks with the same rows have in common."""
        return int(self.to_scipy().multiply(other.to_scipy()).nnz) // 2

    def components(self) -> IntArray:
        """Return the number of each node's connected component."""
        from scipy.sparse.csgraph import connected_components

        return connected_components(self.to_scipy(), directed=False)[1].astype(np.int64)

    def to_networkx(self) -> Any:
        """Return the graph as a `networkx.Graph` with the same nodes in the same order."""
        import networkx as nx

        graph = nx.Graph()
        graph.add_nodes_from(self.nodes)
        u, v = self.edges()
        name = self.nodes.__getitem__
        graph.add_edges_from(zip(map(name, u.tolist()), map(name, v.tolist()), strict=True))
        return graph

    def to_scipy(self) -> Any:
        """Return the adjacency matrix as `scipy.sparse.csr_array` of ones."""
        return _as_matrix(self.indptr, self.indices)


@dataclass(frozen=True, eq=False)
class DirectedNetwork(_Nodes):
    """A directed graph without loops or repeated edges: rows of successors and rows of predecessors, both ascending."""

    out_indptr: IntArray
    out_indices: Int32Array
    in_indptr: IntArray
    in_indices: Int32Array
    nodes: Sequence[Hashable]

    @property
    def n_edges(self) -> int:
        """The number of edges."""
        return len(self.out_indices)

    def undirected(self) -> Network:
        """Return the graph with every direction forgotten."""
        if self.in_indices is self.out_indices:
            return Network(self.out_indptr, self.out_indices, self.nodes)
        rows = _as_matrix(self.out_indptr, self.out_indices)
        return Network(*_rows(rows + rows.T), self.nodes)


def _matrix(sources: Any, ends: Any, n: int) -> Any:
    """Return how often each pair of rows is there, as compressed rows."""
    from scipy.sparse import coo_array

    return coo_array((np.ones(len(sources), np.int8), (sources, ends)), shape=(n, n)).tocsr()


def _rows(matrix: Any) -> tuple[IntArray, Int32Array]:
    """Return the pointers and the columns of a matrix in compressed rows, ascending in every row."""
    matrix.sort_indices()
    return matrix.indptr.astype(np.int64, copy=False), matrix.indices.astype(np.int32, copy=False)


def incidence(u: Any, v: Any, n: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return where each node's edges begin, their numbers, ascending, and their other ends."""
    ends = np.column_stack([u, v]).astype(np.int64)
    order = np.argsort(ends.ravel().astype(np.min_scalar_type(n)), kind="stable")  # numpy sorts 16 bits by radix
    indptr = np.append(0, np.cumsum(np.bincount(ends.ravel(), minlength=n)))
    return indptr, order // 2, ends[:, ::-1].ravel()[order]


def rows_of(network: Network | DirectedNetwork, nodes: Any, name: str) -> list[int]:
    """Return the rows of nodes; one that the network lacks is refused."""
    listed = check_names(nodes, name)
    if absent := [node for node in listed if node not in network.positions]:
        raise DataError(f"`{name}` must name nodes of the network, got {absent[0]!r}")
    return [network.positions[node] for node in listed]


def as_network(graph: Any, name: str = "graph") -> Network:
    """Return a graph in the inner form, checked to be simple and undirected.

    Parameters
    ----------
    graph : Network, networkx.Graph, scipy sparse matrix or array, path, or object with a `network` attribute
        A sparse matrix is read as an adjacency matrix (any stored non-zero is an edge); a path as `read_graph` does.
    name : str
        The parameter's name in messages.

    Returns
    -------
    Network
        The same object if it is one already.

    Raises
    ------
    DataError
        For a directed graph, self-loops, multiple edges, a matrix that is not square or not symmetric.
    """
    if isinstance(graph, Network):
        return graph
    if isinstance(graph, str | Path):
        return read_network(graph)
    if isinstance(getattr(graph, "network", None), Network):
        return graph.network
    if hasattr(graph, "adj") and is_directed(graph):
        raise DataError(
            f"`{name}` must be undirected, got a {type(graph).__name__}: "
            "use `to_undirected()`, or `simplify` in reading a file, if direction does not matter"
        )
    rows, nodes = _successors(graph, name)
    if not hasattr(graph, "adj") and (rows > (mirrored := rows.T.tocsr())).nnz:
        a, b = (nodes[ends[0]] for ends in (rows > mirrored).nonzero())
        raise DataError(f"`{name}` must be undirected, got an edge from {a!r} to {b!r} but none back")
    return Network(*_rows(rows), nodes)


def _successors(graph: Any, name: str) -> tuple[Any, Sequence[Hashable]]:
    """Return the rows of a networkx graph or a matrix, checked to have no loops and no multiple edges, and the nodes.

    An undirected graph has each edge in both directions.
    """
    is_matrix = hasattr(graph, "tocsr")
    if not is_matrix and not hasattr(graph, "adj"):
        raise DataError(
            f"`{name}` must be a networkx Graph, a scipy sparse matrix, a path or a Network, got {type(graph).__name__}"
        )
    if is_matrix and (len(graph.shape) != 2 or graph.shape[0] != graph.shape[1]):
        raise DataError(f"`{name}` must be a square adjacency matrix, got shape {graph.shape}")
    n = graph.shape[0] if is_matrix else len(graph)
    nodes: Sequence[Hashable] = range(n)
    if n > _MOST_NODES:
        raise DataError(f"`{name}` must have at most {_MOST_NODES} nodes, got {n}")
    if is_matrix:
        entries = graph.tocoo()
        is_edge = entries.data != 0
        rows = _matrix(entries.row[is_edge], entries.col[is_edge], n)
    else:
        rows, nodes = _count_edges(graph)
    if (loops := np.flatnonzero(rows.diagonal())).size:
        raise DataError(f"`{name}` must not have self-loops, got one at {nodes[loops[0]]!r}")
    if (rows.data != 1).any():
        a, b = (nodes[ends[0]] for ends in (rows != rows.sign()).nonzero())
        raise DataError(f"`{name}` must not have multiple edges, got more than one between {a!r} and {b!r}")
    return rows, nodes


def _count_edges(graph: Any) -> tuple[Any, Sequence[Any]]:
    """Return how many edges lead from each node of a networkx graph to each, as compressed rows, and the nodes."""
    adjacency = dict(graph.adjacency())
    n, nodes = len(adjacency), list(adjacency)
    indptr = np.append(0, np.cumsum(np.fromiter(map(len, adjacency.values()), np.int64, n)))
    ends: Iterable[Any] = itertools.chain.from_iterable(adjacency.values())
    is_numbered = set(map(type, nodes)) <= {int} and nodes == list(range(n))
    if not is_numbered:
        ends = map(dict(zip(nodes, range(n), strict=True)).__getitem__, ends)
    rows = _as_matrix(indptr, np.fromiter(ends, np.int32, int(indptr[-1])))
    if graph.is_multigraph():
        rows.data = np.array([len(edges) for row in adjacency.values() for edges in row.values()])
    return rows, range(n) if is_numbered else nodes


def read_network(
    path: str | Path, columns: Sequence[str] | None = None, *, names: Sequence[str] = (), simplify: bool = False
) -> Network:
    """Read an undirected graph from a file; see `reident.networks.read_graph`."""
    return network_from_edges(*read_edges(path, columns, names=names, simplify=simplify))


def relabelled(network: Network, other: Network) -> Network:
    """Return a release with its rows in the order of the original's; both have the same nodes."""
    if list(network.nodes) == list(other.nodes):
        return network
    if set(network.nodes) != set(other.nodes):
        raise DataError("`original` and `release` must have the same nodes: rename the release back first")
    return reordered(network, np.array([other.positions[node] for node in network.nodes]), other.nodes)


def reordered(network: Network, place: IntArray, nodes: Sequence[Hashable] | None = None) -> Network:
    """Return a network with row i moved to row `place[i]`, left out if that is below 0.

    The nodes are called `nodes`, by default 0 to n - 1.
    """
    u, v = (place[ends] for ends in network.edges())
    inside = (u >= 0) & (v >= 0)
    return network_from_edges(u[inside], v[inside], network.n_nodes if nodes is None else len(nodes), nodes)


def by_name(network: Network) -> Network:
    """Return a network with its rows in the order of their names: an attack that draws must not follow a file's."""
    nodes = list(network.nodes)
    order = sorted(
        range(len(nodes)), key=lambda i: (0, nodes[i], "") if type(nodes[i]) is int else (1, 0, str(nodes[i]))
    )
    if order == list(range(len(nodes))):
        return network
    return reordered(network, np.argsort(order), [nodes[i] for i in order])


def _as_matrix(indptr: IntArray, indices: Int32Array) -> Any:
    from scipy.sparse import csr_array

    return csr_array((np.ones(indices.size, np.int8), indices, indptr), shape=(indptr.size - 1,) * 2)


def network_from_edges(u: Any, v: Any, n: int, nodes: Sequence[Hashable] | None = None) -> Network:
    """Return the network of distinct edges between rows 0 to n - 1, without checks."""
    rows = _matrix(np.concatenate([u, v]).astype(np.int32), np.concatenate([v, u]).astype(np.int32), n)
    return Network(*_rows(rows), range(n) if nodes is None else nodes)


def edited(network: Network, added: tuple[Any, Any], removed: tuple[Any, Any]) -> Network:
    """Return a network with edges (u, v) added that it lacks, and others removed that it has."""
    first, second = (
        _matrix(np.concatenate(ends), np.concatenate(ends[::-1]), network.n_nodes) for ends in (added, removed)
    )
    rows = network.to_scipy() + first - second
    rows.eliminate_zeros()
    return Network(*_rows(rows), network.nodes)


def is_directed(graph: Any) -> bool:
    """Tell whether a graph is directed: a `DirectedNetwork` or a `networkx.DiGraph`."""
    return isinstance(graph, DirectedNetwork) or bool(hasattr(graph, "is_directed") and graph.is_directed())


def as_directed_network(graph: Any, name: str = "graph") -> DirectedNetwork:
    """Return a directed graph (networkx.DiGraph, sparse matrix row -> column) in the inner form.

    An undirected one, as `as_network` takes it, counts as joined both ways. Self-loops, multiple edges and a matrix
    that is not square are refused.
    """
    if isinstance(graph, DirectedNetwork):
        return graph
    if is_directed(graph) or (hasattr(graph, "tocsr") and not isinstance(graph, Network)):
        rows, nodes = _successors(graph, name)
        return DirectedNetwork(*_rows(rows), *_rows(rows.T.tocsr()), nodes)
    network = as_network(graph, name)
    both = (network.indptr, network.indices)
    return DirectedNetwork(*both, *both, network.nodes)
