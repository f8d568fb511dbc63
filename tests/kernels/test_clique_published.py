import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reident.cliques.adjacency import pack_rows
from reident.kernels.cliques import clique_published


def graph(n, density, seed):
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < density, 1)
    return upper | upper.T


def naive_search(adjacent, limit):
    """Konc and Janežič's search by lists, vertices in descending degree; return the steps and the clique."""
    steps, best, chosen = 0, [], []
    sums = np.zeros((len(adjacent) + 3, 2), dtype=int)

    def coloured(members, need):
        classes = []
        for v in members:
            for members_of in classes:
                if not adjacent[v, members_of].any():
                    members_of.append(v)
                    break
            else:
                classes.append([v])
        high = [(v, k + 1) for k, members_of in enumerate(classes) for v in members_of if k + 1 >= need]
        there = {v for v, _ in high}
        return [(v, 0) for v in members if v not in there] + high

    def expand(listed):
        nonlocal steps, best
        level = len(chosen) + 1
        while listed and len(chosen) + listed[-1][1] > len(best):
            if steps >= limit:
                return False
            v, _ = listed.pop()
            left = [u for u, _ in listed if adjacent[v, u]]
            if not left:
                best = max(best, [*chosen, v], key=len)
                continue
            steps += 1
            if sums[level, 0] < 0.025 * steps:
                left = sorted(left, key=lambda u: -adjacent[u, left].sum())
            sums[level, 0] += 1
            sums[level + 1] = sums[level + 1, 0] + sums[level, 0] - sums[level + 1, 1], sums[level, 0]
            further = coloured(left, max(len(best) - len(chosen), 1))
            chosen.append(v)
            went_on = expand(further)
            chosen.pop()
            if not went_on:
                return False
        return True

    largest = int(adjacent.sum(axis=1).max())
    expand([(v, min(v, largest) + 1) for v in range(len(adjacent))])
    return steps, best


def search(adjacent, limit, work):
    """Run the kernel in slices, its lists grown when they are full."""
    n, degrees = len(adjacent), adjacent.sum(axis=1)
    state, sums = np.zeros(3, np.int64), np.zeros((n + 3, 2), np.int64)
    stops, chosen, best = (np.zeros(n + 3, np.int64) for _ in range(3))
    lists = np.zeros((2, n), np.int32)
    lists[:] = np.arange(n), np.minimum(np.arange(n), degrees[0]) + 1
    stops[1], state[clique_published.LEVEL] = n, 1
    rows, status = pack_rows(adjacent), clique_published.STOPPED
    while status != clique_published.FINISHED and state[clique_published.STEPS] < limit:
        status = clique_published.advance(rows, state, stops, chosen, sums, *lists, best, limit, work)
        if status == clique_published.NEEDS_ROOM:
            lists = np.concatenate([lists, np.zeros_like(lists)], axis=1)
    return int(state[clique_published.STEPS]), best[: state[clique_published.BEST]].tolist()


def by_degree(adjacent):
    order = np.argsort(-adjacent.sum(axis=1), kind="stable")
    return adjacent[np.ix_(order, order)]


@given(
    n=st.integers(1, 70),
    density=st.floats(0.05, 0.95),
    seed=st.integers(0, 2**32),
    limit=st.integers(1, 400),
    work=st.sampled_from([1, 300, 10**9]),
)
def test_steps_are_those_of_the_search_by_lists(n, density, seed, limit, work):
    adjacent = by_degree(graph(n, density, seed))
    assert search(adjacent, limit, work) == naive_search(adjacent, limit)


@pytest.mark.whole
@pytest.mark.parametrize(("n", "density", "limit"), [(150, 0.8, 400), (300, 0.5, 400)])
def test_graphs_of_their_own_change_no_step(n, density, limit):
    adjacent = by_degree(graph(n, density, 6))
    # A slice that ends at once gives no candidates a graph of their own; a long one does, also between two levels.
    whole = search(adjacent, limit, 10**12)
    assert whole == search(adjacent, limit, 1) == search(adjacent, limit, 50_000)
    assert whole == naive_search(adjacent, limit)
