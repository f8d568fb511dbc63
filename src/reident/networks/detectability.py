"""Metric. How planted nodes stand out to the owner of a network (vanhoef2012, 8.8)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from reident.base import DataError, check_names
from reident.networks.graph import DirectedNetwork, as_directed_network
from reident.networks.ranking import AUC, auc

__all__ = ["Detectability", "detectability"]


@dataclass(frozen=True)
class Detectability:
    """How well simple measures tell planted nodes from the others (8.8): areas under the ROC curve.

    The detector knows nothing of the planted nodes. .5 is chance; an area near 0 gives them away as well as one near 1,
    from the other end of the list (`AUC.either_way`): which end, depends on the network.

    Attributes
    ----------
    degree : AUC
        The larger a degree, the more suspect.
    clustering : AUC
        The lower a node's local clustering (7.3's term), the more suspect: planted nodes pick their friends at random,
        but befriend one another.
    one_sided : AUC
        The larger the share of a node's links that are not returned, the more suspect; .5 in undirected networks.
    """

    degree: AUC
    clustering: AUC
    one_sided: AUC


def detectability(graph: Any, planted: Iterable[Hashable], *, level: float = 0.95) -> Detectability:
    """Measure how planted nodes stand out to the data's owner.

    Parameters
    ----------
    graph : whatever `as_directed_network` takes
        The network with the planted nodes; directed or undirected.
    planted : iterable of nodes
        The nodes that an attacker made.
    level : float
        Coverage of the intervals.

    Returns
    -------
    Detectability
        How well degree and clustering tell planted nodes from the others, with intervals.

    Raises
    ------
    DataError, ParameterError
        If a planted node is not in the graph, or all nodes are planted.
    """
    from reident.kernels.networks.network import triangles

    directed = as_directed_network(graph)
    network = directed.undirected()
    suspects = _places(directed, planted)
    degrees = network.degrees.astype(np.float64)
    pairs = degrees * (degrees - 1) / 2
    local = np.divide(triangles(network.indptr, network.indices), pairs, out=np.zeros_like(pairs), where=pairs > 0)
    out, back = np.diff(directed.out_indptr), np.diff(directed.in_indptr)
    returned = out + back - network.degrees
    one_sided = np.divide(out - returned, out, out=np.zeros(len(out)), where=out > 0)
    scores = (degrees, -local, one_sided)
    return Detectability(*(auc(score[suspects], score[~suspects], level=level) for score in scores))


def _places(network: DirectedNetwork, planted: Iterable[Hashable]) -> np.ndarray:
    suspects = np.zeros(network.n_nodes, np.bool_)
    for node in check_names(planted, "planted"):
        if node not in network.positions:
            raise DataError(f"`planted` must name nodes of the graph, got {node!r}")
        suspects[network.positions[node]] = True
    if suspects.all() or not suspects.any():
        raise DataError(f"`planted` must name some nodes and not all {network.n_nodes}, got {int(suspects.sum())}")
    return suspects
