"""Texts beside points that cover neither one another nor points nor lines: rings of places, and second thoughts.

Every label has places on rings around each of its points. Each takes the cheapest place, those with the fewest points
to choose from first; then all choose again, knowing the others. `overlaps` counts what is covered in a finished figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.text import Annotation, Text

from reident.base import BoolArray, FloatArray

#: Marks a text that stands beside a point.
LABEL = "label"

__all__ = ["Label", "overlaps", "place_labels"]

#: Distances from a point, in points, and directions.
_RINGS, _DIRECTIONS = (2, 5, 9, 14, 20, 28, 38, 50, 64, 84), 24

#: Beyond this distance, in points, a thin line leads from the text to its point.
_LED = 9

#: What a place costs: a square point of text, of marker or of a pale shape covered, a point of line covered, being
#: outside, far away, a line that its leading line crosses, or standing nearly as near to another mark of its colour as
#: to its own (it would be read as that mark's; a quarter of it beside a marker of another colour).
_TEXT, _POINT, _PALE, _LINE, _OUTSIDE, _FAR, _CROSSING, _MISREAD = 30.0, 60.0, 12.0, 15.0, 500.0, 25.0, 15.0, 80.0

#: What is kept free around a text, points: beside it more, two names on one line would be read as one.
_ROOM = np.array([-4, -0.5, 4, 0.5])

#: What is kept free around a marker, points.
_GAP = 0.8

#: How wide the strips are that a shape is cut into, points; at how many places of a line the distance to it is taken.
_STRIP, _SAMPLES = 2, 7

#: So near to one another, in each of red, green and blue, the colour of a text and of a mark are one to the eye.
_ALIKE = 0.35

#: How often all labels choose.
_ROUNDS = 4

#: What covering may cost before an optional label is left out.
_TOUCHING = 6.0


@dataclass(frozen=True)
class Label:
    """A text and the points, in data coordinates, of which it may stand beside any.

    An optional one is left out where every place covers something; the answer of a panel never is.
    """

    points: Sequence[tuple[float, float]]
    text: str
    colour: Any
    bold: bool = False
    optional: bool = False
    answer: bool = False


@dataclass(frozen=True)
class _Obstacles:
    """What a text must not cover, in pixels: boxes of markers, segments of lines, both with colours; pale boxes."""

    dots: FloatArray
    colours: FloatArray
    segments: FloatArray
    hues: FloatArray
    areas: FloatArray


def _obstacles(ax: Axes) -> _Obstacles:
    """Return the marks of `ax`: its lines, the outlines of its collections, its patches that are no background.

    Lines "behind" are wide and pale; their markers are rings, which have no colour that a name could share.
    """
    dots, colours, segments, hues = list[Any](), list[Any](), list[Any](), list[Any]()
    areas = list[Any]()
    pixel = ax.get_figure(root=True).dpi / 72  # type: ignore[union-attr]
    for line in ax.get_lines():
        xy = line.get_transform().transform(np.column_stack(line.get_data()).astype(float))
        xy = xy[np.isfinite(xy).all(axis=1)]
        pale = line.get_gid() == "behind"
        if line.get_marker() not in ("None", "", " ", None):
            half = (line.get_markersize() + line.get_markeredgewidth()) / 2 * pixel
            dots += [(x - half, y - half, x + half, y + half) for x, y in xy]
            colours += [(np.nan,) * 3 if pale else mpl.colors.to_rgb(line.get_markeredgecolor())] * len(xy)
        if line.get_linestyle() in ("None", "none", " ", ""):
            continue
        ends = [(*a, *b) for a, b in pairwise(xy)]
        if pale:
            wide = line.get_linewidth() / 2 * pixel
            areas += [(min(a, c) - wide, min(b, d) - wide, max(a, c) + wide, max(b, d) + wide) for a, b, c, d in ends]
        else:
            segments += ends
            hues += [mpl.colors.to_rgb(line.get_color())] * len(ends)
    for drawn in ax.collections:
        if isinstance(drawn, PathCollection):
            half = np.sqrt(drawn.get_sizes().max(initial=0)) / 2 * pixel
            at = drawn.get_offset_transform().transform(np.asarray(drawn.get_offsets(), float))
            dots += [(x - half, y - half, x + half, y + half) for x, y in at]
            colours += [(np.nan,) * 3] * len(at)
            continue
        for path in drawn.get_paths():
            for outline in drawn.get_transform().transform_path(path).to_polygons(closed_only=False):
                segments += [(*a, *b) for a, b in pairwise(np.asarray(outline))]
        hues += [(np.nan,) * 3] * (len(segments) - len(hues))
    for patch in ax.patches:
        if patch.get_zorder() >= 1:
            for outline in patch.get_transform().transform_path(patch.get_path()).to_polygons():
                areas += _strips(outline, _STRIP * pixel)
    kinds = ((dots, 4), (colours, 3), (segments, 4), (hues, 3), (areas, 4))
    return _Obstacles(*(np.array(found, float).reshape(-1, n) for found, n in kinds))


def _strips(outline: Any, wide: float) -> list[FloatArray]:
    """Cut a shape into upright boxes."""
    few = len(outline) < 20
    x, y = np.asarray(Path(outline).interpolated(50).vertices if few else outline, float).T
    ends = np.linspace(x.min(), x.max(), 1 + max(1, min(50 if few else 20, int(np.ptp(x) / wide))))
    return [
        np.array([left, y[inside].min(), right, y[inside].max()])
        for left, right in pairwise(ends)
        if (inside := (x >= left) & (x <= right)).any()
    ]


def _covered(boxes: FloatArray, others: FloatArray) -> FloatArray:
    """Return the area that each box (left, bottom, right, top) shares with each of the others."""
    one, two = boxes.reshape(-1, 1, 4), np.asarray(others, float).reshape(1, -1, 4)
    sides = np.minimum(one[..., 2:], two[..., 2:]) - np.maximum(one[..., :2], two[..., :2])
    return np.asarray(np.clip(sides, 0, None).prod(axis=-1))


def _crossed(boxes: FloatArray, segments: FloatArray) -> FloatArray:
    """Return the length of each segment inside each box (clipped as by Liang and Barsky)."""
    box, s = boxes.reshape(-1, 1, 4), np.asarray(segments, float).reshape(1, -1, 4)
    way = s[..., 2:] - s[..., :2] + 1e-9
    first, last = (box[..., :2] - s[..., :2]) / way, (box[..., 2:] - s[..., :2]) / way
    enter = np.minimum(first, last).max(axis=-1).clip(0)
    leave = np.maximum(first, last).min(axis=-1).clip(None, 1)
    return np.asarray(np.clip(leave - enter, 0, None) * np.hypot(way[..., 0], way[..., 1]))


def _meet(leads: FloatArray, segments: FloatArray) -> BoolArray:
    """Return whether each of the first lines crosses each of the second; one that begins at its end does not."""
    a, c = leads.reshape(-1, 1, 4), np.asarray(segments, float).reshape(1, -1, 4)
    start, end = a[..., :2] + 0.1 * (a[..., 2:] - a[..., :2]), a[..., 2:]

    def side(p: FloatArray, q: FloatArray, r: FloatArray) -> FloatArray:
        return np.asarray(np.sign((q - p)[..., 0] * (r - p)[..., 1] - (q - p)[..., 1] * (r - p)[..., 0]))

    one, two = c[..., :2], c[..., 2:]
    across = (side(start, end, one) * side(start, end, two) < 0) & (side(one, two, start) * side(one, two, end) < 0)
    return np.asarray(across)


def _gaps(boxes: FloatArray, points: FloatArray) -> FloatArray:
    """Return the distance of each box to each point."""
    short = np.maximum(boxes[:, None, :2] - points, points - boxes[:, None, 2:])
    return np.asarray(np.hypot(*np.maximum(short, 0).transpose(2, 0, 1)))


@dataclass(frozen=True)
class _Places:
    """The places that a label may take: boxes, its point and the box's nearest place to it, distance, which point."""

    boxes: FloatArray
    leads: FloatArray
    away: FloatArray
    point: FloatArray
    cost: FloatArray
    optional: bool = False

    @property
    def distance_cost(self) -> FloatArray:
        """What a place costs that covers nothing."""
        return np.asarray(1.5 * self.away + np.where(self.away > _LED, _FAR, 0.0))


