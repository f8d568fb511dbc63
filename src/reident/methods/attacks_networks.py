"""Attack. The attacks on networks by name: each takes a release and the intruder's knowledge, and returns claims."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
import pandas as pd

from reident.base import Choice, IntArray, Real, SearchLimitWarning, Whole
from reident.methods.outcome import NotApplicable, Outcome, claims_by_row, refused
from reident.methods.release import Knowledge, Release
from reident.networks.graph import DirectedNetwork, Network, network_from_edges

__all__ = [
    "both_networks",
    "by_row",
    "coalition",
    "degree",
    "edge_disclosure",
    "neighbourhood",
    "passive",
    "propagation",
    "seedless_propagation",
]


def both_networks(release: Release, knowledge: Knowledge) -> tuple[Network, Network]:
    """Return the released network and the one that the intruder knows, both without directions."""
    released = release.network
    assert released is not None
    assert knowledge.network is not None
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


def _picked(release: Release, knowledge: Knowledge, background: IntArray, released: IntArray, mark: str) -> Outcome:
    """Claim one of the nodes that have the person's mark."""
    marks, inverse, counts = np.unique(released, return_inverse=True, return_counts=True)
    place = np.clip(np.searchsorted(marks, background), 0, len(marks) - 1)
    is_found = marks[place] == background
    confidence = np.where(is_found, 1 / counts[place], 0.0)
    first = np.zeros(len(marks), dtype=np.int64)
    first[inverse[::-1]] = np.arange(len(released))[::-1]
    true_marks = released[np.maximum(knowledge.truth, 0)]
    right = confidence * ((knowledge.truth >= 0) & (true_marks == background))
    rows = np.where(is_found, first[place], -1)
    claims = claims_by_row(release, knowledge, np.arange(len(background)), rows, confidence, right)
    return Outcome(claims, "identity", f"the intruder knows {mark} exactly and that the person is in the network")


def _mapped(
    release: Release, knowledge: Knowledge, mapping: Mapping[Any, Any], persons: IntArray, description: str
) -> Outcome:
    """Turn a mapping of known persons (labels) to released nodes (rows) into claims about some persons."""
    nodes = np.array([mapping.get(label, -1) for label in knowledge.known.index], dtype=np.int64)
    return Outcome(claims_by_row(release, knowledge, persons, nodes[persons], 1.0, None), "identity", description)


def _by_label(network: Network, labels: pd.Index) -> Network:
    """Return a network with the labels of its rows on its nodes."""
    u, v = network.edges()
    return network_from_edges(u, v, network.n_nodes, list(labels))


def by_row(network: Network) -> Network:
    """Return a network with the row numbers of its nodes as labels."""
    u, v = network.edges()
    return network_from_edges(u, v, network.n_nodes, range(network.n_nodes))


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
    if len(persons) < 2 * n_seeds:
        raise NotApplicable(f"the seeds are true pairs, and there are fewer than {2 * n_seeds}")
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
    Vanhoef (2012), chapter 10; see `reident.networks.passive_attack`. Known seeds are not judged.
    """
    from reident.networks.seeds import passive_attack

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
    seeding: Annotated[str, Choice("hubs", "spectral")] = "hubs",
    n: Annotated[int, Whole(2, unit="nodes")] = 100,
    theta: Annotated[float, Real(0)] = 0.5,
    rng: np.random.Generator,
) -> Outcome:
    """Find the first pairs by structure, then recognise friends: passive attack without seeds.

    Notes
    -----
    By the pattern of the `n` largest hubs, or by all eigenvectors of both networks (Fan et al. 2019, see
    `reident.networks.spectral_match`), for releases with rewired hubs. Vanhoef (2012), section 10.4.
    """
    from reident.networks.seeds import find_seeds

    released, background = both_networks(release, knowledge)
    options: dict[str, Any] = (
        {"n": min(n, background.n_nodes, released.n_nodes)} if seeding == "hubs" else {"method": seeding}
    )
    with refused():
        pairs = find_seeds(by_row(released), _by_label(background, knowledge.known.index), **options, rng=rng)
    seeds = {person: node for node, person in pairs.mapping.items()}
    description = "the intruder knows relations, and no node"
    judged = np.arange(background.n_nodes)
    return _propagated(release, knowledge, released, background, seeds, theta, description, judged=judged)


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


def edge_disclosure(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Believe a relation between two persons as far as the released nodes of their degrees are joined.

    Notes
    -----
    Vanhoef (2012), sections 7.2 and 9.2; see `reident.networks.edge_disclosure`. One row a true relation of persons
    who are in the release: how sure the intruder is of it who knows both degrees in the release.
    """
    from reident.networks.disclosed_edges import class_posteriors

    released, background = both_networks(release, knowledge)
    u, v = (knowledge.truth[ends] for ends in background.edges())
    sample = np.flatnonzero((u >= 0) & (v >= 0))
    sample = np.sort(rng.permutation(sample)[: knowledge.n_persons])
    if not sample.size:
        raise NotApplicable("no relation of the known persons is in the release")
    ids, posteriors = class_posteriors(released)
    sure = posteriors[ids[u[sample]], ids[v[sample]]]
    names = release.table.index
    pairs = released.n_nodes * (released.n_nodes - 1) / 2
    claims = pd.DataFrame(
        {"claim": [f"{names[a]} - {names[b]}" for a, b in zip(u[sample], v[sample], strict=True)], "confidence": sure,
         "right": sure, "base": released.n_edges / max(1.0, pairs), "present": True},
        index=pd.Index([f"{a} - {b}" for a, b in zip(u[sample], v[sample], strict=True)]),
    )  # fmt: skip
    description = "the intruder knows the degrees of two persons in the release"
    return Outcome(claims, "link", description, proven=True)
