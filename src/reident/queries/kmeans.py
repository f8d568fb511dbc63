"""Mechanism. k-means clustering under differential privacy: noisy counts and noisy sums only."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reident.base import (
    DataError,
    FloatArray,
    Generator,
    IntArray,
    ParameterError,
    RNGLike,
    afford,
    check_array,
    check_bounds,
    check_choice,
    check_epsilon,
    check_flag,
    check_integer,
    check_rng,
)
from reident.queries.budget import Budget, spend
from reident.queries.domain import clipped, warn_replaced
from reident.queries.entropy import Entropy, entropy_source
from reident.queries.laplace import grid_noise

#: Grid steps along an edge of the unit cube: points are rounded to a millionth of their bounds.
STEPS = 2**20

#: Points a centre of the cloud from which the first centres are spread.
_CLOUD = 128


@dataclass(frozen=True)
class PrivateKMeans:
    """Centres found under differential privacy. Holds no labels: they would disclose the points.

    Attributes
    ----------
    centres : ndarray of float64, shape (n_clusters, d)
        In the units of the points.
    counts : ndarray of float64, shape (n_clusters,)
        The noisy sizes of the last iteration, negative ones set to 0.
    epsilon : float
        The privacy loss that was spent.
    n_iterations : int
        Rounds of counts and sums.
    private : bool
        False if the noise was seeded.
    n_clipped : int
        How many points lay outside the bounds. For the keeper of the data only.
    """

    centres: FloatArray
    counts: FloatArray
    epsilon: float
    n_iterations: int
    private: bool
    n_clipped: int = field(default=0, repr=False)

    def inertia(self, points: ArrayLike) -> float:
        """Return the mean squared distance to the nearest centre. It depends on the points: not for publication."""
        listed = np.atleast_2d(np.asarray(points, dtype=np.float64))
        gaps = listed - self.centres[nearest_centre(listed, self.centres)]
        return float((gaps**2).sum(axis=1).mean())


def private_kmeans(
    points: ArrayLike | pd.DataFrame,
    n_clusters: int,
    *,
    bounds: Any,
    epsilon: Any,
    n_iterations: int = 3,
    schedule: str = "uniform",
    centred: bool = False,
    start: str | ArrayLike = "spread",
    empty: str = "split",
    budget: Budget | None = None,
    rng: RNGLike = None,
) -> PrivateKMeans:
    """Cluster points under epsilon-differential privacy (one point more or less).

    Each round asks two queries, the sizes of the clusters and the sums of their points, and nothing else touches the
    data. The result is rarely worth looking at when epsilon times the points in a cluster is below a few hundred.

    Parameters
    ----------
    points : array_like of float or DataFrame, shape (n, d)
        One point a person.
    n_clusters : int
        Number of centres.
    bounds : (low, high) or sequence of d such pairs
        Declared range of the coordinates, one pair for all or one for each; mapped to the unit cube. Points outside
        are clipped, counted and told.
    epsilon : number
        Privacy loss in all, positive.
    n_iterations : int
        Number of rounds N. Few are better at small epsilon, as each has a share of it.
    schedule : {"uniform", "halving"}
        Share of a round: epsilon / N, or half of what remains (Algorithm 5.2's variant for an unknown number of
        rounds; the last half is not spent).
    centred : bool
        Sum distances from the middle of the cube, of sensitivity d / 2 instead of d: less noise than the document's.
    start : {"spread", "random"} or array_like, shape (n_clusters, d)
        First centres, never taken from the data: evenly spread over the bounds, drawn at random from them as in the
        document (bad draws dominate its worst runs), or given, in the units of the points.
    empty : {"split", "keep"}
        What becomes of a centre whose noisy count is too small to divide by (at most one standard deviation of its
        noise): it moves beside the centre with the largest noisy count, or stays. Both see noisy numbers only.
    budget : Budget, optional
        Spent before anything is computed.
    rng : optional
        None for a real answer. A seed or generator is for simulations.

    Returns
    -------
    PrivateKMeans
        The centres, the noise of every round, and what was spent.

    Raises
    ------
    ParameterError, DataError
        If epsilon, the bounds, the number of clusters or rounds break their rule, or points are not finite.

    Warns
    -----
    PrivacyWarning
        If points were clipped, or the noise is seeded.

    Notes
    -----
    Vanhoef (2012), Algorithm 5.2 with Theorem 5.3: a round has sensitivity d + 1 (one for the sizes, d for the sums),
    hence noise of scale (d + 1) N / epsilon on each number. Differs: counts that are not positive are handled, which
    the document leaves open (erratum 13); adjacency is one record more or less, so that replacing a record costs
    2 epsilon.
    """
    exact = check_epsilon(epsilon)
    check_integer(n_clusters, "n_clusters", low=1)
    check_integer(n_iterations, "n_iterations", low=1, high=1000)
    check_choice(schedule, "schedule", ("uniform", "halving"))
    check_choice(empty, "empty", ("split", "keep"))
    check_flag(centred, "centred")
    cube, low, width, n_clipped = _to_cube(points, bounds)
    rows = max(len(cube), _CLOUD * n_clusters)
    afford(8 * rows * n_clusters, "n_clusters", f"{n_clusters:,} distances of each point", "ask for fewer centres")
    source = entropy_source(rng)
    public = check_rng(rng)
    centres = _start(start, n_clusters, low, width, public)
    rounds = [exact / n_iterations] * n_iterations
    if schedule == "halving":
        rounds = [exact / 2 ** (position + 1) for position in range(n_iterations)]
    spend(budget, sum(rounds), "k-means")
    warn_replaced(n_clipped, "of `points` lay outside `bounds` or had missing coordinates, and were replaced")
    counts, sensitivity = np.zeros(n_clusters), 1 + Fraction(cube.shape[1], 2 if centred else 1)
    for share in rounds:
        counts, sums = _noisy_queries(cube, centres, share / sensitivity, STEPS // 2 if centred else 0, source)
        deviation = math.sqrt(2) * float(sensitivity / share)
        centres = _move(centres, counts, sums, deviation if empty == "split" else 0.5, empty, public)
    return PrivateKMeans(
        low + centres * width, np.clip(counts, 0, None), float(sum(rounds)), n_iterations, rng is None, n_clipped
    )


def _to_cube(points: Any, bounds: Any) -> tuple[IntArray, FloatArray, FloatArray, int]:
    """Return the points as grid steps of the unit cube, the bounds' low ends and widths, and how many were clipped."""
    shape = np.shape(points)
    if len(shape) not in (1, 2) or (len(shape) == 2 and shape[1] < 1):
        raise DataError(f"`points` must have one row a point and at least one column, got shape {shape}")
    d = shape[1] if len(shape) == 2 else 1
    pairs = np.asarray(bounds, dtype=object)
    if pairs.ndim == 2 and pairs.shape != (d, 2):
        raise ParameterError(f"`bounds` must be one pair or one pair a column ({d}), got shape {pairs.shape}")
    listed = [tuple(pair) for pair in bounds] if pairs.ndim == 2 else [bounds] * d
    low, high = np.array([check_bounds(pair) for pair in listed]).T
    inside, n_replaced = clipped(points, low, high, (low + high) / 2, "points")
    steps = np.rint((inside.reshape(-1, d) - low) / (high - low) * STEPS).astype(np.int64)
    return steps, low, high - low, n_replaced


