import itertools
import math
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reident import (
    DataError,
    MetricMicrodata,
    ParameterError,
    SearchLimitWarning,
    common_subgraph_attack,
    linkage_quality,
)
from reident.location import registration_attack
from reident.places import LinkageQuality, compatibility, compatibility_graph


def files(seed, n=9, common=5):
    """Return a release and a known file of places on a plane with labels, and the truth."""
    rng = np.random.default_rng(seed)
    places = rng.random((2 * n - common, 2)) * 400
    table = pd.DataFrame({"sex": rng.choice(["f", "m"], len(places)), "age": rng.integers(0, 3, len(places))})
    rows = {
        "release": rng.permutation(n),
        "known": rng.permutation(np.r_[np.arange(common), np.arange(n, len(places))]),
    }
    result = []
    for name, chosen in rows.items():
        x = places[chosen]
        distances = np.sqrt(((x[:, None] - x[None]) ** 2).sum(axis=2))
        result.append((table.iloc[chosen].set_axis([f"{name[0]}{i}" for i in chosen]), (distances + distances.T) / 2))
    return *result, {f"r{i}": f"k{i}" for i in range(common)}


RULES = ("both", "either")


def as_pairs(linkage):
    return set(linkage.links.itertuples(index=False, name=None))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ties", ["random", "first", "all"])
def test_unperturbed_release_gives_the_truth(seed, ties):
    release, known, truth = files(seed)
    linkage = common_subgraph_attack(release, known, quasi=["sex", "age"], window_km=(-1e-6, 1e-6), ties=ties, rng=seed)
    assert as_pairs(linkage) == set(truth.items())
    assert linkage.is_optimal
    # By the distances alone as well.
    alone = common_subgraph_attack(release, known, quasi=[], window_km=(-1e-6, 1e-6), ties=ties, rng=seed)
    assert as_pairs(alone) == set(truth.items())
    assert alone.n_candidates == 9 * 9


def test_ties_are_drawn_evenly_and_counted():
    # Two known records at one place with one label: each explains the release equally well.
    release = pd.DataFrame({"sex": ["f", "m"]}), np.array([[0.0, 10], [10, 0]])
    known = pd.DataFrame({"sex": ["f", "m", "m"]}), np.array([[0.0, 10, 10], [10, 0, 0], [10, 0, 0]])
    options = {"quasi": "sex", "window_km": (-1, 1)}
    every = common_subgraph_attack(release, known, ties="all", **options)
    assert every.n_max_cliques == 2
    assert every.is_enumerated
    assert every.all_links["known"].value_counts().tolist() == [2, 1, 1]
    drawn = [
        common_subgraph_attack(release, known, ties="random", rng=seed, **options).links["known"].tolist()[1]
        for seed in range(40)
    ]
    # Binomial(40, 1/2): outside 8..32 with probability 2e-4.
    assert 8 <= drawn.count(1) <= 32
    first = common_subgraph_attack(release, known, ties="first", rng=0, **options)
    assert not first.is_enumerated
    same = common_subgraph_attack(release, known, ties="first", rng=0, **options)
    assert as_pairs(first) == as_pairs(same)


def test_quasi_cliques_forgive_some_noise_on_distances():
    release, known, truth = files(2, n=20, common=12)
    noise = np.triu(np.random.default_rng(9).normal(0, 1, (20, 20)), 1)
    noisy = np.abs(release[1] + noise + noise.T)
    options = {"quasi": ["sex", "age"], "window_km": (-1.3, 1.3), "rng": 0}
    strict = common_subgraph_attack((release[0], noisy), known, **options)
    relaxed = common_subgraph_attack((release[0], noisy), known, gamma=0.6, **options)
    assert len(relaxed) > len(strict)
    assert linkage_quality(relaxed, truth).TP > linkage_quality(strict, truth).TP
    assert not relaxed.is_optimal
    assert not relaxed.is_enumerated
    # One to one, and each match agrees with the stated share of the others.
    assert relaxed.links["release"].is_unique
    assert relaxed.links["known"].is_unique
    d_release = pd.DataFrame(noisy, release[0].index, release[0].index).loc[
        relaxed.links.release, relaxed.links.release
    ]
    d_known = pd.DataFrame(known[1], known[0].index, known[0].index).loc[relaxed.links.known, relaxed.links.known]
    agree = np.abs(d_known.to_numpy() - d_release.to_numpy()) < 1.3
    assert (agree.sum(axis=1) - 1 >= 0.6 * (len(relaxed) - 1) - 1e-9).all()
    assert relaxed.clique.upper_bound >= len(relaxed)


