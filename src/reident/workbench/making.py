"""Apply a chain of methods to a data set: tables, places and numbers, with a policy for missing values."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from reident.base import (
    DataError,
    IntArray,
    Options,
    ParameterError,
    Row,
    check_columns,
    check_several,
    is_numeric,
    system_rng,
)
from reident.methods import Entry, find
from reident.methods.forms import FORMS, guarantee, lacking, release, touched
from reident.methods.release import own_numbers
from reident.places.distances import great_circle_km
from reident.places.points import read_places, write_places
from reident.tables.hierarchy import Hierarchy
from reident.tables.labels import GAP, with_gaps
from reident.tables.utility import distances_kept, neighbours_kept
from reident.workbench.composition import counted_guarantee
from reident.workbench.files import plain_table
from reident.workbench.finishing import in_form
from reident.workbench.microdata import LAT, LON, automatic_hierarchy, has_places, located

#: What becomes of missing values in the columns that are protected.
MISSING = {
    "label": "a missing value is a value of its own, which a class may share",
    "wildcard": "a missing value stays missing and agrees with every value",
    "drop": "records with a missing value are left out",
    "suppress": "in records with a missing value all quasi-identifiers are suppressed",
}
#: A table with columns changed, and their names.
_Part = tuple[pd.DataFrame, list[str]]


@dataclass(init=False)
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
    settings: Options
    columns: list[str] | None

    def __init__(self, method: str, /, *, columns: str | Sequence[str] | None = None, **options: Any) -> None:
        self.entry = find(method, "anonymiser")
        self.settings = self.entry.check(options)
        self.columns = None if columns is None else check_several(columns, "columns")

    @classmethod
    def of(cls, listed: Options) -> Step:
        """Return a step from its entry in a recipe: ``method``, and where wanted ``columns`` and ``parameters``."""
        return cls(listed["method"], columns=listed.get("columns") or None, **(listed.get("parameters") or {}))

    @property
    def stated(self) -> Row:
        """The parameters that have a value."""
        return {name: value for name, value in self.settings.items() if value is not None}

    @property
    def described(self) -> Row:
        """The step as a manifest describes it."""
        entry = self.entry
        return {"method": entry.name, "call": entry.call, "source": entry.source, "parameters": self.stated}

    @property
    def listed(self) -> Row:
        """The step as a recipe writes it."""
        columns = {} if self.columns is None else {"columns": list(self.columns)}
        return {"method": self.entry.name, **columns, "parameters": json.loads(json.dumps(self.stated))}


def steps_of(stated: Options) -> list[Step]:
    """Return the steps of an entry of a recipe, one for each combination of its parameters' values."""
    values = {
        name: v if isinstance(v, list | tuple | range) else [v] for name, v in (stated.get("parameters") or {}).items()
    }
    every = (dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values()))
    return [Step.of({**stated, "parameters": settings}) for settings in every]


@dataclass
class Made:
    """The result of a chain.

    ``table``: all columns, the index holds the record numbers; ``changed``: the columns that a method changed;
    ``matrix_km``: released distances, in the order of the table, then ``places`` are "withheld", else "true" or
    "moved"; ``network``: released relations between the records of the table; ``done``: one entry a step for the
    manifest.
    """

    table: Any
    changed: list[str] = field(default_factory=list)
    matrix_km: Any = None
    places: str = "true"
    network: Any = None
    done: list[Row] = field(default_factory=list)

    def kept_of_places(self, data: Any, rows: IntArray) -> tuple[float, float]:
        """Return the share of neighbours and of distances that the places of some records kept."""
        true = great_circle_km(*read_places(data.loc[self.table.index[rows]], "data"))
        if self.matrix_km is None:
            released = great_circle_km(*read_places(self.table.iloc[rows], "release"))
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
    if dataset.named_network is not None and not len(dataset.data.columns):
        return _relate(dataset, steps, rng)
    data = plain_table(dataset.frame)
    result = Made(data.copy())
    for step in steps:
        entry, before = step.entry, result.table
        if entry.data not in ("table", "places"):
            raise ParameterError(
                f"`method` must release records, tables or places, got {entry.name!r}, which is for {entry.data}: it "
                "takes relations, such as a graph or two columns of the role `node`"
            )
        details = (
            _move(result, step, dataset, rng) if entry.data == "places" else _mask(result, step, dataset, missing, rng)
        )
        if len(before) and not len(result.table):
            raise DataError(f"`data` must keep a record, got none: {entry.name!r} left all {len(before)} out")
        if "rng" in entry.signature and result.matrix_km is None and result.table.equals(before):
            raise DataError(
                f"`{entry.name}` must change a cell, but left all {len(before)} records as they were: use stronger "
                "parameters"
            )
        absent = len(before) - len(result.table)
        result.done.append(step.described | details | {"records_left_out": absent, "guarantee": ""})
    for number, (step, done) in enumerate(zip(steps, result.done, strict=True), start=1):
        later = result.done[number:]
        done["guarantee"] = counted_guarantee(
            step.entry, step.settings, _class_columns(step, done.get("columns", ()), data, dataset.epsilon_quasi),
            result.table, sensitive=dataset.first_sensitive, missing=missing,
            later={name for other in later for name in other.get("columns", ())},
            left_out=any(other["records_left_out"] for other in later),
        )  # fmt: skip
    return result


