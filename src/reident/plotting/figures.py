"""Figures of the notebooks: panels at one width, one legend, a title that states the finding, a caption."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Image, Markdown, display
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.special import stdtrit

from reident.plotting import COLOURS, METADATA, STYLE

# A method keeps its colour through a notebook.
BLUE, YELLOW, GREEN, ORANGE, SKY, PURPLE = COLOURS[:6]
GREY = "0.55"

#: Line and marker of published values, in all notebooks.
PUBLISHED: dict[str, Any] = {"marker": "s", "linestyle": "--", "markerfacecolor": "white", "linewidth": 0.8}

#: Key of the ringed release of a risk-utility map.
RING: dict[str, Any] = {"color": "black", "marker": "o", "markerfacecolor": "none", "linestyle": "", "markersize": 9}

#: Error bars, and the line through them.
BARS: dict[str, Any] = {"marker": "o", "linewidth": 1.2, "elinewidth": 0.7}

#: Narrower figures have one column of panels.
_NARROW_MM = 120

#: Pixels an inch of shown and saved pictures.
_DPI = 200


class Figures:
    """The figures of a notebook: all of one width, saved into one folder.

    Creating it sets a style for the session, readable at 85 mm: the notebook's cells draw with matplotlib alone, and
    tables show whole sentences.

    Parameters
    ----------
    width_mm : float
        170 for a page, 85 for a column.
    out : folder, optional
        `finish` saves into its subfolder ``figures``, with titles and captions in ``captions.csv``; an empty text saves
        nothing.
    file_format : {"png", "pdf", "svg"}
        The format of the files.
    """

    def __init__(self, width_mm: float = 170.0, out: str | Path = "", file_format: str = "png") -> None:
        self.width_mm, self.out, self.file_format = width_mm, out, file_format
        pd.set_option("display.max_colwidth", None)
        plt.rcParams.update(STYLE | {"font.size": 8, "lines.markersize": 4, "figure.dpi": 150})

    @property
    def is_narrow(self) -> bool:
        """Whether panels stand in one column."""
        return self.width_mm <= _NARROW_MM

    def panels(self, n: int = 1, height_mm: float = 62, **options: Any) -> tuple[Figure, list[Axes]]:
        """Return a figure with `n` panels of this height, side by side or (narrow) in a column, and its axes.

        `options` go to ``plt.subplots``.
        """
        columns = 1 if self.is_narrow else min(n, 3)
        if n == 4:
            columns = 2
        rows = -(-n // columns)
        size = (self.width_mm / 25.4, rows * height_mm / 25.4 + 0.45)
        figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False, **options)
        for ax in axes.flat[n:]:
            ax.set_axis_off()
        return figure, list(axes.flat[:n])

    def finish(
        self, figure: Figure, name: str, title: str, caption: str, keys: Mapping[str, Mapping[str, Any]] | None = None
    ) -> Markdown:
        """Set the title and one legend at the foot, show and save the figure as `name`, and return the caption.

        The `title` is the finding, with computed numbers; the `caption` gives conditions, data, and the meaning of
        bars. The legend has a key a label: ``{"ours": {"color": BLUE, "marker": "o"}, "published": {"color": BLUE} |
        PUBLISHED}``.
        """
        _widen(figure)
        figure.suptitle(
            textwrap.fill(title, int(self.width_mm / 1.9)), x=0.01, ha="left", fontsize=9, fontweight="bold"
        )
        if keys:
            handles = [Line2D([], [], label=label, **style) for label, style in keys.items()]
            columns = int(self.width_mm / (1.35 * max(map(len, keys)) + 12))
            figure.legend(handles=handles, loc="outside lower center", ncols=max(1, min(columns, 4)), fontsize=7.5)
        shown = BytesIO()
        figure.savefig(shown, dpi=_DPI, metadata=METADATA["png"])
        if self.out:
            folder = Path(self.out, "figures")
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / f"{name}.{self.file_format}"
            if self.file_format == "png":
                file.write_bytes(shown.getvalue())
            else:
                figure.savefig(file, metadata=METADATA[self.file_format])
            captions = folder / "captions.csv"
            row = pd.DataFrame({"figure": [name], "title": [title], "caption": [caption]})
            earlier = pd.read_csv(captions) if captions.is_file() else row.iloc[:0]
            pd.concat([earlier[earlier["figure"] != name], row]).to_csv(captions, index=False)
        plt.close(figure)  # the notebook shows the saved picture, without a second drawing
        display(Image(shown.getvalue(), width=round(self.width_mm * 4)))  # type: ignore[no-untyped-call]
        return Markdown(f"*{caption}*")


def _widen(figure: Figure) -> None:
    """Give logarithmic axes with a single value a width, which matplotlib leaves out: from half to twice the value."""
    for ax in figure.axes:
        for name, axis in (("x", ax.xaxis), ("y", ax.yaxis)):
            together = getattr(ax, f"get_shared_{name}_axes")().get_siblings(ax)
            ends = np.array([getattr(each.dataLim, f"interval{name}") for each in together])
            low, high = ends.min(), ends.max()
            is_free = axis.get_scale() == "log" and getattr(ax, f"get_autoscale{name}_on")()
            if is_free and low > 0 and np.isclose(low, high, rtol=1e-9, atol=0):
                getattr(ax, f"set_autoscale{name}_on")(False)
                getattr(ax, f"set_{name}lim")(low / 2, 2 * high)


def draw_spread(ax: Axes, groups: Any, *, share: float = 0.9, shift: float = 0.0, **style: Any) -> None:
    """Draw the mean of each group over its key, moved by `shift`, with a bar that holds this share of its values."""
    mean, low, high = groups.mean(), groups.quantile((1 - share) / 2), groups.quantile((1 + share) / 2)
    bars = np.clip([mean - low, high - mean], 0, None)
    ax.errorbar(mean.index + shift, mean, bars, **BARS | style)


def half_interval(draws: pd.Series) -> float:
    """Return half the 95 % interval (Student) of a mean over independent draws; 0 for a single draw."""
    return float(stdtrit(len(draws) - 1, 0.975) * draws.sem()) if len(draws) > 1 else 0.0


def draw_means(ax: Axes, at: Any, means: pd.Series, half: pd.Series, **style: Any) -> None:
    """Draw mean shares with bars of this half length that end at 0 and 1."""
    ax.errorbar(at, means, [half.clip(upper=means), half.clip(upper=1 - means)], **BARS | style)
