"""A risk-utility map to be asked: hover, a limit to drag, advice in words, a click for the code; offline, no library.

One script draws the map in a page by itself (`ru_map_page`), as a part of one (`ru_map_part`), and in JupyterLab
(`ru_map_widget`). Its scales, order and advice are those of the printed map.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from reident.base import check_mapping, check_real
from reident.pages import render
from reident.plotting._layout import layout
from reident.rumap import check_one_panel

__all__ = ["map_data", "ru_map_page", "ru_map_part", "ru_map_widget"]

#: Columns that a frame may have beside those of `ru_frame`; told where a release has them.
_EXTRA = ("baseline", "n_above", "share_above_limit")

_SCRIPT = Path(__file__).with_suffix(".js")


def map_data(
    frame: pd.DataFrame,
    *,
    risk_limit: float = 0.25,
    tolerate: float = 0.0,
    codes: Mapping[tuple[str, str], str] | None = None,
) -> dict[str, Any]:
    """Return what the script draws, as plain numbers, rounded so that the same frame gives the same bytes.

    Parameters
    ----------
    frame : DataFrame
        As `ru_frame` returns, one panel; columns `baseline`, `n_above` and `share_above_limit` are told if it has them.
        With `above_at`, as of `risk_utility`, a release passes by the persons above the limit, else by its risk. With
        `refused`, what else refused a release at `risk_limit`: it passes at no limit up to that.
    risk_limit : float, default 0.25
        Where the limit stands at first; the axis of risk shows it.
    tolerate : float, default 0
        The share of persons who may lie above it.
    codes : mapping of (method, value) to str, optional
        The code that makes a release, shown after a click on it.

    Raises
    ------
    DataError, ParameterError
        If a column is absent, or the frame has several panels.
    """
    check_one_panel(frame)
    check_real(risk_limit, "risk_limit", low=0, high=1, why="a risk is a share of persons or of claims")
    check_real(tolerate, "tolerate", low=0, high=1)
    codes = check_mapping(codes, "codes", optional=True)
    panel, looks = layout(frame.reset_index(drop=True), risk_limit)
    extra = [column for column in _EXTRA if column in frame.columns]
    curves = []
    for method, curve in panel.releases.groupby("method", sort=False):
        look = looks[str(method)]
        points = [_point(panel, row, extra, codes.get((str(method), str(row["value"])))) for _, row in curve.iterrows()]
        curves.append(
            {
                "name": look.name,
                "method": str(method),
                "colour": look.colour,
                "ink": "#" + "".join(f"{round(255 * part):02x}" for part in look.ink),
                "ordered": look.joined,
                "shades": [round(float(shade), 3) for shade in look.shades(len(curve))],
                "points": points,
            }
        )
    guess = panel.guess
    low, high = panel.box[1]
    return {
        "attack": panel.measured("risk"),
        "analysis": panel.measured("utility"),
        "curves": curves,
        "extra": extra,
        "judged": "above_at" in frame.columns,
        "tolerate": tolerate,
        "refused_at": risk_limit,
        "guess": None if guess is None else _share(panel, 1, guess),
        "scale": {"kind": panel.ys.kind, "ceiling": panel.ys.ceiling, "zero": panel.ys.zero, "low": low, "high": high},
        "xt": [[_share(panel, 0, value), text] for value, text in panel.xs.ticks(*panel.box[0], 7)],
        "yt": [[_share(panel, 1, value), text] for value, text in panel.ys.ticks(*panel.box[1], 7)],
    }


def _point(panel: Any, row: pd.Series, extra: list[str], code: str | None) -> dict[str, Any]:
    told: dict[str, Any] = {"parameter": str(row["parameter"]), "value": str(row["value"]), "n": int(row["n"])}
    for axis, measure in (("x", "utility"), ("y", "risk")):
        for end in ("", "_low", "_high"):
            told[f"{measure}{end}"] = _plain(row[f"{measure}{end}"])
            told[f"{axis}{end}"] = _share(panel, "xy".index(axis), row[f"{measure}{end}"])
    told["risk_worst"] = _plain(row["risk_worst"])
    if row["n"] > 1 and np.isfinite(row["undominated"]):
        told["undominated"] = _plain(row["undominated"])
    told |= {column: _plain(row[column]) for column in extra}
    if isinstance(row.get("above_at"), str):
        told["above_at"] = json.loads(row["above_at"])
    if isinstance(row.get("refused"), str):
        told["refused"] = row["refused"]
    return told if code is None else {**told, "code": code}


def _plain(value: Any) -> float | None:
    return round(float(value), 6) if np.isfinite(value) else None


def _share(panel: Any, axis: int, value: float) -> float:
    """Return where a value lies between the ends of an axis, from 0 to 1; an infinite one at the end."""
    scale, (low, high) = (panel.xs, panel.ys)[axis], panel.box[axis]
    return round(float(np.clip((scale.place(value) - low) / (high - low), 0, 1)), 5)


def ru_map_part(
    frame: pd.DataFrame,
    name: str,
    *,
    risk_limit: float = 0.25,
    tolerate: float = 0.0,
    codes: Mapping[tuple[str, str], str] | None = None,
) -> Markup:
    """Return the map as a part of a page: an element of this `name` and the script that fills it."""
    state = {"data": map_data(frame, risk_limit=risk_limit, tolerate=tolerate, codes=codes), "limit": risk_limit}
    return Markup(render("map_part", name=name, state=state, script=Markup(_SCRIPT.read_text(encoding="utf-8"))))


def ru_map_page(
    frame: pd.DataFrame,
    *,
    risk_limit: float = 0.25,
    tolerate: float = 0.0,
    codes: Mapping[tuple[str, str], str] | None = None,
) -> str:
    """Return one HTML page with the map; it needs neither network nor library.

    Parameters
    ----------
    frame : DataFrame
        As `ru_frame` returns, one panel.
    risk_limit : float, default 0.25
        Where the limit stands at first.
    tolerate : float, default 0
        The share of persons who may lie above it, where the frame tells it (`above_at`).
    codes : mapping of (method, value) to str, optional
        The code that makes a release, shown after a click on it.

    Returns
    -------
    str
        The same frame gives the same bytes.

    Raises
    ------
    DataError, ParameterError
        If a column is absent, or the frame has several panels.
    """
    part = ru_map_part(frame, "map", risk_limit=risk_limit, tolerate=tolerate, codes=codes)
    return render("map", title="Risk-utility map", map=part)


def ru_map_widget(
    frame: pd.DataFrame | None = None,
    *,
    risk_limit: float = 0.25,
    tolerate: float = 0.0,
    codes: Mapping[tuple[str, str], str] | None = None,
    on_release: Callable[[str, str], Any] | None = None,
) -> Any:
    """Return the map as a widget of JupyterLab, with traits `limit` and `release` (method and value of the last click).

    Without a frame it is empty; what `map_data` returns of a frame, set as its trait `data`, draws it anew.

    Parameters
    ----------
    frame : DataFrame, optional
    risk_limit, tolerate, codes
        As for `ru_map_page`.
    on_release : callable, optional
        Called with method and value after a click.

    Returns
    -------
    AnyWidget
        To be shown as the last value of a cell.

    Raises
    ------
    DataError, ParameterError
        If a column is absent, or the frame has several panels.
    """
    import anywidget
    import traitlets

    class RiskUtilityMap(anywidget.AnyWidget):  # type: ignore[misc]
        _esm = _SCRIPT.read_text(encoding="utf-8") + "\nexport default {render};"
        data = traitlets.Dict().tag(sync=True)
        limit = traitlets.Float().tag(sync=True)
        release: Any = traitlets.List().tag(sync=True)

    told = {} if frame is None else map_data(frame, risk_limit=risk_limit, tolerate=tolerate, codes=codes)
    widget = RiskUtilityMap(data=told, limit=risk_limit)
    if on_release is not None:
        widget.observe(lambda change: on_release(*change["new"]), "release")
    return widget
