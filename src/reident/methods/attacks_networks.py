"""Attack. The attacks on networks by name: each takes a release and the intruder's knowledge, and returns claims."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from reident.base import Choice, IntArray, Whole, quiet, ratio
from reident.methods.outcome import NotApplicable, Outcome, record_outcome, refused
from reident.methods.release import Knowledge
from reident.networks.graph import DirectedNetwork, Network, network_from_edges

#: Coalitions that are drawn, and hubs whose pattern is sought.
_COALITIONS, _HUBS = 20, 100


def both_networks(knowledge: Knowledge) -> tuple[Network, Network]:
    """Return the released network and the one that the intruder knows, without directions; nodes are row numbers."""
    released, background = knowledge.release.network, knowledge.network
    assert released is not None
    assert background is not None
    both = (released.undirected() if isinstance(released, DirectedNetwork) else released, background)
    by_row = [network_from_edges(*each.edges(), each.n_nodes, range(each.n_nodes)) for each in both]
    return by_row[0], by_row[1]


def degree(knowledge: Knowledge) -> Outcome:
    """Pick one of the nodes that have the person's number of relations, or the number nearest to it."""
    released, background = both_networks(knowledge)
    values = np.unique(released.degrees)
    nearest = values[np.searchsorted((values[1:] + values[:-1]) / 2, background.degrees)]  # of two as near the lower
    return _picked(knowledge, nearest, released.degrees, "the number of each person's relations")


def neighbourhood(knowledge: Knowledge) -> Outcome:
    """Pick one of the nodes with neighbours of the same degrees as the person's neighbours."""
    released, background = both_networks(knowledge)
    codes = pd.factorize(pd.Series([*_surroundings(background), *_surroundings(released)]))[0]
    return _picked(
        knowledge, codes[: background.n_nodes], codes[background.n_nodes :],
        "the number of each person's relations and of their friends' relations",
    )  # fmt: skip


def _surroundings(network: Network) -> list[bytes]:
    """Return the degrees of each node's neighbours, in order."""
    neighbours = np.split(network.indices, network.indptr[1:-1])
    return [np.sort(network.degrees[near]).tobytes() for near in neighbours]


def _picked(knowledge: Knowledge, background: IntArray, released: IntArray, mark: str) -> Outcome:
    """Claim one of the nodes that have the person's mark."""
    counts = pd.Series(released).value_counts().reindex(background, fill_value=0)
    first = pd.Series(released).drop_duplicates()
    rows = pd.Series(first.index, first).reindex(background, fill_value=-1).to_numpy()
    confidence = ratio(1.0, counts)
    right = confidence * ((knowledge.truth >= 0) & (released[knowledge.truth] == background))
    description = f"the intruder knows {mark} exactly and that the person is in the network"
    return record_outcome(knowledge, np.arange(len(background)), rows, confidence, right, description)


def _mapped(
    knowledge: Knowledge, nodes: Iterable[Any], found: Iterable[Any], persons: IntArray, description: str
) -> Outcome:  # fmt: skip
    """Turn released nodes and the persons found in them, both by row, into claims about some persons."""
    node_of = pd.Series(list(nodes), list(found), dtype=np.int64).reindex(persons, fill_value=-1)
    return record_outcome(knowledge, persons, node_of.to_numpy(), 1.0, None, description)


def coalition(
    knowledge: Knowledge,
    *,
    size: Annotated[int, Whole(2, unit="persons")] = 5,
    rng: Generator,
) -> Outcome:
    """Let friends pool their knowledge of their own relations and find themselves and their neighbours: passive attack.

    Notes
    -----
    Backstrom et al. (2007); Vanhoef (2012), section 8.9. Judged are the neighbours
    that the coalitions could tell apart.
    """
    from reident.networks.planted_recovery import recover
    from reident.networks.planted_subgraph import coalition as pool

    released, background = both_networks(knowledge)
    node_of: dict[Any, Any] = {}
    linked: set[Any] = set()
    for _ in range(_COALITIONS):
        members = _friends(background, size, rng)
        if len(members) < size:
            continue
        planned = pool(background, members)
        linked |= set(planned.links)
        with quiet():
            node_of |= recover(released, planned, node_limit=200_000).mapping
    if not linked:
        raise NotApplicable(f"no coalition of {size} friends could tell a neighbour from the others")
    description = f"{size} friends know their own relations and degrees, and that all of them are in the network"
    return _mapped(knowledge, node_of.values(), node_of, np.array(sorted(linked)), description)


