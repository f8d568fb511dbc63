"""The risk-utility map, drawn by rule: scales, layout, what is coloured, named and valued follow from the frame.

- A scale is linear unless another spreads the releases more evenly; each measure has one, named on its axis.
- A method is a curve of one colour; its markers fill from white (weakest protection) to full (strongest). Values stand
  at its ends and at the most useful release below the limit, where the answer of the panel is ringed. Where two
  parameters of a method part, its releases have no order: no line joins them.
- Where more than five methods meet in a panel, those off the frontier are grey.
- Anchors do not stretch an axis: one far away stands at the edge as a triangle, its value in its name.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from string import ascii_lowercase
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from reident.base import ParameterError, check_choice, check_integer, check_real, check_text
from reident.plotting._labels import place_labels
from reident.plotting._layout import (
    MANY,
    Look,
    Panel,
    grid_of,
    lit_of,
    looks_of,
    panels_of,
    usual_columns,
)
from reident.plotting._panel import DARK, LETTER, PALE, draw_panel, set_axes, title_axes
from reident.plotting._style import map_figure
from reident.rumap import ORIGINAL, check_frame, check_one_panel

__all__ = ["plot_ru_map", "plot_ru_panels"]


def plot_ru_map(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    risk_limit: float | None = None,
    names: Mapping[str, str] | None = None,
    width_cm: float = 8.5,
) -> Axes:
    """Draw one panel of a risk-utility map.

    Parameters
    ----------
    frame : DataFrame
        As `ru_frame` returns; all rows under one attack and one analysis (see `plot_ru_panels` for several).
    ax : Axes, optional
        Where to draw; a new figure, with a key below the panel, by default.
    risk_limit : float, optional
        Tolerable risk, in the unit of the risk column; the most useful release below it is ringed.
    names : mapping of str to str, optional
        Methods to the names that the map shows.
    width_cm : float, default 8.5
        Width of a new figure, centimetres.

    Returns
    -------
    Axes

    Raises
    ------
    DataError, ParameterError
        If a column is absent, the frame is empty or has several panels.

    Notes
    -----
    Duncan, Keller-McNulty and Stokes (2001). The pale staircase is the frontier: the least risk at each utility.
    """
    check_one_panel(frame)
    frame = frame.reset_index(drop=True)
    if ax is None:
        return plot_ru_panels(frame, risk_limit=risk_limit, names=names, width_cm=width_cm).axes[0]
    _check_limit(risk_limit)
    if not hasattr(ax, "get_figure"):
        raise ParameterError(f"`ax` must be axes of matplotlib, got {type(ax).__name__}")
    panel = panels_of(frame, risk_limit)[0]
    root = ax.get_figure(root=True)
    assert root is not None
    wide = root.get_figwidth() * ax.get_position().width
    set_axes(ax, panel, risk_limit, inch=wide)
    title_axes(ax, panel, int(wide / LETTER))
    place_labels(ax, draw_panel(ax, panel, looks_of(frame, names), risk_limit, lit_of(panel), "ends", named=True))
    return ax


def plot_ru_panels(
    frame: pd.DataFrame,
    *,
    columns: int | None = None,
    risk_limit: float | None = None,
    names: Mapping[str, str] | None = None,
    width_cm: float | None = None,
    by_method: bool = False,
    title: str = "",
) -> Figure:
    """Draw a risk-utility map with one panel for each pair of attack and analysis.

    Parameters
    ----------
    frame : DataFrame
        As `ru_frame` returns, panels one below the other.
    columns : int, optional
        Panels side by side; chosen from their number by default.
    risk_limit, names
        As for `plot_ru_map`.
    width_cm : float, optional
        Width of the figure in centimetres; 8.5 for one panel, 17 for several. Type is 7 points at that size.
    by_method : bool, default False
        One panel a method, the others grey behind it; the frame must then have one attack and one analysis.
    title : str, optional
        A line above the panels.

    Returns
    -------
    Figure

    Raises
    ------
    DataError, ParameterError
        If a column is absent, the frame is empty, or a width or number of columns is out of range.
    """
    check_text(title, "title")
    frame = check_frame(frame).reset_index(drop=True)
    _check_limit(risk_limit)
    check_choice(by_method, "by_method", (False, True))
    if by_method:
        check_one_panel(frame)
    panels = panels_of(frame, risk_limit, by_method=by_method)
    single = len(panels) == 1
    usual_cm = 8.5 if single else 17.0
    width = check_real(usual_cm if width_cm is None else width_cm, "width_cm", low=4, high=100)
    heads = None if by_method else grid_of([panel.pair[0] for panel in panels])
    crowded = max(panel.releases["method"].nunique() for panel in panels) > MANY
    usual = len({head for _, head in heads}) if heads else usual_columns(len(panels), width, by_method, crowded)
    columns = min(check_integer(usual if columns is None else columns, "columns", low=1), len(panels))
    if heads and columns != usual:
        heads = None
    looks = looks_of(frame, names)
    inch, rows = width / 2.54, -(-len(panels) // columns)
    marks = _key(panels, looks, risk_limit)
    keyed_columns = _columns(marks, inch)
    figure, body, foot, axes = map_figure(rows, columns, inch, key_rows=-(-len(marks) // keyed_columns))
    chars = int((inch / columns - 0.5) / LETTER)
    shared = [len({panel.pair[k] for panel in panels}) == 1 and not single for k in (0, 1)]
    wanted = []
    keyed = crowded and not (single or by_method)
    for k, (panel, ax) in enumerate(zip(panels, axes.flat, strict=False)):
        _head(ax, k, panels, heads, looks, columns, chars, shared)
        set_axes(ax, panel, risk_limit, inch=inch / columns - 0.5, edge=k % columns == columns - 1 or not by_method)
        lit = {panel.method} if panel.method is not None else lit_of(panel)
        values = "ends" if single or by_method else "crossing"
        named = single or (crowded and not by_method)
        anchors = k == 0 or not by_method
        labels = draw_panel(ax, panel, looks, risk_limit, lit, values, named=named, anchors=anchors)
        # Where a name would cover something, the legend alone tells it.
        wanted.append((ax, [replace(one, optional=not one.answer) for one in labels] if keyed else labels))
    for ax in list(axes.flat)[len(panels) :]:
        ax.remove()
    for k, side in ((0, body.supylabel), (1, body.supxlabel)):
        if shared[k]:
            side(panels[0].measured("risk" if k == 0 else "utility"), fontsize=7)
    if not (single or by_method):
        shown = set().union(*(lit_of(panel) for panel in panels)) if crowded else set(looks)
        _legend(
            body, frame, {name: look for name, look in looks.items() if name in shown}, inch, panels if crowded else ()
        )
    if title:
        figure.suptitle(textwrap.fill(title, int(inch / LETTER)), fontsize=7, x=0.01, ha="left")
    _legend_of_marks(foot, marks, keyed_columns)
    figure.draw_without_rendering()
    _raise_panels(figure, list(axes.flat)[: len(panels)], rows)
    for ax, labels in wanted:
        place_labels(ax, labels, laid=True)
    return figure


def _check_limit(risk_limit: float | None) -> None:
    if risk_limit is not None:
        check_real(risk_limit, "risk_limit", low=0)


def _head(
    ax: Axes,
    k: int,
    panels: Sequence[Panel],
    heads: Sequence[tuple[str, str]] | None,
    looks: Mapping[str, Look],
    columns: int,
    chars: int,
    shared: Sequence[bool],
) -> None:
    """Write what tells a panel from the others; what all share stands once, beside the figure."""
    panel = panels[k]
    if len(panels) == 1:
        title_axes(ax, panel, chars)
        return
    if panel.method is not None:
        look = looks[panel.method]
        ax.set_title(look.name, fontsize=7, loc="left", color=look.ink, fontweight="bold")
        return
    column = heads[k][1] if heads and k < columns else ""
    # What all panels have in common stands beside the figure, what tells them apart above each.
    by_use = shared[0] and not shared[1]
    head = column if heads else panel.pair[1] if by_use else "" if shared[0] else panel.pair[0]
    ax.set_title(textwrap.fill(f"({ascii_lowercase[k % 26]}) {head}", chars), fontsize=7, loc="left")
    row = f"{heads[k][0]}\n" if heads and k % columns == 0 else ""
    ax.set_ylabel(f"{row}risk{panel.ys.name}" if not shared[0] else row, fontsize=7)
    below = panels[k + columns :: columns]
    if not shared[1] and not (below and below[0].pair[1] == panel.pair[1]):
        told = f"utility{panel.xs.name}" if by_use else panel.measured("utility")
        ax.set_xlabel(textwrap.fill(told, chars), fontsize=7)


def _raise_panels(figure: Figure, axes: Sequence[Axes], rows: int) -> None:
    """Make a figure higher until each panel is at least half as high as wide."""
    for _ in range(3):  # the key below grows with the figure
        boxes = [ax.get_window_extent() for ax in axes]
        lacking = 0.5 * boxes[0].width - min(box.height for box in boxes)
        if lacking <= 0:
            return
        figure.set_figheight(figure.get_figheight() + rows * lacking / figure.dpi)
        figure.draw_without_rendering()


def _legend(
    body: Any, frame: pd.DataFrame, looks: Mapping[str, Look], inch: float, panels: Sequence[Panel] = ()
) -> None:
    """Name the curves once for all panels, with the ends of their values, and the anchors of these panels."""
    handles = []
    for method, look in looks.items():
        curve = frame[frame["method"] == method].drop_duplicates("value")
        values = list(curve["value"])
        ends = f"{values[0]} to {values[-1]}" if look.joined and len(values) > 1 else "; ".join(map(str, values))
        told = textwrap.fill(f"{look.name}, {curve['parameter'].iloc[0]} {ends}", int(inch / LETTER) - 8)
        handles.append(Line2D([], [], color=look.colour, marker=look.marker, markersize=4,
                              linewidth=int(look.joined), label=told if look.ordered else look.name))  # fmt: skip
    for name in dict.fromkeys(name for panel in panels for name in panel.anchors.index):
        handles.append(Line2D([], [], color="black", marker="*" if name == ORIGINAL else "X", markersize=4.5,
                              linewidth=0, label=str(name)))  # fmt: skip
    longest = max(len(line) for handle in handles for line in str(handle.get_label()).split("\n"))
    columns = max(1, min(len(handles), int(inch / (longest * LETTER + 0.5))))
    body.legend(handles=handles, loc="outside upper left", ncols=columns, frameon=False, fontsize=7, handlelength=1.6)


def _key(panels: Sequence[Panel], looks: Mapping[str, Look], limit: float | None) -> list[tuple[Any, str]]:
    """Return what the marks mean; only those that are drawn."""
    drawn = pd.concat([panel.releases for panel in panels])
    rows: list[tuple[Any, str]] = []
    if any(looks[str(method)].joined for method in drawn["method"].unique()):
        rows.append(
            (Line2D([], [], color=DARK, marker="o", markerfacecolor="white", markersize=3.6, linewidth=1),
             "weakest protection")
        )  # fmt: skip
        rows.append((Line2D([], [], color=DARK, marker="o", markersize=3.6, linewidth=1), "strongest"))
    if drawn["n"].max() > 1:
        low, high = int(drawn["n"].min()), int(drawn["n"].max())
        count = str(low) if low == high else f"{low} to {high}"
        rows.append((Patch(color=DARK, alpha=0.2, linewidth=0), f"spread of {count} runs"))
    rows.append((Line2D([], [], color="0.87", linewidth=3), "frontier: least risk at each utility"))
    if limit is not None and any((panel.releases["risk"] <= limit).any() for panel in panels):
        ring = Line2D([], [], marker="o", markersize=7, markerfacecolor="none", color="black", linestyle="")
        rows.append((ring, "most useful below limit"))
    if any(panel.method is not None or len(lit_of(panel)) < panel.releases["method"].nunique() for panel in panels):
        rows.append((Line2D([], [], color=PALE, marker="o", markersize=2), "other methods"))
    return rows


def key_of(frame: pd.DataFrame, *, risk_limit: float | None = None) -> list[tuple[Any, str]]:
    """Return the marks of the map of a frame with what they mean, for a legend beside given axes."""
    return _key(panels_of(frame, risk_limit), looks_of(frame, None), risk_limit)


def _columns(rows: Sequence[tuple[Any, str]], inch: float) -> int:
    """Return how many columns the key has room for; each is as wide as its longest line."""
    lengths = [len(told) * LETTER + 0.3 for _, told in rows]
    wide = [sum(max(part) for part in np.array_split(lengths, n)) for n in range(1, len(rows) + 1)]
    return max(n for n, width in enumerate(wide, start=1) if n == 1 or width <= inch)


def _legend_of_marks(foot: Any, rows: Sequence[tuple[Any, str]], columns: int) -> None:
    """Say once, below the panels, what the marks mean."""
    loc = "outside lower left" if foot.axes else "center left"
    foot.legend(*zip(*rows, strict=True), loc=loc, borderpad=0.1, ncols=columns, frameon=False,
                fontsize=7, handlelength=1.4, columnspacing=1.0, handletextpad=0.5)  # fmt: skip
