"""Anonymiser. Networks under other names, or with edges moved at random: every degree kept, or not."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np

from reident.base import IntArray, Real, RNGLike, check_rng, checked
from reident.networks.graph import Network, as_network, network_from_edges, reordered

#: Rounds of drawing pairs that may not fit.
_ROUNDS = 50


class NaiveAnonymisation(NamedTuple):
    """A network under random names.

    Attributes
    ----------
    network : Network
        The release, nodes named 0 to n - 1.
    mapping : mapping
        Original name -> released name: the truth, to be kept back.
    """

    network: Network
    mapping: Mapping[Hashable, int]


def naive_anonymise(graph: Any, *, rng: RNGLike = None) -> NaiveAnonymisation:
    """Rename the nodes at random and leave the structure as it is (vanhoef2012, Definition 8.1).

    No guarantee: structure alone finds most nodes again (`recover`, `propagate`).

    Parameters
    ----------
    graph : whatever `as_network` takes
        Simple and undirected. Not modified.
    rng : Generator, int or None

    Returns
    -------
    NaiveAnonymisation
        The renamed network, isomorphic to the original, and the renaming.

    Raises
    ------
    DataError
        If the network cannot be read.
    """
    network = as_network(graph)
    renamed = check_rng(rng).permutation(network.n_nodes)
    release = reordered(network, renamed)
    return NaiveAnonymisation(release, dict(zip(network.nodes, np.asarray(renamed).tolist(), strict=True)))


_SHARE = Real(0, 1, unit="of edges")


@checked
def swap_edges(graph: Any, *, share: Annotated[float, _SHARE] = 0.1, rng: RNGLike = None) -> Network:
    """Exchange the ends of pairs of edges at random: every node keeps its degree (Ying and Wu 2008, random switching).

    `share` of the edges take part in an exchange; fewer where the network leaves no room. No guarantee: who knows
    degrees finds as much as before, and the remaining structure finds most nodes again.
    """
    network, generator = as_network(graph), check_rng(rng)
    n, (u, v) = network.n_nodes, (ends.astype(np.int64) for ends in network.edges())
    wanted, moved = round(share * len(u)) // 2, np.zeros(len(u), dtype=bool)
    for _ in range(_ROUNDS):
        free = np.flatnonzero(~moved)
        pairs = generator.permutation(free)[: 2 * (len(free) // 2)].reshape(2, -1)
        pairs = pairs[:, : wanted - int(moved.sum()) // 2]
        if not pairs.size:
            break
        first, second = pairs
        turned = generator.random(len(first)) < 0.5
        c, d = np.where(turned, v[second], u[second]), np.where(turned, u[second], v[second])
        new = np.stack([_keys(u[first], d, n), _keys(c, v[first], n)])
        fits = (u[first] != d) & (c != v[first]) & ~np.isin(new, _keys(u, v, n)).any(axis=0)
        _, place, counts = np.unique(new, return_inverse=True, return_counts=True)
        fits &= (counts[place.reshape(new.shape)] == 1).all(axis=0)
        first, second, c, d = first[fits], second[fits], c[fits], d[fits]
        v_first = v[first].copy()
        v[first], u[second], v[second] = d, c, v_first
        moved[first] = moved[second] = True
    return network_from_edges(u, v, n, network.nodes)


@checked
def rewire_edges(graph: Any, *, share: Annotated[float, _SHARE] = 0.1, rng: RNGLike = None) -> Network:
    """Remove edges at random and join as many pairs that were not joined (Hay et al. 2007, random perturbation).

    `share` of the edges are moved; fewer where the network leaves no room. No guarantee: the remaining structure finds
    many nodes again (`propagate`).
    """
    network, generator = as_network(graph), check_rng(rng)
    n, (u, v) = network.n_nodes, (ends.astype(np.int64) for ends in network.edges())
    count = min(round(share * len(u)), n * (n - 1) // 2 - len(u))
    present = np.sort(_keys(u, v, n))
    new = np.zeros(0, dtype=np.int64)
    while len(new) < count:
        a, b = generator.integers(n, size=(2, 2 * (count - len(new)) + 8))
        keys = _keys(a, b, n)[(a != b)]
        fresh = np.concatenate([new, keys[~np.isin(keys, present)]])
        new = fresh[np.sort(np.unique(fresh, return_index=True)[1])][:count]
    remaining = np.sort(generator.permutation(len(u))[count:])
    ends = np.concatenate([u[remaining], new // n]), np.concatenate([v[remaining], new % n])
    return network_from_edges(*ends, n, network.nodes)


def _keys(u: IntArray, v: IntArray, n: int) -> IntArray:
    keys: IntArray = np.minimum(u, v) * n + np.maximum(u, v)
    return keys
