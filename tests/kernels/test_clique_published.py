import numpy as np
import pytest

from reident.kernels.cliques import clique_published
from reident.kernels.cliques.bitset import pack_rows


def graph(n, density, seed):
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < density, 1)
    return upper | upper.T


@pytest.mark.parametrize("need", [1, 2, 4, 9, 40])
@pytest.mark.parametrize("density", [0.05, 0.4, 0.9])
def test_words_colour_as_a_list_does(density, need):
    adjacent = graph(150, density, 1)
    rows = pack_rows(adjacent)
    for last in (1, 63, 64, 70, 149):
        members = np.flatnonzero(adjacent[last, :last]).astype(np.int32)
        everything = pack_rows((adjacent[last, :last])[None, :])[0]
        listed, colours = members.copy(), np.full(members.size, -1, dtype=np.int32)
        clique_published.colour(rows, listed, colours, need)
        members_too, colours_too = members.copy(), np.full(members.size, -1, dtype=np.int32)
        clique_published.colour_ascending(rows, everything, members_too, colours_too, need)
        np.testing.assert_array_equal(members_too, listed)
        np.testing.assert_array_equal(colours_too, colours)
        # The colours that are given are those of a colouring.
        assert not (adjacent[np.ix_(listed, listed)] & (colours[:, None] == colours) & (colours > 0)).any()


@pytest.mark.parametrize("n", [2, 10, 90])
def test_candidates_are_sorted_by_degree_among_themselves(n):
    adjacent = graph(200, 0.3, 2)
    members = np.random.default_rng(3).permutation(200)[:n].astype(np.int32)
    ref = members[np.argsort(-adjacent[np.ix_(members, members)].sum(axis=1), kind="stable")]
    clique_published.sort_by_degree(pack_rows(adjacent), members)
    np.testing.assert_array_equal(members, ref)
