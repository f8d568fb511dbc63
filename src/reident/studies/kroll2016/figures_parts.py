"""What several figures of the study kroll2016 are put together from: what their files are, and a coast."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from reident.data.datasets import load_boundary
from reident.experiments.kroll2015 import JITTER_KM
from reident.studies.comparison import DRAWN, PUBLIC
from reident.studies.study import Results

__all__ = ["data_class", "outline", "sizes_of", "source"]


def source(results: Results, scenario: str) -> str:
    """Say what the points are: a simulated stand-in must never pass for the real list."""
    if scenario == "germany":
        return "drawn from public places"
    return "NHS list of 2020" if data_class(results, scenario) == PUBLIC else "SIMULATED stand-in"


def data_class(results: Results, scenario: str) -> str:
    """Return the kind of data that the files of a scenario are, as the ledger has it."""
    files = results.frames["files"]
    simulated = (files.loc[files["scenario"] == scenario, "source"] == "simulated").all()
    return DRAWN if scenario == "england" and simulated else PUBLIC


def sizes_of(results: Results, scenario: str) -> dict[str, Any]:
    """Return what a caption tells of the two files of a scenario."""
    files = results.frames["files"]
    files = files[files["scenario"] == scenario]
    target = files["file"] == "target"
    return {
        "n_original": int(target.sum()),
        "n_known": int((~target).sum()),
        "n_common": int(files.loc[target, "common"].sum()),
        "jitter_km": JITTER_KM if scenario == "germany" else None,
        "file": None,
        "scenario": None,
    }


def outline(ax: Axes, country: str) -> None:
    """Draw a coast and name the axes of the map."""
    # Lines of their own, which labels avoid.
    for line in load_boundary(country).boundary.explode().geometry:
        ax.plot(*line.coords.xy, color="0.5", linewidth=0.7, zorder=1)
    middle = {"germany": 51.0, "england": 52.8, "united_kingdom": 55.0}[country]
    # One degree of longitude is shorter than one of latitude.
    ax.set_aspect(1 / np.cos(np.radians(middle)))
    ax.set_xlabel("longitude, degrees")
    ax.set_ylabel("latitude, degrees")
