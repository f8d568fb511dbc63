"""Several risks of the same releases over one utility: a stem a release, a marker a risk."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reident.base import DataError, check_real
from reident.plotting._labels import Label, place_labels
from reident.plotting._layout import looks_of, panels_of
from reident.plotting._panel import DARK, set_axes, title_axes
from reident.plotting._style import COLOURS, MARKERS, map_figure
from reident.rumap import NOTHING, ORIGINAL, check_frame, releases_of

__all__ = ["plot_ru_together"]


def plot_ru_together(
    frame: pd.DataFrame,
    *,
    risk_limit: float | None = None,
    names: Mapping[str, str] | None = None,
    width_cm: float | None = None,
) -> Figure:
    """Draw all attacks on the same releases over one utility: what the worst of them leaves of each release.

    Parameters
    ----------
    frame : DataFrame
        As `ru_frame` returns, several attacks one below the other, one analysis.
    risk_limit : float, optional
        Tolerable risk; a release is named in bold where no risk lies above it.
    names : mapping of str to str, optional
        Methods to the names that the map shows.
    width_cm : float, optional
        Width of the figure, centimetres; 17 by default.

    Returns
    -------
    Figure
        A stem a release from its least to its greatest risk; the bars of each risk beside its marker.

    Raises
    ------
    DataError, ParameterError
        If a column is absent, the frame is empty or has several analyses, or the limit is negative.
    """
    frame = check_frame(frame).reset_index(drop=True)
    if len(set(frame["analysis"])) > 1:
        raise DataError(f"`frame` must have one analysis, got {len(set(frame['analysis']))}: risks share its axis")
    if risk_limit is not None:
        check_real(risk_limit, "risk_limit", low=0)
    width = check_real(width_cm if width_cm is not None else 17.0, "width_cm", low=4, high=100)
    attacks = list(dict.fromkeys(frame["attack"]))
    (panel,) = panels_of(frame.assign(attack="share of persons or claims"), risk_limit)
    looks, inch = looks_of(releases_of(frame).assign(attack=""), names), width / 2.54
    figure, _, foot, axes = map_figure(1, 1, inch)
    figure.set_figheight(0.52 * inch + 0.6)
    ax = axes[0, 0]
    set_axes(ax, panel, risk_limit, inch=inch)
    title_axes(ax, panel, int(inch / 0.058))
    releases = releases_of(frame)
    places = {attack: (k - (len(attacks) - 1) / 2) * 0.006 * np.ptp(panel.box[0]) for k, attack in enumerate(attacks)}
    labels = []
    for (method, value), part in releases.groupby(["method", "value"], sort=False):
        risks = panel.ys.clip(part["risk"])
        middle = float(panel.xs.clip(part["utility"].mean()))
        ax.plot([middle, middle], [risks.min(), risks.max()], color="0.8", linewidth=1.2, zorder=1, gid="behind")
        for row in part.itertuples():
            k = attacks.index(row.attack)
            at = float(panel.xs.back(panel.xs.place(middle) + places[row.attack]))
            ends = [float(panel.ys.clip(end)) for end in (row.risk_low, row.risk_high)]
            colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
            ax.plot([at, at], ends, color=colour, linewidth=0.8, alpha=0.6, zorder=2)
            ax.plot(at, float(panel.ys.clip(row.risk)), marker, color=colour, markersize=3.6, zorder=3)
        safe = risk_limit is not None and part["risk"].max() <= risk_limit
        told = f"{looks[str(method)].name} {value}".strip()
        labels.append(Label([(middle, float(risks.max()))], told, "black" if safe else "0.35", bold=bool(safe)))
    for name in (ORIGINAL, NOTHING):
        part = frame[(frame["method"] == name) & np.isfinite(frame["utility"])]
        if len(part) and panel.box[0][0] <= float(panel.xs.place(part["utility"].iloc[0])) <= panel.box[0][1]:
            anchor = (float(panel.xs.clip(part["utility"].iloc[0])), float(panel.ys.clip(part["risk"].max())))
            ax.plot(*anchor, "*" if name == ORIGINAL else "X", color=DARK, markersize=4.5, clip_on=False)
            labels.append(Label([anchor], name, "black"))
    handles = [
        Line2D([], [], color=COLOURS[k % len(COLOURS)], marker=MARKERS[k % len(MARKERS)], markersize=3.6, linewidth=0.8,
               label=attack)
        for k, attack in enumerate(attacks)
    ]  # fmt: skip
    columns = max(1, int(inch / (0.058 * max(len(attack) for attack in attacks) + 0.45)))
    foot.legend(handles=handles, loc="outside lower left", ncols=columns, frameon=False, fontsize=7, handlelength=1.2)
    place_labels(ax, labels)
    return figure
