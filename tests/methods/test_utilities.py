import itertools
import math
from collections import Counter

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import reident as rd
from judged import records
from reident.base import DataError
from reident.methods import entries, find
from reident.methods.forms import NONE, release
from reident.methods.utilities import measure_utility, shares_of
from reident.networks import utility as networks
from reident.networks.graph import as_network
from reident.places import utility as places
from reident.tables import utility as tables
from samples import people

N = 90
PEOPLE = people(N)
NETWORK = as_network(nx.gnm_random_graph(80, 110, seed=1))
DATA = {
    "places": records(PEOPLE, quasi=["sex", "age"], kind="places"),
    "table": records(PEOPLE, quasi=["sex", "age", "pay"], sensitive="ill", kind="table"),
    "network": records(NETWORK, quasi=()),
}
#: What leaves little of anything.
STRONG = {
    "distance utility": [("coordinate_noise", {"sigma_deg": 2.0})],
    "point utility": [("coordinate_noise", {"sigma_deg": 2.0}), ("rigid_motion", {"shift_m": 50_000.0})],
    "value utility": [("mondrian", {"k": 40}), ("add_noise", {"relative": 4.0})],
    "label utility": [("mondrian", {"k": 20})],
    "share utility": [("mondrian", {"k": 40})],
    "network utility": [("degree_anonymity", {"k": 30, "method": "simultaneous"})],
}


@pytest.mark.parametrize("entry", entries("metric"), ids=lambda entry: entry.name)
def test_every_utility_runs_by_name(entry):
    data = DATA[entry.data]
    original = measure_utility(entry, {}, data, data.table, release(data, NONE))
    if entry.name == "distance_precision":
        assert original == math.inf
    elif entry.name == "classification_accuracy":
        assert 0.5 < original < 1
    else:
        assert original == pytest.approx(1)
    found = [
        measure_utility(entry, {}, data, data.table, release(data, method, options, rng=1))
        for method, options in STRONG[entry.form]
    ]
    assert all(0 <= one <= 1 + 1e-12 for one in found)
    assert min(found) < min(original, 1) - 0.01


def test_what_a_release_lacks_is_not_measured():
    data = DATA["places"]
    made = release(data, "distance_noise", rng=1)
    assert measure_utility(find("cells_kept"), {}, data, data.table, made) is None
    assert measure_utility(find("ranks_kept"), {}, data, data.table, made) > 0
    bare = records(PEOPLE, quasi=["age"], kind="table")
    assert measure_utility(find("classification_accuracy"), {}, bare, bare.table, release(bare, NONE)) is None
    assert measure_utility(find("edges_kept"), {}, bare, bare.table, release(bare, NONE)) is None


def _km(seed, n):
    rng = np.random.default_rng(seed)
    return rd.great_circle_km(rng.uniform(50, 51, n), rng.uniform(8, 9, n))


@settings(max_examples=12)
@given(n=st.integers(4, 9), seed=st.integers(0, 99))
def test_distances_against_loops(n, seed):
    a, b = _km(seed, n), _km(seed + 1000, n)
    ranks = [stats.spearmanr(np.delete(a[i], i), np.delete(b[i], i)).statistic for i in range(n)]
    assert places.ranks_kept(a, b) == pytest.approx(np.mean(np.clip(ranks, 0, 1)))
    pairs = sorted(itertools.combinations(range(n), 2), key=lambda p: a[p])
    near = [p for p in pairs if a[p] <= np.quantile([a[q] for q in pairs], 0.5)]
    error = sum(abs(a[p] - b[p]) for p in near) / sum(a[p] for p in near)
    assert places.small_distances_kept(a, b, share=0.5) == pytest.approx(max(0, 1 - error))
    means = sorted(np.mean([min(np.delete(d[i], i)) for i in range(n)]) for d in (a, b))
    assert places.density_index_kept(a, b) == pytest.approx(means[0] / means[1])
    bandwidth = np.median([sorted(row)[2] for row in a])
    shares = []
    for d in (a, b):
        weight = [[(1 - (d[i, j] / bandwidth) ** 2) ** 2 * (i != j and d[i, j] < bandwidth) for j in range(n)]
                  for i in range(n)]  # fmt: skip
        shares.append([[one / sum(row) if sum(row) else 0 for one in row] for row in weight])
    overlap = [sum(map(min, x, y)) for x, y in zip(*shares, strict=True) if any(x)]
    assert places.weights_kept(a, b, n_neighbours=2) == pytest.approx(np.mean(overlap) if overlap else 0)


def test_autocorrelation_is_kept_as_far_as_it_agrees():
    a, b = _km(1, 12), _km(2, 12)
    x = np.random.default_rng(3).normal(size=(12, 2))

    moran = [[rd.places.autocorrelation(column, d, neighbours=4).morans_i for column in x.T] for d in (a, b)]
    gap = np.abs(np.subtract(*moran)).mean()
    assert places.morans_i_kept(a, b, x, neighbours=4) == pytest.approx(1 - gap)
    assert math.isnan(places.gearys_c_kept(a, b, np.ones(12)))
    assert 0 < places.gearys_c_kept(a, b, x, neighbours=4) < 1


