"""Anonymiser. Lipschitz embedding: distances that keep short ones better than long ones."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from reident.base import (
    DataError,
    FloatArray,
    PublicArea,
    RNGLike,
    Whole,
    check_array,
    check_coordinates,
    check_embedding,
    check_rng,
    checked,
)
from reident.kernels._numba import in_parts
from reident.kernels.places import lipschitz, sphere
from reident.places.areas import AreaSampler
from reident.places.points import unit_vectors

# Reference points per set from which a spatial tree finds the nearest one faster than looking at all of them.
_TREE_FROM = 256


@checked
def embed_distances(
    lat: ArrayLike,
    lon: ArrayLike,
    *,
    n_reference_sets: Annotated[int, Whole(1, unit="sets")],
    reference_set_size: Annotated[int, Whole(1, unit="places")],
    area: Annotated[Any, PublicArea("where reference places are drawn")],
    rng: RNGLike = None,
) -> FloatArray:
    """Release distances through a random Lipschitz embedding.

    Each of `n_reference_sets` random sets of places gives every record a coordinate, its distance to the nearest place
    of the set; the released distance of two records is the largest absolute difference of their coordinates. No
    released distance is longer than the true one, and short distances shrink less than long ones, so that nearest
    neighbours and local clusters survive. Fewer sets and larger sets keep less.

    There is no guarantee, and the released numbers must not be exact. In double precision they satisfy equations that
    give the hidden coordinates away (`recover_coordinates`), and with them the places of nearly all records and the
    secret sets (`locate_by_reference_sets`), with no file and without the parameters: 20 sets of 30 places, which the
    authors recommend, do not protect 500 records. `exact_equalities` counts such equations in any matrix. Rounding to
    .1 km leaves most places open to some metres, rounding to 1 km many to some 50 m (``step_km=`` of both attacks).
    Nothing that suggests itself has been shown to protect.

    The sets must stay secret: with them, each released distance is an equation about two places. They, the coordinates
    and the random numbers do not leave this function; a seed that is kept or published gives all of them back.

    Parameters
    ----------
    lat, lon : array_like of float, shape (n,)
        Places of the records, degrees; at least two. A place outside `area` is embedded like any other (all that is
        stated here holds for it), only no reference place lies beyond it.
    n_reference_sets : int
        The paper's dimension d, at least 1.
    reference_set_size : int
        The paper's size k, at least 1: places in each set.
    area : shapely polygon, GeoSeries or GeoDataFrame
        Where reference places are drawn, uniformly on the sphere, holes left out. A bare polygon is in degrees
        (x = longitude); a frame must have a CRS and is transformed.
    rng : Generator, int or None
        Source of randomness; None draws fresh entropy from the operating system, as a real release should.

    Returns
    -------
    ndarray of float64, shape (n, n)
        Released distances, km: symmetric, zero diagonal, triangle inequality kept. Different places may get
        distance 0 (a pseudometric); equal places always do.

    Raises
    ------
    DataError
        If coordinates are out of range or not finite, fewer than two records are given, or the area is no valid
        polygon.
    ParameterError
        If a count is below 1, or `area` is too thin to draw points in.

    Notes
    -----
    Kroll and Schnell (2016), "Contractive anonymisation of spatial point data", steps 1 to 5, equations (1) and (2),
    Proposition 1 (up to the rounding of double precision, about 1e-9 km). Distances are great circles on a sphere
    of radius 6371 km. Time O(n d k + n^2 d), memory O(n^2 + n d); the nearest places of large sets are found by a
    spatial tree.

    Examples
    --------
    >>> from shapely import box
    >>> lat, lon = [53.41, 53.48, 51.51], [-2.98, -2.24, -0.13]
    >>> released = embed_distances(
    ...     lat, lon, n_reference_sets=100, reference_set_size=3, area=box(-3, 51, 1, 54), rng=1
    ... )
    >>> from reident import great_circle_km
    >>> bool((released <= great_circle_km(lat, lon) + 1e-9).all())
    True
    """
    lat_deg, lon_deg, shape = check_embedding(lat, lon, n_reference_sets, reference_set_size)
    return _embedded(lat_deg, lon_deg, AreaSampler(area).draw_vectors(shape, check_rng(rng)))


def embed_by_reference_sets(lat: ArrayLike, lon: ArrayLike, reference_sets: ArrayLike) -> FloatArray:
    """Release distances through a Lipschitz embedding with given reference sets: lat and lon, shape (d, k, 2).

    For sets that are no random places of an area: public buildings, or places drawn in proportion to the population.
    Sets that others can guess protect less than random ones; the risks, the result and the errors are those of
    `embed_distances` (Kroll and Schnell 2016, steps 3 to 5).

    Examples
    --------
    >>> released = embed_by_reference_sets([50, 51], [8, 8], [[[50, 8], [48, 8]]])
    >>> float(released[0, 1].round(1))  # one reference place at the first record
    111.2
    """
    sets = check_array(reference_sets, "reference_sets")
    if sets.ndim != 3 or sets.shape[2] != 2 or not sets.size:
        raise DataError(f"`reference_sets` must have shape (sets, places, 2): lat and lon; got {sets.shape}")
    lat_deg, lon_deg, shape = check_embedding(lat, lon, *sets.shape[:2])
    flat = check_coordinates(*sets.reshape(-1, 2).T, lat_name="reference_sets", lon_name="reference_sets")
    return _embedded(lat_deg, lon_deg, unit_vectors(*flat).reshape(*shape, 3))


def _embedded(lat_deg: FloatArray, lon_deg: FloatArray, sets: FloatArray) -> FloatArray:
    points = unit_vectors(lat_deg, lon_deg)
    if sets.shape[1] < _TREE_FROM:
        coordinates = coordinates_km(points, sets)
    else:
        across = np.ascontiguousarray(points.T)
        nearest = (places[cKDTree(places).query(points)[1]] for places in sets)
        coordinates = np.stack(
            [sphere.great_circle_pairs(across, np.ascontiguousarray(places.T)) for places in nearest]
        )
    released = np.empty((points.shape[0], points.shape[0]))

    def fill(columns: slice) -> None:
        lipschitz.chebyshev_matrix(coordinates, columns.start, columns.stop, released)

    in_parts(fill, points.shape[0], lipschitz.TILE)
    return released


def coordinates_km(points: FloatArray, reference_sets: FloatArray) -> FloatArray:
    """Return the (d, n) distances, km, of points to the nearest point of each reference set (d, k, 3)."""
    parts = in_parts(lambda part: lipschitz.lipschitz_coordinates(points, reference_sets[part]), len(reference_sets))
    return np.concatenate(parts)
