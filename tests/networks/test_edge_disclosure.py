"""Edge disclosure against a loop over all pairs, and the degree anonymiser that bounds it."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reident import DataError, degree_anonymise
from reident.networks import edge_disclosure, is_degree_anonymous


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
    mean = np.mean([posterior(u, v) for u, v in original.edges()]) if original.edges() else 0
    return true / n, (len(sure) - true) / n, surest, mean


@given(st.integers(0, 10_000), st.sampled_from([0.3, 0.5, 0.9, 1.0]))
def test_shares_equal_those_of_a_loop(seed, certainty):
    release, original = nx.gnp_random_graph(8, 0.4, seed=seed), nx.gnp_random_graph(8, 0.5, seed=seed + 1)
    found = edge_disclosure(release, original, certainty=certainty)
    comp = (found.true_share, found.feigned_share, found.largest_posterior, found.mean_posterior)
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
