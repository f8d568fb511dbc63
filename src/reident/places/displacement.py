"""Anonymiser. Masks that agencies and papers prescribe: survey clusters, planar Laplace, merged areas, rigid motion.

As in `reident.places.masks`: a GeoDataFrame of points with a CRS, or a table with ``lat_deg`` and ``lon_deg``, comes
back as one of the same kind, moved; the input is not modified.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import shapely

from reident.base import (
    EARTH_RADIUS_KM,
    BoolArray,
    DataError,
    Flag,
    FloatArray,
    Generator,
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
from reident.places.areas import AreaSampler, areas_of, drawn_within, nearest_within, polygons_of, warn_left_out
from reident.places.masks import RADIUS_M, Container, Metres, destination
from reident.places.points import Coordinates, degrees, read_places, unit_vectors, write_places

# Largest displacements of the DHS, km: urban, rural, and the one rural cluster in a hundred that moves further.
_URBAN_KM, _RURAL_KM, _FAR_KM, _FAR_SHARE = 2.0, 5.0, 10.0, 0.01
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
    areas: Annotated[Any, PublicAreas("districts that no cluster leaves")] = None,
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
        Districts that a cluster must not leave. A cluster outside all of them is moved without this condition, with a
        warning.
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

    def draw(which: IntArray) -> Coordinates:
        angle = most_km[which] * rng.random(which.size) / EARTH_RADIUS_KM
        return destination(lat[which], lon[which], angle, rng.uniform(0, 2 * np.pi, which.size))

    new_lat, new_lon, is_placed = drawn_within(areas, lat, lon, draw)
    if areas is not None:
        outside = areas_of(areas, lat, lon) < 0
        warn_left_out(~outside, "lie outside `areas` and are moved freely")
        if not (is_placed | outside).all():
            stuck = int(np.argmin(is_placed | outside))
            raise DataError(f"`areas` leave no room: the cluster at position {stuck} found no place in its district")
    return write_places(points, new_lat, new_lon)


def _in_town(points: Any, urban: str) -> BoolArray:
    check_columns(points, [urban], "urban", table_name="points")
    truth = points[urban].astype(str).str.lower().map(_IN_TOWN)
    if truth.isna().any():
        odd = points[urban].iloc[int(truth.isna().argmax())]
        raise DataError(f"`urban` must name a column of truth values, or of U and R, got {odd!r} in {urban!r}")
    return truth.to_numpy(bool)


@checked
def mask_planar_laplace(
    points: Any,
    *,
    epsilon_per_km: Annotated[float, Real(0, open_low=True, unit="1/km")],
    container: Container = None,
    rng: RNGLike = None,
) -> Any:
    """Move each point by planar Laplace noise: the one mask of places with a formal guarantee.

    Parameters
    ----------
    points : GeoDataFrame or DataFrame
        As for `mask_disc`.
    epsilon_per_km : float
        Privacy lost per km between two places, above 0. The mean displacement is 2 / epsilon km.
    container : GeoDataFrame or GeoSeries of polygons, optional
        Public areas, such as land: a released place outside all of them moves to the nearest place in one. That depends
        on the released place alone, so the guarantee holds as without it.
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
    of one person: m releases of the same place lose m epsilon, and it does not protect from a place that is known to be
    empty around (Oya et al. 2017). A released distance matrix of masked places has the same guarantee, for each person
    by himself.
    """
    lat, lon = read_places(points)
    rng = check_rng(rng)
    angle = _laplace_km(epsilon_per_km, lat.size, rng) / EARTH_RADIUS_KM
    new_lat, new_lon = destination(lat, lon, angle, rng.uniform(0, 2 * np.pi, lat.size))
    if container is not None:
        new_lat, new_lon = nearest_within(container, None, new_lat, new_lon)
    return write_places(points, new_lat, new_lon)


def _laplace_km(epsilon_per_km: float, n: int, rng: Generator) -> FloatArray:
    """Draw distances with density proportional to sin(d / R) exp(-epsilon d) on the sphere, km."""
    distance = np.empty(n)
    wanted = np.arange(n)
    while wanted.size:
        # In the plane d times the exponential is a gamma; the sphere's circles are shorter by sin(d / R) / (d / R).
        candidate = rng.gamma(2.0, 1 / epsilon_per_km, wanted.size)
        angle = candidate / EARTH_RADIUS_KM
        keep = (angle < np.pi) & (rng.random(wanted.size) * angle < np.sin(angle))
        distance[wanted[keep]] = candidate[keep]
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
    points, rng
        As for `mask_disc`.
    areas : GeoDataFrame of polygons with a CRS
        Small areas that do not overlap. Public, not the persons' own file.
    population : str
        Column of `areas`: inhabitants, not negative.
    k : int
        Inhabitants that a merged area needs.

    Returns
    -------
    GeoDataFrame or DataFrame
        As `points`, moved; a point in no area is suppressed, with a warning. Each person is one of at least `k`
        inhabitants of the area that the place was drawn from; whoever knows more than the place may know more.

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
    polygons = polygons_of(areas, "areas")
    check_columns(areas, [population], "population", table_name="areas")
    persons = check_vector(areas[population], "population", length=len(areas))
    if (persons < 0).any():
        raise DataError(f"`population` must not be negative, got {persons.min():g}")
    if persons.sum() < k:
        raise ParameterError(f"`k` must be at most the inhabitants of all `areas` ({persons.sum():g}), got {k}")
    district = areas_of(areas, lat, lon)
    warn_left_out(district >= 0, "lie outside `areas` and are left out")
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
    first, second = shapely.STRtree(polygons).query(polygons, predicate="intersects")
    touching[first, second] = True
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
def move_rigidly(
    points: Any,
    *,
    shift_m: Metres = 100_000.0,
    reflect: Annotated[bool, Flag()] = False,
    rng: RNGLike = None,
) -> Any:
    """Turn all points by one random angle about their centre and shift them together: every distance stays exact.

    Some tools release such a motion as anonymised. It protects nothing that distances tell: `registration_attack` lays
    the points back on the map. It is here as the first target of the attacks.

    Parameters
    ----------
    points, rng
        As for `mask_disc`.
    shift_m : float, default 100,000
        How far the centre moves, in a random direction, metres.
    reflect : bool, default False
        Mirror the points as well.

    Returns
    -------
    GeoDataFrame or DataFrame
        As `points`, moved; great-circle distances are kept to rounding.

    Raises
    ------
    DataError, ParameterError
        As for `mask_disc`; if `shift_m` is negative.
    """
    lat, lon = read_places(points)
    rng = check_rng(rng)
    turn, bearing = rng.uniform(0, 2 * np.pi, 2)
    if lat.size == 0:
        return points.copy()
    centre = unit_vectors(lat, lon).mean(axis=0)
    centre_lat, centre_lon = degrees(centre[None])
    goal_lat, goal_lon = destination(centre_lat, centre_lon, shift_m / RADIUS_M, bearing)
    # Into the frame in which the centre is the pole, turn and mirror there, and out of the goal's frame.
    local = unit_vectors(lat, lon) @ _pole_frame(centre_lat[0], centre_lon[0]).T
    cos, sin = np.cos(turn), np.sin(turn)
    motion = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
    if reflect:
        motion = motion @ np.diag([-1.0, 1.0, 1.0])
    moved = local @ motion.T @ _pole_frame(goal_lat[0], goal_lon[0])
    return write_places(points, *degrees(moved))


def _pole_frame(lat: float, lon: float) -> FloatArray:
    """Return the rotation that brings the place to the north pole."""
    north, east = unit_vectors(np.array([lat]), np.array([lon]))[0], np.radians(lon)
    side = np.array([-np.sin(east), np.cos(east), 0.0])
    return np.stack([np.cross(side, north), side, north])
