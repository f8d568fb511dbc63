import networkx as nx
import numpy as np
import pytest

from reident import DataError
from reident.data import sample_network
from reident.networks import find_seeds, mapping_quality, naive_anonymise, propagate, spectral_match
from reident.networks.graph import as_network
from reident.networks.spectral import _spectral


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


def test_a_clique_that_is_not_there_seeds_nothing():
    with pytest.raises(DataError, match="no clique of 3"):
        find_seeds(nx.path_graph(5), nx.path_graph(5), method="clique", clique_size=3)


def similarity_by_sums(first, second, eta):
    """Sum over all pairs of eigenvectors, one by one."""
    parts = []
    for one in (first, second):
        matrix = nx.to_numpy_array(one)
        scale = np.sqrt(max(matrix.sum() / len(matrix), 1.0))
        parts.append(np.linalg.eigh(matrix / scale))
    total = np.zeros((len(first), len(second)))
    ones = np.ones((len(first), len(second)))
    for value, u in zip(parts[0][0], parts[0][1].T, strict=True):
        for other, v in zip(parts[1][0], parts[1][1].T, strict=True):
            total += np.outer(u, u) @ ones @ np.outer(v, v) / ((value - other) ** 2 + eta**2)
    return total


@pytest.mark.parametrize("seed", range(4))
def test_similarity_is_the_sum_over_pairs_of_eigenvectors(seed):
    first, second = nx.gnp_random_graph(9, 0.4, seed=seed), nx.gnp_random_graph(7, 0.5, seed=seed + 10)
    ours = _spectral(as_network(first), as_network(second), 0.2)
    assert ours == pytest.approx(similarity_by_sums(first, second, 0.2), rel=1e-8)


def test_the_same_network_is_matched_under_other_names():
    network = as_network(nx.relabel_nodes(nx.gnp_random_graph(60, 0.3, seed=1), str))
    release = naive_anonymise(network, rng=2)
    match = spectral_match(release.network, network)
    truth = {new: old for old, new in release.mapping.items()}
    assert match.mapping == truth
    assert set(match.margins) == set(truth)
    assert min(match.margins.values()) > 0
    assert find_seeds(release.network, network, method="spectral").mapping.items() <= truth.items()
