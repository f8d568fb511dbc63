import json
import re
import shlex

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import reident as rd
from commands import call
from judged import attacked, records
from reident.workbench.candidates import Evaluator
from reident.workbench.making import Step
from reident.workbench.microdata import persons_of
from reident.workbench.ru_map import tried_releases
from reident.workbench.search import search_release


def run(folder, *arguments):
    done = call(folder, *arguments)
    return done.returncode, done.stdout + done.stderr


def judged(graph, methods, **options):
    data = records(graph, quasi=(), kind="network")
    tried = tried_releases(data, methods, len(data.table))[0]
    steps = [Step("naive"), *(step for step in tried if step.entry.name != "naive")]
    return search_release(Evaluator(rd.Dataset(graph), **{"limit": 0.25, "draws": 2, "seed": 1, **options}), [steps])


def test_where_everybody_looks_alike_other_names_are_enough():
    found = judged(nx.complete_graph(12), ["naive", {"name": "rewire_edges", "share": [0.2]}])
    assert found.passed
    assert found.chain == [{"method": "naive", "parameters": {}}]
    assert judged(nx.complete_graph(12), [{"name": "rewire_edges", "share": [0.2]}]).chain == found.chain
    assert found.candidates["kept"].tolist() == [1.0]


def test_a_network_in_which_friends_of_friends_tell_is_refused_whatever_its_degrees():
    """A map by degree and neighbourhood lets moved edges pass; other attacks of the judge find some."""
    graph = nx.barabasi_albert_graph(120, 3, seed=2)
    found = judged(graph, [{"name": "rewire_edges", "share": [0.2]}, {"name": "degree_anonymity", "k": [5]}])
    assert not found.passed
    assert found.candidates["kept"].is_monotonic_decreasing
    assert (found.candidates["share_above_limit"] > 0).all()
    least = found.candidates["share_above_limit"].astype(float).min()  # attacks end where one refuses: a lower bound
    assert f"each of the {len(found.judged)} refused puts at least {least:.1%} above" in found.sentence
    assert found.after is None


def test_what_is_advised_of_a_network_passes_its_printed_check(tmp_path):
    """Everybody knows everybody: other names are enough, and the report names nodes by their names.

    Of 60 nodes chance never finds so many that a quarter could be found; of 20 it does in one draw of thirteen.
    """
    rows = [f"p{a:02d};p{b:02d}" for a, b in nx.complete_graph(60).edges]
    (tmp_path / "alle.csv").write_text("\n".join(["wer;wen", *rows]), "utf-8")
    code, said = run(tmp_path, "assess", "--network", "alle.csv", "--profile", "smoke", "-q")
    assert code == 0, said
    assert "naive: 0 of 60 persons above a risk of 25%, against 0 in the data as they are" in said
    commands = re.findall("reident ((?:protect|check) .*)", said)
    assert [run(tmp_path, *shlex.split(command))[0] for command in commands] == [0, 0]
    page = (tmp_path / "report" / "report.html").read_text()
    assert "By name of the node" in page
    assert "--recipe" not in page  # none was written
    assert "<td>p00</td>" in page


