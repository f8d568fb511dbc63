from collections import Counter
from dataclasses import replace
from functools import cache

import networkx as nx
import numpy as np
import pytest

import reident as rd
from judged import attacked, records
from reident.methods import entries
from reident.methods.forms import read_public
from reident.networks.graph import as_network
from reident.networks.perturbation import rewire_edges, swap_edges
from reident.workbench.ru_map import plan
from reident.workbench.simulate import repeat_trial
from samples import data_of, people

GRAPH = nx.barabasi_albert_graph(70, 3, seed=1)


@cache
def run(made):
    chosen = made.settings[1]
    return repeat_trial(made, 1, chosen["method"], chosen["options"])[0]


def _data(kind):
    return records(GRAPH, quasi=()) if kind == "network" else data_of(kind, 240)


#: Where an attack says something: a method of its kind of data, and what it is attacked with.
WHERE = {
    "places": ("disc", {"radius_m": 500.0}),
    "table": ("mondrian", {"k": 3, "ell": 2}),
    "network": ("swap_edges", {"share": 0.05}),
}
NUMBERS = {f"{model}_linkage": {"n_training": 40} for model in ("weighted_mean", "choquet", "bilinear")}
#: Attacks that are about a release of their own.
OWN = {
    "nearest_in_class": lambda: (
        records(people(240), quasi=["sex", "pay"], epsilon_quasi=["pay"], kind="table"),
        ("k_epsilon", {"k": 5}),
    ),
    "reference_sets": lambda: (
        _data("places"),
        ("lipschitz_embedding", {"n_reference_sets": 15, "reference_set_size": 3}),
    ),
    "population": lambda: (
        replace(_data("places"), public=read_public({"towns": people(40).assign(population=range(40, 80))})),
        ("distance_noise", {"sigma_km": 1.0}),
    ),
    "similarity": lambda: (
        records(people(240), quasi=["sex", "age"], sensitive="pay", kind="table"),
        ("mondrian", {"k": 3}),
    ),
}
SLOW = {
    "bilinear_linkage", "choquet_linkage", "population", "reference_sets", "weighted_mean_linkage",
    "registration", "quasi_clique", "probabilistic_linkage",
}  # fmt: skip


@pytest.mark.parametrize(
    "entry",
    [pytest.param(e, marks=[pytest.mark.slow] if e.name in SLOW else []) for e in entries("attack")],
    ids=lambda entry: entry.name,
)
def test_every_attack_runs_by_name(entry):
    data = _data(entry.data)
    method, options = ("rounding", {"base": 1.0}) if entry.name in NUMBERS else WHERE[entry.data]
    if entry.name == "register_join":  # a register is given to the data set
        persons = people(60).assign(nr=range(60))
        found = attacked(persons, persons, id="nr", quasi=["sex", "age"], register=people(240), attacks=[entry.name])
        assert found["n"].tolist() == [60]
        return
    if entry.name == "household_join":  # who lives together is told to `check`
        persons = people(60).assign(home=[f"h{i // 2}" for i in range(60)])
        judged = rd.check(persons, persons, "same order", quasi=["sex", "age"], household="home", attacks=[entry.name])
        assert judged.attacks["n"].tolist() == [60]
        assert judged.attacks["risk"].iloc[0] > 0.5
        return
    if entry.name in OWN:
        data, (method, options) = OWN[entry.name]()
    sizes = {} if entry.data == "network" else {"n_known": 120, "n_released": 140, "overlap": 0.9}
    if entry.name in ("common_subgraph", "quasi_clique"):
        sizes = {"n_known": 12, "n_released": 30}
    spec = {"name": entry.name, **NUMBERS.get(entry.name, {})}
    made = plan(data, [{"name": method, **options}], [spec], [entries("metric", data.kind)[0].name], **sizes)
    report = run(made)
    assert entry.name in report.outcomes
    assert 0 <= report.frame["risk"].item() <= 1


def test_a_map_of_a_network():
    attacks = ["degree", "neighbourhood", "seedless_propagation", "edge_disclosure"]
    methods = ["naive", {"name": "swap_edges", "share": 0.9}, {"name": "degree_anonymity", "k": [2, 20]}]
    frame = rd.risk_utility(GRAPH, methods, attacks, ["edge_overlap"], repetitions=1, progress=False)
    risk = frame.set_index([frame["attack"].str.partition(",")[0], "method", "label"])["risk"]
    one = risk["number of relations known"]
    distinct = len(set(dict(GRAPH.degree).values())) / 70
    # Other names and exchanged ends leave degrees, and who knows them, as they were.
    for method, value in (("original", ""), ("naive", ""), ("swap_edges", "0.9")):
        assert one[(method, value)] == pytest.approx(distinct)
    assert one[("degree_anonymity", "20")] <= 1 / 20 + 1e-9
    near = risk["relations of the friends known"]
    assert near[("naive", "")] > 0.9 > 0.3 > near[("swap_edges", "0.9")]
    marks = Counter(tuple(sorted(GRAPH.degree[f] for f in GRAPH[node])) for node in GRAPH)
    assert near[("original", "")] == pytest.approx(len(marks) / 70)
    utility = frame.drop_duplicates(["method", "label"]).set_index(["method", "label"])["utility"]
    assert utility[("naive", "")] == 1
    assert utility[("swap_edges", "0.9")] < 0.3


@pytest.mark.parametrize("share", [0.0, 0.1, 0.7, 1.0])
def test_edges_are_moved_as_said(share):
    graph = nx.gnm_random_graph(60, 150, seed=2)
    swapped, moved = swap_edges(graph, share=share, rng=1), rewire_edges(graph, share=share, rng=1)
    original = as_network(graph)
    np.testing.assert_array_equal(swapped.degrees, original.degrees)
    for made, comp in ((swapped, 2 * (round(share * 150) // 2)), (moved, round(share * 150))):
        assert made.n_edges == 150
        assert comp * 0.85 - 2 <= 150 - original.n_shared(made) <= comp
    star, complete = as_network(nx.star_graph(9)), as_network(nx.complete_graph(9))
    assert swap_edges(star, share=1.0, rng=1).n_shared(star) == star.n_edges
    assert rewire_edges(complete, share=1.0, rng=1).n_shared(complete) == complete.n_edges
