"""What released cells give away beside what they say: true places, ends of intervals that are persons', the order."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from reident.base import FloatArray
from reident.places.points import LAT, LON
from reident.workbench.columns import decimals_of
from reident.workbench.row_order import told_of_order

__all__ = ["Finding", "cell_findings", "coordinates_of", "exact_ends"]

#: A coincidence this improbable is none.
_CHANCE = 1e-6
#: So many points of the grid on either side of an interval's end tell how many are values there.
_BESIDE = 10
#: From so many points on, multiples of one unit are a grid and no coincidence.
_GRID = 30
#: Points of which others are tried beside them.
_POINTS = 5000
_DAYS = re.compile(r"\d{4}-\d{2}-\d{2}")
_ENDS = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class Finding:
    """Something in a release that should not be there.

    Attributes
    ----------
    file : str
        Its name in the release.
    where : str
        The place in the file, such as ``"dictionary of column 'ill'"``.
    kind : {"hidden value", "true place", "identifier", "exact interval ends", "order", "further table"}
    columns : tuple of str
        The columns of the original whose values were found.
    n : int
        How many.
    sentence : str
        What was found, without any value.
    example : object
        One value found: for the custodian, not shown by `as_dict`.
    """

    file: str
    where: str
    kind: str
    columns: tuple[str, ...]
    n: int
    sentence: str
    example: Any = field(default=None, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Return what may stand in a report: everything but the example."""
        names = ("file", "where", "kind", "columns", "n", "sentence")
        return {name: getattr(self, name) for name in names} | {"columns": list(self.columns)}


def coordinates_of(table: Any) -> dict[str, FloatArray]:
    """Return the coordinates of a geometry: as they are, and in degrees."""
    if not hasattr(table, "to_crs") or not len(table):
        return {}
    points = table.geometry[table.geometry.notna() & ~table.geometry.is_empty]
    points = points[points.geom_type == "Point"]
    found = {"x": points.x.to_numpy(), "y": points.y.to_numpy()}
    if table.crs is not None and not table.crs.is_geographic:
        degrees = points.to_crs("EPSG:4326")
        found |= {"longitude": degrees.x.to_numpy(), "latitude": degrees.y.to_numpy()}
    return found


def cell_findings(
    file: str, original: Any, released: Any, unchanged: list[str], lat: str | None, lon: str | None
) -> list[Finding]:
    """Return what the cells of a release give away about the original; see `audit_bytes`."""
    found = _true_places(file, original, released, unchanged, lat, lon)
    before, after = pd.DataFrame(original), pd.DataFrame(released)
    for name in after.columns:
        if name in before.columns and name not in unchanged:
            found += exact_ends(file, before[name], after[name])
    if (told := told_of_order(before, after)) is not None:
        found += _found(file, "order", *told)
    return found


def _found(file: str, kind: str, columns: tuple[str, ...], n: int, told: str, example: Any = None) -> list[Finding]:
    return [Finding(file, "cells", kind, columns, n, f"{file}: {told}", example)]


# -- places ------------------------------------------------------------------------------------------------------------


def _pairs(table: Any, lat: str, lon: str, crs: Any) -> FloatArray | None:
    if hasattr(table, "to_crs"):
        points = table.geometry if crs is None or table.crs is None else table.geometry.to_crs(crs)
        points = points[points.geom_type == "Point"]
        points = points[~points.is_empty]
        return np.column_stack([points.y.to_numpy(), points.x.to_numpy()]) if len(points) else None
    if not {lat, lon} <= set(table.columns):
        return None
    numbers = table[[lat, lon]].apply(pd.to_numeric, errors="coerce").dropna()
    return numbers.to_numpy(np.float64) if len(numbers) else None


def _true_places(
    file: str, original: Any, released: Any, unchanged: list[str], lat: str | None, lon: str | None
) -> list[Finding]:
    names = (lat or LAT, lon or LON)
    if set(names) <= set(unchanged):
        return []
    crs = original.crs if hasattr(original, "to_crs") else None
    true, shown = _pairs(original, *names, crs), _pairs(released, *names, crs)
    if true is None or shown is None:
        return []
    digits = [min(12, _digits(true[:, j]), _digits(shown[:, j])) for j in (0, 1)]
    scale = 10.0 ** np.array(digits)
    mine, theirs = np.rint(true * scale), np.rint(shown * scale)
    known = set(map(tuple, mine.tolist()))
    hits = [tuple(row) for row in theirs.tolist() if tuple(row) in known]
    points = np.unique(theirs, axis=0)  # a grid's point that many records share is one coincidence
    found = sum(tuple(row) in known for row in points.tolist())
    expected = _by_chance(known, mine, points)
    if found <= expected + 5 * np.sqrt(expected) + (0 if expected < 1e-3 else 3):
        return []
    told = f"{len(hits)} of {len(shown)} released places are exactly the true place of a person"
    return _found(file, "true place", names, len(hits), told, tuple(np.array(hits[0]) / scale))


