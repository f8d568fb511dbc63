import itertools
import lzma
import re
import tempfile

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reident import DataError, ParameterError
from reident.networks import as_network, naive_anonymise, read_graph, write_graph
from reident.networks.files import read_relations
from reident.networks.graph import as_directed_network
from reident.workbench import open_file


@pytest.fixture
def graph():
    made = nx.gnp_random_graph(15, 0.3, seed=4)
    made.add_node(15)
    return made


def test_round_trips_by_networkx_and_scipy_keep_names_order_and_edges(graph):
    named = nx.relabel_nodes(graph, {node: ("n", 20 - node) for node in graph})
    back = as_network(named).to_networkx()
    assert list(back) == list(named)
    assert nx.utils.edges_equal(back.edges(), named.edges())
    for matrix in (nx.to_scipy_sparse_array(graph), as_network(graph).to_scipy()):
        assert nx.utils.graphs_equal(as_network(matrix).to_networkx(), graph)


ODD_NAMES = [
    "#1", "Flat #7", "# 1", "% x", "07", "7", "-0", "1.0", "18446744073709551615", "NA", "null", "True", "u", "v",
    "source", "target", "a,b", "a;b", "a|b", "a\tb", 'say "x"', "'q'", "O'Brien", "\\t", "=1+1", "[1, 2]", "&amp;",
    "<b>", "Zoë", "*Edges", "DL n", "sep=;", "label", "Δ \u2003x",
]  # fmt: skip
ENDINGS = [
    "csv", "csv.gz", "csv.bz2", "gml", "gml.bz2", "net", "paj.gz", "net.bz2", "graphml", "graphml.bz2",
    "gexf.gz",
]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(ODD_NAMES) | st.text(min_size=1, max_size=6) | st.integers(-5, 2**64).map(str),
        min_size=1, max_size=8, unique=True,
    ),
    st.integers(0, 2**28),
    st.sampled_from(ENDINGS),
)  # fmt: skip
def test_graphs_with_odd_names_are_read_as_they_were_written(names, edges, ending):
    graph = nx.Graph()
    graph.add_nodes_from(names)
    pairs = list(itertools.combinations(names, 2))
    graph.add_edges_from(pair for i, pair in enumerate(pairs) if edges >> i & 1)
    with tempfile.TemporaryDirectory() as folder:
        try:
            path = write_graph(graph, f"{folder}/g.{ending}")
        except DataError:  # a name that the format cannot hold
            assert any(name != name.strip() or not name.isprintable() for name in names)
            return
        back = read_graph(path).to_networkx()
    assert nx.utils.graphs_equal(nx.relabel_nodes(back, {node: str(node) for node in back}), graph)


@pytest.mark.parametrize("name", ["a ", "", "a\0b"])
def test_names_that_a_format_cannot_hold_are_refused(tmp_path, name):
    with pytest.raises(DataError, match="names that csv can hold"):
        write_graph(nx.Graph([("a", name)]), tmp_path / "g.csv")
    with pytest.raises(DataError, match="differ as texts"):
        write_graph(nx.Graph([(7, "7")]), tmp_path / "g.gml")


ROWS = [(a, b) for a, b in nx.gnm_random_graph(20, 45, seed=5).edges]
FIRST_NAMES = [f"{letter}{vowel}na" for letter in "BDFGHJKLMN" for vowel in "ai"]


def written(path, rows, separator=",", above=""):
    lines = [separator.join(map(str, row)) for row in rows]
    path.write_text(above + "\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("separator", "above", "width"),
    [
        ("\t", "", 3),
        ("  ", "", 4),
        ("\t", "% asym positive\n% 45 20 20\n", 4),
        ("\t", "# Nodes: 20 Edges: 45\n# FromNodeId\tToNodeId\n", 2),
        (" ", "# Directed graph: a, b, c\n#\n", 3),
        (",", "# a comment, with a comma\n#source,target\n", 2),
        (",", "# a comment, with a comma\nsource,target\n", 2),
        (";", "# source;target;times\n", 3),
        (" ", "who whom\n", 2),
    ],
)
def test_lists_of_public_collections(tmp_path, separator, above, width):
    rows = [(a, b, 1 + i % 3, 1082040961 + i)[:width] for i, (a, b) in enumerate(ROWS)]
    graph = read_graph(written(tmp_path / "g.txt", rows, separator, above)).to_networkx()
    assert nx.utils.graphs_equal(graph, nx.Graph(ROWS))


