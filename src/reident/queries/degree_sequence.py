"""Mechanism. The degrees of a network under edge differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from reident.base import (
    DataError,
    FloatArray,
    IntArray,
    RNGLike,
    check_array,
    check_choice,
    check_epsilon,
    check_flag,
    check_integer,
)
from reident.queries.budget import Budget, spend
from reident.queries.entropy import entropy_source
from reident.queries.laplace import grid_noise


@dataclass(frozen=True)
class PrivateDegrees:
    """A noisy degree sequence or histogram.

    Attributes
    ----------
    released : ndarray of float64
        The answer after post-processing: degrees in decreasing order, or the number of nodes of degree 0, 1, 2, ...
    noisy : ndarray of float64
        The same with its noise as drawn.
    kind : str
        ``"sequence"`` or ``"histogram"``.
    epsilon, sensitivity, scale : float
        Privacy loss; by how much neighbouring graphs differ at most (L1); scale of the noise.
    k : int
        How many edges neighbouring graphs may differ in.
    private : bool
        False if the noise was seeded.
    """

    released: FloatArray
    noisy: FloatArray
    kind: str
    epsilon: float
    sensitivity: float
    scale: float
    k: int
    private: bool


def private_degree_sequence(
    graph: Any,
    *,
    epsilon: Any,
    k: int = 1,
    kind: str = "sequence",
    postprocess: bool = True,
    budget: Budget | None = None,
    rng: RNGLike = None,
) -> PrivateDegrees:
    """Publish the degrees of a simple, undirected graph under k-edge epsilon-differential privacy.

    Hides up to k edges, and so a person with at most k neighbours; a person with more is protected less. The number of
    nodes is taken as public.

    Parameters
    ----------
    graph : networkx Graph or array_like of int, shape (n,)
        The graph, or the degrees of its nodes in any order.
    epsilon : number
        Privacy loss, positive.
    k : int
        Neighbouring graphs differ in at most k edges.
    kind : {"sequence", "histogram"}
        The degrees in decreasing order, or the number of nodes of each degree from 0 to n - 1.
    postprocess : bool
        Use what is public about the answer, at no further loss: a sequence is made decreasing by isotonic regression
        and kept in [0, n - 1], a histogram is made non-negative.
    budget : Budget, optional
        Spent before the answer is computed.
    rng : optional
        None for a real answer. A seed or generator is for simulations.

    Returns
    -------
    PrivateDegrees
        The noisy degrees, as drawn and made to fit, and what was spent.

    Raises
    ------
    ParameterError, DataError
        If epsilon or k is not positive, or the graph is empty, directed, has parallel edges or self loops.

    Notes
    -----
    Vanhoef (2012), section 7.4.2 with Definition 7.12. An edge changes two degrees by one: L1 sensitivity 2 k of the
    sequence, which sorting does not raise. Erratum 12: the document calls it the degree distribution; the histogram
    changes by 4 k, as each of the two nodes leaves one degree and enters another.
    """
    exact = check_epsilon(epsilon)
    check_integer(k, "k", low=1)
    check_choice(kind, "kind", ("sequence", "histogram"))
    check_flag(postprocess, "postprocess")
    degrees = _degrees(graph)
    n = degrees.size
    source = entropy_source(rng)
    spend(budget, exact, f"degree {kind}")
    true = np.sort(degrees)[::-1] if kind == "sequence" else np.bincount(degrees, minlength=n)
    sensitivity = 2 * k if kind == "sequence" else 4 * k
    noisy = (true + grid_noise(exact / Fraction(sensitivity), n, source)).astype(np.float64)
    released = noisy
    if postprocess and kind == "sequence":
        released = np.clip(isotonic_regression(noisy, increasing=False).x, 0, n - 1)
    elif postprocess:
        released = np.clip(noisy, 0, n)
    return PrivateDegrees(
        released, noisy, kind, float(exact), float(sensitivity), float(sensitivity / exact), k, rng is None
    )


def _degrees(graph: Any) -> IntArray:
    if hasattr(graph, "degree") and hasattr(graph, "is_directed"):
        if graph.is_directed() or graph.is_multigraph():
            raise DataError("`graph` must be undirected and simple: an edge counts once at each of two nodes")
        if any(u == v for u, v in graph.edges()):
            raise DataError("`graph` must have no self loops: such an edge changes one degree by two")
        listed: Any = [degree for _, degree in graph.degree()]
    else:
        listed = graph
    degrees = check_array(listed, "graph", None)
    if degrees.ndim != 1 or not degrees.size:
        raise DataError(f"`graph` must be a graph with nodes or a vector of degrees, got shape {degrees.shape}")
    if degrees.dtype.kind not in "iu" or degrees.min() < 0 or degrees.max() > degrees.size - 1:
        raise DataError(f"`graph` must have whole degrees from 0 to {degrees.size - 1}, its nodes less one")
    return degrees.astype(np.int64)