def _by_chance(known: set[tuple[float, ...]], mine: FloatArray, points: FloatArray) -> float:
    """Return how many points would meet known ones by chance.

    Anywhere; a little beside where they are, since persons live close together; and on a grid that the release shows,
    where each point stands for somebody around it, who may be there.
    """
    distinct = np.unique(mine, axis=0)
    units = _units(distinct)
    cells = float(np.prod(np.ptp(mine, axis=0) / units + 1))
    some = points[:: max(1, len(points) // _POINTS)]
    moves = [units * (i, j) for i in range(-2, 3) for j in range(-2, 3) if i or j]
    beside = [np.mean([tuple(row) in known for row in (some + move).tolist()]) for move in moves]
    around = float(np.prod(_units(points) / units))
    grid = 1 / around if around > 1 and len(points) >= _GRID else 0.0
    return len(points) * (max(len(distinct) / cells, float(np.mean(beside))) + grid)


def _units(points: FloatArray) -> FloatArray:
    """Return of each axis what all differences are multiples of."""
    return np.array([float(np.gcd.reduce(np.diff(np.unique(axis)).astype(np.int64))) or 1.0 for axis in points.T])


def _digits(values: FloatArray) -> int:
    digits = decimals_of(pd.Series(values))
    return 12 if digits is None else digits


# -- interval ends -----------------------------------------------------------------------------------------------------


def exact_ends(file: str, before: pd.Series, after: pd.Series) -> list[Finding]:
    """Find labels of intervals or sets whose numbers are persons' values more often than points of their grid are."""
    if pd.api.types.is_bool_dtype(before) or pd.api.types.is_numeric_dtype(after):
        return []
    from scipy.stats import binom

    labels = [str(label) for label in pd.unique(after.dropna()) if str(label)[:1] in "[({<>≥≤"]
    if pd.api.types.is_datetime64_any_dtype(before):
        dates = pd.to_datetime(pd.Series(list({day for label in labels for day in _DAYS.findall(label)}), dtype=str))
        exact, ends, scale = _days(before.dropna()), np.sort(_days(dates)), 1.0
    elif pd.api.types.is_numeric_dtype(before):
        written = [label.replace("-", " ") if before.min() >= 0 else label for label in labels]
        texts = {end for label in written for end in _ENDS.findall(label)}
        scale = 10.0 ** min(max((len(text.partition(".")[2]) for text in texts), default=0), 12)
        ends = np.unique(np.rint(np.array(list(texts), np.float64) * scale))
        exact = before.dropna().to_numpy(np.float64)
    else:
        return []
    if len(ends) < 3:
        return []
    values = np.unique(np.rint(exact[np.isclose(np.rint(exact * scale) / scale, exact, rtol=1e-12, atol=0)] * scale))
    if not len(values):
        return []
    step = float(np.gcd.reduce(ends.astype(np.int64))) or 1.0
    hits = int(np.isin(ends, values).sum())
    if hits < 3 or binom.sf(hits - 1, len(ends), _met_by_chance(ends / step, values / step)) > _CHANCE:
        return []
    told = f"{hits} of {len(ends)} interval ends in {before.name!r} are values of persons"
    shown: Any = float(ends[np.isin(ends, values)][0] / scale)
    if pd.api.types.is_datetime64_any_dtype(before):
        shown = f"{pd.Timestamp(0) + pd.Timedelta(days=shown):%Y-%m-%d}"
    return _found(file, "exact interval ends", (str(before.name),), hits, told, shown)


def _met_by_chance(ends: FloatArray, values: FloatArray) -> float:
    """Return the share of the whole numbers beside the ends, in the range of the values, that are values.

    Far from the rest, such as codes of missing values, nothing is told of what lies between.
    """
    lattice = values[values == np.floor(values)]
    low = np.maximum(ends - _BESIDE, np.ceil(values[0]))
    high = np.minimum(ends + _BESIDE, np.floor(values[-1]))
    within = (low <= ends) & (ends <= high)
    there = np.maximum(high - low + 1, 0) - within
    met = np.searchsorted(lattice, high, side="right") - np.searchsorted(lattice, low) - np.isin(ends, lattice)
    return float(np.where(there > 0, met / np.maximum(there, 1), within).mean())


def _days(dates: pd.Series) -> FloatArray:
    """Return dates as days since 1970."""
    return np.asarray((dates - pd.Timestamp(0)) // pd.Timedelta(days=1), dtype=np.float64)
