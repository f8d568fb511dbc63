"""Sets as words of bits."""

import igraph
import numpy as np
import pytest
from hypothesis import strategies as st

from reident.cliques.adjacency import members_of, pack_rows, set_of
from reident.cliques.search import workspace
from reident.kernels.cliques.clique import branching_set

members = st.sets(st.integers(0, 130))


@pytest.mark.parametrize(("n", "density"), [(10, 0.9), (20, 0.9), (30, 0.8), (66, 0.7), (130, 0.5)])
@pytest.mark.parametrize("spread", [0.0, 0.1, 0.4])
def test_what_is_not_branched_on_holds_no_clique_of_the_size(n, density, spread):
    """Conflicts that share classes by blanks, in graphs of like and of spread degrees, against igraph."""
    rng = np.random.default_rng(n)
    for _ in range(40 if n < 60 else 10):
        number = rng.uniform(density - spread, density + spread, n)
        upper = np.triu(rng.random((n, n)) < (number[:, None] + number) / 2, 1)
        rows, words = pack_rows(upper | upper.T), (n + 63) // 64
        everything, branch = set_of(np.arange(n), words), np.zeros(words, dtype=np.uint64)
        graph = igraph.Graph(n, np.argwhere(upper))
        need = graph.clique_number() + int(rng.integers(-1, 2))
        branching_set(rows, everything, need, workspace(need, words), branch)
        rest = graph.induced_subgraph(np.setdiff1d(np.arange(n), members_of(branch)))
        assert rest.clique_number() < need


@pytest.mark.parametrize("m", [3, 30, 60])
def test_pentagons_that_are_joined_need_no_branch_while_there_is_room(m):
    """A pentagon takes three colours and gives a clique two members; sixty take more blanks than there are."""
    corner, pentagon = np.divmod(np.arange(5 * m), m)
    corner = np.array([0, 2, 1, 3, 4])[corner]  # coloured in pairs; the last is left over
    joined = np.isin(corner[:, None] - corner, (-4, -1, 1, 4))
    dense = (pentagon[:, None] != pentagon) | joined
    rows, words = pack_rows(dense), (5 * m + 63) // 64
    everything, branch = set_of(np.arange(5 * m), words), np.zeros(words, dtype=np.uint64)
    branching_set(rows, everything, 2 * m + 1, workspace(2 * m + 1, words), branch)
    assert (not branch.any()) == (m < 60)
    branching_set(rows, everything, 2 * m, workspace(2 * m, words), branch)
    rest = ~np.isin(np.arange(5 * m), members_of(branch))
    pairs = joined & rest & rest[:, None] & (pentagon[:, None] == pentagon)
    assert np.unique(pentagon[rest]).size + np.unique(pentagon[pairs.any(axis=1)]).size < 2 * m
