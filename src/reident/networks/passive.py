"""Attack. The passive attack as an intruder would run it: every start that is at hand, and the best outcome."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Annotated, Any

import numpy as np
import pandas as pd

from reident.base import DataError, Real, RNGLike, check_listed, check_mapping, check_names, is_key
from reident.networks.graph import Network, as_network
from reident.networks.propagation import Propagation, propagate
from reident.networks.seeds import find_seeds

__all__ = ["mapped_edges", "passive_attack"]

_NOTHING = Propagation({}, 0, 0, 0, True)


def passive_attack(
    release: Any,
    known: Any,
    seeds: Mapping[Hashable, Hashable] | None = None,
    *,
    methods: tuple[str, ...] = ("matching",),
    theta: Annotated[float, Real(0)] = 0.5,
    rng: RNGLike = 0,
) -> Propagation:
    """Re-identify the nodes of a release with all that an intruder has: known people, and seeds found by structure.

    The mapping is spread from the known people, from the seeds found, and from both together, and the outcome that lays
    most of the known network's edges on edges of the release is kept. The intruder can count these, so that who knows
    people never does worse for it than who knows nobody, except as the count misleads.

    Parameters
    ----------
    release, known : whatever `as_network` takes
        The released network and the attacker's own, undirected.
    seeds : mapping, optional
        Node of `release` -> node of `known`: people the attacker knows in the release. Default: nobody.
    methods : tuple of str
        How seeds are found: methods of `find_seeds` other than ``"clique"``.
    theta : float
        As in `propagate`.
    rng : Generator, int or None
        Breaks ties in finding seeds.

    Returns
    -------
    Propagation
        `n_seeds` counts the seeds of the start that won; empty if there was nothing to start from.

    Raises
    ------
    DataError, ParameterError
        If a network cannot be read, a known person is in neither network, or an option breaks its rule.

    Notes
    -----
    vanhoef2012, chapter 10: 10.3.2 and 10.4 together. A pair found that contradicts a known one is dropped.
    """
    left, right = as_network(release, "release"), as_network(known, "known")
    given = dict(check_mapping(seeds, "seeds", optional=True))
    taken = set(check_names(given.values(), "seeds"))
    starts = [given] if given else []
    for method in check_listed(methods, "methods"):
        found = find_seeds(left, right, method=method, rng=rng).mapping
        starts.append(found)
        if given and found:
            starts.append(given | {u: v for u, v in found.items() if u not in given and v not in taken})
    spread = [propagate(left, right, start, theta=theta) for start in starts if start]
    return max(spread, key=lambda one: mapped_edges(left, right, one.mapping), default=_NOTHING)


def mapped_edges(release: Any, known: Any, mapping: Mapping[Hashable, Hashable]) -> int:
    """Return how many edges of the known network a mapping (release -> known) lays on edges of the release.

    What an intruder can see of a mapping's quality: a wrong one lays hardly more than chance.

    Parameters
    ----------
    release, known : whatever `as_network` takes
        The released and the intruder's network.
    mapping : mapping of node to node
        From release to known.

    Returns
    -------
    int
        Edges.

    Raises
    ------
    DataError, ParameterError
        If a pair names a node that its network lacks, or `mapping` is no mapping.
    """
    from reident.networks._rows import are_joined

    left, right = as_network(release, "release"), as_network(known, "known")
    partner = np.full(right.n_nodes, -1, np.int64)
    pairs = mapping.to_dict() if isinstance(mapping, pd.Series) else check_mapping(mapping, "mapping")
    for node, own in pairs.items():
        partner[_row(right, own, "known")] = _row(left, node, "release")
    u, v = (partner[ends] for ends in right.edges())
    both = (u >= 0) & (v >= 0)
    return int(are_joined(left.indptr, left.indices, u[both], v[both]).sum())


def _row(network: Network, node: Hashable, name: str) -> int:
    if not is_key(node) or node not in network.positions:
        raise DataError(f"`mapping` must join nodes of the two networks, got {node!r}, which `{name}` lacks")
    return network.positions[node]
