"""Anonymiser. Masks that custodians put on places: disc, donuts, grid, swap, and a rigid motion of all of them.

Each takes a GeoDataFrame of points with a CRS, or a table with the columns ``lat_deg`` and ``lon_deg``, and returns one
of the same kind: same index, other columns, CRS and geometry name; the input is not modified. Lengths are metres on the
ground whatever the CRS. No mask gives a formal guarantee. Only the place is masked: a postcode in another column stays.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from scipy.spatial import cKDTree

from reident.base import BoolArray, Flag, FloatArray, PublicPlaces, Real, RNGLike, Whole, check_rng, checked
from reident.places.points import (
    degrees,
    longitudes_within,
    read_places,
    same_kind,
    sphere_vectors,
    write_places,
)

__all__ = ["mask_disc", "mask_donut", "mask_grid", "mask_population_donut", "move_rigidly", "swap_locations"]

_RADIUS_M = 6_371_000.0
_HALF_TURN_M = float(np.pi * _RADIUS_M)

#: A length on the ground.
Metres = Annotated[float, Real(0, _HALF_TURN_M, unit="m")]
#: The inner radius of a ring.
Inner = Annotated[float, Real(0, _HALF_TURN_M, unit="m", at_most="outer_m")]


@checked
def mask_disc(points: Any, *, radius_m: Metres, rng: RNGLike = None) -> Any:
    """Move each point to a random place within a radius, all directions alike.

    Parameters
    ----------
    points : GeoDataFrame or DataFrame
        Points with a CRS, or a table with the columns ``lat_deg``, ``lon_deg``. Not modified.
    radius_m : float
        Largest displacement, metres, at least 0; uniform over the disc's surface.
    rng : Generator, int or None
        Source of randomness; None draws fresh entropy. Keep a seed secret: replaying it finds every true point.

    Returns
    -------
    GeoDataFrame or DataFrame
        As `points`, moved. Some points hardly move: the donut exists for that reason.

    Raises
    ------
    DataError, ParameterError
        If `points` has no CRS or other geometries than points, or the radius breaks its rule.

    Examples
    --------
    >>> import pandas as pd
    >>> homes = pd.DataFrame({"lat_deg": [50.0], "lon_deg": [8.0]}, index=["Ann"])
    >>> mask_disc(homes, radius_m=500, rng=1).round(4)
         lat_deg  lon_deg
    Ann  50.0031   7.9985
    """
    return mask_donut(points, inner_m=0.0, outer_m=radius_m, rng=rng)


@checked
def mask_donut(points: Any, *, inner_m: Inner, outer_m: Metres, rng: RNGLike = None) -> Any:
    """Move each point to a random place at least `inner_m` and at most `outer_m` away, all directions alike.

    Parameters
    ----------
    points : GeoDataFrame or DataFrame
        As for `mask_disc`.
    inner_m, outer_m : float
        Smallest and largest displacement, metres, 0 <= inner <= outer; uniform over the ring's surface.
    rng : Generator, int or None
        As for `mask_disc`.

    Returns
    -------
    GeoDataFrame or DataFrame
        As `points`, moved.

    Raises
    ------
    DataError, ParameterError
        As for `mask_disc`; if `inner_m` exceeds `outer_m`.

    Notes
    -----
    The donut of Hampton et al. (2010), with fixed radii instead of radii from the local population density. Draws are
    made on the sphere, so that displacements are isotropic on the ground at every latitude.
    """
    lat, lon = read_places(points)
    return write_places(points, *_in_ring(lat, lon, inner_m, outer_m, check_rng(rng)))


@checked
def mask_population_donut(
    points: Any,
    density: Annotated[Any, PublicPlaces("cells of a population raster by their centres", ("persons_per_km2",))],
    *,
    k_min: Annotated[int, Whole(0, unit="persons", at_most="k_max")],
    k_max: Annotated[int, Whole(1, unit="persons")],
    rng: RNGLike = None,
) -> Any:
    """Move each point so far that about `k_min` to `k_max` persons live nearer to its true place than the released one.

    The donut as it was proposed: wide rings in the country, narrow ones in town. The numbers hold on average and as far
    as people live evenly around a point; no formal guarantee, and none at all for who lives in a house of its own cell.

    Parameters
    ----------
    points : GeoDataFrame or DataFrame
        As for `mask_disc`.
    density : GeoDataFrame or DataFrame
        A public population raster: the centres of its cells with the column ``persons_per_km2``, persons per square
        kilometre, at least 0. Each point takes the density of the nearest centre.
    k_min, k_max : int
        Persons within the smallest and the largest displacement, 0 <= k_min <= k_max.
    rng : Generator, int or None
        As for `mask_disc`.

    Returns
    -------
    GeoDataFrame or DataFrame
        As `points`, moved. A point where nobody lives is suppressed: no ring holds anybody.

    Raises
    ------
    DataError, ParameterError
        As for `mask_disc`; if `density` is no raster, or `k_min` exceeds `k_max`.

    Notes
    -----
    Hampton et al. (2010): radii sqrt(k / (pi rho)) for k = `k_min`, `k_max` and the local density rho; uniform over the
    ring's surface. Rings wider than half the Earth end there.
    """
    lat, lon = read_places(points)
    cells = PublicPlaces("cells of a population raster", ("persons_per_km2",)).read(density, "density")
    centres = sphere_vectors(cells["lat_deg"].to_numpy(), cells["lon_deg"].to_numpy())
    nearest = cKDTree(centres).query(sphere_vectors(lat, lon))[1]
    per_km2 = cells["persons_per_km2"].to_numpy()[nearest]
    inhabited = per_km2 > 0
    area_m2 = np.divide(1e6, np.pi * per_km2, where=inhabited, out=np.zeros(lat.size))
    inner_m, outer_m = (np.minimum(np.sqrt(k * area_m2), _HALF_TURN_M) for k in (k_min, k_max))
    return write_places(points, *_in_ring(lat, lon, inner_m, outer_m, check_rng(rng)), inhabited)


def _in_ring(
    lat: FloatArray, lon: FloatArray, inner_m: Any, outer_m: Any, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return places drawn uniformly on the surface of the ring around each place."""
    # The surface of a cap grows with sin^2(r / 2R), so uniform draws of that are uniform on the ring.
    lowest, highest = (np.sin(np.asarray(radius) / (2 * _RADIUS_M)) ** 2 for radius in (inner_m, outer_m))
    angle = 2 * np.arcsin(np.sqrt(rng.uniform(lowest, highest, lat.size)))
    return _destination(lat, lon, angle, rng.uniform(0, 2 * np.pi, lat.size))


