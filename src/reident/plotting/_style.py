"""Figure style: colours that colour-blind readers and grey prints separate, byte-stable files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, FigureBase

# Okabe and Ito's palette in an order whose lightness alternates; every series also has its own marker and line, so
# that a figure printed in grey still tells them apart.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#000000", "#8C8C00", "#7F7F7F", "#5D3A9B"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "<", ">", "*"]
LINES = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (5, 5)), (0, (7, 2, 1, 2)), "-"]

_RC: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.hashsalt": "reident",
    "svg.fonttype": "none",
}


def new_figure(
    rows: int = 1, columns: int = 1, *, size: tuple[float, float] | None = None, squeeze: bool = True, **kws: Any
) -> tuple[Figure, Any]:
    """Return a Figure in the package's style, outside pyplot's global state, and its Axes (an array if several).

    A notebook shows it after ``%matplotlib inline``. `size` is width and height in inches; default: 4 by 3.2 a panel.
    """
    with mpl.rc_context(_RC):
        figure = Figure(figsize=size or (4.0 * columns, 3.2 * rows), layout="constrained")
        FigureCanvasAgg(figure)
        return figure, figure.subplots(rows, columns, squeeze=squeeze, **kws)


def ordered_colours(n: int) -> list[Any]:
    """Return colours for the values of one parameter in their order, dark to light, in grey too."""
    return [mpl.colormaps["viridis"](share) for share in np.linspace(0, 0.85, n)]


def draw_lines(
    ax: Axes,
    x: Any,
    series: Mapping[str, Any],
    *,
    bars: Mapping[str, Any] | None = None,
    ordered: bool = False,
    **kws: Any,
) -> Axes:
    """Draw named series over `x`, each with a colour, a marker and a line of its own.

    `bars` holds the lower and the upper ends of each series' intervals. Series that are values of one parameter are
    `ordered`: their colours are, too.
    """
    colours = ordered_colours(len(series)) if ordered else COLOURS
    for position, (name, values) in enumerate(series.items()):
        look = {
            "color": colours[position % len(colours)],
            "marker": MARKERS[position % len(MARKERS)],
            "linestyle": LINES[position % len(LINES)],
            "markersize": 4,
            "linewidth": 1.2,
            "label": name,
        }
        if bars is not None:
            ends = np.abs(np.asarray(bars[name], float) - np.asarray(values, float))
            look |= {"yerr": ends, "capsize": 2, "elinewidth": 0.8}
        draw = ax.plot if bars is None else ax.errorbar
        draw(np.asarray(x), np.asarray(values), **{**look, **kws})
    return ax


def save_figure(
    figure: FigureBase,
    name: str,
    folder: str | Path,
    *,
    dpi: int = 150,
    formats: Sequence[str] = ("svg", "png"),
    letters: bool = False,
) -> list[Path]:
    """Write a figure, or the one that a part belongs to, as SVG, PNG or PDF; the same figure gives the same bytes.

    A PDF holds its fonts; with `letters` an SVG holds the shapes of its letters, otherwise their names. Returns the
    paths.
    """
    whole = figure.get_figure(root=True)
    assert whole is not None
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{kind}" for kind in formats]
    unset = {"svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None, "ModDate": None}}
    with mpl.rc_context({**_RC, "pdf.fonttype": 42, "svg.fonttype": "path" if letters else "none"}):
        for kind, path in zip(formats, paths, strict=True):
            whole.savefig(path, metadata=unset[kind], dpi=dpi if kind == "png" else "figure")
            if kind == "svg":
                path.write_text(_with_steady_names(path.read_text("utf-8")), "utf-8")
    return paths


def _with_steady_names(svg: str) -> str:
    """Name each clip path by a digest of its content.

    matplotlib names it after the numbers before they are rounded for writing, whose last digits the layout leaves open.
    """
    written = re.findall(r'<clipPath id="(\w+)">(.*?)</clipPath>', svg, re.DOTALL)
    names = {name: "p" + hashlib.sha256(path.encode()).hexdigest()[:10] for name, path in written}
    return re.sub(r'(?<=clipPath id=")\w+(?=")|(?<=url\(#)\w+(?=\))', lambda m: names.get(m[0], m[0]), svg)
