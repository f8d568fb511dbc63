"""What the figures of the study vanhoef2012_networks are put together from."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reident.base import wilson_interval
from reident.plotting._style import COLOURS, LINES, MARKERS, handles_of, new_figure, ordered_colours
from reident.studies.captions import rests_on
from reident.studies.comparison import DRAWN, OWN, PUBLIC
from reident.studies.study import Results
from reident.studies.vanhoef2012_networks import N_SEEDS, REAL, STUDY
from reident.studies.vanhoef2012_networks.graphs import graph, public_graphs

__all__ = [
    "WIDTH",
    "beside",
    "by_k",
    "common_legend",
    "draw_band",
    "draw_by_k",
    "draw_rate",
    "draw_spread",
    "graph_panels",
    "graph_title",
    "levels",
    "n_known",
    "rests_on_graphs",
    "rows_of",
]

#: Inches: no figure is wider, so that type of 8 points is one of 7 where it is printed 17 cm wide.
WIDTH = 7.6

#: Of so many runs 5 and 95 % are told; the runs themselves of fewer.
_FEW = 3

#: Real graphs that are not those of the thesis.
_IN_PLACE = ("enron", "les_miserables")

#: Means closer than this are one level.
_LEVEL = 0.1


def graph_title(name: str) -> str:
    """Name a graph in words, and say where it is generated and no data."""
    known = name in (*REAL, "american75", "les_miserables")
    told = STUDY.words.get(name) or re.sub(r" \d+$", "", name.replace("_", " "))
    return told if known or "(generated)" in told else f"{told} (generated)"


@lru_cache(maxsize=32)
def _n_nodes(name: str) -> int:
    held = public_graphs().set_index("name")["nodes"]
    return int(held[name]) if name in held.index else graph(name).n_nodes


def _sized(name: str) -> str:
    told, nodes = graph_title(name), f"{_n_nodes(name):,} nodes)"
    return f"{told[:-1]}, {nodes}" if told.endswith(")") else f"{told} ({nodes}"


def _data(name: str) -> str:
    return PUBLIC if name in _IN_PLACE else OWN if name in (*REAL, "american75") else DRAWN


def rests_on_graphs(figure: Figure, *frames: pd.DataFrame, **settings: Any) -> Figure:
    """Say on which rows a figure rests, on what graphs, how large, and what data these are."""
    names = list(dict.fromkeys(name for frame in frames for name in frame["graph"]))
    data = tuple(dict.fromkeys(map(_data, names)))
    return rests_on(figure, *frames, data=data, **{"graph": [_sized(name) for name in names], **settings})


def n_known(results: Results, names: Iterable[str]) -> list[int]:
    """Return how many people the seeded attacker knows in the graphs: some, at most a tenth."""
    most = results.parameters.get("n_seeds") or N_SEEDS
    return sorted({min(most, _n_nodes(name) // 10) for name in names})


def _look(position: int, colour: Any = None) -> dict[str, Any]:
    return {
        "color": COLOURS[position % len(COLOURS)] if colour is None else colour,
        "marker": MARKERS[position % len(MARKERS)],
        "linestyle": LINES[position % len(LINES)],
    }


def draw_spread(
    ax: Axes,
    frame: pd.DataFrame,
    x: str,
    y: str,
    by: str,
    order: Sequence[str] | None = None,
    *,
    aside: float = 0.0,
    at: int = 0,
    ordered: bool = False,
    **kws: Any,
) -> None:
    """Draw the mean and 5 to 95 % of `y` over the runs at each `x`, a line for each `by`.

    Lines stand `aside` of one another, in units of `x`; their looks begin with the one numbered `at`.
    """
    names = list(dict.fromkeys(frame[by])) if order is None else [name for name in order if name in set(frame[by])]
    colours = ordered_colours(len(names)) if ordered else [None] * len(names)
    for place, name in enumerate(names):
        part = frame[(frame[by] == name) & frame[y].notna() & np.isfinite(frame[y])]
        if part.empty:
            continue
        groups = part.groupby(x)[y]
        mean, ends = groups.mean(), groups.quantile([0.05, 0.95]).unstack()  # noqa: PD010
        ax.errorbar(
            mean.index.to_numpy(float) + aside * (place - (len(names) - 1) / 2),
            mean,
            yerr=np.abs(ends.to_numpy().T - mean.to_numpy()) if groups.size().max() > 1 else None,
            label=str(name),
            **_look(at + place, colours[place]),
            **{"markersize": 4, "linewidth": 1.2, "elinewidth": 0.8, "capsize": 2, **kws},
        )


def beside(values: Iterable[Any]) -> dict[Any, int]:
    """Return places side by side for values that lie too unevenly for an axis of their own."""
    return {value: place for place, value in enumerate(sorted(set(values)))}


def draw_by_k(ax: Axes, frame: pd.DataFrame, y: str, by: str, order: Sequence[str], *, lines: bool = True) -> None:
    """Draw as `draw_spread`, each k at a place of its own in which the series stand side by side."""
    places = beside(frame["k"])
    draw_spread(
        ax, frame.assign(place=frame["k"].map(places)), "place", y, by, order, aside=0.7 / max(len(order), 1),
        markersize=3, linewidth=0.6 if lines else 0,
    )  # fmt: skip
    for place in range(1, len(places)):
        ax.axvline(place - 0.5, color="0.93", linewidth=0.6, zorder=0)
    ax.set_xticks(list(places.values()), [str(k) for k in places])
    ax.set(xlabel="k", xlim=(-0.5, len(places) - 0.5))


def draw_band(ax: Axes, frame: pd.DataFrame, y: str, order: Sequence[str]) -> None:
    """Draw a measure of the releases against k: mean and band of 5 to 95 %, or the runs where they are too few."""
    few = frame.loc[frame["method"] != "original", "repetition"].nunique() < _FEW
    for position, name in enumerate(order):
        part = frame[(frame["method"] == name) & np.isfinite(frame[y])]
        if part.empty:
            continue
        groups = part.groupby("k")[y]
        mean, ends = groups.mean(), groups.quantile([0.05, 0.95]).unstack()  # noqa: PD010
        look = _look(position)
        # Marks at a few k: more would hide the curves.
        every = max(1, len(mean) // 6)
        ax.plot(mean.index, mean, label=name, linewidth=1, markersize=4, markevery=(position % every, every), **look)
        if few:
            ax.plot(part["k"], part[y], ".", markersize=2.5, color=look["color"])
        else:
            ax.fill_between(mean.index, *ends.to_numpy().T, color=look["color"], alpha=0.2, linewidth=0)
    ax.axhline(frame.loc[frame["method"] == "original", y].mean(), color="0.4", linewidth=0.9, label="original")
    ax.set_xscale("log")
    ks = sorted(set(frame["k"]) - {1})
    # More than eight labels would run into one another on the log axis.
    ticks = ks if len(ks) <= 8 else [k for k in (2, 5, 10, 20, 50, 98) if ks[0] <= k <= ks[-1]]
    ax.set_xticks(ticks, [str(k) for k in ticks])
    ax.minorticks_off()


def by_k(ax: Axes, part: pd.DataFrame, measure: str, methods: Sequence[str]) -> None:
    """Draw a measure of attacked releases, k by k, and the original's as a line."""
    draw_by_k(ax, part[part["method"] != "original"], measure, "method", methods)
    ax.axhline(part.loc[part["method"] == "original", measure].mean(), color="0.4", linewidth=0.9, label="original")