def _places(label: Label, half: FloatArray, dots: FloatArray, pixel: float) -> _Places:
    angles = np.linspace(0, 2 * np.pi, _DIRECTIONS, endpoint=False)
    away = np.repeat(_RINGS, _DIRECTIONS).astype(float)
    way = np.tile(np.column_stack([np.cos(angles), np.sin(angles)]), (len(_RINGS), 1))
    boxes, leads = [], []
    for at in dots:
        middle = at + half * np.clip(way * 1.6, -1, 1) + way * (away[:, None] + 2) * pixel
        low, high = middle - half, middle + half
        boxes.append(np.hstack([low, high]))
        leads.append(np.hstack([np.broadcast_to(at, low.shape), np.clip(at, low, high)]))
    n = len(label.points)
    point = np.repeat(np.arange(n, dtype=float), len(away))
    return _Places(np.vstack(boxes), np.vstack(leads), np.tile(away, n), point, np.zeros(len(point)), label.optional)


def _fixed_cost(
    places: _Places, label: Label, at: FloatArray, there: _Obstacles, frame: FloatArray, pixel: float
) -> FloatArray:
    """Return what each place costs whatever the other labels do; `at` are the label's points in pixels."""
    area = (places.boxes[0, 2:] - places.boxes[0, :2]).prod()
    outside = 1 - _covered(places.boxes, frame)[:, 0] / area
    cost = places.distance_cost + np.where(outside > 0.001, _OUTSIDE * (1 + 10 * outside), 0.0)
    around = np.array([-1, -1, 1, 1]) * _GAP * pixel
    cost += _POINT * _covered(places.boxes + around, there.dots).sum(axis=1) / pixel**2
    cost += _PALE * _covered(places.boxes + around, there.areas).sum(axis=1) / pixel**2
    cost += _LINE * _crossed(places.boxes, there.segments).sum(axis=1) / pixel
    led = places.away > _LED
    others = there.dots[~_at(_middle(there.dots), at, pixel)]
    through = (_crossed(others, places.leads) > 0).sum(axis=0) if len(others) else np.zeros(len(cost))
    crossed = _CROSSING * _meet(places.leads, there.segments).sum(axis=1)
    if len(there.areas):
        crossed += _PALE / 50 * _crossed(there.areas, places.leads).sum(axis=0) / pixel
    cost += np.where(led, _FAR * through + crossed, 0.0)
    return cost + np.where(led, 0.0, _misread(places, label, at, there, pixel))


