"""Attack. The attacks on networks by name: each takes a release and the intruder's knowledge, and returns claims."""

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
    released = release.network
    return released.undirected() if isinstance(released, DirectedNetwork) else released, knowledge.network


def degree(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Pick one of the nodes that have the person's number of relations, or the number nearest to it."""
    del rng
    released, background = both_networks(release, knowledge)
    values = np.unique(released.degrees)
    place = np.clip(np.searchsorted(values, background.degrees), 1, len(values) - 1) if len(values) > 1 else 0
    nearest = values[place]
    if len(values) > 1:
        lower = values[place - 1]
        nearest = np.where(np.abs(background.degrees - lower) <= np.abs(nearest - background.degrees), lower, nearest)
    nearest = np.broadcast_to(nearest, background.n_nodes)
    return _picked(release, knowledge, nearest, released.degrees, "the number of each person's relations")


def neighbourhood(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Pick one of the nodes with neighbours of the same degrees as the person's neighbours."""
    del rng
    released, background = both_networks(release, knowledge)
    codes = pd.factorize(pd.Series([*_surroundings(background), *_surroundings(released)]))[0]
    return _picked(
        release, knowledge, codes[: background.n_nodes], codes[background.n_nodes :],
        "the number of each person's relations and of their friends' relations",
    )  # fmt: skip


def _surroundings(network: Network) -> list[tuple[int, ...]]:
    degrees = network.degrees
    return [
        tuple(np.sort(degrees[network.indices[a:b]]).tolist())
        for a, b in zip(network.indptr[:-1], network.indptr[1:], strict=True)
    ]


def _picked(release: Release, knowledge: Knowledge, background: IntArray, released: IntArray, what: str) -> Outcome:
    """Claim one of the nodes that have the person's mark."""
    marks, inverse, counts = np.unique(released, return_inverse=True, return_counts=True)
    place = np.clip(np.searchsorted(marks, background), 0, len(marks) - 1)
    is_found = marks[place] == background
    confidence = np.where(is_found, 1 / counts[place], 0.0)
    first = np.zeros(len(marks), dtype=np.int64)
    first[inverse[::-1]] = np.arange(len(released))[::-1]
    right = np.full(len(background), np.nan)
    if knowledge.truth is not None:
        true_marks = released[np.maximum(knowledge.truth, 0)]
        right = confidence * ((knowledge.truth >= 0) & (true_marks == background))
    rows = np.where(is_found, first[place], -1)
    claims = claims_by_row(release, knowledge, np.arange(len(background)), rows, confidence, right)
    return Outcome(claims, "identity", f"the intruder knows {what} exactly and that the person is in the network")


def _mapped(
    release: Release, knowledge: Knowledge, mapping: Mapping[Any, Any], persons: IntArray, description: str,
    *, complete: bool = True,
) -> Outcome:  # fmt: skip
    """Turn a mapping of known persons (labels) to released nodes (rows) into claims about some persons.

    Where nobody can tell right claims from wrong ones, a claim is as sure as the node fits better than others: see
    `_sure`.
    """
    everybody = np.array([mapping.get(label, -1) for label in knowledge.known.index], dtype=np.int64)
    confidence = 1.0 if knowledge.truth is not None else _sure(release, knowledge, everybody)[persons]
    claims = claims_by_row(release, knowledge, persons, everybody[persons], confidence, None)
    return Outcome(claims, "identity", description, complete=complete)


def _sure(release: Release, knowledge: Knowledge, rows: IntArray) -> FloatArray:
    """Return 1 over the number of released nodes that fit each person, by the mapping of the friends, no worse.

    The fit is the cosine of the person's friends, as they are mapped, with the friends of the node. No bound either
    way: two halves that mirror each other are not seen, and a node that fits as well may be another's for sure.
    """
    released, background = both_networks(release, knowledge)
    sure = np.zeros(len(rows))
    for person in np.flatnonzero(rows >= 0):
        friends = rows[background.indices[background.indptr[person] : background.indptr[person + 1]]]
        friends = friends[friends >= 0]
        neighbours = released.indices[released.indptr[rows[person]] : released.indptr[rows[person] + 1]]
        near = [released.indices[released.indptr[row] : released.indptr[row + 1]] for row in friends]
        # A friend who changes places with the person keeps what joins the two.
        near.append(np.intersect1d(neighbours, friends))
        shared = np.bincount(np.concatenate(near), minlength=released.n_nodes)
        fit = shared / np.sqrt(np.maximum(released.degrees, 1))
        sure[person] = 1 / np.count_nonzero(fit >= fit[rows[person]] - 1e-12)
    return sure


def _by_label(network: Network, labels: pd.Index) -> Network:
    """Return a network with the labels of its rows on its nodes."""
    u, v = network.edges()
    return network_from_edges(u, v, network.n_nodes, list(labels))


def by_row(network: Network) -> Network:
    """Return a network with the row numbers of its nodes as labels."""
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

    _, background = both_networks(release, knowledge)
    targets = np.sort(rng.choice(background.n_nodes, min(n_targets, background.n_nodes), replace=False))

    def planned(labelled: Network) -> Plan:
        return implant(labelled, knowledge.known.index[targets], k=k, d0=d0, d1=min(d1, background.n_nodes), rng=rng)

    description = f"the intruder makes {k} persons join the network before its release and befriend the targets"
    return _planted(release, knowledge, background, targets, planned, description, rng)


def _planted(
    release: Release, knowledge: Knowledge, background: Network, targets: IntArray, planned: Callable[[Network], Plan],
    description: str, rng: np.random.Generator,
) -> Outcome:  # fmt: skip
    """Change the network before its release, make that anew, and find the targets in it."""
    from reident.networks.planted_recovery import recover

    if knowledge.again is None:
        raise NotApplicable("the network is changed before a release, and its method is not known")
    if knowledge.truth is None or not knowledge.present.all() or background.n_nodes < len(release.table):
        raise NotApplicable("the network that is changed must be the one that is released")
    with refused():
        planted = planned(_by_label(background, knowledge.known.index))
        remade = knowledge.again(rng, network=planted.network)
        with warnings.catch_warnings(action="ignore", category=SearchLimitWarning):
            recovery = recover(by_row(_plain(remade)), planted, node_limit=1_000_000)
    # Rows of the new release: its table tells who is who, as the custodian does.
    person = knowledge.known.index.get_indexer(remade.table.index)
    rows = {
        target: int(knowledge.truth[person[node]]) for target, node in recovery.mapping.items() if person[node] >= 0
    }
    return _mapped(
        release, knowledge, rows, targets, description, complete=recovery.is_unique or not recovery.placements
    )


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
    """Let friends pool their knowledge of their own relations and find themselves and their neighbours: passive attack.

    Notes
    -----
    Backstrom et al. (2007); Vanhoef (2012), section 8.9. Judged are the neighbours
    that the coalitions could tell apart.
    """
    from reident.networks.planted_recovery import recover
    from reident.networks.planted_subgraph import coalition as pool

    released_values, background = both_networks(release, knowledge)
    labelled, released = _by_label(background, knowledge.known.index), by_row(released_values)
    mapping: dict[Any, Any] = {}
    linked: set[Any] = set()
    for _ in range(n_coalitions):
        members = _friends(background, size, rng)
        if len(members) < size:
            continue
        planned = pool(labelled, knowledge.known.index[members])
        linked |= set(planned.links)
        with warnings.catch_warnings(action="ignore", category=SearchLimitWarning):
            mapping |= recover(released, planned, node_limit=200_000).mapping
    persons = np.sort(knowledge.known.index.get_indexer(list(linked)))
    if not persons.size:
        raise NotApplicable(f"no coalition of {size} friends could tell a neighbour from the others")
    description = f"{size} friends know their own relations and degrees, and that all of them are in the network"
    return _mapped(release, knowledge, mapping, persons, description)


def _friends(network: Network, size: int, rng: np.random.Generator) -> list[int]:
    """Draw a person and friends of theirs, joined to one another where that is possible."""
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
    """Start from some persons with known nodes and recognise their friends: passive attack with seeds.

    Notes
    -----
    Narayanan and Shmatikov (2009); Vanhoef (2012), chapter 10. The seeds are not judged.
    """
    released, background = both_networks(release, knowledge)
    seeds, judged = _known_seeds(knowledge, background, n_seeds, rng)
    description = f"the intruder knows relations, and the nodes of {n_seeds} persons with many"
    return _propagated(release, knowledge, released, background, seeds, theta, description, judged=judged)


def _known_seeds(
    knowledge: Knowledge, background: Network, n_seeds: int, rng: np.random.Generator
) -> tuple[dict[Any, int], IntArray]:
    """Draw persons with nodes known to the intruder, person -> row, and all others."""
    persons, rows = knowledge.pairs()
    if persons is None or rows is None or len(persons) < 2 * n_seeds:
        raise NotApplicable("the seeds are true pairs, and too few of them can be told")
    # The best known persons are those with most relations.
    order = np.argsort(-background.degrees[persons], kind="stable")
    chosen = np.sort(rng.choice(order[: 3 * n_seeds], n_seeds, replace=False))
    seeds = {knowledge.known.index[persons[c]]: int(rows[c]) for c in chosen}
    return seeds, np.setdiff1d(np.arange(background.n_nodes), persons[chosen])


def passive(
    release: Release,
    knowledge: Knowledge,
    *,
    n_seeds: Annotated[int, Whole(0)] = 0,
    theta: Annotated[float, Real(0)] = 0.5,
    rng: np.random.Generator,
) -> Outcome:
    """Start from known persons, from seeds found by structure, and from both; keep the best explanation of relations.

    Notes
    -----
    Vanhoef (2012), chapter 10; see `reident.passive_attack`. Known seeds are not judged.
    """
    from reident.networks.passive import passive_attack

    released, background = both_networks(release, knowledge)
    seeds, judged = (
        _known_seeds(knowledge, background, n_seeds, rng) if n_seeds else ({}, np.arange(background.n_nodes))
    )
    started: dict[Any, Any] = {node: person for person, node in seeds.items()}
    with refused():
        attack = passive_attack(
            by_row(released), _by_label(background, knowledge.known.index), started, theta=theta, rng=rng
        )
    mapping = {person: node for node, person in attack.mapping.items()}
    description = f"the intruder knows relations, and {f'the nodes of {n_seeds} persons' if n_seeds else 'no node'}"
    return _mapped(release, knowledge, mapping, judged, description)


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
    """Match both networks by all their eigenvectors, then recognise friends: for releases with rewired hubs.

    Notes
    -----
    Fan et al. (2019), see `reident.spectral_match`, for the seeds of Vanhoef (2012), 10.4.
    """
    return _seedless(release, knowledge, None, theta, rng)


def _seedless(release: Release, knowledge: Knowledge, n: int | None, theta: float, rng: np.random.Generator) -> Outcome:
    """Find first pairs by the `n` largest hubs, or by the spectra for None, and spread from them."""
    from reident.networks.seeds import find_seeds

    released_values, background = both_networks(release, knowledge)
    labelled, released = _by_label(background, knowledge.known.index), by_row(released_values)
    how: dict[str, Any] = (
        {"method": "spectral"} if n is None else {"n": min(n, background.n_nodes, released_values.n_nodes)}
    )
    with refused():
        seeding = find_seeds(released, labelled, **how, rng=rng)
    seeds = {known: node for node, known in seeding.mapping.items()}
    description = "the intruder knows relations, and no node"
    return _propagated(
        release, knowledge, released_values, background, seeds, theta, description, judged=np.arange(background.n_nodes)
    )


def _propagated(
    release: Release, knowledge: Knowledge, released: Network, background: Network, seeds: Mapping[Any, Any],
    theta: float, description: str, *, judged: IntArray,
) -> Outcome:  # fmt: skip
    from reident.networks.propagation import propagate

    mapping: Mapping[Any, Any] = {}
    if seeds:
        started: dict[Any, Any] = {node: person for person, node in seeds.items()}
        propagation_result = propagate(
            by_row(released), _by_label(background, knowledge.known.index), started, theta=theta
        )
        mapping = {person: node for node, person in propagation_result.mapping.items()}
    return _mapped(release, knowledge, mapping, judged, description)
