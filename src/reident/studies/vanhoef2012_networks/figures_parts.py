"""What the figures of the study vanhoef2012_networks are put together from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reident.plotting._style import COLOURS, LINES, MARKERS, new_figure
from reident.rates import wilson_interval
from reident.studies.vanhoef2012_networks import REAL, STUDY

__all__ = ["common_legend", "draw_against_k", "draw_rate", "draw_spread", "graph_panels", "graph_title"]


def graph_title(name: str) -> str:
    """Name a graph in words, and say where it is generated and no data."""
    known = name in (*REAL, "american75", "les_miserables")
    told = STUDY.words.get(name) or name.replace("_", " ").replace("attachment 1", "attachment, 1")
    return told if known or "(generated)" in told else f"{told} (generated)"


def draw_spread(
    ax: Axes,
    frame: pd.DataFrame,
    x: str,
    y: str,
    by: str,
    order: Sequence[str] | None = None,
    fan: float = 0.0,
    at: int = 0,
) -> None:
    """Draw the mean and 5 to 95 % of `y` over the runs at each `x`, a line for each `by`.

    The lines' looks begin with the one numbered `at`.
    """
    names = list(dict.fromkeys(frame[by])) if order is None else [name for name in order if name in set(frame[by])]
    for place, name in enumerate(names):
        position = at + place
        part = frame[(frame[by] == name) & frame[y].notna() & np.isfinite(frame[y])]
        if part.empty:
            continue
        groups = part.groupby(x)[y]
        mean, ends = groups.mean(), groups.quantile([0.05, 0.95]).unstack()  # noqa: PD010
        shift = 1 + fan * (place - (len(names) - 1) / 2)
        ax.errorbar(
            mean.index.to_numpy(float) * shift,
            mean,
            yerr=np.abs(ends.to_numpy().T - mean.to_numpy()) if groups.size().max() > 1 else None,
            color=COLOURS[position % len(COLOURS)],
            marker=MARKERS[position % len(MARKERS)],
            linestyle=LINES[position % len(LINES)],
            markersize=4,
            linewidth=1.2,
            elinewidth=0.8,
            capsize=2,
            label=str(name),
        )


def graph_panels(names: Sequence[str], *, width: float = 3.6, height: float = 3.0) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel a graph, and its panels."""
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    # One more strip below for the common legend.
    figure, axes = new_figure(rows, columns, size=(width * columns, height * rows + 0.4), squeeze=False)
    flat = list(axes.flat)
    for ax in flat[len(names) :]:
        ax.remove()
    return figure, flat[: len(names)]


def common_legend(figure: Figure, axes: Sequence[Axes], columns: int = 4) -> Figure:
    """Put one legend of all panels below them."""
    handles: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=min(columns, 2 * len(axes)))
    return figure


def draw_rate(ax: Axes, counted: pd.DataFrame, name: str, position: int) -> None:
    """Draw shares with their Wilson intervals."""
    rates = [wilson_interval(mean * n, n) for mean, n in zip(counted["mean"], counted["count"], strict=True)]
    p, low, high = np.array(rates).T
    ax.errorbar(
        counted.index + 0.06 * (position - 1.5),
        p,
        yerr=np.maximum([p - low, high - p], 0),
        color=COLOURS[position],
        marker=MARKERS[position],
        linestyle=LINES[position],
        markersize=4,
        linewidth=1.2,
        elinewidth=0.8,
        capsize=2,
        label=name,
    )


def draw_against_k(ax: Axes, part: pd.DataFrame, measure: str, methods: Sequence[str]) -> None:
    """Draw a measure of the releases against k, and the original's as a line."""
    draw_spread(ax, part[part["method"] != "original"], "k", measure, "method", methods, fan=0.03)
    ax.axhline(part.loc[part["method"] == "original", measure].mean(), color="0.4", linewidth=0.9, label="original")
    ax.set_xscale("log")
    ks = sorted(set(part["k"]) - {1})
    # More than eight labels would run into one another on the log axis.
    ticks = ks if len(ks) <= 8 else [k for k in (2, 5, 10, 20, 50, 98) if ks[0] <= k <= ks[-1]]
    ax.set_xticks(ticks, [str(k) for k in ticks])
    ax.minorticks_off()
