"""Figures: style, helpers of notebooks, the risk-utility map.

Functions draw on a given `ax` (or create one), change nothing global, and return the Axes or the Figure.
"""

from reident.plotting._style import COLOURS, LINES, MARKERS, new_figure, save_figure

__all__ = ["COLOURS", "LINES", "MARKERS", "new_figure", "save_figure"]
