"""Make a release by a chain of methods: labels coarsened, places masked, numbers noised, gaps settled, in one go."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from reident.base import (
    DataError,
    FloatArray,
    IntArray,
    ParameterError,
    Parameters,
    check_columns,
    is_numeric,
    system_rng,
)
from reident.methods import Entry, find
from reident.methods.forms import FORMS, lacking, release, touched
from reident.methods.release import Release
from reident.places.distances import great_circle_km
from reident.places.points import read_places, write_places
from reident.tables.hierarchy import Hierarchy
from reident.tables.labels import GAP, with_gaps
from reident.tables.utility import distances_kept, neighbours_kept
from reident.workbench.files import plain_table
from reident.workbench.finishing import in_form
from reident.workbench.microdata import LAT, LON, automatic_hierarchy, has_places, located
from reident.workbench.promises import counted_guarantee

#: A table with columns changed, their names, and the release they come from.
_Part = tuple[pd.DataFrame, list[str], Release | None]

__all__ = ["MISSING", "Made", "Step", "make", "settings_of"]

#: What becomes of missing values in the columns that are protected.
MISSING = {
    "label": "a missing value is a value of its own, which a class may share",
    "wildcard": "a missing value stays missing and agrees with every value",
    "drop": "records with a missing value are left out",
    "suppress": "in records with a missing value all quasi-identifiers are suppressed",
}

#: What is done with methods for data that are no records.
_OTHER_DATA = {
    "network": "it takes relations, such as a graph or two columns of the role `node`",
}


@dataclass(frozen=True, init=False)
class Step:
    """One method of a pipeline, its checked parameters, and its columns where they are not all that fit.

    Parameters
    ----------
    method : str
        The name of a registered anonymiser.
    columns : str or sequence of str, optional
        Default: all quasi-identifiers that fit.
    **options
        Parameters of the method.

    Examples
    --------
    >>> Step("mondrian", k=5, columns=["age", "sex"]).settings["k"]
    5
    """

    entry: Entry
    settings: Mapping[str, Any]
    columns: list[str] | None = None

    def __init__(self, method: str, /, *, columns: str | Sequence[str] | None = None, **options: Any) -> None:
        entry = find(method, "anonymiser")
        object.__setattr__(self, "entry", entry)
        object.__setattr__(self, "settings", entry.check(options))
        listed = [columns] if isinstance(columns, str) else None if columns is None else list(columns)
        object.__setattr__(self, "columns", listed)

    @classmethod
    def of(cls, entry: Entry, settings: Mapping[str, Any], columns: Sequence[str] | None = None) -> Step:
        """Return a step of an entry of the registry with checked parameters."""
        step = cls.__new__(cls)
        object.__setattr__(step, "entry", entry)
        object.__setattr__(step, "settings", settings)
        object.__setattr__(step, "columns", None if columns is None else list(columns))
        return step


def settings_of(entry: Entry, values: Mapping[str, Sequence[Any]]) -> list[Parameters]:
    """Return all combinations of the values of a method's parameters, each checked."""
    return [entry.check(dict(zip(values, values_of, strict=True))) for values_of in itertools.product(*values.values())]


@dataclass
class Made:
    """The result of a chain.

    Attributes
    ----------
    table : DataFrame or GeoDataFrame
        All columns, those that were protected changed; the index tells which record of the data is which.
    changed : list of str
        The columns that a method touched.
    matrix_km : ndarray or None
        Released distances, in the order of the table; the places are not released then.
    places : {"true", "moved", "withheld"}
    done : list of dict
        One a step: what was done, in words and numbers, nothing confidential.
    steps : list of Release
    """

    table: Any
    changed: list[str] = field(default_factory=list)
    matrix_km: Any = None
    places: str = "true"
    done: list[dict[str, Any]] = field(default_factory=list)
    steps: list[Release] = field(default_factory=list)

    def kept_of_places(self, data: Any, rows: IntArray) -> tuple[float, float]:
        """Return the share of neighbours and of distances that the places of some records kept."""
        true = great_circle_km(*read_places(data.loc[self.table.index[rows]], "data"))
        if self.matrix_km is None:
            released: FloatArray = great_circle_km(*read_places(self.table.iloc[rows], "release"))
        else:
            released = self.matrix_km[np.ix_(rows, rows)]
        return neighbours_kept(true, released), distances_kept(true, released)


