"""Risk-utility maps: curves of methods, the most useful release within the limit ringed, the good corner named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.special import stdtrit

from reident.base import check_real
from reident.plotting import COLOURS, LINES, MARKERS, new_figure
from reident.rumap import ORIGINAL, check_one_panel, releases_of

#: Methods up to which the ends of each curve are labelled.
_LABELLED = 4
#: Ratio of the largest to the smallest utility from which its scale is logarithmic.
_WIDE = 30


def plot_ru_map(frame: pd.DataFrame, *, limit: float = 0.25, ax: Axes | None = None) -> Axes:
    """Draw a risk-utility map: a curve a method, the limit, and a ring round the most useful release within it.

    Parameters
    ----------
    frame : DataFrame
        As `ru_frame` returns; one attack and one analysis. With a column `refused`, releases that have a text there
        were refused before all attacks were run: their risk is at least the one drawn (upward triangles).
    limit : float, default 0.25
        Tolerable risk, in the unit of the risk column. A release is within it if the upper end of its bar is.
    ax : Axes, optional
        Drawn on; a new figure by default.

    Returns
    -------
    Axes

    Raises
    ------
    DataError, ParameterError
        If a column is absent, the frame has several panels or no release, or the limit is negative.

    Notes
    -----
    Duncan, Keller-McNulty and Stokes (2001).
    """
    panel = check_one_panel(frame)
    limit = check_real(limit, "limit", low=0)
    releases = releases_of(frame)
    colours = [colour for colour in COLOURS if colour != "#000000"]
    if ax is None:
        ax = new_figure(size=(6.4, 4.2))[1]
    curves = list(releases.groupby("method", sort=False))
    for number, (method, curve) in enumerate(curves):
        colour, marker = colours[number % len(colours)], str(MARKERS[number % len(MARKERS)])
        points = curve.set_index("label")
        short = len(curves) <= _LABELLED and points.index.str.len().max() <= 8
        line: Any = LINES[number % len(LINES)]
        draw_ru_curve(ax, points, unit="" if short else None, line=line, colour=colour, marker=marker)
        ax.plot([], [], color=colour, marker=marker, label=str(method))
    if "refused" in releases and len(refused := releases[releases["refused"].notna()]):
        ax.plot(refused["utility"], refused["risk"] + 0.02, "^", color="0.5", markersize=4, label="at least (refused)")
    original = frame[frame["method"] == ORIGINAL]
    at: tuple[float | None, float] | None = None
    if len(original):
        utility, risk = original[["utility", "risk"]].astype(float).iloc[0]
        at = utility if np.isfinite(utility) else None, risk
        ax.plot([], [], "k*", label="original")
    frame_ru_map(ax, limit=limit, risk=f"risk: {panel['attack']}", utility=f"utility: {panel['analysis']}",
                 lowest=releases["risk_low"].min(), log=is_wide(releases["utility"]), original=at)  # fmt: skip
    best = _ring(ax, releases, limit)
    if best is not None:
        text = f"{best['method']} {best['label']}".strip()
        ax.annotate(text.replace("$", r"\$"), (best["utility"], best["risk"]), xytext=(0, 12), fontsize=7, ha="center",
                    textcoords="offset points", fontweight="bold")  # fmt: skip
    ax.legend(loc="upper left", fontsize=7)
    return ax


def is_wide(utility: pd.Series) -> bool:
    """Detect utilities that need a logarithmic scale: positive, and a factor of 30 or more apart."""
    values = utility.to_numpy(float)
    values = values[np.isfinite(values)]
    return bool(len(values) and values.min() > 0 and values.max() >= _WIDE * values.min())


def ru_points(trials: pd.DataFrame, by: str, *, risk: str, utility: str, draws: str = "dataset") -> pd.DataFrame:
    """Return mean `utility` and `risk` of each release, and `half` the 95 % interval of the risk, indexed by `by`.

    `trials` has one row a trial; `risk` and `utility` are its columns, `by` the column that tells the releases apart,
    such as the size of the noise. The values of the column `draws` are independent: the interval is Student's over
    their means.
    """
    means = trials.groupby([by, draws])[[utility, risk]].mean()
    n = means.groupby(by).size()
    points = means.groupby(by).mean().set_axis(["utility", "risk"], axis="columns")
    half = means.groupby(by)[risk].sem() * stdtrit((n - 1).clip(lower=1), 0.975)
    return points.assign(half=half.fillna(0))


def draw_ru_curve(
    ax: Axes,
    points: pd.DataFrame,
    *,
    colour: str,
    limit: float | None = None,
    unit: str | None = "",
    line: str = "-",
    marker: str = "o",
    shifts: tuple[tuple[float, float], tuple[float, float]] = ((0, -14), (-14, -14)),
) -> pd.DataFrame:
    """Draw the curve of a method, ring its most useful release within the limit, and return the releases within it.

    `ax` is framed by `frame_ru_map`; `points` are as `ru_points` or `ru_frame` returns them, risks are shares. Ringed
    is the most useful release whose interval ends below `limit`. `unit` is written behind the values of the index at
    both ends of the curve, None labels neither; `shifts` place these two labels, in points from the releases.
    """
    x, y = points["utility"], points["risk"]
    if x.min() == x.max():  # a scale needs two ends
        ax.update_datalim([(x.iloc[0] / 2, y.iloc[0]), (x.iloc[0] * 2, y.iloc[0])])
    low, high = _ends(points)
    bars = [(y - low).clip(lower=0), (high - y).clip(lower=0)]
    ax.errorbar(x, y, bars, color=colour, linestyle=line, marker=marker, linewidth=1.2, elinewidth=0.7)
    style: dict[str, Any] = {"textcoords": "offset points", "fontsize": 7, "color": colour, "ha": "center", "zorder": 5}
    ends = () if unit is None else ((0, shifts[0]), (-1, shifts[1]))
    for end, shift in ends[: len(points)]:
        value = points.index[end]
        text = f"{value:g}{unit}" if isinstance(value, int | float) else f"{value}{unit}"
        ax.annotate(text, (x.iloc[end], y.iloc[end]), xytext=shift, **style)
    if limit is None:
        return points.iloc[:0]
    _ring(ax, points, limit)
    return points[high <= limit]


def _ends(points: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Return both ends of the bars of risk; of shares none beyond 0 and 1."""
    if "half" not in points:
        return points["risk_low"], points["risk_high"]
    y, half = points["risk"], points["half"]
    return y - half.clip(upper=y), y + half.clip(upper=(1 - y).clip(lower=0))


