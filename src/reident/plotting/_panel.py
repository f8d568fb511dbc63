"""One panel of a risk-utility map: axes, curves, spreads, anchors, and the labels that it wants."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Polygon

from reident.plotting._labels import Label
from reident.plotting._layout import Look, Panel, staircase
from reident.rumap import ORIGINAL

DARK, PALE = "0.25", "0.78"

#: Width of a letter of 7 points, inches.
LETTER = 0.058


def set_axes(ax: Axes, panel: Panel, limit: float | None, *, inch: float, edge: bool = True) -> None:
    panel.xs.apply(ax.xaxis, *panel.box[0], room=max(2, int(inch / 0.36)))
    panel.ys.apply(ax.yaxis, *panel.box[1], room=6)
    if limit is None:
        return
    at = float(panel.ys.clip(limit))
    ax.axhspan(at, float(panel.ys.back(panel.box[1][1])), color="0.955", linewidth=0, zorder=0)
    ax.axhline(at, color=DARK, linewidth=0.7, zorder=1)
    if edge:
        ax.text(1.01, at, f"limit\n{limit:g}", transform=ax.get_yaxis_transform(), va="center", color=DARK, fontsize=7)


def title_axes(ax: Axes, panel: Panel, chars: int) -> None:
    ax.set_xlabel(textwrap.fill(panel.measured("utility"), chars), fontsize=7)
    ax.set_ylabel(textwrap.fill(panel.measured("risk"), int(0.8 * chars)), fontsize=7)


def draw_panel(
    ax: Axes,
    panel: Panel,
    looks: Mapping[str, Look],
    limit: float | None,
    lit: set[Any],
    values: str,
    *,
    named: bool,
    anchors: bool = True,
) -> list[Label]:
    """Draw the releases of a panel, the methods that are not `lit` in grey; return the labels that it wants."""
    releases, labels = panel.releases, _draw_anchors(ax, panel, named=anchors)
    _draw_frontier(ax, panel)
    tolerable = releases[releases["risk"] <= limit] if limit is not None else releases[:0]
    answer = tolerable["utility"].idxmax() if len(tolerable) else None
    for method, curve in releases.groupby("method", sort=False):
        look, points = looks[str(method)], [panel.at(row) for _, row in curve.iterrows()]
        if method not in lit:
            ax.plot(*zip(*points, strict=True), color=PALE, linewidth=0.8 if look.joined else 0, marker="o",
                    markersize=2, zorder=2)  # fmt: skip
            if named:
                labels.append(Label(points, textwrap.fill(look.name, 20), "0.45", optional=True))
            continue
        if look.joined:
            ax.plot(*zip(*points, strict=True), color=look.colour, linewidth=1.0, zorder=3)
        mine = curve.index.intersection(tolerable.index)
        crossing = [releases.loc[mine, "utility"].idxmax()] if len(mine) else []
        for shade, point, (index, row) in zip(look.shades(len(curve)), points, curve.iterrows(), strict=True):
            if values == "ends" or limit is None or index in crossing:
                _draw_spread(ax, panel, row, look.colour)
            fill = np.array(mpl.colors.to_rgb(look.colour)) * shade + (1 - shade)
            ax.plot(*point, look.marker, markersize=3.6, color=tuple(fill), markeredgecolor=look.colour,
                    markeredgewidth=0.9, zorder=4)  # fmt: skip
        labels += _values(panel, curve, look, crossing, answer, ends=values == "ends")
        if named and look.ordered:
            labels.append(Label(points, textwrap.fill(look.name, 20), look.ink, bold=True))
    if answer is not None:
        best = tolerable.loc[answer]
        if best["method"] in lit:
            ax.plot(*panel.at(best), "o", markersize=8, markerfacecolor="none", markeredgecolor="black",
                    markeredgewidth=1.0, zorder=5, gid="behind")  # fmt: skip
    return labels


def _values(
    panel: Panel, curve: pd.DataFrame, look: Look, crossing: list[Any], answer: Any, *, ends: bool
) -> list[Label]:
    """Return the labels of a curve's values: its ends and the crossing, or one where they lie together; else all."""
    first, last = curve.index[0], curve.index[-1]
    if look.ordered and ends and first != last:
        places = np.array(
            [[panel.xs.place(row["utility"]), panel.ys.place(row["risk"])] for _, row in curve.iterrows()]
        )
        if (np.ptp(places, axis=0) < 0.02 * np.array([np.ptp(end) for end in panel.box])).all():
            told = f"{curve.loc[first, 'value']} to {curve.loc[last, 'value']}"
            return [Label([panel.at(curve.loc[first])], told, look.ink)]
    rows = dict.fromkeys([*([first, last] if ends else []), *crossing] if look.ordered else curve.index)
    return [
        Label([panel.at(curve.loc[i])], str(curve.loc[i, "value"]), look.ink, answer=answer is not None and i == answer)
        for i in rows
    ]


