"""Interactive risk-utility maps: hover, a limit to drag, a click for the code; offline, without a library.

One script draws the map in a page (`ru_map_page`), as a part of one (`ru_map_part`), and in JupyterLab
(`ru_map_widget`). A release is within the limit if the upper end of its bar is, as on the printed map.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.ticker import MaxNLocator

from reident.base import check_mapping, check_real
from reident.pages import render
from reident.plotting import COLOURS
from reident.plotting.ru_curves import is_wide
from reident.rumap import NOTHING, check_one_panel, releases_of

#: Columns beyond those of `ru_frame` whose values are shown where a release has them.
_EXTRA = ("baseline", "n_above", "share_above_limit", "above", "above_high")

#: The code that makes a release, by its method and label.
Codes = Mapping[tuple[str, str], str] | None

_SCRIPT = Path(__file__).with_suffix(".js")


def map_data(frame: pd.DataFrame, *, limit: float = 0.25, codes: Codes = None) -> dict[str, Any]:
    """Return the data of the script as plain numbers, rounded so that the same frame gives the same bytes.

    A utility that is infinite is None.

    Parameters and errors are those of `ru_map_page`. With a column `refused` in `frame`, a release that has a text
    there is within no limit.
    """
    panel = check_one_panel(frame)
    limit = check_real(limit, "limit", low=0, high=1, why="a risk is a share of persons or of claims")
    codes = check_mapping(codes, "codes", optional=True)
    releases = releases_of(frame)
    extra = [column for column in _EXTRA if column in frame.columns]
    utility = releases["utility"].to_numpy(float)
    utility, log = utility[np.isfinite(utility)], is_wide(releases["utility"])
    xs = _axis(np.log10(utility) if log else utility)
    ys = _axis(np.append(releases[["risk_low", "risk_high"]].to_numpy(float), [0.0, limit]))
    guess = frame.loc[frame["method"] == NOTHING, "risk"].max()
    measures = [f"{measure}{end}" for measure in ("risk", "utility") for end in ("", "_low", "_high")]

    def point(row: Any) -> dict[str, Any]:
        refused = row.get("refused")
        return {
            **{name: str(row[name]) for name in ("parameter", "label", "unit")}, "n": int(row["n"]),
            **{name: _plain(row[name]) for name in (*measures, "risk_worst", "undominated", *extra)},
            "refused": refused if isinstance(refused, str) else None,
            "code": codes.get((str(row["method"]), str(row["label"]))),
        }  # fmt: skip

    curves = [
        {"name": str(method), "colour": COLOURS[number % len(COLOURS)],
         "points": [point(row) for _, row in part.iterrows()]}
        for number, (method, part) in enumerate(releases.groupby("method", sort=False))
    ]  # fmt: skip
    return {
        "attack": f"risk: {panel['attack']}", "analysis": f"utility: {panel['analysis']}", "curves": curves,
        "extra": extra, "guess": guess if guess > 0 else None, "log": log, "x": xs, "y": ys,
        "xt": [[10**v, f"{10**v:.2g}"] if log else [v, f"{v:.6g}"] for v in _ticks(*xs)],
        "yt": [[v, f"{v:.6g}"] for v in _ticks(*ys)],
    }  # fmt: skip


def _axis(values: Any) -> list[float]:
    """Return both ends of an axis, a little beyond the values."""
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    pad = 0.07 * (high - low or 1.0)
    return [low - pad, high + pad]


def _ticks(low: float, high: float) -> list[float]:
    """Return round values of an axis."""
    values = MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [float(value) for value in values if low <= value <= high]


def _plain(value: Any) -> float | None:
    return float(f"{value:.6g}") if np.isfinite(value) else None


def ru_map_part(frame: pd.DataFrame, name: str, *, limit: float = 0.25, codes: Codes = None) -> Markup:
    """Return the map as a part of a page: an element of this `name` and the script that fills it."""
    state = {"data": map_data(frame, limit=limit, codes=codes), "limit": limit}
    return Markup(render("map_part", name=name, state=state, script=Markup(_SCRIPT.read_text(encoding="utf-8"))))


def ru_map_page(frame: pd.DataFrame, *, limit: float = 0.25, codes: Codes = None) -> str:
    """Return one HTML page with the map; it needs neither network nor library.

    Parameters
    ----------
    frame : DataFrame
        As `ru_frame` returns, one panel.
    limit : float, default 0.25
        Where the limit stands at first.
    codes : mapping of (method, label) to str, optional
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
    part = ru_map_part(frame, "map", limit=limit, codes=codes)
    return render("map", title="Risk-utility map", map=part)


def ru_map_widget(frame: pd.DataFrame | None = None, *, limit: float = 0.25, codes: Codes = None) -> Any:
    """Return the map as a widget of JupyterLab, with traits `limit` and `release` (method and label of the last click).

    Parameters
    ----------
    frame : DataFrame, optional
        Without a frame the map is empty; the result of `map_data`, set as its trait `data`, draws it anew.
    limit, codes
        As for `ru_map_page`.

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

    data = {} if frame is None else map_data(frame, limit=limit, codes=codes)
    return RiskUtilityMap(data=data, limit=limit)
