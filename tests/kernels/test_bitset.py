"""Sets as words of bits."""

import igraph
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reident.kernels.cliques import bitset
from reident.kernels.cliques.clique import branching_set, count_colours, fill_row

members = st.sets(st.integers(0, 130))


def row_of(chosen):
    row = np.zeros(3, dtype=np.uint64)
    for v in chosen:
        row[v >> 6] |= bitset.bit(v)
    return row


@given(members)
def test_sets(chosen):
    row = row_of(chosen)
    out = np.empty(131, dtype=np.int64)
    assert out[: bitset.list_bits(row, out)].tolist() == sorted(chosen)
    assert bitset.count_bits(row) == len(chosen)
    assert bitset.is_empty(row) == (not chosen)
    assert [v for v in range(131) if bitset.has_bit(row, v)] == sorted(chosen)


@given(st.integers(2, 9), st.integers(1, 5), st.randoms(use_true_random=False))
def test_branching_set_meets_every_clique_of_the_size(n, need, random):
    dense = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(i):
            dense[i, j] = dense[j, i] = random.random() < 0.6
    rows = bitset.pack_rows(dense)
    everything = np.zeros(1, dtype=np.uint64)
    fill_row(everything, n)
    branch = np.zeros(1, dtype=np.uint64)
    classes, locked = np.zeros((need + 1, 1), dtype=np.uint64), np.zeros(need + 1, dtype=bool)
    branching_set(rows, everything, need, classes, locked, branch)
    largest = 0
    for chosen in range(1, 2**n):
        inside = [v for v in range(n) if chosen >> v & 1]
        if all(dense[a, b] for a in inside for b in inside if a != b):
            largest = max(largest, len(inside))
            if len(inside) >= need:
                assert chosen & int(branch[0])
    assert count_colours(rows, everything) >= largest


@pytest.mark.parametrize(("n", "density"), [(40, 0.7), (40, 0.85), (60, 0.8)])
def test_what_is_not_branched_on_holds_no_clique_of_the_size(n, density):
    # Vertices of spread degrees in their order: a conflict then rests on several colour classes that rest on others.
    for seed in range(60):
        rng = np.random.default_rng(seed)
        likely = np.clip(density + rng.uniform(-0.3, 0.3, n), 0, 1)
        upper = np.triu(rng.random((n, n)) < (likely[:, None] + likely) / 2, 1)
        dense = upper | upper.T
        order = np.argsort(-dense.sum(axis=0))
        dense = dense[np.ix_(order, order)]
        graph = igraph.Graph.Adjacency(dense.tolist(), mode="undirected")
        rows = bitset.pack_rows(dense)
        everything, branch = np.zeros((2, rows.shape[1]), dtype=np.uint64)
        fill_row(everything, n)
        largest = graph.clique_number()
        for need in (largest - 1, largest):
            classes, locked = np.zeros((need + 1, rows.shape[1]), dtype=np.uint64), np.zeros(need + 1, dtype=bool)
            branching_set(rows, everything, need, classes, locked, branch)
            rest = [v for v in range(n) if not bitset.has_bit(branch, v)]
            assert graph.induced_subgraph(rest).clique_number() < need


@given(st.integers(1, 150), st.sampled_from([0.02, 0.5]), st.integers(0, 9))
def test_blocks_of_bits_are_turned_round(n, density, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < density, 1)
    dense, rows = upper | upper.T, bitset.pack_rows(upper)
    for low in range(0, n, 64):
        bitset.mirror_rows(rows, low, min(low + 64, n))
    np.testing.assert_array_equal(rows, bitset.pack_rows(dense))
    order = rng.permutation(n)
    renamed = bitset.permute_rows(rows, order, np.argsort(order))
    np.testing.assert_array_equal(renamed, bitset.pack_rows(dense[np.ix_(order, order)]))
