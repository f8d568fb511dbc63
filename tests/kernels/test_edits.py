"""Edits of a graph's rows where the random third edge that settles a pair does not exist."""

import numpy as np
import pytest

from reident.kernels.networks import edits
from reident.kernels.networks.edgeset import list_edges

NONE = np.empty(0, np.int32)


@pytest.mark.parametrize("seed", range(4))
def test_an_isolated_node_with_too_many_edges_is_left_as_it_is(seed):
    # rows of the graph 0 - 1 and the lone node 2, to which the edge 1 - 2 was added
    indptr, indices = np.array([0, 1, 2, 2]), np.array([1, 0], np.int32)
    short, excess = np.zeros(3, np.int64), np.array([1, 0, 1])
    added = np.array([1], np.int32), np.array([2], np.int32)
    new, old = edits.settle(indptr, indices, *added, NONE, NONE, short, excess, 10, np.random.default_rng(seed))
    (u, v), (cut_u, cut_v) = list_edges(new), list_edges(old)
    assert [(*sorted((a, b)),) for a, b in zip(u, v, strict=True)] == [(1, 2)]
    assert len(cut_u) == len(cut_v) == 0
    assert excess.tolist() == [1, 0, 1]


def test_a_graph_without_edges_has_no_edge_to_take_out():
    # one node that is short twice: only a third edge could help
    short, excess = np.array([2, 0]), np.zeros(2, np.int64)
    found = edits.settle(
        np.zeros(3, np.int64), NONE, NONE, NONE, NONE, NONE, short, excess, 10, np.random.default_rng(0)
    )
    assert [part.size for table in found for part in list_edges(table)] == [0, 0, 0, 0]
    assert short.tolist() == [2, 0]
