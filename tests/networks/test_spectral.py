"""The spectral match: the similarity against its sum over eigenvectors, and what it finds where hubs mislead."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from reident.data import sample_network
from reident.networks import (
    find_seeds,
    naive_anonymise,
    spectral,
    spectral_match,
)
from reident.networks.graph import as_network
from reident.networks.spectral import _spectral


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


@pytest.mark.parametrize("seed", range(4))
def test_another_processor_matches_the_same(monkeypatch, seed):
    """Other linear algebra gives other signs and last bits; of leaves at one node none is chosen by them."""
    rng = np.random.default_rng(seed)
    network = nx.barabasi_albert_graph(60, 1, seed=seed)
    known = sample_network(network, edges=0.9, rng=seed)
    here, exact = spectral_match(network, known, rounds=0).mapping, spectral._spectrum

    def elsewhere(network):
        values, vectors = exact(network)
        return values, vectors * rng.choice([-1.0, 1.0], len(values)) + rng.normal(0, 1e-14, vectors.shape)

    monkeypatch.setattr(spectral, "_spectrum", elsewhere)
    assert spectral_match(network, known, rounds=0).mapping == here
