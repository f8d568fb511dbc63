"""Attack. The active attack: nodes planted before the release, by which their targets will be found in it."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from reident.base import (
    BoolArray,
    DataError,
    IntArray,
    ParameterError,
    RNGLike,
    Whole,
    afford,
    check_integer,
    check_rng,
    checked,
)
from reident.networks.graph import Network, as_network, network_from_edges, rows_of

#: How often a pattern may be drawn: a draw takes up to a millisecond.
REDRAWS = Whole(0, 100_000, why="for few planted nodes no draw may do")


@dataclass(frozen=True, eq=False)
class Plan:
    """The attacker's knowledge: the planted nodes (or the coalition) and their links to the targets.

    Attributes
    ----------
    network : Network
        The network with the planted nodes, before anonymisation.
    nodes : tuple
        The planted nodes x_1, ..., x_k, in the order of the search.
    joined : ndarray of bool, shape (k, k)
        The edges among them, H.
    degrees : ndarray of int64, shape (k,)
        Their degrees in the whole network (the thesis's Delta').
    parent : ndarray of int64, shape (k,)
        An earlier node that each is joined to; x_i's predecessor on the path where H was planted.
    links : mapping
        Target -> the set of planted nodes (as positions in `nodes`) that it is joined to; no other node has the same
        set.
    is_rigid : bool
        Whether H has no automorphism that keeps the degrees. If it has one, the search cannot tell its orders apart.
    """

    network: Network
    nodes: tuple[Hashable, ...]
    joined: BoolArray = field(repr=False)
    degrees: IntArray = field(repr=False)
    parent: IntArray = field(repr=False)
    links: Mapping[Hashable, frozenset[int]] = field(repr=False)
    is_rigid: bool


@checked
def implant(
    graph: Any,
    targets: Iterable[Hashable],
    *,
    k: Annotated[int, Whole(2, unit="nodes", why="one node makes no pattern")] = 7,
    d0: Annotated[int, Whole(0, unit="edges")] = 10,
    d1: Annotated[int, Whole(1, unit="edges")] = 20,
    redraws: Annotated[int, REDRAWS] = 100,
    rng: RNGLike = None,
) -> Plan:
    """Plant `k` new nodes with a pattern of links that identifies the targets after naive anonymisation.

    Parameters
    ----------
    graph : whatever `as_network` takes
        The network before release. Not modified.
    targets : iterable of nodes
        Whom to find: distinct nodes of the graph.
    k : int
        How many nodes to plant, at least 2.
    d0, d1 : int
        Each planted node gets a number of links to others drawn evenly from d0 to d1.
    redraws : int
        How often to draw H anew while it has an automorphism that keeps the degrees, or a planted node that others
        replace easily (fewer than two inner edges, or a target with the same links). The thesis assumes the first away;
        an attacker can check both. For small k no draw may do: after the last one the plan says whether it `is_rigid`.
        0 is the thesis's construction, 100,000 the most.
    rng : Generator, int or None

    Returns
    -------
    Plan
        With the new network in `network`; the attacker keeps the rest.

    Raises
    ------
    DataError, ParameterError
        For targets that are absent or named twice, d0 > d1, or targets and links that do not fit.

    Notes
    -----
    vanhoef2012, 8.5.2: d_i in its step 3 is Delta_i (erratum 14). Each target is joined to its own set of two or more
    planted nodes, three where that suffices; the other links go to nodes that end up with no target's set.
    """
    network = as_network(graph)
    generator = check_rng(rng)
    afford(64 * k * k, "k", f"a pattern of {k:,} nodes", "plant fewer")
    check_integer(d1, "d1", high=network.n_nodes, why="a node links to as many others at most")
    if d0 > d1:
        raise ParameterError(f"`d1` must be at least `d0` ({d0}), got {d1}: a node links to as many others at most")
    wanted = check_nodes(network, targets, "targets")
    outside = generator.integers(d0, d1 + 1, k)
    links = _choose_links(len(wanted), outside, generator)
    fillers = _choose_fillers(network.n_nodes, wanted, links, outside, generator)
    for _ in range(redraws + 1):
        joined = _draw_pattern(k, generator)
        degrees = outside + joined.sum(axis=1)
        rigid = is_rigid(joined, degrees)
        if rigid and _is_sturdy(joined, links):
            break
    outer = [(target, x) for target, members in zip(wanted, links, strict=True) for x in sorted(members)]
    outer += [(other, x) for x, others in enumerate(fillers) for other in others]
    path, sets = np.arange(-1, k - 1), dict(zip(wanted, links, strict=True))
    return plant(network, joined, outer, parent=path, links=sets, is_rigid=rigid)


def plant(
    network: Network,
    joined: BoolArray,
    outer: Sequence[tuple[int, int]],
    *,
    parent: IntArray,
    links: Mapping[int, frozenset[int]],
    is_rigid: bool,
) -> Plan:
    """Return the plan of new nodes joined as H is, and to others as pairs (row, new node) say; `links` are by row."""
    n, k = network.n_nodes, len(joined)
    outside = np.array([(row, n + x) for row, x in outer], np.int64).reshape(-1, 2)
    added = np.concatenate([np.argwhere(np.triu(joined)) + n, outside])
    u, v = network.edges()
    names = _new_names(network, k)
    nodes = range(n + k) if isinstance(network.nodes, range) else [*network.nodes, *names]
    planted = network_from_edges(np.concatenate([u, added[:, 0]]), np.concatenate([v, added[:, 1]]), n + k, nodes)
    by_name = {network.nodes[row]: members for row, members in links.items()}
    return Plan(planted, names, joined, planted.degrees[n:], parent, by_name, is_rigid)


def check_nodes(network: Network, nodes: Iterable[Hashable], name: str) -> list[int]:
    """Return the rows of distinct nodes of a network."""
    rows = rows_of(network, nodes, name)
    if not rows:
        raise ParameterError(f"`{name}` must name at least one node, got none")
    if len(set(rows)) < len(rows):
        raise DataError(f"`{name}` must be distinct, got one of them twice")
    return rows


def _choose_links(count: int, outside: IntArray, rng: np.random.Generator) -> list[frozenset[int]]:
    """Choose a distinct set of planted nodes for each target; node i may stand in at most outside[i] sets."""
    k = len(outside)
    capacity = outside.copy()
    chosen: list[frozenset[int]] = []
    for size in sorted(range(2, k + 1), key=lambda size: (abs(size - 3), size)):
        for members in _random_sets(k, size, rng):
            if len(chosen) == count:
                return chosen
            if all(capacity[i] > 0 for i in members):
                capacity[list(members)] -= 1
                chosen.append(members)
    if len(chosen) == count:
        return chosen
    raise ParameterError(
        f"`targets` must be at most {len(chosen)} for these links ({k} planted nodes with {outside.tolist()} links "
        f"outside), got {count}: each target needs a set of two or more planted nodes of its own"
    )


def _random_sets(k: int, size: int, rng: np.random.Generator) -> Iterator[frozenset[int]]:
    sets = [frozenset(members) for members in itertools.islice(itertools.combinations(range(k), size), 100_000)]
    for i in rng.permutation(len(sets)):
        yield sets[i]


def _choose_fillers(
    n: int, targets: Sequence[int], links: Sequence[frozenset[int]], outside: IntArray, rng: np.random.Generator
) -> list[list[int]]:
    """Choose the other neighbours of each planted node; none ends up with the set of a target."""
    target_sets = set(links)
    sets: dict[int, frozenset[int]] = {}
    blocked = set(targets)
    fillers: list[list[int]] = []
    for x, degree in enumerate(outside):
        open_links = int(degree) - sum(x in members for members in links)
        neighbours: list[int] = []
        for _ in range(200 * (open_links + 1)):
            if len(neighbours) == open_links:
                break
            other = int(rng.integers(n))
            larger = sets.get(other, frozenset()) | {x}
            if other in blocked or other in neighbours or larger in target_sets:
                continue
            sets[other] = larger
            neighbours.append(other)
        if len(neighbours) < open_links:
            raise ParameterError(
                f"`d1` is too large for a graph of {n} nodes: planted node {x} needs {open_links} more neighbours that "
                "are not targets and do not look like one"
            )
        fillers.append(neighbours)
    return fillers


def _draw_pattern(k: int, rng: np.random.Generator) -> BoolArray:
    """Draw H: the path x_1, ..., x_k and every other edge with probability one half."""
    joined = np.triu(rng.random((k, k)) < 0.5, 1)
    joined[np.arange(k - 1), np.arange(1, k)] = True
    return joined | joined.T


def is_rigid(joined: BoolArray, degrees: IntArray) -> bool:
    """Tell whether no other order of the nodes has the same degrees and inner edges."""
    import networkx as nx
    from networkx.algorithms.isomorphism import GraphMatcher

    pattern = nx.from_numpy_array(joined)
    nx.set_node_attributes(pattern, dict(enumerate(degrees.tolist())), "degree")
    matcher = GraphMatcher(pattern, pattern, node_match=lambda a, b: a["degree"] == b["degree"])
    return len(list(itertools.islice(matcher.isomorphisms_iter(), 2))) == 1


def _is_sturdy(joined: BoolArray, links: Sequence[frozenset[int]]) -> bool:
    """Tell whether no planted node is easily replaced: by a chance friend of one other, or by a target."""
    inner = [frozenset(np.flatnonzero(row).tolist()) for row in joined]
    return all(len(neighbours) >= 2 for neighbours in inner) and not set(inner) & set(links)


def _new_names(network: Network, k: int) -> tuple[Hashable, ...]:
    if all(type(node) is int for node in network.nodes):
        first = max((node for node in network.nodes if isinstance(node, int)), default=-1) + 1
        return tuple(range(first, first + k))
    present = set(network.nodes)
    names = (f"planted-{i}" for i in itertools.count(1))
    return tuple(itertools.islice((name for name in names if name not in present), k))


def coalition(graph: Any, members: Iterable[Hashable]) -> Plan:
    """Plan the attack of a coalition of existing users that recover themselves in the release (8.9).

    Parameters
    ----------
    graph : whatever `as_network` takes
        The network before release; the members know their own degrees, the edges among them, and their friends.
    members : iterable of nodes
        At least two, connected among themselves.

    Returns
    -------
    Plan
        `links` holds the friends that differ from all other nodes in the members they are joined to. No other node can
        be found.

    Raises
    ------
    DataError, ParameterError
        If a member is absent, named twice, or the members are not connected.
    """
    network = as_network(graph)
    rows = check_nodes(network, members, "members")
    if len(rows) < 2:
        raise ParameterError("`members` must name at least two nodes, got one")
    adjacency = network.to_scipy()
    inner = adjacency[rows][:, rows].toarray().astype(np.bool_)
    order, parent = connected_order(inner, network.degrees[rows])
    rows = [rows[i] for i in order]
    inner = inner[np.ix_(order, order)]
    owners = friends_by_links(network, rows)
    degrees = network.degrees[rows]
    links = {network.nodes[friends[0]]: link_set for link_set, friends in owners.items() if len(friends) == 1}
    members = tuple(network.nodes[row] for row in rows)
    return Plan(network, members, inner, degrees, parent, links, is_rigid(inner, degrees))


def friends_by_links(network: Network, rows: list[int]) -> dict[frozenset[int], list[int]]:
    """Return the other neighbours of some nodes, by the places in `rows` of the nodes that they are joined to."""
    sets: dict[int, set[int]] = {}
    for position, row in enumerate(rows):
        for friend in sorted(network.neighbours(row)):
            sets.setdefault(friend, set()).add(position)
    inside = set(rows)
    friends: dict[frozenset[int], list[int]] = {}
    for friend, members in sets.items():
        if friend not in inside:
            friends.setdefault(frozenset(members), []).append(friend)
    return friends


def connected_order(joined: BoolArray, degrees: IntArray) -> tuple[list[int], IntArray]:
    """Order nodes so that each but the first is joined to an earlier one; the rarest (largest) degree goes first."""
    order = [int(np.argmax(degrees))]
    parent = [-1]
    while len(order) < len(degrees):
        for i in sorted(set(range(len(degrees))) - set(order), key=lambda i: -degrees[i]):
            earlier = [position for position, j in enumerate(order) if joined[i, j]]
            if earlier:
                order.append(i)
                parent.append(earlier[0])
                break
        else:
            raise DataError("`members` must be connected among themselves: the search walks along their edges")
    return order, np.array(parent)
