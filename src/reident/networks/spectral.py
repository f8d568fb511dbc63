"""Attack. Two networks matched by their spectra: no known person, and no trust in the largest degrees."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from reident.base import DataError, FloatArray, IntArray
from reident.networks.graph import Network, as_network

#: Beyond so many nodes the dense matrices do not fit a small machine.
_MOST_NODES = 6000

#: How far apart two eigenvalues may lie and still speak for the same direction, in square roots of the mean degree.
_ETA = 0.2

#: At most so many assignments by the cosine similarity of neighbourhoods under the match before.
_ROUNDS = 10

#: Decimals of a similarity, relative to the largest, that are the same on every processor.
_DIGITS = 9


class SpectralMatch(NamedTuple):
    """A match of all nodes, whether right or not.

    Attributes
    ----------
    mapping : dict
        Node of the release -> node of the known network, one to one; as many pairs as the smaller network has nodes.
    margins : dict
        For each node of the release that is matched, by how many standard deviations its partner's similarity exceeds
        the next best; negative where another would be liked better.
    """

    mapping: dict[Hashable, Hashable]
    margins: dict[Hashable, float]


def spectral_match(release: Any, known: Any) -> SpectralMatch:
    """Match the nodes of two overlapping networks by all their eigenvectors (GRAMPA), and refine by neighbours.

    Where an anonymiser rewires the hubs, starts from the largest degrees fail (`find_seeds`); the spectrum looks at all
    nodes at once. It needs no seed and matches every node; the margin says which matches to trust.

    Parameters
    ----------
    release, known : whatever `as_network` takes
        The released network and the attacker's, undirected, at most 6,000 nodes each.

    Returns
    -------
    SpectralMatch

    Raises
    ------
    DataError, ParameterError
        For networks without nodes or too large for dense matrices.

    Notes
    -----
    Fan, Mao, Wu, Xu (2019), "Spectral graph matching and regularized quadratic relaxations": the similarity is the sum
    of u_i u_i' J v_j v_j' over all pairs of eigenvectors, weighted by 1 / ((l_i - m_j)^2 + eta^2), J all ones. The
    refinement is the one that they use in their experiments, with cosines for counts. Time O(n^3), memory O(n^2).
    """
    from scipy.optimize import linear_sum_assignment

    released, background = _read(release, "release"), _read(known, "known")
    similarity = _steady(_spectral(released, background, _ETA))
    rows, columns = linear_sum_assignment(similarity, maximize=True)
    for _ in range(_ROUNDS):
        similarity = _by_neighbours(released, background, rows, columns)
        before = columns
        rows, columns = linear_sum_assignment(similarity, maximize=True)
        if (before == columns).all():
            break
    nodes = [released.nodes[i] for i in rows]
    partners = [background.nodes[j] for j in columns]
    margins = _margins(similarity, rows, columns).tolist()
    return SpectralMatch(dict(zip(nodes, partners, strict=True)), dict(zip(nodes, margins, strict=True)))


def _read(graph: Any, name: str) -> Network:
    network = as_network(graph, name)
    if not 1 <= network.n_nodes <= _MOST_NODES:
        raise DataError(
            f"`{name}` must have 1 to {_MOST_NODES:,} nodes, got {network.n_nodes:,}: the matrices are dense"
        )
    return network


def _spectral(released: Network, background: Network, eta: float) -> FloatArray:
    (first, u), (second, v) = (_spectrum(network) for network in (released, background))
    weights = np.outer(u.sum(axis=0), v.sum(axis=0)) / ((first[:, None] - second[None, :]) ** 2 + eta**2)
    similarity: FloatArray = u @ weights @ v.T
    return similarity


def _steady(similarity: FloatArray) -> FloatArray:
    """Round to the accuracy of the eigenvectors, so that equivalent nodes tie on every processor.

    That bit hangs on the processor for which the linear algebra was written.
    """
    largest = np.abs(similarity).max()
    return np.round(similarity / largest, _DIGITS) if largest > 0 else similarity


def _spectrum(network: Network) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues, over the square root of the mean degree, and eigenvectors in columns."""
    values, vectors = np.linalg.eigh(network.to_scipy().toarray().astype(np.float64))
    return values / np.sqrt(max(network.degrees.mean(), 1.0)), vectors


def _by_neighbours(released: Network, background: Network, rows: IntArray, columns: IntArray) -> FloatArray:
    """Return the cosine similarity of all pairs' neighbourhoods, neighbours that are matched counted as the same."""
    first = released.to_scipy().astype(np.float64)[:, rows]
    second = background.to_scipy().astype(np.float64)[:, columns]
    common: FloatArray = (first @ second.T).toarray()
    norms = np.sqrt(np.maximum(np.outer(released.degrees, background.degrees), 1.0))
    return common / norms


def _margins(similarity: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
    of_partner = similarity[rows, columns]
    others = similarity[rows].copy()
    others[np.arange(len(rows)), columns] = -np.inf
    rival = others.max(axis=1) if others.shape[1] > 1 else np.zeros(len(rows))
    deviation = similarity[rows].std(axis=1)
    gap: FloatArray = (of_partner - rival) / np.where(deviation > 0, deviation, 1)
    return gap
