"""Draw what a file holds: a panel a column with its role, and where the records are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from reident.plotting import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_columns", "draw_places"]

_MOST = 15
_COLOURS = {
    "identifier": "#8a1c00", "free text": "#8a1c00", "quasi-identifier": "#b36b00", "sensitive": "#6a3d9a",
    "place": "#1f6f4a", "weight": "#4a5568", "person": "#8a1c00",
    "household": "#4a5568", "node": "#1f6f4a", "other": "#8a8f98",
}  # fmt: skip


def draw_columns(opened: Any) -> Figure:
    """Draw the values of the first columns of a file, coloured by role; places as one panel of counts."""
    places = set() if opened.schema.places is None else {opened.schema.places["lat"], opened.schema.places["lon"]}
    rows = [row for row in opened.columns.itertuples() if row.column not in places and row.type != "geometry"]
    located = _points(opened)
    panels = rows[: _MOST - (located is not None)]
    n = len(panels) + (located is not None)
    width = min(4, max(1, n))
    height = -(-n // width)
    figure, axes = new_figure(height, width, size=(3.1 * width, 2.35 * height))
    flat = list(np.atleast_1d(axes).ravel())
    for ax, row in zip(flat, panels, strict=False):
        _draw_values(ax, opened.data[row.column].dropna(), row)
    if located is not None:
        ax = flat[len(panels)]
        ax.hexbin(*located, gridsize=18, mincnt=1, cmap="cividis", bins="log", linewidths=0.1)
        ax.set_title("places (place)", fontsize=8, color=_COLOURS["place"])
        ax.set_xticks([])
        ax.set_yticks([])
    for ax in flat[n:]:
        ax.set_visible(False)
    return figure


def draw_places(lon_deg: Any, lat_deg: Any) -> Figure:
    """Draw how many records lie where."""
    figure, ax = new_figure(size=(4.2, 3.6))
    ax.hexbin(lon_deg, lat_deg, gridsize=22, mincnt=1, cmap="cividis", bins="log", linewidths=0.1)
    ax.set_aspect(1 / max(0.05, float(np.cos(np.radians(np.median(lat_deg))))))
    ax.set_xlabel("longitude (degrees)")
    ax.set_ylabel("latitude (degrees)")
    return figure


def _points(opened: Any) -> tuple[Any, Any] | None:
    if hasattr(opened.data, "to_crs"):
        points = opened.data.geometry[opened.data.geometry.geom_type == "Point"]
        return (points.x.to_numpy(), points.y.to_numpy()) if len(points) else None
    if opened.schema.places is None:
        return None
    known = opened.data[[opened.schema.places["lon"], opened.schema.places["lat"]]].dropna().to_numpy(float)
    return known[:, 0], known[:, 1]


def _draw_values(ax: Axes, known: pd.Series, row: Any) -> None:
    colour = _COLOURS[row.role]
    gaps = f", {row.missing} missing" if row.missing else ""
    ax.set_title(f"{_short(row.column)} ({row.role})\n{row.distinct} values{gaps}", fontsize=8, color=colour)
    ax.tick_params(labelsize=7)
    if row.role in ("identifier", "person", "free text", "node") or not len(known):
        told = "not drawn:\nit tells who is who" if len(known) else "empty"
        ax.text(0.5, 0.5, told, ha="center", va="center", fontsize=8, transform=ax.transAxes, color="#555555")
        ax.set_xticks([])
        ax.set_yticks([])
        return
    if row.type in ("integer", "number"):
        values = known.to_numpy(float)
        ax.hist(values[np.isfinite(values)], bins=30, color=colour)
    elif row.type == "date":
        ax.hist(known.dt.year + known.dt.day_of_year / 366, bins=30, color=colour)
    else:
        counts = known.astype(str).value_counts()
        shown = counts.head(6)
        if len(counts) > 6:
            shown[f"{len(counts) - 6} others"] = counts.iloc[6:].sum()
        ax.barh([_short(value, 14) for value in shown.index[::-1]], shown.to_numpy()[::-1], color=colour)
    ax.locator_params(axis="x", nbins=4)


def _short(text: Any, most: int = 22) -> str:
    """Shorten a text of the data, as one in which matplotlib sees no formula."""
    short = str(text) if len(str(text)) <= most else f"{str(text)[: most - 1]}…"
    return short.replace("$", r"\$")
