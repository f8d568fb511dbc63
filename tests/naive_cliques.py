"""Product graphs and cliques by plain definition: every pair looked at, every subset tried."""

from itertools import combinations


def compatibility_graph(labels_release, d_release, labels_known, d_known, low, high):
    """Definition 6 of Kroll (2015) for complete graphs: vertices, and edges between positions in that list."""
    vertices = [
        (v, w)
        for w in range(len(labels_known))
        for v in range(len(labels_release))
        if labels_release[v] == labels_known[w]
    ]
    edges = {
        (a, b)
        for (a, (v1, w1)), (b, (v2, w2)) in combinations(enumerate(vertices), 2)
        if v1 != v2 and w1 != w2 and low < d_known[w1][w2] - d_release[v1][v2] < high
    }
    return vertices, edges


def partial_graph(labels_release, d_release, labels_known, d_known, low, high, *, either, tolerance=0):
    """Definition 6 of Kroll (2015) with missing distances (NaN), in both directions, and labels that nearly agree."""

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


def max_cliques(n, edges):
    """All maximum cliques of a small graph, from the largest subsets down."""
    edges = {frozenset(edge) for edge in edges}
    for size in range(n, 0, -1):
        found = [
            subset
            for subset in combinations(range(n), size)
            if all(frozenset(p) in edges for p in combinations(subset, 2))
        ]
        if found:
            return found
    return [()]
