"""Figures of own data: the columns of a file, places before and after, and the value of knowledge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from reident.pages import picture
from reident.plotting import new_figure
from reident.workbench.microdata import LAT, LON, has_places

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_columns", "draw_places", "knowledge_figures", "place_figures"]

_MOST = 15
_COLOURS = {
    **dict.fromkeys(("identifier", "free text", "person"), "#8a1c00"), **dict.fromkeys(("place", "node"), "#1f6f4a"),
    **dict.fromkeys(("weight", "household"), "#4a5568"), "quasi-identifier": "#b36b00", "sensitive": "#6a3d9a",
    "other": "#8a8f98",
}  # fmt: skip


def draw_columns(opened: Any) -> Figure:
    """Draw the values of the first columns of a file, coloured by role; places as one panel of counts."""
    lat_lon = opened.schema.places and [opened.schema.places[name] for name in ("lat", "lon")]
    rows = [row for row in opened.columns.itertuples() if row.column not in (lat_lon or ()) and row.type != "geometry"]
    points = None
    if hasattr(opened.data, "to_crs"):
        known = opened.data.geometry[opened.data.geometry.geom_type == "Point"]
        points = (known.x, known.y) if len(known) else None
    elif lat_lon:
        points = opened.data[lat_lon[::-1]].dropna().to_numpy(float).T
    panels = rows[: _MOST - (points is not None)]
    n = len(panels) + (points is not None)
    width = min(4, max(1, n))
    height = -(-n // width)
    figure, axes = new_figure(height, width, size=(3.1 * width, 2.35 * height), squeeze=False)
    for ax, row in zip(axes.ravel(), panels, strict=False):
        _draw_values(ax, opened.data[row.column].dropna(), row)
    if points is not None:
        ax = axes.ravel()[len(panels)]
        ax.hexbin(*points, gridsize=18, mincnt=1, cmap="cividis", bins="log", linewidths=0.1)
        ax.set_title("places (place)", fontsize=8, color=_COLOURS["place"])
        ax.set_xticks([])
        ax.set_yticks([])
    for ax in axes.ravel()[n:]:
        ax.set_visible(False)
    return figure


def _draw_values(ax: Axes, known: pd.Series, row: Any) -> None:
    colour = _COLOURS[row.role]
    gaps = f", {row.missing} missing" if row.missing else ""
    ax.set_title(f"{_short(row.column)} ({row.role})\n{row.distinct} values{gaps}", fontsize=8, color=colour)
    ax.tick_params(labelsize=7)
    if row.role in ("identifier", "person", "free text", "node") or not len(known):
        text = "not drawn:\nit identifies records" if len(known) else "empty"
        ax.text(0.5, 0.5, text, ha="center", va="center", fontsize=8, transform=ax.transAxes, color="#555555")
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


def draw_places(tables: dict[str, pd.DataFrame]) -> Figure:
    """Draw how many records of each table lie where, in the same cells; no single place can be read off."""
    points = {title: table[[LON, LAT]].dropna().to_numpy(float) for title, table in tables.items()}
    lon, lat = np.concatenate(list(points.values())).T
    figure, axes = new_figure(1, len(points), size=(4.6 * len(points) + 0.6, 4.4), squeeze=False)
    for ax, (title, places) in zip(axes.ravel(), points.items(), strict=True):
        extent = (lon.min(), lon.max(), lat.min(), lat.max())
        cells = ax.hexbin(*places.T, gridsize=22, mincnt=1, cmap="cividis", extent=extent)
        ax.set_aspect(1 / max(0.05, float(np.cos(np.radians(lat.mean())))))
        ax.set_title(title)
        ax.set_xlabel("longitude (degrees)")
        ax.set_ylabel("latitude (degrees)")
        figure.colorbar(cells, ax=ax, label="records a cell", shrink=0.8)
    return figure


def place_figures(search: Any) -> Iterator[dict[str, Any]]:
    """Draw the places before and after a release."""
    if search is None or not has_places(search.original):
        return
    tables = {"as they are": search.original}
    if search.released is not None and has_places(search.released):
        tables["in the advised release"] = search.released
    more = "" if len(tables) == 2 else " The advised release shows no places." if search.passed else ""
    yield {
        "title": "Places before and after", "alt": "counts of records a cell, before and after", "table": None,
        "source": picture(draw_places(tables)), "caption": f"Records a cell.{more}",
    }  # fmt: skip


def knowledge_figures(search: Any, limit: float) -> Iterator[dict[str, Any]]:
    """Draw the success of the worst intruder by the number of columns known, before and after."""
    if search is None:
        return
    both = {"data as they are": search.price_before, "advised release": search.price_after}
    curves = {name: price for name, price in both.items() if price is not None}
    if not curves:
        return
    figure, ax = new_figure(size=(6.4, 3.6))
    for (name, price), mark in zip(curves.items(), "os", strict=False):
        ax.plot(price.worst["size"], 100 * price.worst["share_above_limit"], marker=mark, label=name)
    ax.set_xlabel("columns that the intruder knows")
    ax.set_ylabel(f"persons above {limit:.0%} (%)")
    ax.set_ylim(-3, 103)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend()
    adds = {f"adds, {name}": p.columns.set_index("column")["share_above_limit"] for name, p in curves.items()}
    name, first = next(iter(curves.items()))
    known = "; ".join(f"{row['size']}: {row['known']}" for _, row in first.worst.iterrows())
    yield {
        "title": "What knowledge is worth", "alt": "persons above the limit by the number of columns known",
        "source": picture(figure), "table": pd.concat(adds, axis=1).reset_index(),
        "caption": f"The worst intruder of each size joins by what was left. Worst knowledge, {name}: {known}.",
    }  # fmt: skip
