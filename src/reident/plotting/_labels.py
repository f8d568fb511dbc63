"""Labels beside points that overlap neither each other nor the points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import ConnectionPatch

from reident._typing import FloatArray

# Where a label may stand around its point: offset in points, horizontal and vertical alignment; best first.
_PLACES = [
    (7, 5, "left", "bottom"),
    (-7, 5, "right", "bottom"),
    (7, -5, "left", "top"),
    (-7, -5, "right", "top"),
    (0, 9, "center", "bottom"),
    (0, -9, "center", "top"),
    (14, 14, "left", "bottom"),
    (-14, 14, "right", "bottom"),
    (14, -14, "left", "top"),
    (-14, -14, "right", "top"),
    (0, 22, "center", "bottom"),
    (0, -22, "center", "top"),
]

# Distance, pixels, between the points that stand for a line.
_SPACING = 8

# Points of one colour closer than this (pixels) share one label.
_CROWDED = 18

# Distances, points, and directions in which a label that must stand is placed away from its point, with a thin line.
_AWAY, _DIRECTIONS = (30, 45, 60, 80, 105, 135, 170), 24

# What part of a box's width or height lies left of, or below, the point that it is aligned to.
_SHIFT = {"left": 0.0, "bottom": 0.0, "center": 0.5, "right": 1.0, "top": 1.0}


def place_labels(ax: Axes, labels: Sequence[tuple[float, float, str, str, bool]]) -> None:
    """Write labels (x, y, text, colour, must) at free places around their points.

    Earlier labels choose first. One that finds no free place is left out, unless it must stand: it then stands farther
    away, with a thin line to its point, and only if all is taken where it covers least.
    """
    figure = ax.figure
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    frame = ax.get_window_extent(renderer)
    pixels = figure.dpi / 72
    dots = ax.transData.transform(np.array([(x, y) for x, y, *_ in labels])) if labels else np.empty((0, 2))
    taken: list[FloatArray] = [np.array([x - 3, y - 3, x + 3, y + 3]) for x, y in [*dots, *_along_lines(ax)]]
    taken += [np.array(text.get_window_extent(renderer).extents) for text in ax.texts]
    written: list[tuple[str, FloatArray]] = []
    for (x, y, text, colour, must), dot in zip(labels, dots, strict=True):
        crowded = any(near == colour and np.hypot(*(dot - at)) < _CROWDED for near, at in written)
        if crowded and not must:
            continue
        note = ax.annotate(
            text, (x, y), xytext=(0, 0), textcoords="offset points", fontsize=8 if must else 7,
            fontweight="bold" if must else "normal", color=colour,
        )  # fmt: skip
        drawn = note.get_window_extent(renderer)
        size = np.array([drawn.width, drawn.height])
        least, best, box = np.inf, (0.0, 0.0, "left", "bottom"), np.zeros(4)
        for place in _places(must):
            corner = dot + pixels * np.array(place[:2]) - size * [_SHIFT[place[2]], _SHIFT[place[3]]]
            candidate = np.concatenate([corner, corner + size])
            inside = _overlaps(candidate, np.array([frame.extents]))
            covered = _overlaps(candidate, np.array(taken)) + 10 * (size.prod() - inside)
            if covered < least:
                least, best, box = covered, place, candidate
            if least <= 0:
                break
        if least > 0 and not must:
            note.remove()
            continue
        note.set(position=best[:2], horizontalalignment=best[2], verticalalignment=best[3])
        if np.hypot(*best[:2]) >= _AWAY[0]:
            _lead(ax, (x, y), box, colour)
        taken.append(box)
        if not must:
            written.append((colour, dot))


def _places(far: bool) -> Iterator[tuple[float, float, str, str]]:
    """Yield the places around a point, best first; the distant ones only if `far`."""
    yield from _PLACES
    for away in _AWAY if far else ():
        for angle in np.linspace(0, 2 * np.pi, _DIRECTIONS, endpoint=False):
            x, y = away * np.cos(angle), away * np.sin(angle)
            horizontal = "center" if abs(x) < 0.4 * away else "left" if x > 0 else "right"
            yield float(x), float(y), horizontal, "bottom" if y >= 0 else "top"


def _lead(ax: Axes, point: tuple[float, float], box: FloatArray, colour: str) -> None:
    """Draw a thin line from the nearest place of a label's box to its point."""
    dot = ax.transData.transform(point)
    end = ax.transData.inverted().transform(np.clip(dot, box[:2], box[2:]))
    line = ConnectionPatch(point, tuple(end), "data", "data", color=colour, linewidth=0.6, alpha=0.7, zorder=1.5)
    line.set_in_layout(False)
    ax.add_artist(line)


def _along_lines(ax: Axes) -> list[FloatArray]:
    """Return points along the drawn lines, close enough together that a label on a line meets one."""
    points: list[FloatArray] = []
    for line in ax.get_lines():
        corners = line.get_transform().transform(np.column_stack(line.get_data()).astype(float))
        corners = corners[np.isfinite(corners).all(axis=1)]
        if line.get_linestyle() == "None":
            continue
        for start, end in pairwise(corners):
            steps = max(2, int(np.hypot(*(end - start)) / _SPACING))
            points.extend(start + share * (end - start) for share in np.linspace(0, 1, steps))
    return points


def _overlaps(box: FloatArray, others: FloatArray) -> float:
    """Return the area that a box (left, bottom, right, top) shares with others, added up."""
    if not len(others):
        return 0.0
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    return float(np.clip(sides, 0, None).prod(axis=1).sum())