@pytest.mark.parametrize("extra", [(), ("2016-10-18",), (5,)])
@pytest.mark.parametrize("nodes", [FIRST_NAMES, [f"Flat #{i}" for i in range(20)], range(20)])
@pytest.mark.parametrize("separator", [",", ";"])
def test_a_record_is_never_taken_for_names(tmp_path, separator, nodes, extra):
    rows = [(nodes[a], nodes[b], *extra) for a, b in ROWS]
    path = written(tmp_path / "g.csv", rows, separator)
    with pytest.raises(DataError, match=r"names` \(--names\)"):
        read_graph(path)
    with pytest.raises(DataError, match=r"names` \(--names\)"):
        read_relations(path)
    names = ["one", "other", "since"][: len(rows[0])]
    graph = read_graph(path, names=names).to_networkx()
    assert nx.utils.graphs_equal(graph, nx.Graph([row[:2] for row in rows]))
    with_names = written(tmp_path / "named.csv", [names, *rows], separator)
    assert nx.utils.graphs_equal(read_graph(with_names, names=names).to_networkx(), graph)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Von;Nach;Stärke\nJürgen;Zoë;0,5\nZoë;Ann;1\n", "cp1252"),
        ("source\ttarget\nJürgen\tZoë\nZoë\tAnn\n", "utf-8-sig"),
        ("# a comment\nwho,whom\nJürgen,Zoë\nZoë,Ann\n", "utf-8"),
        ("u,v\n" + "\n".join(f"x{i},y{i}" for i in range(20_000)) + "\nJürgen,Zoë\nZoë,Ann\n", "latin-1"),
    ],
)
def test_edge_lists_as_offices_write_them(tmp_path, text, encoding):
    (tmp_path / "g.csv").write_text(text, encoding)
    graph = read_graph(tmp_path / "g.csv")
    names = list(graph.nodes)
    edges = {frozenset((names[a], names[b])) for a, b in np.column_stack(graph.edges()).tolist()}
    assert {frozenset(("Jürgen", "Zoë")), frozenset(("Zoë", "Ann"))} <= edges


def test_directed_rows():
    network = as_directed_network(nx.DiGraph([("a", "b"), ("c", "b"), ("b", "c")]))
    assert network.n_edges == 3
    assert network.in_indptr.tolist() == [0, 0, 2, 3]
    assert network.undirected().n_edges == 2
    with pytest.raises(DataError, match="self-loops"):
        as_directed_network(nx.DiGraph([(1, 1)]))


def test_naive_anonymisation_is_an_isomorphism(graph):
    release = naive_anonymise(graph, rng=1)
    assert nx.utils.graphs_equal(nx.relabel_nodes(graph, release.mapping), release.network.to_networkx())
    assert release.mapping == naive_anonymise(graph, rng=1).mapping


@pytest.mark.parametrize(
    ("text", "edges", "told"),
    [
        (
            "u,v\n1,2\n2,1\n2,2\n2,3\n",
            {(1, 2), (2, 3)},
            "1 relation.s. of a person with itself and 1 relation.s. that repeat another",
        ),
        ("u,v\na,b\n,b\nb,c\n", {("a", "b"), ("b", "c")}, "1 row.s. without 'u' left out"),
    ],
)
def test_lists_as_they_are_kept_are_simplified_with_a_receipt(tmp_path, text, edges, told):
    (tmp_path / "list.csv").write_text(text)
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


@pytest.mark.parametrize("version", ["1.1draft", "1.2draft", "1.3"])
def test_nodes_of_other_programs_go_by_their_names(tmp_path, version):
    """As Gephi and igraph write them: numbered nodes with a name or label."""
    numbered = nx.Graph([("n0", "n1"), ("n1", "n2")])
    for node, name in zip(numbered, ["Ann", "Bob", "Zoë"], strict=True):
        numbered.nodes[node]["label"] = name
    nx.write_gexf(numbered, tmp_path / "g.gexf", version=version)
    nx.write_graphml_xml(nx.relabel_nodes(numbered, {}), tmp_path / "g.graphml")
    for name in ("g.gexf", "g.graphml"):
        assert set(read_graph(tmp_path / name).to_networkx().edges) == {("Ann", "Bob"), ("Bob", "Zoë")}
    for node in numbered:
        numbered.nodes[node]["label"] = "person"  # no name of anybody
    nx.write_graphml_xml(numbered, tmp_path / "g.graphml")
    assert list(read_graph(tmp_path / "g.graphml").nodes) == ["n0", "n1", "n2"]


