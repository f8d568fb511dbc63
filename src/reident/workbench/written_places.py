"""Places in texts: degrees with minutes, pairs of numbers anywhere, geohashes, plus codes, MGRS, cells of grids."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from reident.base import FloatArray
from reident.places.points import degrees_of

__all__ = ["degrees_in", "places_in"]

_LETTER, _SECONDS = r"([NSEWO])?", r"(?:(\d{1,2}(?:\.\d+)?)\s*(?:[\"″”s]|''|$)?)?"
_MINUTES = rf"(?:(\d{{1,2}}(?:\.\d+)?)\s*(?:['′’m: ]|$)\s*{_SECONDS})?"
#: Degrees with minutes and perhaps seconds, or with a fraction, and a letter before or behind.
_DEGREES = re.compile(rf"^\s*{_LETTER}\s*(-?\d{{1,3}})\s*[°d:º ]\s*{_MINUTES}\s*{_LETTER}\s*$", re.IGNORECASE)
_SIGNED = re.compile(r"^\s*([-+]?\d{1,3}(?:\.\d+)?)\s*[°º]?\s*([NSEWO])?\s*$", re.IGNORECASE)
_DECIMAL = re.compile(r"[-+]?\d{1,3}\.\d{2,}")
_HASH = re.compile(r"^[0-9b-hjkmnp-z]{4,12}$")
_PLUS = re.compile(r"^[23456789CFGHJMPQRVWX]{8}\+[23456789CFGHJMPQRVWX]{2,7}$")
_SQUARE = re.compile(r"^(\d{1,2})([C-HJ-NP-X])\s*([A-HJ-NP-Z])([A-HJ-NP-V])\s*(\d{2,10}|\d{1,5}\s+\d{1,5})$")
#: Cells of official grids: the system, their size, north and east of the corner, in metres or in sizes of a cell.
_CELL = re.compile(r"^(?:CRS(\d{4,5})_?)?(?:RES_?)?(\d+)(K?M)_?([NE])(\d+)_?([NE])(\d+)$")
_EUROPE = 3035
_SIGNS, _PLUS_SIGNS = "0123456789bcdefghjkmnpqrstuvwxyz", "23456789CFGHJMPQRVWX"
_NOWHERE = (np.nan, np.nan)


def degrees_in(cells: pd.Series) -> FloatArray:
    """Return the degrees that each text says by itself: 50°06'30"N, 50 06.5, 8.68°; NaN where there are none."""
    return np.array([_degrees(text) for text in _texts(cells)], float)


def _texts(cells: pd.Series) -> list[str]:
    """Return cells of any type as texts, empty ones where a value is missing."""
    return ["" if gap else str(cell).strip() for cell, gap in zip(cells, cells.isna(), strict=True)]


def _degrees(text: str) -> float:
    text = text.replace(",", ".")
    if match := _SIGNED.match(text):
        value, letter = match.groups()
        return float(value) * (-1 if (letter or "").upper() in ("S", "W") else 1)
    if match := _DEGREES.match(text):
        before, whole, minutes, seconds, behind = match.groups()
        size = abs(float(whole)) + float(minutes or 0) / 60 + float(seconds or 0) / 3600
        return -size if whole.startswith("-") or (before or behind or "").upper() in ("S", "W") else size
    return np.nan


def places_in(cells: pd.Series) -> Iterator[tuple[str, FloatArray, FloatArray]]:
    """Yield what texts may say, with the two coordinates of each: latitude first, but for pairs of numbers."""
    texts = _texts(cells)
    some = [text for text in texts if text][:50]
    for told, read in _FORMS.items():
        if not some or np.isfinite([read(text) for text in some]).all(axis=1).mean() < 0.9:
            continue
        found = np.array([read(text) for text in texts], float)
        if read in (_square, _cell):
            found = _in_degrees(found)
        yield told, found[:, 0], found[:, 1]


def _in_degrees(squares: FloatArray) -> FloatArray:
    places = np.full((len(squares), 2), np.nan)
    for zone in np.unique(squares[np.isfinite(squares[:, 0]), 0]):
        own = squares[:, 0] == zone
        places[own] = np.stack(degrees_of(squares[own, 1], squares[own, 2], f"EPSG:{int(zone)}"), axis=1)
    return places


