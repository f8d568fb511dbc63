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
from numpy.typing import NDArray

from reident._typing import IntArray, RNGLike
from reident._validation import check_integer, check_real, check_vector
from reident.errors import DataError, ParameterError

__all__ = [
    "DirectedNetwork",
    "Network",
    "as_directed_network",
    "as_network",
    "preferential_attachment",
    "random_degrees",
    "read_graph",
    "sample_network",
    "write_graph",
]

_MOST_NODES = 2**31 - 2


@dataclass(frozen=True, eq=False)
class Network:
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
    indices: NDArray[np.int32]
    nodes: Sequence[Hashable]

    def __post_init__(self) -> None:
        if len(self.indptr) != len(self.nodes) + 1:
            raise DataError(
                f"`indptr` must have one entry more than `nodes` ({len(self.nodes)}), got {len(self.indptr)}"
            )
        if self.indptr[0] != 0 or self.indptr[-1] != len(self.indices):
            raise DataError(
                f"`indptr` must go from 0 to the number of `indices` ({len(self.indices)}), "
                f"got {self.indptr[0]} to {self.indptr[-1]}"
            )

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.indptr) - 1

    @property
    def n_edges(self) -> int:
        """The number of edges."""
        return len(self.indices) // 2

    @property
    def degrees(self) -> IntArray:
        """The degree of every node, in the order of `nodes`."""
        return np.diff(self.indptr)

    @cached_property
    def positions(self) -> Mapping[Hashable, int]:
        """Node name -> row."""
        return dict(zip(self.nodes, range(self.n_nodes), strict=True))

    def edges(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the edges as rows (u, v), u < v, ordered."""
        from reident.kernels.network import edges_from_rows

        return edges_from_rows(self.indptr, self.indices)

    def to_networkx(self) -> Any:
        """Return the graph as a `networkx.Graph` with the same nodes in the same order."""
        import networkx as nx

        graph = nx.Graph()
        graph.add_nodes_from(self.nodes)
        u, v = self.edges()
        if isinstance(self.nodes, range):
            graph.add_edges_from(zip(u.tolist(), v.tolist(), strict=True))
        else:
            name = self.nodes.__getitem__
            graph.add_edges_from(zip(map(name, u.tolist()), map(name, v.tolist()), strict=True))
        return graph

    def to_scipy(self) -> Any:
        """Return the adjacency matrix as `scipy.sparse.csr_array` of ones."""
        from scipy.sparse import csr_array

        size = (self.n_nodes, self.n_nodes)
        return csr_array((np.ones(len(self.indices), np.int8), self.indices, self.indptr), shape=size)


@dataclass(frozen=True, eq=False)
class DirectedNetwork:
    """A directed graph without loops or repeated edges: rows of successors and rows of predecessors, both ascending."""

    out_indptr: IntArray
    out_indices: NDArray[np.int32]
    in_indptr: IntArray
    in_indices: NDArray[np.int32]
    nodes: Sequence[Hashable]

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.out_indptr) - 1

    @property
    def n_edges(self) -> int:
        """The number of edges."""
        return len(self.out_indices)

    @cached_property
    def positions(self) -> Mapping[Hashable, int]:
        """Node name -> row."""
        return dict(zip(self.nodes, range(self.n_nodes), strict=True))

    def undirected(self) -> Network:
        """Return the graph with every direction forgotten."""
        if self.in_indices is self.out_indices:
            return Network(self.out_indptr, self.out_indices, self.nodes)
        indptr, indices = _stack_rows(self)
        return Network(indptr, indices, self.nodes)


def _stack_rows(graph: DirectedNetwork) -> tuple[IntArray, NDArray[np.int32]]:
    rows = np.concatenate(
        [
            np.repeat(np.arange(graph.n_nodes), np.diff(graph.out_indptr)),
            np.repeat(np.arange(graph.n_nodes), np.diff(graph.in_indptr)),
        ]
    )
    keys = _distinct(rows * np.int64(graph.n_nodes) + np.concatenate([graph.out_indices, graph.in_indices]))
    return _rows(keys // max(graph.n_nodes, 1), keys % max(graph.n_nodes, 1), graph.n_nodes)


def _distinct(keys: IntArray) -> IntArray:
    """Return the distinct keys in order; numpy's own `unique` hashes, which is slow where most keys are distinct."""
    ordered = np.sort(keys)
    return ordered[np.concatenate([[True], np.diff(ordered) > 0])] if ordered.size else ordered


def _rows(sources: Any, ends: Any, n: int) -> tuple[IntArray, NDArray[np.int32]]:
    """Return compressed rows of pairs that are ordered by source and then end."""
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(sources, minlength=n), out=indptr[1:])
    return indptr, np.asarray(ends, np.int32)


