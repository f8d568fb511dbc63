"""Figures: style, helpers of notebooks, the risk-utility map.

Functions draw on a given `ax` (or create one), change nothing global, and return the Axes or the Figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

__all__ = ["COLOURS", "LINES", "MARKERS", "new_figure", "save_figure"]

# Okabe and Ito's palette in an order whose lightness alternates; every series also has its own marker and line, so
# that a figure printed in grey still tells them apart.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#000000", "#8C8C00", "#7F7F7F", "#5D3A9B"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "<", ">", "*"]
LINES = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (5, 5)), (0, (7, 2, 1, 2)), "-"]

#: Settings of matplotlib for all figures.
STYLE: Any = {
    "font.size": 9, "axes.titlesize": "medium", "axes.titlelocation": "left", "axes.spines.top": False,
    "axes.spines.right": False, "legend.frameon": False, "legend.fontsize": 8, "svg.hashsalt": "reident",
    "svg.fonttype": "none", "pdf.fonttype": 42,
}  # fmt: skip

#: Metadata of a file by its format: without times and versions the same figure gives the same file.
METADATA: dict[str, dict[str, Any]] = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}


def new_figure(
    rows: int = 1, columns: int = 1, *, size: tuple[float, float] | None = None, **kws: Any
) -> tuple[Figure, Any]:
    """Return a Figure in the package's style, outside pyplot's global state, and its Axes (an array if several).

    A notebook shows it after ``%matplotlib inline``. `size` is width and height in inches; default: 4 by 3.2 a panel.
    `kws` go to ``Figure.subplots``.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=size or (4.0 * columns, 3.2 * rows), layout="constrained")
        return figure, figure.subplots(rows, columns, **kws)


def save_figure(
    figure: Figure, name: str, folder: str | Path, *, formats: Sequence[str] = ("svg", "png")
) -> list[Path]:
    """Write a figure as SVG, PNG or PDF, which holds its fonts, and return the paths."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    paths = [Path(folder) / f"{name}.{kind}" for kind in formats]
    with mpl.rc_context(STYLE):
        for path in paths:
            figure.savefig(path, metadata=METADATA[path.suffix[1:]], dpi=150)
    return paths