@pytest.mark.parametrize("ending", ["csv", "xlsx", "tsv"])
def test_a_matrix_is_the_list_of_its_edges(tmp_path, ending):
    graph = nx.relabel_nodes(nx.gnp_random_graph(20, 0.2, seed=3), {i: f"P{i:02d}" for i in range(20)})
    graph.add_node("alone")
    table = pd.DataFrame(nx.to_numpy_array(graph).astype(int), index=list(graph), columns=list(graph))
    path = tmp_path / f"g.{ending}"
    table.to_excel(path) if ending == "xlsx" else table.to_csv(path, sep={"csv": ";", "tsv": "\t"}[ending])
    assert nx.utils.graphs_equal(read_graph(path).to_networkx(), graph)
    assert any("given as --network" in note for note in open_file(path).notes)
    edges = pd.DataFrame(list(graph.edges), columns=["von", "nach"]).assign(kontakte=3)
    edges.to_excel(path) if ending == "xlsx" else edges.to_csv(path, sep={"csv": ";", "tsv": "\t"}[ending], index=False)
    assert read_graph(path).n_edges == graph.number_of_edges()


def test_ends_and_names_are_for_tables(tmp_path):
    path = write_graph(nx.path_graph(3), tmp_path / "g.graphml")
    for options in ({"columns": ["u", "v"]}, {"names": ["u", "v"]}):
        for read in (read_graph, read_relations):
            with pytest.raises(ParameterError, match=r"must be left out for 'g\.graphml'"):
                read(path, **options)


@pytest.mark.parametrize("names", [list(range(20)), FIRST_NAMES])
def test_edge_lists_of_networkx(tmp_path, names):
    graph = nx.Graph((names[a], names[b], {"weight": i, "kind": "x y"}) for i, (a, b) in enumerate(ROWS))
    nx.write_edgelist(graph, tmp_path / "g.edgelist")
    found = read_graph(tmp_path / "g.edgelist", names=() if names[0] == 0 else ["u", "v"])
    assert nx.utils.graphs_equal(found.to_networkx(), nx.Graph(graph.edges()))


@pytest.mark.parametrize("kind", ["coordinate", "array"])
def test_matrix_market_is_simplified_and_numbered_as_it_is_written(tmp_path, kind):
    path = tmp_path / "g.mtx"
    entries = "3 3 4\n1 2 5\n2 1 5\n2 3 1\n3 3 1\n" if kind == "coordinate" else "3 3\n0\n5\n0\n5\n0\n0\n0\n1\n1\n"
    path.write_text(f"%%MatrixMarket matrix {kind} real general\n{entries}")
    with pytest.raises(DataError, match="must be undirected"):
        read_graph(path)
    with pytest.warns(UserWarning, match="with itself"):
        assert set(read_graph(path, simplify=True).to_networkx().edges) == {(1, 2), (2, 3)}


@pytest.mark.parametrize("ending", ["graphml", "gexf"])
@pytest.mark.parametrize("change", ["mixed", "nested", "other version", "xz"])
def test_xml_of_other_programs(tmp_path, ending, change):
    graph = nx.path_graph(["a", "b", "c"])
    path = write_graph(graph, tmp_path / f"g.{ending}")
    text = path.read_text(encoding="utf-8")
    if change == "mixed":
        own = 'directed="true"' if ending == "graphml" else 'type="directed"'
        text = text.replace('source="a"', f'source="a" {own}')
    elif change == "nested":
        text = text.replace("</graph>", f"{text[text.index('<graph ') : text.index('</graph>')]}</graph></graph>")
    elif change == "other version":
        text = re.sub('xmlns="[^"]*"', 'xmlns="http://elsewhere.org/9"', text)
    else:
        path = tmp_path / f"g.{ending}.xz"
    path.write_bytes(lzma.compress(text.encode()) if change == "xz" else text.encode())
    if change in ("mixed", "nested"):
        with pytest.raises(DataError, match={"mixed": "undirected", "nested": "one graph, got 2"}[change]):
            read_graph(path)
    if change != "nested":
        assert nx.utils.graphs_equal(read_graph(path, simplify=True).to_networkx(), graph)