def _middle(boxes: FloatArray) -> FloatArray:
    return np.asarray((boxes[:, :2] + boxes[:, 2:]) / 2)


def _at(points: FloatArray, at: FloatArray, pixel: float) -> BoolArray:
    """Return whether each point lies at one of a label's."""
    return np.asarray(np.hypot(*(points[:, None] - at).transpose(2, 0, 1)).min(axis=1) < 3 * pixel)


def _misread(places: _Places, label: Label, at: FloatArray, there: _Obstacles, pixel: float) -> FloatArray:
    """Return what it costs to stand nearly as near to others' marks as to one's own."""

    def like(colours: FloatArray) -> BoolArray:
        return np.asarray(np.abs(colours - mpl.colors.to_rgb(label.colour)).max(axis=1, initial=0) < _ALIKE)

    def along(segments: FloatArray) -> FloatArray:
        share = np.linspace(0, 1, _SAMPLES)[:, None, None]
        return np.asarray((segments[:, :2] * (1 - share) + segments[:, 2:] * share).reshape(-1, 2))

    begins, ends = (_at(there.segments[:, part], at, pixel) for part in (slice(0, 2), slice(2, 4)))
    own = np.vstack([at, along(there.segments[begins & ends & like(there.hues)])])
    far = 2 * _gaps(places.boxes, own).min(axis=1)[:, None]
    centres = _middle(there.dots)
    foreign, same = ~_at(centres, at, pixel) & ~np.isnan(there.colours[:, 0]), like(there.colours)
    alike = np.vstack([centres[foreign & same], along(there.segments[~begins & ~ends & like(there.hues)])])
    cost = np.where((_gaps(places.boxes, alike) < far).any(axis=1), _MISREAD, 0.0)
    other = _gaps(places.boxes, centres[foreign & ~same]) < far
    return np.asarray(cost + np.where(other.any(axis=1), _MISREAD / 4, 0.0))


