"""Anonymiser. Intersecting sets of grid points: each place becomes the set of relabelled grid points around it.

After the abstract of Schnell, Klingwort and Farrow (2021), which is all that was at hand. Not known, and chosen here:
the grid (square, turned and shifted at random), whether labels agree between records (they must, for sets to
intersect), how radius and spacing are chosen, and what else the paper does against attacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from reident.base import EARTH_RADIUS_KM, DataError, FloatArray, Real, RNGLike, afford, check_ids, check_rng, checked
from reident.places.points import read_places, unit_vectors

__all__ = ["GridSets", "SetDistances", "mask_by_grid_sets", "repair_grid_sets"]

# Grid points that the count in an intersection is off by, as found on simulated places: standard deviation.
_MISCOUNT = 1.5
# Labels whose sets are counted at once as a full product, and how much faster its steps are than those of a sparse
# one.
_LABELS_AT_ONCE, _DENSE_GAIN = 1000, 30

#: A length on the ground, above 0 and below a quarter of the globe.
Kilometres = Annotated[float, Real(0, 10_000, open_low=True, unit="km")]


@dataclass(frozen=True, eq=False)
class SetDistances:
    """Distances that a reader computes from sets.

    Attributes
    ----------
    distances_km, sd_km : ndarray of float64, shape (n, n)
        Distance and its standard deviation, km; where two sets do not meet the distance is twice the radius and its
        deviation infinite.
    """

    distances_km: FloatArray
    sd_km: FloatArray


@dataclass(frozen=True, eq=False)
class GridSets:
    """A release of sets of grid points.

    Attributes
    ----------
    index : Index
        The records.
    members : sparse array of bool, shape (n, n_labels)
        Which labels each record's set holds. Labels are in random order and say nothing by themselves.
    radius_km, spacing_km : float
        Public: without them nobody could compute distances.
    """

    index: pd.Index
    members: csr_array
    radius_km: float
    spacing_km: float

    def distances(self) -> SetDistances:
        """Compute all distances from the sizes of intersections, as a reader does."""
        shared = _shared(self.members)
        return _from_surfaces(shared * self.spacing_km**2, self.radius_km, _MISCOUNT * self.spacing_km**2)


@checked
def mask_by_grid_sets(
    points: Any,
    *,
    radius_km: Kilometres,
    spacing_km: Annotated[float, Real(0, 10_000, open_low=True, unit="km", at_most="radius_km")],
    rng: RNGLike = None,
) -> GridSets:
    """Replace each place by the set of grid points within a radius, the grid points relabelled at random.

    Sets that share labels lie near one another: the number shared tells the surface in which two discs overlap, and so
    the distance. No label says where it is. It protects less than it seems: the sets fix the whole map up to a motion,
    which `locate_by_population` and `registration_attack` find.

    Parameters
    ----------
    points : GeoDataFrame or DataFrame
        Points with a CRS, or a table with ``lat_deg`` and ``lon_deg``. At least 2. Not modified.
    radius_km : float
        Radius of the discs, km. Distances beyond twice the radius cannot be computed.
    spacing_km : float
        Distance of neighbouring grid points, km; at most the radius.
    rng : Generator, int or None
        Turn and shift of the grid, and the labels. Keep a seed secret.

    Returns
    -------
    GridSets

    Raises
    ------
    DataError, ParameterError
        If `points` has no places or fewer than 2, ids repeat, or the spacing exceeds the radius.

    Notes
    -----
    After the abstract of Schnell, Klingwort and Farrow, Int. J. Health Geogr. 20:14 (2021). No formal guarantee. The
    grid is square in the plane that keeps distances from the middle of the points; at a country's size its squares are
    true to some parts in a thousand.

    Examples
    --------
    >>> homes = pd.DataFrame({"lat_deg": [50.0, 50.5], "lon_deg": [8.0, 8.0]})
    >>> sets = mask_by_grid_sets(homes, radius_km=100, spacing_km=5, rng=1)
    >>> bool(abs(sets.distances().distances_km[0, 1] - 55.6) < 1)
    True
    """
    lat, lon = read_places(points)
    if lat.size < 2:
        raise DataError(f"`points` must have at least 2 records, got {lat.size}: one set intersects nothing")
    index = check_ids(points.index, "points.index")
    rng = check_rng(rng)
    x = unit_vectors(lat, lon)
    grid = _grid(x, radius_km, spacing_km, rng)
    chord = 2 * np.sin(radius_km / EARTH_RADIUS_KM / 2)
    inside = cKDTree(grid).query_ball_point(x, chord)
    label = rng.permutation(len(grid))
    rows = np.repeat(np.arange(len(x)), [len(found) for found in inside])
    columns = label[np.concatenate([np.asarray(found, dtype=np.int64) for found in inside])]
    used, columns = np.unique(columns, return_inverse=True)
    members = csr_array((np.ones(rows.size, dtype=bool), (rows, columns)), shape=(len(x), used.size))
    return GridSets(index, members, radius_km, spacing_km)


def _grid(x: FloatArray, radius_km: float, spacing_km: float, rng: np.random.Generator) -> FloatArray:
    """Return grid points, unit vectors, around all places, turned and shifted at random."""
    middle = x.mean(axis=0) / np.linalg.norm(x.mean(axis=0))
    axes = np.linalg.svd(middle[None])[2][1:]
    angle = np.arccos(np.clip(x @ middle, -1, 1))
    half = EARTH_RADIUS_KM * float(angle.max()) + 1.1 * radius_km
    steps = np.arange(-half - spacing_km, half + spacing_km, spacing_km)
    flat = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2) + rng.uniform(0, spacing_km, 2)
    turn = rng.uniform(0, np.pi / 2)
    flat = flat @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    far = np.linalg.norm(flat, axis=1)
    near = far <= min(half, np.pi * EARTH_RADIUS_KM * 0.99)
    flat, far = flat[near], far[near]
    direction = flat / np.maximum(far, 1e-9)[:, None] @ axes
    return np.cos(far / EARTH_RADIUS_KM)[:, None] * middle + np.sin(far / EARTH_RADIUS_KM)[:, None] * direction


def _shared(members: csr_array) -> FloatArray:
    """Return how many labels each two sets share, label by label where few sets have one, else as a full product."""
    n, n_labels = members.shape
    afford(16 * n * n, "sets", f"{n:,} sets, each with each", "take a sample of the sets")
    by_label = members.T.tocsr().astype(np.float32)
    steps = float((np.diff(by_label.indptr).astype(float) ** 2).sum())
    if steps < n * n * n_labels / _DENSE_GAIN:
        return np.asarray((by_label.T @ by_label).toarray(), dtype=np.float64)
    shared = np.zeros((n, n))
    for first in range(0, n_labels, _LABELS_AT_ONCE):
        held = by_label[first : first + _LABELS_AT_ONCE].toarray()
        shared += held.T @ held
    return shared


def _from_surfaces(surface_km2: FloatArray, radius_km: float, sd_km2: float) -> SetDistances:
    """Return the distances at which two discs overlap in given surfaces, and the deviations that theirs leave."""
    distance = np.linspace(2 * radius_km, 0, 4001)
    half = distance / 2
    lens = 2 * radius_km**2 * np.arccos(half / radius_km) - half * np.sqrt(4 * radius_km**2 - distance**2)
    found = np.interp(surface_km2, lens, distance)
    # The lens shrinks by its chord for each km of distance.
    chord = np.sqrt(np.maximum(4 * radius_km**2 - found**2, 1e-12))
    sd = np.where(surface_km2 > 0, np.maximum(sd_km2 / chord, 1e-3), np.inf)
    np.fill_diagonal(found, 0.0)
    np.fill_diagonal(sd, 0.0)
    return SetDistances(found, sd)


@checked
def repair_grid_sets(
    sets: GridSets,
    *,
    noise: Annotated[float, Real(0, unit="grid points")],
    longest_km: Kilometres,
    rng: RNGLike = None,
) -> SetDistances:
    """Publish distances instead of sets: sizes of intersections with noise, and none beyond a length.

    An attempt to repair the mask. Without labels nobody sees which grid points records share; noise in the sizes blurs
    each distance, and without long ties regions hang together by short ones only. It has no formal guarantee: the noise
    of many distances averages out.

    Parameters
    ----------
    sets : GridSets
        What `mask_by_grid_sets` made. Not to be released beside the result.
    noise : float
        Standard deviation of the noise in the size of each intersection, grid points, at least 0.
    longest_km : float
        Distances estimated above it are left out.
    rng : Generator, int or None
        Source of randomness.

    Returns
    -------
    SetDistances

    Raises
    ------
    DataError, ParameterError
        If `sets` are none, or a number breaks its rule.
    """
    if not isinstance(sets, GridSets):
        raise DataError(f"`sets` must be GridSets as `mask_by_grid_sets` makes them, got {type(sets).__name__}")
    shared = _shared(sets.members)
    drawn = np.triu(check_rng(rng).normal(0, noise, shared.shape), 1)
    cell = sets.spacing_km**2
    blurred = np.where(shared > 0, np.maximum(shared + drawn + drawn.T, 0), 0)
    made = _from_surfaces(blurred * cell, sets.radius_km, float(np.hypot(_MISCOUNT, noise)) * cell)
    kept = made.distances_km <= longest_km
    return SetDistances(np.where(kept, made.distances_km, 2 * sets.radius_km), np.where(kept, made.sd_km, np.inf))
