"""Figures of own data: places before and after, and the value of knowledge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from reident.pages import picture
from reident.plotting import new_figure
from reident.workbench.microdata import LAT, LON, has_places

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_places", "knowledge_figures", "place_figures"]


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
