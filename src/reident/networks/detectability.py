"""Metric. Detectability of planted nodes by the owner of a network (vanhoef2012, 8.8)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from reident.base import DataError, check_names
from reident.networks.graph import as_directed_network

__all__ = ["Detectability", "detectability"]


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
    """Measure how well degree, clustering and unreturned links separate planted nodes from the others.

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
    from sklearn.metrics import roc_auc_score

    from reident.kernels.networks.network import triangles

    directed = as_directed_network(graph)
    network = directed.undirected()
    suspects = np.zeros(network.n_nodes, np.bool_)
    for node in check_names(planted, "planted"):
        if node not in directed.positions:
            raise DataError(f"`planted` must name nodes of the graph, got {node!r}")
        suspects[directed.positions[node]] = True
    if suspects.all() or not suspects.any():
        raise DataError(f"`planted` must name some nodes and not all {network.n_nodes}, got {int(suspects.sum())}")
    degrees = network.degrees.astype(np.float64)
    pairs = degrees * (degrees - 1) / 2
    local = np.divide(triangles(network.indptr, network.indices), pairs, out=np.zeros_like(pairs), where=pairs > 0)
    out, back = np.diff(directed.out_indptr), np.diff(directed.in_indptr)
    returned = out + back - network.degrees
    one_sided = np.divide(out - returned, out, out=np.zeros(len(out)), where=out > 0)
    return Detectability(*(float(roc_auc_score(suspects, score)) for score in (degrees, -local, one_sided)))
