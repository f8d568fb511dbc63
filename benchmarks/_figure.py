"""Draw the table of ratios."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from benchmarks._rows import show_number
from reident.plotting import new_figure


def plot_ratios(rows: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw every ratio on a logarithmic axis, with its goal.

    A filled dot has met its goal or has none, a hollow one has not; a triangle is a lower bound, since the rival was
    stopped; a bar is the goal. What could not be timed is listed at the left edge. Nothing is told by colour alone.

    Parameters
    ----------
    rows : DataFrame
        As `run` returns.
    ax : Axes, optional
        Where to draw; a new figure as tall as the table by default.

    Raises
    ------
    ValueError
        If no row has a rival.
    """
    shown = rows[rows["rival"] != ""].reset_index(drop=True)
    if shown.empty:
        raise ValueError("`rows` must hold at least one comparison with a rival")
    if ax is None:
        ax = new_figure(size=(10.0, 1.2 + 0.27 * len(shown)))[1]
    assert ax is not None
    places = np.arange(len(shown))
    numbers = shown[["ratio", "goal"]].to_numpy(float)
    known = numbers[np.isfinite(numbers)]
    left = 10 ** np.floor(np.log10(known.min(initial=0.5)))
    ax.set_xscale("log")
    ax.set_xlim(left, 4 * known.max(initial=2.0))
    ax.axvline(1, color="0.4", linewidth=0.8)
    for place, row in zip(places, shown.itertuples(), strict=True):
        ax.axhline(place, color="0.9", linewidth=0.6, zorder=0)
        if np.isfinite(row.goal):
            ax.plot([row.goal], [place], marker="|", markersize=13, markeredgewidth=2.2, color="black", linestyle="")
        if not np.isfinite(row.ratio):
            why = "not finished" if row.stopped in ("ours", "both") else "failed" if row.stopped else "not run"
            ax.annotate(why, (left, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=7)
            continue
        missed = not pd.isna(row.met) and not row.met
        bound = row.stopped == "rival"
        ax.plot([row.ratio], [place], marker=">" if bound else "o", markersize=6, color="#0072B2", linestyle="",
                markerfacecolor="white" if missed else "#0072B2")  # fmt: skip
        side = -1 if missed else 1  # away from the goal
        ax.annotate(f"{'at least ' if bound else ''}{show_number(row.ratio)}", (row.ratio, place),
                    xytext=(8 * side, 0), textcoords="offset points", ha="left" if side > 0 else "right", va="center",
                    fontsize=7)  # fmt: skip
    ax.set_yticks(places, [f"{row.module}: {row.task}  ·  {row.rival}" for row in shown.itertuples()], fontsize=7)
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("how many times faster than the rival, or than the time allowed")
    ax.set_title("bar: goal; hollow: goal missed; triangle: the rival was stopped, at least this ratio", fontsize=8)
    return ax