def make(dataset: Any, steps: Sequence[Step], *, missing: str = "label", rng: Any = None) -> Made:
    """Apply the steps of a chain one after another to a data set.

    Every draw comes from `system_rng`, unless `rng` is given (for simulations).

    Raises
    ------
    ParameterError, DataError
        If a step cannot be applied to the data or leaves no record; the message names the step.
    """
    data = plain_table(dataset.frame)
    result = Made(data.copy())
    for step in steps:
        before, earlier = len(result.table), result.table
        if step.entry.data == "places":
            details = _move(result, step, dataset, rng)
        elif step.entry.data == "table":
            details = _mask(result, step, dataset, missing, rng)
        else:
            raise ParameterError(
                f"`method` must release records, tables or places, got {step.entry.name!r}, which is for "
                f"{step.entry.data}: {_OTHER_DATA[step.entry.data]}"
            )
        if before and not len(result.table):
            raise DataError(f"`data` must keep a record, got none: {step.entry.name!r} left all {before} out")
        if "rng" in step.entry.signature and result.matrix_km is None and result.table.equals(earlier):
            raise DataError(
                f"`{step.entry.name}` must change a cell, but left all {before} records as they were: use stronger "
                "parameters"
            )
        result.done.append(
            {
                "method": step.entry.name,
                "call": step.entry.call,
                "source": step.entry.source,
                "parameters": {name: value for name, value in step.settings.items() if value is not None},
                **details,
                "records_left_out": before - len(result.table),
                "guarantee": "",
            }
        )
    for place, (step, done) in enumerate(zip(steps, result.done, strict=True)):
        later = {name for other in result.done[place + 1 :] for name in other.get("columns", ())}
        columns = _class_columns(step, done.get("columns", ()), data, dataset.epsilon_quasi)
        done["guarantee"] = counted_guarantee(
            step.entry, step.settings, columns, pd.DataFrame(result.table),
            sensitive=next(iter(dataset.fewest), None), missing=missing, later=later,
            left_out=any(other["records_left_out"] for other in result.done[place + 1 :]),
        )  # fmt: skip
    return result


def _class_columns(step: Step, columns: Sequence[str], data: Any, noisy: Sequence[str]) -> list[str]:
    """Return the columns of which a step makes classes; none for methods without classes."""
    if not (step.entry.classes or "k_quasi" in step.entry.signature):
        return []
    if "groups" in step.entry.signature:
        return [name for name in columns if is_numeric(data[name])]
    return [name for name in columns if "k_quasi" not in step.entry.signature or name not in noisy]


def _source(entry: Entry, rng: Any) -> Any:
    """Return the source of a method's draws: mechanisms of differential privacy have an exact one of their own."""
    return (None if entry.exact else system_rng()) if rng is None else rng


# -- places --------------------------------------------------------------------------------------------------------


