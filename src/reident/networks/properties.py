"""Metric. Properties of networks (vanhoef2012, 7.3)."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import numpy as np

from reident.base import Choice, RNGLike, Whole, check_integer, check_rng, checked
from reident.networks.graph import Network, as_network

_EXACT_LIMIT = 10_000


def density(graph: Any) -> float:
    """Return the share of all pairs of nodes that are joined; 0 for fewer than two nodes.

    Parameters
    ----------
    graph : whatever `as_network` takes

    Returns
    -------
    float
        From 0 to 1.
    """
    network = as_network(graph)
    pairs = network.n_nodes * (network.n_nodes - 1) / 2
    return network.n_edges / pairs if pairs else 0.0


@checked
def clustering_coefficient(
    graph: Any, *, variant: Annotated[str, Choice("mean", "global", "defined")] = "mean"
) -> float:
    """Return how likely two neighbours of a node are joined.

    Parameters
    ----------
    graph : whatever `as_network` takes
    variant : {"mean", "global", "defined"}
        ``"mean"``: (7.1), the mean over all nodes, 0 for nodes of degree below 2 (networkx: `average_clustering`).
        ``"global"``: (7.2), triangles over pairs of neighbours (networkx: `transitivity`). ``"defined"``: (7.3), the
        mean over the nodes of degree 2 and more.

    Returns
    -------
    float
        In [0, 1]; 0 where there is no pair of neighbours.

    Raises
    ------
    ParameterError
        If `variant` is none of those known.
    """
    return _clustering(as_network(graph))[variant]


def _clustering(network: Network) -> dict[str, float]:
    from reident.kernels.networks.network import triangles

    n_triangles = triangles(network.indptr, network.indices)
    pairs = network.degrees * (network.degrees - 1) / 2
    defined = pairs > 0
    if not defined.any():
        return {"mean": 0.0, "global": 0.0, "defined": 0.0}
    local = n_triangles[defined] / pairs[defined]
    return {
        "mean": float(local.sum() / network.n_nodes),
        "global": float(n_triangles.sum() / pairs.sum()),
        "defined": float(local.mean()),
    }


@dataclass(frozen=True)
class PathLengths:
    """Distances in a network, in edges.

    Attributes
    ----------
    average : float
        (7.4): the sum of all distances over n(n - 1); a pair without a path counts 0, as the thesis sets (erratum 9).
    average_connected : float
        The mean over the pairs that have a path; nan for none.
    standard_error : float
        Of `average`; 0 where it is exact.
    diameter_low, diameter_high : int
        (7.5): bounds of the largest distance of a pair that has a path; equal where it is exact.
    share_connected : float
        Share of the ordered pairs that have a path.
    """

    average: float
    average_connected: float
    standard_error: float
    diameter_low: int
    diameter_high: int
    share_connected: float


def path_lengths(
    graph: Any, *, exact_limit: int = _EXACT_LIMIT, n_sources: int = 512, searches: int = 200, rng: RNGLike = 0
) -> PathLengths:
    """Measure average path length and diameter: exactly up to `exact_limit` nodes, bounded beyond.

    Parameters
    ----------
    graph : whatever `as_network` takes
        It may be disconnected.
    exact_limit : int
        Up to so many nodes all distances are measured, O(n * edges) with 64 sources at a time.
    n_sources, searches : int
        Beyond: the average is estimated from so many random sources, and the diameter bounded by at most so many
        searches a component; often they end at the exact value.
    rng : Generator, int or None
        Draws the sources.

    Returns
    -------
    PathLengths
        With its uncertainty.

    Raises
    ------
    ParameterError
        If a limit or number is out of range.
    """
    from reident.kernels._numba import in_parts
    from reident.kernels.networks.network import distances_from

    network = as_network(graph)
    check_integer(exact_limit, "exact_limit", low=0)
    n_sources = check_integer(n_sources, "n_sources", low=2)
    searches = check_integer(searches, "searches", low=1)
    n = network.n_nodes
    if n < 2:
        return PathLengths(0.0, math.nan, 0.0, 0, 0, 0.0)
    is_exact = n <= exact_limit
    sources = np.arange(n) if is_exact else check_rng(rng).choice(n, min(n, n_sources), replace=False)
    parts = in_parts(
        lambda part: distances_from(network.indptr, network.indices, sources[part].astype(np.int64)), len(sources), 64
    )
    sums, reached, eccentricity = map(np.concatenate, zip(*parts, strict=True))
    low = high = int(eccentricity.max())
    error = 0.0
    if not is_exact:
        lower, high = _bound(network, searches)
        low = max(lower, low)
        error = float(sums.std(ddof=1) / (n - 1) / math.sqrt(len(sources)) * math.sqrt(1 - len(sources) / n))
    pairs = len(sums) * (n - 1)
    connected = int(reached.sum())
    return PathLengths(
        average=float(sums.sum() / pairs),
        average_connected=float(sums.sum() / connected) if connected else math.nan,
        standard_error=error,
        diameter_low=low,
        diameter_high=high,
        share_connected=connected / pairs,
    )


def _bound(network: Network, searches: int) -> tuple[int, int]:
    """Bound the diameter component by component, the largest first."""
    from reident.kernels.networks.network import bound_diameter

    label = network.components()
    sizes = np.bincount(label)
    members = np.split(np.argsort(label, kind="stable"), np.cumsum(sizes)[:-1])
    low = high = 0
    for component in np.argsort(-sizes, kind="stable"):
        if sizes[component] - 1 <= low:
            break
        bounds = bound_diameter(network.indptr, network.indices, members[component], searches)
        low, high = max(low, int(bounds[0])), max(high, int(bounds[1]))
    return low, max(low, high)


def power_law_exponent(graph: Any, *, x_min: int = 3) -> float:
    """Fit the exponent of a power law to the degrees of at least `x_min` by maximum likelihood (zeta distribution).

    Parameters
    ----------
    graph : whatever `as_network` takes
    x_min : int
        The least degree that counts; the thesis takes 3.

    Returns
    -------
    float
        alpha > 1 of p(x) proportional to x ** -alpha; inf where all counted degrees equal `x_min`; nan where no degree
        reaches it. It says nothing about whether the degrees follow a power law at all.

    Raises
    ------
    ParameterError
        If `x_min` is below 1.
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import zeta

    x_min = check_integer(x_min, "x_min", low=1)
    degrees = as_network(graph).degrees
    counted = degrees[degrees >= x_min]
    if counted.size == 0:
        return math.nan
    mean_log = float(np.log(counted / x_min).mean())
    if mean_log == 0:
        return math.inf

    # In t = log(alpha - 1) the likelihood is smooth over the whole range.
    def loss(t: float) -> float:
        alpha = 1 + math.exp(t)
        return float(np.log(zeta(alpha, x_min)) + alpha * math.log(x_min) + alpha * mean_log)

    result = minimize_scalar(loss, bounds=(-7, 5), method="bounded", options={"xatol": 1e-10})
    return 1 + math.exp(float(result.x))


