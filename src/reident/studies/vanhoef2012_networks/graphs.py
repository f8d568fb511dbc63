"""The study's graphs: small and generated ones that need no download, and the thesis's where the user has them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd

from reident import Network, as_network
from reident.base import DataError
from reident.data._paths import data_folder
from reident.data.datasets import load_graph
from reident.data.simulate import preferential_attachment, random_degrees
from reident.networks.graph import network_from_edges

__all__ = ["STAND_INS", "available", "graph", "public_graphs"]

#: Graphs of the thesis for which another file of the same kind stands.
STAND_INS = ("enron",)


@lru_cache(maxsize=16)
def graph(name: str, edition: int = 0) -> Network:
    """Return a graph of the study.

    Parameters
    ----------
    name : str
        ``"les_miserables"``: who appears with whom in the novel (77 nodes), the place of Enron.
        ``"power_law_cluster"``: Holme and Kim's model with the size of Caltech (769 nodes, about 16,500 edges).
        ``"chung_lu"``: 1,500 nodes with expected degrees from a lognormal law of mean 16, without clustering.
        ``"small_world"``: 1,000 nodes of mean degree 2.7, the sparseness of the power grid.
        ``"preferential_attachment_<n>"``: n nodes, 5 links each. Else a name that `load_graph` knows.
    edition : int
        Another draw of a generated graph: other data of the same kind, for what may not be learned from the data
        attacked.
    """
    import networkx as nx

    if name == "les_miserables":
        return as_network(nx.convert_node_labels_to_integers(nx.les_miserables_graph()))
    if name == "power_law_cluster":
        return as_network(nx.powerlaw_cluster_graph(769, 22, 0.7, seed=2012 + edition))
    if name == "chung_lu":
        rng = np.random.default_rng(2012 + edition)
        degrees = rng.lognormal(np.log(16) - 0.5, 1.0, 1500)
        return random_degrees(np.minimum(degrees, 300), rng=rng)
    if name == "communities":
        return _communities(np.random.default_rng(2012 + edition))
    if name == "small_world":
        return as_network(nx.newman_watts_strogatz_graph(1000, 2, 0.335, seed=2012 + edition))
    if name.startswith("preferential_attachment_"):
        return preferential_attachment(int(name.rsplit("_", 1)[1]), 5, rng=2012 + edition)
    return as_network(load_graph(name))


def _communities(rng: np.random.Generator) -> Network:
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


def available(names: list[str]) -> list[str]:
    """Return those of the names whose graph is at hand."""
    found = []
    for name in names:
        try:
            graph(name)
        except DataError:
            continue
        found.append(name)
    return found


def public_graphs() -> pd.DataFrame:
    """Return what the public files of table 9.1's graphs hold: nodes, edges, components, largest degree."""
    return pd.read_csv(data_folder() / "vanhoef2012_public_graphs.csv")
