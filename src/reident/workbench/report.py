"""The report of an assessment: one screen, then details; an edition for the custodian and one that may be shown."""

from __future__ import annotations

import inspect
import platform
import shlex
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import reident
from reident.base import Row
from reident.methods import find
from reident.pages import picture, write_page
from reident.plotting import new_figure
from reident.plotting.interactive import ru_map_part
from reident.workbench.microdata import LAT, LON, has_places

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_VERSIONS = ("numpy", "pandas", "scipy", "numba", "geopandas", "shapely", "matplotlib")
#: Records shown in the internal edition.
_RISKIEST = 15
#: Records shown before and after, and roles of columns that are never released.
_ROWS, _NEVER = 3, ("place", "latitude", "longitude", "identifier", "person", "free text")
#: The columns of an attack.
_COLUMNS = [
    "name", "what", "risk", "low", "high", "baseline", "control", "worst", "n_above", "n", "verdict", "assumption",
]  # fmt: skip
#: A reason may name values of the data.
_UNMADE = "could not be made"


def write_report(
    assessment: Any, out: Path, *, command: str = "", recipe: str = "", receipts: Sequence[str] = ()
) -> Path:
    """Write both editions of the report of an assessment into a folder; see `Assessment.save`."""
    out.mkdir(parents=True, exist_ok=True)
    assessment.frame.to_csv(out / "map.csv", index=False)
    texts, search = _said(assessment, recipe), assessment.search
    figures = list(_knowledge_figures(search, assessment.limit))
    made_with = ", ".join(f"{name} {metadata.version(name)}" for name in _VERSIONS)
    versions = [
        f"Seed {assessment.seed}.",
        f"reident {reident.__version__}, Python {platform.python_version()}, {made_with}.",
    ]
    candidates = None if search is None else search.candidates
    secret = {
        "internal": True,
        "candidates": candidates,
        "figures": [*_place_figures(search), *figures],
        **_riskiest(assessment),
        "rows": _rows(assessment),
        "columns": assessment.profile,
        "command": command,
        "receipts": [f"Values assessed: sha256 {assessment.data_sha256}", *receipts, *versions],
    }
    public = {
        **dict.fromkeys(("riskiest", "rows", "columns", "command")),
        "internal": False,
        "candidates": None if candidates is None else candidates.replace({"reason": {r"^.+$": _UNMADE}}, regex=True),
        "figures": figures,
        "receipts": versions,
    }
    write_page(out / "report-external.html", "assessment", **texts, **public)
    return write_page(out / "report.html", "assessment", **texts, **secret)


def _said(assessment: Any, recipe: str) -> Row:
    """Return the content of both editions: names of columns, methods, counts and shares, no value of the data."""
    search = assessment.search
    titles = ("the data as they are", "the advised release")
    both = (None, None) if search is None else (search.before, search.after)
    panels = [(title, panel) for title, panel in zip(titles, both, strict=True) if panel is not None]
    protect = ""
    if assessment.passed and recipe:
        path = shlex.quote(recipe)
        protect = f"reident protect --recipe {path} --out release\nreident check release --against FILE --recipe {path}"
    frame = panels[-1][1].frame if panels else None
    judged = None if search is None or search.judged.empty else search
    chain = [find(step["method"], "anonymiser") for step in (search.chain if search is not None else [])]
    return {
        "title": "Disclosure risk: assessment of a release",
        "assessment": assessment,
        "search": search,
        "compared": panels,
        "protect": protect,
        "steps": [(entry.label, (inspect.getdoc(entry.function) or "").partition("\n\n")[0]) for entry in chain],
        "absent": _absent(assessment),
        "map": judged and ru_map_part(judged.frame, "ru-map", limit=assessment.tolerate),
        "panels": [(title, panel.applied[_COLUMNS]) for title, panel in reversed(panels)],
        "not_run": None if frame is None else frame.loc[frame["reason"] != "", ["name", "reason"]],
    }


