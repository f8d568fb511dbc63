"""Product graphs and cliques by plain definition: every pair looked at, every subset tried."""

from itertools import combinations

import numpy as np


def product_graph(labels_release, d_release, labels_known, d_known, low, high, *, either=False, tolerance=0):
    """Definition 6 of Kroll (2015): vertices, and edges between positions in that list.

    Distances may be missing (NaN) and differ in the two directions, labels agree within the tolerance.
    """

    def agree(known, released):
        gaps = known != known, released != released
        return (any(gaps) if either else all(gaps)) or low < known - released < high

    vertices = [
        (v, w)
        for w in range(len(labels_known))
        for v in range(len(labels_release))
        if abs(labels_release[v] - labels_known[w]) <= tolerance
    ]
    edges = {
        (a, b)
        for (a, (v1, w1)), (b, (v2, w2)) in combinations(enumerate(vertices), 2)
        if v1 != v2
        and w1 != w2
        and agree(d_known[w1][w2], d_release[v1][v2])
        and agree(d_known[w2][w1], d_release[v2][v1])
    }
    return vertices, edges


def max_cliques(dense):
    """All maximum cliques of a small graph, from the largest subsets down."""
    for size in range(len(dense), 0, -1):
        subsets = combinations(range(len(dense)), size)
        if found := [subset for subset in subsets if all(dense[pair] for pair in combinations(subset, 2))]:
            return found
    return [()]


def published_search(adjacent, limit):
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
