"""Attack. Propagation from a few known pairs of nodes to most of two overlapping networks, and its quality."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from reident.base import (
    BoolArray,
    DataError,
    IntArray,
    Real,
    SearchLimitWarning,
    Whole,
    check_mapping,
    check_names,
    checked,
)
from reident.networks.graph import DirectedNetwork, as_directed_network, as_network, is_directed, rows_of


@dataclass(frozen=True)
class Propagation:
    """How far a mapping spread.

    Attributes
    ----------
    mapping : dict
        Node of the release -> node of the known network; one to one. Seeds are in it, unless revised.
    n_seeds : int
        Pairs at the start.
    is_converged : bool
        Whether a last full sweep changed nothing.
    """

    mapping: dict[Hashable, Hashable]
    n_seeds: int
    is_converged: bool


@checked
def propagate(
    release: Any,
    known: Any,
    seeds: Mapping[Hashable, Hashable],
    *,
    theta: Annotated[float, Real(0)] = 0.5,
    max_sweeps: Annotated[int, Whole(1, unit="sweeps")] = 100,
) -> Propagation:
    """Re-identify the nodes of a released network from a second, overlapping one and a few known pairs.

    Each node is compared with all nodes of the other network by the cosine of their mapped neighbourhoods; it is
    mapped to the best one if that stands out, and if the same holds the other way round. Mapped nodes are visited
    again as more is known, and revised.

    Parameters
    ----------
    release, known : networkx graph, scipy sparse matrix, path, Network or DirectedNetwork
        The released network and the attacker's own, both undirected or both directed (networkx.DiGraph or
        DirectedNetwork). Only a part of the nodes and edges need be common.
    seeds : mapping
        Node of `release` -> node of `known`, one to one, at least one. See `find_seeds`.
    theta : float
        The least eccentricity: (largest - second largest) / standard deviation of the scores over all nodes, zeros
        included.
    max_sweeps : int
        A limit to the sweeps.

    Returns
    -------
    Propagation
        The larger mapping.

    Raises
    ------
    DataError
        For no seeds, seeds that are not nodes, seeds that contradict one another (two nodes with one partner), a
        directed and an undirected network.

    Warns
    -----
    SearchLimitWarning
        If the mapping was still changing after `max_sweeps`.

    Notes
    -----
    vanhoef2012, Algorithm 10.1 and Listing 10.1. Differs: "crawled" means that the outgoing links ARE known, of all
    nodes that have any (10.2 defines it the other way round: erratum 15, as are the next two); the spread in the
    eccentricity is over all candidates; the mapping stays injective (a pair that wins the check both ways displaces
    older ones); nodes are visited by falling degree; an inverted index over mapped neighbours gives the same scores as
    comparing all pairs. Time per sweep: sum over the edges of the degrees of the partners.
    """
    directed = is_directed(release)
    if directed != is_directed(known):
        raise DataError("`release` and `known` must be both directed or both undirected: their links would not compare")
    released, background = (
        as_directed_network(graph if directed else as_network(graph, name), name)
        for graph, name in ((release, "release"), (known, "known"))
    )
    rows = _check_seeds(seeds, released, background)
    sides = [_side(network, directed) for network in (released, background)]
    ahead = np.full(released.n_nodes, -1, np.int64)
    back = np.full(background.n_nodes, -1, np.int64)
    ahead[rows[0]] = rows[1]
    order = np.argsort(-np.diff(sides[0][4]), kind="stable")
    from reident.kernels.networks.propagation import propagate_mapping

    is_converged = propagate_mapping(sides[0], sides[1], order, ahead, back, theta, max_sweeps)
    if not is_converged:
        warnings.warn(f"the mapping was still changing after {max_sweeps} sweeps", SearchLimitWarning, stacklevel=2)
    mapped = np.flatnonzero(ahead >= 0)
    mapping = {
        released.nodes[u]: background.nodes[v] for u, v in zip(mapped.tolist(), ahead[mapped].tolist(), strict=True)
    }
    return Propagation(mapping, len(seeds), bool(is_converged))


def _check_seeds(
    seeds: Mapping[Hashable, Hashable], released: DirectedNetwork, background: DirectedNetwork
) -> IntArray:
    check_mapping(seeds, "seeds")
    if not seeds:
        raise DataError("`seeds` must hold at least one pair: there would be nothing to spread")
    rows = np.array([rows_of(released, seeds, "seeds"), rows_of(background, seeds.values(), "seeds")], np.int64)
    if len(set(rows[1].tolist())) < len(seeds):
        twice = background.nodes[int(np.bincount(rows[1]).argmax())]
        raise DataError(f"`seeds` must not contradict one another, got {twice!r} for more than one node")
    return rows


def _side(
    network: DirectedNetwork, directed: bool
) -> tuple[IntArray, Any, IntArray, Any, IntArray, Any, BoolArray, bool]:
    """Return the rows of one network as the kernel takes them; pages with links are taken for crawled."""
    both, crawled = network.undirected(), (np.diff(network.out_indptr) > 0) | (not directed)
    rows = network.in_indptr, network.in_indices, network.out_indptr, network.out_indices, both.indptr, both.indices
    return *rows, crawled, bool(crawled.all())


@dataclass(frozen=True)
class MappingQuality:
    """How well a mapping of nodes agrees with the truth.

    Attributes
    ----------
    recall, precision, unmatched : float
        Correct over all true pairs; correct over all mapped nodes whose partner is known or absent (nan for none
        mapped); share of the true pairs whose node was left unmapped.
    n_true : int
        True pairs that count.
    """

    recall: float
    precision: float
    unmatched: float
    n_true: int


def mapping_quality(
    mapping: Mapping[Hashable, Hashable],
    truth: Mapping[Hashable, Hashable],
    *,
    ignore: Iterable[Hashable] = (),
) -> MappingQuality:
    """Compare a mapping with the truth.

    Parameters
    ----------
    mapping, truth : mapping
        Node -> node, in the same direction. A mapped node that `truth` does not name has no partner: mapping it is an
        error.
    ignore : iterable
        Nodes that do not count, for example the seeds that an attacker already knew.

    Returns
    -------
    MappingQuality
        Precision, recall, and the share without a partner.

    Raises
    ------
    DataError, ParameterError
        If one of them is no mapping, or `ignore` no list.
    """
    left_out = set(check_names(ignore, "ignore"))
    check_mapping(mapping, "mapping")
    check_mapping(truth, "truth")
    true = {node: partner for node, partner in truth.items() if node not in left_out}
    mapped = {node: partner for node, partner in mapping.items() if node not in left_out}
    correct, missed = len(true.items() & mapped.items()), len(true.keys() - mapped.keys())
    return MappingQuality(
        recall=correct / len(true) if true else math.nan,
        precision=correct / len(mapped) if mapped else math.nan,
        unmatched=missed / len(true) if true else math.nan,
        n_true=len(true),
    )