def test_places_against_plain_geometry():
    rng = np.random.default_rng(1)
    lat, lon = rng.uniform(0, 0.1, (2, 50))  # a plane, near the equator
    one = pd.DataFrame({"lat_deg": lat, "lon_deg": lon})
    two = one + rng.normal(0, 0.01, one.shape)
    spread = np.sqrt(((one - one.mean()) ** 2).sum(axis=1).mean())
    moved = np.median(np.hypot(*(two - one).to_numpy().T))
    assert places.places_kept(one, two) == pytest.approx(1 - moved / spread, rel=1e-4)
    shift = np.hypot(*(two.mean() - one.mean()))
    assert places.mean_centre_kept(one, two) == pytest.approx(1 - shift / spread, rel=1e-4)
    other = np.sqrt(((two - two.mean()) ** 2).sum(axis=1).mean())
    assert places.standard_distance_kept(one, two) == pytest.approx(min(spread, other) / max(spread, other), rel=1e-4)
    assert places.cells_kept(one, one + 5) == 0
    corners = pd.DataFrame({"lat_deg": [0.0, 0.0, 1.0, 1.0], "lon_deg": [0.0, 1.0, 0.0, 1.0]})
    assert places.cells_kept(corners, corners.iloc[[0, 0, 2, 3]], n_cells=2) == pytest.approx(0.75)


def _tables(seed, n):
    rng = np.random.default_rng(seed)
    one = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("xyz"))
    one["z"] += one["x"]
    return one, one + rng.normal(0, 0.5, one.shape)


@settings(max_examples=12)
@given(seed=st.integers(0, 99), n=st.integers(12, 30))
def test_numbers_against_loops(seed, n):
    one, two = _tables(seed, n)
    shifts = [1 - abs(two[c].mean() - one[c].mean()) / one[c].std(ddof=0) for c in one]
    assert tables.means_kept(one, two, columns=list("xyz")) == pytest.approx(np.mean(np.clip(shifts, 0, 1)))
    ratios = [min(two[c].var() / one[c].var(), one[c].var() / two[c].var()) for c in one]
    assert tables.variances_kept(one, two, columns=list("xyz")) == pytest.approx(np.mean(ratios))
    overlaps = []
    for target in "xyz":
        others = [c for c in "xyz" if c != target]
        ends = []
        for table in (one, two):
            x = np.column_stack([np.ones(n), table[others]])
            inverse = np.linalg.inv(x.T @ x)
            beta = inverse @ x.T @ table[target]
            error = np.sqrt(((table[target] - x @ beta) ** 2).sum() / (n - 3) * np.diag(inverse))
            ends.append([(b - 1.96 * e, b + 1.96 * e) for b, e in zip(beta, error, strict=True)][1:])
        for (low, high), (other_low, other_high) in zip(*ends, strict=True):
            common = max(0, min(high, other_high) - max(low, other_low))
            overlaps += [common / (high - low), common / (other_high - other_low)]
    assert tables.regression_kept(one, two, columns=list("xyz")) == pytest.approx(np.mean(overlaps))


def test_propensity_and_prediction_at_both_ends():
    one, two = _tables(1, 200)
    assert tables.propensity_kept(one, one, columns=list("xyz")) == pytest.approx(1, abs=1e-6)
    assert tables.propensity_kept(one, one + 50, columns=list("xyz")) < 0.05
    assert tables.propensity_kept(one, two * 3, columns=list("xyz")) < 0.9
    target = pd.Series(np.where(one["x"] > 0, "a", "b"))
    assert tables.classification_accuracy(one, one, columns=list("xyz"), target=target) > 0.95
    noise = pd.DataFrame(np.random.default_rng(2).normal(size=one.shape), columns=list("xyz"))
    assert tables.classification_accuracy(one, noise, columns=list("xyz"), target=target) < 0.65
    assert math.isnan(tables.propensity_kept(one.iloc[:5], one.iloc[:5], columns=list("xyz")))


@settings(max_examples=12)
@given(seed=st.integers(0, 99), n=st.integers(2, 12))
def test_labels_against_loops(seed, n):
    rng = np.random.default_rng(seed)
    one = pd.DataFrame({"a": rng.integers(0, 3, n), "b": rng.integers(0, 4, n)})
    two = one.assign(b="*").iloc[: n - 1]

    def apart(table):
        rows = [tuple(row) for row in table.astype(str).to_numpy()]
        return sum(x != y for x in rows for y in rows)

    told = tables.discernibility_kept(one, two, columns=["a", "b"])
    assert told == pytest.approx(apart(two) / apart(one) if apart(one) else 1)
    sizes = [len(Counter(map(tuple, table.astype(str).to_numpy()))) for table in (one, two)]
    assert tables.classes_kept(one, two, columns=["a", "b"]) == pytest.approx(min(1, sizes[1] / sizes[0]))


