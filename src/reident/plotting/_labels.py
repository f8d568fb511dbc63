"""Labels beside points that overlap neither each other nor the points."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

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


def place_labels(ax: Axes, labels: Sequence[tuple[float, float, str, str, bool]]) -> None:
    """Write labels (x, y, text, colour, must) at free places around their points.

    Earlier labels choose first. One that finds no free place is left out, unless it must stand: it then takes the
    place that covers least.
    """
    figure = ax.figure
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    frame = ax.get_window_extent(renderer)
    dots = ax.transData.transform(np.array([(x, y) for x, y, *_ in labels])) if labels else np.empty((0, 2))
    taken: list[Bbox] = [Bbox.from_bounds(x - 3, y - 3, 6, 6) for x, y in [*dots, *_along_lines(ax)]]
    written: list[tuple[str, np.ndarray]] = []
    for (x, y, text, colour, must), dot in zip(labels, dots, strict=True):
        crowded = any(near == colour and np.hypot(*(dot - at)) < _CROWDED for near, at in written)
        if crowded and not must:
            continue
        best, least = None, np.inf
        for dx, dy, horizontal, vertical in _PLACES:
            note = ax.annotate(
                text, (x, y), xytext=(dx, dy), textcoords="offset points", ha=horizontal, va=vertical,
                fontsize=8 if must else 7, fontweight="bold" if must else "normal", color=colour,
            )  # fmt: skip
            box = note.get_window_extent(renderer)
            covered = sum(_overlap(box, other) for other in taken) + 10 * _outside(box, frame)
            if covered < least:
                if best is not None:
                    best.remove()
                best, least, best_box = note, covered, box
            else:
                note.remove()
            if covered == 0:
                break
        if best is None:
            continue
        if least > 0 and not must:
            best.remove()
            continue
        taken.append(best_box)
        if not must:
            written.append((colour, dot))


def _along_lines(ax: Axes) -> list[np.ndarray]:
    """Return points along the drawn lines, close enough together that a label on a line meets one."""
    points: list[np.ndarray] = []
    for line in ax.get_lines():
        corners = line.get_transform().transform(np.column_stack(line.get_data()).astype(float))
        corners = corners[np.isfinite(corners).all(axis=1)]
        if line.get_linestyle() == "None":
            continue
        for start, end in pairwise(corners):
            steps = max(2, int(np.hypot(*(end - start)) / _SPACING))
            points.extend(start + share * (end - start) for share in np.linspace(0, 1, steps))
    return points


def _overlap(a: Bbox, b: Bbox) -> float:
    width = min(a.x1, b.x1) - max(a.x0, b.x0)
    height = min(a.y1, b.y1) - max(a.y0, b.y0)
    return width * height if width > 0 and height > 0 else 0.0


def _outside(box: Bbox, frame: Bbox) -> float:
    return box.width * box.height - _overlap(box, frame)
