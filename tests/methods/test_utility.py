"""What a release keeps: against plain loops, and at both ends."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reident as rd


def _matrix(n, seed):
    points = np.random.default_rng(seed).normal(size=(n, 2))
    return np.linalg.norm(points[:, None] - points[None], axis=2)


@given(n=st.integers(4, 9), seed=st.integers(0, 99), count=st.integers(1, 4))
def test_neighbours_against_loops(n, seed, count):
    a, b = _matrix(n, seed), _matrix(n, seed + 1000)
    count_used = min(count, n - 2)
    shares = []
    for i in range(n):
        near = [set(sorted((j for j in range(n) if j != i), key=lambda j: (m[i, j], j))[:count_used]) for m in (a, b)]
        shares.append(len(near[0] & near[1]) / count_used)
    assert rd.tables.neighbours_kept(a, b, n_neighbours=count) == pytest.approx(np.mean(shares))


@given(n=st.integers(3, 8), seed=st.integers(0, 99))
def test_distances_against_loops(n, seed):
    a, b = _matrix(n, seed), _matrix(n, seed + 1000)
    pairs = [(a[i, j], b[i, j]) for i in range(n) for j in range(i)]
    x, y = zip(*pairs, strict=True)
    assert rd.tables.distances_kept(a, b) == pytest.approx(max(0.0, np.corrcoef(x, y)[0, 1]), abs=1e-12)
    assert rd.tables.distance_precision(a, b) == pytest.approx(1 / np.var(np.subtract(x, y), ddof=1))


def test_the_original_keeps_everything():
    a = _matrix(6, 1)
    assert rd.tables.neighbours_kept(a, a) == 1
    assert rd.tables.distances_kept(a, a) == pytest.approx(1)
    assert rd.tables.distance_precision(a, a) == np.inf
    assert rd.tables.distances_kept(a, np.zeros_like(a)) == 0
    table = pd.DataFrame({"x": [1.0, 2, 4], "y": [3.0, 1, 2]})
    assert rd.tables.information_kept(table, table, columns=["x", "y"]) == 1
    assert rd.tables.correlations_kept(table, table, columns=["x", "y"]) == 1


def test_left_out_records_tell_nothing():
    table = pd.DataFrame({"x": [0.0, 1, 5]})
    told = rd.tables.information_kept(table, table.iloc[[0]], columns="x")
    assert told == pytest.approx(1 - ((1 - 2) ** 2 + (5 - 2) ** 2) / (4 + 1 + 9))
    assert rd.tables.information_kept(table, table * 0 + 2, columns="x") == 0
