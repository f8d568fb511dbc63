"""Metric. Utility of a released network: agreement of an analysis of the release with one of the original.

Each lies in [0, 1], is 1 for the original, and takes two networks on the same nodes under the same names.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import numpy as np

from reident.base import Choice, Whole, checked
from reident.networks.graph import Network, as_network, relabelled
from reident.networks.properties import clustering_coefficient, density, path_lengths, power_law_exponent


def _both(original: Any, release: Any) -> tuple[Network, Network]:
    first, second = as_network(original, "original"), as_network(release, "release")
    return first, relabelled(second, first)


def _ratio(measure: Callable[[Network], float], original: Any, release: Any) -> float:
    """Return the smaller over the larger of a measure of both, at least 0; 1 if alike, or neither is a number."""
    first, second = (measure(network) for network in _both(original, release))
    if math.isnan(first) or math.isnan(second) or first == second:
        return float(first == second or (math.isnan(first) and math.isnan(second)))
    return 0.0 if math.inf in (first, second) else min(first, second) / max(first, second)


def edge_overlap(original: Any, release: Any) -> float:
    """Return the share of edges that two networks on the same nodes have in common: |E and E'| / |E or E'|.

    1 for the same network (also for two without edges); the utility that needs no chosen analysis.

    Parameters
    ----------
    original, release : whatever `as_network` takes
        Two networks on the same nodes; not modified.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    DataError
        If the two do not have the same nodes.
    """
    first, second = _both(original, release)
    shared = first.n_shared(second)
    either = first.n_edges + second.n_edges - shared
    return shared / either if either else 1.0


def edges_kept(original: Any, release: Any) -> float:
    """Return the share of the original's edges that are in the release; 1 for an original without edges."""
    first, second = _both(original, release)
    return first.n_shared(second) / first.n_edges if first.n_edges else 1.0


def degrees_kept(original: Any, release: Any) -> float:
    """Return 1 - total variation between the two distributions of degrees."""
    degrees = [network.degrees for network in _both(original, release)]
    n_degrees = 1 + max(int(values.max(initial=0)) for values in degrees)
    shares = [np.bincount(values, minlength=n_degrees) / max(1, len(values)) for values in degrees]
    return float(1 - np.abs(shares[0] - shares[1]).sum() / 2)


@checked
def clustering_kept(
    original: Any, release: Any, *, variant: Annotated[str, Choice("mean", "global", "defined")] = "mean"
) -> float:
    """Return the smaller over the larger of the clustering coefficients (`clustering_coefficient`)."""
    return _ratio(partial(clustering_coefficient, variant=variant), original, release)


_LIMIT = Whole(0, unit="nodes")


@checked
def path_length_kept(original: Any, release: Any, *, exact_limit: Annotated[int, _LIMIT] = 10_000) -> float:
    """Return the smaller over the larger of the mean path lengths of pairs that have a path (`path_lengths`)."""
    return _ratio(
        lambda network: path_lengths(network, exact_limit=exact_limit, searches=1).average_connected, original, release
    )


@checked
def diameter_kept(original: Any, release: Any, *, exact_limit: Annotated[int, _LIMIT] = 10_000) -> float:
    """Return the smaller over the larger of the diameters: of their lower bounds beyond `exact_limit` nodes."""
    return _ratio(lambda network: path_lengths(network, exact_limit=exact_limit).diameter_low, original, release)


def density_kept(original: Any, release: Any) -> float:
    """Return the smaller over the larger of the densities."""
    return _ratio(density, original, release)


@checked
def exponent_kept(original: Any, release: Any, *, x_min: Annotated[int, Whole(1, unit="edges")] = 3) -> float:
    """Return the smaller over the larger of the exponents of power laws (`power_law_exponent`)."""
    return _ratio(partial(power_law_exponent, x_min=x_min), original, release)
