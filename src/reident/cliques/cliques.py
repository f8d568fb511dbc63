"""Attack. Maximum cliques of any simple graph: one of them, or all."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reident.base import (
    DataError,
    IntArray,
    ParameterError,
    RNGLike,
    SearchLimitWarning,
    check_choice,
    check_instance,
    check_integer,
    check_rng,
)
from reident.cliques.adjacency import Adjacency, as_adjacency
from reident.cliques.published import PublishedSearch
from reident.cliques.search import CliqueSearch, Search

#: Seconds after which a search ends unless its caller says otherwise.
TIME_LIMIT_S = 60.0


@dataclass(frozen=True)
class Clique:
    """The outcome of a search for a maximum clique.

    Attributes
    ----------
    vertices : tuple
        The members: numbers of vertices, ascending, or the nodes of a networkx graph in the graph's order.
    is_optimal : bool
        Whether it is proven that no clique is larger.
    upper_bound : int
        No clique of the graph is larger than this; the size of the clique if that is proven maximum.
    n_nodes : int
        Nodes of branch and bound, and one for every 50 vertices of a subproblem that was prepared; in the published
        search its steps.
    seconds : float
        Wall-clock time of the search, s.
    """

    vertices: tuple[Hashable, ...]
    is_optimal: bool
    upper_bound: int
    n_nodes: int
    seconds: float

    def __len__(self) -> int:
        return len(self.vertices)


@dataclass(frozen=True)
class Cliques:
    """All maximum cliques of a graph, as far as they were listed.

    Attributes
    ----------
    cliques : tuple of tuple
        The cliques, each in the form of `Clique.vertices`, in lexicographic order for a complete list.
    size : int
        The number of members of each.
    is_complete : bool
        Whether these are all: false if the limit or the search's limits cut the list short.
    is_optimal : bool
        Whether it is proven that no clique is larger.
    upper_bound, n_nodes, seconds
        As in `Clique`.
    """

    cliques: tuple[tuple[Hashable, ...], ...]
    size: int
    is_complete: bool
    is_optimal: bool
    upper_bound: int
    n_nodes: int
    seconds: float

    def __len__(self) -> int:
        return len(self.cliques)


def max_clique(
    graph: Any,
    *,
    search: str = "strong",
    start: Clique | None = None,
    time_limit_s: float | None = TIME_LIMIT_S,
    node_limit: int | None = None,
    progress: bool = True,
    rng: RNGLike = None,
) -> Clique:
    """Find a maximum clique, and prove it.

    An exact search: a tabu search finds a large clique, then branch and bound with bitset colouring searches what
    may hold a larger one. Finding a maximum clique is NP-hard; give a limit where the graph is dense.

    Parameters
    ----------
    graph : CompatibilityGraph, networkx.Graph, scipy sparse matrix or ndarray of bool
        A simple undirected graph; weights and loops are ignored. Not modified.
    search : {"strong", "published"}
        ``"strong"`` is the search described above. ``"published"`` is the one that Kroll (2015) and Kroll and Schnell
        (2016) used, the algorithm of Konc and Janežič without local search; with ``node_limit=20_000_000`` it ends
        where theirs did. It is slower by far, needs n^2 / 8 bytes, and finds smaller cliques where a limit ends it.
    start : Clique, optional
        The result of an earlier search of the same graph: the strong search starts from that clique and its bound.
    time_limit_s : float, optional
        Stop after about so many seconds of wall-clock time (checked about every tenth of a second). Default: a
        minute; None for no limit.
    node_limit : int, optional
        Stop after so many nodes, as counted by `Clique.n_nodes` (exceeded at most by the preparation of one
        subproblem); the outcome is then reproducible. Default: no limit. In the published search a node is a step of
        that algorithm: a vertex that joins the growing clique and leaves candidates that are adjacent to all of it.
    progress : bool
        Show the progress of a search of more than two seconds in a terminal or notebook.
    rng : Generator, int or None
        Drives the tabu search, and so decides which of several maximum cliques is found. A seed always gives the
        same clique for the same graph, unless a time limit ends the search. The published search draws nothing.

    Returns
    -------
    Clique
        The clique, whether it is proven maximum, an upper bound, and the number of nodes. A graph without vertices has
        the empty clique.

    Raises
    ------
    ParameterError, DataError
        If the graph is of no accepted kind, directed, not square or not symmetric, a limit is out of range, or `start`
        is no clique of the graph or is given with the published search.

    Warns
    -----
    SearchLimitWarning
        If a limit ended the search: the clique is the best so far, `is_optimal` is false, and `upper_bound` is true.

    Notes
    -----
    The search uses the colour bound of Tomita and Seki in San Segundo's bitset form, and conflicts of any number of
    colour classes, found by members that stand alone (unit propagation) and relaxed for further use, as in the bound by
    partial MaxSAT of Li, Fang and Xu (2013). What takes long is cut at its root into smaller graphs; large sparse
    graphs are searched neighbourhood by neighbourhood, each reduced first by the number of common neighbours that a
    member of a larger clique must have.
    The tabu search is of Wu, Hao and Glover's multi-neighbourhood kind. The published search is MCQD (Konc and
    Janežič, 2007: colour sort, re-sorting by degree on levels that took less than .025 of the steps); equal degrees
    keep their order, which the original leaves open.

    Examples
    --------
    >>> import networkx as nx
    >>> clique = max_clique(nx.karate_club_graph(), rng=0)
    >>> len(clique), clique.is_optimal
    (5, True)
    """
    adjacency, names = as_adjacency(graph)
    check_choice(search, "search", ("strong", "published"))
    limits: dict[str, Any] = {"time_limit_s": time_limit_s, "node_limit": node_limit, "progress": progress}
    if search == "strong":
        initial = _initial(start, adjacency, names)
        searcher: Search = CliqueSearch(adjacency, check_rng(rng), ties=False, initial=initial, **limits)
    elif start is not None:
        raise ParameterError("`start` cannot be used with search='published', which starts from an empty clique")
    else:
        searcher = PublishedSearch(adjacency, **limits)
    is_optimal = searcher.maximum()
    return _clique(searcher, is_optimal, names)


def max_cliques(
    graph: Any,
    *,
    limit: int = 100_000,
    start: Clique | None = None,
    time_limit_s: float | None = TIME_LIMIT_S,
    node_limit: int | None = None,
    progress: bool = True,
    rng: RNGLike = None,
) -> Cliques:
    """List all maximum cliques.

    Ties are real in linkage attacks: where few distances are compatible, many maximum cliques explain the data
    equally well, and an attacker has no reason to prefer one.

    Parameters
    ----------
    graph, start, time_limit_s, node_limit, progress, rng
        As for `max_clique`; the limits hold for the search and the listing together.
    limit : int
        List at most so many cliques: there may be exponentially many.

    Returns
    -------
    Cliques
        The cliques and whether they are all.

    Raises
    ------
    ParameterError, DataError
        As for `max_clique`.

    Warns
    -----
    SearchLimitWarning
        If a search limit was reached, or there are more than `limit` maximum cliques.

    Examples
    --------
    >>> import networkx as nx
    >>> max_cliques(nx.cycle_graph(4)).cliques
    ((0, 1), (0, 3), (1, 2), (2, 3))
    """
    limit = check_integer(limit, "limit", low=1)
    adjacency, names = as_adjacency(graph)
    limits: dict[str, Any] = {"time_limit_s": time_limit_s, "node_limit": node_limit, "progress": progress}
    initial = _initial(start, adjacency, names)
    search = CliqueSearch(adjacency, check_rng(rng), ties=True, initial=initial, **limits)
    is_optimal = search.maximum()
    best = _clique(search, is_optimal, names)
    cliques, is_complete = [search.best], is_optimal
    if is_optimal and len(best):
        cliques, is_complete = search.every(limit)
        cliques = cliques or [search.best]
        if not is_complete:
            warnings.warn(
                f"only {len(cliques)} of the maximum cliques (of {len(best)} members) are listed: a limit was reached",
                SearchLimitWarning,
                stacklevel=2,
            )
    listed = sorted(tuple(sorted(clique.tolist())) for clique in cliques)
    return Cliques(
        tuple(_named(vertices, names) for vertices in listed),
        len(best),
        is_complete,
        is_optimal,
        best.upper_bound,
        search.n_nodes,
        search.seconds(),
    )


def _named(vertices: Sequence[int], names: list[Hashable] | None) -> tuple[Hashable, ...]:
    return tuple(vertices if names is None else (names[v] for v in vertices))


def _initial(start: Any, adjacency: Adjacency, names: list[Hashable] | None) -> tuple[IntArray, int] | None:
    """Return the clique of an earlier search by its vertices' numbers, and its bound."""
    if start is None:
        return None
    check_instance(start, "start", Clique, "what max_clique returns")
    position = range(adjacency.n_vertices) if names is None else {name: v for v, name in enumerate(names)}
    known = [v for v in start.vertices if v in position]
    members = np.array([v if names is None else position[v] for v in known], dtype=np.int64)
    if len(known) < len(start) or not len(known) or not adjacency.is_clique(members):
        raise DataError(f"`start` must be a clique of the graph, got {start.vertices!r}")
    return members, start.upper_bound


def _clique(search: Search, is_optimal: bool, names: list[Hashable] | None) -> Clique:
    vertices = sorted(search.best.tolist())
    bound = len(vertices) if is_optimal else max(len(vertices), search.open_bound)
    if not is_optimal:
        warnings.warn(
            f"the search for a maximum clique ended at its limit: the best so far has {len(vertices)} members, "
            f"a larger one has at most {bound}",
            SearchLimitWarning,
            stacklevel=3,
        )
    return Clique(
        _named(vertices, names),
        is_optimal,
        bound,
        search.n_nodes,
        search.seconds(),
    )
