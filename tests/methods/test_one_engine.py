"""Networks and answers go through the engine of the maps; every attack by name says something about some release."""

import json
import pickle
from collections import Counter
from dataclasses import replace
from functools import cache

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import shapely

import reident as rd
from judged import attacked
from reident.base import DataError, ParameterError
from reident.methods import entries
from reident.methods.forms import release
from reident.methods.given import read_public
from reident.methods.reading import cells_of
from reident.networks.graph import as_network
from reident.networks.perturbation import rewire_edges, swap_edges
from reident.queries import counting
from reident.workbench.microdata import microdata
from reident.workbench.ru_map import plan
from reident.workbench.simulate import repeat_trial

GRAPH = nx.barabasi_albert_graph(70, 3, seed=1)


def _people(n=240):
    rng = np.random.default_rng(3)
    age = rng.integers(20, 60, n)
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "age": age,
            "pay": rng.normal(100, 20, n),
            "ill": np.where(age > 50, "gout", rng.choice(["flu", "cancer", "gout"], n)),
            "lat_deg": rng.uniform(50, 51, n),
            "lon_deg": rng.uniform(8, 9, n),
        }
    )


@cache
def run(made):
    """Run one trial of the first release of a plan, and return its report."""
    chosen = made.settings[1]
    return repeat_trial(
        1, data=made.data, intruder=json.dumps(vars(made.intruder)), method=chosen["method"],
        options=json.dumps(chosen["options"]), attacks=made.attacks, limit=0.25,
    )[0]  # fmt: skip


def _data(kind):
    if kind == "network":
        return microdata(GRAPH, quasi=())
    people = _people(240)
    quasi = {"places": ["sex"], "table": ["sex", "age", "pay"], "queries": ["sex", "age"]}[kind]
    sensitive = None if kind == "places" else "ill"
    return microdata(people, quasi=quasi, sensitive=sensitive, kind=kind, public={"area": shapely.box(7, 49, 10, 52)})


#: Where an attack says something: a method of its kind of data, and what it is attacked with.
WHERE = {
    "places": ("disc", {"radius_m": 500.0}),
    "table": ("mondrian", {"k": 3, "ell": 2}),
    "network": ("swap_edges", {"share": 0.05}),
    "queries": ("laplace_queries", {"epsilon": 50.0}),
}
NUMBERS = {f"{model}_linkage": {"n_training": 40} for model in ("weighted_mean", "choquet", "bilinear")}
#: Attacks that are about a release of their own.
OWN = {
    "nearest_in_class": lambda: (
        microdata(_people(), quasi=["sex", "pay"], epsilon_quasi=["pay"], kind="table"),
        ("k_epsilon", {"k": 5}),
    ),
    "reference_sets": lambda: (
        _data("places"),
        ("lipschitz_embedding", {"n_reference_sets": 15, "reference_set_size": 3}),
    ),
    "population": lambda: (
        replace(_data("places"), public=read_public({"towns": _people(40).assign(population=range(40, 80))})),
        ("distance_noise", {"sigma_km": 1.0}),
    ),
    "similarity": lambda: (
        microdata(_people(), quasi=["sex", "age"], sensitive="pay", kind="table"),
        ("mondrian", {"k": 3}),
    ),
}
SLOW = {
    "bilinear_linkage",
    "choquet_linkage",
    "population",
    "reference_sets",
    "weighted_mean_linkage",
    "registration",
    "quasi_clique",
    "probabilistic_linkage",
}


