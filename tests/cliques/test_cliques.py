import warnings
from itertools import combinations

import igraph
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from fuzz.cliques import by_degree, published_search
from naive_cliques import published_search as naive_search
from reident import SearchLimitWarning, max_clique
from reident.cliques import Clique, max_cliques, search_graph
from reident.cliques import search as clique_search


@pytest.fixture(
    params=[
        "whole", "vertex by vertex", "in parts", "lists", "lists, vertex by vertex", "lists, in parts",
        "not reduced", "cut",
    ]
)  # fmt: skip
def route(request, monkeypatch):
    if "vertex" in request.param:
        monkeypatch.setattr(clique_search, "_WHOLE", 0)
    if "lists" in request.param:
        monkeypatch.setattr(search_graph, "_SMALL", 0)
        monkeypatch.setattr(search_graph, "_BITS_VERTICES", 0)
    if "parts" in request.param:
        monkeypatch.setattr(search_graph, "_MANY_VERTICES", 0)
        monkeypatch.setattr(search_graph, "_MANY_EDGES", 0)
        monkeypatch.setattr(search_graph, "_SHARE", 2)
    if "cut" in request.param:  # after each node, with no clique to begin with
        monkeypatch.setattr(clique_search, "_SHORT", 0)
        monkeypatch.setattr(clique_search, "_UNCUT", 0)
        monkeypatch.setattr(clique_search.CliqueSearch, "_first_climb", lambda search: None)
    monkeypatch.setattr(clique_search, "_DENSE", -1.0 if request.param == "not reduced" else 1.0)
    return request.param


@pytest.mark.parametrize("seed", range(6))
def test_random_graphs_as_igraph(route, seed):
    n = 30
    graph = nx.gnp_random_graph(n, [0.1, 0.3, 0.5, 0.7, 0.9, 0.97][seed], seed=seed)
    ref = {tuple(sorted(clique)) for clique in igraph.Graph(n, list(graph.edges)).largest_cliques()}
    comp = max_cliques(graph, rng=seed)
    assert set(comp.cliques) == ref
    assert len(comp.cliques) == len(ref)
    best = max_clique(graph, rng=seed)
    assert best.vertices in ref
    assert best.is_optimal
    assert best.upper_bound == len(best) == comp.size


def hamming(bits, distance):
    words = range(2**bits)
    return nx.Graph([(a, b) for a, b in combinations(words, 2) if (a ^ b).bit_count() >= distance])


def johnson(n, weight, distance):
    words = [sum(1 << i for i in chosen) for chosen in combinations(range(n), weight)]
    return nx.Graph([(a, b) for a, b in combinations(words, 2) if (a ^ b).bit_count() >= distance])


# Clique numbers of the Second DIMACS Implementation Challenge.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("graph", "size"),
    [
        (hamming(6, 2), 32), (hamming(6, 4), 4), (hamming(8, 2), 128), (hamming(8, 4), 16),
        (johnson(8, 2, 4), 4), (johnson(8, 4, 4), 14), (johnson(16, 2, 4), 8),
    ],
    ids=["hamming6-2", "hamming6-4", "hamming8-2", "hamming8-4", "johnson8-2-4", "johnson8-4-4", "johnson16-2-4"],
)  # fmt: skip
def test_coding_graphs(graph, size):
    found = max_clique(graph, rng=0)
    assert found.is_optimal
    assert len(found) == size


def test_kinds_of_graphs_and_names():
    graph = nx.Graph([("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("d", "d")])
    ref = {"a", "b", "c"}
    assert set(max_clique(graph).vertices) == ref
    matrix = nx.to_numpy_array(graph, weight=None).astype(bool)
    for kind in (matrix, matrix.astype(int), sp.csr_array(matrix), sp.coo_matrix(matrix)):
        assert max_clique(kind).vertices == (0, 1, 2)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_graphs_without_edges(route, n):
    graph = nx.empty_graph(n)
    best = max_clique(graph)
    assert len(best) == best.upper_bound == min(n, 1)
    assert best.is_optimal
    assert max_cliques(graph).cliques == (tuple((v,) for v in range(n)) or ((),))


def test_any_node_limit_gives_a_true_bound(route):
    graph = nx.gnp_random_graph(24, 0.7, seed=3)
    size = igraph.Graph(24, list(graph.edges)).clique_number()
    for limit in (1, 2, 3, 5, 8, 13, 21):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SearchLimitWarning)
            cut = max_clique(graph, node_limit=limit, rng=0)
        # A search that proves nothing has spent its limit to the node, preparation included.
        assert cut.n_nodes <= limit if cut.is_optimal else cut.n_nodes == limit
        assert len(cut) <= size <= cut.upper_bound
        assert cut.is_optimal == (len(cut) == cut.upper_bound)


def test_listing_limit():
    # Three parts of three vertices each: 27 maximum cliques.
    graph = nx.complete_multipartite_graph(3, 3, 3)
    assert len(max_cliques(graph, limit=27)) == 27
    with pytest.warns(SearchLimitWarning, match="only 26"):
        cut = max_cliques(graph, limit=26)
    assert len(cut) == 26
    assert not cut.is_complete
    assert cut.is_optimal
    assert len(set(cut.cliques)) == 26


def test_published_search_ends_at_its_steps_and_tells_so():
    graph = nx.gnp_random_graph(80, 0.7, seed=1)
    sizes = []
    for steps in (1, 10, 100):
        with pytest.warns(SearchLimitWarning):
            comp = max_clique(graph, search="published", node_limit=steps)
        assert comp.n_nodes == steps
        assert not comp.is_optimal
        assert comp.upper_bound >= igraph.Graph(80, list(graph.edges)).clique_number()
        sizes.append(len(comp))
    assert sizes == sorted(sizes)


@pytest.mark.whole
@pytest.mark.parametrize("seed", range(4))
def test_a_search_goes_on_from_what_an_earlier_one_found(route, seed):
    graph = nx.gnp_random_graph(40, [0.1, 0.3, 0.6, 0.9][seed], seed=seed)
    proven = max_clique(graph, search="published")
    part = Clique(proven.vertices[:-1], False, len(graph), 0, 0.0)
    ref = max_cliques(graph, rng=seed)
    for begin in (proven, part):
        comp = max_cliques(graph, start=begin, rng=seed)
        assert set(comp.cliques) == set(ref.cliques)
        assert (comp.is_complete, comp.is_optimal) == (True, True)
        assert len(max_clique(graph, start=begin, rng=seed)) == ref.size
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchLimitWarning)
        ended = max_clique(graph, start=proven, node_limit=1, time_limit_s=1e-9)
    assert (len(ended), ended.is_optimal, ended.n_nodes) == (ref.size, True, 0)


@pytest.mark.whole
@pytest.mark.parametrize(("n", "density", "limit"), [(150, 0.8, 400), (300, 0.5, 400)])
def test_graphs_of_their_own_change_no_step(n, density, limit):
    upper = np.triu(np.random.default_rng(6).random((n, n)) < density, 1)
    adjacent = by_degree(upper | upper.T)
    # A slice that ends at once gives no candidates a graph of their own; a long one does, also between two levels.
    whole = published_search(adjacent, limit, 10**12)
    assert whole == published_search(adjacent, limit, 1) == published_search(adjacent, limit, 50_000)
    assert whole == naive_search(adjacent, limit)