def cluster_queries(cube: IntArray, centres: FloatArray, shift: int = 0) -> tuple[IntArray, IntArray]:
    """Return the sizes of the clusters and the sums of their points less `shift`, in grid steps: the two queries."""
    labels = nearest_centre(cube / STEPS, centres)
    k = len(centres)
    sizes = np.bincount(labels, minlength=k)
    # Sums of whole numbers below 2**53 are exact in double precision.
    sums = [np.bincount(labels, weights=column - shift, minlength=k) for column in cube.T]
    return sizes.astype(np.int64), np.stack(sums, axis=1).astype(np.int64)


def _noisy_queries(
    cube: IntArray, centres: FloatArray, exponent: Fraction, shift: int, source: Entropy
) -> tuple[FloatArray, FloatArray]:
    k, d = centres.shape
    sizes, sums = cluster_queries(cube, centres, shift)
    sizes = sizes + grid_noise(exponent, k, source)
    sums = sums + grid_noise(exponent / STEPS, k * d, source).reshape(k, d)
    noisy, totals = sizes.astype(np.float64), sums.astype(np.float64)
    return noisy, totals / STEPS + shift / STEPS * noisy[:, None]


def _move(
    centres: FloatArray, counts: FloatArray, sums: FloatArray, min_count: float, empty: str, public: Generator
) -> FloatArray:
    """Return the next centres: a post-processing of noisy numbers."""
    thin = counts <= min_count
    moved = np.where(thin[:, None], centres, np.clip(sums / np.where(thin, 1, counts)[:, None], 0, 1))
    if empty == "split" and thin.any() and not thin.all():
        crowded = moved[counts.argmax()]
        # A small step beside the largest cluster: the next round shares its points out between the two.
        moved[thin] = np.clip(crowded + public.normal(0, 0.05, (int(thin.sum()), centres.shape[1])), 0, 1)
    return moved


def _start(start: str | ArrayLike, k: int, low: FloatArray, width: FloatArray, public: Generator) -> FloatArray:
    d = low.size
    if isinstance(start, str):
        check_choice(start, "start", ("spread", "random"))
        return spread_centres(k, d, rng=public) if start == "spread" else public.random((k, d))
    centres = check_array(start, "start")
    if centres.shape != (k, d) or not np.isfinite(centres).all():
        raise ParameterError(f"`start` must hold {k} finite centres of {d} coordinates, got shape {centres.shape}")
    return np.clip((centres - low) / width, 0, 1)


def spread_centres(n_clusters: int, d: int, *, rng: RNGLike = None) -> FloatArray:
    """Return centres spread evenly over the unit cube, without looking at any data.

    Uniform points of the cube are clustered by plain k-means from well separated first centres: each centre then
    stands for about the same volume, and none lies at the border or beside another.
    """
    generator = check_rng(rng)
    cloud = generator.random((max(512, _CLOUD * n_clusters), d))
    centres = cloud[:1]
    distance = ((cloud - centres[0]) ** 2).sum(axis=1)
    while len(centres) < n_clusters:
        centres = np.vstack([centres, cloud[distance.argmax()]])
        distance = np.minimum(distance, ((cloud - centres[-1]) ** 2).sum(axis=1))
    for _ in range(10):
        labels = nearest_centre(cloud, centres)
        sizes = np.bincount(labels, minlength=n_clusters)[:, None]
        sums = np.stack([np.bincount(labels, weights=column, minlength=n_clusters) for column in cloud.T], axis=1)
        centres = np.where(sizes > 0, sums / np.maximum(sizes, 1), centres)
    return centres


def nearest_centre(points: FloatArray, centres: FloatArray) -> IntArray:
    """Return the position of the nearest centre of each point; the first of several equally near ones."""
    labels: IntArray = (np.einsum("kd,kd->k", centres, centres) - 2 * points @ centres.T).argmin(axis=1)
    return labels