@pytest.mark.parametrize(
    "entry",
    [pytest.param(e, marks=[pytest.mark.slow] if e.name in SLOW else []) for e in entries("attack")],
    ids=lambda entry: entry.name,
)
def test_every_attack_runs_by_name(entry):
    data = _data(entry.data)
    method, options = ("rounding", {"base": 1.0}) if entry.name in NUMBERS else WHERE[entry.data]
    if entry.name == "register_join":  # a register is given to the data set
        people = _people(60).assign(nr=range(60))
        found = attacked(people, people, id="nr", quasi=["sex", "age"], register=_people(), attacks=[entry.name])
        assert found["n"].tolist() == [60]
        return
    if entry.name == "household_join":  # who lives together is told to `check`
        people = _people(60).assign(home=[f"h{i // 2}" for i in range(60)])
        judged = rd.check(people, people, "same order", quasi=["sex", "age"], household="home", attacks=[entry.name])
        assert judged.attacks["n"].tolist() == [60]
        assert judged.attacks["risk"].iloc[0] > 0.5
        return
    if entry.name in OWN:
        data, (method, options) = OWN[entry.name]()
    sizes = {} if entry.data == "network" else {"n_known": 120, "n_released": 140, "overlap": 0.9}
    if entry.name in ("common_subgraph", "quasi_clique"):
        sizes = {"n_known": 12, "n_released": 30}
    spec = {"name": entry.name, **NUMBERS.get(entry.name, {})}
    if entry.name == "minimality":  # everybody is known
        sizes = {"n_known": 240, "n_released": 240, "overlap": 1.0}
    made = plan(data, [{"name": method, **options}], [spec], [entries("metric", data.kind)[0].name], **sizes)
    report = run(made)
    assert entry.name in report.outcomes
    assert 0 <= report.frame["risk"].item() <= 1


def test_a_map_of_a_network():
    attacks = ["degree", "neighbourhood", "seedless_propagation", "edge_disclosure"]
    methods = ["naive", {"name": "swap_edges", "share": 0.9}, {"name": "degree_anonymity", "k": [2, 20]}]
    frame = rd.risk_utility(GRAPH, methods, attacks, ["edge_overlap"], repetitions=1, progress=False)
    risk = frame.set_index([frame["attack"].str.partition(",")[0], "method", "value"])["risk"]
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
    utility = frame.drop_duplicates(["method", "value"]).set_index(["method", "value"])["utility"]
    assert utility[("naive", "")] == 1
    assert utility[("swap_edges", "0.9")] < 0.3


def test_edge_disclosure_is_that_of_the_measure():
    data = microdata(GRAPH, quasi=())
    made = plan(data, ["naive"], ["edge_disclosure"], ["edge_overlap"])
    assert run(made).frame["risk"].item() == pytest.approx(rd.edge_disclosure(GRAPH, GRAPH).mean_posterior)


def test_a_part_of_a_network_can_be_known():
    frame = rd.risk_utility(
        GRAPH, ["naive"], ["degree"], ["density_kept"], n_known=30, overlap=0.5, n_released=40, repetitions=2,
        progress=False,
    )  # fmt: skip
    assert frame.loc[frame["method"] == "naive", "risk"].iloc[0] < 0.5
    assert plan(_data("network")).intruder.n_common == 70


def test_a_network_travels_to_the_workers():
    data = microdata(nx.relabel_nodes(GRAPH, {0: "a", 1: ("b", 2)}), quasi=())
    again = pickle.loads(pickle.dumps(data))
    assert len(again.table) == 70
    np.testing.assert_array_equal(again.network.indices, data.network.indices)
    other = nx.relabel_nodes(GRAPH, {0: 1, 1: 0})
    assert microdata(nx.gnm_random_graph(70, 201, seed=1), quasi=()).digest() != data.digest()
    assert other.number_of_edges() == data.network.n_edges


QUERIES = {"kind": "queries", "quasi": ["sex", "age"], "sensitive": "ill", "progress": False, "repetitions": 2}


