import math

import networkx as nx
import numpy as np
import pytest
from scipy.special import zeta

import reident
from reident.data.networks import preferential_attachment


def test_large_graph_is_bounded_and_sampled():
    graph = preferential_attachment(300, 2, rng=1)
    exact = reident.networks.path_lengths(graph)
    sampled = reident.networks.path_lengths(graph, exact_limit=10, n_sources=100, rng=2)
    assert sampled.diameter_low <= exact.diameter_low <= sampled.diameter_high
    # Four standard errors: a false alarm in 16,000.
    assert abs(sampled.average - exact.average) <= 4 * sampled.standard_error
    assert exact.standard_error == 0


def test_power_law_exponent_maximises_the_likelihood():
    graph = nx.barabasi_albert_graph(300, 3, seed=1)
    degrees = np.array([d for _, d in graph.degree() if d >= 3])
    grid = np.linspace(1.5, 5, 3501)
    likelihood = [-len(degrees) * math.log(zeta(a, 3)) - a * np.log(degrees).sum() for a in grid]
    assert reident.networks.power_law_exponent(graph) == pytest.approx(grid[int(np.argmax(likelihood))], abs=1e-3)


def test_power_law_exponent_of_degenerate_degrees():
    assert reident.networks.power_law_exponent(nx.cycle_graph(5), x_min=2) == math.inf
    assert math.isnan(reident.networks.power_law_exponent(nx.cycle_graph(5)))


def test_overlap_and_mapping_quality():
    path, cycle = nx.path_graph(4), nx.cycle_graph(4)
    assert reident.networks.edge_overlap(path, cycle) == 0.75
    assert reident.networks.edge_overlap(path, nx.Graph([(3, 2), (2, 1), (1, 0)])) == 1
    found = reident.networks.mapping_quality({1: 1, 2: 3, 9: 9}, {1: 1, 2: 2, 3: 3, 4: 4}, ignore=[4])
    assert (found.recall, found.precision, found.unmatched) == (1 / 3, 1 / 3, 1 / 3)


def test_detectability_sees_what_is_there():
    graph = nx.connected_caveman_graph(10, 6)
    planted = ["a", "b", "c"]
    rng = np.random.default_rng(1)
    for node in planted:
        graph.add_edges_from((node, int(other)) for other in rng.choice(60, 30, replace=False))
    found = reident.networks.detectability(graph, planted)
    assert found.degree == 1
    assert found.clustering > 0.9
    assert found.one_sided == 0.5
    lonely = nx.connected_caveman_graph(10, 6)
    lonely.add_edge("d", 0)
    by_degree = reident.networks.detectability(lonely, ["d"]).degree
    assert by_degree == 0
    one_way = nx.DiGraph((u, v) for u, v in graph.edges() if isinstance(v, str))
    one_way = nx.DiGraph([*((v, u) for u, v in one_way.edges()), (0, 1), (1, 0)])
    assert reident.networks.detectability(one_way, planted).one_sided == 1