def test_an_edge_list_of_an_office_goes_from_file_to_checked_release(tmp_path):
    graph = nx.barabasi_albert_graph(30, 2, seed=1)
    rows = [f"Schüler{a:03d};Schüler{b:03d};0,{a % 9}" for a, b in graph.edges]
    (tmp_path / "freunde.csv").write_text("\n".join(["Von;Nach;Stärke", *rows]), "cp1252")
    code, said = run(tmp_path, "assess", "--network", "freunde.csv", "--profile", "smoke", "-q")
    assert (code, "an intruder may know: relations" in said) == (0, True), said
    assert (tmp_path / "report" / "report.html").is_file()
    code, said = run(tmp_path, "protect freunde.csv --method degree_anonymity --set k=5 --out release")
    assert (code, "30 nodes" in said) == (0, True), said
    assert "Sch" not in (tmp_path / "release" / "release.csv").read_text()
    code, said = run(tmp_path, "check", "release", "--against", "freunde.csv", "--network")
    assert code in (0, 3), said
    assert "degree " in said
    assert run(tmp_path, "check", "freunde.csv", "--against", "freunde.csv", "--network")[0] == 4
    told = said
    lines = (tmp_path / "release" / "release.csv").read_text().splitlines()
    separator = "," if "," in lines[0] else ";"
    (tmp_path / "foreign.csv").write_text("\n".join([separator.join(["rot", "blau"]), *lines[1:]]), "utf-8")
    foreign = "check foreign.csv --pairs release.pairs.csv --against freunde.csv --network --ends Von,Nach"
    code, said = run(tmp_path, foreign, "--release-ends", "rot,blau")
    assert (code in (0, 3), said) == (True, told)
    code, said = run(tmp_path, "check", "release", "--against", "freunde.csv", "--network", "--ends", "Von,Wer")
    assert (code, "'Wer'" in said and "Traceback" not in said) == (2, True), said
    assert persons_of(rd.networks.read_graph(tmp_path / "freunde.csv")).index[0] == "Schüler000"


def test_an_attack_is_not_led_through_ties_by_the_true_order():
    """In a complete network nobody is told from anybody, whoever knows who is who and in whatever order."""
    graph = nx.complete_graph(12)
    names = pd.DataFrame(index=list(graph))
    attacks = ["passive", "seedless_propagation", "spectral_propagation", "degree"]
    told = attacked(graph, names, network=graph, attacks=attacks)
    for found in (told, rd.check(graph, graph, "same order", attacks=attacks).attacks):
        run = found[found["reason"] == ""]
        assert len(run) >= 3
        assert (run["share_above_limit"] == 0).all()
        assert (run["worst"] <= 0.25).all()


def test_what_a_list_says_of_relations_beside_with_whom_is_joined(tmp_path):
    """In a complete network everybody looks alike; directions, numbers and kinds of relations tell them apart."""
    rng, n = np.random.default_rng(4), 24
    first, second = np.triu_indices(n, 1)
    turned = rng.random(len(first)) < 0.5
    ends = np.where(turned, [second, first], [first, second])
    table = pd.DataFrame({"calls": rng.poisson(9, len(first)), "kind": rng.choice(["home", "work"], len(first))})
    people = np.array([f"P{place}" for place in range(n)])
    table.assign(von=people[ends[0]], nach=people[ends[1]]).to_csv(tmp_path / "known.csv", index=False)
    number = rng.permutation(n) + 100
    line = ["check", "release.csv", "--pairs", "pairs.csv", "--against", "known.csv", "--network", "--out", "out"]
    pd.DataFrame({"original_node": people, "released_node": number}).to_csv(tmp_path / "pairs.csv", index=False)

    def judged(columns, sides):
        sides = number[np.stack(sides)]
        release = table[columns].assign(von=sides[0], nach=sides[1])
        release.sample(frac=1, random_state=1).to_csv(tmp_path / "release.csv", index=False)
        assert call(tmp_path, *line).returncode in (0, 3)
        return json.loads((tmp_path / "out" / "verdict.json").read_text("utf-8"))["share_above_limit"]

    def alone(*marks):
        sizes = pd.DataFrame(marks).T.value_counts()
        return sizes[sizes < 4].sum() / n

    rising = number[first] < number[second]
    sorted_ends = [np.where(rising, first, second), np.where(rising, second, first)]
    assert judged([], sorted_ends) == 0
    calls = ["; ".join(sorted(table["calls"][(first == p) | (second == p)].astype(str))) for p in range(n)]
    assert judged([], ends) == pytest.approx(alone(np.bincount(ends[0], minlength=n)), abs=1e-6)
    assert judged(["calls"], sorted_ends) == alone(calls) == 1
    assert judged(["calls", "kind"], ends) == 1
