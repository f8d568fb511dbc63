"""Networks in and out: networkx, sparse matrices, files, and what is refused."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from reident import DataError, ParameterError, as_network, naive_anonymise, read_graph, write_graph
from reident.data.datasets import load_graph
from reident.data.simulate import preferential_attachment, random_degrees
from reident.networks.graph import as_directed_network


def same(network, graph):
    ref = as_network(graph)
    return (network.indptr == ref.indptr).all() and (network.indices == ref.indices).all()


@pytest.fixture
def graph():
    made = nx.gnp_random_graph(15, 0.3, seed=4)
    made.add_node(15)
    return made


def test_networkx_round_trip_keeps_names_and_order(graph):
    named = nx.relabel_nodes(graph, {node: ("n", 20 - node) for node in graph})
    back = as_network(named).to_networkx()
    assert list(back) == list(named)
    assert nx.utils.edges_equal(back.edges(), named.edges())


def test_sparse_round_trip(graph):
    assert same(as_network(nx.to_scipy_sparse_array(graph)), graph)
    assert same(as_network(as_network(graph).to_scipy()), graph)


@pytest.mark.parametrize("name", ["g.csv", "g.csv.gz", "g.gml", "g.gml.gz", "g.net", "g.mtx"])
def test_file_round_trip(graph, tmp_path, name):
    back = read_graph(write_graph(graph, tmp_path / name))
    assert back.n_nodes == 16
    assert nx.is_isomorphic(back.to_networkx(), graph)
    assert sorted(back.degrees) == sorted(degree for _, degree in graph.degree())


def test_text_names_survive_csv(tmp_path):
    graph = nx.Graph([("a", "b b"), ("b b", "ü")])
    back = read_graph(write_graph(graph, tmp_path / "g.csv")).to_networkx()
    assert nx.utils.graphs_equal(back, graph)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Von;Nach;Stärke\nJürgen;Zoë;0,5\nZoë;Ann;1\n", "cp1252"),
        ("source\ttarget\nJürgen\tZoë\nZoë\tAnn\n", "utf-8-sig"),
        ("# a comment\nwho,whom\nJürgen,Zoë\nZoë,Ann\n", "utf-8"),
        ("u,v\n" + "\n".join(f"x{i},y{i}" for i in range(90_000)) + "\nJürgen,Zoë\nZoë,Ann\n", "latin-1"),
    ],
)
def test_edge_lists_as_offices_write_them(tmp_path, text, encoding):
    (tmp_path / "g.csv").write_text(text, encoding)
    graph = read_graph(tmp_path / "g.csv")
    names = list(graph.nodes)
    edges = {frozenset((names[a], names[b])) for a, b in np.column_stack(graph.edges()).tolist()}
    assert {frozenset(("Jürgen", "Zoë")), frozenset(("Zoë", "Ann"))} <= edges


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,c\n1,2,3\n", "must have two columns for an edge's ends"),
        ("1,2\n3,4\n", "a first line with names"),
        ("u,v\n1,1\n", "self-loops, got one at 1"),
        ("u,v\n1,2\n2,1\n", "multiple edges"),
        ("u,v\n,1\n", "empty 'u' in row 2"),
        ("", "could not be read as an edge list"),
    ],
)
def test_bad_csv_is_refused(tmp_path, text, message):
    (tmp_path / "g.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        read_graph(tmp_path / "g.csv")


def test_bad_files_are_refused(tmp_path):
    with pytest.raises(DataError, match="no graph file"):
        read_graph(tmp_path / "absent.csv")
    with pytest.raises(ParameterError, match="must end in one of"):
        read_graph(tmp_path / "g.xlsx")
    (tmp_path / "g.gml").write_text("graph [ node [")
    with pytest.raises(DataError, match="could not be read as gml"):
        read_graph(tmp_path / "g.gml")


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (sparse.csr_array(np.array([[0, 1], [0, 0]])), "got an edge from 0 to 1 but none back"),
        (sparse.csr_array(np.eye(2)), "self-loops"),
        (sparse.csr_array(np.ones((2, 3))), "square"),
        (sparse.coo_array(([1, 1, 1], ([0, 0, 1], [1, 1, 0])), shape=(2, 2)), "multiple edges"),
        ("not a path that is there.csv", "no graph file"),
        (3, "must be a networkx Graph"),
    ],
)
def test_bad_graphs_are_refused(bad, message):
    with pytest.raises(DataError, match=message):
        as_network(bad)


def test_directed_rows():
    network = as_directed_network(nx.DiGraph([("a", "b"), ("c", "b"), ("b", "c")]))
    assert network.n_edges == 3
    assert network.in_indptr.tolist() == [0, 0, 2, 3]
    assert network.undirected().n_edges == 2
    with pytest.raises(DataError, match="self-loops"):
        as_directed_network(nx.DiGraph([(1, 1)]))


def test_naive_anonymisation_is_an_isomorphism(graph):
    release = naive_anonymise(graph, rng=1)
    assert nx.utils.graphs_equal(nx.relabel_nodes(graph, release.mapping), release.graph)
    assert release.mapping == naive_anonymise(graph, rng=1).mapping


def test_generated_graphs():
    grown = preferential_attachment(50, 3, rng=1)
    assert grown.n_edges == 3 * 47
    assert as_network(grown.to_networkx()).n_edges == grown.n_edges
    degrees = np.full(400, 6.0)
    drawn = random_degrees(degrees, rng=1)
    assert abs(drawn.degrees.mean() - 6) < 6 * np.sqrt(2 * 6 / 400)
    with pytest.raises(ParameterError, match="`degrees` must be non-negative"):
        random_degrees([-1.0, 2.0])


def test_graph_that_is_not_here_says_where_to_put_it(monkeypatch, tmp_path):
    monkeypatch.setenv("REIDENT_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"REIDENT_DATA/graphs/facebook100_caltech36"):
        load_graph("caltech36")
    with pytest.raises(ParameterError, match="`name` must be one of"):
        load_graph("orkut")


def test_graph_from_the_users_own_file(tmp_path, graph):
    path = write_graph(graph, tmp_path / "mine.gml")
    assert nx.is_isomorphic(load_graph("powergrid", path=path), graph)


@pytest.mark.parametrize(
    ("text", "edges", "told"),
    [
        ("u,v\n1,2\n2,1\n2,2\n2,3\n", {(1, 2), (2, 3)}, "1 relation.s. of a person with itself and 1 repeated"),
        ("u,v\na,b\n,b\nb,c\n", {("a", "b"), ("b", "c")}, "1 row.s. without 'u' left out"),
        ("# FromNodeId ToNodeId\n0 1\n1 2\n2 0\n", {(0, 1), (1, 2), (0, 2)}, None),
        ("0\t1\n1\t2\n", {(0, 1), (1, 2)}, None),
        ("who whom\nx y\ny z\n", {("x", "y"), ("y", "z")}, None),
    ],
)
def test_lists_as_they_are_kept_are_simplified_with_a_receipt(tmp_path, text, edges, told):
    (tmp_path / "list.csv").write_text(text)
    if told is None:
        found = read_graph(tmp_path / "list.csv", simplify=True)
        assert set(found.to_networkx().edges) == edges
        return
    with pytest.raises(DataError):
        read_graph(tmp_path / "list.csv")
    with pytest.warns(UserWarning, match=told):
        found = read_graph(tmp_path / "list.csv", simplify=True)
    assert {tuple(sorted(edge)) for edge in found.to_networkx().edges} == edges


def test_ends_in_any_language_are_told_by_the_persons_on_both_sides(tmp_path):
    graph = nx.barabasi_albert_graph(40, 2, seed=1)
    rows = [f"2020-01-{1 + i % 28:02d},{a},{1 + i % 5},{b},call" for i, (a, b) in enumerate(graph.edges)]
    (tmp_path / "calls.csv").write_text("\n".join(["dzień,kto,razy,kogo,typ", *rows]), encoding="utf-8")
    assert nx.utils.graphs_equal(read_graph(tmp_path / "calls.csv").to_networkx(), nx.Graph(graph.edges))
    (tmp_path / "none.csv").write_text("x,y,z\n1,a,7\n2,b,8\n3,c,9\n4,d,10\n")
    with pytest.raises(DataError, match="--ends on the command line"):
        read_graph(tmp_path / "none.csv")


def test_directed_files_are_read_without_directions(tmp_path):
    graph = nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 2)])
    nx.write_gml(graph, tmp_path / "directed.gml")
    with pytest.raises(DataError, match="must be undirected"):
        read_graph(tmp_path / "directed.gml")
    with pytest.warns(UserWarning, match="1 relation.s. of a person with itself and 1 repeated"):
        assert read_graph(tmp_path / "directed.gml", simplify=True).n_edges == 2
