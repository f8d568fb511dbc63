"""A network from an office's file to a checked release: what is advised passes, and what a check refuses is not."""

import subprocess
import sys

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import reident as rd
from reident.workbench.microdata import microdata, persons_of
from reident.workbench.network_search import MOST_NODES, search_network
from reident.workbench.planning import plan

pytestmark = pytest.mark.whole


def judged(graph, methods, **options):
    made = plan(microdata(graph, quasi=(), kind="network"), methods, limit=0.25)
    return search_network(made, **{"limit": 0.25, "tolerate": 0.0, "draws": 2, "seed": 1, **options})


def test_where_everybody_looks_alike_other_names_are_enough():
    found = judged(nx.complete_graph(12), ["naive", {"name": "rewire_edges", "share": [0.2]}])
    assert found.passed
    assert found.chain == [{"method": "naive", "parameters": {}}]
    assert found.candidates["kept"].tolist() == [1.0]


def test_a_network_in_which_friends_of_friends_tell_is_refused_whatever_its_degrees():
    """A map by degree and neighbourhood lets moved edges pass; other attacks of the judge find some."""
    graph = nx.barabasi_albert_graph(120, 3, seed=2)
    found = judged(graph, [{"name": "rewire_edges", "share": [0.2]}, {"name": "degree_anonymity", "k": [5]}])
    assert not found.passed
    assert found.candidates["kept"].is_monotonic_decreasing
    assert (found.candidates["share_above_limit"] > 0).all()
    assert found.after is None


def test_large_networks_are_left_to_the_check():
    assert judged(nx.cycle_graph(MOST_NODES + 1), ["naive"]) is None


def test_a_check_takes_texts_for_names_and_numbers_for_none():
    named = nx.relabel_nodes(nx.cycle_graph(30), lambda node: f"person {node}")
    kept = rd.check(named, named)
    assert not kept.passed
    assert [one["sentence"] for one in kept.findings] == ["30 nodes are released under their names"]
    graph = nx.barabasi_albert_graph(40, 2, seed=1)
    order = np.random.default_rng(0).permutation(40)
    moved = nx.relabel_nodes(graph, dict(enumerate(order.tolist())))
    told = rd.check(moved, graph, attacks=["degree", "neighbourhood"])
    assert any("nobody can tell who is who" in note for note in told.notes)
    # Equal degree: as sure as the class is small.
    degrees = np.array([degree for _, degree in graph.degree()])
    alone = 1 / np.array([(degrees == one).sum() for one in degrees])
    assert told.worst >= alone.max() - 1e-9


def test_an_edge_list_of_an_office_goes_from_file_to_checked_release(tmp_path):
    graph = nx.barabasi_albert_graph(30, 2, seed=1)
    rows = [f"Schüler{a:03d};Schüler{b:03d};0,{a % 9}" for a, b in graph.edges]
    (tmp_path / "freunde.csv").write_text("\n".join(["Von;Nach;Stärke", *rows]), "cp1252")

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "reident.cli", *arguments], capture_output=True, text=True, cwd=tmp_path, check=False
        )
        return done.returncode, done.stdout + done.stderr

    code, said = run("assess", "--network", "freunde.csv", "--profile", "smoke", "-q")
    assert (code, "an intruder may know: relations" in said) == (0, True), said
    assert (tmp_path / "report" / "report.html").is_file()
    code, said = run("protect", "freunde.csv", "--method", "degree_anonymity", "--set", "k=5", "--out", "release")
    assert (code, "30 nodes" in said) == (0, True), said
    assert "Sch" not in (tmp_path / "release" / "release.csv").read_text()
    code, said = run("check", "release", "--against", "freunde.csv", "--network")
    assert code in (0, 3), said
    assert "degree " in said
    assert run("check", "freunde.csv", "--against", "freunde.csv", "--network")[0] == 3
    code, said = run("check", "release", "--against", "freunde.csv", "--network", "--ends", "Von,Wer")
    assert (code, "'Wer'" in said and "Traceback" not in said) == (2, True), said
    assert persons_of(rd.read_graph(tmp_path / "freunde.csv")).index[0] == "Schüler000"


def test_an_attack_is_not_led_through_ties_by_the_true_order():
    """In a complete network nobody is told from anybody, whoever knows who is who and in whatever order."""
    graph = nx.complete_graph(12)
    names = pd.DataFrame(index=list(graph))
    attacks = ["passive", "seedless_propagation", "spectral_propagation", "degree"]
    told = rd.attack_panel(graph, names, network=graph, attacks=attacks)
    for found in (told, rd.check(graph, graph, attacks=attacks).attacks):
        run = found[found["reason"] == ""]
        assert len(run) >= 3
        assert (run["share_above_limit"] == 0).all()
        assert (run["worst"] <= 0.25).all()
