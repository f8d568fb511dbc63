"""Metric. Edge disclosure: the probability of a link between two persons, given their degrees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from reident.base import DataError, FloatArray, IntArray, Real, checked
from reident.networks.graph import Network, as_network, relabelled

__all__ = ["EdgeDisclosure", "edge_disclosure"]


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
    mean_posterior : float
        Mean over the original's edges of how sure the intruder is of them; 0 without edges. Compare with `density`.
    density : float
        The share of all pairs that are joined in the release: how sure an intruder without degrees is.
    certainty : float
    n_edges : int
        Released edges.
    """

    true_share: float
    feigned_share: float
    largest_posterior: float
    mean_posterior: float
    density: float
    certainty: float
    n_edges: int


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
    if set(released.nodes) != set(before.nodes):
        raise DataError("`original` and `release` must have the same nodes: rename the release back first")
    released = relabelled(released, before)
    ids, posteriors = class_posteriors(released)
    u, v = released.edges()
    sure = posteriors[ids[u], ids[v]] >= certainty
    from reident.networks._rows import are_joined

    is_true = are_joined(before.indptr, before.indices, u, v).astype(np.bool_)
    first, second = before.edges()
    pairs = released.n_nodes * (released.n_nodes - 1) / 2
    n = max(released.n_edges, 1)
    return EdgeDisclosure(
        true_share=float((sure & is_true).sum() / n),
        feigned_share=float((sure & ~is_true).sum() / n),
        largest_posterior=float(posteriors.max(initial=0.0)),
        mean_posterior=float(posteriors[ids[first], ids[second]].mean()) if len(first) else 0.0,
        density=released.n_edges / pairs if pairs else 0.0,
        certainty=certainty,
        n_edges=released.n_edges,
    )


def class_posteriors(network: Network) -> tuple[IntArray, FloatArray]:
    """Return each node's class of degree, and the share of joined pairs between any two classes."""
    ids, joined, possible = class_pairs(network)
    return ids, np.divide(joined, possible, out=np.zeros(joined.shape), where=possible > 0)


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
