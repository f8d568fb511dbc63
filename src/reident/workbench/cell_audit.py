"""What released cells give away beside what they say: true places, ends of intervals that are persons', the order."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from reident.base import FloatArray, IntArray, is_numeric
from reident.places.points import LAT, LON
from reident.tables.agreement import compare_columns
from reident.tables.classes import class_ids
from reident.tables.labels import texts_of
from reident.workbench.columns import decimals_of

__all__ = ["Finding", "cell_findings", "coordinates_of", "exact_ends"]

#: A coincidence this improbable is none.
_CHANCE = 1e-6
#: So many points of the grid on either side of an interval's end tell how many are values there.
_BESIDE = 10
#: From so many points on, multiples of one unit are a grid and no coincidence.
_GRID = 30
#: Rows from which the order is told, and points of which others are tried beside them.
_ROWS = 5000
#: The fewest rows that tell an order, turns of them to compare it with, and spreads beyond which it is none by chance.
_FEWEST, _TURNS, _SPREADS = 30, 40, 6
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
    return found + _order(file, before, after)


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
    some = points[:: max(1, len(points) // _ROWS)]
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


# -- order -------------------------------------------------------------------------------------------------------------


def _order(file: str, before: pd.DataFrame, after: pd.DataFrame) -> list[Finding]:
    """Find rows in the original's order: those that can be told rise, or row by row the files agree beyond chance.

    Rows that are sorted by what they say themselves tell nothing by that; those that are tied there may.
    """
    after = after.loc[:, [kind.name != "geometry" for kind in after.dtypes]]
    common = [name for name in after.columns if name in before.columns]
    few = slice(None, None, max(1, len(after) // _ROWS))  # every second or third row tells the order as well
    tied = _tied(after)[few]
    if len(tied) < _FEWEST or tied[0] == tied[-1] == -1:
        return []
    same = [name for name in common if before[name].dtype == after[name].dtype]
    rows = _positions(before, after.iloc[few], same)
    told = np.flatnonzero(np.isfinite(rows))
    steps = np.diff(rows[told])[np.diff(tied[told]) == 0]
    steps = steps[steps != 0]
    rising = float((steps > 0).mean()) if len(steps) >= _FEWEST else 0.5
    # In a random order each step rises or falls alike; neighbouring steps are dependent, which narrows the spread.
    if abs(rising - 0.5) * np.sqrt(12 * len(steps)) >= _SPREADS:
        found = f"{rising:.0%} of the steps between rows that can be told rise"
    elif len(before) == len(after) and _aligned(before.iloc[few], after.iloc[few], common, tied):
        found = "row by row they agree with it beyond chance"
    else:
        return []
    told_so = f"the rows stand in the original's order, shuffle them: {found}"
    return _found(file, "order", tuple(map(str, common)), len(tied), told_so)


def _tied(table: pd.DataFrame) -> IntArray:
    """Return the numbers of rows that are tied in the columns by which a table is sorted; -1 where none are left.

    One group for a table that is not sorted.
    """
    codes = [column for name in table for column in _sortings(table[name])]
    tied, sorting = np.zeros(len(table), dtype=np.int64), True
    while sorting:
        sorting = False
        for column in codes:
            steps = np.diff(column)[np.diff(tied) == 0]
            if steps.any() and ((steps >= 0).all() or (steps <= 0).all()):
                tied = np.concatenate([[0], np.cumsum((np.diff(tied) != 0) | (np.diff(column) != 0))])
                sorting = True
    same = [np.diff(column)[np.diff(tied) == 0] for column in codes]
    return tied if any(steps.any() for steps in same) else np.full(len(table), -1)


def _sortings(column: pd.Series) -> list[IntArray]:
    """Return the codes of a column as it may be sorted: by the values, and by their texts."""
    texts = pd.factorize(texts_of(column).fillna(""), sort=True)[0].astype(np.int64)
    if not pd.api.types.is_numeric_dtype(column):
        return [texts]
    return [pd.factorize(column, sort=True, use_na_sentinel=False)[0].astype(np.int64), texts]


def _aligned(before: pd.DataFrame, after: pd.DataFrame, common: list[Any], tied: IntArray) -> bool:
    """Tell whether rows at the same place agree more than after each turn of the rows that are tied."""
    rows = np.arange(len(after))
    first, size = np.searchsorted(tied, tied), np.bincount(tied)[tied]
    shifts: list[IntArray] = [0 * size, *(1 + turn * (size - 1) // _TURNS for turn in range(_TURNS))]
    turned = [(first + (rows - first + shift) % size)[size > 1] for shift in shifts]
    rows = rows[size > 1]
    if len(rows) < _FEWEST:
        return False
    before, after = (table.reset_index(drop=True) for table in (before, after))
    for name in common:
        if all(is_numeric(table[name]) for table in (before, after)):
            mine, theirs = (table[name].rank().fillna(0).to_numpy(float) for table in (before, after))
            agree = np.array([-np.abs(mine[rows] - theirs[order]) for order in turned])
        else:
            column = compare_columns(before, after, [name])[name]
            agree = np.array([column.agree(rows, order) for order in turned], float)
        own, others = float(agree[0].mean()), agree[1:].mean(axis=1)
        spread = max(float(others.std()), float(agree[1:].std()) / len(rows) ** 0.5)
        if own > others.mean() + _SPREADS * spread + 1e-9:
            return True
    return False


def _positions(before: pd.DataFrame, after: pd.DataFrame, common: list[Any]) -> np.ndarray:
    """Return the original's position of each released row, NaN if the columns that were not changed tell none."""
    same = [
        name for name in common
        if not isinstance(before[name].iloc[:1].tolist()[0] if len(before) else None, list)
        and after[name].isin(before[name]).mean() > 0.99
    ]  # fmt: skip
    if not same:
        return np.full(len(after), np.nan)
    codes = [pd.factorize(pd.concat([before[name], after[name]]), use_na_sentinel=False)[0] for name in same]
    both = class_ids(codes)[0]
    place = pd.Series(np.arange(len(before)), index=both[: len(before)])
    return place[~place.index.duplicated(keep=False)].reindex(both[len(before) :]).to_numpy(np.float64)
