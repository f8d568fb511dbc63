"""Attack. The attacks on networks by name: each takes a release and what the intruder knows, and returns its claims."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import numpy as np
import pandas as pd

from reident.base import FloatArray, IntArray, Real, SearchLimitWarning, Whole
from reident.methods.outcome import Knowledge, NotApplicable, Outcome, claims_by_row, refused
from reident.methods.release import Release
from reident.networks.graph import DirectedNetwork, Network, network_from_edges
from reident.networks.planted_subgraph import Plan

__all__ = [
    "both_networks",
    "by_row",
    "coalition",
    "degree",
    "neighbourhood",
    "passive",
    "planted_subgraph",
    "propagation",
    "seedless_propagation",
]


def both_networks(release: Release, knowledge: Knowledge) -> tuple[Network, Network]:
    """Return the released network and the one that the intruder knows, both without directions."""
    if release.network is None:
        raise NotApplicable("no network is released")
    if knowledge.network is None:
        raise NotApplicable("the intruder is not said to know relations")
    theirs = release.network
    return theirs.undirected() if isinstance(theirs, DirectedNetwork) else theirs, knowledge.network


def degree(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Pick one of the nodes that have the person's number of relations, or the number nearest to it."""
    del rng
    theirs, mine = both_networks(release, knowledge)
    values = np.unique(theirs.degrees)
    place = np.clip(np.searchsorted(values, mine.degrees), 1, len(values) - 1) if len(values) > 1 else 0
    nearest = values[place]
    if len(values) > 1:
        lower = values[place - 1]
        nearest = np.where(np.abs(mine.degrees - lower) <= np.abs(nearest - mine.degrees), lower, nearest)
    nearest = np.broadcast_to(nearest, mine.n_nodes)
    return _picked(release, knowledge, nearest, theirs.degrees, "the number of each person's relations")