def _destination(lat: FloatArray, lon: FloatArray, angle: Any, bearing: Any) -> tuple[FloatArray, FloatArray]:
    """Return the places reached from (lat, lon) along great circles; angle and bearing in radians."""
    phi = np.radians(lat)
    sine = np.clip(np.sin(phi) * np.cos(angle) + np.cos(phi) * np.sin(angle) * np.cos(bearing), -1, 1)
    turn = np.arctan2(np.sin(bearing) * np.sin(angle) * np.cos(phi), np.cos(angle) - np.sin(phi) * sine)
    return np.degrees(np.arcsin(sine)), longitudes_within(lon + np.degrees(turn))


@checked
def mask_grid(
    points: Any,
    *,
    cell_m: Annotated[float, Real(0, _HALF_TURN_M / 2, unit="m", open_low=True)],
    min_count: Annotated[int, Whole(1, unit="records")] = 1,
) -> Any:
    """Move each point to the centre of its grid cell; leave out the points of cells with too few of them.

    Parameters
    ----------
    points : GeoDataFrame or DataFrame
        As for `mask_disc`.
    cell_m : float
        Side of a cell, metres on the ground, above 0. In a projected CRS whose metres are those of the ground within
        5 % (not in Web Mercator) the grid is the CRS's own, from its origin; otherwise rows have equal latitude and
        cells are `cell_m` wide at their row's centre.
    min_count : int, default 1
        Points of a cell with fewer are suppressed.

    Returns
    -------
    GeoDataFrame or DataFrame
        As `points`, moved, without the suppressed records. Nothing is random here.

    Raises
    ------
    DataError, ParameterError
        As for `mask_disc`; if `cell_m` is not positive or `min_count` below 1.
    """
    lat, lon = read_places(points)
    if hasattr(points, "to_crs") and points.crs.is_projected and _is_true_to_scale(points.crs, lat, lon):
        return _grid_of_crs(points, cell_m, min_count)
    rows = max(1, round(_HALF_TURN_M / cell_m))
    height = 180.0 / rows
    row = np.minimum(np.floor((lat + 90) / height), rows - 1)
    centre_lat = (row + 0.5) * height - 90
    columns = np.maximum(1, np.round(2 * _HALF_TURN_M * np.cos(np.radians(centre_lat)) / cell_m))
    # A pole has every longitude.
    column = np.floor(np.where(np.abs(lat) > 90 - 1e-9, 0, lon % 360) / (360 / columns))
    keep = _frequent(np.column_stack([row, column]), min_count)
    return write_places(points, centre_lat, (column + 0.5) * 360 / columns, keep)


