import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reident import SearchLimitWarning, degree_anonymise
from reident.networks import is_degree_anonymous

METHODS = ("supergraph", "relaxed", "simultaneous", "direct")


@pytest.mark.parametrize(
    ("method", "probing"),
    [(method, probing) for method in METHODS for probing in (1, 2, 3, 4, "batch") if method != "direct"]
    + [("direct", "batch")],
)
@pytest.mark.parametrize("k", [2, 7])
def test_release_keeps_its_promises(method, probing, k):
    graph = nx.relabel_nodes(nx.powerlaw_cluster_graph(40, 3, 0.3, seed=5), lambda node: f"n{node}")
    before = graph.copy()
    release = degree_anonymise(graph, k, method=method, probing=probing, patience=3, rng=2)
    released = release.network.to_networkx()
    assert nx.utils.graphs_equal(graph, before)
    assert list(released) == list(graph)
    assert nx.number_of_selfloops(released) == 0
    counts = np.bincount([degree for _, degree in released.degree()])
    assert ((counts == 0) | (counts >= k)).all()
    changed = {frozenset(e) for e in graph.edges()} ^ {frozenset(e) for e in released.edges()}
    assert release.edits == len(changed)
    assert release.l1 == sum(abs(released.degree[node] - graph.degree[node]) for node in graph)
    assert release.edits >= release.l1 / 2 >= release.lower_bound
    if method == "supergraph":
        assert all(released.has_edge(*edge) for edge in graph.edges())
        assert release.l1 == 2 * release.edits
    if method == "relaxed":
        assert all(released.degree[node] >= graph.degree[node] for node in graph)


@given(st.integers(0, 10_000), st.integers(1, 9), st.sampled_from(METHODS))
def test_small_graphs_of_every_density(seed, k, method):
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(10, rng.random(), seed=seed)
    release = degree_anonymise(graph, k, method=method, rng=seed)
    assert is_degree_anonymous(release.network, k)
    assert release.edits >= release.lower_bound


def least_edits(graph, k):
    """Return the fewest edits that make a tiny graph k-degree anonymous, by trying every graph on its nodes."""
    pairs = list(itertools.combinations(graph, 2))
    best = len(pairs)
    for bits in range(1 << len(pairs)):
        chosen = {pair for i, pair in enumerate(pairs) if bits >> i & 1}
        degrees = [sum(node in pair for pair in chosen) for node in graph]
        if all(degrees.count(value) >= k for value in degrees):
            best = min(best, len(chosen ^ {tuple(sorted(e)) for e in graph.edges()}))
    return best


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [2, 5])
def test_lower_bound_is_below_the_true_optimum(seed, k):
    graph = nx.gnp_random_graph(5, 0.5, seed=seed)
    release = degree_anonymise(graph, k, rng=1)
    assert release.lower_bound <= least_edits(graph, k) <= release.edits


def test_limit_is_said_and_the_release_still_holds():
    graph = nx.star_graph(59)
    with pytest.warns(SearchLimitWarning, match="probing scheme 1 reached its limit"):
        release = degree_anonymise(graph, 20, method="supergraph", probing=1, max_probes=2, rng=1)
    assert not release.is_within_limit
    assert release.probing == "batch"
    assert is_degree_anonymous(release.network, 20)


@pytest.mark.whole
@pytest.mark.parametrize("method", ["direct", "simultaneous", "supergraph", "relaxed"])
@pytest.mark.parametrize("k", [2, 10])
def test_a_star_costs_hardly_more_than_its_optimum(method, k):
    """Nearly all edges of the hub go, or k - 1 leaves are joined to all others: an edit changes a hub by one."""
    n = 3000
    release = degree_anonymise(nx.star_graph(n), k, method=method, rng=1)
    assert is_degree_anonymous(release.network, k)
    optimum = n - 1 if method in ("direct", "simultaneous") else (k - 1) * (n - 1) - (k - 1) * (k - 2) // 2
    assert optimum - (k > 2) <= release.edits <= 1.002 * optimum
    assert release.n_probes <= 5
