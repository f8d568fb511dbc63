"""Released distances as expected by an intruder with the method and its parameters: neither attack nor anonymiser."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import squareform

from reident.base import (
    FloatArray,
    Generator,
    IntArray,
    Real,
    RNGLike,
    Whole,
    afford,
    check_embedding,
    check_integer,
    check_level,
    check_rng,
    checked,
)
from reident.kernels._numba import in_parts, in_threads
from reident.kernels.places import lipschitz
from reident.places.areas import AreaSampler
from reident.places.distances import great_circle_km
from reident.places.points import unit_vectors

# Bytes of simulated distances held at a time; more pairs than fit are worked off in blocks of rows.
_BUDGET = 400_000_000
# Bytes of reference places drawn at a time.
_BATCH = 24_000_000
# Fresh embeddings on which the coverage is measured: a quarter of the simulations, within these bounds.
_FRESH = 10, 100
# Columns that are sorted at once: with all simulations they stay in a cache.
_COLUMNS = 256


@dataclass(frozen=True)
class ToleranceIntervals:
    """Per pair of known records, the interval in which the released distance is expected; unpacks as ``lo, hi``.

    Attributes
    ----------
    lo, hi : ndarray of float64, shape (n, n)
        Ends of the intervals, km: symmetric with a zero diagonal.
    alpha : float
        Share of the simulated distances that each interval holds at least.
    coverage : float
        Share of released distances inside their interval, measured on fresh embeddings: what `alpha` really comes to.
    coverage_se : float
        Standard error of `coverage` from embedding to embedding.
    """

    lo: FloatArray
    hi: FloatArray
    alpha: float
    coverage: float
    coverage_se: float

    def __iter__(self) -> Iterator[FloatArray]:
        return iter((self.lo, self.hi))


@checked
def tolerance_intervals(
    lat: ArrayLike,
    lon: ArrayLike,
    *,
    n_reference_sets: Annotated[int, Whole(1, unit="sets")],
    reference_set_size: Annotated[int, Whole(1, unit="places")],
    area: Any,
    alpha: Annotated[float, Real(0, 1, open_low=True, open_high=True)],
    n_simulations: Annotated[int, Whole(2, unit="embeddings")] = 400,
    rng: RNGLike = None,
) -> ToleranceIntervals:
    """Simulate the embedding of known places and return, for every pair, the shortest interval of released distances.

    The intruder's preparation for attacking a Lipschitz embedding whose parameters are known: the secret reference
    sets are drawn anew many times. A pair of the release is compatible with a pair of known records if its released
    distance lies in the interval of the known pair (``common_subgraph_attack(..., intervals_km=...)``).

    Parameters
    ----------
    lat, lon : array_like of float, shape (n,)
        Places of the known records, degrees; at least two.
    n_reference_sets, reference_set_size : int
        Parameters of the embedding, as in `embed_distances`.
    area : shapely polygon, GeoSeries or GeoDataFrame
        Where the custodian drew reference places, as in `embed_distances`.
    alpha : float
        Share of the simulated distances that an interval must hold at least, inside (0, 1).
    n_simulations : int, default 400
        Simulated embeddings, at least 2. A shortest interval is fitted to its own sample and covers less than `alpha`
        of new distances: at most .03 less at the default, .05 at 100 (measured at d = 20, k = 10, worst at small
        `alpha`). `coverage` of the result reports the share that is reached.
    rng : Generator, int or None

    Returns
    -------
    ToleranceIntervals
        Unpacks as ``lo, hi``.

    Raises
    ------
    DataError, ParameterError
        As in `embed_distances`; if `alpha` is outside (0, 1) or `n_simulations` below 2.

    Notes
    -----
    Kroll and Schnell (2016), "A graph theoretic linkage attack": the interval [l, u] of each pair. The paper gives no
    number of simulations (erratum 1). Of several shortest intervals the lowest is taken. Time O(n_simulations n^2 d);
    memory O(n^2) and at most about .5 GB for the simulated distances: blocks of pairs replay the same simulations.
    """
    return simulate_intervals(
        lat,
        lon,
        n_reference_sets=n_reference_sets,
        reference_set_size=reference_set_size,
        area=area,
        alphas=[alpha],
        n_simulations=n_simulations,
        rng=rng,
    )[0]


def simulate_intervals(
    lat: ArrayLike,
    lon: ArrayLike,
    *,
    n_reference_sets: int,
    reference_set_size: int,
    area: Any,
    alphas: Sequence[float],
    n_simulations: int = 400,
    rng: RNGLike = None,
) -> list[ToleranceIntervals]:
    """Return `tolerance_intervals` for several `alphas` from the same simulations, which take nearly all the time."""
    lat_deg, lon_deg, shape = check_embedding(lat, lon, n_reference_sets, reference_set_size)
    n_simulations = check_integer(n_simulations, "n_simulations", low=2)
    alphas = [check_level(alpha, "alphas") for alpha in alphas]
    # At least the pairs of one record are simulated at once.
    afford(8 * n_simulations * lat_deg.size, "n_simulations", f"{n_simulations:,} distances a pair", "take fewer")
    embedding = unit_vectors(lat_deg, lon_deg), AreaSampler(area), shape
    # Blocks of pairs replay the simulations from these.
    seeds = check_rng(rng).integers(2**63, size=2)
    n = lat_deg.size
    counts = np.array([math.ceil(alpha * n_simulations - 1e-9) for alpha in alphas])
    lo, hi = np.empty((2, counts.size, n * (n - 1) // 2))
    n_fresh = int(np.clip(n_simulations // 4, *_FRESH))
    covered = np.zeros((counts.size, n_fresh))
    position = 0
    for first, last in _row_blocks(n, max(n_simulations, n_fresh)):
        part = slice(position, position + _pairs(n, first, last))
        simulated = simulate_rows(*embedding, n_simulations, np.random.default_rng(seeds[0]), first, last)
        _fill_shortest(simulated, counts, lo[:, part], hi[:, part])
        del simulated
        fresh = simulate_rows(*embedding, n_fresh, np.random.default_rng(seeds[1]), first, last)
        for which in range(counts.size):
            covered[which] += _count_inside(fresh, lo[which, part], hi[which, part])
        position = part.stop
    return [
        ToleranceIntervals(
            squareform(low), squareform(high), alpha, float(share.mean()), float(share.std(ddof=1) / math.sqrt(n_fresh))
        )
        for alpha, low, high, share in zip(alphas, lo, hi, covered / lo.shape[1], strict=True)
    ]


def _fill_shortest(simulated: FloatArray, counts: IntArray, lo: FloatArray, hi: FloatArray) -> None:
    def fill(first: int) -> None:
        part = slice(first, first + _COLUMNS)
        lo[:, part], hi[:, part] = shortest_intervals(simulated[:, part], counts)

    in_threads(fill, range(0, simulated.shape[1], _COLUMNS))


def shortest_intervals(simulated: FloatArray, counts: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the ends (counts, pairs) of each column's shortest interval that holds `counts` of its values.

    Of several shortest intervals the lowest is taken.
    """
    values = np.sort(simulated.T, axis=1)
    lo, hi = np.empty((2, counts.size, len(values)))
    each = np.arange(len(values))
    for c, count in enumerate(counts):
        starts, ends = values[:, : values.shape[1] - count + 1], values[:, count - 1 :]
        shortest = (ends - starts).argmin(axis=1)
        lo[c], hi[c] = starts[each, shortest], ends[each, shortest]
    return lo, hi


