"""The picture that makes the point: whom the attack finds at two noises, and where both lie on the map."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reident.base import DataError, FloatArray
from reident.data.datasets import load_boundary
from reident.plotting import COLOURS, new_figure
from reident.plotting._style import for_print
from reident.plotting.rumap import key_of, plot_ru_map
from reident.studies.study import Results

__all__ = ["HERO", "draw_hero", "hero_caption"]

#: The study that it is drawn from.
HERO = "kroll2015"

_KM_A_DEGREE = 111.2

#: Marks nearer than this would cover one another, degrees of latitude.
_MARK_DEG = 0.33

_RIGHT, _WRONG = COLOURS[0], COLOURS[3]


def draw_hero(results: Results) -> Figure:
    """Draw the weakest and the strongest noise of a run of kroll2015, and both on its risk-utility map.

    Raises
    ------
    DataError
        If the run is of another study, or shows the matches of one noise only.
    """
    alpha, sigmas = _shown(results)
    files, matches, frame = (results.frames[name] for name in ("files", "matches", "ru_map"))
    with for_print(170):
        figure, axes = new_figure(1, 3, size=(170 / 25.4, 3.3), width_ratios=[1, 1, 1.5])
        for ax, sigma, letter in zip(axes, sigmas, "AB", strict=False):
            mine = matches[(matches["sigma_deg"] == sigma) & (matches["alpha"] == alpha) & (matches["release"] != "")]
            _draw_people(ax, files, mine, f"{letter}   {_KM_A_DEGREE * sigma:.1f} km of noise")
        n = int((files["file"] == "original").sum())
        figure.suptitle(
            f"Released: sex, age class and noisy distances of {n} people, no place. Who is found by an attack?",
            fontsize=8, x=0.01, ha="left",
        )  # fmt: skip
        told = {_value(sigma): f"{_km(_value(sigma))} ({letter})" for sigma, letter in zip(sigmas, "AB", strict=True)}
        values = frame["value"].map(lambda value: told.get(str(value), _km(value)) if value else value)
        mapped = frame.assign(value=values, analysis="precision of the distances, per km²",
                              attack="claimed identities that are right")  # fmt: skip
        figure.legend(*zip(*key_of(mapped), strict=True), loc="outside lower right", ncols=4, fontsize=7, frameon=False,
                      handlelength=1.4, columnspacing=1.0, handletextpad=0.5)  # fmt: skip
        axes[2].set_title("What protection costs", fontweight="bold", fontsize=8)
        plot_ru_map(mapped, axes[2])  # last: labels are placed in the layout as it is
    return figure


def hero_caption(results: Results) -> str:
    """Return what the picture shows, in words made from the results."""
    alpha, sigmas = _shown(results)
    used = results.parameters
    n = results.frames["ru_map"]["n"].max()
    return (
        f"Whom the attack finds at {_km(_value(sigmas[0]))} and at {_km(_value(sigmas[1]))} of noise (dots: right; "
        "crosses: mistaken for others, where those live, a line from home; marks that would cover one another stand "
        "apart), and where both lie on the map: each point a noise, fuller the stronger, its spread the runs' 5 to "
        f"95 %; the pale staircase is the least risk at each utility. {used.get('n_original')} released and "
        f"{used.get('n_known')} known people, drawn; {used.get('n_common')} are in both; alpha {alpha:g}. People of "
        f"one data set, the map of {n} runs. Study {results.study}, profile {results.profile}, seed {results.seed}."
    )


def _shown(results: Results) -> tuple[float, tuple[float, float]]:
    """Return alpha, and the weakest and the strongest noise whose matches the run keeps."""
    if "matches" not in results.frames:
        raise DataError(f"`results` must be of the study kroll2015, got {results.study}: it keeps no matches")
    kept = results.frames["matches"].groupby("alpha")["sigma_deg"].agg(["min", "max"])
    kept = kept[kept["min"] < kept["max"]]
    if kept.empty:
        raise DataError("`results` must show matches at two noises: the picture compares them")
    return float(kept.index[0]), (float(kept["min"].iloc[0]), float(kept["max"].iloc[0]))


def _value(sigma_deg: float) -> str:
    return f"{sigma_deg:g}"


def _km(value: Any) -> str:
    return f"{_KM_A_DEGREE * float(value):.1f} km"


def _apart(places: FloatArray) -> FloatArray:
    """Return places, degrees of latitude wide, moved from one another until all marks can be seen."""
    moved = places + 1e-3 * np.column_stack([np.cos(np.arange(len(places))), np.sin(np.arange(len(places)))])
    for _ in range(100):
        way = moved[:, None] - moved
        far = np.hypot(*way.transpose(2, 0, 1))
        push = np.where((far < _MARK_DEG) & (far > 0), (_MARK_DEG - far) / np.maximum(far, 1e-9) / 2, 0.0)
        if not push.any():
            break
        moved = moved + (push[..., None] * way).sum(axis=1) / 2
    return np.asarray(moved)


def _draw_people(ax: Axes, files: pd.DataFrame, matches: pd.DataFrame, title: str) -> None:
    """Draw all people grey, those found as dots at their homes, wrong claims as crosses where others live."""
    load_boundary("germany").plot(ax=ax, color="0.96", edgecolor="0.6", linewidth=0.6)
    place = {name: part.set_index("id")[["lon_deg", "lat_deg"]] for name, part in files.groupby("file")}
    ax.plot(*place["original"].to_numpy().T, ".", markersize=1.6, color="0.68", zorder=2)
    right = matches["true"].to_numpy(bool)
    home, claimed = place["original"].loc[matches["release"]], place["known"].loc[matches["known"]]
    edge: dict[str, Any] = {"linestyle": "", "markeredgecolor": "white", "markeredgewidth": 0.5}
    wrong = claimed.to_numpy()[~right]
    for at, to in zip(home.to_numpy()[~right], wrong, strict=True):
        ax.plot(*np.array([at, to]).T, color=_WRONG, linewidth=0.9, zorder=3)
    marks = np.vstack([home.to_numpy()[right], wrong])
    stretch = np.array([np.cos(np.radians(51.0)), 1.0])
    for number, (at, place_of) in enumerate(zip(marks, _apart(marks * stretch) / stretch, strict=True)):
        look: dict[str, Any] = {"marker": "o", "markersize": 5, "color": _RIGHT}
        if number >= right.sum():
            look = {"marker": "X", "markersize": 5.5, "color": _WRONG}
        ax.plot(*np.array([at, place_of]).T, color="0.3", linewidth=0.6, zorder=3)
        ax.plot(*place_of, **look, zorder=4, **edge)
    ax.set_aspect(1 / np.cos(np.radians(51.0)))
    ax.axis("off")
    ax.set_title(title, fontweight="bold", fontsize=8)
    common = int((files["common"] & (files["file"] == "original")).sum())
    told = (("●", _RIGHT, f"{right.sum()} of {common} people found"), ("✖", _WRONG, f"{(~right).sum()} mistaken"))
    for line, (mark, colour, text) in enumerate(told):
        ax.text(0.02, -0.01 - 0.08 * line, f"{mark} {text}", transform=ax.transAxes, color=colour, fontweight="bold",
                fontsize=8, va="top")  # fmt: skip