def _ring(ax: Axes, points: pd.DataFrame, limit: float) -> pd.Series | None:
    """Ring the most useful release with a bar within the limit, and return it."""
    allowed = points[_ends(points)[1] <= limit]
    if allowed.empty:
        return None
    best: pd.Series = allowed.iloc[int(allowed["utility"].to_numpy().argmax())]
    ax.scatter(best["utility"], best["risk"], s=110, facecolor="none", edgecolor="black", zorder=4)
    return best


def frame_ru_map(
    ax: Axes,
    *,
    limit: float,
    risk: str,
    utility: str,
    lowest: float = 0.0,
    log: bool = False,
    original: tuple[float | None, float] | None = (None, 1.0),
) -> None:
    """Set scales and labels of a risk-utility map: the limit, the original, and the corner that is good.

    `limit` is the largest tolerated risk, a dotted line; `risk` and `utility` are the labels of the axes, with units.
    The axis of risk begins a little below `lowest`; that of utility is logarithmic if `log`. The star of the `original`
    data stands at its utility (None: infinite, at the right border) and risk.
    """
    ax.axhline(limit, color="black", linewidth=0.7, linestyle=":")
    ax.set(ylim=(max(-0.03, min(lowest, limit) - 0.2), 1.06), ylabel=risk, xlabel=utility)
    if log:
        ax.set(xscale="log", xlabel=f"{utility} (log scale)")
    ax.margins(x=0.2)
    if original is not None:
        at, height = original
        transform = ax.get_yaxis_transform() if at is None else ax.transData
        ax.plot(1 if at is None else at, height, "k*", transform=transform, clip_on=False, markersize=7)
    ax.text(0.98, 0.04, "better: lower right ↘", transform=ax.transAxes, ha="right", fontsize=7.5, color="0.4")