REFUSED = {
    "csv": {
        "a,b,c\n1,2,3\n": "must have two columns for an edge's ends",
        "1,2\n3,4\n": "without a first line with names, give `names`",
        "u,v\n1,1\n": "self-loops, got one at 1",
        "u,v\n1,2\n2,1\n": "multiple edges",
        "u,v\n,1\n": "empty 'u' in row 2",
        "": "could not be read as an edge list",
        "x;a;b\na;0;ja\nb;ja;0\n": "cells must be numbers",
        "x;a;b\na;1;1\nb;1;0\n": "self-loops",
        "x;a;b;c\na;0;1;0\nb;1;0;1\nc;0;0;0\n": "multiple edges",
    },
    "net": {
        "*Arcs\n1 2\n": r"'\*Vertices n' with the number of nodes",
        "*Vertices 2\n*Edges\n1 3\n": r"'\*Vertices n' with the number of nodes",
        "*Vertices 2\n1 a\n2 a\n*Edges\n1 2\n": "own label",
        "*Network a\n*Vertices 2\n*Edges\n1 2\n*Network b\n*Vertices 2\n*Edges\n1 2\n": "one network, got a second",
    },
    "txt": {
        "# x\n0 1 2 3\n1 4 5\n2 6\n": "got 2 to 4: of a list of neighbours",
        "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n2 1\n": r"end in \.mtx",
        "*Vertices 2\n*Edges\n1 2\n": r"end in \.net",
        'Creator "x"\ngraph\n[\n node [ id 1 ]\n]\n': r"end in \.gml",
        "<?xml version='1.0'?>\n<graphml/>": r"\.graphml or \.gexf",
        "digraph G {\n a -> b;\n}\n": "DOT of Graphviz",
        '{"nodes": [{"id": 1}], "links": []}': "JSON, which is not read",
        "dl n=4 format=edgelist1\ndata:\n1 2\n": "DL of UCINET",
        "Ann,Bob\n": "relations below the line of names",
    },
    "gml": {"graph [ node [": "could not be read as gml"},
    "docx": {"": "supported extensions"},
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in REFUSED.items() for text in texts])
def test_what_is_no_undirected_graph_is_refused(tmp_path, kind, text):
    (tmp_path / f"g.{kind}").write_text(text)
    with pytest.raises((DataError, ParameterError), match=REFUSED[kind][text]):
        read_graph(tmp_path / f"g.{kind}", simplify=kind == "txt")


@pytest.mark.parametrize(
    ("name", "text", "edges"),
    [
        ("g.net", "*Vertices 3\n*Edges\n1 2\n2 3\n", {(1, 2), (2, 3)}),
        ("g.net", '% by hand\n*Vertices 3\n1 "Ann Lee"\n3 O\n*Edges\n1 2\n2 3\n', {("Ann Lee", "2"), ("2", "O")}),
        ("g.net", "*Vertices 3\n*Edgeslist\n1 2 3\n*Edges\n2 3 1\n", {(1, 2), (1, 3), (2, 3)}),
        ("g.net", "*Vertices 3\n1 O'B\n2 b\n3 D\\x\n*Matrix\n0 1 0\n1 0 2\n0 2 0\n", {("O'B", "b"), ("b", "D\\x")}),
        ("g.net", "*Vertices 2\n1 a\n2 b\n*Edges\n1 2\n*Partition p\n*Vertices 2\n1\n1\n", {("a", "b")}),
        # One triangle of a matrix is a graph; where both are given they must agree.
        ("g.csv", "x;a;b\na;0;1\nb;0;0\n", {("a", "b")}),
        ("g.csv", "x;a;b\na;0;1\nb;;0\n", {("a", "b")}),
    ],
)
def test_pajek_files_without_labels_and_triangles_of_a_matrix(tmp_path, name, text, edges):
    (tmp_path / name).write_text(text)
    assert set(read_graph(tmp_path / name).to_networkx().edges) == edges
