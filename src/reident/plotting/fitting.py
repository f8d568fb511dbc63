"""A figure for print: its texts wrapped to the width that they have, and told in the reader's language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from weakref import WeakSet

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.offsetbox import VPacker
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from reident.pages.german import fill

__all__ = ["LABEL", "fit_for_print", "wrap"]

#: What marks a text that stands beside a point.
LABEL = "label"

#: Lines are not made shorter than so many letters.
_SHORTEST = 8
#: Labels and panels are fitted to one another so often, at most.
_ROUNDS = 3

#: The height of a page's text, inches: no figure is made higher, but for maps, whose parts have heights of their own.
_PAGE = 240 / 25.4

#: Figures whose texts are told in the reader's language already.
_TOLD: WeakSet[Figure] = WeakSet()


def fit_for_print(figure: Figure, *, words: Callable[[str], str] = str) -> Figure:
    """Tell a figure's texts in `words`, and wrap titles, labels and legends wider than their place; return the figure.

    The figure is drawn under `for_print`. No text is smaller than 7 points afterwards. Texts are told once, however
    often a figure is fitted; labels were told where they were placed.
    """
    said = [text for ax in figure.axes for text in ax.texts if text.get_transform() is ax.transAxes]
    for text in said:  # sentences are fitted to their panel, not the panel to them
        text.set_in_layout(False)
    page = np.inf if figure.subfigs else _PAGE
    figure.set_figheight(min(figure.get_figheight(), page))
    figure.draw_without_rendering()
    high = {ax: ax.get_window_extent().height for ax in figure.axes}
    if figure not in _TOLD:
        _tell(figure, words)
    for text in figure.findobj(Text):
        if float(text.get_fontsize()) < 7:
            text.set_fontsize(7)
    figure.draw_without_rendering()
    for legend in figure.findobj(Legend):
        _narrow(figure, legend)
    wide = figure.bbox.width
    for _ in range(_ROUNDS):  # a second line beside a panel makes it narrower
        if not sum(_wrap_around(ax, wide) for ax in figure.axes):
            break
        figure.draw_without_rendering()
    for ax in figure.axes:
        _take_out(ax)
    for text in said:
        wrap(text, text.axes.get_window_extent().width)  # type: ignore[union-attr]
    for part in (figure, *figure.subfigs):
        for text in (part._suptitle, part._supxlabel, part._supylabel):  # type: ignore[attr-defined]
            if text is not None:
                whole = part.bbox.height  # type: ignore[attr-defined]
                wrap(text, 0.97 * (whole if text.get_rotation() == 90 else wide))
    _make_room(figure, high, page)
    for ax in figure.axes:
        _thin(ax)
    return figure


def _wrap_around(ax: Axes, wide: float) -> bool:
    """Wrap what stands around a panel, and tell whether anything was."""
    box = ax.get_window_extent()
    middle = 2 * min(box.x0 + box.width / 2, wide - box.x0 - box.width / 2)
    around = (
        (ax.title, min(box.width * 1.05, middle)),
        (ax._left_title, min(box.width * 1.05, wide - box.x0)),  # type: ignore[attr-defined]
        (ax.xaxis.label, min(box.width * 1.05, middle)),
        (ax.yaxis.label, box.height * 1.1),
    )
    before = [text.get_text() for text, _ in around]
    for text, room in around:
        wrap(text, room)
    return before != [text.get_text() for text, _ in around]


def _take_out(ax: Axes) -> None:
    """Put a legend below its panel where it lies on points that are drawn there."""
    legend = ax.get_legend()
    if legend is None or not legend.get_visible():
        return
    place = legend.get_window_extent()
    points = [line.get_transform().transform(line.get_xydata()) for line in ax.lines]
    if place.overlaps(ax.get_window_extent()) and any(place.count_contains(drawn) for drawn in points):
        panel, values = ax.get_window_extent(), ax.xaxis.get_tightbbox()
        below = (0.0 if values is None else (values.y0 - panel.y0) / panel.height) - 0.03
        legend.set_loc("upper left")
        legend.set_bbox_to_anchor((0.0, below), transform=ax.transAxes)


def wrap(text: Text, room: float) -> None:
    """Break a text into lines that are no longer than there is room; formulas stay whole."""
    told = text.get_text().replace(" = ", "\u00a0=\u00a0")
    chars = max(map(len, told.split("\n")))
    while (length := _length(text)) > room and chars > _SHORTEST:
        chars = max(_SHORTEST, min(chars - 1, int(chars * room / length)))
        text.set_text("\n".join(fill(line, chars) for line in told.split("\n")))


def _make_room(figure: Figure, high: Mapping[Axes, float], page: float) -> None:
    """Make a figure higher, at most a page, until no panel has lost more than a tenth of its height to lines."""
    rows = len({round(ax.get_position().y0, 2) for ax in figure.axes})
    for _ in range(3):
        figure.draw_without_rendering()
        lacking = max((0.9 * least - ax.get_window_extent().height for ax, least in high.items()), default=0.0)
        if lacking < 1 or figure.get_figheight() >= page:
            return
        figure.set_figheight(min(figure.get_figheight() + rows * lacking / figure.dpi, page))
    figure.draw_without_rendering()


def _thin(ax: Axes) -> None:
    """Leave out each value below an axis that would touch the one before it."""
    ticks = [tick for tick in ax.xaxis.get_major_ticks() if tick.label1.get_text() and not tick.label1.get_rotation()]
    if not isinstance(ax.xaxis.get_major_locator(), FixedLocator) or not ax.axison:
        return
    end = -np.inf
    for tick in ticks:
        box = tick.label1.get_window_extent()
        if box.x0 < end + 0.2 * box.height:
            tick.label1.set_visible(False)
        else:
            end = box.x1


def _length(text: Text) -> float:
    box = text.get_window_extent()
    return float(box.height if text.get_rotation() == 90 else box.width)


def _narrow(figure: Figure, legend: Legend) -> None:
    """Give a legend that is wider than the figure fewer columns, and wrap what is too wide for one."""
    columns = legend._ncols  # type: ignore[attr-defined]
    box = legend._legend_handle_box  # type: ignore[attr-defined]
    entries = [entry for column in box.get_children() for entry in column.get_children()]
    while columns > 1 and legend.get_window_extent().width > 0.98 * figure.bbox.width:
        columns -= 1
        legend.set_ncols(columns)
        # The entries as they are drawn are put into new columns: made again, some would lose their markers.
        some = box.get_children()[0]
        parts = (part for part in np.array_split(np.arange(len(entries)), columns) if part.size)
        box._children = [
            VPacker(pad=0, sep=some.sep, align=some.align, children=[entries[i] for i in part]) for part in parts
        ]
        for packed in box.get_children():
            packed.set_figure(legend.figure)  # a part of it, perhaps
        figure.draw_without_rendering()
    for text in legend.get_texts():
        wrap(text, 0.85 * figure.bbox.width)


def _tell(figure: Figure, words: Callable[[str], str]) -> None:
    if words is str:
        return
    _TOLD.add(figure)
    for ax in figure.axes:
        _fix_ticks(ax, words)
    for text in figure.findobj(Text):
        if text.get_gid() != LABEL:
            text.set_text(words(text.get_text()))


class _Told(FixedFormatter):
    """Values below an axis as they are told in the reader's language."""


def _fix_ticks(ax: Axes, words: Callable[[str], str]) -> None:
    """Write the ticks that are shown with the comma of the language; they would be written again at saving."""
    for axis, ends in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        formatter = axis.get_major_formatter()
        if isinstance(formatter, _Told):  # axes that share their values share this, too
            continue
        low, high = sorted(ends)
        places = [float(at) for at in axis.get_majorticklocs()]
        ticks = [
            (at, told) for at, told in zip(places, formatter.format_ticks(places), strict=True) if low <= at <= high
        ]
        if any(told for _, told in ticks):
            axis.set_major_locator(FixedLocator([at for at, _ in ticks]))
            axis.set_major_formatter(_Told([words(told) for _, told in ticks]))
            if axis.get_scale() == "log":
                axis.set_minor_locator(NullLocator())