def levels(part: pd.DataFrame, measure: str) -> str | None:
    """Tell what methods do that keep to one level or two at every k: curves would lie on one another; None: draw."""
    if part[measure].isna().all():
        return "not asked"
    means = part.groupby(["method", "k"])[measure].mean().groupby("method").agg(["min", "max"]).sort_values("max")
    groups: list[list[str]] = []
    for name, row in means.iterrows():
        if groups and row["max"] - means.loc[groups[-1], "min"].min() <= _LEVEL:
            groups[-1].append(str(name))
        elif row["max"] - row["min"] <= _LEVEL:
            groups.append([str(name)])
        else:
            return None
    if len(groups) > 2:
        return None
    groups.sort(key=len)
    *few, most = groups
    told = [f"{_span(means.loc[one])} by {', '.join(one)}" for one in few]
    others = most[0] if len(most) == 1 else "all others" if few else "all methods"
    told.append(f"{_span(means.loc[most])} by {others}")
    return "at every k\n" + ";\n".join(textwrap.fill(one, 28) for one in told)


def _span(levels: pd.DataFrame) -> str:
    low, high = f"{levels['min'].min():.2f}", f"{levels['max'].max():.2f}"
    return low if low == high else f"{low} to {high}"


def graph_panels(names: Sequence[str], *, height: float = 2.9) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel a graph, and its panels."""
    columns = min(2, len(names))
    rows = -(-len(names) // columns)
    # One more strip below for the common legend.
    figure, axes = new_figure(rows, columns, size=(WIDTH * columns / 2, height * rows + 0.4), squeeze=False)
    flat = list(axes.flat)
    for ax in flat[len(names) :]:
        ax.remove()
    return figure, flat[: len(names)]


def rows_of(told: Sequence[bool], columns: int, *, height: float = 2.4) -> tuple[Figure, Any]:
    """Return a figure and its rows of panels; those in which all is told in words are lower."""
    heights = [0.5 * height if only else height for only in told]
    size = (WIDTH if columns > 1 else WIDTH / 2, sum(heights) + 0.6)
    return new_figure(len(told), columns, size=size, squeeze=False, height_ratios=heights)


def common_legend(figure: Figure, axes: Sequence[Axes], columns: int = 4) -> Figure:
    """Put one legend of all panels below them."""
    handles = handles_of(axes)
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=min(columns, 2 * len(axes)))
    return figure


def draw_rate(
    ax: Axes,
    counted: pd.DataFrame,
    name: str,
    position: int,
    *,
    aside: float = 0.06,
    colour: Any = None,
    linewidth: float = 1.2,
) -> None:
    """Draw shares with their Wilson intervals, series `aside` of one another."""
    rates = [wilson_interval(mean * n, n) for mean, n in zip(counted["mean"], counted["count"], strict=True)]
    p, low, high = np.array(rates).T
    ax.errorbar(
        counted.index + aside * (position - 1.5),
        p,
        yerr=np.maximum([p - low, high - p], 0),
        markersize=4,
        linewidth=linewidth,
        elinewidth=0.8,
        capsize=2,
        label=name,
        **_look(position, colour),
    )