def _draw_frontier(ax: Axes, panel: Panel) -> None:
    steps = [panel.at(row) for row in staircase(panel.releases)]
    corners = [steps[0]] + [corner for one, two in pairwise(steps) for corner in ((one[0], two[1]), two)]
    ax.plot(*zip(*corners, strict=True), color="0.87", linewidth=3, zorder=1.2, solid_joinstyle="miter", gid="behind")


def _draw_spread(ax: Axes, panel: Panel, row: pd.Series, colour: str) -> None:
    """Draw the spread of a release's runs as four quarters of ellipses: each quantile has a radius of its own."""
    if row["n"] < 2:
        return
    scales = ((panel.xs, "utility"), (panel.ys, "risk"))
    centre, low, high = (
        np.array([float(scale.place(row[f"{measure}{end}"])) for scale, measure in scales])
        for end in ("", "_low", "_high")
    )
    if not np.isfinite([centre, low, high]).all():
        return
    turn = np.linspace(0, 2 * np.pi, 49)
    wave = np.stack([np.cos(turn), np.sin(turn)])
    least = np.array([np.ptp(end) for end in panel.box])[:, None] * 0.008  # a spread of nothing stays visible
    radius = np.maximum(np.where(wave > 0, (high - centre)[:, None], (centre - low)[:, None]), least)
    outline = centre[:, None] + wave * radius
    corners = np.column_stack([panel.xs.back(outline[0]), panel.ys.back(outline[1])])
    if np.isfinite(corners).all():
        ax.add_patch(Polygon(corners, color=colour, alpha=0.17, linewidth=0, zorder=1.5))


def _draw_anchors(ax: Axes, panel: Panel, *, named: bool) -> list[Label]:
    """Draw the original and nothing, and the line of guessing; one beyond the axes stands at their edge."""
    labels, ends = [], panel.box
    if panel.guess is not None:
        ax.axhline(panel.guess, color=DARK, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
    for name, row in panel.anchors.iterrows():
        place = [float(panel.xs.place(row["utility"])), float(panel.ys.place(row["risk"]))]
        beyond = [-1 if p < low else 1 if p > high else 0 for p, (low, high) in zip(place, ends, strict=True)]
        mark = {-1: "<", 1: ">"}.get(beyond[0]) or {-1: "v", 1: "^"}.get(beyond[1])
        inside = [float(np.clip(p, *end)) for p, end in zip(place, ends, strict=True)]
        at = float(panel.xs.back(inside[0])), float(panel.ys.back(inside[1]))
        ax.plot(*at, mark or ("*" if name == ORIGINAL else "X"), color="black", markersize=4.5, clip_on=False, zorder=6)
        off = [
            f"{measure} {'∞' if np.isinf(row[measure]) else f'{row[measure]:.3g}'}"
            for measure, out in zip(("utility", "risk"), beyond, strict=True)
            if out
        ]
        if named:
            told = f" ({', '.join(off)})" if off else ""
            labels.append(Label([at], textwrap.fill(f"{name}{told}", 20), "black"))
    return labels
