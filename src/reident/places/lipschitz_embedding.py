"""Anonymiser. Lipschitz embedding: distances that keep short ones better than long ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
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
    check_distance_matrix,
    check_embedding,
    check_listed,
    check_rng,
    checked,
)
from reident.kernels._numba import in_parts
from reident.kernels.places import lipschitz, sphere
from reident.places.areas import AreaSampler
from reident.places.distances import unit_vectors
from reident.places.tolerance import Simulation

__all__ = ["EmbeddingEstimate", "embed_by_reference_sets", "embed_distances", "estimate_embedding"]

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
    """Release distances through a Lipschitz embedding with given reference sets.

    For sets that are no random places of an area: public buildings, or places drawn in proportion to the population.
    Sets that others can guess protect less than random ones; what `embed_distances` says of the risks holds here, too.

    Parameters
    ----------
    lat, lon : array_like of float, shape (n,)
        Places of the records, degrees; at least two.
    reference_sets : array_like of float, shape (d, k, 2)
        d sets of k places each: latitude and longitude, degrees.

    Returns
    -------
    ndarray of float64, shape (n, n)
        Released distances, km, as those of `embed_distances`.

    Raises
    ------
    DataError
        If coordinates are out of range or not finite, there are fewer than two records, or the sets have another shape.

    Notes
    -----
    Kroll and Schnell (2016), steps 3 to 5 and equations (1) and (2), with reference sets of the user's choice.

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
    points = np.ascontiguousarray(sphere.unit_vectors(np.radians(lat_deg), np.radians(lon_deg)).T)
    if sets.shape[1] < _TREE_FROM:
        coordinates = coordinates_km(points, sets)
    else:
        nearest = np.stack([cKDTree(places).query(points)[1] for places in sets])
        coordinates = np.concatenate(
            in_parts(lambda part: lipschitz.coordinates_from_nearest(points, sets[part], nearest[part]), len(sets))
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


# Quantiles of the distances that are compared, and the variance, km^2, below which simulation is not trusted.
_QUANTILES, _FLOOR_KM2 = np.linspace(0.02, 0.98, 25), 1.0


class EmbeddingEstimate(NamedTuple):
    """Estimated parameters of a Lipschitz embedding.

    Attributes
    ----------
    n_reference_sets, reference_set_size : int
        The likeliest candidates.
    candidates : DataFrame
        All candidates with their `log_likelihood`, the likeliest first. Candidates within some units of the first
        cannot be told apart by this release.
    """

    n_reference_sets: int
    reference_set_size: int
    candidates: pd.DataFrame


@checked
def estimate_embedding(
    d_release: ArrayLike,
    lat: ArrayLike,
    lon: ArrayLike,
    *,
    area: Any,
    n_reference_sets: Sequence[int] = (5, 10, 20, 50, 100),
    reference_set_sizes: Sequence[int] = (1, 3, 10, 30),
    n_simulations: Annotated[int, Whole(2, unit="embeddings")] = 30,
    rng: RNGLike = None,
) -> EmbeddingEstimate:
    """Estimate the number and the size of the secret reference sets from released distances.

    An intruder who does not know the parameters embeds an own file from the same population with each candidate and
    takes the candidate whose distribution of distances is most like the released one. With the estimate the attack of
    Kroll and Schnell (2016) goes on as if the parameters were published: the ratio of the attack's precision with
    estimated and with true parameters is what keeping them secret is worth.

    Parameters
    ----------
    d_release : array_like, shape (n, n)
        Released distances, km.
    lat, lon : array_like, shape (m,)
        Places of the intruder's own file, degrees, from a population like that of the release.
    area
        Where reference places are drawn, as for `embed_distances`.
    n_reference_sets, reference_set_sizes : sequence of int
        Candidates; all combinations are tried.
    n_simulations : int, default 30
        Embeddings a candidate.
    rng : Generator, int or None
        Source of randomness.

    Returns
    -------
    EmbeddingEstimate

    Raises
    ------
    DataError, ParameterError
        As for `embed_distances`; if `d_release` is no distance matrix or there is no candidate.

    Notes
    -----
    Kroll and Schnell (2016), footnote 5, leave unknown parameters open. Synthetic likelihood (Wood 2010): the 25
    quantiles of the distances of one embedding are taken as normal with the simulated mean and covariance. Sets of one
    place are the hardest to tell apart. Where the released numbers are exact, the columns of `recover_coordinates` give
    the number of sets without any file.

    Examples
    --------
    >>> from shapely import box
    >>> from reident import embed_distances
    >>> rng, area = np.random.default_rng(0), box(7, 48, 14, 54)
    >>> places = rng.uniform(48, 54, 100), rng.uniform(7, 14, 100)
    >>> released = embed_distances(*places, n_reference_sets=50, reference_set_size=30, area=area, rng=1)
    >>> own = rng.uniform(48, 54, 50), rng.uniform(7, 14, 50)
    >>> estimate_embedding(
    ...     released, *own, area=area, n_reference_sets=(5, 50), reference_set_sizes=(3, 30), rng=2
    ... )[:2]
    (50, 30)
    """
    released = check_distance_matrix(d_release, "d_release")
    observed = np.quantile(released[np.triu_indices(len(released), 1)], _QUANTILES)
    generator, sampler = check_rng(rng), AreaSampler(area)
    counts, sizes = (
        check_listed(values, name)
        for values, name in ((n_reference_sets, "n_reference_sets"), (reference_set_sizes, "reference_set_sizes"))
    )
    rows = []
    for count in counts:
        for size in sizes:
            lat_deg, lon_deg, shape = check_embedding(lat, lon, count, size)
            simulation = Simulation(unit_vectors(lat_deg, lon_deg), sampler, shape)
            simulated = simulation.rows(n_simulations, 0, lat_deg.size - 1, generator)
            quantiles = np.quantile(simulated, _QUANTILES, axis=1).T
            gap = observed - quantiles.mean(axis=0)
            covariance = np.cov(quantiles.T) + _FLOOR_KM2 * np.eye(gap.size)
            log_likelihood = -(np.linalg.slogdet(covariance)[1] + gap @ np.linalg.solve(covariance, gap)) / 2
            rows.append((*shape, log_likelihood))
    candidates = pd.DataFrame(rows, columns=["n_reference_sets", "reference_set_size", "log_likelihood"])
    candidates = candidates.sort_values("log_likelihood", ascending=False, kind="stable", ignore_index=True)
    likeliest = candidates.iloc[0]
    return EmbeddingEstimate(int(likeliest["n_reference_sets"]), int(likeliest["reference_set_size"]), candidates)
