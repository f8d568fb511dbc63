"""Attack. Sets of matches in which most, not all, distances agree."""

from __future__ import annotations

import math
import time
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from reident.base import Int32Array, IntArray, ParameterError, Real, RNGLike, Whole, check_rng, checked
from reident.cliques.cliques import TIME_LIMIT_S, Clique, max_cliques
from reident.kernels.cliques.clique_climb import random_number
from reident.kernels.cliques.quasi_clique import grow
from reident.places.compatibility import CompatibilityGraph

# Growing starts from at most so many maximum cliques.
_STARTS = 8

_MOST_ROUNDS = 1_000_000


@checked
def quasi_clique(
    graph: CompatibilityGraph,
    *,
    gamma: Annotated[float, Real(0, 1, unit="share of neighbours", open_low=True)],
    n_rounds: Annotated[int, Whole(0, _MOST_ROUNDS, unit="rounds")] = 50,
    time_limit_s: Annotated[float | None, Real(0, unit="s", open_low=True)] = TIME_LIMIT_S,
    node_limit: Annotated[int | None, Whole(1, unit="nodes")] = None,
    progress: bool = True,
    rng: RNGLike = None,
) -> Clique:
    """Look for a large set of matches in which each agrees with most others: a gamma-quasi-clique.

    Where noise was added to each distance separately, a window that holds a share alpha of the true distances splits
    the true matches into small cliques; a quasi-clique forgives some disagreements. A heuristic: it never returns less
    than a maximum clique, and proves nothing.

    Parameters
    ----------
    graph : CompatibilityGraph
        The product graph. Not modified.
    gamma : float
        Each match must be compatible with at least this share of the other matches; in (0, 1].
    n_rounds : int
        How often to drop some members of the best set and grow it again, from each of a few maximum cliques; at most a
        million times.
    time_limit_s, node_limit, progress
        Limits of the clique search that starts it, see `max_clique`.
    rng : Generator, int or None
        Drives the search.

    Returns
    -------
    Clique
        The members; `is_optimal` is false, and `upper_bound` is the number of matches that any one-to-one linkage has
        at most.

    Raises
    ------
    ParameterError
        If `graph` is no compatibility graph, or `gamma` or `n_rounds` break their rule.

    Warns
    -----
    SearchLimitWarning
        If the clique search that starts it ended at a limit.

    Notes
    -----
    The relaxation that Kroll (2015), section 5, proposes for noise on distances. The search is our own: greedy growth
    with random restarts. Matches of one record never come together.
    """
    start_s = time.perf_counter()
    if not isinstance(graph, CompatibilityGraph):
        raise ParameterError(f"`graph` must be a compatibility graph, got {type(graph).__name__}")
    generator = check_rng(rng)
    if graph.n_vertices == 0:
        return Clique((), True, 0, 0, time.perf_counter() - start_s)
    cliques = max_cliques(
        graph, limit=1000, time_limit_s=time_limit_s, node_limit=node_limit, progress=progress, rng=generator
    )
    picked = generator.permutation(len(cliques))[:_STARTS]
    indptr, indices = graph.lists()
    release, known = np.ascontiguousarray(graph.pairs.T)
    upper_bound = min(np.unique(release).size, np.unique(known).size)
    state = np.array([generator.integers(1, 2**63)], dtype=np.uint64)
    best = np.zeros(0, dtype=np.int64)
    for start in picked:
        members = np.empty(upper_bound, dtype=np.int64)
        first = np.array(cliques.cliques[start], dtype=np.int64)
        size = _grow_again(indptr, indices, release, known, gamma, first, n_rounds, state, members)
        if size > best.size:
            best = members[:size]
    return Clique(tuple(np.sort(best).tolist()), False, upper_bound, cliques.n_nodes, time.perf_counter() - start_s)


def _grow_again(
    indptr: IntArray,
    indices: Int32Array,
    release: IntArray,
    known: IntArray,
    gamma: float,
    start: IntArray,
    n_rounds: int,
    state: NDArray[np.uint64],
    best: IntArray,
) -> int:
    """Grow from `start`, then again and again from the best set less some random members.

    Returns the size of the largest set found, put into `best`; of equal ones the one with most adjacent pairs.
    """
    used_release = np.zeros(release.max() + 1, dtype=np.bool_)
    used_known = np.zeros(known.max() + 1, dtype=np.bool_)
    counts = np.zeros(indptr.size - 1, dtype=np.int32)
    members = np.empty(best.size, dtype=np.int64)

    def move(some: IntArray, by: int) -> None:
        used_release[release[some]] = used_known[known[some]] = by > 0
        for v in some:
            counts[indices[indptr[v] : indptr[v + 1]]] += by  # a row names each neighbour once

    best_size = size = start.size
    members[:size] = best[:size] = start
    best_ends = size * (size - 1)
    move(start, 1)
    for n_round in range(n_rounds + 1):
        if n_round > 0:
            for _ in range(1 + random_number(state) % max(1, size // 3)):
                k = random_number(state) % size
                v = members[k]
                size -= 1
                members[k] = members[size]
                move(np.array([v]), -1)
        size = grow(indptr, indices, release, known, gamma, counts, used_release, used_known, members, size, state)
        inside = counts[members[:size]]
        valid = bool((inside >= math.ceil(gamma * (size - 1) - 1e-9)).all())
        ends = int(inside.sum())
        if valid and (size > best_size or (size == best_size and ends > best_ends)):
            best_size, best_ends = size, ends
            best[:size] = members[:size]
        else:
            # Back to the best set: the walk may not drift through sets that are no quasi-cliques.
            move(members[:size], -1)
            size = best_size
            members[:size] = best[:size]
            move(best[:size], 1)
    return best_size