def _is_true_to_scale(crs: Any, lat: FloatArray, lon: FloatArray) -> bool:
    """Decide whether lengths in a projected CRS are those of the ground, within 5 %, at all places."""
    import pyproj

    scales = pyproj.Proj(crs).get_factors(longitudes_within(lon), lat)
    both = np.concatenate([np.atleast_1d(scales.meridional_scale), np.atleast_1d(scales.parallel_scale)])
    return bool((np.abs(both - 1) < 0.05).all())


def _grid_of_crs(points: Any, cell_m: float, min_count: int) -> Any:
    import geopandas as gpd

    cell = cell_m / points.crs.axis_info[0].unit_conversion_factor
    where = np.floor(np.column_stack([points.geometry.x, points.geometry.y]) / cell)
    moved = points.copy()
    centres = (where + 0.5) * cell
    moved[points.geometry.name] = gpd.GeoSeries(
        gpd.points_from_xy(centres[:, 0], centres[:, 1], crs=points.crs), index=points.index
    )
    return moved[_frequent(where, min_count)]


def _frequent(cells: FloatArray, min_count: int) -> BoolArray:
    _, which, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(counts[which.ravel()] >= min_count)


@checked
def swap_locations(
    points: Any,
    candidates: Annotated[Any, PublicPlaces("places to move to, such as all addresses")],
    *,
    inner_m: Inner = 0.0,
    outer_m: Metres,
    rng: RNGLike = None,
) -> Any:
    """Move each point to a random candidate place between `inner_m` and `outer_m` away; leave out points without one.

    Parameters
    ----------
    points : GeoDataFrame or DataFrame
        As for `mask_disc`.
    candidates : GeoDataFrame or DataFrame
        Places to move to, such as all addresses; of the same kind (and CRS) as `points`.
    inner_m, outer_m : float
        Smallest and largest displacement, metres, 0 <= inner <= outer. A candidate at the very place of a point is
        0 metres away; give an `inner_m` above 0 to exclude it.
    rng : Generator, int or None
        As for `mask_disc`.

    Returns
    -------
    GeoDataFrame or DataFrame
        As `points`, moved. A point with no candidate in the ring is suppressed; it never keeps its true place.

    Raises
    ------
    DataError, ParameterError
        As for `mask_donut`; if `points` and `candidates` differ in kind or CRS.
    """
    lat, lon = read_places(points)
    same_kind(points, candidates)
    other_lat, other_lon = read_places(candidates, "candidates")
    rng = check_rng(rng)
    here, there = sphere_vectors(lat, lon), sphere_vectors(other_lat, other_lon)
    chords = 2 * np.sin(np.array([inner_m, outer_m]) / (2 * _RADIUS_M))
    lat, lon, keep = lat.copy(), lon.copy(), np.zeros(lat.size, dtype=bool)
    if other_lat.size:
        tree = cKDTree(there)
        for i, near in enumerate(tree.query_ball_point(here, chords[1] * (1 + 1e-12))):
            near = np.sort(np.asarray(near, dtype=np.int64))  # the tree's order is no part of the result
            far = near[np.linalg.norm(there[near] - here[i], axis=1) >= chords[0]]
            if far.size:
                chosen = rng.choice(far)
                lat[i], lon[i], keep[i] = other_lat[chosen], other_lon[chosen], True
    return write_places(points, lat, lon, keep)


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
    points : GeoDataFrame or DataFrame
        As for `mask_disc`.
    shift_m : float, default 100,000
        How far the centre moves, in a random direction, metres.
    reflect : bool, default False
        Mirror the points as well.
    rng : Generator, int or None
        As for `mask_disc`.

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
    centre = sphere_vectors(lat, lon).mean(axis=0)
    centre_lat, centre_lon = degrees(centre[None])
    goal_lat, goal_lon = _destination(centre_lat, centre_lon, shift_m / _RADIUS_M, bearing)
    # Into the frame in which the centre is the pole, turn and mirror there, and out of the goal's frame.
    local = sphere_vectors(lat, lon) @ _pole_frame(centre_lat[0], centre_lon[0]).T
    cos, sin = np.cos(turn), np.sin(turn)
    motion = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
    if reflect:
        motion = motion @ np.diag([-1.0, 1.0, 1.0])
    moved = local @ motion.T @ _pole_frame(goal_lat[0], goal_lon[0])
    return write_places(points, *degrees(moved))


def _pole_frame(lat: float, lon: float) -> FloatArray:
    """Return the rotation that brings the place to the north pole."""
    north, east = sphere_vectors(np.array([lat]), np.array([lon]))[0], np.radians(lon)
    side = np.array([-np.sin(east), np.cos(east), 0.0])
    return np.stack([np.cross(side, north), side, north])
