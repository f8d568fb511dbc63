"""Chapters 8 and 10 of Vanhoef (2012): active and passive attacks on networks released under other names."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from reident.base import BoolArray, Row, quiet
from reident.cliques.cliques import max_cliques
from reident.data.networks import sample_network
from reident.experiments.vanhoef2012_networks.graphs import network, renamed
from reident.networks.degree_anonymity import degree_anonymise
from reident.networks.graph import Network
from reident.networks.perturbation import naive_anonymise
from reident.networks.planted_cut import edge_connected_groups, implant_by_cut, recover_by_cut
from reident.networks.planted_recovery import detectability, recover
from reident.networks.planted_subgraph import coalition, implant
from reident.networks.propagation import mapping_quality, propagate
from reident.places.compatibility import compatibility_graph


def passive(rng: Generator, *, graph: str, known_edges: float, known_nodes: float = 1.0, n_seeds: int = 50) -> Row:
    """Attack a renamed sample of a network's edges by another, independent sample (chapter 10).

    `known_edges` is the share of edges in either copy, `known_nodes` that of people in the attacker's.
    """
    original = network(graph)
    known = sample_network(original, edges=known_edges, nodes=known_nodes, rng=rng)
    released = naive_anonymise(sample_network(original, edges=known_edges, rng=rng), rng=rng)
    truth: dict[Any, Any] = {released.mapping[node]: node for node in known.nodes}
    nodes = list(truth)
    seeds = {nodes[i]: truth[nodes[i]] for i in rng.choice(len(nodes), n_seeds, replace=False)}
    with quiet():
        mapping = propagate(released.network, known, seeds).mapping
    quality = mapping_quality(mapping, truth, ignore=seeds)
    return {"recall": quality.recall, "precision": quality.precision}


def active(
    rng: Generator, *, graph: str, kind: str, k: int, outside: tuple[int, int] = (10, 20), anonymity: int = 1,
    slack: int = 0,
) -> Row:  # fmt: skip
    """Plant k nodes, or gather a coalition of k people, release the network, and look for the targets (chapter 8).

    `kind` is planted, planted with H checked (redrawn until it has no automorphism) or coalition; `outside` are the
    smallest and the largest number of a planted node's links to others; the release is degree anonymous with k =
    `anonymity` (1: renamed only); the search allows `slack` changes of a degree and of a planted edge.
    """
    original = network(graph)
    if kind == "coalition":
        plan = coalition(original, _gather(original, k, rng))
    else:
        d0, d1 = outside
        # There are so many sets of two and more planted nodes, and the fewest links allow so many sets of three.
        count = min(10, 2**k - 1 - k, k * d0 // 4)
        targets = [original.nodes[i] for i in rng.choice(original.n_nodes, count, replace=False)]
        redraws = 100 if kind == "planted, H checked" else 0
        plan = implant(original, targets, k=k, d0=d0, d1=d1, redraws=redraws, rng=rng)
    released = plan.network
    if anonymity > 1:
        released = degree_anonymise(released, anonymity, rng=rng).network
    release, truth = renamed(released, rng)
    with quiet():
        result = recover(release, plan, degree_slack=slack, edge_slack=slack, node_limit=2_000_000)
    visible = None if kind == "coalition" else detectability(plan.network, plan.nodes)
    return {
        "success": _finds_all(result, truth, len(plan.links)),
        "n_tree": result.n_tree,
        "n_first": (released.degrees == plan.degrees[0]).sum(),
        "auc_degree": visible.degree if visible else np.nan,
        "auc_clustering": visible.clustering if visible else np.nan,
    }


def cut(rng: Generator, *, graph: str, kind: str, n_targets: int) -> Row:
    """Plant 3b + 3 nodes for b targets by a ``"cut"`` (8.4) or a ``"walk"``, and find them as attacker and owner."""
    original = network(graph)
    b = n_targets
    targets = [original.nodes[i] for i in rng.choice(original.n_nodes, b, replace=False)]
    by_cut = kind == "cut"
    plan = implant_by_cut(original, targets, rng=rng) if by_cut else implant(original, targets, k=3 * b + 3, rng=rng)
    release, truth = renamed(plan.network, rng)
    result = (recover_by_cut if by_cut else recover)(release, plan)
    # The owner does not know the number of targets: groups that hang on the rest by up to five edges.
    small = {frozenset(group) for q in range(2, 7) for group in edge_connected_groups(plan.network, q)}
    small = {group for group in small if 5 < len(group) < original.n_nodes // 2}
    return {
        "k": len(plan.nodes),
        "n_links": plan.degrees.sum() - plan.joined.sum(),
        "success": _finds_all(result, truth, b),
        "n_groups": len(small),
        "owner_sees": frozenset(plan.nodes) in small,
    }


def _finds_all(result: Any, truth: Mapping[Any, Any], n: int) -> bool:
    right = sum(truth.get(place) == target for target, place in result.mapping.items())
    return result.is_unique and right == n


def _gather(original: Network, k: int, rng: Generator) -> list[Any]:
    """Draw a coalition: a random user with enough friends, and k - 1 of these friends."""
    start = int(rng.choice(np.flatnonzero(original.degrees >= k - 1)))
    friends = original.indices[original.indptr[start] : original.indptr[start + 1]]
    return [original.nodes[m] for m in (start, *rng.choice(friends, k - 1, replace=False).tolist())]


def plant_in_random_graph(rng: Generator, n: int, k: int) -> tuple[BoolArray, list[int]]:
    """Plant the graph H of Theorem 8.1 in a random graph of n - k nodes; return the adjacency matrix and H's nodes.

    Both have edge probability 1/2; H contains the path x_1, ..., x_k; its nodes have two links outside.
    """
    joined = np.triu(rng.random((n, n)) < 0.5, 1)
    planted = np.arange(n - k, n)
    joined[planted[:-1], planted[1:]] = True
    joined[: n - k, n - k :] = False
    for node in planted:
        joined[rng.choice(n - k, 2, replace=False), node] = True
    return joined | joined.T, planted.tolist()


def planted_is_unique(rng: Generator, *, n: int, delta: float) -> Row:
    """Search a random graph of n nodes for another set of nodes that induces a copy of the planted graph H.

    k is the smallest integer of at least (2 + delta) log2(n) (Theorem 8.1).
    """
    k = int(np.ceil((2 + delta) * np.log2(n)))
    joined, planted = plant_in_random_graph(rng, n, k)
    return {"k": k, "is_unique": not has_another_copy(joined, planted)}


def has_another_copy(joined: BoolArray, nodes: Sequence[int]) -> bool:
    """Tell whether some other set of nodes induces a copy of the subgraph that these nodes induce.

    A copy is a clique of the product graph of the subgraph and the graph, with adjacency in the place of distances.
    """
    part, graph = joined[np.ix_(nodes, nodes)].astype(float), joined.astype(float)
    product = compatibility_graph(np.zeros(len(part)), part, np.zeros(len(graph)), graph, window_km=(-0.5, 0.5))
    with quiet():
        copies = max_cliques(product, limit=10_000, time_limit_s=None, progress=False).cliques
    return any({*product.pairs[np.array(copy, int), 1]} != {*nodes} for copy in copies)