def place_labels(ax: Axes, labels: Sequence[Label], *, size: float = 7.0, laid: bool = False) -> None:
    """Write labels where they cover least; a thin line leads from a far one to its point. One without text is none.

    `laid` says that the figure is laid out as it will be drawn, which labels do not change.
    """
    labels = [label for label in labels if label.text.strip()]
    if not labels:
        return
    figure = ax.get_figure(root=True)
    assert figure is not None
    if not laid:
        figure.draw_without_rendering()
    renderer: Any = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    pixel = figure.dpi / 72
    there = _obstacles(ax)
    frame = np.array(ax.get_window_extent(renderer).extents) + np.array([2, 1, 0, 0]) * pixel
    standing = [np.array(text.get_window_extent(renderer).extents) for text in ax.texts if text.get_text()]
    labels = sorted(labels, key=lambda label: len(label.points))
    notes: list[Annotation] = []
    options: list[_Places] = []
    for label in labels:
        note = ax.annotate(
            label.text, label.points[0], xytext=(0, 0), textcoords="offset points", fontsize=size, color=label.colour,
            fontweight="bold" if label.bold else "normal", va="center", ha="center", zorder=7,
        )  # fmt: skip
        note.set(in_layout=False, gid=LABEL)
        drawn = note.get_window_extent(renderer)
        half = np.array([drawn.width, drawn.height]) / 2
        at = ax.transData.transform(np.array(label.points, float))
        found = _places(label, half, at, pixel)
        cost = _fixed_cost(found, label, at, there, frame, pixel)
        notes.append(note)
        options.append(replace(found, cost=cost))
    for note, option, label, chosen in zip(notes, options, labels, _choose(options, standing, pixel), strict=True):
        if chosen is None:
            note.remove()
            continue
        at = option.leads[chosen, :2]
        box = option.boxes[chosen]
        note.xy = label.points[int(option.point[chosen])]
        note.set_position(tuple(((box[:2] + box[2:]) / 2 - at) / pixel))
        if option.away[chosen] > _LED:
            end = ax.transData.inverted().transform(option.leads[chosen, 2:])
            lead = ax.plot(
                *zip(note.xy, end, strict=True), color=label.colour, linewidth=0.5, zorder=2.5, clip_on=False
            )
            lead[0].set(gid="lead", in_layout=False)


def _choose(options: Sequence[_Places], standing: Sequence[FloatArray], pixel: float) -> list[int | None]:
    """Return the place that each label takes; None for one that is left out.

    Where labels chose in their order and some still covers something, they choose again: those with the fewest cheap
    places first, or the last first.
    """
    given = list(range(len(options)))
    found = []
    for order in (given, sorted(given, key=lambda i: int((options[i].cost < _MISREAD).sum())), given[::-1]):
        found.append(_choose_in(order, options, standing, pixel))
        if found[-1][0] < _TEXT:
            break
    return min(found, key=lambda one: one[0])[1]