@dataclass(frozen=True)
class NetworkProperties:
    """The properties that vanhoef2012 compares before and after anonymisation."""

    n_nodes: int
    n_edges: int
    density: float
    max_degree: int
    clustering: float
    clustering_global: float
    clustering_defined: float
    average_path_length: float
    diameter_low: int
    diameter_high: int
    share_connected: float
    power_law_exponent: float

    def to_dict(self) -> dict[str, float]:
        """Return the properties by name."""
        return asdict(self)


def network_properties(
    graph: Any,
    *,
    x_min: Annotated[int, Whole(1, unit="edges")] = 3,
    exact_limit: Annotated[int, Whole(0, unit="nodes")] = _EXACT_LIMIT,
    rng: RNGLike = 0,
) -> NetworkProperties:
    """Measure a network (see the single functions for definitions and conventions).

    Parameters
    ----------
    graph, exact_limit, rng
        As for `path_lengths`.
    x_min : int, default 3
        Smallest degree of the power law's tail.

    Returns
    -------
    NetworkProperties

    Examples
    --------
    >>> import networkx as nx
    >>> found = network_properties(nx.karate_club_graph())
    >>> found.diameter_low, round(found.clustering, 3), round(found.average_path_length, 3)
    (5, 0.571, 2.408)
    """
    network = as_network(graph)
    clustering = _clustering(network)
    paths = path_lengths(network, exact_limit=exact_limit, rng=rng)
    return NetworkProperties(
        n_nodes=network.n_nodes,
        n_edges=network.n_edges,
        density=density(network),
        max_degree=int(network.degrees.max(initial=0)),
        clustering=clustering["mean"],
        clustering_global=clustering["global"],
        clustering_defined=clustering["defined"],
        average_path_length=paths.average,
        diameter_low=paths.diameter_low,
        diameter_high=paths.diameter_high,
        share_connected=paths.share_connected,
        power_law_exponent=power_law_exponent(network, x_min=x_min),
    )