def _move(result: Made, step: Step, dataset: Any, rng: Any) -> dict[str, Any]:
    table, entry = result.table, step.entry
    if not has_places(table):
        raise ParameterError(f"`lat` and `lon` must be given for the method {entry.name!r}: the data have no geometry")
    if result.matrix_km is not None:
        raise ParameterError(f"`chain` must not move places after releasing distances, got {entry.name!r}")
    is_located = located(table)
    table = table[is_located]
    limit = FORMS[entry.form].most_records
    if len(table) > limit:
        raise DataError(
            f"`data` must have at most {limit} records with places for {entry.name!r}, got {len(table)}: "
            "it releases the distances between all of them; a mask of the places themselves has no such limit"
        )
    household = dataset.schema.single("household")
    units = _units(table, household)
    one_each = table[~units.duplicated()]
    read = [name for name in entry.signature if name in one_each.columns]
    data = dataset.records("places", data=one_each, quasi=read, sensitive=None)
    moved = release(data, entry.name, step.settings, rng=_source(entry, rng))
    result.steps.append(moved)
    details = {"records_without_place": int((~is_located).sum())}
    if household is not None:
        details["moved_together"] = len(table) - len(one_each)
    if not moved.has_places:
        if len(one_each) < len(table):
            raise ParameterError(f"`household` must not be given for {entry.name!r}: it releases single distances")
        result.table, result.matrix_km, result.places = table, moved.matrix_km, "withheld"
        return details
    first = pd.Series(one_each.index, index=units[one_each.index])
    target = units.map(first)
    is_kept = target.isin(moved.table.index)
    places = moved.table.loc[target[is_kept], [LAT, LON]].to_numpy(np.float64)
    result.table, result.places = write_places(table[is_kept], *places.T), "moved"
    return details


def _units(table: Any, household: str | None) -> pd.Series:
    """Return a number for records that move together: several noisy copies of a household's place would average out."""
    numbers = pd.Series(np.arange(len(table)), index=table.index)
    if household is None:
        return numbers
    x, y = (table.geometry.x, table.geometry.y) if hasattr(table, "to_crs") else (table[LAT], table[LON])
    home = table[household].astype(str).where(table[household].notna(), numbers.astype(str).radd("alone "))
    keys = pd.DataFrame({"home": home, "x": x, "y": y})
    return pd.Series(keys.groupby(["home", "x", "y"], sort=False).ngroup(), index=table.index)


# -- tables --------------------------------------------------------------------------------------------------------


def _mask(result: Made, step: Step, dataset: Any, missing: str, rng: Any) -> dict[str, Any]:
    quasi = list(dict.fromkeys(step.columns or dataset.quasi))
    if not quasi:
        raise ParameterError(f"`quasi` must name the columns that {step.entry.name!r} protects, got none")
    table = pd.DataFrame(result.table)
    check_columns(table, quasi, "columns", table_name="data")
    gaps = table[quasi].isna()
    classes = {"quasi", "k_quasi"} & set(step.entry.signature)
    details: dict[str, Any] = {"columns": quasi}
    trees = {name: tree for name, tree in dataset.hierarchies.items() if name in quasi}

    def masked(rows: pd.DataFrame, columns: list[str] = quasi, trees: Mapping[str, Any] = trees) -> _Part:
        return _masked(dataset, rows, step, columns, trees, rng)

    parts: list[_Part]
    if not gaps.any(axis=None):
        parts = [masked(table)]
    elif missing == "drop":
        parts = [masked(table[~gaps.any(axis=1)])]
    elif missing == "suppress":
        blank = table[gaps.any(axis=1)].astype(dict.fromkeys(quasi, object))
        blank[quasi] = "*" if classes else None
        smallest = int(step.settings.get("k") or 1) if classes else 1
        whole = masked(table[~gaps.any(axis=1)])
        parts = [whole, (blank if len(blank) >= smallest else blank.iloc[:0], whole[1], None)]
    elif missing == "label" and (classes or step.entry.classes):
        parts = _by_pattern(table, gaps, step, trees, masked, GAP if classes else np.nan)
    else:
        filled = table.copy()
        for name in quasi:
            filled[name] = table[name].fillna(_usual(table[name]))
        cells, changed, release_of_part = masked(filled)
        for name in changed:
            whole_numbers = pd.api.types.is_integer_dtype(cells[name])
            cells[name] = (cells[name].astype("Int64") if whole_numbers else cells[name]).mask(
                gaps.loc[cells.index, name]
            )
        parts = [(cells, changed, release_of_part)]
    if gaps.any(axis=None):
        details["missing_values"] = missing
        details["cells_missing"] = {name: int(count) for name, count in gaps.sum().items() if count}
    _take(result, table, parts)
    return details


