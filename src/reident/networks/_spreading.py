"""Anonymiser. Spread the edges of a network so that no two degrees give a link away; every degree stays as it is."""

from __future__ import annotations

import numpy as np

from reident.base import DataError
from reident.networks.edge_disclosure import class_pairs
from reident.networks.graph import Network, network_from_edges

__all__ = ["spread_edges"]

#: How often an edge of a pair of classes that are joined too densely looks for a partner to swap with.
_TRIES = 200
#: How often all crowded edges are gone through.
_PASSES = 5


def spread_edges(network: Network, original: Network, certainty: float, rng: np.random.Generator) -> Network:
    """Swap edges until less than the share `certainty` of the pairs between any two classes of degree are joined.

    Two edges exchange ends, so that no degree changes. Edges that the original lacks go first, and no swap makes
    another pair of classes too dense.

    Raises
    ------
    DataError
        If no swap helps any more: the degrees are too large for their classes.
    """
    ids, joined, possible = class_pairs(network)
    # Strictly below the certainty: the largest whole number that is.
    room = np.ceil(certainty * possible - 1e-9).astype(np.int64) - 1 - joined
    n, classes = network.n_nodes, ids.tolist()
    first, second = original.edges()
    keys = first.astype(np.int64) * n + second
    edges = [(int(a), int(b)) for a, b in zip(*network.edges(), strict=True)]
    present = set(edges)
    for _ in range(_PASSES):
        u, v = np.array(edges, np.int64).reshape(-1, 2).T
        crowded = np.flatnonzero(room[ids[u], ids[v]] < 0)
        # The edges that the original lacks first, else in a random order.
        foreign = ~np.isin(u[crowded] * n + v[crowded], keys)
        for place in crowded[np.lexsort((rng.random(len(crowded)), ~foreign))].tolist():
            a, b = edges[place]
            if room[classes[a], classes[b]] >= 0:
                continue
            for other in rng.integers(len(edges), size=_TRIES).tolist():
                c, d = edges[other] if rng.random() < 0.5 else edges[other][::-1]
                if _swap(a, b, c, d, classes, room, present):
                    edges[place], edges[other] = _pair(a, d), _pair(c, b)
                    break
        n_crowded = int((np.triu((room < 0) & (possible > 0))).sum())
        if not n_crowded:
            break
    else:
        raise DataError(
            f"`certainty` = {certainty} cannot be kept: {n_crowded} pairs of degrees stay joined more densely, as "
            "their nodes have more links than the other classes can take; use a larger one or another k"
        )
    ends = np.array(edges, np.int64).reshape(-1, 2)
    return network_from_edges(ends[:, 0], ends[:, 1], n, network.nodes)


def _pair(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def _swap(a: int, b: int, c: int, d: int, classes: list[int], room: np.ndarray, present: set[tuple[int, int]]) -> bool:
    """Replace the edges a-b and c-d by a-d and c-b if that crowds no pair of classes; tell whether it was done."""
    if len({a, b, c, d}) < 4 or _pair(a, d) in present or _pair(c, b) in present:
        return False
    change: dict[tuple[int, int], int] = {}
    for x, y, step in ((a, b, 1), (c, d, 1), (a, d, -1), (c, b, -1)):
        key = _pair(classes[x], classes[y])
        change[key] = change.get(key, 0) + step
    if change[_pair(classes[a], classes[b])] <= 0 or any(
        step < 0 and room[key] + step < 0 for key, step in change.items()
    ):
        return False
    for (x, y), step in change.items():
        room[x, y] += step
        if x != y:
            room[y, x] += step
    present -= {_pair(a, b), _pair(c, d)}
    present |= {_pair(a, d), _pair(c, b)}
    return True
