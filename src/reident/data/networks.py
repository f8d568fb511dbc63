"""Networks: the real ones of Vanhoef (2012), generated ones, and partial views of either."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reident.base import ParameterError, RNGLike, check_choice, check_integer, check_real, check_rng, check_vector
from reident.data.datasets import remote_file
from reident.kernels.networks.network import attach_preferentially
from reident.networks.files import read_graph
from reident.networks.graph import Network, as_network, network_from_edges

if TYPE_CHECKING:
    import networkx as nx

#: Name -> file of the real graphs that the thesis used, or the nearest that is public.
_GRAPHS = {
    "powergrid": "graphs/powergrid.edges.csv",
    "caltech36": "graphs/facebook100_caltech36.edges.csv",
    "bowdoin47": "graphs/facebook100_bowdoin47.edges.csv.gz",
    "american75": "graphs/facebook100_american75.edges.csv.gz",
    "enron": "graphs/enron_mutual_gt5.edges.csv",
    "ca_hepph": "graphs/ca_hepph.edges.csv.gz",
}


def load_graph(name: str) -> nx.Graph:
    """Return one of the real graphs of vanhoef2012 (table 9.1), or its nearest public relative.

    Nodes are whole numbers. "enron" is embedded, another cleaning of the same mail (148 nodes, not 151). The others are
    looked for in the folder REIDENT_DATA, and `DataError` says where to put one: "powergrid"; "caltech36", "bowdoin47"
    and "american75" of Facebook100, whose owner asked that they not be passed on; "ca_hepph", which stands in for the
    co-authors of DBLP.
    """
    file = _GRAPHS[check_choice(name, "name", list(_GRAPHS))]
    return read_graph(remote_file(file)).to_networkx()


def preferential_attachment(n: int, m: int, *, rng: RNGLike = None) -> Network:
    """Generate a preferential attachment graph: each new node links to `m` distinct earlier nodes by degree; m < n."""
    m = check_integer(m, "m", low=1)
    n = check_integer(n, "n", low=m + 1, why="a new node needs `m` earlier ones")
    u, v = attach_preferentially(n, m, check_rng(rng))
    return network_from_edges(u, v, n)


def random_degrees(degrees: Any, *, rng: RNGLike = None) -> Network:
    """Generate a Chung-Lu graph: about the given expected degrees (>= 0), edges drawn independently.

    Realised degrees vary like Poisson variables; repeated draws of an edge and loops are dropped, so that very large
    degrees come out a little low.
    """
    weights = check_vector(degrees, "degrees")
    if weights.size == 0 or weights.min() < 0 or weights.sum() <= 0:
        raise ParameterError("`degrees` must be non-negative and not all zero: no edge could be drawn")
    generator = check_rng(rng)
    n = len(weights)
    count = generator.poisson(weights.sum() / 2)
    ends = np.searchsorted(np.cumsum(weights) / weights.sum(), generator.random((2, count)), side="right")
    low, high = np.minimum(*ends), np.maximum(*ends)
    return network_from_edges(low[low < high], high[low < high], n)


def sample_network(graph: Any, *, edges: float = 1.0, nodes: float = 1.0, rng: RNGLike = None) -> Network:
    """Return a random part of a network, as an attacker's crawl sees it.

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

    Raises
    ------
    DataError, ParameterError
        If the network cannot be read, or a share is not in [0, 1].
    """
    network = as_network(graph)
    edges = check_real(edges, "edges", low=0, high=1)
    nodes = check_real(nodes, "nodes", low=0, high=1)
    generator = check_rng(rng)
    is_seen = generator.random(network.n_nodes) < nodes
    u, v = network.edges()
    is_kept = (generator.random(len(u)) < edges) & is_seen[u] & is_seen[v]
    if is_seen.all():
        return network_from_edges(u[is_kept], v[is_kept], network.n_nodes, network.nodes)
    row = np.cumsum(is_seen) - 1
    names = [network.nodes[i] for i in np.flatnonzero(is_seen).tolist()]
    return network_from_edges(row[u[is_kept]], row[v[is_kept]], len(names), names)