def test_shares_read_labels_and_keep_mass():
    data = records(PEOPLE, quasi=["sex", "age"], sensitive="ill", kind="table")
    table = data.table.assign(sex="*", age="[20, 40)")
    found = shares_of(data, table, ["sex", "age"])
    np.testing.assert_allclose(found["sex"], 0.5)
    assert found["age"].shape == (N, 10)
    ages = np.unique(PEOPLE["age"])
    inside = ages[ages < 40]
    edges = np.linspace(ages.min(), ages.max(), 11)
    comp = np.histogram(inside, [*edges[:-1], np.inf])[0] / len(inside)
    np.testing.assert_allclose(found["age"][0], comp)
    exact = shares_of(data, data.table, ["sex", "ill"])
    assert sorted(exact["ill"].sum(axis=0)) == sorted(PEOPLE["ill"].value_counts())


def test_marginals_and_contingencies_by_hand():
    one = {"a": np.eye(2)[[0, 0, 1, 1]], "b": np.eye(2)[[0, 1, 0, 1]]}
    two = {"a": np.eye(2)[[0, 0, 1, 1]], "b": np.eye(2)[[0, 0, 1, 1]]}
    assert tables.marginals_kept(one, two) == 1
    assert tables.contingencies_kept(one, two) == pytest.approx(0.5)
    assert math.isnan(tables.contingencies_kept({"a": one["a"]}, {"a": one["a"]}))
    half = {name: np.full((4, 2), 0.5) for name in one}
    assert tables.entropy_kept(one, half) == 0
    assert tables.marginals_kept(one, {name: value[:2] for name, value in two.items()}) == pytest.approx(0.5 * 0.5)
    with pytest.raises(DataError, match="the same columns"):
        tables.marginals_kept(one, {"a": one["a"]})
    with pytest.raises(DataError, match="the same bins"):
        tables.marginals_kept(one, {**two, "b": np.eye(3)[[0, 0, 1, 1]]})


@pytest.mark.parametrize("seed", range(3))
def test_networks_against_networkx(seed):
    one = nx.gnm_random_graph(25, 40, seed=seed)
    two = nx.gnm_random_graph(25, 30, seed=seed + 100)

    def ratio(a, b):
        return min(a, b) / max(a, b)

    edges = [{frozenset(edge) for edge in graph.edges} for graph in (one, two)]
    assert networks.edges_kept(one, two) == pytest.approx(len(edges[0] & edges[1]) / 40)
    counts = [Counter(dict(graph.degree).values()) for graph in (one, two)]
    gap = sum(abs(counts[0][d] - counts[1][d]) for d in range(25)) / 25
    assert networks.degrees_kept(one, two) == pytest.approx(1 - gap / 2)
    assert networks.density_kept(one, two) == pytest.approx(30 / 40)
    paths, widest = [], []
    for graph in (one, two):
        lengths = [d for _, row in nx.all_pairs_shortest_path_length(graph) for d in row.values() if d]
        paths.append(np.mean(lengths))
        widest.append(max(lengths))
    assert networks.path_length_kept(one, two) == pytest.approx(ratio(*paths))
    assert networks.diameter_kept(one, two) == pytest.approx(ratio(*widest))
    clustering = [nx.transitivity(graph) for graph in (one, two)]
    comp = ratio(*clustering) if max(clustering) else 1
    assert networks.clustering_kept(one, two, variant="global") == pytest.approx(comp)


@given(n=st.integers(4, 9), seed=st.integers(0, 99), count=st.integers(1, 4))
def test_neighbours_against_loops(n, seed, count):
    a, b = _km(seed, n), _km(seed + 1000, n)
    count_used = min(count, n - 2)
    shares = []
    for i in range(n):
        near = [set(sorted((j for j in range(n) if j != i), key=lambda j: (m[i, j], j))[:count_used]) for m in (a, b)]
        shares.append(len(near[0] & near[1]) / count_used)
    assert rd.tables.neighbours_kept(a, b, n_neighbours=count) == pytest.approx(np.mean(shares))


@given(n=st.integers(3, 8), seed=st.integers(0, 99))
def test_kept_distances_against_loops(n, seed):
    a, b = _km(seed, n), _km(seed + 1000, n)
    pairs = [(a[i, j], b[i, j]) for i in range(n) for j in range(i)]
    x, y = zip(*pairs, strict=True)
    assert rd.tables.distances_kept(a, b) == pytest.approx(max(0.0, np.corrcoef(x, y)[0, 1]), abs=1e-12)
    assert rd.tables.distance_precision(a, b) == pytest.approx(1 / np.var(np.subtract(x, y), ddof=1))


def test_left_out_records_tell_nothing():
    table = pd.DataFrame({"x": [0.0, 1, 5]})
    told = rd.tables.information_kept(table, table.iloc[[0]], columns="x")
    assert told == pytest.approx(1 - ((1 - 2) ** 2 + (5 - 2) ** 2) / (4 + 1 + 9))
    assert rd.tables.information_kept(table, table * 0 + 2, columns="x") == 0
