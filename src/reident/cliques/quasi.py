"""Attack. Sets of matches in which most, not all, distances agree."""

from __future__ import annotations

import time
from typing import Annotated

import numpy as np

from reident.base import ParameterError, Real, RNGLike, Whole, check_rng, checked
from reident.cliques.cliques import TIME_LIMIT_S, Clique, max_cliques
from reident.kernels.cliques import quasi_clique as kernels
from reident.places.compatibility import CompatibilityGraph

__all__ = ["quasi_clique"]

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
    began = time.perf_counter()
    if not isinstance(graph, CompatibilityGraph):
        raise ParameterError(f"`graph` must be a compatibility graph, got {type(graph).__name__}")
    generator = check_rng(rng)
    if graph.n_vertices == 0:
        return Clique((), True, 0, 0, time.perf_counter() - began)
    cliques = max_cliques(
        graph, limit=1000, time_limit_s=time_limit_s, node_limit=node_limit, progress=progress, rng=generator
    )
    picked = generator.permutation(len(cliques))[:_STARTS]
    indptr, indices = graph.adjacency.lists()
    release, known = np.ascontiguousarray(graph.pairs.T)
    most = min(np.unique(release).size, np.unique(known).size)
    state = np.array([generator.integers(1, 2**63)], dtype=np.uint64)
    best = np.zeros(0, dtype=np.int64)
    for start in picked:
        found = np.empty(most, dtype=np.int64)
        first = np.array(cliques.cliques[start], dtype=np.int64)
        size = kernels.quasi_clique(indptr, indices, release, known, gamma, first, n_rounds, state, found)
        if size > best.size:
            best = found[:size]
    return Clique(tuple(np.sort(best).tolist()), False, most, cliques.n_nodes, time.perf_counter() - began)
