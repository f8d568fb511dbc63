"""Anonymiser. Masks that custodians put on places: disc, donuts, grid, swap.

Each takes a GeoDataFrame of points with a CRS, or a table with the columns ``lat_deg`` and ``lon_deg``, and returns one
of the same kind: same index, other columns, CRS and geometry name; the input is not modified. Lengths are metres on the
ground whatever the CRS. No mask gives a formal guarantee. Only the place is masked: a postcode in another column stays.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from scipy.spatial import cKDTree

from reident.base import (
    EARTH_RADIUS_KM,
    BoolArray,
    FloatArray,
    Generator,
    PublicAreas,
    PublicPlaces,
    Real,
    RNGLike,
    Whole,
    check_rng,
    checked,
)
from reident.places.areas import areas_of, drawn_within, nearest_within, warn_left_out
from reident.places.points import (
    Coordinates,
    degrees_of,
    longitudes_within,
    projected,
    read_places,
    same_kind,
    unit_vectors,
    write_places,
)

RADIUS_M = 1000 * EARTH_RADIUS_KM
_HALF_TURN_M = float(np.pi * RADIUS_M)

#: A length on the ground.
Metres = Annotated[float, Real(0, _HALF_TURN_M, unit="m")]
#: Areas that no record leaves.
Container = Annotated[Any, PublicAreas("areas that no record leaves, such as land or counties")]
#: The inner radius of a ring.
Inner = Annotated[float, Real(0, _HALF_TURN_M, unit="m", at_most="outer_m")]


@checked
def mask_disc(points: Any, *, radius_m: Metres, container: Container = None, rng: RNGLike = None) -> Any:
    """Move each point to a random place within a radius, all directions alike.

    Parameters
    ----------
    points : GeoDataFrame or DataFrame
        Points with a CRS, or a table with the columns ``lat_deg``, ``lon_deg``. Not modified.
    radius_m : float
        Largest displacement, metres, at least 0; uniform over the disc's surface.
    container : GeoDataFrame or GeoSeries of polygons, optional
        Public areas, such as land or counties: each point stays in the one that holds it. A point outside all of them,
        or without a place in its own after 10,000 draws, is left out with a warning.
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
    return mask_donut(points, inner_m=0.0, outer_m=radius_m, container=container, rng=rng)


@checked
def mask_donut(
    points: Any, *, inner_m: Inner, outer_m: Metres, container: Container = None, rng: RNGLike = None
) -> Any:
    """Move each point to a random place at least `inner_m` and at most `outer_m` away, all directions alike.

    Parameters
    ----------
    points, container, rng
        As for `mask_disc`.
    inner_m, outer_m : float
        Smallest and largest displacement, metres, 0 <= inner <= outer; uniform over the ring's surface.

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
    n = lat.size
    return _moved(points, lat, lon, np.full(n, inner_m), np.full(n, outer_m), container, check_rng(rng))


@checked
def mask_population_donut(
    points: Any,
    density: Annotated[Any, PublicPlaces("cells of a population raster by their centres", ("persons_per_km2",))],
    *,
    k_min: Annotated[int, Whole(0, unit="persons", at_most="k_max")],
    k_max: Annotated[int, Whole(1, unit="persons")],
    container: Container = None,
    rng: RNGLike = None,
) -> Any:
    """Move each point so far that about `k_min` to `k_max` persons live nearer to its true place than the released one.

    The donut as it was proposed: wide rings in the country, narrow ones in town. The numbers hold on average and as far
    as people live evenly around a point; no formal guarantee, and none at all for a single house in its cell.

    Parameters
    ----------
    points, container, rng
        As for `mask_disc`.
    density : GeoDataFrame or DataFrame
        A public population raster: the centres of its cells with the column ``persons_per_km2``, persons per square
        kilometre, at least 0. Each point takes the density of the nearest centre. A point further from all centres than
        one and a half times their usual distance is not covered: it is left out with a warning.
    k_min, k_max : int
        Persons within the smallest and the largest displacement, 0 <= k_min <= k_max.

    Returns
    -------
    GeoDataFrame or DataFrame
        As `points`, moved. A point without inhabitants around it is suppressed.

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
    centres = unit_vectors(cells["lat_deg"].to_numpy(), cells["lon_deg"].to_numpy())
    tree = cKDTree(centres)
    away, nearest = tree.query(unit_vectors(lat, lon))
    # Chords of the sphere: near enough for neighbouring cells.
    gap = np.median(tree.query(centres, k=2)[0][:, 1]) if len(centres) > 1 else np.inf
    covered = away <= 1.5 * gap
    warn_left_out(covered, "lie beyond the raster `density` and are left out")
    per_km2 = cells["persons_per_km2"].to_numpy()[nearest]
    inhabited = covered & (per_km2 > 0)
    area_m2 = np.divide(1e6, np.pi * per_km2, where=inhabited, out=np.zeros(lat.size))
    inner_m, outer_m = (np.minimum(np.sqrt(k * area_m2), _HALF_TURN_M) for k in (k_min, k_max))
    return _moved(points, lat, lon, inner_m, outer_m, container, check_rng(rng), inhabited)