def _relate(dataset: Any, steps: Sequence[Step], rng: Any) -> Made:
    """Apply the one step that a network may have."""
    if len(steps) != 1 or steps[0].entry.data != "network":
        named = [step.entry.name for step in steps]
        raise ParameterError(f"`steps` must be one method for networks, where the data are a network, got {named}")
    entry, settings = steps[0].entry, steps[0].settings
    drawn = release(dataset.records("network"), entry.name, settings, rng=_source(entry, rng))
    rows = dataset.names.get_indexer(drawn.table.index)
    done = {**steps[0].described, "guarantee": guarantee(entry, settings)}
    return Made(pd.DataFrame(index=rows), network=drawn.network, done=[done])


def _class_columns(step: Step, columns: Sequence[str], data: Any, noisy: Sequence[str]) -> list[str]:
    """Return the columns of which a step makes classes; none for methods without classes."""
    signature = step.entry.signature
    if "groups" in signature and step.entry.classes:
        return [name for name in columns if is_numeric(data[name])]
    if "k_quasi" in signature:
        return [name for name in columns if name not in noisy]
    return list(columns) if step.entry.classes else []


def _source(entry: Entry, rng: Any) -> Any:
    """Return the source of a method's draws: mechanisms of differential privacy have an exact one of their own."""
    return (None if entry.exact else system_rng()) if rng is None else rng


# -- places --------------------------------------------------------------------------------------------------------


def _move(result: Made, step: Step, dataset: Any, rng: Any) -> Row:
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
    home = np.arange(len(table)) if household is None else own_numbers(table[household])
    # Records that move together: several noisy copies of a household's place would average out.
    units = table.groupby([*read_places(table, "data"), home], sort=False).ngroup()
    one_each = table[~units.duplicated()]
    read = [name for name in entry.signature if name in one_each.columns]
    moved = release(
        dataset.records("places", data=one_each, quasi=read, sensitive=None), entry.name, step.settings,
        rng=_source(entry, rng),
    )  # fmt: skip
    details = {"records_without_place": int((~is_located).sum())}
    if household is not None:
        details["moved_together"] = len(table) - len(one_each)
    if not moved.has_places:
        if len(one_each) < len(table):
            raise ParameterError(f"`household` must not be given for {entry.name!r}: it releases single distances")
        result.table, result.matrix_km, result.places = table, moved.matrix_km, "withheld"
        return details
    target = units.map(pd.Series(one_each.index, index=units[one_each.index]))
    is_kept = target.isin(moved.table.index)
    places = moved.table.loc[target[is_kept], [LAT, LON]].to_numpy(float)
    result.table, result.places = write_places(table[is_kept], *places.T), "moved"
    return details


# -- tables --------------------------------------------------------------------------------------------------------


