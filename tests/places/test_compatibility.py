import itertools
import tracemalloc

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from reident.places import compatibility, compatibility_graph


def distances(points):
    points = np.asarray(points, dtype=float)
    return np.abs(points[:, None] - points[None, :])


def edges_of(graph):
    return {tuple(sorted(edge)) for edge in graph.to_networkx().edges}


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
    assert (dense.to_sparse() != sparse.to_sparse()).nnz == 0
    assert nx.to_scipy_sparse_array(dense.to_networkx(), weight=None).sum() == 2 * dense.n_edges
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
    ranks = pd.Series(codes).groupby(codes).cumcount().to_numpy()
    tracemalloc.start()
    starts, length, _, _ = compatibility._release_pairs(codes, ranks, d + d.T, n_labels)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak - (d + d.T).nbytes <= compatibility._BYTES_A_PAIR * n**2 / 2
    assert all((np.diff(length[low:high]) >= 0).all() for low, high in itertools.pairwise(starts))