def _moved(
    points: Any,
    lat: FloatArray,
    lon: FloatArray,
    inner_m: FloatArray,
    outer_m: FloatArray,
    container: Any,
    rng: Generator,
    keep: BoolArray | None = None,
) -> Any:
    """Return points moved uniformly on the surface of their rings, in their areas; without those not in `keep`."""
    # The surface of a cap grows with sin^2(r / 2R), so uniform draws of that are uniform on the ring.
    lowest, highest = (np.sin(radius / (2 * RADIUS_M)) ** 2 for radius in (inner_m, outer_m))

    def draw(which: Any) -> Coordinates:
        angle = 2 * np.arcsin(np.sqrt(rng.uniform(lowest[which], highest[which])))
        return destination(lat[which], lon[which], angle, rng.uniform(0, 2 * np.pi, angle.size))

    new_lat, new_lon, is_placed = drawn_within(container, lat, lon, draw)
    warn_left_out(is_placed, "found no place within `container` and are left out")
    return write_places(points, new_lat, new_lon, is_placed if keep is None else is_placed & keep)


def destination(lat: FloatArray, lon: FloatArray, angle: Any, bearing: Any) -> Coordinates:
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
    container: Container = None,
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
    container : GeoDataFrame or GeoSeries of polygons, optional
        As for `mask_disc`. A cell is parted by the areas; a centre outside an area moves to the nearest place in it.

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
        centre_lat, centre_lon, cells = _grid_of_crs(points, cell_m)
    else:
        centre_lat, centre_lon, cells = _grid_of_sphere(lat, lon, cell_m)
    keep = np.ones(lat.size, dtype=bool)
    if container is not None:
        area = areas_of(container, lat, lon, "container")
        keep = area >= 0
        warn_left_out(keep, "lie outside `container` and are left out")
        centre_lat, centre_lon = nearest_within(container, area, centre_lat, centre_lon)
        cells = np.column_stack([cells, area])
    _, which, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    return write_places(points, centre_lat, centre_lon, keep & (counts[which.ravel()] >= min_count))


def _is_true_to_scale(crs: Any, lat: FloatArray, lon: FloatArray) -> bool:
    """Decide whether lengths in a projected CRS are those of the ground, within 5 %, at all places."""
    unit, length_m = crs.axis_info[0].unit_conversion_factor, 1000.0
    start = np.stack(projected(lat, lon, crs))
    for bearing in (0.0, np.pi / 2):
        end = np.stack(projected(*destination(lat, lon, length_m / RADIUS_M, bearing), crs))
        if (np.abs(unit * np.hypot(*(end - start)) / length_m - 1) >= 0.05).any():
            return False
    return True


def _grid_of_crs(points: Any, cell_m: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the centres of the cells in the grid of the CRS, degrees, and the numbers of the cells."""
    cell = cell_m / points.crs.axis_info[0].unit_conversion_factor
    where = np.floor(np.column_stack([points.geometry.x, points.geometry.y]) / cell)
    centres = (where + 0.5) * cell
    return *degrees_of(centres[:, 0], centres[:, 1], points.crs), where


def _grid_of_sphere(lat: FloatArray, lon: FloatArray, cell_m: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the centres of cells in rows of equal latitude, degrees, and the numbers of the cells."""
    rows = max(1, round(_HALF_TURN_M / cell_m))
    height = 180.0 / rows
    row = np.minimum(np.floor((lat + 90) / height), rows - 1)
    centre_lat = (row + 0.5) * height - 90
    columns = np.maximum(1, np.round(2 * _HALF_TURN_M * np.cos(np.radians(centre_lat)) / cell_m))
    # A pole has every longitude.
    column = np.floor(np.where(np.abs(lat) > 90 - 1e-9, 0, lon % 360) / (360 / columns))
    return centre_lat, longitudes_within((column + 0.5) * 360 / columns), np.column_stack([row, column])


@checked
def swap_locations(
    points: Any,
    candidates: Annotated[Any, PublicPlaces("places to move to, such as all addresses")],
    *,
    inner_m: Inner = 0.0,
    outer_m: Metres,
    container: Container = None,
    rng: RNGLike = None,
) -> Any:
    """Move each point to a random candidate place between `inner_m` and `outer_m` away; leave out points without one.

    Parameters
    ----------
    points, rng
        As for `mask_disc`.
    candidates : GeoDataFrame or DataFrame
        Places to move to, such as all addresses; of the same kind (and CRS) as `points`.
    inner_m, outer_m : float
        Smallest and largest displacement, metres, 0 <= inner <= outer. A candidate at the very place of a point is
        0 metres away; give an `inner_m` above 0 to exclude it.
    container : GeoDataFrame or GeoSeries of polygons, optional
        As for `mask_disc`: candidates in other areas are none for a point.

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
    vectors, targets = unit_vectors(lat, lon), unit_vectors(other_lat, other_lon)
    chords = 2 * np.sin(np.array([inner_m, outer_m]) / (2 * RADIUS_M))
    covered, area, other_area = np.ones(lat.size, dtype=bool), None, None
    if container is not None:
        area, other_area = areas_of(container, lat, lon, "container"), areas_of(container, other_lat, other_lon)
        covered = area >= 0
        warn_left_out(covered, "lie outside `container` and are left out")
    lat, lon, keep = lat.copy(), lon.copy(), np.zeros(lat.size, dtype=bool)
    if other_lat.size:
        tree = cKDTree(targets)
        for i, near in enumerate(tree.query_ball_point(vectors, chords[1] * (1 + 1e-12))):
            near = np.sort(np.asarray(near, dtype=np.int64))  # the tree's order is no part of the result
            far = near[np.linalg.norm(targets[near] - vectors[i], axis=1) >= chords[0]]
            if area is not None and other_area is not None:
                far = far[other_area[far] == area[i]]
            if far.size and covered[i]:
                chosen = rng.choice(far)
                lat[i], lon[i], keep[i] = other_lat[chosen], other_lon[chosen], True
    return write_places(points, lat, lon, keep)
