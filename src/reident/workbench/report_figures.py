"""The figures of an assessment's report: the releases judged, the places before and after, what knowledge is worth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from reident.pages import picture
from reident.plotting import new_figure
from reident.workbench.microdata import LAT, LON, has_places

__all__ = ["judged_figure", "knowledge_figures", "place_figures"]


def judged_figure(assessment: Any) -> dict[str, Any] | None:
    """Draw the map of the releases that were judged; the advised one is ringed."""
    search = assessment.search
    if search is None or search.judged.empty:
        return None
    return {
        "title": "The releases judged",
        "alt": "columns kept by each release, and the persons that it puts above the limit",
        "source": picture(assessment.plot().figure),
        "table": None,
        "caption": (
            f"{len(search.judged)} releases judged by every attack of reident check. The risk is the share of persons "
            f"above {assessment.limit:.0%}; of a refused release at least, by the attacks up to the one that refused "
            f"it. Dotted: {assessment.tolerate:.0%} of persons, which is tolerated."
        ),
    }


def place_figures(assessment: Any) -> Iterator[dict[str, Any]]:
    """Draw how many records lie where, before and after, in the same cells; no single place can be read off."""
    found = assessment.search
    if found is None or not has_places(found.original):
        return
    tables = [("as they are", found.original)]
    if found.released is not None and has_places(found.released):
        tables.append(("in the advised release", found.released))
    lat, lon = (pd.concat([table[name] for _, table in tables]).dropna().to_numpy(float) for name in (LAT, LON))
    figure, axes = new_figure(1, len(tables), size=(4.6 * len(tables) + 0.6, 4.4), squeeze=False)
    for ax, (title, table) in zip(np.ravel(axes), tables, strict=True):
        there = table[[LAT, LON]].dropna()
        drawn = ax.hexbin(
            there[LON],
            there[LAT],
            gridsize=22,
            mincnt=1,
            cmap="cividis",
            extent=(lon.min(), lon.max(), lat.min(), lat.max()),
        )
        ax.set_aspect(1 / max(0.05, float(np.cos(np.radians(lat.mean())))))
        ax.set_title(title)
        ax.set_xlabel("longitude (degrees)")
        ax.set_ylabel("latitude (degrees)")
        figure.colorbar(drawn, ax=ax, label="records a cell", shrink=0.8)
    more = "" if len(tables) == 2 else " The advised release shows no places." if found.passed else ""
    yield {
        "title": "Places before and after", "alt": "counts of records a cell, before and after", "table": None,
        "source": picture(figure), "caption": f"Records a cell.{more}",
    }  # fmt: skip


def knowledge_figures(assessment: Any) -> Iterator[dict[str, Any]]:
    """Draw what the worst intruder who knows so many columns gets, before and after."""
    found = assessment.search
    if found is None:
        return
    told = [("data as they are", found.price_before), ("advised release", found.price_after)]
    curves = [(name, price) for name, price in told if price is not None]
    if not curves:
        return
    figure, ax = new_figure(size=(6.4, 3.6))
    for (name, price), mark in zip(curves, "os", strict=False):
        worst = price.worst
        ax.plot(worst["size"], 100 * worst["share_above_limit"], marker=mark, label=name)
    ax.set_xlabel("columns that the intruder knows")
    ax.set_ylabel(f"persons above {assessment.limit:.0%} (%)")
    ax.set_ylim(-3, 103)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend()
    parts = [price.columns.set_index("column")["share_above_limit"].rename(f"adds, {name}") for name, price in curves]
    first = curves[0][1].worst
    table = pd.concat(parts, axis=1).reset_index()
    named = "; ".join(f"{row['size']}: {row['known']}" for _, row in first.iterrows())
    yield {
        "title": "What knowledge is worth", "alt": "persons above the limit by the number of columns known",
        "source": picture(figure), "table": table,
        "caption": (
            f"The worst intruder of each size joins by what was left. Worst knowledge, {curves[0][0]}: {named}."
        ),
    }  # fmt: skip