@pytest.mark.parametrize("ties", ["first", "published"])
@pytest.mark.parametrize("n", [14, pytest.param(45, marks=pytest.mark.whole)])
def test_records_that_nothing_tells_apart_are_matched_at_once(n, ties):
    # Every permutation is a maximum clique: 45 records make a graph too large for one branch and bound.
    table, d = pd.DataFrame({"sex": ["f"] * n}), np.zeros((n, n))
    linkage = common_subgraph_attack(
        (table, d), (table, d), quasi="sex", window_km=(-1, 1), ties=ties, node_limit=1000, rng=0
    )
    assert len(linkage) == n
    assert linkage.is_optimal
    assert linkage.clique.n_nodes < 1000
    if ties == "first":
        with pytest.warns(SearchLimitWarning, match="only 10000"):
            listed = common_subgraph_attack((table, d), (table, d), quasi="sex", window_km=(-1, 1), rng=0)
        assert listed.n_max_cliques == 10_000
        assert not listed.is_enumerated


def test_missing_distances_and_near_labels():
    release, known, truth = files(1)
    gaps = release[1].copy()
    gaps[0, 1:4] = gaps[1:4, 0] = np.nan
    options = {"quasi": ["sex", "age"], "window_km": (-1e-6, 1e-6), "rng": 0}
    with pytest.raises(DataError, match="say by `missing`"):
        common_subgraph_attack((release[0], gaps), known, **options)
    partial = {rule: MetricMicrodata(release[0], gaps, missing=rule) for rule in RULES}
    found = {rule: as_pairs(common_subgraph_attack(file, known, **options)) for rule, file in partial.items()}
    assert found["both"] <= found["either"] == set(truth.items())
    with pytest.raises(ParameterError, match="`missing` must be the same in both files"):
        common_subgraph_attack(partial["both"], MetricMicrodata(*known, missing="either"), **options)
    with pytest.raises(DataError, match="must be finite"):  # a map needs all distances
        registration_attack(partial["both"], known[0], quasi=["sex", "age"])
    # Travel times: longer in one direction, by the same share in both files.
    slope = np.where(np.triu(np.ones_like(gaps)), 1.0, 1.25)
    with pytest.raises(DataError, match="symmetric"):
        common_subgraph_attack((release[0], release[1] * slope), known, **options)
    order = [release[0].index.get_loc(record) for record in truth]
    there = [known[0].index.get_loc(truth[record]) for record in truth]
    sides = [
        MetricMicrodata(table.iloc[rows], d[np.ix_(rows, rows)] * slope[: len(rows), : len(rows)], directed=True)
        for (table, d), rows in ((release, order), (known, there))
    ]
    assert as_pairs(common_subgraph_attack(*sides, **options)) == set(truth.items())
    # An age that is a class off is accepted within the tolerance.
    older = release[0].assign(age=release[0]["age"] + 1), release[1]
    near = common_subgraph_attack(older, known, label_tolerances={"age": 1}, **options)
    assert as_pairs(near) == set(truth.items())
    with pytest.raises(ParameterError, match="`label_tolerances` must name columns of `quasi`"):
        common_subgraph_attack(older, known, label_tolerances={"town": 1}, **options)


pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


@given(pairs, pairs)
def test_by_definition(links, truth):
    comp = linkage_quality(links, truth)
    hits = sum(pair in set(truth) for pair in set(links))
    assert (hits, len(set(links)) - hits, len(set(truth)) - hits) == (comp.TP, comp.FP, comp.FN)
    if links:
        assert comp.precision == hits / len(set(links))
    if truth:
        assert comp.recall == hits / len(set(truth))


def test_forms_of_links():
    ref = LinkageQuality(precision=0.5, recall=1.0, TP=1, FP=1, FN=0)
    frame = pd.DataFrame({"known": ["a", "b"], "release": [1, 2]})
    for links in (frame, [(1, "a"), (2, "b")], {1: "a", 2: "b"}, {(1, "a"), (2, "b")}):
        assert linkage_quality(links, {1: "a"}) == ref


def test_nothing_claimed_and_nothing_true():
    nothing = linkage_quality([], {1: "a"})
    assert math.isnan(nothing.precision)
    assert (nothing.recall, nothing.FN) == (0.0, 1)
    none_true = linkage_quality({1: "a"}, {})
    assert none_true.precision == 0.0
    assert math.isnan(none_true.recall)


def distances(points):
    points = np.asarray(points, dtype=float)
    return np.abs(points[:, None] - points[None, :])


def edges_of(graph):
    return {tuple(sorted((v, int(u)))) for v in range(graph.n_vertices) for u in graph.neighbours(v)}


