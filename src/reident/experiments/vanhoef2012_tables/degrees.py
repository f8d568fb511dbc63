"""Vanhoef (2012), section 7.4: degree sequences of networks that hide edges or a node. Noise is seeded."""

from __future__ import annotations

from functools import cache
from typing import Any

import networkx as nx
import numpy as np

from reident.base import DataError, IntArray
from reident.data.networks import load_graph
from reident.queries import private_degree_sequence

GRAPHS = ("karate club", "les miserables", "preferential attachment", "small world", "power grid")


@cache
def graph_degrees(name: str) -> IntArray:
    """Return the degrees of a graph in decreasing order.

    Raises
    ------
    DataError
        For the power grid, if its file is not in the folder named by REIDENT_DATA.
    """
    graph = {
        "karate club": nx.karate_club_graph,
        "les miserables": nx.les_miserables_graph,
        "preferential attachment": lambda: nx.barabasi_albert_graph(3000, 3, seed=1),
        "small world": lambda: nx.watts_strogatz_graph(3000, 6, 0.2, seed=1),
        "power grid": lambda: load_graph("powergrid"),
    }[name]()
    return np.sort(np.array([degree for _, degree in graph.degree()], dtype=np.int64))[::-1].copy()


def available_graphs() -> list[str]:
    """Return the graphs that can be read here: the power grid needs REIDENT_DATA."""
    try:
        graph_degrees("power grid")
    except DataError:
        return list(GRAPHS[:-1])
    return list(GRAPHS)


def node_trial(rng: np.random.Generator, *, graph: str, epsilon: float, hidden: str) -> dict[str, Any]:
    """Publish a degree sequence that hides "an edge", "five edges" or "a node"; return errors over the mean degree.

    A node has up to n - 1 edges: hiding it is hiding so many. `blind_error` is that of the median for every degree.
    """
    true = graph_degrees(graph)
    k = {"an edge": 1, "five edges": 5, "a node": true.size - 1}[hidden]
    sequence = private_degree_sequence(true, epsilon=epsilon, k=k, rng=rng)
    answers: dict[str, Any] = {"noisy": sequence.noisy, "degrees": sequence.released, "blind": np.median(true)}
    errors = {f"{name}_error": float(np.abs(answer - true).mean() / true.mean()) for name, answer in answers.items()}
    return {"n_nodes": int(true.size), **errors}
