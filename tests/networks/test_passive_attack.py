"""The passive attack: scores against Algorithm 10.1 on sets, propagation, seeds, link prediction, bad input."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from reident import DataError
from reident.data import sample_network
from reident.data.simulate import preferential_attachment
from reident.networks import (
    drop_unlikely_edges,
    find_seeds,
    link_scores,
    mapping_quality,
    naive_anonymise,
    propagate,
)
from reident.networks.graph import as_network


@pytest.fixture(scope="module")
def network():
    return as_network(nx.powerlaw_cluster_graph(150, 6, 0.3, seed=2))


def test_propagation_finds_a_renamed_network(network):
    release = naive_anonymise(network, rng=1)
    nodes = [0, 1, 2, 3, 4, 5, 10, 20]
    found = propagate(release.network, network, {release.mapping[node]: node for node in nodes})
    truth = {renamed: node for node, renamed in release.mapping.items()}
    quality = mapping_quality(found.mapping, truth)
    assert quality.recall > 0.95
    assert quality.precision > 0.99
    assert found.is_converged
    assert len(set(found.mapping.values())) == len(found.mapping)


def test_wrong_seeds_are_revised(network):
    nodes = [*range(2, 40)]
    seeds = {node: node for node in nodes} | {100: 120, 120: 100}
    revised = propagate(network, network, seeds)
    assert revised.mapping[100] == 100


def test_directed_networks(network):
    rng = np.random.default_rng(1)
    graph = nx.DiGraph((u, v) if rng.random() < 0.5 else (v, u) for u, v in network.to_networkx().edges())
    uncrawled = [node for node in graph if node % 5 == 4]
    graph.remove_edges_from([(u, v) for u, v in graph.edges() if u in uncrawled])
    found = propagate(graph, graph, {node: node for node in range(20)})
    assert mapping_quality(found.mapping, {node: node for node in graph}).precision > 0.95
    assert len(found.mapping) > 100


def test_seeds_by_matching_start_the_attack(network):
    release = naive_anonymise(network, rng=1)
    truth = {renamed: node for node, renamed in release.mapping.items()}
    known = sample_network(network, edges=0.95, rng=2)
    seeds = find_seeds(release.network, known, n=80)
    quality = mapping_quality(seeds.mapping, truth)
    assert quality.precision > 0.7
    assert quality.recall * quality.n_true >= 10
    found = propagate(release.network, known, seeds.mapping)
    assert mapping_quality(found.mapping, truth).recall > 0.8


def test_seeds_by_clique(network):
    release = naive_anonymise(network, rng=1)
    truth = {renamed: node for node, renamed in release.mapping.items()}
    seeds = find_seeds(release.network, network, method="clique", clique_size=5, tolerance=0, rng=1)
    assert (seeds.n_candidates == 1) == bool(seeds.mapping)
    assert seeds.mapping.items() <= truth.items()
    drawn = find_seeds(release.network, network, method="clique", clique_size=3, tolerance=0, rng=1)
    assert drawn.n_candidates >= 1


def test_mixed_directions_and_bad_seeding_are_refused(network):
    with pytest.raises(DataError, match="both directed or both undirected"):
        propagate(nx.DiGraph([(0, 1)]), network, {0: 0})
    with pytest.raises(DataError, match="no clique of 3"):
        find_seeds(nx.path_graph(5), nx.path_graph(5), method="clique", clique_size=3)


def test_pruning():
    graph = preferential_attachment(60, 4, rng=1)
    ranked = sorted(link_scores(graph))
    assert sorted(link_scores(graph, zip(*drop_unlikely_edges(graph, n=40).edges(), strict=True))) == ranked[40:]
    assert drop_unlikely_edges(graph, n=0).n_edges == graph.n_edges
    assert drop_unlikely_edges(graph, n=graph.n_edges).n_edges == 0
