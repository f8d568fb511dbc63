"""The house style: colours told apart by colour-blind readers and in grey, byte-stable files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, FigureBase

from reident.plotting.fitting import fit_for_print

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

_MAP_RC: Any = {
    "font.size": 7,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
}


_SMALL: Any = dict.fromkeys(("font.size", "axes.titlesize", "legend.fontsize", "figure.titlesize"), 7)

#: Narrower than this, inches, panels stand one below the other.
_NARROW = 4.5

#: Width of a page's text, inches.
PAGE_INCH = 170 / 25.4

#: Width in inches of figures for print, while they are drawn, and how their texts are told in the reader's language.
_PRINT: ContextVar[float | None] = ContextVar("print", default=None)
_WORDS: ContextVar[Callable[[str], str]] = ContextVar("words", default=str)


@contextmanager
def for_print(width_mm: float, words: Callable[[str], str] | None = None) -> Iterator[None]:
    """Draw figures of this width, in type of 7 points; panels side by side stand in a column where it is narrow.

    `words` tells a text in the reader's language; None: as it is told already.
    """
    width, told = _PRINT.set(width_mm / 25.4), _WORDS.set(words or _WORDS.get())
    try:
        yield
    finally:
        _PRINT.reset(width)
        _WORDS.reset(told)


def print_width_cm() -> float | None:
    """Return the width that figures for print have, None on the screen."""
    inch = _PRINT.get()
    return None if inch is None else 2.54 * inch


def print_words() -> Callable[[str], str]:
    """Return what tells a text in the language of figures for print."""
    return _WORDS.get()


def _style() -> Any:
    return _RC if _PRINT.get() is None else {**_RC, **_MAP_RC, **_SMALL}


def new_figure(
    rows: int = 1, columns: int = 1, *, size: tuple[float, float] | None = None, squeeze: bool = True, **kws: Any
) -> tuple[Figure, Any]:
    """Return a Figure in the house style, outside pyplot's global state, and its Axes (an array if several).

    A notebook shows it after ``%matplotlib inline``. `size` is width and height in inches; default: 4 by 3.2 a panel.
    """
    width, height = size or (4.0 * columns, 3.2 * rows)
    shape, inch = (rows, columns), _PRINT.get()
    shared = {axis: kws.get(axis, False) for axis in ("sharex", "sharey")}
    if inch is not None:
        narrow = inch < _NARROW
        side_by_side = min(columns, (1 if rows == 1 else 2) if narrow else columns)
        if side_by_side < columns:
            below = -(-rows * columns // side_by_side)
            height *= below / rows * (0.8 if side_by_side == 1 else 1.0)
            width *= side_by_side / columns
            rows, columns, kws = below, side_by_side, {}
        # Type does not shrink with the panels: where several stand side by side they keep their height.
        width, height = inch, height * max(1.0 if narrow and columns > 1 else 0.62, min(1.0, inch / width))
    with mpl.rc_context(_style()):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        if (rows, columns) == shape:
            return figure, figure.subplots(rows, columns, squeeze=squeeze, **kws)
        axes = _flowed(figure.subplots(rows, columns, squeeze=False).ravel(), shape, shared)
        return figure, axes.squeeze() if squeeze else axes


def _flowed(panels: Any, shape: tuple[int, int], shared: Mapping[str, Any]) -> Any:
    """Lay panels out anew as the array that was asked for, with what they share; the spare ones go."""
    size = shape[0] * shape[1]
    for spare in panels[size:]:
        spare.remove()
    axes = panels[:size].reshape(shape)
    for which, how in shared.items():
        groups = {"row": list(axes), "col": list(axes.T), True: [axes.ravel()], "all": [axes.ravel()]}.get(how, [])
        for first, *others in groups:
            for other in others:
                getattr(other, which)(first)
    return axes


def map_figure(rows: int, columns: int, inch: float, *, key_rows: int = 1) -> tuple[Figure, Any, Any, Any]:
    """Return a figure of a risk-utility map: itself, the part of the panels, the part below for the key, the Axes.

    One panel is no part of a figure: whoever draws it finds the whole as ``ax.figure``.
    """
    shape = {1: 0.78, 2: 0.7, 3: 0.8}.get(columns, 0.9)
    with mpl.rc_context({**_RC, **_MAP_RC}):
        figure = Figure(
            figsize=(inch, rows * inch / columns * shape + 0.44 + 0.16 * key_rows), layout="constrained", dpi=144
        )
        FigureCanvasAgg(figure)
        if rows * columns == 1:
            return figure, figure, figure, figure.subplots(squeeze=False)
        key = (0.04 + 0.16 * key_rows) / figure.get_figheight()
        parts: Any = figure.subfigures(2, 1, height_ratios=[1, key])
        body, foot = parts
        return figure, body, foot, body.subplots(rows, columns, squeeze=False)


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


def handles_of(axes: Iterable[Axes]) -> dict[str, Any]:
    """Return what is drawn in some panels by its name, for one legend: of two things with one name the first."""
    named: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    return named


def say_instead(ax: Axes, text: str) -> None:
    """Say in words what curves, all at one place, would not show."""
    ax.text(0.5, 0.5, text, ha="center", va="center", transform=ax.transAxes)
    ax.set_axis_off()


def not_run(told: str, profile: str) -> Figure:
    """Return a figure that says that its trials are not among those of the profile, or of the parameters chosen."""
    figure, ax = new_figure(size=(7.2, 1.2))
    say_instead(ax, f"{told}\nnot run at {profile} with these parameters")
    return figure


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
    """Name each clip path after what is written of it.

    matplotlib names it after the numbers before they are rounded for writing, whose last digits the layout leaves open.
    """
    written = re.findall(r'<clipPath id="(\w+)">(.*?)</clipPath>', svg, re.DOTALL)
    names = {name: "p" + hashlib.sha256(path.encode()).hexdigest()[:10] for name, path in written}
    return re.sub(r'(?<=clipPath id=")\w+(?=")|(?<=url\(#)\w+(?=\))', lambda m: names.get(m[0], m[0]), svg)


def styled(draw: Callable[..., Figure]) -> Callable[..., Figure]:
    """Return a function of a figure so that all it draws is in the house style, titles included."""

    @wraps(draw)
    def drawn(*args: Any, **kws: Any) -> Figure:
        with mpl.rc_context(_style()):
            return draw(*args, **kws)

    return drawn


def in_house_style(figures: Mapping[str, Callable[..., Figure]]) -> dict[str, Callable[..., Figure]]:
    """Return the functions of a study's figures, each in the house style and readable at the width of a page.

    A figure whose smallest type, 8 points, would have less than 7 on a page is drawn for print instead.
    """

    def readable(draw: Callable[..., Figure]) -> Callable[..., Figure]:
        @wraps(draw)
        def drawn(*args: Any, **kws: Any) -> Figure:
            figure = styled(draw)(*args, **kws)
            if _PRINT.get() is None and figure.get_figwidth() > PAGE_INCH * 8 / 7:
                with for_print(25.4 * PAGE_INCH):
                    figure = fit_for_print(styled(draw)(*args, **kws))
            return figure

        return drawn

    return {name: readable(draw) for name, draw in figures.items()}


def at_page_width(figures: Mapping[str, Callable[..., Figure]]) -> dict[str, Callable[..., Figure]]:
    """Return the functions of a study's figures, each drawn as wide as a page, in type of 7 points."""

    def narrowed(draw: Callable[..., Figure]) -> Callable[..., Figure]:
        @wraps(draw)
        def drawn(*args: Any, **kws: Any) -> Figure:
            with for_print(25.4 * (_PRINT.get() or PAGE_INCH)):
                return styled(draw)(*args, **kws)

        return drawn

    return {name: narrowed(draw) for name, draw in figures.items()}
