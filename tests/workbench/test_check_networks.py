import numpy as np
import pandas as pd
import pytest

import reident as rd
from check_cases import keyed
from reident.base import ParameterError
from reident.networks.files import read_relations, unread_attributes


def test_a_network_is_judged_along_the_pairs_of_its_nodes(tmp_path):
    import networkx as nx

    graph = nx.gnm_random_graph(60, 150, seed=1)
    graph = nx.relabel_nodes(graph, {i: 7_312_345 + i for i in graph})
    dataset = rd.Dataset(graph)
    release = rd.protect(dataset, rd.Step("naive"), rng=0)
    folder = release.save(tmp_path / "net")
    quick = {"attacks": ["degree", "neighbourhood"]}
    assert rd.check(folder, dataset, **quick).share_above_limit > 0.5
    other = nx.gnm_random_graph(60, 150, seed=9)
    pairs = pd.DataFrame({"original_node": list(graph), "released_node": np.random.default_rng(0).permutation(60)})
    strange = rd.check(other, dataset, pairs, attacks=["degree"])
    assert strange.share_above_limit < 0.3
    with pytest.raises(rd.DataError, match="`pairs` must pair the nodes"):
        rd.check(nx.convert_node_labels_to_integers(graph), dataset, pairs)
    assert rd.check(other, dataset).exit_code == 4
    for option in ({"called": {"a": "b"}}, {"derived": ["a"]}, {"new": ["a"]}):
        with pytest.raises(ParameterError, match=next(iter(option))):
            rd.check(other, dataset, pairs, **option)
    same = rd.check(graph, dataset, "same order", **quick)
    assert any(finding.subject == "nodes" for finding in same.findings)


def test_names_or_an_order_of_nodes_that_follow_the_originals_are_refused():
    import networkx as nx

    graph = nx.relabel_nodes(nx.gnm_random_graph(200, 300, seed=1), {i: f"n{i:03d}" for i in range(200)})
    other, at_random = nx.gnm_random_graph(200, 300, seed=2), keyed(range(200))
    for names, order, expected in (
        ([f"person {i:03d}" for i in range(200)], range(200), "follow"),
        (at_random, range(200), "order"),
        (at_random, np.argsort(at_random), ""),
    ):
        released = nx.Graph()
        released.add_nodes_from(names[i] for i in order)
        released.add_edges_from((names[i], names[j]) for i, j in other.edges)
        pairs = pd.DataFrame({"original_node": list(graph), "released_node": names})
        verdict = rd.check(released, rd.Dataset(graph), pairs, attacks=["degree"])
        problems = [finding.problem for finding in verdict.findings if finding.subject == "nodes"]
        assert (expected in problems[0]) if expected else not problems


#: What the rows, a column or the names of a released list carry, and the subject of the finding.
CARRIED = {
    "nothing": [], "numbers": [], "sorted by themselves": [], "codes": ["w"], "degrees": ["w"], "names": ["w"],
    "order": ["rows"], "degrees in names": ["nodes"],
}  # fmt: skip


@pytest.mark.parametrize("carried", CARRIED)
def test_a_list_of_relations_that_carries_nodes_of_the_original_is_refused(carried, tmp_path):
    """The released network is unrelated, and all have the same degree there."""
    import networkx as nx

    graph, rng = nx.watts_strogatz_graph(300, 4, 0.3, seed=2), np.random.default_rng(4)
    names = np.array([f"p{i:03d}" for i in rng.permutation(300)])
    degrees = np.array([graph.degree[i] for i in range(300)])
    ends = rng.permuted(np.array(nx.random_regular_graph(4, 300, seed=3).edges), axis=1)
    ends = ends[np.argsort(ends[:, 0])] if carried == "order" else rng.permutation(ends)
    numbers = rng.permutation(300) + 1000 * degrees * (carried == "degrees in names")
    columns = {"numbers": rng.integers(0, 5, 600), "degrees": degrees[ends[:, 0]], "names": names[ends[:, 0]]}
    columns["codes"] = rng.permutation(600)
    shown = {"w": columns[carried]} if carried in columns else {}
    if carried == "sorted by themselves":  # the remedy for an order
        ends = ends[np.lexsort(numbers[ends].T[::-1])]
    original, release = tmp_path / "original.csv", tmp_path / "release.csv"
    pd.DataFrame(names[np.array(graph.edges)], columns=["u", "v"]).to_csv(original, index=False)
    pd.DataFrame(numbers[ends], columns=["u", "v"]).assign(**shown).to_csv(release, index=False)
    pairs = pd.DataFrame({"original_node": names, "released_node": numbers})
    verdict = rd.check(release, read_relations(original), pairs, new=list(shown), attacks=["degree"])
    assert [finding.subject for finding in verdict.findings] == CARRIED[carried], verdict.sentence
    assert verdict.declared == dict.fromkeys(shown, "new")
    assert any(note.startswith("w: declared new") for note in verdict.notes) == (carried == "numbers")
    if carried == "codes":
        assert rd.check(release, read_relations(original), pairs, new={"w": "random"}, attacks=["degree"]).passed


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.net", '*Vertices 3\n1 "a"\n2 "b"\n3 "c"\n*Edges\n1 2 {w}\n2 3 1\n'),
     ("a.net", '*Vertices 3\n1 "a" {w} 0\n2 "b" 1 0\n3 "c" 1 0\n*Edges\n1 2\n2 3\n'),
     ("a.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 {w}\n3 2 1\n")],
)  # fmt: skip
def test_weights_and_positions_in_a_file_of_a_graph_are_attributes(name, text, tmp_path):
    for weight in (1, 7):
        (tmp_path / name).write_text(text.format(w=weight))
        assert bool(unread_attributes(tmp_path / name)) == (weight == 7)


@pytest.mark.parametrize("suffix", [".graphml", ".gexf", ".gml"])
def test_attributes_in_a_file_of_a_graph_are_no_part_of_the_verdict_and_refused(suffix, tmp_path):
    import networkx as nx

    graph = nx.gnm_random_graph(40, 80, seed=1)
    plain, told = tmp_path / f"plain{suffix}", tmp_path / f"told{suffix}"
    rd.networks.write_graph(graph, plain)
    nx.set_node_attributes(graph, {i: f"person {i}" for i in graph}, "full")
    nx.set_edge_attributes(graph, 1.0, "weight")  # the same everywhere says nothing
    {".graphml": nx.write_graphml, ".gexf": nx.write_gexf, ".gml": nx.write_gml}[suffix](graph, told)
    for path, subjects in ((plain, []), (told, ["full"])):
        verdict = rd.check(path, graph, "same order", attacks=["degree"])
        assert [each.subject for each in verdict.findings if each.subject not in ("nodes", "persons")] == subjects
