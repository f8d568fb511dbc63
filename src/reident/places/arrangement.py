"""Attack. An attempt to locate the records of a Lipschitz embedding by simulating it between places of the map."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from reident.base import (
    FloatArray,
    IntArray,
    RNGLike,
    check_coordinates,
    check_distance_matrix,
    check_embedding,
    check_integer,
    check_rng,
)
from reident.kernels._numba import in_threads
from reident.kernels.places.arrangement import gibbs_sweep
from reident.kernels.places.lipschitz import lipschitz_coordinates
from reident.places.areas import AreaSampler
from reident.places.points import degrees
from reident.places.shape import RADIUS_KM, unit_vectors

__all__ = ["Arrangement", "PlacedPairs", "simulate_pairs"]

# A record stands near a known place, not on it: km, per direction.
_NEAR_KM = 8.0
# Shares of the released distances below which they are told apart; all longer ones make one class.
_SHARES = (0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.045)
# Simulations' worth of belief in what pairs as far apart have in common, against what a pair's own simulations say.
_POOLED = 40.0
# Inverse temperatures: where annealing begins, and where it ends.
_HOT, _COLD = 0.01, 1.0


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Where an annealed search puts the records.

    Attributes
    ----------
    positions : DataFrame
        `lat_deg`, `lon_deg` of each released record: the mean of its places over the last sweeps.
    score : float
        Sum over pairs of records of the log-probability of their released distance's class; higher is better.
    """

    positions: pd.DataFrame
    score: float


class PlacedPairs:
    """What is expected of the released distance of two records near given places, against the release itself.

    Distances of a contractive embedding with few large sets say little beyond some length, and the little they say is
    shared by all pairs, since all have the same secret sets: taken pair by pair, it prefers wrong arrangements to the
    true one. So only short released distances are told apart, and all others count as "not short".
    """

    def __init__(self, vectors: FloatArray, table: NDArray[np.float32], classes: IntArray) -> None:
        self._vectors, self._table, self._classes = vectors, table, classes

    def arrange(self, *, n_sweeps: int = 200, start: ArrayLike | None = None, rng: RNGLike = None) -> Arrangement:
        """Search the likeliest places by annealing, from places at random or, cold, from `start`.

        Parameters
        ----------
        n_sweeps : int, default 200
            Times that each record's place is drawn anew given all others. The last fifth is cold.
        start : array_like of int, shape (n,), optional
            A known place for each record to begin at; the search then stays in its neighbourhood.
        rng : Generator, int or None
            Source of randomness.
        """
        n_sweeps = check_integer(n_sweeps, "n_sweeps", low=5)
        generator = check_rng(rng)
        n, m = self._classes.shape[0], self._vectors.shape[0]
        at = generator.integers(m, size=n) if start is None else np.array(start, dtype=np.int64)
        total = np.zeros((n, 3))
        score = -np.inf
        cold = n_sweeps - n_sweeps // 5
        for sweep in range(n_sweeps):
            heat = 1.0 if start is not None else min(1.0, sweep / cold)
            score = gibbs_sweep(self._table, self._classes, at, _HOT * (_COLD / _HOT) ** heat, generator.random(n))
            if sweep >= cold:
                total += self._vectors[at]
        lat, lon = degrees(total / np.linalg.norm(total, axis=1, keepdims=True))
        return Arrangement(pd.DataFrame({"lat_deg": lat, "lon_deg": lon}), float(score))


def simulate_pairs(
    d_release: ArrayLike,
    lat: ArrayLike,
    lon: ArrayLike,
    *,
    n_reference_sets: int,
    reference_set_size: int,
    area: Any,
    n_simulations: int = 100,
    rng: RNGLike = None,
) -> PlacedPairs:
    """Simulate the embedding between all known places, to arrange the released records on them.

    An attempt to break the setting that the paper recommends, in which `registration_attack` finds too few sure
    distances: what is expected of a released distance here depends on both places, not on their distance alone, and
    neither matches nor labels are used. An attempt: the study kroll2016 measures how far it gets.

    Parameters
    ----------
    d_release : array_like, shape (n, n)
        Released distances, km.
    lat, lon : array_like, shape (m,)
        Known places, degrees, of a population like that of the release.
    n_reference_sets, reference_set_size, area
        As for `embed_distances`.
    n_simulations : int, default 100
        Embeddings to simulate.
    rng : Generator, int or None
        Source of randomness.

    Raises
    ------
    DataError, ParameterError
        As for `calibrate_distances`.
    """
    release = check_distance_matrix(d_release, "d_release")
    lat_deg, lon_deg, shape = check_embedding(*check_coordinates(lat, lon), n_reference_sets, reference_set_size)
    n_simulations = check_integer(n_simulations, "n_simulations", low=1)
    generator = check_rng(rng)
    places, sampler = unit_vectors(lat_deg, lon_deg), AreaSampler(area)
    edges = np.quantile(release[np.triu_indices_from(release, 1)], _SHARES)
    counts = np.zeros((len(places), edges.size + 1, len(places)), dtype=np.float32)
    for _ in range(n_simulations):
        sets = sampler.draw_vectors(shape, generator)
        twice = [_near(places, generator) for _ in range(2)]
        p, q = in_threads(partial(_records, reference_sets=sets), twice)
        _count_classes(p, q, edges, counts)
    classes = np.searchsorted(edges, release, side="right").astype(np.int64)
    return PlacedPairs(places, _log_probabilities(counts, places), classes)


def _records(places: FloatArray, reference_sets: FloatArray) -> FloatArray:
    return np.ascontiguousarray(lipschitz_coordinates(places, reference_sets).T)


def _near(places: FloatArray, rng: np.random.Generator) -> FloatArray:
    moved = places + rng.normal(scale=_NEAR_KM / RADIUS_KM, size=places.shape)
    return np.ascontiguousarray(moved / np.linalg.norm(moved, axis=1, keepdims=True))


def _log_probabilities(counts: NDArray[np.float32], places: FloatArray) -> NDArray[np.float32]:
    """Return log-probabilities of the classes, each pair's counts mixed with those of pairs as far apart."""
    km = RADIUS_KM * np.arccos(np.clip(places @ places.T, -1, 1))
    # Bins that are finer for short distances, which matter.
    bins = np.minimum(2 * np.sqrt(km), 60).astype(np.int64)
    pooled = np.full((61, counts.shape[1]), 0.5)
    np.add.at(pooled, bins, counts.transpose(0, 2, 1))
    pooled /= pooled.sum(axis=1, keepdims=True)
    mixed = counts + _POOLED * pooled[bins].transpose(0, 2, 1)
    return np.ascontiguousarray(np.log(mixed / mixed.sum(axis=1, keepdims=True)), dtype=np.float32)


def _count_classes(p: FloatArray, q: FloatArray, edges: FloatArray, table: FloatArray) -> None:
    """Count, for each place of p (rows: coordinates) and each of q, the class of their released distance.

    A class is the number of `edges` that do not exceed the distance. ``table[a, class, b]`` counts both orders.
    """
    places = np.arange(len(p))
    for a, row in enumerate(p):
        classes = np.searchsorted(edges, np.abs(q - row).max(axis=1), side="right")
        table[a, classes, places] += 1.0
        table[places, classes, a] += 1.0