def _choose_in(
    order: Sequence[int], options: Sequence[_Places], standing: Sequence[FloatArray], pixel: float
) -> tuple[float, list[int | None]]:
    """Return what the worst place costs beyond its distance, and the places, after all rounds."""
    chosen: list[int | None] = [None] * len(options)
    beyond = [0.0] * len(options)
    for _ in range(_ROUNDS):
        before = list(chosen)
        for i in order:
            option = options[i]
            others = [(o, c) for j, (o, c) in enumerate(zip(options, chosen, strict=True)) if c is not None and j != i]
            texts = np.array([*standing, *(o.boxes[c] for o, c in others)]).reshape(-1, 4)
            leads = np.array([o.leads[c] for o, c in others if o.away[c] > _LED]).reshape(-1, 4)
            cost = option.cost + _TEXT * _covered(option.boxes + _ROOM * pixel, texts).sum(axis=1) / pixel**2
            # A leading line through another text is as bad as a text on it.
            cost += 10 * _TEXT * (_crossed(option.boxes, leads) > 0).sum(axis=1)
            through = (_crossed(texts, option.leads) > 0).sum(axis=0) if len(texts) else 0
            crossed = _CROSSING * _meet(option.leads, leads).sum(axis=1)
            cost += np.where(option.away > _LED, 10 * _TEXT * through + crossed, 0.0)
            best = int(cost.argmin())
            beyond[i] = float(cost[best] - option.distance_cost[best])
            chosen[i] = None if option.optional and beyond[i] > _TOUCHING else best
            beyond[i] *= chosen[i] is not None
        if chosen == before:
            break
    return max(beyond, default=0.0), chosen


def overlaps(figure: Figure) -> dict[str, float]:
    """Count, in the finished picture, the texts on a text or a mark, and outside; give the smallest type.

    Returns
    -------
    dict
        `texts` (inside axes), `on_text` (pairs), `on_point`, `on_line`, `on_shape` (spreads, bars, the frontier),
        `off_axes` (labels of points), `outside` the figure, `smallest_pt`.
    """
    figure.draw_without_rendering()
    renderer: Any = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    figures: list[Any] = [figure, *figure.subfigs]
    everywhere = [text for each in figures for legend in each.legends for text in legend.get_texts()]
    everywhere += [text for each in figures for text in each.texts]
    found = {"texts": 0, "on_text": 0, "on_point": 0, "on_line": 0, "on_shape": 0, "off_axes": 0}
    for ax in figure.axes:
        inner = [text for text in ax.texts if text.get_text()]
        boxes = _boxes(inner, renderer)
        there = _obstacles(ax)
        found["texts"] += len(inner)
        found["on_point"] += int((_covered(boxes, there.dots) > 2).any(axis=1).sum())
        found["on_line"] += int((_crossed(boxes, there.segments) > 4).any(axis=1).sum())
        found["on_shape"] += int((_covered(boxes, there.areas).sum(axis=1) > 8).sum())
        labels = _boxes([text for text in inner if text.get_gid() == LABEL], renderer)
        size = (labels[:, 2:] - labels[:, :2]).prod(axis=1)
        found["off_axes"] += int((_covered(labels, np.array(ax.bbox.extents))[:, 0] < 0.98 * size).sum())
        everywhere += [*inner, *_around(ax)]
    everywhere = [text for text in everywhere if text.get_text().strip() and text.get_visible()]
    boxes = _boxes(everywhere, renderer)
    found["on_text"] = int((np.triu(_covered(boxes, boxes), 1) > 4).sum())
    inside = _covered(boxes, np.array(figure.bbox.extents))[:, 0]
    found["outside"] = int((inside < 0.98 * (boxes[:, 2:] - boxes[:, :2]).prod(axis=1)).sum())
    return {**found, "smallest_pt": min((float(text.get_fontsize()) for text in everywhere), default=99.0)}


def _boxes(texts: Sequence[Text], renderer: Any) -> FloatArray:
    return np.array([text.get_window_extent(renderer).extents for text in texts], float).reshape(-1, 4)


def _around(ax: Axes) -> list[Text]:
    """Return the texts around the data: titles, names of axes, tick labels, legend."""
    if not ax.axison:
        return [ax.title]
    texts = [ax.title, *(getattr(ax, f"_{side}_title") for side in ("left", "right")), ax.xaxis.label, ax.yaxis.label]
    legend = ax.get_legend()
    texts += legend.get_texts() if legend is not None else []
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        ticks = zip(axis.get_ticklabels(), axis.get_ticklocs(), strict=False)
        texts += [text for text, value in ticks if low <= value <= high]
    return texts
