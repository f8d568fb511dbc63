"""What the runs of a batch declared as their results: one frame, one plot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident.base import ParameterError, check_choice
from reident.experiments.results import RESULT
from reident.plotting import draw_lines, new_figure, save_figure

__all__ = ["PICTURES", "RESULTS", "Plot", "collect", "draw", "means"]

#: The frame over all runs, in the folder of the batch.
RESULTS = "results.parquet"

#: Its plot.
PICTURES = ("results.svg", "results.png")

_PANELS = 4


@dataclass(frozen=True)
class Plot:
    """What the plot shows: means of the columns `y` against `x`, a line for each value of `by`."""

    x: str | None = None
    y: tuple[str, ...] = ()
    by: str | None = None

    @classmethod
    def read(cls, asked: Any) -> Plot:
        """Return what a sweep's file asks for under `plot`."""
        if not isinstance(asked, Mapping) or not set(asked) <= {"x", "y", "by"}:
            raise ParameterError(f"`plot` must give x, y and by, each a column or y a list of columns, got {asked!r}")
        y = asked.get("y") or []
        y = y if isinstance(y, list) else [y]
        x, by = asked.get("x"), asked.get("by")
        for name, one in (("x", x), ("by", by), *(("y", one) for one in y)):
            if not (isinstance(one, str) or (one is None and name != "y")):
                raise ParameterError(f"`plot: {name}` must name a column, got {one!r}")
        if x is not None and x in (by, *y):
            raise ParameterError(f"`plot` must give x a column of its own, got {x!r} twice")
        return cls(x, tuple(y), by)


def collect(out: Path, records: Sequence[Mapping[str, Any]]) -> tuple[pd.DataFrame, list[str]]:
    """Return the declared results of all runs in one frame, and the parameters in which the runs differ.

    These stand before the results' own columns; where every list has one value, it stands for the list, and where
    values are of several kinds, all are texts. A column of a result that has the name of such a parameter is called
    ``result_<name>``.
    """
    given = [name for record in records for name in record["parameters"]]
    values = {name: {json.dumps(record["parameters"].get(name)) for record in records} for name in dict.fromkeys(given)}
    varied = [name for name, told in values.items() if len(told) > 1]
    columns = {name: _column([record["parameters"].get(name) for record in records]) for name in varied}
    parts = []
    for position, record in enumerate(records):
        file = out / record["name"] / RESULT
        if record["status"] == "ok" and file.is_file():
            found = pd.read_parquet(file)
            found = found.rename(columns={name: f"result_{name}" for name in ("run", *varied) if name in found})
            own = {name: column[position] for name, column in columns.items()}
            parts.append(pd.DataFrame({"run": record["name"], **own}, index=found.index).join(found))
    if not parts:
        return pd.DataFrame(), varied
    results = pd.concat(parts, ignore_index=True)
    for name in results:
        if results[name].dtype == object:
            results[name] = pd.Series(_one_form(results[name].tolist()))
    return results, varied


def _column(values: list[Any]) -> list[Any]:
    """Return the values of a parameter over all runs: lists stand for their values where each has one, else as text."""
    while any(isinstance(value, list) for value in values) and all(
        not isinstance(value, list) or len(value) == 1 for value in values
    ):
        values = [value[0] if isinstance(value, list) else value for value in values]
    return _one_form([json.dumps(value) if isinstance(value, list | dict) else value for value in values])


def _one_form(values: list[Any]) -> list[Any]:
    """Return values as they are where all are of one kind, None beside it, else as texts: a file holds one kind."""
    kinds = {_kind(value) for value in values} - {None}
    if len(kinds) < 2:
        return values
    return [value if _kind(value) in (str, None) else str(value) for value in values]


def _kind(value: Any) -> type | None:
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, bool | np.bool_):
        return bool
    return float if isinstance(value, int | float | np.number) else type(value)


def means(results: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return the means of all measures for each setting of the keys, over all rows for no key."""
    measures = [
        name
        for name in results.select_dtypes(["number", "bool"])
        if name not in keys and not name.startswith(("result_", "repetition", "seed"))
    ]
    if not keys:
        return results[measures].mean().to_frame().T
    return results.groupby(list(keys), dropna=False, sort=False)[measures].mean().reset_index()


def draw(results: pd.DataFrame, varied: Sequence[str], plot: Plot, folder: Path) -> Path | None:
    """Draw the means against a parameter and return the picture; None where no parameter is a number."""
    numbers = [name for name in varied if name != plot.by and pd.api.types.is_numeric_dtype(results[name])]
    columns = list(results.columns)
    x = check_choice(plot.x, "plot: x", columns) if plot.x else (numbers[0] if numbers else None)
    if x is None:
        return None
    others = [name for name in varied if name not in (x, "seed")]
    by = check_choice(plot.by, "plot: by", columns) if plot.by else (others[0] if others else None)
    shown = means(results, [x, by] if by else [x]).sort_values(x)
    bounds = ("_low", "_high", "_published", "_se")
    own = [name for name in shown.columns if name not in (x, by) and not name.endswith(bounds)]
    y = [check_choice(name, "plot: y", own) for name in plot.y] or own[:_PANELS]
    if not y:
        return None
    figure, axes = new_figure(1, len(y), size=(3.6 * len(y), 3.4), squeeze=False)
    for ax, measure in zip(axes[0], y, strict=True):
        lines = shown.pivot_table(measure, x, by, sort=False) if by else shown.set_index(x)[[measure]]
        draw_lines(ax, lines.index, {str(name): lines[name] for name in lines})
        ax.set(xlabel=x, title=measure.replace("_", " "))
    if by:
        figure.legend(*axes[0, 0].get_legend_handles_labels(), title=by, loc="outside right center")
    return save_figure(figure, "results", folder)[1]
