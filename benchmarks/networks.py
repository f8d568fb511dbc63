"""Networks: properties against networkx and igraph, degree anonymity and attacks at a million nodes."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import networkx as nx
import numpy as np

import reident
from benchmarks._rows import Row, peak_gib, seconds, timed, within
from reident.data.networks import preferential_attachment, sample_network


@contextmanager
def _without_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _graph() -> nx.Graph:
    return nx.powerlaw_cluster_graph(5000, 6, 0.3, seed=1)


def _against_networkx(name: str, ours: Callable[[Any], Any], theirs: Callable[[Any], Any]) -> Row:
    graph = _graph()
    ours_s, rival_s = seconds(lambda: ours(graph)), timed(lambda: theirs(graph))[0]
    return Row(
        f"{name}, 5,000 nodes", ours_s, "networkx", rival_s, 50, note="from a networkx graph, conversion included"
    )


def _clustering() -> list[Row]:
    return [
        _against_networkx("clustering coefficient", reident.networks.clustering_coefficient, nx.average_clustering),
        _against_igraph("clustering coefficient", reident.networks.clustering_coefficient,
                        lambda other: other.transitivity_avglocal_undirected(mode="zero")),
    ]  # fmt: skip


def _paths() -> list[Row]:
    measure = reident.networks.path_lengths
    return [
        _against_networkx("average path length", measure, nx.average_shortest_path_length),
        _against_networkx("diameter", measure, nx.diameter),
        _against_igraph("average path length", measure, lambda other: other.average_path_length()),
    ]


def _against_igraph(name: str, ours: Callable[[Any], Any], theirs: Callable[[Any], Any]) -> Row:
    task = f"{name}, 5,000 nodes, inner form"
    graph = _graph()
    network = reident.networks.as_network(graph)
    ours_s = seconds(lambda: ours(network))
    if importlib.util.find_spec("igraph") is None:
        return Row(task, ours_s, "igraph", note="not installed")
    import igraph

    other = igraph.Graph(n=5000, edges=list(graph.edges()))
    return Row(task, ours_s, "igraph", seconds(lambda: theirs(other)))


def _anonymity() -> list[Row]:
    out = []
    small, large = preferential_attachment(2000, 4, rng=1), preferential_attachment(1_000_000, 4, rng=1)
    for method, allowed_s in (("direct", 2.0), ("supergraph", 8.0)):
        with _without_warnings():
            reident.degree_anonymise(small, 98, method=method, rng=1)
            made = reident.degree_anonymise(large, 98, method=method, rng=1)
        note = f"{made.edits:,} edits, lower bound {made.lower_bound:,}, {made.n_probes} probes"
        task = f"{method}, k = 98, 1,000,000 nodes, {large.n_edges:,} edges"
        out.append(within(task, made.seconds, allowed_s, note))
    return out


def _planted() -> list[Row]:
    with _without_warnings():
        plan = reident.networks.implant(preferential_attachment(1_000_000, 4, rng=1), range(1000, 1010), rng=1)
        found = seconds(lambda: reident.networks.recover(plan.network, plan))
    return [within("search for 7 planted nodes, 1,000,000 nodes", found, 0.5)]


def _spread(n: int, m: int, share: float, allowed_s: float) -> Row:
    """Attack a network of n nodes, m links each, from one known person in 2,000 and a copy with some of the links."""
    network = preferential_attachment(n, m, rng=1)
    known = sample_network(network, edges=share, rng=2)
    seeds = {node: node for node in np.random.default_rng(1).choice(n, n // 2000, replace=False).tolist()}
    tiny = preferential_attachment(500, 5, rng=1)
    with _without_warnings():
        reident.networks.propagate(tiny, tiny, {node: node for node in range(20)})
        spent, found = timed(lambda: reident.networks.propagate(network, known, seeds))
    quality = reident.networks.mapping_quality(found.mapping, {node: node for node in network.nodes}, ignore=seeds)
    memory = peak_gib()
    note = (
        f"{len(seeds)} seeds, {share:.0%} of the edges: recall {quality.recall:.3f}, precision {quality.precision:.3f}"
    )
    if quality.recall < 0.9:
        raise RuntimeError(f"the attack did not spread, its seconds say nothing: {note}")
    return within(f"propagation, {n:,} nodes, {network.n_edges:,} edges", spent, allowed_s, f"{note}; {memory:.1f} GiB")


GROUPS = {
    "clustering": _clustering,
    "paths": _paths,
    "anonymity": _anonymity,
    "planted": _planted,
    "propagation": lambda: [_spread(100_000, 9, 0.8, 2)],
    "propagation-large": lambda: [_spread(1_000_000, 10, 0.8, 60)],
}