def as_network(graph: Any, name: str = "graph") -> Network:
    """Return a graph in the inner form, checked to be simple and undirected.

    Parameters
    ----------
    graph : Network, networkx.Graph, scipy sparse matrix or array, path, or object with a `network` attribute
        A sparse matrix is read as an adjacency matrix (any stored non-zero is an edge); a path as `read_graph` does.
    name : str
        The parameter's name in messages.

    Raises
    ------
    DataError
        For a directed graph, self-loops, multiple edges, a matrix that is not square or not symmetric.
    """
    if isinstance(graph, Network):
        return graph
    if isinstance(graph, str | Path):
        return read_graph(graph)
    if hasattr(graph, "is_directed") and hasattr(graph, "adj"):
        return _from_networkx(graph, name)
    if hasattr(graph, "tocsr"):
        return _from_scipy(graph, name)
    if isinstance(getattr(graph, "network", None), Network):
        return graph.network
    raise DataError(
        f"`{name}` must be a networkx Graph, a scipy sparse matrix, a path or a Network, got {type(graph).__name__}"
    )


def _check_size(n: int, name: str) -> None:
    if n > _MOST_NODES:
        raise DataError(f"`{name}` must have at most {_MOST_NODES} nodes, got {n}")


def _from_networkx(graph: Any, name: str) -> Network:
    if graph.is_directed():
        raise DataError(
            f"`{name}` must be undirected, got a {type(graph).__name__}: "
            "use `to_undirected()` if direction does not matter"
        )
    adjacency = graph._adj if hasattr(graph, "_adj") else graph.adj
    n = len(adjacency)
    _check_size(n, name)
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(np.fromiter(map(len, adjacency.values()), np.int64, n), out=indptr[1:])
    nodes: Sequence[Hashable] = list(adjacency)
    ends: Iterable[Any] = itertools.chain.from_iterable(adjacency.values())
    if all(map(_is_plain_int, nodes)) and nodes == list(range(n)):
        nodes = range(n)
    else:
        ends = map(dict(zip(nodes, range(n), strict=True)).__getitem__, ends)
    indices = np.fromiter(ends, np.int32, int(indptr[-1]))
    _sort_rows(indptr, indices)
    _reject_flaws(indptr, indices, nodes, name)
    if graph.is_multigraph() and graph.number_of_edges() != len(indices) // 2:
        u, v, _ = next(edge for edge in graph.edges(keys=True) if graph.number_of_edges(*edge[:2]) > 1)
        raise DataError(f"`{name}` must not have multiple edges, got more than one between {u!r} and {v!r}")
    return Network(indptr, indices, nodes)


def _is_plain_int(value: Any) -> bool:
    return type(value) is int


def _sort_rows(indptr: IntArray, indices: NDArray[np.int32]) -> None:
    """Sort every row in place."""
    if indices.size and np.all((np.diff(indices) > 0) | _row_ends(indptr, len(indices))):
        return
    from scipy.sparse import csr_array

    n = len(indptr) - 1
    matrix = csr_array((np.empty(len(indices), np.int8), indices, indptr), shape=(n, n))
    matrix.sort_indices()
    if matrix.indices is not indices:
        indices[:] = matrix.indices


def _row_ends(indptr: IntArray, size: int) -> NDArray[np.bool_]:
    """Mark the places i where i and i + 1 belong to different rows."""
    ends = np.zeros(max(size - 1, 0), np.bool_)
    inner = indptr[(indptr > 0) & (indptr < size)] - 1
    ends[inner] = True
    return ends


def _reject_flaws(indptr: IntArray, indices: NDArray[np.int32], nodes: Sequence[Hashable], name: str) -> None:
    from reident.kernels.network import first_flaw

    u, v, flaw = first_flaw(indptr, indices)
    if flaw:
        what = {
            1: f"must not have self-loops, got one at {nodes[u]!r}",
            2: f"must not have multiple edges, got more than one between {nodes[u]!r} and {nodes[v]!r}",
            3: f"must be undirected, got an edge from {nodes[u]!r} to {nodes[v]!r} but none back",
        }[int(flaw)]
        raise DataError(f"`{name}` {what}")


