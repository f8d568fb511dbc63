"""Release of distances as intervals, and the bounds on analyses that follow from them: censored data analysis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from reident.base import BoolArray, DataError, FloatArray, IntArray, Real, check_distance_matrix, check_vector, checked

_Km = Annotated[float, Real(0, unit="km", open_low=True)]


@dataclass(frozen=True, eq=False)
class DistanceIntervals:
    """Intervals that hold the distances of records, shape (n, n), km; unpacks as ``lower_km, upper_km``.

    Both ends are distance matrices, and no lower end exceeds an upper one; otherwise `DataError` is raised.
    """

    lower_km: FloatArray
    upper_km: FloatArray

    def __post_init__(self) -> None:
        lower = check_distance_matrix(self.lower_km, "lower_km")
        upper = check_distance_matrix(self.upper_km, "upper_km", size=len(lower))
        if (lower > upper).any():
            row, column = np.argwhere(lower > upper)[0]
            raise DataError(f"`lower_km` must be at most `upper_km`, which fails at ({row}, {column})")
        object.__setattr__(self, "lower_km", lower)
        object.__setattr__(self, "upper_km", upper)

    def __iter__(self) -> Iterator[FloatArray]:
        return iter((self.lower_km, self.upper_km))


class NeighbourBounds(NamedTuple):
    """Possible and certain nearest neighbours, shape (n, n): row i, column j for j as neighbour of i."""

    possible: BoolArray
    certain: BoolArray


class Bounds(NamedTuple):
    """The smallest and the largest value that a statistic can take."""

    lower: float
    upper: float


class ClusterBounds(NamedTuple):
    """Clusters that are certainly together, and clusters that are possibly together: one label a record each."""

    certain: IntArray
    possible: IntArray


@checked
def distance_intervals(distances_km: ArrayLike, *, width_km: _Km) -> DistanceIntervals:
    """Release each distance, true or masked, as the interval of a grid of width `width_km` that holds it.

    Kroll and Schnell (2016) propose intervals and the analysis of censored data as an alternative to exact numbers.
    There is no guarantee: an intruder matches with ``intervals_km`` or a window as wide as the grid, and
    `registration_attack` on the middles of the intervals loses little where the grid is finer than the country.

    Examples
    --------
    >>> lower, upper = distance_intervals([[0, 7], [7, 0]], width_km=5)
    >>> float(lower[0, 1]), float(upper[0, 1])
    (5.0, 10.0)
    """
    lower = np.floor(check_distance_matrix(distances_km, "distances_km") / width_km) * width_km
    upper = lower + width_km
    np.fill_diagonal(upper, 0.0)
    return DistanceIntervals(lower, upper)


def nearest_neighbour_bounds(intervals: DistanceIntervals) -> NeighbourBounds:
    """Return the records that can be, and those that must be, the nearest neighbour of each of at least 2 records.

    Exact over all choices of the distances from their intervals; ties count as nearest.

    Examples
    --------
    >>> intervals = distance_intervals([[0, 2, 9], [2, 0, 8], [9, 8, 0]], width_km=5)
    >>> possible, certain = nearest_neighbour_bounds(intervals)
    >>> certain[0].tolist(), possible[2].tolist()
    ([False, True, False], [True, True, False])
    """
    lower, upper = (np.where(np.eye(len(end), dtype=bool), np.inf, end) for end in intervals)
    if len(lower) < 2:
        raise DataError(f"`intervals` must be of at least 2 records, got {len(lower)}")
    possible = (lower <= upper.min(axis=1, keepdims=True)) & np.isfinite(lower)
    # The smallest lower end among the others of a pair: the second smallest at the smallest itself.
    ordered = np.sort(lower, axis=1)
    others = np.where(np.arange(len(lower)) == lower.argmin(axis=1)[:, None], ordered[:, [1]], ordered[:, [0]])
    return NeighbourBounds(possible, (upper <= others) & np.isfinite(upper))


@checked
def morans_i_bounds(values: ArrayLike, intervals: DistanceIntervals, *, band_km: _Km) -> Bounds:
    """Return bounds on Moran's I of `values`, shape (n,), with weights of 1 within `band_km`.

    Nan if no pair can lie in it. Exact over all choices of the distances from their intervals with at least one pair of
    neighbours, whether or not these distances fit into space.

    Notes
    -----
    Moran's I is a ratio of sums over neighbours. A pair whose interval holds the band is free; the ratio is largest
    with the free pairs of the largest products of deviations, so that a look at all prefixes of their order suffices.
    Time O(n^2 log n).

    Examples
    --------
    >>> intervals = distance_intervals([[0, 2, 9], [2, 0, 8], [9, 8, 0]], width_km=5)
    >>> [round(bound, 3) for bound in morans_i_bounds([1, 2, 9], intervals, band_km=6)]
    [-0.5, 0.474]
    """
    lower, upper = intervals
    values = check_vector(values, "values", length=len(lower))
    if len(lower) < 2 or np.ptp(values) == 0:
        raise DataError("`values` must be at least 2 numbers that are not all equal")
    z = values - values.mean()
    pairs = np.triu_indices(len(z), 1)
    products = z[pairs[0]] * z[pairs[1]] / (z**2).mean()
    inside, free = upper[pairs] <= band_km, (lower[pairs] <= band_km) & (upper[pairs] > band_km)
    ends = []
    for sign in (1.0, -1.0):
        # All prefixes of the free pairs, the most extreme first.
        total = products[inside].sum() + np.cumsum(np.append(0.0, sign * np.sort(sign * products[free])))
        count = inside.sum() + np.arange(total.size)
        ratio = sign * total[count > 0] / count[count > 0]
        ends.append(float(sign * ratio.min()) if ratio.size else float("nan"))
    return Bounds(ends[0], ends[1])


@checked
def cluster_bounds(intervals: DistanceIntervals, *, reach_km: _Km) -> ClusterBounds:
    """Return single-linkage clusters, reach `reach_km`, of records that must, and of records that can, belong together.

    The true clusters are unions of the certain ones and lie within the possible ones, so that their number lies between
    the two.

    Examples
    --------
    >>> intervals = distance_intervals([[0, 2, 9], [2, 0, 8], [9, 8, 0]], width_km=5)
    >>> certain, possible = cluster_bounds(intervals, reach_km=6)
    >>> certain.tolist(), possible.tolist()
    ([0, 0, 1], [0, 0, 0])
    """
    certain, possible = (
        connected_components(end <= reach_km, directed=False)[1].astype(np.int64)
        for end in (intervals.upper_km, intervals.lower_km)
    )
    return ClusterBounds(certain, possible)