def test_both_forms_hold_the_same_graph(monkeypatch):
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, (2, 12))
    d_release, d_known = (distances(rng.random(12) * 9) for _ in range(2))
    dense = compatibility_graph(labels[0], d_release, labels[1], d_known, window_km=(-2, 2))
    monkeypatch.setattr(compatibility, "_BITS_VERTICES", 0)
    sparse = compatibility_graph(labels[0], d_release, labels[1], d_known, window_km=(-2, 2))
    assert dense.bits is not None
    assert sparse.bits is None
    assert edges_of(dense) == edges_of(sparse)
    assert (
        dense.degrees().tolist()
        == sparse.degrees().tolist()
        == [len(dense.neighbours(v)) for v in range(dense.n_vertices)]
    )
    assert len(edges_of(dense)) == dense.n_edges
    for ours, others in zip(dense.lists(), sparse.lists(), strict=True):
        np.testing.assert_array_equal(ours, others)
    assert dense.density == pytest.approx(2 * dense.n_edges / (dense.n_vertices * (dense.n_vertices - 1)))


def test_window_is_open_and_interval_closed():
    d_release, d_known = [[0, 5], [5, 0]], [[0, 6], [6, 0]]
    # Deviation +1 exactly.
    for window, n_edges in (((-1, 1), 0), ((1, 2), 0), ((0.999, 1.001), 2)):
        assert compatibility_graph([1, 1], d_release, [1, 1], d_known, window_km=window).n_edges == n_edges
    for interval, n_edges in (((5, 5), 2), ((4, 5), 2), ((5.001, 9), 0)):
        assert compatibility_graph([1, 1], d_release, [1, 1], d_known, intervals_km=interval).n_edges == n_edges


def test_rounding_does_not_move_a_deviation_across_the_edge():
    # 0.3 - 0.1 is just below 0.2 in floating point: inside (0, 0.2) as computed, whichever way the search goes.
    d_release, d_known = [[0, 0.1], [0.1, 0]], [[0, 0.3], [0.3, 0]]
    assert (0.3 - 0.1 < 0.2) == (
        compatibility_graph([1, 1], d_release, [1, 1], d_known, window_km=(0, 0.2)).n_edges == 2
    )


def test_bounds_for_each_two_known_records():
    rng = np.random.default_rng(5)
    d_release, d_known = (distances(rng.random(6) * 9) for _ in range(2))
    labels = ["x"] * 6
    low = -np.abs(rng.normal(size=(6, 6))) - 0.1
    low = low + low.T
    high = -low + 0.3
    graph = compatibility_graph(labels, d_release, labels, d_known, window_km=(low, high))
    pairs = graph.pairs
    ref = {
        (a, b)
        for a in range(len(pairs))
        for b in range(a + 1, len(pairs))
        for (v1, w1), (v2, w2) in [(pairs[a], pairs[b])]
        if v1 != v2 and w1 != w2 and low[w1, w2] < d_known[w1, w2] - d_release[v1, v2] < high[w1, w2]
    }
    assert edges_of(graph) == ref
    above = np.triu_indices(6, 1)
    condensed = compatibility_graph(labels, d_release, labels, d_known, window_km=(low[above], high[above]))
    assert edges_of(condensed) == ref
    # The interval in which the released distance must lie says the same, but for its ends.
    intervals = (d_known - high)[above], (d_known - low)[above]
    assert edges_of(compatibility_graph(labels, d_release, labels, d_known, intervals_km=intervals)) == ref


def test_missing_labels_agree_with_nothing():
    labels = np.array(["a", None, "a"], dtype=object)
    graph = compatibility_graph(labels, np.zeros((3, 3)), labels, np.zeros((3, 3)), window_km=(-1, 1))
    assert graph.pairs.tolist() == [[0, 0], [2, 0], [0, 2], [2, 2]]
    numbers = pd.Series([1.0, np.nan])
    assert compatibility_graph(numbers, np.zeros((2, 2)), [1, 1], np.zeros((2, 2)), window_km=(-1, 1)).n_vertices == 2


@pytest.mark.parametrize("n_labels", [1, 6, 200])
def test_the_announced_memory_suffices_for_the_pairs_of_release_records(n_labels):
    n, rng = 600, np.random.default_rng(0)
    codes, d = rng.integers(0, n_labels, n), rng.random((n, n))
    tracemalloc.start()
    starts, length, _, _ = compatibility._release_pairs(codes, d + d.T, n_labels)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak - (d + d.T).nbytes <= compatibility._BYTES_A_PAIR * n**2 / 2
    assert all((np.diff(length[low:high]) >= 0).all() for low, high in itertools.pairwise(starts))