def _pair(text: str) -> tuple[float, float]:
    numbers = _DECIMAL.findall(text)
    return (float(numbers[0]), float(numbers[1])) if len(numbers) == 2 else _NOWHERE


def _two(text: str) -> tuple[float, float]:
    """Read two numbers of degrees in one text, apart at a letter of the compass, a comma or a semicolon."""
    parts = re.findall(r"[^NSEWO,;/]+[NSEWO]?", text.strip(), re.IGNORECASE)
    parts = [part.strip(" ,;/") for part in parts if any(sign.isdigit() for sign in part)]
    return (_degrees(parts[0]), _degrees(parts[1])) if len(parts) == 2 else _NOWHERE


def _geohash(text: str) -> tuple[float, float]:
    if not _HASH.match(text) or not any(sign.isdigit() for sign in text):
        return _NOWHERE
    bits = "".join(f"{_SIGNS.index(sign):05b}" for sign in text)
    return tuple(  # type: ignore[return-value]
        -size + 2 * size * (int(own, 2) + 0.5) / 2 ** len(own) for size, own in ((90, bits[1::2]), (180, bits[::2]))
    )


def _plus_code(text: str) -> tuple[float, float]:
    if not _PLUS.match(text.upper()):
        return _NOWHERE
    signs = [_PLUS_SIGNS.index(sign) for sign in text.upper().replace("+", "")]
    lat, lon, step = -90.0, -180.0, 20.0
    for place in range(0, 10, 2):
        lat, lon = lat + signs[place] * step, lon + signs[place + 1] * step
        step /= 20
    high, wide = step * 20, step * 20
    for sign in signs[10:]:
        high, wide = high / 5, wide / 4
        lat, lon = lat + (sign // 4) * high, lon + (sign % 4) * wide
    return lat + high / 2, lon + wide / 2


def _square(text: str) -> tuple[float, float, float]:
    """Read a square of MGRS as a CRS and metres: zone and band, two letters of 100 km, as many digits east as north."""
    match = _SQUARE.match(text.upper())
    zone, band, column, row, digits = match.groups() if match else ("", "", "", "", "")
    half = len(digits) // 2
    east, north = digits.split() if " " in digits else (digits[:half], digits[half:])
    if not match or len(east) != len(north):
        return (np.nan, np.nan, np.nan)
    metres = 10 ** (5 - len(east))
    x = 1e5 * (1 + "ABCDEFGHJKLMNPQRSTUVWXYZ".index(column) % 8) + (int(east) + 0.5) * metres
    y = 1e5 * (("ABCDEFGHJKLMNPQRSTUV".index(row) - 5 * (int(zone) % 2 == 0)) % 20) + (int(north) + 0.5) * metres
    south = -80 + 8 * "CDEFGHJKLMNPQRSTUVWX".index(band)
    # The rows of letters come again every 2,000 km: the first that lies in the band.
    least = south * 110_500 + (0 if south >= 0 else 1e7) - 2e5
    return (32600 if south >= 0 else 32700) + int(zone), x, y + 2e6 * max(0.0, np.ceil((least - y) / 2e6))


def _cell(text: str) -> tuple[float, float, float]:
    """Read the cell of a grid in metres as its CRS and centre: CRS3035RES100mN2691700E4341100, 1kmN3012E4321."""
    match = _CELL.match(text.upper())
    if not match or match[4] == match[6]:
        return (np.nan, np.nan, np.nan)
    size = int(match[2]) * (1000 if match[3] == "KM" else 1)
    corner = {match[4]: int(match[5]), match[6]: int(match[7])}
    # Short codes leave out the zeros of the size; whole numbers of metres have seven digits.
    zeros = 10 ** (len(str(size)) - len(str(size).rstrip("0")))
    unit = 1 if max(corner.values()) >= 1e6 else zeros
    return int(match[1] or _EUROPE), corner["E"] * unit + size / 2, corner["N"] * unit + size / 2


_FORMS: dict[str, Callable[[str], Any]] = {
    "degrees, minutes and seconds": _two,
    "pairs of degrees": _pair,
    "geohashes": _geohash,
    "plus codes": _plus_code,
    "squares of MGRS": _square,
    "cells of a grid": _cell,
}