def _count_inside(simulated: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
    parts = in_parts(lambda rows: ((lo <= simulated[rows]) & (simulated[rows] <= hi)).sum(axis=1), len(simulated))
    return np.concatenate(parts).astype(np.float64)


def simulate_rows(
    points: FloatArray,
    sampler: AreaSampler,
    shape: tuple[int, int],
    n_simulations: int,
    rng: Generator,
    first: int = 0,
    last: int | None = None,
) -> FloatArray:
    """Return released distances, km, of simulated embeddings of unit vectors: shape (n_simulations, pairs).

    Of the pairs with the smaller record in [first, last), by default of all. `shape` is (sets, places in a set).
    """
    last = len(points) - 1 if last is None else last
    out = np.empty((n_simulations, _pairs(len(points), first, last)))
    batch = max(2, _BATCH // (24 * shape[0] * shape[1]))
    for start in range(0, n_simulations, batch):
        part = out[start : start + batch]
        sets = sampler.draw_vectors((len(part), *shape), rng)
        in_parts(partial(_fill_rows, points, sets, first, last, part), len(part))
    return out


def _fill_rows(points: FloatArray, sets: FloatArray, first: int, last: int, out: FloatArray, part: slice) -> None:
    for reference_sets, row in zip(sets[part], out[part], strict=True):
        lipschitz.chebyshev_rows(lipschitz.lipschitz_coordinates(points, reference_sets), first, last, row)


def _pairs(n: int, first: int, last: int) -> int:
    return (last - first) * (2 * n - first - last - 1) // 2


def _row_blocks(n: int, n_simulations: int) -> Iterator[tuple[int, int]]:
    """Cut the rows of the upper triangle so that no block of pairs exceeds the memory set aside."""
    largest = max(n, _BUDGET // (8 * n_simulations))
    first = 0
    while first < n - 1:
        last = first + 1
        while last < n - 1 and _pairs(n, first, last + 1) <= largest:
            last += 1
        yield first, last
        first = last


# Distances closer than this count as equal: the rounding of great circles, km.
_ROUNDING_KM = 1e-6
# As many simulated releases as give about this many distances: quantiles need no more.
_DEVIATIONS = 20_000


def tolerated(
    *,
    lat: FloatArray,
    lon: FloatArray,
    options: Mapping[str, Any],
    simulate: Callable[[Generator], tuple[IntArray, FloatArray]],
    alpha: float,
    n_simulations: int = 100,
    rng: RNGLike = None,
) -> dict[str, Any]:
    """Return the tolerance that the known method gives an intruder: ``window_km`` or ``intervals_km`` of an attack.

    Of an embedding the shortest interval of each pair (Kroll and Schnell 2016), else the central share of the
    deviations of simulated releases of the own file (Kerckhoffs' principle). `lat`, `lon` are the intruder's own
    places, degrees; `options` the method's options and public inputs by name; `simulate` releases the intruder's own
    file (rows released, distances in km), at most `n_simulations` times; `alpha` is the share of deviations that is
    tolerated, inside (0, 1).
    """
    alpha = check_level(alpha, "alpha")
    rng = check_rng(rng)
    if "n_reference_sets" in options:
        embedding = {name: options[name] for name in ("n_reference_sets", "reference_set_size", "area")}
        ends = tolerance_intervals(lat, lon, alpha=alpha, n_simulations=n_simulations, rng=rng, **embedding)
        return {"intervals_km": tuple(ends)}
    deviations = _simulated_deviations(lat, lon, simulate, n_simulations, rng)
    low, high = np.quantile(deviations, [(1 - alpha) / 2, (1 + alpha) / 2]) if deviations.size else (0.0, 0.0)
    return {"window_km": (float(low) - _ROUNDING_KM, float(high) + _ROUNDING_KM)}


def _simulated_deviations(
    lat: FloatArray,
    lon: FloatArray,
    simulate: Callable[[Generator], tuple[IntArray, FloatArray]],
    n_simulations: int,
    rng: Generator,
) -> FloatArray:
    true = great_circle_km(lat, lon)
    n = len(true)
    deviations = []
    for _ in range(int(np.clip(_DEVIATIONS // max(1, n * (n - 1) // 2), 1, n_simulations))):
        rows, distances = simulate(rng)
        upper = np.triu_indices(len(rows), 1)
        deviations.append((true[np.ix_(rows, rows)] - distances)[upper])
    return np.concatenate(deviations)
