"""Figures: the house style here, one module a study beside it.

Functions draw on a given `ax` (or create one), change nothing global, and return the Axes or the Figure.
"""

from reident.plotting._labels import overlaps
from reident.plotting._style import COLOURS, LINES, MARKERS, draw_lines, in_house_style, new_figure, save_figure

__all__ = ["COLOURS", "LINES", "MARKERS", "draw_lines", "in_house_style", "new_figure", "overlaps", "save_figure"]
