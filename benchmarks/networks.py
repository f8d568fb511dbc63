"""Networks: properties against networkx and igraph, degree anonymity and attacks at a million nodes."""

import time
import warnings
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

import reident
from reident.networks import preferential_attachment, sample_network


def _seconds(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _row(
    task: str, ours: Callable[[], Any], rival: str = "", theirs: Callable[[], Any] | None = None, note: str = ""
) -> dict[str, Any]:
    ours()  # compiles
    ours_s = min(_seconds(ours) for _ in range(3))
    rival_s = _seconds(theirs) if theirs else float("nan")
    return {"task": task, "ours_s": ours_s, "rival": rival, "rival_s": rival_s, "ratio": rival_s / ours_s, "note": note}


def _properties() -> list[dict[str, Any]]:
    graph = nx.powerlaw_cluster_graph(5000, 6, 0.3, seed=1)
    out = [
        _row(
            "clustering coefficient, 5,000 nodes", lambda: reident.clustering_coefficient(graph),
            "networkx", lambda: nx.average_clustering(graph), "from a networkx graph, conversion included",
        ),
        _row(
            "average path length, 5,000 nodes", lambda: reident.average_path_length(graph),
            "networkx", lambda: nx.average_shortest_path_length(graph), "from a networkx graph, conversion included",
        ),
        _row("diameter, 5,000 nodes", lambda: reident.diameter(graph), "networkx", lambda: nx.diameter(graph), ""),
    ]  # fmt: skip
    try:
        import igraph
    except ImportError:
        return [
            *out,
            {**out[0], "rival": "igraph", "rival_s": float("nan"), "ratio": float("nan"), "note": "not installed"},
        ]
    network = reident.as_network(graph)
    other = igraph.Graph(n=5000, edges=list(graph.edges()))
    return [
        *out,
        _row("clustering coefficient, inner form", lambda: reident.clustering_coefficient(network), "igraph",
             lambda: other.transitivity_avglocal_undirected(mode="zero")),
        _row("average path length, inner form", lambda: reident.average_path_length(network), "igraph",
             other.average_path_length),
    ]  # fmt: skip


def _anonymity() -> list[dict[str, Any]]:
    out = []
    small = preferential_attachment(2000, 4, rng=1)
    large = preferential_attachment(1_000_000, 4, rng=1)
    for method in ("direct", "supergraph"):
        reident.degree_anonymise(small, 98, method=method, rng=1)
        made = reident.degree_anonymise(large, 98, method=method, rng=1)
        out.append({
            "task": f"{method}, k = 98, 1,000,000 nodes, {large.n_edges:,} edges", "ours_s": made.seconds, "rival": "",
            "rival_s": float("nan"), "ratio": float("nan"),
            "note": f"{made.edits:,} edits, lower bound {made.lower_bound:,}, {made.n_probes} probes",
        })  # fmt: skip
    return out


def _attacks() -> list[dict[str, Any]]:
    million = preferential_attachment(1_000_000, 4, rng=1)
    plan = reident.implant(million, range(1000, 1010), rng=1)
    network = preferential_attachment(100_000, 9, rng=1)
    known = sample_network(network, edges=0.8, rng=2)
    seeds = {node: node for node in np.random.default_rng(1).choice(100_000, 50, replace=False).tolist()}
    tiny = preferential_attachment(500, 5, rng=1)
    reident.propagate(tiny, tiny, {node: node for node in range(20)})
    began = time.perf_counter()
    found = reident.propagate(network, known, seeds)
    seconds = time.perf_counter() - began
    quality = reident.mapping_quality(found.mapping, {node: node for node in network.nodes}, ignore=seeds)
    return [
        _row("search for 7 planted nodes, 1,000,000 nodes", lambda: reident.recover(plan.network, plan)),
        {
            "task": f"propagation, 100,000 nodes, {network.n_edges:,} edges", "ours_s": seconds, "rival": "",
            "rival_s": float("nan"), "ratio": float("nan"),
            "note": f"50 seeds, 80 % of the edges: recall {quality.recall:.3f}, precision {quality.precision:.3f}",
        },
    ]  # fmt: skip


def rows() -> list[dict[str, Any]]:
    """Time properties, anonymisation and attacks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [*_properties(), *_anonymity(), *_attacks()]