def _usual(column: pd.Series) -> Any:
    return column.mode().iloc[0] if column.notna().any() else 0


def _masked(
    dataset: Any, table: pd.DataFrame, step: Step, quasi: list[str], trees: Mapping[str, Any], rng: Any
) -> _Part:
    """Return the table with the step's columns changed, their names, and the release itself."""
    plain = table.drop(columns=[name for name in (LAT, LON) if name in table.columns])
    sensitive = next(iter(dataset.fewest), None)
    sensitive = None if sensitive in quasi else sensitive
    if sensitive is not None:
        plain[sensitive] = with_gaps(plain[sensitive])  # a missing value is a value, too
    data = dataset.records("table", data=plain, quasi=quasi, sensitive=sensitive, hierarchies=trees)
    if reason := lacking(step.entry, data):
        raise ParameterError(f"{reason} (step {step.entry.name!r})")
    result = release(data, step.entry.name, step.settings, rng=_source(step.entry, rng))
    changed = touched(step.entry, data)
    masked = table.loc[result.table.index].copy()
    for name in changed:
        masked[name] = in_form(table[name], result.table[name])
    return masked, changed, result


def classes_read(step: Step, rows: pd.DataFrame, columns: Sequence[str]) -> bool:
    """Tell whether a step has columns to make classes of: numbers, for methods that average them."""
    return "groups" not in step.entry.signature or any(is_numeric(rows[name]) for name in columns)


def _by_pattern(
    table: pd.DataFrame, gaps: pd.DataFrame, step: Step, trees: Mapping[str, Any],
    masked: Callable[[pd.DataFrame, list[str], Mapping[str, Any]], _Part], label: Any,
) -> list[_Part]:  # fmt: skip
    """Treat gaps as a value of their own: a label among categories; where numbers lack, records are classed apart."""
    table, trees = table.copy(), dict(trees)
    numeric = [name for name in gaps if pd.api.types.is_numeric_dtype(table[name]) and gaps[name].any()]
    for name in gaps:
        if name not in numeric and gaps[name].any():
            known = table[name].dropna().astype(str)  # texts, as methods take them
            table[name] = with_gaps(known.reindex(table.index))
            rows = (trees.get(name) or automatic_hierarchy(known)).to_frame()
            trees[name] = Hierarchy([*rows.to_numpy(object).tolist(), [GAP] * (rows.shape[1] - 1) + [rows.iloc[0, -1]]])
    parts: list[_Part] = []
    smallest = max(8, int(step.settings.get("k") or 1))
    for pattern, rows in table.groupby([gaps[name] for name in numeric] or [np.zeros(len(table))], sort=False):
        absent = [name for name, gone in zip(numeric, pattern, strict=False) if gone is True or gone == np.True_]
        columns = [name for name in gaps if name not in absent]
        if step.entry.classes and not classes_read(step, rows, columns):  # these records are not changed
            parts.append((rows if len(rows) >= smallest else rows.iloc[:0], [], None))
            continue
        if len(rows) < smallest or not columns:
            parts.append((rows.iloc[:0], columns, None))
            continue
        cells, changed, result = masked(rows, columns, trees)
        parts.append((cells.assign(**dict.fromkeys(absent, label)), [*changed, *absent], result))
    return parts


def _take(result: Made, before: pd.DataFrame, parts: Sequence[_Part]) -> None:
    changed = list(dict.fromkeys(name for _, names, _ in parts for name in names))
    table = pd.concat([part for part, _, _ in parts if len(part)] or [before.iloc[:0]]).sort_index()
    whole = result.table.loc[table.index].copy()
    for name in changed:
        whole[name] = table[name]
    if result.matrix_km is not None:
        rows = result.table.index.get_indexer(table.index)
        result.matrix_km = result.matrix_km[np.ix_(rows, rows)]
    result.table = whole
    result.changed = list(dict.fromkeys([*result.changed, *changed]))
    result.steps += [release_of_part for _, _, release_of_part in parts if release_of_part is not None]
