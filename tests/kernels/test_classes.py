"""Counting classes: an array of all cells and a hash table against a dictionary."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reident.kernels.tables import classes
from reident.tables import _lattice


def drawn(seed, m, n_values):
    """Return tuples, weights and offsets; the second attribute has one label and is left out."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, n_values, (3, m)).astype(np.int16)
    labels = np.sort(rng.integers(0, n_values, (2, n_values)), axis=1)
    offsets = (labels * np.array([[1], [n_values]])).astype(np.int64)
    return columns, rng.integers(1, 5, m), np.array([0, 2]), offsets, n_values**2


def naive_class_sizes(columns, weights, varied, offsets):
    sizes = Counter()
    for i, weight in enumerate(weights):
        sizes[int(sum(offsets[a, columns[j, i]] for a, j in enumerate(varied)))] += int(weight)
    return sizes


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 6))
def test_both_ways_of_counting_are_that_of_a_dictionary(seed, m, n_values):
    columns, weights, varied, offsets, n_cells = drawn(seed, m, n_values)
    ref = naive_class_sizes(columns, weights, varied, offsets)
    for cells in (n_cells, 2**61):  # few cells: an array of all; many: a hash table
        found, sizes = classes.class_sizes(columns, weights, varied, offsets, cells, m)
        assert dict(zip(found.tolist(), sizes.tolist(), strict=True)) == ref
    group, sizes = classes.group_tuples(columns, weights, varied, offsets)
    assert sorted(sizes) == sorted(ref.values())
    assert list(dict.fromkeys(group.tolist())) == list(range(len(ref)))  # numbered as they appear
    assert (np.bincount(group, weights=weights) == sizes).all()


@pytest.mark.parametrize("n_cells", [5000, 2**61])
def test_too_many_classes_end_the_count(n_cells):
    m = 5000
    columns = np.arange(m, dtype=np.int16)[None]
    call = (columns, np.ones(m, np.int64), np.array([0]), np.arange(m)[None], n_cells)
    cells, sizes = classes.class_sizes(*call, 10)
    assert 10 < len(cells) == len(sizes) < m
    assert len(classes.class_sizes(*call, m)[1]) == m


def test_one_label_everywhere_is_one_class():
    none = np.zeros(0, np.int64)
    cells, sizes = classes.class_sizes(np.zeros((2, 7), np.int16), np.ones(7, np.int64), none, none.reshape(0, 1), 1, 7)
    assert (cells.tolist(), sizes.tolist()) == ([0], [7])


@given(st.integers(0, 10**6))
def test_every_node_is_settled_whatever_the_order_says(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 5, 3))
    least = rng.integers(0, 4, (3, 3))  # above one of these a node satisfies
    at = np.indices(shape).reshape(3, -1).T
    truth = (at[:, None] >= least).all(axis=2).any(axis=1).reshape(shape)
    asked = []

    def satisfies(node):
        asked.append(node)
        return bool(truth[node])

    tags = _lattice._settle(satisfies, rng.normal(size=shape))
    assert ((tags == 1) == truth).all()
    assert len(set(asked)) == len(asked)
