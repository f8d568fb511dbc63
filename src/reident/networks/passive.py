"""Attack. The passive attack from several starts: known persons, seeds found by structure, and both together."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Annotated, Any

import numpy as np

from reident.base import Real, RNGLike, check_listed, check_mapping, check_names
from reident.networks._rows import are_joined
from reident.networks.graph import Network, as_network
from reident.networks.propagation import Propagation, propagate
from reident.networks.seeds import find_seeds

__all__ = ["passive_attack"]

_EMPTY = Propagation({}, 0, 0, 0, True)


def passive_attack(
    release: Any,
    known: Any,
    seeds: Mapping[Hashable, Hashable] | None = None,
    *,
    methods: tuple[str, ...] = ("matching",),
    theta: Annotated[float, Real(0)] = 0.5,
    rng: RNGLike = 0,
) -> Propagation:
    """Re-identify the nodes of a release from known persons, from seeds found by structure, and from both together.

    Returned is the mapping that puts the largest number of the known network's edges on released edges. The intruder
    can count these, so that prior knowledge never lowers the result, except through noise in the count.

    Parameters
    ----------
    release, known : graphs as `as_network` takes
        The released network and the attacker's own, undirected.
    seeds : mapping, optional
        Node of `release` -> node of `known`: people the attacker knows in the release. Default: no person.
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
    released, background = as_network(release, "release"), as_network(known, "known")
    known_pairs = dict(check_mapping(seeds, "seeds", optional=True))
    partners = set(check_names(known_pairs.values(), "seeds"))
    starts = [known_pairs] if known_pairs else []
    for method in check_listed(methods, "methods"):
        pairs = find_seeds(released, background, method=method, rng=rng).mapping
        starts.append(pairs)
        if known_pairs and pairs:
            new = {u: v for u, v in pairs.items() if u not in known_pairs and v not in partners}
            starts.append(known_pairs | new)
    spread = [propagate(released, background, start, theta=theta) for start in starts if start]
    return max(spread, key=lambda result: _n_mapped_edges(released, background, result.mapping), default=_EMPTY)


def _n_mapped_edges(released: Network, background: Network, mapping: Mapping[Hashable, Hashable]) -> int:
    """Count the edges of the known network (right) that a mapping from the release puts on released edges."""
    partner = np.full(background.n_nodes, -1, np.int64)
    for node, person in mapping.items():
        partner[background.positions[person]] = released.positions[node]
    u, v = (partner[ends] for ends in background.edges())
    both = (u >= 0) & (v >= 0)
    return int(are_joined(released.indptr, released.indices, u[both], v[both]).sum())