def neighbourhood(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Pick one of the nodes whose neighbours have the degrees that the person's neighbours have."""
    del rng
    theirs, mine = both_networks(release, knowledge)
    codes = pd.factorize(pd.Series([*_surroundings(mine), *_surroundings(theirs)]))[0]
    return _picked(
        release, knowledge, codes[: mine.n_nodes], codes[mine.n_nodes :],
        "the number of each person's relations and of their friends' relations",
    )  # fmt: skip


def _surroundings(network: Network) -> list[tuple[int, ...]]:
    degrees = network.degrees
    return [
        tuple(np.sort(degrees[network.indices[a:b]]).tolist())
        for a, b in zip(network.indptr[:-1], network.indptr[1:], strict=True)
    ]


def _picked(release: Release, knowledge: Knowledge, mine: IntArray, theirs: IntArray, what: str) -> Outcome:
    """Claim one of the nodes whose mark is the person's."""
    marks, inverse, counts = np.unique(theirs, return_inverse=True, return_counts=True)
    place = np.clip(np.searchsorted(marks, mine), 0, len(marks) - 1)
    found = marks[place] == mine
    confidence = np.where(found, 1 / counts[place], 0.0)
    first = np.zeros(len(marks), dtype=np.int64)
    first[inverse[::-1]] = np.arange(len(theirs))[::-1]
    right = np.full(len(mine), np.nan)
    if knowledge.truth is not None:
        own = theirs[np.maximum(knowledge.truth, 0)]
        right = confidence * ((knowledge.truth >= 0) & (own == mine))
    rows = np.where(found, first[place], -1)
    claims = claims_by_row(release, knowledge, np.arange(len(mine)), rows, confidence, right)
    return Outcome(claims, "identity", f"the intruder knows {what} exactly and that the person is in the network")


def _mapped(
    release: Release, knowledge: Knowledge, mapping: Mapping[Any, Any], persons: IntArray, said: str,
    *, complete: bool = True,
) -> Outcome:  # fmt: skip
    """Turn a mapping of known persons (labels) to released nodes (rows) into claims about some persons.

    Where nobody can tell right claims from wrong ones, a claim is as sure as the node fits better than others: see
    `_sure`.
    """
    everybody = np.array([mapping.get(label, -1) for label in knowledge.known.index], dtype=np.int64)
    confidence = 1.0 if knowledge.truth is not None else _sure(release, knowledge, everybody)[persons]
    claims = claims_by_row(release, knowledge, persons, everybody[persons], confidence, None)
    return Outcome(claims, "identity", said, complete=complete)


def _sure(release: Release, knowledge: Knowledge, rows: IntArray) -> FloatArray:
    """Return 1 over the number of released nodes that fit each person, by the mapping of the friends, no worse.

    The fit is the cosine of the person's friends, as they are mapped, with the friends of the node. No bound either
    way: two halves that mirror each other are not seen, and a node that fits as well may be another's for sure.
    """
    theirs, mine = both_networks(release, knowledge)
    sure = np.zeros(len(rows))
    for person in np.flatnonzero(rows >= 0):
        friends = rows[mine.indices[mine.indptr[person] : mine.indptr[person + 1]]]
        friends = friends[friends >= 0]
        own = theirs.indices[theirs.indptr[rows[person]] : theirs.indptr[rows[person] + 1]]
        near = [theirs.indices[theirs.indptr[row] : theirs.indptr[row + 1]] for row in friends]
        # A friend who changes places with the person keeps what joins the two.
        near.append(np.intersect1d(own, friends))
        shared = np.bincount(np.concatenate(near), minlength=theirs.n_nodes)
        fit = shared / np.sqrt(np.maximum(theirs.degrees, 1))
        sure[person] = 1 / np.count_nonzero(fit >= fit[rows[person]] - 1e-12)
    return sure


def _by_label(network: Network, labels: pd.Index) -> Network:
    """Return a network whose nodes bear the labels of their rows."""
    u, v = network.edges()
    return network_from_edges(u, v, network.n_nodes, list(labels))


def by_row(network: Network) -> Network:
    """Return a network whose labels are the rows of its nodes."""
    u, v = network.edges()
    return network_from_edges(u, v, network.n_nodes, range(network.n_nodes))


def planted_subgraph(
    release: Release, knowledge: Knowledge, *, k: Annotated[int, Whole(2, unit="nodes")] = 7,
    d0: Annotated[int, Whole(1, unit="edges")] = 5, d1: Annotated[int, Whole(1, unit="edges")] = 10,
    n_targets: Annotated[int, Whole(1)] = 10,
    rng: np.random.Generator,
) -> Outcome:  # fmt: skip
    """Plant nodes before the release and find their targets in it: the active attack of Backstrom et al. (2007).

    Notes
    -----
    Vanhoef (2012), chapter 8. The release is made anew by the same method with the planted nodes in it.
    """
    from reident.networks.planted_subgraph import implant

    _, mine = both_networks(release, knowledge)
    targets = np.sort(rng.choice(mine.n_nodes, min(n_targets, mine.n_nodes), replace=False))

    def planned(named: Network) -> Plan:
        return implant(named, knowledge.known.index[targets], k=k, d0=d0, d1=min(d1, mine.n_nodes), rng=rng)

    said = f"the intruder makes {k} persons join the network before its release and befriend the targets"
    return _planted(release, knowledge, mine, targets, planned, said, rng)


def _planted(
    release: Release, knowledge: Knowledge, mine: Network, targets: IntArray, planned: Callable[[Network], Plan],
    said: str, rng: np.random.Generator,
) -> Outcome:  # fmt: skip
    """Change the network before its release, make that anew, and find the targets in it."""
    from reident.networks.planted_recovery import recover

    if knowledge.again is None:
        raise NotApplicable("the network is changed before a release, and its method is not known")
    if knowledge.truth is None or not knowledge.present.all() or mine.n_nodes < len(release.table):
        raise NotApplicable("the network that is changed must be the one that is released")
    with refused():
        planted = planned(_by_label(mine, knowledge.known.index))
        remade = knowledge.again(rng, network=planted.network)
        with warnings.catch_warnings(action="ignore", category=SearchLimitWarning):
            found = recover(by_row(_plain(remade)), planted, node_limit=1_000_000)
    # Rows of the new release: its table tells who is who, as the custodian does.
    person = knowledge.known.index.get_indexer(remade.table.index)
    rows = {target: int(knowledge.truth[person[node]]) for target, node in found.mapping.items() if person[node] >= 0}
    return _mapped(release, knowledge, rows, targets, said, complete=found.is_unique or not found.placements)


def _plain(release: Release) -> Network:
    assert release.network is not None
    return release.network.undirected() if isinstance(release.network, DirectedNetwork) else release.network


def coalition(
    release: Release,
    knowledge: Knowledge,
    *,
    size: Annotated[int, Whole(2, unit="persons")] = 5,
    n_coalitions: Annotated[int, Whole(1)] = 20,
    rng: np.random.Generator,
) -> Outcome:
    """Let friends pool what they know of their own relations and find themselves and their neighbours: passive attack.

    Notes
    -----
    Backstrom et al. (2007); Vanhoef (2012), section 8.9. Judged are the neighbours
    that the coalitions could tell apart.
    """
    from reident.networks.planted_recovery import recover
    from reident.networks.planted_subgraph import coalition as pool

    theirs, mine = both_networks(release, knowledge)
    named, released = _by_label(mine, knowledge.known.index), by_row(theirs)
    mapping: dict[Any, Any] = {}
    asked: set[Any] = set()
    for _ in range(n_coalitions):
        members = _friends(mine, size, rng)
        if len(members) < size:
            continue
        planned = pool(named, knowledge.known.index[members])
        asked |= set(planned.links)
        with warnings.catch_warnings(action="ignore", category=SearchLimitWarning):
            mapping |= recover(released, planned, node_limit=200_000).mapping
    persons = np.sort(knowledge.known.index.get_indexer(list(asked)))
    if not persons.size:
        raise NotApplicable(f"no coalition of {size} friends could tell a neighbour from the others")
    said = f"{size} friends know their own relations and degrees, and that all of them are in the network"
    return _mapped(release, knowledge, mapping, persons, said)


def _friends(network: Network, size: int, rng: np.random.Generator) -> list[int]:
    """Draw a person and friends of theirs who are joined to one another where that is possible."""
    first = int(rng.integers(network.n_nodes))
    members = [first]
    while len(members) < size:
        near = np.concatenate([network.indices[network.indptr[m] : network.indptr[m + 1]] for m in members])
        near = near[~np.isin(near, members)]
        if not near.size:
            break
        nodes, ties = np.unique(near, return_counts=True)
        members.append(int(rng.choice(nodes[ties == ties.max()])))
    return members


def propagation(
    release: Release,
    knowledge: Knowledge,
    *,
    n_seeds: Annotated[int, Whole(1)] = 10,
    theta: Annotated[float, Real(0)] = 0.5,
    rng: np.random.Generator,
) -> Outcome:
    """Start from some persons whose nodes are known and recognise their friends: passive attack with seeds.

    Notes
    -----
    Narayanan and Shmatikov (2009); Vanhoef (2012), chapter 10. The seeds are not judged.
    """
    theirs, mine = both_networks(release, knowledge)
    seeds, judged = _known_seeds(knowledge, mine, n_seeds, rng)
    said = f"the intruder knows relations, and the nodes of {n_seeds} persons with many"
    return _propagated(release, knowledge, theirs, mine, seeds, theta, said, judged=judged)


def _known_seeds(
    knowledge: Knowledge, mine: Network, n_seeds: int, rng: np.random.Generator
) -> tuple[dict[Any, int], IntArray]:
    """Draw persons whose nodes the intruder knows, person -> row, and all others."""
    persons, rows = knowledge.pairs()
    if persons is None or rows is None or len(persons) < 2 * n_seeds:
        raise NotApplicable("the seeds are true pairs, and too few of them can be told")
    # The best known persons are those with most relations.
    order = np.argsort(-mine.degrees[persons], kind="stable")
    chosen = np.sort(rng.choice(order[: 3 * n_seeds], n_seeds, replace=False))
    seeds = {knowledge.known.index[persons[c]]: int(rows[c]) for c in chosen}
    return seeds, np.setdiff1d(np.arange(mine.n_nodes), persons[chosen])


def passive(
    release: Release,
    knowledge: Knowledge,
    *,
    n_seeds: Annotated[int, Whole(0)] = 0,
    theta: Annotated[float, Real(0)] = 0.5,
    rng: np.random.Generator,
) -> Outcome:
    """Start from known persons, from seeds found by structure, and from both; keep what explains most relations.

    Notes
    -----
    Vanhoef (2012), chapter 10; see `reident.passive_attack`. Known seeds are not judged.
    """
    from reident.networks.passive import passive_attack

    theirs, mine = both_networks(release, knowledge)
    seeds, judged = _known_seeds(knowledge, mine, n_seeds, rng) if n_seeds else ({}, np.arange(mine.n_nodes))
    started: dict[Any, Any] = {node: person for person, node in seeds.items()}
    with refused():
        found = passive_attack(by_row(theirs), _by_label(mine, knowledge.known.index), started, theta=theta, rng=rng)
    mapping = {person: node for node, person in found.mapping.items()}
    said = f"the intruder knows relations, and {f'the nodes of {n_seeds} persons' if n_seeds else 'no node'}"
    return _mapped(release, knowledge, mapping, judged, said)


def seedless_propagation(
    release: Release,
    knowledge: Knowledge,
    *,
    n: Annotated[int, Whole(2, unit="nodes")] = 100,
    theta: Annotated[float, Real(0)] = 0.5,
    rng: np.random.Generator,
) -> Outcome:
    """Find the first pairs by the pattern of the largest hubs, then recognise friends: passive attack without seeds."""
    return _seedless(release, knowledge, n, theta, rng)


def spectral_propagation(
    release: Release, knowledge: Knowledge, *, theta: Annotated[float, Real(0)] = 0.5, rng: np.random.Generator
) -> Outcome:
    """Match both networks by all their eigenvectors, then recognise friends: for releases whose hubs are rewired.

    Notes
    -----
    Fan et al. (2019), see `reident.spectral_match`, for the seeds of Vanhoef (2012), 10.4.
    """
    return _seedless(release, knowledge, None, theta, rng)


def _seedless(release: Release, knowledge: Knowledge, n: int | None, theta: float, rng: np.random.Generator) -> Outcome:
    """Find first pairs by the `n` largest hubs, or by the spectra for None, and spread from them."""
    from reident.networks.seeds import find_seeds

    theirs, mine = both_networks(release, knowledge)
    named, released = _by_label(mine, knowledge.known.index), by_row(theirs)
    how: dict[str, Any] = {"method": "spectral"} if n is None else {"n": min(n, mine.n_nodes, theirs.n_nodes)}
    with refused():
        found = find_seeds(released, named, **how, rng=rng)
    seeds = {known: node for node, known in found.mapping.items()}
    said = "the intruder knows relations, and no node"
    return _propagated(release, knowledge, theirs, mine, seeds, theta, said, judged=np.arange(mine.n_nodes))


def _propagated(
    release: Release, knowledge: Knowledge, theirs: Network, mine: Network, seeds: Mapping[Any, Any], theta: float,
    said: str, *, judged: IntArray,
) -> Outcome:  # fmt: skip
    from reident.networks.propagation import propagate

    mapping: Mapping[Any, Any] = {}
    if seeds:
        started: dict[Any, Any] = {node: person for person, node in seeds.items()}
        found = propagate(by_row(theirs), _by_label(mine, knowledge.known.index), started, theta=theta)
        mapping = {person: node for node, person in found.mapping.items()}
    return _mapped(release, knowledge, mapping, judged, said)
