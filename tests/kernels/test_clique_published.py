import numpy as np
import pytest

from fuzz.cliques import by_degree, published_search
from naive_cliques import published_search as naive_search


@pytest.mark.whole
@pytest.mark.parametrize(("n", "density", "limit"), [(150, 0.8, 400), (300, 0.5, 400)])
def test_graphs_of_their_own_change_no_step(n, density, limit):
    upper = np.triu(np.random.default_rng(6).random((n, n)) < density, 1)
    adjacent = by_degree(upper | upper.T)
    # A slice that ends at once gives no candidates a graph of their own; a long one does, also between two levels.
    whole = published_search(adjacent, limit, 10**12)
    assert whole == published_search(adjacent, limit, 1) == published_search(adjacent, limit, 50_000)
    assert whole == naive_search(adjacent, limit)
