"""Attack. Link prediction against a release: which edges were added, and which were taken out (vanhoef2012, 9.9)."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable
from typing import Annotated, Any

import numpy as np
import pandas as pd

from reident.base import (
    DataError,
    FloatArray,
    IntArray,
    RNGLike,
    Whole,
    check_integer,
    check_listed,
    check_rng,
    checked,
)
from reident.networks.graph import Network, as_network, network_from_edges, rows_of


def link_scores(graph: Any, pairs: Iterable[tuple[Hashable, Hashable]] | None = None) -> FloatArray:
    """Score pairs of nodes by how much their neighbourhoods have in common.

    An edge that anonymisation added joins nodes that have little in common, and scores low; a pair whose edge it took
    out still has common friends, and scores high. The edge between the two nodes itself does not count, so that joined
    and separate pairs compare.

    Parameters
    ----------
    graph : whatever `as_network` takes
        The released network.
    pairs : iterable of pairs of nodes, optional
        Default: all edges, in the order of `Network.edges`.

    Returns
    -------
    ndarray of float64, shape (pairs,)
        Cosine: the number of common neighbours over the geometric mean of the two degrees.

    Raises
    ------
    DataError
        If a pair names a node that the graph lacks, or one node twice.
    """
    network = as_network(graph)
    u, v = network.edges() if pairs is None else _rows_of(network, pairs)
    rows, joined = network.to_scipy(), network.has_edges(u, v)
    common = np.asarray(rows[u].multiply(rows[v]).sum(axis=1), np.float64)
    du, dv = (network.degrees[ends] - joined for ends in (u, v))
    scores: FloatArray = common / np.sqrt(np.maximum(du * dv, 1))
    return scores


def _rows_of(network: Network, pairs: Iterable[tuple[Hashable, Hashable]]) -> tuple[IntArray, IntArray]:
    listed = check_listed(pairs, "pairs")
    for pair in listed:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise DataError(f"`pairs` must hold pairs of nodes, got {pair!r}")
        if pair[0] == pair[1]:
            raise DataError(f"`pairs` must name two different nodes, got {pair!r}")
    rows = np.array(rows_of(network, itertools.chain(*listed), "pairs"), np.int64).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


@checked
def drop_unlikely_edges(graph: Any, n: Annotated[int, Whole(0, unit="links")]) -> Network:
    """Return the network without its most unlikely edges: anonymisation's additions undone in part.

    Parameters
    ----------
    graph : whatever `as_network` takes
        The released network. Not modified.
    n : int
        How many edges to drop, those of least score, for example as many as the method is known to add; of equal scores
        the first in the order of `Network.edges`.

    Returns
    -------
    Network
        On the same nodes.

    Raises
    ------
    ParameterError
        If the graph has fewer than `n` edges.
    """
    network = as_network(graph)
    n = check_integer(n, "n", low=0, high=network.n_edges, why="the graph has no more edges")
    keep = np.sort(np.argsort(link_scores(network), kind="stable")[n:])
    u, v = (ends[keep] for ends in network.edges())
    return network_from_edges(u, v, network.n_nodes, network.nodes)


def random_non_edges(graph: Any, n: int, *, rng: RNGLike = None) -> list[tuple[Hashable, Hashable]]:
    """Draw `n` distinct pairs of nodes that are not joined, to compare with pairs of deleted edges.

    Parameters
    ----------
    graph : whatever `as_network` takes
    n : int
        How many pairs.
    rng : Generator, int or None

    Returns
    -------
    list of tuple
        Pairs of nodes.

    Raises
    ------
    ParameterError
        If there are fewer than `n`.
    """
    network = as_network(graph)
    free = network.n_nodes * (network.n_nodes - 1) // 2 - network.n_edges
    n = check_integer(n, "n", low=1, high=free, why=f"only {free} pairs are not joined")
    generator = check_rng(rng)
    keys = np.empty(0, np.int64)
    while len(keys) < n:
        u, v = np.sort(generator.integers(0, network.n_nodes, (n - len(keys), 2)), axis=1).T
        is_free = (u != v) & ~network.has_edges(u, v)
        keys = pd.unique(np.append(keys, (u * network.n_nodes + v)[is_free]))
    rows = zip(*(part.tolist() for part in np.divmod(keys, network.n_nodes)), strict=True)
    return [(network.nodes[u], network.nodes[v]) for u, v in rows]
