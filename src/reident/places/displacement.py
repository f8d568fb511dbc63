"""Anonymiser. Masks that agencies and papers prescribe: survey clusters, planar Laplace, merged areas, Voronoi edges.

As in `reident.places.masks`: a GeoDataFrame of points with a CRS, or a table with ``lat_deg`` and ``lon_deg``, comes
back as one of the same kind, moved; the input is not modified.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import shapely
from scipy.spatial import cKDTree

from reident.base import (
    BoolArray,
    DataError,
    FloatArray,
    IntArray,
    ParameterError,
    PublicAreas,
    Real,
    RNGLike,
    Whole,
    check_columns,
    check_rng,
    check_table,
    check_vector,
    checked,
)
from reident.places.areas import AreaSampler
from reident.places.masks import _destination
from reident.places.points import degrees, longitudes_within, read_places, sphere_vectors, write_places

__all__ = ["mask_areal_elimination", "mask_dhs", "mask_planar_laplace", "mask_voronoi"]

_RADIUS_KM = 6371.0
# Largest displacements of the DHS, km: urban, rural, and the one rural cluster in a hundred that moves further.
_URBAN_KM, _RURAL_KM, _FAR_KM, _FAR_SHARE = 2.0, 5.0, 10.0, 0.01
_ROUNDS = 10_000
# How files say what is urban, without regard to case.
_IN_TOWN = {
    **dict.fromkeys(("true", "1", "u", "urban"), True),
    **dict.fromkeys(("false", "0", "r", "rural"), False),
}


@checked
def mask_dhs(
    points: Any,
    *,
    urban: str | None = None,
    areas: Annotated[Any, PublicAreas("districts that nobody leaves")] = None,
    rng: RNGLike = None,
) -> Any:
    """Displace survey clusters as the Demographic and Health Surveys do.

    Parameters
    ----------
    points : GeoDataFrame or DataFrame
        Clusters; as for `mask_disc`, and the column `urban`.
    urban : str, optional
        Column of true, 1, U or urban for urban clusters; of false, 0, R or rural for rural ones.
        Default: all are rural, and so move further.
    areas : GeoSeries or GeoDataFrame of polygons, optional
        Districts that a cluster must not leave. A cluster outside all of them is moved without this condition.
    rng : Generator, int or None
        Source of randomness; keep a seed secret.

    Returns
    -------
    GeoDataFrame or DataFrame
        As `points`, moved: urban clusters up to 2 km, rural ones up to 5 km, one rural cluster in a hundred up to 10
        km, in a direction at random. No formal guarantee: half of the urban clusters move less than 1 km.

    Raises
    ------
    DataError, ParameterError
        As for `mask_disc`; if `urban` is no column of truth values, or a cluster finds no place in its district.

    Notes
    -----
    Burgert et al. (2013), DHS Spatial Analysis Reports 7: angle and distance uniform, so that small displacements are
    likelier than a disc uniform over its surface would have them; clusters stay in their second-level district.
    """
    lat, lon = read_places(points)
    rng = check_rng(rng)
    in_town = np.zeros(lat.size, bool) if urban is None else _in_town(points, urban)
    far = rng.random(lat.size) < _FAR_SHARE
    most_km = np.where(in_town, _URBAN_KM, np.where(far, _FAR_KM, _RURAL_KM))
    district = _districts(areas, lat, lon)
    there_lat, there_lon = lat.copy(), lon.copy()
    wanted = np.arange(lat.size)
    for _ in range(_ROUNDS):
        angle = most_km[wanted] * rng.random(wanted.size) / _RADIUS_KM
        bearing = rng.uniform(0, 2 * np.pi, wanted.size)
        there_lat[wanted], there_lon[wanted] = _destination(lat[wanted], lon[wanted], angle, bearing)
        wanted = wanted[_districts(areas, there_lat[wanted], there_lon[wanted]) != district[wanted]]
        wanted = wanted[district[wanted] >= 0]
        if not wanted.size:
            return write_places(points, there_lat, there_lon)
    raise DataError(f"`areas` leave no room: the cluster at position {wanted[0]} found no place in {_ROUNDS:,} draws")


def _in_town(points: Any, urban: str) -> BoolArray:
    check_columns(points, [urban], "urban", table_name="points")
    told = points[urban].astype(str).str.lower().map(_IN_TOWN)
    if told.isna().any():
        odd = points[urban].iloc[int(told.isna().argmax())]
        raise DataError(f"`urban` must name a column of truth values, or of U and R, got {odd!r} in {urban!r}")
    return told.to_numpy(bool)


def _districts(areas: Any, lat: FloatArray, lon: FloatArray) -> IntArray:
    """Return the number of the first area that holds each place, -1 for none."""
    which = np.full(lat.size, -1, dtype=np.int64)
    if areas is None:
        return which
    if not hasattr(areas, "to_crs"):
        raise DataError(f"`areas` must be a GeoDataFrame or GeoSeries of polygons, got {type(areas).__name__}")
    polygons = areas.geometry.to_crs("EPSG:4326").to_numpy()
    place, area = shapely.STRtree(polygons).query(shapely.points(longitudes_within(lon), lat), predicate="within")
    # The last assignment wins, so the first area is written last.
    order = np.argsort(-area, kind="stable")
    which[place[order]] = area[order]
    return which


@checked
def mask_planar_laplace(
    points: Any, *, epsilon_per_km: Annotated[float, Real(0, open_low=True, unit="1/km")], rng: RNGLike = None
) -> Any:
    """Move each point by planar Laplace noise: the one mask of places with a formal guarantee.

    Parameters
    ----------
    points : GeoDataFrame or DataFrame
        As for `mask_disc`.
    epsilon_per_km : float
        Privacy lost per km between two places, above 0. The mean displacement is 2 / epsilon km.
    rng : Generator, int or None
        Source of randomness; None draws fresh entropy. Noise from a seed that an intruder may guess has no guarantee.

    Returns
    -------
    GeoDataFrame or DataFrame
        As `points`, moved.

    Raises
    ------
    DataError, ParameterError
        As for `mask_disc`; if `epsilon_per_km` is not above 0.

    Notes
    -----
    Geo-indistinguishability (Andres et al. 2013): for any two true places d km apart, every released place is at most
    exp(epsilon d) times likelier from one than from the other. On the sphere the density with respect to surface is
    proportional to exp(-epsilon d), whose constant is the same everywhere, so that the guarantee follows from the
    triangle inequality of great circles; it is about real numbers, not about their last bits. It holds for one release
    of one person: m releases of the same place lose m epsilon, and it protects nobody from a place that is known to be
    empty around (Oya et al. 2017). A released distance matrix of masked places has the same guarantee, for each person
    by himself.
    """
    lat, lon = read_places(points)
    rng = check_rng(rng)
    angle = _laplace_km(epsilon_per_km, lat.size, rng) / _RADIUS_KM
    return write_places(points, *_destination(lat, lon, angle, rng.uniform(0, 2 * np.pi, lat.size)))


def _laplace_km(epsilon_per_km: float, n: int, rng: np.random.Generator) -> FloatArray:
    """Draw distances with density proportional to sin(d / R) exp(-epsilon d) on the sphere, km."""
    distance = np.empty(n)
    wanted = np.arange(n)
    while wanted.size:
        # In the plane d times the exponential is a gamma; the sphere's circles are shorter by sin(d / R) / (d / R).
        drawn = rng.gamma(2.0, 1 / epsilon_per_km, wanted.size)
        angle = drawn / _RADIUS_KM
        keep = (angle < np.pi) & (rng.random(wanted.size) * angle < np.sin(angle))
        distance[wanted[keep]] = drawn[keep]
        wanted = wanted[~keep]
    return distance


@checked
def mask_areal_elimination(
    points: Any,
    areas: Annotated[Any, PublicAreas("small areas and how many live there", ("population",))],
    *,
    population: str,
    k: Annotated[int, Whole(1, unit="persons")],
    rng: RNGLike = None,
) -> Any:
    """Merge areas until each has at least `k` inhabitants, and move each point to a random place of its merged area.

    Parameters
    ----------
    points : GeoDataFrame or DataFrame
        As for `mask_disc`.
    areas : GeoDataFrame of polygons with a CRS
        Small areas that do not overlap. Public, not the persons' own file.
    population : str
        Column of `areas`: inhabitants, not negative.
    k : int
        Inhabitants that a merged area needs.
    rng : Generator, int or None
        As for `mask_disc`.

    Returns
    -------
    GeoDataFrame or DataFrame
        As `points`, moved; a point in no area is suppressed. Each person is one of at least `k` inhabitants of the area
        that the place was drawn from; whoever knows more than the place may know more.

    Raises
    ------
    DataError, ParameterError
        As for `mask_disc`; if `areas` have no CRS or no such column, or together fewer than `k` inhabitants.

    Notes
    -----
    Adaptive areal elimination of Kounadi and Leitner (2016): the smallest area goes to its smallest neighbour, by
    border or, for an island, by distance, until none is below `k`.
    """
    lat, lon = read_places(points)
    check_table(areas, "areas")
    if not hasattr(areas, "to_crs") or areas.crs is None:
        raise DataError("`areas` must be a GeoDataFrame with a CRS: without one its coordinates could be metres")
    check_columns(areas, [population], "population", table_name="areas")
    persons = check_vector(areas[population], "population", length=len(areas))
    if (persons < 0).any():
        raise DataError(f"`population` must not be negative, got {persons.min():g}")
    if persons.sum() < k:
        raise ParameterError(f"`k` must be at most the inhabitants of all `areas` ({persons.sum():g}), got {k}")
    polygons = areas.geometry.to_crs("EPSG:4326").to_numpy()
    district = _districts(areas, lat, lon)
    merged = _merged(polygons, persons, k)
    rng = check_rng(rng)
    lat, lon, keep = lat.copy(), lon.copy(), district >= 0
    number = np.where(keep, merged[district], -1)
    for which in np.unique(number[keep]):
        members = np.flatnonzero(number == which)
        area = shapely.union_all(polygons[merged == which])
        lat[members], lon[members] = AreaSampler(area).draw(len(members), rng)
    return write_places(points, lat, lon, keep)


def _merged(polygons: Any, persons: FloatArray, k: int) -> IntArray:
    """Return the number of the merged area that each area belongs to."""
    touching = np.zeros((len(polygons), len(polygons)), dtype=bool)
    left, right = shapely.STRtree(polygons).query(polygons, predicate="intersects")
    touching[left, right] = True
    np.fill_diagonal(touching, False)
    centre = shapely.get_coordinates(shapely.centroid(polygons))
    number, size = np.arange(len(polygons)), persons.astype(float).copy()
    alive = np.ones(len(polygons), dtype=bool)
    while size[alive].min() < k:
        smallest = int(np.flatnonzero(alive)[size[alive].argmin()])
        near = np.flatnonzero(touching[smallest] & alive)
        if near.size:
            other = int(near[size[near].argmin()])
        else:
            others = np.flatnonzero(alive & (np.arange(len(alive)) != smallest))
            other = int(others[np.linalg.norm(centre[others] - centre[smallest], axis=1).argmin()])
        size[other] += size[smallest]
        alive[smallest] = False
        number[number == smallest] = other
        touching[other] |= touching[smallest]
        touching[:, other] |= touching[:, smallest]
        touching[other, other] = False
    return number


@checked
def mask_voronoi(points: Any) -> Any:
    """Move each point to the nearest edge of its Voronoi cell, which is half way to its nearest neighbour.

    It is here to be broken: two persons who are each other's nearest neighbours come to lie on one point, and whoever
    knows the place of one of them gets the other's exactly (`unmask_voronoi`).

    Parameters
    ----------
    points : GeoDataFrame or DataFrame
        As for `mask_disc`. At least 2 points.

    Returns
    -------
    GeoDataFrame or DataFrame
        As `points`, moved. Nothing is random, and nothing is guaranteed.

    Raises
    ------
    DataError, ParameterError
        As for `mask_disc`; if there are fewer than 2 points.

    Notes
    -----
    Seidl et al. (2015). The nearest point of a Voronoi cell's border lies on the perpendicular bisector to the nearest
    neighbour, hence half way. Of several nearest neighbours the first counts.
    """
    lat, lon = read_places(points)
    if lat.size < 2:
        raise DataError(f"`points` must have at least 2 records, got {lat.size}: a cell needs a neighbour")
    x = sphere_vectors(lat, lon)
    near = cKDTree(x).query(x, k=2)[1]
    other = np.where(near[:, 0] == np.arange(len(x)), near[:, 1], near[:, 0])
    moved_lat, moved_lon = degrees(x + x[other])
    return write_places(points, moved_lat, moved_lon)
