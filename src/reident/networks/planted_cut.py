"""Attack. The cut-based active attack: planted nodes that a few edges alone hold to the others."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from reident.base import (
    BoolArray,
    IntArray,
    ParameterError,
    RNGLike,
    Whole,
    check_rng,
    checked,
)
from reident.networks.graph import Network, as_network, incidence
from reident.networks.planted_recovery import Recovery, search_plan
from reident.networks.planted_subgraph import (
    REDRAWS,
    Plan,
    check_nodes,
    connected_order,
    is_rigid,
    plant,
)


@checked
def edge_connected_groups(graph: Any, k: Annotated[int, Whole(1, unit="edges")]) -> list[list[Hashable]]:
    """Return the groups of nodes that can be taken apart only by cutting at least `k` edges within the group.

    What the cut-based attacker looks through, and what a data owner can look through who suspects one: dense groups
    that hang on the rest by few edges.

    Parameters
    ----------
    graph : whatever `as_network` takes
        Simple and undirected.
    k : int
        The least number of edges, at least 1; 1 gives the connected components.

    Returns
    -------
    list of lists of nodes
        The maximal k-edge-connected subgraphs of two or more nodes, the largest first. They have no node in common.

    Raises
    ------
    DataError, ParameterError
        If the graph is not simple and undirected, or `k` is below 1.

    Notes
    -----
    networkx: `k_edge_subgraphs`, less the single nodes. Nagamochi, Ibaraki (1992) find whom to merge in one scan; a
    scan of 10^6 edges takes a fifth of a second.

    Examples
    --------
    >>> import networkx as nx
    >>> edge_connected_groups(nx.barbell_graph(3, 0), 2)
    [[0, 1, 2], [3, 4, 5]]
    """
    network = as_network(graph)
    # No group is held together by as many edges as there are nodes.
    groups = _groups(network, min(k, max(network.n_nodes, 1)))
    return [[network.nodes[row] for row in group] for group in groups]


def _groups(network: Network, k: int) -> list[list[int]]:
    """Return the groups of more than one node, the largest first."""
    u, v = network.edges()
    label = _group_labels(u, v, network.n_nodes, k)
    grouped = np.flatnonzero(np.bincount(label, minlength=len(label))[label] > 1)
    order = grouped[np.argsort(label[grouped], kind="stable")]
    groups = np.split(order, np.flatnonzero(np.diff(label[order])) + 1) if len(order) else []
    return sorted((group.tolist() for group in groups), key=lambda group: -len(group))


@checked
def implant_by_cut(
    graph: Any,
    targets: Iterable[Hashable],
    *,
    redraws: Annotated[int, REDRAWS] = 1000,
    rng: RNGLike = None,
) -> Plan:
    """Plant a dense group that hangs on the network by one edge a target.

    Fewer links to others than `implant` makes (one a target instead of ten and more a planted node), but a shape that
    real networks hardly have: the owner who looks for it finds it (`edge_connected_groups`, `detectability`).

    Parameters
    ----------
    graph : whatever `as_network` takes
        The network before release. Not modified.
    targets : iterable of nodes
        Whom to find: b distinct nodes of the graph. 3 b + 3 nodes are planted.
    redraws : int
        How often to draw H = G(3 b + 3, 1/2) anew while b edges take it apart or it has an automorphism that keeps the
        degrees. For one target few draws do; after the last one the plan says whether it `is_rigid`. 100,000 at most.
    rng : Generator, int or None

    Returns
    -------
    Plan
        For `recover_by_cut`.

    Raises
    ------
    DataError, ParameterError
        For targets that are absent, or named twice, or none.

    Notes
    -----
    Backstrom, Dwork, Kleinberg (2007), section 3; vanhoef2012, 8.4 names it and leaves it out. Differs: H is drawn
    again where it does not have the properties that the paper proves for large b.
    """
    network = as_network(graph)
    generator = check_rng(rng)
    wanted = check_nodes(network, targets, "targets")
    b = len(wanted)
    k = 3 * b + 3
    outside = (np.arange(k) < b).astype(np.int64)
    for _ in range(redraws + 1):
        joined = np.triu(generator.random((k, k)) < 0.5, 1)
        joined |= joined.T
        degrees = joined.sum(axis=1) + outside
        rigid = _holds_together(joined, b) and is_rigid(joined, degrees)
        if rigid:
            break
    outer = [(target, x) for x, target in enumerate(wanted)]
    links = {target: frozenset({x}) for target, x in outer}
    return plant(network, joined, outer, parent=np.full(k, -1), links=links, is_rigid=rigid)


def _holds_together(joined: BoolArray, b: int) -> bool:
    """Tell whether no b edges take H apart."""
    u, v = np.nonzero(np.triu(joined))
    return bool((_group_labels(u.astype(np.int32), v.astype(np.int32), len(joined), b + 1) == 0).all())


@checked
def recover_by_cut(released: Any, plan: Plan, *, node_limit: Annotated[int, Whole(1)] = 10_000_000) -> Recovery:
    """Find a group planted by `implant_by_cut` in a release, and the targets by the one edge to each.

    Parameters
    ----------
    released : whatever `as_network` takes
        The released network, under any names.
    plan : Plan
        From `implant_by_cut`.
    node_limit : int
        The search for an isomorphism stops after so many nodes of its tree.

    Returns
    -------
    Recovery
        With an empty mapping unless exactly one placement fits. `n_tree` counts the nodes of the search within the
        groups of H's size.

    Raises
    ------
    ParameterError
        If the plan is not one of a cut.

    Warns
    -----
    SearchLimitWarning
        If the search stopped at `node_limit`.

    Notes
    -----
    Backstrom, Dwork, Kleinberg (2007), section 3, take the components of a Gomory-Hu tree less its light edges: n - 1
    flows. Only one of these groups is wanted, and it is a maximal (b + 1)-edge-connected subgraph as well (no b edges
    take it apart inside, b edges hold it to the rest); those are found in a few scans.
    """
    network = as_network(released, "released")
    if not isinstance(plan, Plan) or len(plan.nodes) != 3 * len(plan.links) + 3:
        kind = "one of another attack" if isinstance(plan, Plan) else type(plan).__name__
        raise ParameterError(f"`plan` must be what `implant_by_cut` returned, got {kind}")
    k = len(plan.nodes)
    alike = [group for group in _groups(network, len(plan.links) + 1) if len(group) == k]
    order, parent, starts = np.arange(k), plan.parent, np.empty(0, np.int64)
    if plan.is_rigid and alike:
        listed, parent = connected_order(plan.joined, plan.degrees)
        order, starts = np.array(listed), np.concatenate(alike)
        starts = starts[network.degrees[starts] == plan.degrees[order[0]]]
    return search_plan(network, plan, starts, order, parent, (0, 0, 2, node_limit))


def _group_labels(u: NDArray[np.int32], v: NDArray[np.int32], n: int, k: int) -> IntArray:
    """Return a label for each of n nodes: equal labels where a maximal k-edge-connected subgraph holds both.

    The edges (u, v) are given once each. Those at nodes with fewer than k are peeled off. Then nodes are scanned in the
    order of most edges to those scanned (Nagamochi and Ibaraki, 1992): a node that k edges join to them is
    k-edge-connected to the one scanned when it reached k, and both are merged. A merged node with fewer than k edges to
    others is cut off, and all begins anew. Time O(edges + n k) a scan; a few scans a cut.
    """
    from reident.kernels.networks.edge_groups import peel, scan

    a, b = (np.asarray(ends, dtype=np.int64) for ends in (u, v))
    while True:
        in_core = peel(*incidence(a, b, n)[::2], k)
        inside = in_core[a] & in_core[b]
        a, b = a[inside], b[inside]
        group = np.arange(n)
        while True:
            group_a, group_b = group[a], group[b]
            crossing = group_a != group_b
            group_a, group_b = group_a[crossing], group_b[crossing]
            root, has_merged = scan(*incidence(group_a, group_b, n)[::2], k)
            if not has_merged:
                break
            group = root[group]
        n_crossing = np.bincount(group_a, minlength=n) + np.bincount(group_b, minlength=n)
        few = n_crossing < k
        cut = (group[a] != group[b]) & (few[group[a]] | few[group[b]])
        if not cut.any():
            return group
        a, b = a[~cut], b[~cut]