def _friends(network: Network, size: int, rng: Generator) -> list[int]:
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
    knowledge: Knowledge,
    *,
    n_seeds: Annotated[int, Whole(1)] = 10,
    rng: Generator,
) -> Outcome:
    """Start from some persons with known nodes and recognise their friends: passive attack with seeds.

    Notes
    -----
    Narayanan and Shmatikov (2009); Vanhoef (2012), chapter 10. The seeds are not judged.
    """
    seeds, judged = _known_seeds(knowledge, both_networks(knowledge)[1], n_seeds, rng)
    return _propagated(
        knowledge, seeds, judged, f"the intruder knows relations, and the nodes of {n_seeds} persons with many"
    )


def _known_seeds(
    knowledge: Knowledge, background: Network, n_seeds: int, rng: Generator
) -> tuple[dict[Any, Any], IntArray]:
    """Draw nodes that the intruder knows, node -> person, and return them with all other persons."""
    if not n_seeds:
        return {}, np.arange(background.n_nodes)
    persons, rows = knowledge.pairs()
    if len(persons) < 2 * n_seeds:
        raise NotApplicable(f"the seeds are true pairs, and there are fewer than {2 * n_seeds}")
    # The best known persons are those with most relations.
    order = np.argsort(-background.degrees[persons], kind="stable")
    chosen = np.sort(rng.choice(order[: 3 * n_seeds], n_seeds, replace=False))
    seeds = dict(zip(rows[chosen].tolist(), persons[chosen].tolist(), strict=True))
    return seeds, np.setdiff1d(np.arange(background.n_nodes), persons[chosen])


def _propagated(knowledge: Knowledge, seeds: dict[Any, Any], persons: IntArray, description: str) -> Outcome:
    """Recognise friends from seeds, node -> person."""
    from reident.networks.propagation import propagate

    found = propagate(*both_networks(knowledge), seeds).mapping if seeds else {}
    return _mapped(knowledge, found, found.values(), persons, description)


def passive(
    knowledge: Knowledge,
    *,
    n_seeds: Annotated[int, Whole(0)] = 0,
    rng: Generator,
) -> Outcome:
    """Start from known persons, from seeds found by structure, and from both; keep the best explanation of relations.

    Notes
    -----
    Vanhoef (2012), chapter 10; see `reident.networks.passive_attack`. Known seeds are not judged.
    """
    from reident.networks.seeds import passive_attack

    released, background = both_networks(knowledge)
    seeds, judged = _known_seeds(knowledge, background, n_seeds, rng)
    with refused():
        attack = passive_attack(released, background, seeds, rng=rng)
    description = f"the intruder knows relations, and {f'the nodes of {n_seeds} persons' if n_seeds else 'no node'}"
    return _mapped(knowledge, attack.mapping, attack.mapping.values(), judged, description)


def seedless_propagation(
    knowledge: Knowledge,
    *,
    method: Annotated[str, Choice("matching", "spectral")] = "matching",
    rng: Generator,
) -> Outcome:
    """Find the first pairs by structure, then recognise friends: passive attack without seeds.

    Notes
    -----
    By the pattern of the 100 largest hubs, or by all eigenvectors of both networks (Fan et al. 2019, see
    `reident.networks.spectral_match`), for releases with rewired hubs. Vanhoef (2012), section 10.4.
    """
    from reident.networks.seeds import find_seeds

    released, background = both_networks(knowledge)
    with refused():
        seeds = dict(find_seeds(released, background, method=method, n=_HUBS, rng=rng).mapping)
    return _propagated(knowledge, seeds, np.arange(background.n_nodes), "the intruder knows relations, and no node")


def edge_disclosure(knowledge: Knowledge, *, rng: Generator) -> Outcome:
    """Believe a relation between two persons as far as the released nodes of their degrees are joined.

    Notes
    -----
    Vanhoef (2012), sections 7.2 and 9.2; see `reident.networks.edge_disclosure`. One row a true relation of persons
    who are in the release: how sure the intruder is of it who knows both degrees in the release.
    """
    from reident.networks.disclosed_edges import class_posteriors

    released, background = both_networks(knowledge)
    u, v = (knowledge.truth[ends] for ends in background.edges())
    sample = np.flatnonzero((u >= 0) & (v >= 0))
    sample = np.sort(rng.permutation(sample)[: knowledge.n_persons])
    if not sample.size:
        raise NotApplicable("no relation of the known persons is in the release")
    ids, posteriors = class_posteriors(released)
    u, v, names = u[sample], v[sample], knowledge.release.table.index
    sure, pairs = posteriors[ids[u], ids[v]], released.n_nodes * (released.n_nodes - 1) / 2
    claims = pd.DataFrame(
        {"claim": [f"{a} - {b}" for a, b in zip(names[u], names[v], strict=True)], "confidence": sure,
         "right": sure, "base": released.n_edges / max(1.0, pairs), "present": True},
        index=[f"{a} - {b}" for a, b in zip(u, v, strict=True)],
    )  # fmt: skip
    return Outcome(claims, "link", "the intruder knows the degrees of two persons in the release", proven=True)
