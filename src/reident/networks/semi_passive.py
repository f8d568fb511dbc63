"""Attack. The semi-passive attack: a coalition that befriends its targets shortly before the release."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable

import numpy as np

from reident.base import DataError, ParameterError, RNGLike, check_names, check_rng
from reident.networks.graph import as_network, network_from_edges
from reident.networks.planted_subgraph import Plan, coalition

__all__ = ["semi_passive"]


def semi_passive(
    graph: object, members: Iterable[Hashable], targets: Iterable[Hashable], *, rng: RNGLike = None
) -> Plan:
    """Plan the attack of existing users who add a few links so that each target is joined to members of its own.

    Between the active attack, which makes new accounts, and the coalition, which finds only friends that it happens to
    tell apart: no account is new, and a few links are.

    Parameters
    ----------
    graph : whatever `as_network` takes
        The network before release. Not modified.
    members : iterable of nodes
        The coalition: at least two users, connected among themselves.
    targets : iterable of nodes
        Whom to find: other nodes.
    rng : Generator, int or None
        Chooses among the smallest sets of members that nobody has.

    Returns
    -------
    Plan
        For `recover`. Its `network` has the new links; `links` holds the targets and the friends who can be told apart.

    Raises
    ------
    DataError, ParameterError
        As for `coalition`; for a target that is absent, named twice or a member; if the members are too few to give
        every target a set of its own.

    Notes
    -----
    Backstrom, Dwork, Kleinberg (2007), section 4; vanhoef2012, 8.9 describes the passive coalition that it extends.
    """
    network = as_network(graph)
    before = coalition(network, members)
    rows = [network.positions[member] for member in before.nodes]
    listed = check_names(targets, "targets")
    if not listed or len(set(listed)) < len(listed):
        raise ParameterError(f"`targets` must name at least one node, each once, got {listed!r}")
    owners: dict[int, frozenset[int]] = {}
    for place, row in enumerate(rows):
        for friend in network.indices[network.indptr[row] : network.indptr[row + 1]].tolist():
            owners[friend] = owners.get(friend, frozenset()) | {place}
    added = []
    generator = check_rng(rng)
    for target in listed:
        if target not in network.positions or network.positions[target] in rows:
            raise DataError(f"`targets` must be nodes of the graph outside the coalition, got {target!r}")
        node = network.positions[target]
        own = owners.get(node, frozenset())
        chosen = _free_set(own, {held for other, held in owners.items() if other != node}, len(rows), generator)
        owners[node] = chosen
        added += [(rows[place], node) for place in chosen - own]
    new = np.array(added, np.int64).reshape(-1, 2)
    u, v = network.edges()
    ends = np.concatenate([u, new[:, 0]]), np.concatenate([v, new[:, 1]])
    return coalition(network_from_edges(*ends, network.n_nodes, network.nodes), before.nodes)


def _free_set(own: frozenset[int], taken: set[frozenset[int]], k: int, rng: np.random.Generator) -> frozenset[int]:
    """Return one of the smallest sets of members that holds `own`, is not empty, and that nobody else has."""
    others = sorted(set(range(k)) - own)
    for extra in range(0 if own else 1, len(others) + 1):
        free = [own | set(more) for more in itertools.combinations(others, extra)]
        free = [one for one in free if one not in taken]
        if free:
            return free[int(rng.integers(len(free)))]
    raise ParameterError(f"`members` are too few, {k}: no set of them is left that tells every target apart")
