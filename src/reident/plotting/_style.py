"""Figure style: colours that colour-blind readers and grey prints separate, byte-stable files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
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


def save_figure(
    figure: FigureBase, name: str, folder: str | Path, *, formats: Sequence[str] = ("svg", "png")
) -> list[Path]:
    """Write a figure, or the one that a part belongs to, as SVG, PNG or PDF and return the paths.

    The same figure gives the same bytes. A PDF holds its fonts, an SVG their names.
    """
    whole = figure.get_figure(root=True)
    assert whole is not None
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{kind}" for kind in formats]
    unset = {"svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None, "ModDate": None}}
    with mpl.rc_context({**_RC, "pdf.fonttype": 42}):
        for kind, path in zip(formats, paths, strict=True):
            whole.savefig(path, metadata=unset[kind], dpi=150 if kind == "png" else "figure")
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
