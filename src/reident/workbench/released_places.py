"""Finding the places of a release in whatever columns, units and reference system it holds them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from reident.base import FloatArray
from reident.methods.release import LAT, LON
from reident.places.points import degrees_of
from reident.workbench.turned_places import turned_back
from reident.workbench.written_places import degrees_in, places_in

__all__ = ["Box", "Places", "box_of", "inside", "swapped", "with_found_places", "with_turned_places"]

_NUMBER = r"[-+]?\d+(?:\.\d+)?"
#: Texts that hold a place in numbers: east before north as in WKT, and a pair in any order.
_POINT = re.compile(rf"^\s*(?:SRID=\d+;)?\s*POINT\s*Z?\s*\(\s*({_NUMBER})\s+({_NUMBER})[^)]*\)\s*$", re.IGNORECASE)
_PAIR = re.compile(rf"^\s*[\[(]?\s*({_NUMBER})\s*[,; ]\s*({_NUMBER})\s*[\])]?\s*$")
#: The share of the places that must lie where the original's do.
_INSIDE = 0.9
#: Reference systems in metres that are tried beside the zones of UTM: the web's, Europe's and those of its countries.
_SYSTEMS = (
    *("EPSG:3857", "EPSG:3035", "EPSG:31466", "EPSG:31467", "EPSG:31468", "EPSG:31469", "EPSG:27700", "EPSG:2154"),
    *("EPSG:28992", "EPSG:31370", "EPSG:2056", "EPSG:21781", "EPSG:31287", "EPSG:3416", "EPSG:3067", "EPSG:3006"),
    *("EPSG:4647", "EPSG:5650", "EPSG:2180", "EPSG:5514", "EPSG:29902", "EPSG:2157"),
)

#: Records on which it is tried what columns mean, and columns of numbers that are tried in pairs at most, turned too.
_SAMPLE, _MOST, _MOST_TURNED = 1000, 30, 6
#: Coordinates in kilometres are smaller.
_MOST_KM = 40_000

Box = tuple[float, float, float, float]
Places = tuple[FloatArray, FloatArray]
_Reading = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


def box_of(lat: FloatArray, lon: FloatArray) -> Box | None:
    """Return where the places of an original are, and half as far again around them; None without places."""
    known = np.isfinite(lat) & np.isfinite(lon)
    if not known.any():
        return None
    (south, north), (west, east) = ((float(one[known].min()), float(one[known].max())) for one in (lat, lon))
    wide, high = max(0.1, (east - west) / 2), max(0.1, (north - south) / 2)
    return south - high, north + high, west - wide, east + wide


def inside(lat: FloatArray, lon: FloatArray, box: Box) -> bool:
    """Whether nearly all places lie where an original's do."""
    known = np.isfinite(lat) & np.isfinite(lon)
    within = (lat >= box[0]) & (lat <= box[1]) & (lon >= box[2]) & (lon <= box[3])
    return bool(known.any()) and float(within[known].mean()) >= _INSIDE


def swapped(lat: FloatArray, lon: FloatArray, box: Box) -> bool:
    """Whether two columns hold the places of an original under each other's names."""
    return not inside(lat, lon, box) and inside(lon, lat, box)