def test_a_map_of_answers():
    methods = [
        {"name": "laplace_queries", "epsilon": [0.05, 50.0]}, {"name": "restricted_queries", "least": 12}, "mondrian",
    ]  # fmt: skip
    attacks = ["query_differences", "exact_join"]
    frame = rd.risk_utility(_people(), methods, attacks, ["answers_kept"], n_known=60, **QUERIES)
    one = frame[frame["attack"].str.startswith("difference")].set_index(["method", "value"])
    # What noise hides at a small epsilon it gives away at a large one; refusing small answers hides nothing.
    assert one.loc[("original", ""), "risk"] == 1
    assert one.loc[("laplace_queries", "50"), "risk"] > 0.95
    assert one.loc[("restricted_queries", "12"), "above"] > 0.9
    assert one.loc[("laplace_queries", "0.05"), "above"] < 0.1
    assert one.loc[("laplace_queries", "0.05"), "risk"] < one.loc[("laplace_queries", "0.05"), "baseline"] + 0.15
    assert one.loc[("laplace_queries", "50"), "utility"] > 0.95 > one.loc[("laplace_queries", "0.05"), "utility"]
    # Releases of records stand on the same map, under the attacks that are about them.
    assert "mondrian" not in one.index
    records = frame[frame["attack"].str.startswith("join")]
    assert set(records["method"]) == {"mondrian", "nothing released"}
    assert records["utility"].max() > 0.5


def test_the_judge_reads_answers_and_the_explorer_offers_networks():
    people = _people()
    data = microdata(people, quasi=["sex", "age"], sensitive="ill", kind="queries")
    given = {"quasi": ["sex", "age"], "sensitive": "ill", "attacks": ["query_differences", "exact_join"]}
    exact, noisy = (
        attacked(release(data, "laplace_queries", {"epsilon": epsilon}, rng=1), people, **given).set_index("name")
        for epsilon in (50.0, 0.05)
    )
    assert exact.loc["query_differences", "risk"] > 0.95
    assert exact.loc["query_differences", "verdict"] == "above the limit"
    assert noisy.loc["query_differences", "risk"] < 0.7
    assert exact.loc["exact_join", "verdict"] == "not run"
    pytest.importorskip("ipyevents")
    from reident.workbench.explorer import Example, Explorer

    explorer = Explorer({"g": Example(GRAPH, {"quasi": ()}, "network")})
    assert {"swap_edges", "degree_anonymity"} <= {name for _, name in explorer.methods.names.options}
    assert {"degree", "passive"} <= {name for _, name in explorer.attack.options}
    assert "edge_overlap" in {name for _, name in explorer.utility.options}


def test_averages_undo_noise_that_is_drawn_anew():
    frame = rd.risk_utility(
        _people(), [{"name": "laplace_cells", "epsilon": 1.0}],
        ["query_differences", {"name": "repeated_queries", "n_repeats": 60}], ["answers_kept"], n_known=60, **QUERIES,
    )  # fmt: skip
    once, often = (frame[frame["attack"].str.startswith(word)].set_index("method")["risk"] for word in ("diff", "aver"))
    assert often["laplace_cells"] > once["laplace_cells"] + 0.1
    assert often["laplace_cells"] > 0.9


def test_what_queries_need():
    with pytest.raises(ParameterError, match="at most 11 columns"):
        cells_of(
            microdata(pd.DataFrame(np.eye(20, 14, dtype=int)).rename(columns=str), quasi=list(map(str, range(14))))
        )
    with pytest.raises(ParameterError, match="must not be given for a network"):
        rd.risk_utility(GRAPH, quasi="age")
    with pytest.raises(ParameterError, match="at least 10 nodes"):
        rd.risk_utility(nx.path_graph(4))
    with pytest.raises(ParameterError, match="must be for network"):
        rd.risk_utility(GRAPH, ["mondrian"])