def _from_scipy(matrix: Any, name: str) -> Network:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"`{name}` must be a square adjacency matrix, got shape {matrix.shape}")
    _check_size(matrix.shape[0], name)
    rows = matrix.tocsr(copy=True)
    repeated = matrix.format == "coo" and rows.nnz != matrix.nnz
    rows.eliminate_zeros()
    rows.sort_indices()
    indptr = rows.indptr.astype(np.int64)
    indices = rows.indices.astype(np.int32)
    if repeated:
        raise DataError(f"`{name}` must not have multiple edges, got {matrix.nnz - rows.nnz} repeated entries")
    _reject_flaws(indptr, indices, range(matrix.shape[0]), name)
    return Network(indptr, indices, range(matrix.shape[0]))


def network_from_edges(u: Any, v: Any, n: int, nodes: Sequence[Hashable] | None = None) -> Network:
    """Return the network with the given edges, each once, between rows 0 to n - 1; nothing is checked."""
    from reident.kernels.network import rows_from_edges

    indptr, indices = rows_from_edges(np.asarray(u, np.int32), np.asarray(v, np.int32), n)
    return Network(indptr, indices, range(n) if nodes is None else nodes)


def as_directed_network(graph: Any, name: str = "graph") -> DirectedNetwork:
    """Return a directed graph in the inner form; an undirected one counts as joined both ways.

    Parameters
    ----------
    graph : networkx.DiGraph, scipy sparse matrix or array (row -> column), DirectedNetwork, or whatever `as_network`
    takes
        The graph.
    name : str
        The parameter's name in messages.

    Raises
    ------
    DataError
        For self-loops, multiple edges or a matrix that is not square.
    """
    if isinstance(graph, DirectedNetwork):
        return graph
    if hasattr(graph, "is_directed") and graph.is_directed():
        nodes: Sequence[Hashable] = list(graph)
        place = dict(zip(nodes, range(len(nodes)), strict=True))
        pairs = np.array([(place[u], place[v]) for u, v in graph.edges()], np.int64).reshape(-1, 2)
        return _directed(pairs[:, 0], pairs[:, 1], nodes, name)
    if hasattr(graph, "tocsr") and not isinstance(graph, Network):
        if len(graph.shape) != 2 or graph.shape[0] != graph.shape[1]:
            raise DataError(f"`{name}` must be a square adjacency matrix, got shape {graph.shape}")
        rows = graph.tocsr(copy=True)
        rows.eliminate_zeros()
        entries = rows.tocoo()
        return _directed(entries.row.astype(np.int64), entries.col.astype(np.int64), range(graph.shape[0]), name)
    network = as_network(graph, name)
    both = (network.indptr, network.indices)
    return DirectedNetwork(*both, *both, network.nodes)


