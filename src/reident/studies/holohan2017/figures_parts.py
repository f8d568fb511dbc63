"""What the figures of the study holohan2017 are put together from."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reident.plotting import LINES, MARKERS, new_figure
from reident.plotting._style import PAGE_INCH, handles_of, ordered_colours
from reident.studies.captions import rests_on
from reident.studies.comparison import DRAWN, PUBLIC
from reident.studies.study import Results

__all__ = [
    "METHODS",
    "NOT_DP",
    "TITLES",
    "add_legend",
    "adult_alone",
    "axes_of_row",
    "draw_means",
    "draw_panels",
    "draw_print",
    "printed_of",
    "rests",
    "scale_x",
    "summary_of",
    "write_head",
]

TITLES = {
    "adult": ("Adult", "height simulated"),
    "florida": ("Florida", "list and height simulated"),
    "michigan": ("Michigan", "list and weight simulated"),
}
METHODS = {"ola": "OLA", "mondrian": "Mondrian"}
NOT_DP = "noise scaled to the range of each class, which comes from the data: not differentially private"

#: Letters of 7 points that a figure of a page's width has room for.
_CHARS = 124


def draw_panels(
    frame: pd.DataFrame, *, heading: str, measure: str, share_y: str | bool = "row", tall: float = 1.75
) -> tuple[Figure, Iterator[tuple[Axes, str, str, pd.DataFrame]]]:
    """Return a figure with one panel a method (rows) and data set (columns), and what belongs into each."""
    methods = [method for method in METHODS if (frame["method"] == method).any()]
    datasets = [dataset for dataset in TITLES if (frame["dataset"] == dataset).any()]
    figure, axes = new_figure(
        len(methods),
        len(datasets),
        size=(PAGE_INCH, tall * len(methods) + 1.1),
        sharex=True,
        sharey=share_y,
        squeeze=False,
    )
    write_head(figure, heading)

    def walk() -> Iterator[tuple[Axes, str, str, pd.DataFrame]]:
        for row, method in enumerate(methods):
            for column, dataset in enumerate(datasets):
                ax = axes[row, column]
                if row == 0:
                    ax.set_title("\n".join(TITLES[dataset]))
                if column == 0:
                    ax.set_ylabel(f"{METHODS[method]}\n{measure}")
                own = frame[(frame["method"] == method) & (frame["dataset"] == dataset)]
                yield ax, method, dataset, own
                if row < len(methods) - 1:
                    ax.set_xlabel("")

    return figure, walk()


def write_head(figure: Figure, heading: str) -> None:
    """Write what all panels show, wrapped to the page."""
    told = "\n".join(textwrap.fill(line, _CHARS) for line in heading.split("\n"))
    figure.suptitle(told, x=0.01, ha="left")


def add_legend(figure: Figure, title: str, *, columns: int = 7) -> None:
    """Put what is drawn in any panel below all of them."""
    named = handles_of(figure.axes)
    figure.legend(list(named.values()), list(named), title=title, loc="outside lower center", ncols=columns)


def axes_of_row(ax: Axes) -> list[Axes]:
    """Return the axes that share the y axis of `ax`."""
    return list(ax.get_shared_y_axes().get_siblings(ax))


def scale_x(ax: Axes, values: Any, label: str) -> None:
    """Give k, or epsilon, a log scale with its own values as ticks."""
    ax.set(xscale="log", xlabel=label)
    ticks = sorted(set(values))
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()


def summary_of(results: Results, measure: str) -> pd.DataFrame:
    """Return mean and interval of one measure, a row a setting."""
    summary = results.frames["noise_summary"]
    return summary[summary["measure"] == measure]


def draw_means(ax: Axes, own: pd.DataFrame, *, over: str, series: str, line: str | None = None) -> None:
    """Draw means in percent with their intervals, a curve a value of `series`, in ordered colours."""
    values = sorted(own[series].unique())
    for position, (value, colour) in enumerate(zip(values, ordered_colours(len(values)), strict=True)):
        one = own[own[series] == value].sort_values(over)
        ends = 100 * one[["low", "high"]].clip(0, 1 if (one["mean"] <= 1).all() else None)
        bars = np.abs(ends.to_numpy().T - 100 * one["mean"].to_numpy())
        ax.errorbar(one[over], 100 * one["mean"], yerr=bars, marker=MARKERS[position], color=colour, markersize=3,
                    linewidth=1, linestyle=LINES[position] if line is None else line, capsize=1.5,
                    label=f"{value:g}")  # fmt: skip


def rests(results: Results, figure: Figure, rows: pd.DataFrame, **settings: Any) -> Figure:
    """Say on which rows a figure rests, and how many records their data sets have."""
    classes = results.frames["classes"]
    shown = classes.loc[classes["dataset"].isin(set(rows["dataset"])), "n_records"]
    if "n" in rows:
        settings = {"repetition": sorted(set(rows["n"])), **settings}
    data = [PUBLIC] if (rows["dataset"] == "adult").any() else []
    data += [DRAWN] if (rows["dataset"] != "adult").any() else []
    return rests_on(figure, rows, **{"data": tuple(data), "n_records": list(shown.unique()), **settings})


def adult_alone(results: Results) -> dict[str, Any]:
    """Return how many records Adult has, for the caption of a figure of it alone."""
    classes = results.frames["classes"]
    return {"n_records": list(classes.loc[classes["dataset"] == "adult", "n_records"].unique())}


def printed_of(results: Results, start: str) -> pd.DataFrame:
    """Return the lines of the ledger that begin so, with what is printed as numbers."""
    claims = results.comparison
    claims = claims[claims["item"].str.startswith(start)]
    return claims.assign(published=pd.to_numeric(claims["published"], errors="coerce")).dropna(subset="published")


def draw_print(ax: Axes, share: float) -> None:
    """Draw a share that the paper prints as a dashed line."""
    ax.axhline(share, color="0.4", linestyle=(0, (6, 3)), linewidth=0.8, label=f"print: at most {share:g} %")
