"""The risk-utility map, drawn by rule: scales, layout, what is coloured, named and valued follow from the frame.

- A scale is linear unless another spreads the releases more evenly; each measure has one, named on its axis.
- A method is a curve of one colour; its markers fill from white (weakest protection) to full (strongest). Values stand
  at its ends and at the most useful release below the limit, where the answer of the panel is ringed.
- Where more than five methods meet in a panel, those off the frontier are grey.
- A panel in which the risk does not tell releases apart, or that repeats another, is a sentence.
- Anchors do not stretch an axis: one far away stands at the edge as a triangle, its value in its name.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from string import ascii_lowercase
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon

from reident._check import check_choice, check_integer, check_real
from reident._types import FloatArray
from reident.plotting._labels import Label, place_labels
from reident.plotting._scales import Scale, choose_scale
from reident.plotting._sentence import sentence
from reident.plotting._style import COLOURS, MARKERS, map_figure
from reident.rumap import NOTHING, ORIGINAL, PANEL, check_frame, check_one_panel, releases_of

__all__ = ["layout", "plot_ru_map", "plot_ru_panels"]

_DARK, _PALE = "0.25", "0.78"

#: So many methods are told apart by colour in one panel; beyond, only those that reach the frontier are.
_MANY = 5

#: Width of a letter of 7 points, inches.
_LETTER = 0.058


@dataclass(frozen=True)
class _Look:
    """How a method is drawn wherever it occurs."""

    colour: str
    marker: str
    name: str
    ordered: bool  # its values are numbers: a curve
    weak_first: bool  # its first value is the riskier end

    @property
    def ink(self) -> tuple[float, ...]:
        """The colour, dark enough for text."""
        return tuple(0.78 * np.array(mpl.colors.to_rgb(self.colour)))

    def shades(self, n: int) -> FloatArray:
        """How full the markers of a curve are, in the order of its rows."""
        if not self.ordered or n == 1:
            return np.ones(n)
        return np.linspace(0, 1, n)[:: 1 if self.weak_first else -1]


@dataclass
class _Panel:
    """One attack and one analysis, or one method under them, ready to be drawn."""

    pair: tuple[str, str]
    part: pd.DataFrame
    xs: Scale
    ys: Scale
    box: list[tuple[float, float]]
    method: str | None = None  # the one that is not grey, where each method has a panel of its own
    said: str | None = None  # the sentence that stands for the drawing

    @property
    def releases(self) -> pd.DataFrame:
        return self.part[~self.part["method"].isin([ORIGINAL, NOTHING])]

    @property
    def anchors(self) -> pd.DataFrame:
        return self.part[self.part["method"].isin([ORIGINAL, NOTHING])].drop_duplicates("method").set_index("method")

    @property
    def guess(self) -> float | None:
        """The risk of guessing, where nothing released has one above 0 that the axis shows."""
        guess = float(self.anchors["risk"].get(NOTHING, 0.0))
        return guess if guess > 0 and self.box[1][0] < self.ys.place(guess) < self.box[1][1] else None

    def measured(self, measure: str) -> str:
        """Return what an axis says."""
        told, scale = (self.pair[0], self.ys) if measure == "risk" else (self.pair[1], self.xs)
        return f"{measure}: {told}{scale.name}"

    def at(self, row: Any) -> tuple[float, float]:
        """Where a release is drawn, in raw units."""
        return float(self.xs.clip(row["utility"])), float(self.ys.clip(row["risk"]))


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
    panel = _panels(frame, risk_limit)[0]
    root = ax.get_figure(root=True)
    assert root is not None
    wide = root.get_figwidth() * ax.get_position().width
    _set_axes(ax, panel, risk_limit, inch=wide)
    _title_axes(ax, panel, int(wide / _LETTER))
    place_labels(ax, _draw(ax, panel, _looks(frame, names), risk_limit, _lit(panel), "ends", named=True))
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
    frame = check_frame(frame).reset_index(drop=True)
    _check_limit(risk_limit)
    check_choice(by_method, "by_method", (False, True))
    if by_method:
        check_one_panel(frame)
    panels = _panels(frame, risk_limit, by_method=by_method)
    single = len(panels) == 1
    width = check_real(width_cm if width_cm is not None else 8.5 if single else 17.0, "width_cm", low=4, high=100)
    heads = None if by_method else _grid([panel.pair[0] for panel in panels])
    crowded = max(panel.releases["method"].nunique() for panel in panels) > _MANY
    usual = len({head for _, head in heads}) if heads else _usual_columns(len(panels), width, by_method, crowded)
    columns = min(check_integer(usual if columns is None else columns, "columns", low=1), len(panels))
    if heads and columns != usual:
        heads = None
    looks = _looks(frame, names)
    inch, rows = width / 2.54, -(-len(panels) // columns)
    figure, body, foot, axes = map_figure(rows, columns, inch)
    chars = int((inch / columns - 0.5) / _LETTER)
    shared = [len({panel.pair[k] for panel in panels}) == 1 and not single for k in (0, 1)]
    wanted = []
    for k, (panel, ax) in enumerate(zip(panels, axes.flat, strict=False)):
        _head(ax, k, panels, heads, looks, columns, chars, shared)
        if panel.said is not None:
            _say(ax, panel.said, chars)
            continue
        _set_axes(ax, panel, risk_limit, inch=inch / columns - 0.5, edge=k % columns == columns - 1 or not by_method)
        lit = {panel.method} if panel.method is not None else _lit(panel)
        values = "ends" if single or by_method else "crossing"
        named = single or (crowded and not by_method)
        anchors = k == 0 or not by_method
        labels = _draw(ax, panel, looks, risk_limit, lit, values, named=named, anchors=anchors)
        wanted.append((ax, labels))
    for ax in list(axes.flat)[len(panels) :]:
        ax.remove()
    for k, side in ((0, body.supylabel), (1, body.supxlabel)):
        if shared[k]:
            side(panels[0].measured("risk" if k == 0 else "utility"), fontsize=7)
    if not (single or by_method or crowded):
        _legend(body, frame, looks, inch)
    if title:
        figure.suptitle(textwrap.fill(title, int(inch / _LETTER)), fontsize=7, x=0.01, ha="left")
    _key(foot, inch, panels, looks, risk_limit)
    figure.canvas.draw()
    for ax, labels in wanted:
        place_labels(ax, labels)
    return figure


def layout(frame: pd.DataFrame, risk_limit: float | None) -> tuple[_Panel, dict[str, _Look]]:
    """Return the one panel of a frame with its scales and ends, and how its methods are drawn."""
    (panel,) = _panels(frame, risk_limit)
    return panel, _looks(frame, None)


# -- what follows from the frame ---------------------------------------------------------------------------------------


def _check_limit(risk_limit: float | None) -> None:
    if risk_limit is not None:
        check_real(risk_limit, "risk_limit", low=0)


def _looks(frame: pd.DataFrame, names: Mapping[str, str] | None) -> dict[str, _Look]:
    releases = releases_of(frame)
    looks = {}
    for position, (method, curve) in enumerate(releases.groupby("method", sort=False)):
        one = curve.groupby(PANEL, sort=False).head(1).index[0]
        values = curve[(curve[PANEL] == curve.loc[one, PANEL]).all(axis=1)]["value"]
        ends = [(part["risk"].iloc[0], part["risk"].iloc[-1]) for _, part in curve.groupby(PANEL, sort=False)]
        looks[str(method)] = _Look(
            COLOURS[position % len(COLOURS)],
            MARKERS[position % len(MARKERS)],
            (names or {}).get(str(method), str(method)),
            bool(values.astype(str).str.match(r"-?[\d.]").all()),
            bool(sum(np.sign(first - last) for first, last in ends) >= 0),
        )
    return looks


def _panels(frame: pd.DataFrame, risk_limit: float | None, *, by_method: bool = False) -> list[_Panel]:
    releases = releases_of(frame)
    tops = frame[frame["method"] == ORIGINAL].groupby("analysis")["utility"].max()
    scales = {}
    for analysis, rows in releases.groupby("analysis"):
        top = float(tops.get(analysis, np.inf))
        scales[analysis] = choose_scale(rows["utility"], top if np.isfinite(top) else None)
    panels: list[_Panel] = []
    for pair, part in frame.groupby(PANEL, sort=False):
        if part["method"].isin([ORIGINAL, NOTHING]).all():
            continue
        risks = releases.loc[releases["attack"] == pair[0], "risk"]
        ys = choose_scale(risks, 1.0 if risks.max() <= 1 else None)
        panel = _Panel((str(pair[0]), str(pair[1])), part, scales[pair[1]], ys, [])
        panel.box = _ends(panel, risk_limit)
        panels.append(panel)
    for axis in (0, 1):
        _share_ranges(panels, axis)
    if by_method:
        (panel,) = panels
        methods = panel.releases["method"].unique()
        return [_Panel(panel.pair, panel.part, panel.xs, panel.ys, panel.box, str(method)) for method in methods]
    if len(panels) > 1:
        for k, panel in enumerate(panels):
            earlier = [(f"({ascii_lowercase[j]})", p.releases) for j, p in enumerate(panels[:k]) if p.said is None]
            panel.said = sentence(panel.part, earlier)
    return panels


def _ends(panel: _Panel, limit: float | None) -> list[tuple[float, float]]:
    """Return the ends of both axes, as positions; an anchor is inside if the releases keep 60 % of the axis."""
    ends = []
    for measure, scale in (("utility", panel.xs), ("risk", panel.ys)):
        extra = [float(scale.place(limit))] if measure == "risk" and limit is not None else []
        columns = [measure, f"{measure}_low", f"{measure}_high"]
        seen = scale.place(panel.releases[columns].to_numpy(float)).ravel()
        seen = np.array([*seen[np.isfinite(seen)], *extra])
        low, high = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 1.0)
        span = high - low or 1.0
        places = scale.place(panel.anchors[measure])
        for place in places[np.argsort(np.abs(places - (low + high) / 2))]:
            if np.isfinite(place) and span >= 0.6 * (max(high, place) - min(low, place)):
                low, high = min(low, float(place)), max(high, float(place))
        pad = (0.07 if measure == "utility" else 0.1) * (high - low or 1.0)
        ends.append((low - pad, high + pad))
    return ends


def _share_ranges(panels: list[_Panel], axis: int) -> None:
    """Give panels of one measure one range, unless that leaves one of them less than half of its axis."""
    measure = 1 - axis
    for name in {panel.pair[measure] for panel in panels}:
        mine = [panel for panel in panels if panel.pair[measure] == name]
        low, high = min(panel.box[axis][0] for panel in mine), max(panel.box[axis][1] for panel in mine)
        if all(panel.box[axis][1] - panel.box[axis][0] >= 0.5 * (high - low) for panel in mine):
            for panel in mine:
                panel.box[axis] = (low, high)


def _staircase(releases: pd.DataFrame) -> list[Any]:
    """Return the rows with the least risk at each utility, most useful first."""
    best, rows = np.inf, []
    for _, row in releases.sort_values(["utility", "risk"], ascending=[False, True]).iterrows():
        if row["risk"] < best:
            rows.append(row)
            best = row["risk"]
    return rows


def _lit(panel: _Panel) -> set[Any]:
    methods = set(panel.releases["method"])
    return methods if len(methods) <= _MANY else {row["method"] for row in _staircase(panel.releases)}


def _usual_columns(n: int, width_cm: float, by_method: bool, crowded: bool) -> int:
    if width_cm < 12:
        return 1
    return 4 if by_method and n > 4 else 3 if by_method or (n > 4 and not crowded) else 2


def _grid(titles: Sequence[str]) -> list[tuple[str, str]] | None:
    """Split titles "row, column" if they fill a grid in order; None otherwise."""
    split = [tuple(title.split(", ", 1)) for title in titles]
    if any(len(part) < 2 for part in split):
        return None
    rows, columns = (list(dict.fromkeys(part[k] for part in split)) for k in (0, 1))
    filled = split == [(row, column) for row in rows for column in columns] and len(rows) > 1 and len(columns) > 1
    return [(part[0], part[1]) for part in split] if filled else None


# -- one panel ---------------------------------------------------------------------------------------------------------


def _set_axes(ax: Axes, panel: _Panel, limit: float | None, *, inch: float, edge: bool = True) -> None:
    panel.xs.apply(ax.xaxis, *panel.box[0], room=max(2, int(inch / 0.36)))
    panel.ys.apply(ax.yaxis, *panel.box[1], room=6)
    if limit is None:
        return
    at = float(panel.ys.clip(limit))
    ax.axhspan(at, float(panel.ys.back(panel.box[1][1])), color="0.955", linewidth=0, zorder=0)
    ax.axhline(at, color=_DARK, linewidth=0.7, zorder=1)
    if edge:
        ax.text(1.01, at, f"limit\n{limit:g}", transform=ax.get_yaxis_transform(), va="center", color=_DARK, fontsize=7)


def _title_axes(ax: Axes, panel: _Panel, chars: int) -> None:
    ax.set_xlabel(textwrap.fill(panel.measured("utility"), chars), fontsize=7)
    ax.set_ylabel(textwrap.fill(panel.measured("risk"), int(0.8 * chars)), fontsize=7)


def _draw(
    ax: Axes,
    panel: _Panel,
    looks: Mapping[str, _Look],
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
    for method, curve in releases.groupby("method", sort=False):
        look, points = looks[str(method)], [panel.at(row) for _, row in curve.iterrows()]
        if method not in lit:
            ax.plot(*zip(*points, strict=True), color=_PALE, linewidth=0.8, marker="o", markersize=2, zorder=2)
            if named:
                labels.append(Label(points, look.name, "0.45"))
            continue
        if look.ordered:
            ax.plot(*zip(*points, strict=True), color=look.colour, linewidth=1.0, zorder=3)
        mine = curve.index.intersection(tolerable.index)
        crossing = [releases.loc[mine, "utility"].idxmax()] if len(mine) else []
        for shade, point, (index, row) in zip(look.shades(len(curve)), points, curve.iterrows(), strict=True):
            if values == "ends" or limit is None or index in crossing:
                _draw_spread(ax, panel, row, look.colour)
            fill = np.array(mpl.colors.to_rgb(look.colour)) * shade + (1 - shade)
            ax.plot(*point, look.marker, markersize=3.6, color=tuple(fill), markeredgecolor=look.colour,
                    markeredgewidth=0.9, zorder=4)  # fmt: skip
        labels += _values(panel, curve, look, crossing, ends=values == "ends")
        if named and look.ordered:
            labels.append(Label(points, look.name, look.ink, bold=True))
    if len(tolerable):
        best = tolerable.loc[tolerable["utility"].idxmax()]
        if best["method"] in lit:
            ax.plot(*panel.at(best), "o", markersize=8, markerfacecolor="none", markeredgecolor="black",
                    markeredgewidth=1.0, zorder=5, gid="behind")  # fmt: skip
    return labels


def _values(panel: _Panel, curve: pd.DataFrame, look: _Look, crossing: list[Any], *, ends: bool) -> list[Label]:
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
    return [Label([panel.at(curve.loc[i])], str(curve.loc[i, "value"]), look.ink) for i in rows]


def _draw_frontier(ax: Axes, panel: _Panel) -> None:
    steps = [panel.at(row) for row in _staircase(panel.releases)]
    corners = [steps[0]] + [corner for one, two in pairwise(steps) for corner in ((one[0], two[1]), two)]
    ax.plot(*zip(*corners, strict=True), color="0.87", linewidth=3, zorder=1.2, solid_joinstyle="miter", gid="behind")


def _draw_spread(ax: Axes, panel: _Panel, row: pd.Series, colour: str) -> None:
    """Draw the spread of a release's runs as four quarters of ellipses: each quantile has a radius of its own."""
    if row["n"] < 2:
        return
    scales = ((panel.xs, "utility"), (panel.ys, "risk"))
    centre, low, high = (
        np.array([float(scale.place(row[f"{measure}{end}"])) for scale, measure in scales])
        for end in ("", "_low", "_high")
    )
    turn = np.linspace(0, 2 * np.pi, 49)
    wave = np.stack([np.cos(turn), np.sin(turn)])
    least = np.array([np.ptp(end) for end in panel.box])[:, None] * 0.008  # a spread of nothing stays visible
    radius = np.maximum(np.where(wave > 0, (high - centre)[:, None], (centre - low)[:, None]), least)
    outline = centre[:, None] + wave * radius
    corners = np.column_stack([panel.xs.back(outline[0]), panel.ys.back(outline[1])])
    if np.isfinite(corners).all():
        ax.add_patch(Polygon(corners, color=colour, alpha=0.17, linewidth=0, zorder=1.5))