def with_found_places(
    release: pd.DataFrame, free: Sequence[Any], box: Box, homes: Places, shown: Places | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """Return a release with the places that some of its columns hold in ``lat_deg`` and ``lon_deg``, and a sentence.

    Two columns hold them, in degrees or in metres, or one of texts, if they put nearly everybody where the original's
    places, `homes`, are; what fits in several ways is taken in the first. Of several the finest are taken: there are
    more of them, and they are nearer to the original's. Places that are `shown` beside these columns are left for finer
    ones only.
    """
    rows = np.linspace(0, len(release) - 1, min(_SAMPLE, len(release))).astype(int)
    found, told = release, []
    best = None if shown is None else _fineness((shown[0][rows], shown[1][rows]), homes)
    for columns, first, second in _candidates(release, free):
        for said, read in _readings(first[rows], second[rows], box):
            there = read(first[rows], second[rows])
            if not inside(*there, box):
                continue
            fine = _fineness(there, homes)
            if best is None or (fine[0] > best[0] and fine[1] < best[1]):
                best, (lat, lon) = fine, read(first, second)
                named = " and ".join(map(repr, columns))
                told = [f"Places of the release were read in {named}: {said}, where those of the original are."]
                found = release.drop(columns=list(columns)).assign(**{LAT: lat, LON: lon})
            break
    return found, told


def _fineness(places: Places, homes: Places) -> tuple[int, float]:
    """Return how many places there are, and how far most of them are from the nearest of the original's."""
    from scipy.spatial import KDTree

    shown, known = (np.stack(one, axis=1) for one in (places, homes))
    shown, known = (one[np.isfinite(one).all(axis=1)] for one in (shown, known))
    if not len(shown):
        return 0, np.inf
    return len(np.unique(shown, axis=0)), float(np.median(KDTree(known).query(shown)[0]))


def with_turned_places(
    release: pd.DataFrame, free: Sequence[Any], lat: FloatArray, lon: FloatArray
) -> tuple[pd.DataFrame, list[str]]:
    """Return a release with the places that two of its columns of numbers hold, moved, turned, mirrored and scaled.

    `lat` and `lon` are the original's. Found where a motion lays nearly every released pair on a place of theirs.
    """
    numeric = [name for name in free if pd.api.types.is_numeric_dtype(release[name])][:_MOST_TURNED]
    for pair in combinations(numeric, 2):
        points = release[list(pair)].to_numpy(float, na_value=np.nan)
        found = turned_back(points, lat, lon)
        if found is not None:
            told = (
                f"Places of the release were read in {pair[0]!r} and {pair[1]!r}: a motion lays them on the original's."
            )
            return release.drop(columns=list(pair)).assign(**{LAT: found[0], LON: found[1]}), [told]
    return release, []


def _candidates(release: pd.DataFrame, free: Sequence[Any]) -> Iterator[tuple[tuple[Any, ...], FloatArray, FloatArray]]:
    """Yield pairs of numbers, with the columns that hold them: the first east or south to north, the readings say."""
    numbers: dict[Any, FloatArray] = {}
    for name in free:
        column = release[name]
        if pd.api.types.is_numeric_dtype(column):
            numbers[name] = column.to_numpy(float, na_value=np.nan)
        if not (column.dtype == object or isinstance(column.dtype, pd.StringDtype)):
            continue
        texts = column.astype("str")
        for pattern in (_POINT, _PAIR):
            parts = texts.str.extract(pattern)
            if len(parts) and parts[0].notna().sum() >= _INSIDE * max(1, column.notna().sum()):
                pair = parts.astype(float).to_numpy()
                yield (name,), pair[:, 0], pair[:, 1]
        for _, first, second in places_in(column):
            yield (name,), first, second
        first = degrees_in(column.dropna().iloc[:50])
        if len(first) and np.isfinite(first).mean() >= _INSIDE:
            numbers[name] = degrees_in(column)
    for name, other in combinations(list(numbers)[:_MOST], 2):
        yield (name, other), numbers[name], numbers[other]


def _readings(first: FloatArray, second: FloatArray, box: Box) -> Iterator[tuple[str, _Reading]]:
    """Yield what two columns of numbers may mean, and how latitudes and longitudes are read from them."""
    known = np.isfinite(first) & np.isfinite(second)
    if not known.any():
        return
    largest = [float(np.abs(one[known]).max()) for one in (first, second)]
    if max(largest) <= 360 and (first[known] % 1).any() and (second[known] % 1).any():
        yield "degrees of latitude and longitude", lambda one, two: (one, two)
        yield "degrees of longitude and latitude", lambda one, two: (two, one)
    if max(largest) <= 2 * np.pi and max(map(abs, box)) > 2 * np.pi:
        yield "radians of latitude and longitude", lambda one, two: (np.degrees(one), np.degrees(two))
        yield "radians of longitude and latitude", lambda one, two: (np.degrees(two), np.degrees(one))
    for power in (5, 6, 7):
        if max(largest) > 10**power:
            yield f"degrees times 10^{power}", partial(_scaled, 10.0**power)
            yield f"degrees times 10^{power}, east first", _turned(partial(_scaled, 10.0**power))
    if min(largest) < 100:
        return
    zone = int(((box[2] + box[3]) / 2 + 180) % 360 // 6) + 1
    half = 700 if box[0] + box[1] < 0 else 600
    near = [f"EPSG:{32000 + half + one}" for one in (zone, zone - 1, zone + 1) if 1 <= one <= 60]
    for system in [*near, *_SYSTEMS]:
        for unit, told in ((1.0, "metres"), (1000.0, "kilometres")):
            if min(largest) * unit >= 10_000 and (unit == 1.0 or max(largest) < _MOST_KM):
                projected = partial(_projected, system, unit)
                yield f"{told} east and north in {system}", projected
                yield f"{told} north and east in {system}", _turned(projected)


def _scaled(unit: float, lat: FloatArray, lon: FloatArray) -> tuple[FloatArray, FloatArray]:
    return lat / unit, lon / unit


def _projected(system: str, unit: float, east: FloatArray, north: FloatArray) -> tuple[FloatArray, FloatArray]:
    return degrees_of(unit * east, unit * north, system)


def _turned(reading: _Reading) -> _Reading:
    return lambda one, two: reading(two, one)
