"""Algorithm 10.1 of vanhoef2012 set by set: scores of node pairs under a mapping, and fixed points of Listing 10.1."""

import math

import numpy as np


def score(v_left, v_right, left, right, mapping, crawled_left, crawled_right):
    """Return the cosine of the mapped neighbourhoods; "crawled" means that outgoing links are known.

    `left` and `right` tell for each node its predecessors and its successors, as two lists of sets.
    """
    images = {mapping[u] for u in mapping if u in crawled_left}
    n_left = {mapping[u] for u in left[0][v_left] if u in mapping} & crawled_right
    n_right = right[0][v_right] & images
    if v_left in crawled_left and v_right in crawled_right:
        n_left |= {mapping[u] for u in left[1][v_left] if u in mapping} & crawled_right
        n_right |= right[1][v_right] & images
    common = len(n_left & n_right)
    return common / math.sqrt(len(n_left) * len(n_right)) if common else 0.0


def neighbours(dense):
    """Return each node's predecessors and successors from a matrix (from, to)."""
    return [[set(np.flatnonzero(line).tolist()) for line in lines] for lines in (dense.T, dense)]


def best(scores):
    """Return who has the largest score, and by how many standard deviations it stands out; ties stand out by 0."""
    ranked = sorted(scores)
    spread = float(np.std(scores))
    if ranked[-1] == 0 or spread < 1e-9:
        return set(), 0.0
    winners = {v for v, found in enumerate(scores) if found >= ranked[-1] - 1e-9}
    return winners, (ranked[-1] - ranked[-2]) / spread


def is_settled(left, right, crawled, mapping, theta):
    """Tell whether no node of the left has a mutual, clear best match other than its partner.

    Differences within rounding, where either answer is right, do not count as unsettled.
    """
    sides, inverse = (neighbours(left), neighbours(right)), {v: u for u, v in mapping.items()}
    known = [set(np.flatnonzero(c).tolist()) for c in crawled]
    n = len(left)

    def ahead(u):
        return best([score(u, v, *sides, mapping, *known) for v in range(n)])

    def back(v):
        return best([score(v, u, *sides[::-1], inverse, *known[::-1]) for u in range(n)])

    for u in range(n):
        winners, clear = ahead(u)
        if len(winners) != 1 or clear < theta + 1e-6:
            continue
        (v,) = winners
        if mapping.get(u) == v:
            continue
        mutual, clear = back(v)
        if mutual == {u} and clear > theta + 1e-6:
            return False
    return True