def test_cells_and_queries_against_loops():
    people = _people(50)
    data = microdata(people, quasi=["sex", "age"], sensitive="ill", kind="queries")
    cells = cells_of(data)
    counts = cells.count(data.table)
    assert counts.sum() == 50
    answers = cells.queries @ counts
    low, high = people["age"].min(), people["age"].max()
    ages = np.minimum(((people["age"] - low) / (high - low) * 8).astype(int), 7)
    bins = {
        "sex": people["sex"].map({"f": 0, "m": 1}), "age": ages, "ill": people["ill"].map(dict(zip(
            sorted(people["ill"].unique()), range(3), strict=True)))}  # fmt: skip
    sizes = {"sex": 2, "age": 8, "ill": 3}
    comp = [
        sum((bins[a] == x) & (bins[b] == y))
        for a, b in (("sex", "age"), ("sex", "ill"), ("age", "ill")) for x in range(sizes[a]) for y in range(sizes[b])
    ]  # fmt: skip
    assert answers.tolist() == comp
    np.testing.assert_allclose(cells.answers(data.table), answers)
    every = cells.candidates(data.table, 2)
    own = np.argmax(np.eye(cells.n_cells)[every[:, 0]], axis=1)
    assert (every[np.arange(50), cells.bins_of(data.table, 2)] == np.ravel_multi_index(
        tuple(cells.bins_of(data.table, place) for place in range(3)), cells.shape)).all()  # fmt: skip
    assert (own == every[:, 0]).all()


COUNTS, ASKED = np.array([9, 4, 0, 7]), np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]])


@pytest.mark.filterwarnings("ignore::reident.PrivacyWarning")
def test_mechanisms_answer_what_they_say():
    for mechanism in (counting.laplace_queries, counting.laplace_cells, counting.weighted_queries):
        told = np.array([mechanism(COUNTS, ASKED, epsilon=200.0, rng=seed) for seed in range(5)])
        np.testing.assert_allclose(told, np.tile(ASKED @ COUNTS, (5, 1)), atol=0.6)
    told = np.array([counting.randomised_cells(COUNTS * 50, ASKED, epsilon=5.0, rng=seed) for seed in range(30)])
    np.testing.assert_allclose(told.mean(axis=0), ASKED @ COUNTS * 50, atol=8)
    np.testing.assert_allclose(told.sum(axis=1), 2 * COUNTS.sum() * 50)
    assert counting.restricted_queries(COUNTS, ASKED, least=8).tolist()[1:3] != [7, 9]
    np.testing.assert_array_equal(counting.restricted_queries(COUNTS, ASKED, least=8), [13, np.nan, 9, 11])
    with pytest.raises(DataError, match="a row a query"):
        counting.laplace_queries(COUNTS, ASKED[:, :2], epsilon=1.0)
    with pytest.raises(DataError, match="0 or 1"):
        counting.laplace_cells(COUNTS, ASKED * 2, epsilon=1.0)


@pytest.mark.filterwarnings("ignore::reident.PrivacyWarning")
def test_noise_has_the_size_that_the_budget_allows():
    """Two queries count each cell: the noise of an answer has the scale 2 / epsilon (mean absolute value, 4 sigma)."""
    draws = np.array([counting.laplace_queries(COUNTS, ASKED, epsilon=0.5, rng=seed) for seed in range(400)])
    gaps = np.abs(draws - ASKED @ COUNTS)
    assert gaps.mean() == pytest.approx(4.0, abs=4 * 4 / np.sqrt(gaps.size))
    cells = np.array([counting.laplace_cells(COUNTS, np.eye(4), epsilon=0.5, rng=seed) for seed in range(400)])
    assert np.abs(cells - COUNTS).mean() == pytest.approx(2.0, abs=4 * 2 / np.sqrt(cells.size))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.7, 1.0])
def test_edges_are_moved_as_said(share):
    graph = nx.gnm_random_graph(60, 150, seed=2)
    swapped, moved = swap_edges(graph, share=share, rng=1), rewire_edges(graph, share=share, rng=1)
    np.testing.assert_array_equal(swapped.network.degrees, as_network(graph).degrees)
    true = {frozenset(edge) for edge in graph.edges}
    for made, comp in ((swapped, 2 * (round(share * 150) // 2)), (moved, round(share * 150))):
        told = {frozenset(edge) for edge in made.graph.edges}
        assert len(told) == 150
        assert len(true - told) == made.n_moved
        assert comp * 0.85 - 2 <= made.n_moved <= comp
    assert swap_edges(nx.star_graph(9), share=1.0, rng=1).n_moved == 0
    assert rewire_edges(nx.complete_graph(9), share=1.0, rng=1).n_moved == 0