def _released(assessment: Any) -> pd.DataFrame | None:
    """Return the records of the advised release; None for a network, or without one."""
    search = assessment.search
    has_records = search is not None and search is not assessment.network and search.released is not None
    return pd.DataFrame(search.released) if has_records else None


def _absent(assessment: Any) -> list[str]:
    """Return the columns that the advised release lacks and may have."""
    released, columns = _released(assessment), assessment.profile
    if released is None:
        return []
    is_absent = ~columns["column"].isin(released.columns) & ~columns["role"].isin(_NEVER)
    return [str(name) for name in columns.loc[is_absent, "column"]]


def _rows(assessment: Any) -> pd.DataFrame | None:
    """Return some records of the advised release below the same records as they were."""
    released = _released(assessment)
    if released is None:
        return None
    original, chosen = assessment.search.evaluator.records, released.index[:_ROWS]
    columns = [name for name in original.columns if name in released]
    parts = [table.loc[chosen, columns].astype(object) for table in (original, released)]
    both = pd.concat(parts, keys=["original", "release"], names=["table", "record"]).reset_index()
    both["record"] += 1
    return both.sort_values("record", kind="stable") if columns else None


def _riskiest(assessment: Any) -> Row:
    """Return the records with the largest risk in the advised release, else in the data as they are."""
    search = assessment.search
    if search is None:
        return {"riskiest": None}
    persons = (search.after or search.before).worst
    top = persons.head(_RISKIEST)
    records = search.evaluator.records
    table = records.loc[top.index, [name for name in records if name in search.evaluator.known]].astype(object)
    record = top.index if assessment.network is search else top.index + 1  # a node has its name
    risks = pd.DataFrame({"record": record, "risk": top["risk"].to_numpy(float), "attack": top["attack"]})
    where = "advised release" if search.passed else "data as they are"
    label = "name of the node" if assessment.network is search else "number of the record in the file as it was read"
    label += ", of several of a person the first" if len(persons) < len(records) else ""
    return {
        "riskiest": pd.concat([risks, table], axis=1),
        "riskiest_said": f"By {label}, in the {where}, with what is known.",
    }


def draw_places(tables: dict[str, pd.DataFrame]) -> Figure:
    """Draw how many records of each table lie where, in the same cells; no single place can be read off."""
    points = {title: table[[LON, LAT]].dropna().to_numpy(float) for title, table in tables.items()}
    lon, lat = np.concatenate(list(points.values())).T
    figure, axes = new_figure(1, len(points), size=(4.6 * len(points) + 0.6, 4.4), squeeze=False)
    for ax, (title, places) in zip(axes.ravel(), points.items(), strict=True):
        extent = (lon.min(), lon.max(), lat.min(), lat.max())
        cells = ax.hexbin(*places.T, gridsize=22, mincnt=1, cmap="cividis", extent=extent)
        ax.set(title=title, xlabel="longitude (degrees)", ylabel="latitude (degrees)")
        ax.set_aspect(1 / max(0.05, np.cos(np.radians(lat.mean()))))
        figure.colorbar(cells, ax=ax, label="records a cell", shrink=0.8)
    return figure


def _place_figures(search: Any) -> Iterator[Row]:
    """Draw the places before and after a release."""
    if search is None or not has_places(search.evaluator.records):
        return
    tables = {"as they are": search.evaluator.records}
    if search.released is not None and has_places(search.released):
        tables["in the advised release"] = search.released
    more = "" if len(tables) == 2 else " The advised release shows no places." if search.passed else ""
    yield {
        "title": "Places before and after", "alt": "counts of records a cell, before and after", "table": None,
        "source": picture(draw_places(tables)), "caption": f"Records a cell.{more}",
    }  # fmt: skip


def _knowledge_figures(search: Any, limit: float) -> Iterator[Row]:
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
    ax.set(xlabel="columns that the intruder knows", ylabel=f"persons above {limit:.0%} (%)", ylim=(-3, 103))
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
