import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reident import DataError, SearchLimitWarning, degree_anonymise
from reident.networks import edge_disclosure, is_degree_anonymous

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


def naive(release, original, certainty):
    """Count over all pairs of nodes, for each two degrees, how many are joined."""
    degree = dict(release.degree())

    def posterior(u, v):
        pairs = {
            frozenset((a, b))
            for a, b in itertools.permutations(release, 2)
            if degree[a] == degree[u] and degree[b] == degree[v]
        }
        return sum(release.has_edge(*pair) for pair in pairs) / len(pairs)

    sure = [(u, v) for u, v in release.edges() if posterior(u, v) >= certainty]
    true = sum(original.has_edge(u, v) for u, v in sure)
    n = max(release.number_of_edges(), 1)
    surest = max((posterior(u, v) for u, v in itertools.combinations(release, 2)), default=0)
    return true / n, (len(sure) - true) / n, surest


@given(st.integers(0, 10_000), st.sampled_from([0.3, 0.5, 0.9, 1.0]))
def test_shares_equal_those_of_a_loop(seed, certainty):
    release, original = nx.gnp_random_graph(8, 0.4, seed=seed), nx.gnp_random_graph(8, 0.5, seed=seed + 1)
    found = edge_disclosure(release, original, certainty=certainty)
    comp = (found.true_share, found.feigned_share, found.largest_posterior)
    assert comp == pytest.approx(naive(release, original, certainty))


def test_figure_7_2_hides_people_and_not_their_link():
    """7.2: everybody shares a degree with another, and yet both of the largest degree are joined."""
    graph = nx.Graph([("a", "b"), ("a", 1), ("a", 2), ("b", 3), ("b", 4)])
    assert is_degree_anonymous(graph, 2)
    found = edge_disclosure(graph, graph)
    assert found.true_share == 1 / 5
    assert found.feigned_share == 0


@pytest.mark.parametrize("method", ["relaxed", "simultaneous", "direct"])
@pytest.mark.parametrize("certainty", [0.9, 0.75])
def test_the_bound_holds_and_degrees_stay(method, certainty):
    graph = nx.les_miserables_graph()
    free = degree_anonymise(graph, 5, method=method, rng=1)
    made = degree_anonymise(graph, 5, method=method, certainty=certainty, rng=1)
    assert edge_disclosure(free, graph).largest_posterior >= 0.9
    assert edge_disclosure(made, graph).largest_posterior < certainty
    assert is_degree_anonymous(made, 5)
    assert (made.network.degrees == free.network.degrees).all()
    assert edge_disclosure(made, graph, certainty=certainty).true_share == 0


def test_a_bound_out_of_reach_is_said():
    with pytest.raises(DataError, match=r"`certainty` = 0.9 cannot be kept: 1 pairs of degrees"):
        degree_anonymise(nx.complete_graph(6), 3, certainty=0.9)