def _directed(sources: IntArray, ends: IntArray, nodes: Sequence[Hashable], name: str) -> DirectedNetwork:
    n = len(nodes)
    loops = np.flatnonzero(sources == ends)
    if loops.size:
        raise DataError(f"`{name}` must not have self-loops, got one at {nodes[int(sources[loops[0]])]!r}")
    forward = np.sort(sources * n + ends)
    if (np.diff(forward) == 0).any():
        key = int(forward[:-1][np.diff(forward) == 0][0])
        raise DataError(
            f"`{name}` must not have multiple edges, got more than one from {nodes[key // n]!r} to {nodes[key % n]!r}"
        )
    backward = np.sort(ends * n + sources)
    return DirectedNetwork(*_rows(forward // n, forward % n, n), *_rows(backward // n, backward % n, n), nodes)


def preferential_attachment(n: int, m: int, *, rng: RNGLike = None) -> Network:
    """Generate a preferential attachment graph: every new node links to `m` distinct earlier nodes by degree.

    Parameters
    ----------
    n, m : int
        The number of nodes, and of links a new node makes; 1 <= m < n.
    rng : Generator, int or None
        The randomness.

    Returns
    -------
    Network
        With m * (n - m) edges.
    """
    from reident._random import check_rng
    from reident.kernels.network import attach_preferentially

    m = check_integer(m, "m", low=1)
    n = check_integer(n, "n", low=m + 1, why="a new node needs `m` earlier ones")
    u, v = attach_preferentially(n, m, check_rng(rng))
    return network_from_edges(u, v, n)


def random_degrees(degrees: Any, *, rng: RNGLike = None) -> Network:
    """Generate a Chung-Lu graph: about the given expected degrees, edges drawn independently.

    Parameters
    ----------
    degrees : array-like of float, shape (n,)
        Expected degrees, >= 0. Realised degrees vary like Poisson variables; repeated draws of an edge and loops are
        dropped, so that very large degrees come out a little low.
    rng : Generator, int or None
        The randomness.

    Returns
    -------
    Network
        With n nodes.
    """
    from reident._random import check_rng

    weights = check_vector(degrees, "degrees")
    if weights.size == 0 or weights.min() < 0 or weights.sum() <= 0:
        raise ParameterError("`degrees` must be non-negative and not all zero: no edge could be drawn")
    generator = check_rng(rng)
    n = len(weights)
    count = generator.poisson(weights.sum() / 2)
    ends = np.searchsorted(np.cumsum(weights) / weights.sum(), generator.random((2, count)), side="right")
    low, high = np.minimum(*ends), np.maximum(*ends)
    keys = _distinct(low[low < high] * np.int64(n) + high[low < high])
    return network_from_edges(keys // n, keys % n, n)


def sample_network(graph: Any, *, edges: float = 1.0, nodes: float = 1.0, rng: RNGLike = None) -> Network:
    """Return what someone sees of a network who sees a random part of it: an attacker's crawl, for example.

    Parameters
    ----------
    graph : whatever `as_network` takes
        Simple and undirected. Not modified.
    edges, nodes : float
        The probability with which each edge among the nodes seen, and each node, is kept; in [0, 1].
    rng : Generator, int or None
        The randomness.

    Returns
    -------
    Network
        The nodes kept, under their names and in their order, isolated ones included.
    """
    from reident._random import check_rng

    network = as_network(graph)
    edges = check_real(edges, "edges", low=0, high=1)
    nodes = check_real(nodes, "nodes", low=0, high=1)
    generator = check_rng(rng)
    seen = generator.random(network.n_nodes) < nodes
    u, v = network.edges()
    kept = (generator.random(len(u)) < edges) & seen[u] & seen[v]
    if seen.all():
        return network_from_edges(u[kept], v[kept], network.n_nodes, network.nodes)
    row = np.cumsum(seen) - 1
    names = [network.nodes[i] for i in np.flatnonzero(seen).tolist()]
    return network_from_edges(row[u[kept]], row[v[kept]], len(names), names)


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in (".gz", ".bz2"):
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


_FORMATS = {".csv": "csv", ".gml": "gml", ".net": "pajek", ".paj": "pajek", ".mtx": "matrixmarket"}


def _format(path: Path) -> str:
    found = _FORMATS.get(_suffix(path))
    if found is None:
        raise ParameterError(
            f"`path` must end in one of {', '.join(_FORMATS)} (optionally .gz), got {path.name!r}: "
            "the ending says the format"
        )
    return found


def read_graph(path: str | Path, *, columns: tuple[str, str] = ("u", "v")) -> Network:
    """Read an undirected graph from an edge list (CSV), GML, Pajek or MatrixMarket file.

    Parameters
    ----------
    path : str or Path
        The ending says the format: .csv, .gml, .net or .paj, .mtx, each optionally with .gz.
    columns : pair of str
        CSV only: the two columns that name an edge's ends. Other columns are ignored. A row whose second entry is
        empty declares a node without edges.

    Returns
    -------
    Network
        Whole-number names ascending, other names in the order of the file.

    Raises
    ------
    DataError
        For a missing file, wrong headers, unreadable content, self-loops, edges given twice, directed graphs.
    ParameterError
        For an ending that names no format.
    """
    path = _path(path)
    kind = _format(path)
    if not path.is_file():
        raise DataError(f"`path` must name a file that is there: there is no graph file at {str(path)!r}")
    if kind == "csv":
        return _read_csv(path, columns)
    import networkx as nx

    try:
        if kind == "gml":
            return as_network(nx.read_gml(path, label=None if _lacks_labels(path) else "label"), path.name)
        if kind == "pajek":
            graph = nx.read_pajek(path)
            return as_network(graph, path.name)
        from scipy.io import mmread

        return as_network(mmread(path, spmatrix=False).tocsr(), path.name)
    except DataError:
        raise
    except Exception as error:
        raise DataError(f"{path.name!r} could not be read as {kind}: {error}") from error


def _lacks_labels(path: Path) -> bool:
    import gzip

    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as file:
        return not any(line.lstrip().startswith("label ") for line in file)


def _read_csv(path: Path, columns: tuple[str, str]) -> Network:
    import pandas as pd

    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, comment="#")
    except Exception as error:
        raise DataError(f"{path.name!r} could not be read as an edge list: {error}") from error
    absent = [column for column in columns if column not in table.columns]
    if absent:
        raise DataError(
            f"{path.name!r} must have the columns {list(columns)}, got {list(table.columns)}: "
            "name an edge's two ends with `columns`"
        )
    left, right = (table[column].str.strip() for column in columns)
    if (left == "").any():
        raise DataError(f"{path.name!r} has an empty {columns[0]!r} in row {int(np.flatnonzero(left == '')[0]) + 2}")
    names: Any = pd.unique(pd.concat([left, right[right != ""]]))
    whole = pd.to_numeric(pd.Series(names), errors="coerce")
    if whole.notna().all() and (whole % 1 == 0).all() and pd.Series(names).str.fullmatch(r"-?\d+").all():
        order = np.argsort(whole.to_numpy(np.int64), kind="stable")
        nodes: list[Hashable] = [int(names[i]) for i in order]
        coded = pd.Index([names[i] for i in order])
    else:
        nodes = list(names)
        coded = pd.Index(names)
    edge = (right != "").to_numpy()
    u = coded.get_indexer(left[edge]).astype(np.int64)
    v = coded.get_indexer(right[edge]).astype(np.int64)
    low, high = np.minimum(u, v), np.maximum(u, v)
    if (low == high).any():
        raise DataError(f"{path.name!r} must not have self-loops, got one at {nodes[int(low[low == high][0])]!r}")
    keys, times = np.unique(low * len(nodes) + high, return_counts=True)
    if (times > 1).any():
        key = int(keys[times > 1][0])
        raise DataError(
            f"{path.name!r} must not have multiple edges, got more than one row for "
            f"{nodes[key // len(nodes)]!r} and {nodes[key % len(nodes)]!r}: each undirected edge stands once"
        )
    named: Sequence[Hashable] = range(len(nodes)) if nodes == list(range(len(nodes))) else nodes
    return network_from_edges(low, high, len(nodes), named)


def write_graph(graph: Any, path: str | Path) -> Path:
    """Write an undirected graph as CSV edge list, GML, Pajek or MatrixMarket; the ending says which.

    Parameters
    ----------
    graph : whatever `as_network` takes
        The graph. Node names become text where the format knows only text; MatrixMarket keeps numbers 1 to n only.
    path : str or Path
        Ends in .csv, .gml, .net or .paj, .mtx (the first three optionally with .gz).

    Returns
    -------
    Path
        Where it was written.

    Raises
    ------
    DataError, ParameterError
        If the graph is none, the ending names no format, or the folder is not there.
    """
    path = _path(path)
    kind = _format(path)
    network = as_network(graph)
    if not path.parent.is_dir():
        raise DataError(f"`path` must lie in a folder that is there, got {str(path)!r}")
    if kind == "csv":
        _write_csv(network, path)
    elif kind == "matrixmarket":
        from scipy.io import mmwrite

        mmwrite(path, network.to_scipy().tocoo(), field="pattern", symmetry="symmetric")
    else:
        import networkx as nx

        {"gml": nx.write_gml, "pajek": nx.write_pajek}[kind](network.to_networkx(), path)
    return path


def _path(path: str | Path) -> Path:
    if not isinstance(path, str | Path):
        raise ParameterError(f"`path` must be a path, got {path!r}")
    return Path(path)


def _write_csv(network: Network, path: Path) -> None:
    import pandas as pd

    u, v = network.edges()
    names = pd.Series(list(network.nodes), dtype=object)
    lone = np.flatnonzero(network.degrees == 0)
    ends: Iterable[Any] = itertools.chain(names.iloc[v], [""] * len(lone))
    table = pd.DataFrame({"u": [*names.iloc[u], *names.iloc[lone]], "v": list(ends)})
    table.to_csv(path, index=False)