def _mask(result: Made, step: Step, dataset: Any, missing: str, rng: Any) -> Row:
    quasi = list(dict.fromkeys(step.columns or dataset.quasi))
    if not quasi:
        raise ParameterError(f"`quasi` must name the columns that {step.entry.name!r} protects, got none")
    table = pd.DataFrame(result.table)
    gaps = table[check_columns(table, quasi, "columns", table_name="data")].isna()
    has_gap = gaps.any(axis=1)
    classes = {"quasi", "k_quasi"} & set(step.entry.signature)
    all_trees = {name: tree for name, tree in dataset.hierarchies.items() if name in quasi}

    def masked(rows: pd.DataFrame, columns: list[str] = quasi, trees: Mapping[str, Any] = all_trees) -> _Part:
        """Return records with the step's columns changed, and their names."""
        plain = rows.drop(columns=[name for name in (LAT, LON) if name in rows.columns])
        sensitive = None if dataset.first_sensitive in columns else dataset.first_sensitive
        if sensitive is not None:
            plain[sensitive] = with_gaps(plain[sensitive])  # a missing value is a value, too
        data = dataset.records("table", data=plain, quasi=columns, sensitive=sensitive, hierarchies=trees)
        if reason := lacking(step.entry, data):
            raise ParameterError(f"{reason} (step {step.entry.name!r})")
        made = release(data, step.entry.name, step.settings, rng=_source(step.entry, rng))
        changed, cells = touched(step.entry, data), rows.loc[made.table.index].copy()
        for name in changed:
            cells[name] = in_form(rows[name], made.table[name])
        return cells, changed

    if missing == "drop" or not has_gap.any():
        parts = [masked(table[~has_gap])]
    elif missing == "suppress":
        blank = table[has_gap].astype(dict.fromkeys(quasi, object))
        blank[quasi] = "*" if classes else None
        smallest = int(step.settings.get("k") or 1) if classes else 1
        whole = masked(table[~has_gap])
        parts = [whole, (blank if len(blank) >= smallest else blank.iloc[:0], whole[1])]
    elif missing == "label" and (classes or step.entry.classes):
        parts = _by_pattern(table, gaps, step, all_trees, masked, GAP if classes else np.nan)
    else:
        usual = {name: table[name].mode().iloc[0] if table[name].notna().any() else 0 for name in quasi}
        cells, changed = masked(table.fillna(usual))
        for name in changed:
            whole_numbers = pd.api.types.is_integer_dtype(cells[name])
            column = cells[name].astype("Int64") if whole_numbers else cells[name]
            cells[name] = column.mask(gaps.loc[cells.index, name])
        parts = [(cells, changed)]
    _take(result, table, parts)
    if not has_gap.any():
        return {"columns": quasi}
    counts = {name: int(count) for name, count in gaps.sum().items() if count}
    return {"columns": quasi, "missing_values": missing, "cells_missing": counts}


def _by_pattern(
    table: pd.DataFrame, gaps: pd.DataFrame, step: Step, trees: Mapping[str, Any],
    masked: Callable[[pd.DataFrame, list[str], Mapping[str, Any]], _Part], label: Any,
) -> list[_Part]:  # fmt: skip
    """Treat gaps as a value of their own: a label among categories; records that lack numbers are classed apart."""
    table, trees = table.copy(), dict(trees)
    with_some = [name for name in gaps if gaps[name].any()]
    numeric = [name for name in with_some if pd.api.types.is_numeric_dtype(table[name])]
    for name in set(with_some) - set(numeric):
        known = table[name].dropna().astype(str)  # texts, as methods take them
        table[name] = with_gaps(known.reindex(table.index))
        rows = (trees.get(name) or automatic_hierarchy(known)).to_frame()
        trees[name] = Hierarchy([*rows.to_numpy(object).tolist(), [GAP] * (rows.shape[1] - 1) + [rows.iloc[0, -1]]])
    parts: list[_Part] = []
    smallest, averages = max(8, int(step.settings.get("k") or 1)), "groups" in step.entry.signature
    for pattern, rows in table.groupby([gaps[name] for name in numeric] or [np.zeros(len(table))], sort=False):
        absent = [name for name, is_gap in zip(numeric, pattern, strict=False) if is_gap]
        columns = [name for name in gaps if name not in absent]
        few = len(rows) < smallest
        if step.entry.classes and averages and not any(is_numeric(rows[name]) for name in columns):
            parts.append((rows.iloc[:0] if few else rows, []))  # no column to average: not changed
        elif few or not columns:
            parts.append((rows.iloc[:0], columns))
        else:
            cells, changed = masked(rows, columns, trees)
            parts.append((cells.assign(**dict.fromkeys(absent, label)), [*changed, *absent]))
    return parts


def _take(result: Made, before: pd.DataFrame, parts: Sequence[_Part]) -> None:
    """Put the parts of a table together, in the order of the records."""
    changed = list(dict.fromkeys(name for _, names in parts for name in names))
    table = pd.concat([part for part, _ in parts if len(part)] or [before.iloc[:0]]).sort_index()
    whole = result.table.loc[table.index].copy()
    for name in changed:
        whole[name] = table[name]
    if result.matrix_km is not None:
        rows = result.table.index.get_indexer(table.index)
        result.matrix_km = result.matrix_km[np.ix_(rows, rows)]
    result.table = whole
    result.changed = list(dict.fromkeys([*result.changed, *changed]))
