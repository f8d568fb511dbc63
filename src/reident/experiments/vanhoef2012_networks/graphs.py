"""Graphs of the experiments: the thesis's where they are at hand, small and simulated ones, and the reader's own."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from reident.base import DataError
from reident.data.networks import load_graph, preferential_attachment, random_degrees
from reident.experiments.parameters import pinned, unpinned
from reident.networks.files import read_graph
from reident.networks.graph import Network, as_network, network_from_edges
from reident.networks.perturbation import naive_anonymise

_WORDS = {
    "enron": "Enron",
    "powergrid": "power grid",
    "caltech36": "Caltech",
    "bowdoin47": "Bowdoin",
    "american75": "American",
    "communities": "communities (simulated)",
    "power_law_cluster": "power law (simulated)",
    "small_world": "small world (simulated)",
}


@lru_cache(maxsize=16)
def network(name: str) -> Network:
    """Return a graph of the experiments, or of a file named as `pinned` returns it.

    "enron", "powergrid", "caltech36", "bowdoin47" and "american75" are the thesis's (Table 9.1); "les_miserables" joins
    characters of the novel that appear together (77 nodes); "power_law_cluster" is Holme and Kim's model with the size
    of Caltech (769 nodes, about 16,500 edges); "communities" has groups of 16 to 84 nodes with many edges inside and
    few between; "small_world" 1,000 nodes of mean degree 2.7, as sparse as the power grid;
    "preferential_attachment_<n>" n nodes, 5 edges each.
    """
    import networkx as nx

    if "#" in name:
        return _numbered(read_graph(unpinned(name, "graph")))
    if name == "les_miserables":
        return as_network(nx.convert_node_labels_to_integers(nx.les_miserables_graph()))
    if name == "power_law_cluster":
        return as_network(nx.powerlaw_cluster_graph(769, 22, 0.7, seed=2012))
    if name == "communities":
        return _communities(np.random.default_rng(2012))
    if name == "small_world":
        return as_network(nx.newman_watts_strogatz_graph(1000, 2, 0.335, seed=2012))
    if name.startswith("preferential_attachment_"):
        return preferential_attachment(int(name.rsplit("_", 1)[1]), 5, rng=2012)
    return _numbered(as_network(load_graph(name)))


def _numbered(graph: Network) -> Network:
    """Return a graph with its nodes numbered from 0: trials take rows for names."""
    return network_from_edges(*graph.edges(), graph.n_nodes)


def _communities(rng: Generator) -> Network:
    """Draw a Chung-Lu graph within groups, and another one over all nodes."""
    sizes = np.arange(16, 86, 4)
    weights = rng.lognormal(np.log(22) - 0.18, 0.6, int(sizes.sum()))
    starts = np.cumsum(sizes) - sizes
    parts = [random_degrees(0.2 * weights, rng=rng).edges()]
    for start, size in zip(starts, sizes, strict=True):
        u, v = random_degrees(0.8 * weights[start : start + size], rng=rng).edges()
        parts.append((u + start, v + start))
    pairs = np.unique(np.concatenate([np.column_stack(part) for part in parts]), axis=0)
    return network_from_edges(pairs[:, 0], pairs[:, 1], len(weights))


def renamed(graph: Network, rng: Generator) -> tuple[Network, dict[Any, Any]]:
    """Return a network under other names, and the true name of each node."""
    release = naive_anonymise(graph, rng=rng)
    return release.network, {new: old for old, new in release.mapping.items()}


def chosen(own: str, *wanted: list[str]) -> list[list[str]]:
    """Return for each list of graphs those that can be read here, or the reader's own edge list."""
    return [[pinned(own)] if own else list(filter(_is_at_hand, names)) for names in wanted]


def _is_at_hand(name: str) -> bool:
    try:
        return network(name).n_nodes > 0
    except DataError:
        return False


def up_to_all(names: list[str], ks: list[int]) -> list[tuple[str, int]]:
    """Return pairs of graph and k: k is at most the number of nodes."""
    return [(name, k) for name in names for k in ks if k <= network(name).n_nodes]


def name_of(name: str) -> str:
    """Return a graph's name in words."""
    if name.startswith("preferential_attachment_"):
        return "preferential attachment (simulated)"
    return _WORDS.get(name, Path(name.partition("#")[0]).stem.replace("_", " "))