def _draw_anchors(ax: Axes, panel: _Panel, *, named: bool) -> list[Label]:
    """Draw the original and nothing, and the line of guessing; one beyond the axes stands at their edge."""
    labels, ends = [], panel.box
    if panel.guess is not None:
        ax.axhline(panel.guess, color=_DARK, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
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
            labels.append(Label([at], f"{name}{told}", "black"))
    return labels


# -- around the panels -------------------------------------------------------------------------------------------------


def _head(
    ax: Axes,
    k: int,
    panels: Sequence[_Panel],
    heads: Sequence[tuple[str, str]] | None,
    looks: Mapping[str, _Look],
    columns: int,
    chars: int,
    shared: Sequence[bool],
) -> None:
    """Write what tells a panel from the others; what all share stands once, beside the figure."""
    panel = panels[k]
    if len(panels) == 1:
        _title_axes(ax, panel, chars)
        return
    if panel.method is not None:
        look = looks[panel.method]
        ax.set_title(look.name, fontsize=7, loc="left", color=look.ink, fontweight="bold")
        return
    column = heads[k][1] if heads and k < columns else ""
    head = column if heads else "" if shared[0] else panel.pair[0]
    ax.set_title(textwrap.fill(f"({ascii_lowercase[k % 26]}) {head}", chars), fontsize=7, loc="left")
    row = f"{heads[k][0]}\n" if heads and k % columns == 0 else ""
    if panel.said is not None:
        ax.set_ylabel(row, fontsize=7)
        return
    ax.set_ylabel(f"{row}risk{panel.ys.name}" if not shared[0] else row, fontsize=7)
    below = panels[k + columns :: columns]
    if not shared[1] and not (below and below[0].said is None and below[0].pair[1] == panel.pair[1]):
        ax.set_xlabel(textwrap.fill(panel.measured("utility"), chars), fontsize=7)


def _say(ax: Axes, said: str, chars: int) -> None:
    ax.set(xticks=[], yticks=[], facecolor="0.97")
    ax.spines[:].set_visible(False)
    told = "\n".join(textwrap.fill(line, int(0.88 * chars)) for line in said.split("\n"))
    text = ax.text(0.03, 0.95, told, transform=ax.transAxes, va="top", fontsize=7, color=_DARK, linespacing=1.3)
    text.set_in_layout(False)


def _legend(body: Any, frame: pd.DataFrame, looks: Mapping[str, _Look], inch: float) -> None:
    """Name the curves once for all panels, with the ends of their values."""
    handles = []
    for method, look in looks.items():
        curve = frame[frame["method"] == method].drop_duplicates("value")
        values = list(curve["value"])
        told = f", {curve['parameter'].iloc[0]} {values[0]}" + (f" to {values[-1]}" if len(values) > 1 else "")
        handles.append(Line2D([], [], color=look.colour, marker=look.marker, markersize=4, linewidth=1,
                              label=look.name + (told if look.ordered else "")))  # fmt: skip
    longest = max(len(str(handle.get_label())) for handle in handles)
    columns = max(1, min(len(handles), int(inch / (longest * _LETTER + 0.5))))
    body.legend(handles=handles, loc="outside upper left", ncols=columns, frameon=False, fontsize=7, handlelength=1.6)


def _key(foot: Any, inch: float, panels: Sequence[_Panel], looks: Mapping[str, _Look], limit: float | None) -> None:
    """Say once, below the panels, what the marks mean; only what is drawn."""
    drawn = pd.concat([panel.releases for panel in panels if panel.said is None] or [panels[0].releases])
    rows: list[tuple[Any, str]] = []
    if any(look.ordered for look in looks.values()):
        rows.append(
            (Line2D([], [], color=_DARK, marker="o", markerfacecolor="white", markersize=3.6, linewidth=1), "weakest")
        )
        rows.append((Line2D([], [], color=_DARK, marker="o", markersize=3.6, linewidth=1), "strongest"))
    if drawn["n"].max() > 1:
        low, high = int(drawn["n"].min()), int(drawn["n"].max())
        count = str(low) if low == high else f"{low} to {high}"
        rows.append((Patch(color=_DARK, alpha=0.2, linewidth=0), f"spread of {count} runs"))
    rows.append((Line2D([], [], color="0.87", linewidth=3), "frontier"))
    if limit is not None and any((panel.releases["risk"] <= limit).any() for panel in panels):
        ring = Line2D([], [], marker="o", markersize=7, markerfacecolor="none", color="black", linestyle="")
        rows.append((ring, "most useful below limit"))
    if any(panel.method is not None or len(_lit(panel)) < panel.releases["method"].nunique() for panel in panels):
        rows.append((Line2D([], [], color=_PALE, marker="o", markersize=2), "other methods"))
    loc = "outside lower left" if foot.axes else "center left"
    foot.legend(*zip(*rows, strict=True), loc=loc, borderpad=0.1, ncols=6 if inch > 5 else 3, frameon=False,
                fontsize=7, handlelength=1.4, columnspacing=1.0, handletextpad=0.5)  # fmt: skip
