"""Attack. Recovery of planted nodes and their targets in a release, and their detectability (vanhoef2012, 8.5, 8.8)."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from reident.base import DataError, IntArray, SearchLimitWarning, Whole, check_instance, checked, ratio
from reident.networks.graph import Network, as_directed_network, as_network, rows_of
from reident.networks.planted_subgraph import Plan, friends_by_links

#: Exact placements after which a search stops.
_MOST_PLACEMENTS = 100


@dataclass(frozen=True, eq=False)
class Recovery:
    """The result of an active attack: planted nodes and targets in the release.

    Attributes
    ----------
    mapping : mapping
        Target -> node of the release; empty unless one placement of the planted nodes fits better than all others. A
        target is left out if several nodes of the release fit it, or none.
    planted : mapping
        Planted node -> node of the release; empty unless unique.
    placements : tuple of tuples
        The placements that fit best, as released nodes (at most the search's limit).
    is_unique : bool
        Whether there is exactly one such placement and the search was complete.
    n_tree : int
        Nodes of the search tree.
    degrees : mapping
        Target -> its degree in the release: learned.
    edges : tuple of pairs
        Pairs of targets that are joined in the release: learned.
    """

    mapping: Mapping[Hashable, Hashable]
    planted: Mapping[Hashable, Hashable]
    placements: tuple[tuple[Hashable, ...], ...] = field(repr=False)
    is_unique: bool
    n_tree: int
    degrees: Mapping[Hashable, int] = field(repr=False)
    edges: tuple[tuple[Hashable, Hashable], ...] = field(repr=False)


@checked
def recover(
    released: Any,
    plan: Plan,
    *,
    degree_slack: Annotated[int, Whole(0, unit="edges")] = 0,
    edge_slack: Annotated[int, Whole(0, unit="edges")] = 0,
    node_limit: Annotated[int, Whole(1, unit="nodes")] = 10_000_000,
) -> Recovery:
    """Find the planted nodes in a release by the search tree, and the targets by their links to them.

    Parameters
    ----------
    released : whatever `as_network` takes
        The released network, under any names.
    plan : Plan
        From `implant` or `coalition`.
    degree_slack, edge_slack : int
        By how much a degree may differ, and how many inner pairs may differ in all: for releases whose edges were
        changed. Both 0 is the thesis's search. With slack more than one placement may do: the one that fits best
        counts.
    node_limit : int
        The search stops after so many nodes of the tree, and after 100 exact placements.

    Returns
    -------
    Recovery
        With an empty mapping unless exactly one placement fits best. Unique does not mean right where the release was
        changed.

    Raises
    ------
    DataError, ParameterError
        If the network cannot be read, or an option breaks its rule.

    Warns
    -----
    SearchLimitWarning
        If the search stopped at `node_limit`.

    Notes
    -----
    vanhoef2012, 8.5.3, with the degree test on Delta' (its first paragraph prints Delta: erratum 14). Time is a little
    more than the size of the tree, which is about the number of nodes with the degree of x_1.
    """
    network = as_network(released, "released")
    check_instance(plan, "plan", Plan, "`implant` and `coalition` return it")
    starts = np.flatnonzero(np.abs(network.degrees - plan.degrees[0]) <= degree_slack)
    order = np.arange(len(plan.nodes))
    return search_plan(
        network, plan, starts, order, plan.parent, (degree_slack, edge_slack, _MOST_PLACEMENTS, node_limit)
    )


def search_plan(
    network: Network, plan: Plan, starts: IntArray, order: IntArray, parent: IntArray, limits: tuple[int, int, int, int]
) -> Recovery:
    """Search the planted nodes in an order, each along the edge to its parent, and identify the targets.

    `limits` are the slacks of degrees and of edges, and the largest numbers of placements and of nodes of the tree.
    """
    from reident.kernels.networks.planted import find_planted

    inner = np.ascontiguousarray(plan.joined[np.ix_(order, order)])
    degrees, parent = (np.asarray(values, np.int64) for values in (plan.degrees[order], parent))
    placements, _, n_tree, is_complete = find_planted(
        network.indptr, network.indices, starts, degrees, parent, inner, *limits
    )
    if not is_complete and len(placements) < limits[2]:
        warnings.warn(
            f"the search tree reached {limits[3]} nodes: `is_unique` is not known", SearchLimitWarning, stacklevel=4
        )
    return _recovery_of(network, plan, placements[:, np.argsort(order)], int(n_tree), bool(is_complete))


def _recovery_of(network: Network, plan: Plan, placements: IntArray, n_tree: int, is_complete: bool) -> Recovery:
    unique = is_complete and len(placements) == 1
    targets = _find_targets(network, placements[0], plan) if unique else {}
    released_name = network.nodes.__getitem__
    edges = [(a, b) for (a, u), (b, v) in itertools.combinations(targets.items(), 2) if v in network.neighbours(u)]
    return Recovery(
        mapping={target: released_name(row) for target, row in targets.items()},
        planted=dict(zip(plan.nodes, map(released_name, placements[0].tolist()), strict=True)) if unique else {},
        placements=tuple(tuple(map(released_name, row.tolist())) for row in placements),
        is_unique=unique,
        n_tree=n_tree,
        degrees={target: len(network.neighbours(row)) for target, row in targets.items()},
        edges=tuple(edges),
    )


def _find_targets(network: Network, placement: IntArray, plan: Plan) -> dict[Hashable, int]:
    """Return the nodes that alone have a target's links to the placement."""
    owners = friends_by_links(network, placement.tolist())
    candidates = ((target, owners.get(link_set, [])) for target, link_set in plan.links.items())
    return {target: fitting[0] for target, fitting in candidates if len(fitting) == 1}


@dataclass(frozen=True)
class Detectability:
    """Areas under the ROC curve of three scores that should separate planted nodes from the others.

    .5 is chance; an area near 0 separates as well as one near 1, from the other end of the list: which end, depends on
    the network.

    Attributes
    ----------
    degree : float
        The larger a degree, the more suspect.
    clustering : float
        The lower a node's local clustering (7.3's term), the more suspect: planted nodes choose their friends at
        random, but befriend one another.
    one_sided : float
        The larger the share of a node's links that are not returned, the more suspect; .5 in undirected networks.
    """

    degree: float
    clustering: float
    one_sided: float


def detectability(graph: Any, planted: Iterable[Hashable]) -> Detectability:
    """Measure how well degree, clustering and unreturned links separate planted nodes from the others (8.8).

    Parameters
    ----------
    graph : graph as `as_directed_network` takes
        The network with the planted nodes; directed or undirected.
    planted : iterable of nodes
        The nodes that the attacker added.

    Returns
    -------
    Detectability

    Raises
    ------
    DataError, ParameterError
        If a planted node is not in the graph, or all nodes are planted.
    """
    from scipy.stats import rankdata

    from reident.kernels.networks.network import triangles

    directed = as_directed_network(graph)
    network = directed.undirected()
    suspects = np.zeros(network.n_nodes, np.bool_)
    suspects[rows_of(network, planted, "planted")] = True
    if suspects.all() or not suspects.any():
        raise DataError(f"`planted` must name some nodes and not all {network.n_nodes}, got {int(suspects.sum())}")
    degrees = network.degrees.astype(np.float64)
    pairs = degrees * (degrees - 1) / 2
    local = ratio(triangles(network.indptr, network.indices), pairs)
    out, back = np.diff(directed.out_indptr), np.diff(directed.in_indptr)
    returned = out + back - network.degrees
    one_sided = ratio(out - returned, out)
    n_pairs = suspects.sum() * (~suspects).sum()
    smallest = suspects.sum() * (suspects.sum() + 1) / 2
    ranks = (rankdata(score)[suspects].sum() for score in (degrees, -local, one_sided))
    return Detectability(*(float((total - smallest) / n_pairs) for total in ranks))
