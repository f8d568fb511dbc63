"""Metric. Edge disclosure: the probability of a link given two degrees, and releases that bound it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from reident.base import DataError, FloatArray, Generator, IntArray, Real, checked, ratio
from reident.networks.graph import Network, as_network, network_from_edges, relabelled


@dataclass(frozen=True)
class EdgeDisclosure:
    """Links disclosed by degrees: true ones, and added ones (feigned).

    Attributes
    ----------
    true_share, feigned_share : float
        Share of the released edges that the intruder is at least `certainty` sure of and that are, or are not, in the
        original. A feigned edge discloses nothing true, and harms the two people all the same.
    largest_posterior : float
        The surest that the intruder is of any pair.
    """

    true_share: float
    feigned_share: float
    largest_posterior: float


@checked
def edge_disclosure(
    release: Any, original: Any, *, certainty: Annotated[float, Real(0, 1, open_low=True)] = 0.9
) -> EdgeDisclosure:
    """Measure how well two persons' degrees in the release predict a link between them.

    The intruder finds all nodes of the one degree and all of the other; the posterior that the two people are joined is
    the share of the pairs between these classes that are. k-degree anonymity makes the classes large, not this share
    small: it does not protect links.

    Parameters
    ----------
    release, original : whatever `as_network` takes
        Networks on the same nodes, under the same names.
    certainty : float
        In (0, 1]: from which posterior on the intruder believes in a link.

    Returns
    -------
    EdgeDisclosure

    Raises
    ------
    DataError
        If the two do not have the same nodes.

    Notes
    -----
    vanhoef2012, 7.2 with figure 7.2, and 9.2. Measured on the release alone the two shares would be one number, the
    true and the feigned links together. Time O(edges log edges).

    Examples
    --------
    >>> import networkx as nx
    >>> found = edge_disclosure(nx.cycle_graph(4), nx.path_graph(4), certainty=0.6)
    >>> found.true_share, found.feigned_share
    (0.75, 0.25)
    """
    released, before = as_network(release, "release"), as_network(original, "original")
    released = relabelled(released, before)
    ids, posteriors = class_posteriors(released)
    u, v = released.edges()
    sure = posteriors[ids[u], ids[v]] >= certainty
    is_true = before.has_edges(u, v)
    n = max(released.n_edges, 1)
    return EdgeDisclosure(
        true_share=float((sure & is_true).sum() / n),
        feigned_share=float((sure & ~is_true).sum() / n),
        largest_posterior=float(posteriors.max(initial=0.0)),
    )


def class_posteriors(network: Network) -> tuple[IntArray, FloatArray]:
    """Return each node's class of degree, and the share of joined pairs between any two classes."""
    ids, joined, possible = class_pairs(network)
    return ids, ratio(joined, possible)


def class_pairs(network: Network) -> tuple[IntArray, IntArray, IntArray]:
    """Return each node's class of degree, and for any two classes the number of joined pairs and of all pairs."""
    values, ids = np.unique(network.degrees, return_inverse=True)
    u, v = (ids[ends] for ends in network.edges())
    joined = np.zeros((len(values), len(values)), np.int64)
    np.add.at(joined, (u, v), 1)
    joined += joined.T - np.diag(np.diag(joined))
    sizes = np.bincount(ids, minlength=len(values))
    possible = np.outer(sizes, sizes)
    np.fill_diagonal(possible, sizes * (sizes - 1) // 2)
    return ids, joined, possible


#: How often an edge of a pair of classes that are joined too densely looks for a partner to swap with.
_TRIES = 200
#: How often all crowded edges are gone through.
_PASSES = 5


def spread_edges(network: Network, original: Network, certainty: float, rng: Generator) -> Network:
    """Swap edges until less than the share `certainty` of the pairs between any two classes of degree are joined.

    Two edges exchange ends, so that no degree changes. Edges that the original lacks go first, and no swap makes
    another pair of classes too dense. Raises `DataError` if no swap helps: the degrees are too large for their classes.
    """
    ids, joined, possible = class_pairs(network)
    # Strictly below the certainty: the largest whole number that is.
    room = np.ceil(certainty * possible - 1e-9).astype(np.int64) - 1 - joined
    n, classes = network.n_nodes, ids.tolist()
    first, second = original.edges()
    keys = first.astype(np.int64) * n + second
    edges = list(zip(*(ends.tolist() for ends in network.edges()), strict=True))
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
    u, v = np.array(edges, np.int64).reshape(-1, 2).T
    return network_from_edges(u, v, n, network.nodes)


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
