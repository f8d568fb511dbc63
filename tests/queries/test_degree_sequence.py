import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy_loss import assert_loss_at_most, seeded
from reident.queries import private_degree_sequence


def true_degrees(graph):
    return np.sort([degree for _, degree in graph.degree()])[::-1]


@pytest.mark.parametrize("k", [1, 2])
def test_sensitivities_by_brute_force(k):
    """All graphs on 4 nodes and all with k edges changed: 2 k for the sequence, 4 k for the histogram (erratum 12)."""
    pairs = list(itertools.combinations(range(4), 2))
    worst = {"sequence": 0, "histogram": 0}
    for chosen in itertools.product([0, 1], repeat=len(pairs)):
        graph = nx.Graph([pair for pair, flag in zip(pairs, chosen, strict=True) if flag])
        graph.add_nodes_from(range(4))
        for flipped in itertools.combinations(pairs, k):
            other = graph.copy()
            for pair in flipped:
                (other.remove_edge if other.has_edge(*pair) else other.add_edge)(*pair)
            one, two = true_degrees(graph), true_degrees(other)
            worst["sequence"] = max(worst["sequence"], int(np.abs(one - two).sum()))
            counts = [np.bincount(degrees, minlength=4) for degrees in (one, two)]
            worst["histogram"] = max(worst["histogram"], int(np.abs(counts[0] - counts[1]).sum()))
    for kind, found in worst.items():
        stated = private_degree_sequence(nx.path_graph(4), epsilon=1, k=k, kind=kind).sensitivity
        assert found <= stated
        if k == 1 or kind == "sequence":
            assert found == stated, "the stated sensitivity is reached"


@given(st.integers(2, 15), st.floats(0.1, 0.9), st.integers(0, 100))
def test_isotonic_regression_is_decreasing_and_closest(n, p, seed):
    answer = seeded(private_degree_sequence, nx.gnp_random_graph(n, p, seed=seed), epsilon=0.5, rng=seed)
    assert (np.diff(answer.released) <= 1e-9).all()
    assert ((answer.released >= 0) & (answer.released <= n - 1)).all()
    # The min-max formula of isotonic regression, another route to the same fit.
    y = answer.noisy
    means = [[y[a : b + 1].mean() if b >= a else np.nan for b in range(n)] for a in range(n)]
    ref = [min(max(means[a][b] for b in range(i, n)) for a in range(i + 1)) for i in range(n)]
    assert answer.released == pytest.approx(np.clip(ref, 0, n - 1))


def test_histogram():
    answer = private_degree_sequence(nx.star_graph(4), epsilon=200, kind="histogram")
    assert answer.released.round().tolist() == [0, 4, 0, 0, 1]
    assert (private_degree_sequence([0] * 50, epsilon=0.1, kind="histogram").released >= 0).all()


@pytest.mark.slow
def test_privacy_loss_of_neighbouring_graphs():
    """The sum of all noisy degrees moves by exactly the sensitivity when an edge is added."""
    n = 2500
    sums = []
    for place, graph in enumerate((nx.path_graph(3), nx.cycle_graph(3))):
        generator = np.random.default_rng(place)
        drawn = seeded(
            lambda g=graph, r=generator: [
                private_degree_sequence(g, epsilon=1, rng=r, postprocess=False).noisy for _ in range(n)
            ]
        )
        sums.append(np.array(drawn))
    for combine in ([1, 0, 0], [0, 0, 1], [0, 1, 1]):
        assert_loss_at_most(sums[0] @ combine, sums[1] @ combine, 1)
