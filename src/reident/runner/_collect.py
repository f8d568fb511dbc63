"""What the runs of a batch declared as their results: one frame, one plot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from reident.base import ParameterError, check_choice
from reident.plotting import draw_lines, new_figure, save_figure
from reident.sweep.result import RESULT

__all__ = ["RESULTS", "Plot", "collect", "draw", "means"]

#: The frame over all runs, in the folder of the batch.
RESULTS = "results.parquet"

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
        y = asked.get("y", ())
        return cls(asked.get("x"), (y,) if isinstance(y, str) else tuple(y), asked.get("by"))


def collect(out: Path, records: Sequence[Mapping[str, Any]]) -> tuple[pd.DataFrame, list[str]]:
    """Return the declared results of all runs in one frame, and the parameters in which the runs differ.

    These stand before the results' own columns; a list of one value stands for that value, and a column of a result
    that has the name of such a parameter is called ``result_<name>``.
    """
    given = [name for record in records for name in record["parameters"]]
    values = {name: {json.dumps(record["parameters"].get(name)) for record in records} for name in dict.fromkeys(given)}
    varied = [name for name, told in values.items() if len(told) > 1]
    parts = []
    for record in records:
        file = out / record["name"] / RESULT
        if record["status"] == "ok" and file.is_file():
            found = pd.read_parquet(file)
            found = found.rename(columns={name: f"result_{name}" for name in varied if name in found})
            own = {name: _plain(record["parameters"].get(name)) for name in varied}
            parts.append(pd.DataFrame({"run": record["name"], **own}, index=found.index).join(found))
    return (pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()), varied


def _plain(value: Any) -> Any:
    if isinstance(value, list) and len(value) == 1:
        return _plain(value[0])
    return json.dumps(value) if isinstance(value, list | dict) else value


def means(results: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return the means of all measures for each setting of the keys."""
    measures = [
        name
        for name in results.select_dtypes(["number", "bool"])
        if name not in keys and not name.startswith(("result_", "repetition", "seed"))
    ]
    return results.groupby(list(keys), dropna=False, sort=False)[measures].mean().reset_index()


def draw(results: pd.DataFrame, varied: Sequence[str], plot: Plot, folder: Path) -> Path | None:
    """Draw the means against a parameter and return the picture; None where no parameter is a number."""
    numbers = [name for name in varied if pd.api.types.is_numeric_dtype(results[name])]
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
