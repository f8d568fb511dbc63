"""Collect the results that the runs of a batch declared: one frame, one plot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from reident.base import ParameterError, check_choice, check_text
from reident.experiments.results import RESULT
from reident.plotting import COLOURS, LINES, MARKERS, new_figure, save_figure

#: The frame over all runs, in the folder of the batch.
RESULTS = "results.parquet"

#: Its plot.
PICTURES = ("results.svg", "results.png")

_PANELS = 4


def read_plot(entry: Any) -> dict[str, Any]:
    """Return the entry ``plot`` of a batch's file: means of the columns `y` against `x`, a line a value of `by`."""
    if not isinstance(entry, Mapping) or not set(entry) <= {"x", "y", "by"}:
        raise ParameterError(f"`plot` must give x, y and by, each a column or y a list of columns, got {entry!r}")
    plot: dict[str, Any] = {"x": None, "y": [], "by": None} | dict(entry)
    if not isinstance(plot["y"], list):
        plot["y"] = [plot["y"]]
    for name in ("x", "by"):
        check_text(plot[name], f"plot: {name}")
    for column in plot["y"]:
        check_text(column, "plot: y", optional=False)
    if plot["x"] is not None and plot["x"] in (plot["by"], *plot["y"]):
        raise ParameterError(f"`plot` must give x a column of its own, got {plot['x']!r} twice")
    return plot


def collect(out: Path, records: Sequence[Mapping[str, Any]]) -> tuple[pd.DataFrame, list[str]]:
    """Return the declared results of all runs in one frame, and the parameters in which the runs differ.

    These come before the results' own columns. A list of one value is written as the value. A column of a result
    with the name of such a parameter is called ``result_<name>``. Values of several kinds become texts.
    """
    settings = pd.DataFrame([record["parameters"] for record in records], dtype=object)
    varied = [name for name in settings if len({*settings[name].map(json.dumps)}) > 1]
    parts = []
    for record in records:
        file = out / record["name"] / RESULT
        if record["status"] == "ok" and file.is_file():
            result = pd.read_parquet(file).rename(columns={name: f"result_{name}" for name in ("run", *varied)})
            setting = {name: [record["parameters"].get(name)] * len(result) for name in varied}
            parts.append(pd.DataFrame({"run": record["name"]} | setting, result.index, dtype=object).join(result))
    if not parts:
        return pd.DataFrame(), varied
    results = pd.concat(parts, ignore_index=True)
    for name in varied:
        results[name] = _scalars(results[name])
    for name in results.columns[results.dtypes == "object"]:  # a file stores one kind of values a column
        kinds = {*results[name].dropna().map(type)}
        if len(kinds) > 1 and kinds != {int, float}:
            results[name] = results[name].map(str, na_action="ignore")
    return results.infer_objects(), varied


def _scalars(column: pd.Series) -> pd.Series:
    """Return a column without lists: single values where each list has one, else JSON."""
    lists = [value for value in column if isinstance(value, list)]
    if lists and all(len(value) == 1 for value in lists):
        return _scalars(column.map(lambda value: value[0] if isinstance(value, list) else value))
    return column.map(lambda value: json.dumps(value) if isinstance(value, list | dict) else value)


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


def draw(results: pd.DataFrame, varied: Sequence[str], plot: Mapping[str, Any], folder: Path) -> Path | None:
    """Draw the means against a parameter and return the picture; None where no parameter is a number."""
    numbers = [name for name in varied if name != plot["by"] and pd.api.types.is_numeric_dtype(results[name])]
    columns = list(results.columns)
    x = check_choice(plot["x"], "plot: x", columns) if plot["x"] else next(iter(numbers), None)
    if x is None:
        return None
    others = (name for name in varied if name not in (x, "seed"))
    by = check_choice(plot["by"], "plot: by", columns) if plot["by"] else next(others, None)
    values = means(results, [x, by] if by else [x]).sort_values(x)
    bounds = ("_low", "_high", "_published", "_se")
    measures = [name for name in values.columns if name not in (x, by) and not name.endswith(bounds)]
    y = [check_choice(name, "plot: y", measures) for name in plot["y"]] or measures[:_PANELS]
    if not y:
        return None
    figure, axes = new_figure(1, len(y), size=(3.6 * len(y), 3.4), squeeze=False)
    for ax, measure in zip(axes[0], y, strict=True):
        lines = values.pivot_table(measure, x, by, sort=False) if by else values.set_index(x)[[measure]]
        ax.set_prop_cycle(color=COLOURS, marker=MARKERS, linestyle=LINES)
        ax.plot(lines.index, lines, label=[*map(str, lines)], markersize=4, linewidth=1.2)
        ax.set(xlabel=x, title=measure.replace("_", " "))
    if by:
        figure.legend(*axes[0, 0].get_legend_handles_labels(), title=by, loc="outside right center")
    return save_figure(figure, "results", folder)[1]
