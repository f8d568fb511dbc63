"""Curves on a risk-utility map: one method at several strengths, its ends labelled, the best allowed release ringed."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from scipy.special import stdtrit

__all__ = ["draw_ru_curve", "frame_ru_map", "ru_points"]


def ru_points(trials: pd.DataFrame, by: str, *, risk: str, utility: str, draws: str = "dataset") -> pd.DataFrame:
    """Return mean utility and risk of each release, and half the 95 % interval of the risk.

    Parameters
    ----------
    trials : DataFrame
        One row a trial.
    by : str
        The column that tells the releases apart, such as the size of the noise.
    risk, utility : str
        Columns of `trials`.
    draws : str
        The column whose values are independent draws: the interval is Student's over their means.

    Returns
    -------
    DataFrame
        `utility`, `risk` and `half`, indexed by `by`, in its order.
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
    limit: float,
    colour: str,
    unit: str | None = "",
    line: str = "-",
    marker: str = "o",
    shifts: tuple[tuple[float, float], tuple[float, float]] = ((0, -14), (-14, -14)),
) -> pd.DataFrame:
    """Draw the curve of a method, ring its most useful release below the limit, and return the allowed releases.

    Parameters
    ----------
    ax : Axes
        Of a frame made by `frame_ru_map`.
    points : DataFrame
        As `ru_points` returns them; the risk is a share, and so are the ends of its interval.
    limit : float
        Largest tolerated risk.
    colour, line, marker
        Style of the curve.
    unit : str or None
        Written behind the values of the index at both ends of the curve; None labels neither end.
    shifts : pair of pairs
        Where the labels of the first and the last release stand, in points from them.
    """
    x, y = points["utility"], points["risk"]
    if x.min() == x.max():  # a scale needs two ends
        ax.update_datalim([(x.iloc[0] / 2, y.iloc[0]), (x.iloc[0] * 2, y.iloc[0])])
    bars = [points["half"].clip(upper=y), points["half"].clip(upper=1 - y)]
    ax.errorbar(x, y, bars, color=colour, linestyle=line, marker=marker, linewidth=1.2, elinewidth=0.7)
    style: dict[str, Any] = {"textcoords": "offset points", "fontsize": 7, "color": colour, "ha": "center", "zorder": 5}
    ends = () if unit is None else ((0, shifts[0]), (-1, shifts[1]))
    for end, shift in ends[: len(points)]:
        value = points.index[end]
        text = f"{value:g}{unit}" if isinstance(value, int | float) else f"{value}{unit}"
        ax.annotate(text, (x.iloc[end], y.iloc[end]), xytext=shift, **style)
    allowed = points[points["risk"] <= limit]
    if len(allowed):
        best = allowed.loc[allowed["utility"].idxmax()]
        ax.scatter(best["utility"], best["risk"], s=110, facecolor="none", edgecolor="black", zorder=4)
    return allowed


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

    Parameters
    ----------
    ax : Axes
        Drawn on.
    limit : float
        Largest tolerated risk, a dotted line.
    risk, utility : str
        Labels of the axes, with units.
    lowest : float
        The lowest risk that is drawn; the axis begins a little below it.
    log : bool
        Draw utility on a logarithmic scale.
    original : pair, optional
        Utility and risk of the original data, a star; utility None puts it at the right border (infinite utility).
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
