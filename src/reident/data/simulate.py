"""Simulated data: points in an area, populations, and pairs of overlapping files."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from reident.base import (
    FloatArray,
    IntArray,
    ParameterError,
    RNGLike,
    afford,
    check_area,
    check_columns,
    check_integer,
    check_real,
    check_rng,
    check_table,
)

_KM_PER_DEGREE = np.pi * 6371.0 / 180.0


def points_in_area(area: Any, n: int, *, rng: RNGLike = None) -> tuple[FloatArray, FloatArray]:
    """Draw points uniformly on the sphere inside an area.

    Parameters
    ----------
    area : shapely polygon, GeoSeries or GeoDataFrame
        In degrees, or with a CRS. Holes are respected.
    n : int
        Number of points.
    rng : Generator, int or None
        Source of randomness.

    Returns
    -------
    lat_deg, lon_deg : ndarray of float64, shape (n,)
        Uniform in area on the sphere, hence not uniform in degrees of latitude.

    Raises
    ------
    DataError, ParameterError
        If the area is not a valid polygon in degrees, or `n` is negative.
    """
    import shapely

    polygon = check_area(area)
    n = check_integer(n, "n", low=0)
    afford(100 * n, "n", f"{n:,} points", "draw fewer at once")
    rng = check_rng(rng)
    west, south, east, north = polygon.bounds
    low, high = np.sin(np.radians([south, north]))
    parts: list[FloatArray] = [np.empty((2, 0))]
    missing, share = n, 0.5
    while missing > 0:
        tries = int(missing / share * 1.1) + 32
        lat = np.degrees(np.arcsin(rng.uniform(low, high, tries)))
        lon = rng.uniform(west, east, tries)
        hit = np.flatnonzero(shapely.contains_xy(polygon, lon, lat))
        share = max(hit.size / tries, 1e-4)
        parts.append(np.stack([lat, lon])[:, hit[:missing]])
        missing -= min(missing, hit.size)
    lat_deg, lon_deg = np.concatenate(parts, axis=1)
    return lat_deg, lon_deg


def population(
    places: pd.DataFrame, n: int, *, jitter_km: float, shares: pd.DataFrame, area: Any = None, rng: RNGLike = None
) -> pd.DataFrame:
    """Draw persons: places by the population, labels by their shares.

    `places` has the columns lat_deg, lon_deg and population, as `load_places` returns; `shares` a column share and one
    a quasi-identifier, as `load_census_shares` returns: labels are independent of the home. A home lies around its
    place's centre, with a standard deviation of `jitter_km` in each direction; one outside of the polygon `area` is
    drawn again, place and jitter. Return a row a person: the columns of `shares` but share, then lat_deg and lon_deg.
    """
    import shapely

    check_table(places, "places")
    check_columns(places, ["lat_deg", "lon_deg", "population"], "places", table_name="places")
    check_columns(check_table(shares, "shares"), ["share"], "shares", table_name="shares")
    n = check_integer(n, "n", low=0)
    jitter_km = check_real(jitter_km, "jitter_km", low=0)
    polygon = None if area is None else check_area(area)
    rng = check_rng(rng)
    lat, lon = np.empty(n), np.empty(n)
    wanted = np.arange(n)
    weights = places["population"].to_numpy(float)
    centres = places[["lat_deg", "lon_deg"]].to_numpy(float)
    while wanted.size:
        chosen = centres[rng.choice(len(places), wanted.size, p=weights / weights.sum())]
        north_km, east_km = rng.normal(0, jitter_km, (2, wanted.size))
        lat[wanted] = chosen[:, 0] + north_km / _KM_PER_DEGREE
        lon[wanted] = chosen[:, 1] + east_km / (_KM_PER_DEGREE * np.cos(np.radians(chosen[:, 0])))
        if polygon is None:
            break
        wanted = wanted[~shapely.contains_xy(polygon, lon[wanted], lat[wanted])]
    who = rng.choice(len(shares), n, p=shares["share"].to_numpy(float))
    persons = shares.drop(columns="share").iloc[who].reset_index(drop=True)
    return persons.assign(lat_deg=lat, lon_deg=lon)


class OverlappingFiles(NamedTuple):
    """Two files that share some entities: the custodian's, the intruder's, and the true pairs."""

    original: pd.DataFrame
    known: pd.DataFrame
    truth: pd.DataFrame


def drawn_together(whose: pd.Series | None, n: int, rng: np.random.Generator) -> IntArray:
    """Return rows in random order, those of one value one after another; a missing value equals no other."""
    if whose is None:
        return rng.permutation(n)
    codes = pd.factorize(whose)[0]
    codes = np.where(codes < 0, n + np.arange(n), codes)
    return np.lexsort((rng.random(n), rng.permutation(2 * n)[codes]))


def overlapping_files(
    persons: pd.DataFrame,
    *,
    n_original: int,
    n_known: int,
    n_common: int,
    together: pd.Series | None = None,
    rng: RNGLike = None,
) -> OverlappingFiles:
    """Split a population into the file to be released and the file that the intruder knows.

    `persons`, at least ``n_original + n_known - n_common`` of them, are drawn from without replacement; `n_common` are
    in both files. Rows with one value of `together` are drawn one after another, so that hardly one is in another file
    than the others. The files are in random order with ids ``r0, r1, ...`` and ``k0, k1, ...`` as index; `truth` has
    the columns release and known, one row a common record.
    """
    check_table(persons, "persons")
    n_original = check_integer(n_original, "n_original", low=1)
    n_known = check_integer(n_known, "n_known", low=1)
    n_common = check_integer(n_common, "n_common", low=0)
    if n_common > min(n_original, n_known):
        raise ParameterError(
            f"`n_common` must be at most the size of the smaller file ({min(n_original, n_known)}), got {n_common}: "
            "a common record is in both files"
        )
    needed = n_original + n_known - n_common
    if needed > len(persons):
        raise ParameterError(
            f"`n_original` + `n_known` - `n_common` must be at most the number of `persons` "
            f"({len(persons)}), got {needed}"
        )
    rng = check_rng(rng)
    rows = drawn_together(together, len(persons), rng)[:needed]
    in_original = rng.permutation(rows[:n_original])
    in_known = rng.permutation(np.concatenate([rows[:n_common], rows[n_original:]]))
    original = persons.iloc[in_original].set_axis(pd.Index([f"r{i}" for i in range(n_original)], name="release"))
    known = persons.iloc[in_known].set_axis(pd.Index([f"k{i}" for i in range(n_known)], name="known"))
    place = pd.Series(known.index, index=in_known)
    common = np.isin(in_original, rows[:n_common])
    truth = pd.DataFrame({"release": original.index[common], "known": place.loc[in_original[common]].to_numpy()})
    return OverlappingFiles(original, known, truth)
