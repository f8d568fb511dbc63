"""Summaries of Abril et al. (2012): Hotelling's test, ranges set by set, and the lattice of a measure."""

from itertools import product

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy import stats

from reident.base import Parameters, Row
from reident.experiments.abril2012 import printed_measure
from reident.plotting.figures import ORANGE
from reident.tables.choquet.choquet_linkage import LearnedLinkage


def joint_test(wide: pd.DataFrame, published: pd.Series) -> Row:
    """Test all published means at once against one further draw (Hotelling), and each alone (Student).

    `wide` has a row a draw and a column a file. Empty where draws are too few.
    """
    n, p = wide.shape
    if not p or n <= p + 1:
        return {}
    gap = (published.reindex(wide.columns) - wide.mean()).to_numpy()
    statistic = gap @ np.linalg.inv(np.atleast_2d(wide.cov()) * (1 + 1 / n)) @ gap
    alone = 2 * stats.t.sf(np.abs(gap) / (wide.std().to_numpy() * np.sqrt(1 + 1 / n)), n - 1)
    together = {"p_value": float(stats.f.sf((n - p) / (p * (n - 1)) * statistic, p, n - p))}
    return together | {"mean_gap": float(gap.mean())} | dict(zip(wide.columns, alone.tolist(), strict=True))


def ranges_by_code(linkage: LearnedLinkage, measure: pd.DataFrame, table: str) -> pd.DataFrame:
    """Return range, learned and published value of each set, written as digits, the first column leftmost.

    `measure` holds the ranges over all optimal measures, `table` names the published one.
    """
    codes = ["".join("01"[column in chosen] for column in linkage.columns) for chosen in measure.index]
    assert linkage.measure is not None
    learned = [linkage.measure[list(chosen)] for chosen in measure.index]
    values = printed_measure(table, linkage.columns)
    published = [values[list(chosen)] for chosen in measure.index]
    return measure.set_axis(codes).assign(learned=learned, published=published)


def draw_lattice(ax: Axes, sets: pd.DataFrame) -> None:
    """Draw sets as a lattice, larger ones higher: code, range over all optima, published value."""
    rows = {size: [code for code in sets.index if code.count("1") == size] for size in range(1, 9)}
    spot = {code: (i - (len(row) - 1) / 2, size) for size, row in rows.items() for i, code in enumerate(row)}
    for a, b in product(sets.index, repeat=2):
        if sum(x != y for x, y in zip(a, b, strict=True)) == 1 and a.count("1") < b.count("1"):
            ax.plot(*zip(spot[a], spot[b], strict=True), color="0.85", linewidth=0.8, zorder=0)
    for code, (x, y) in spot.items():
        low, high, value = sets.loc[code, ["low", "high", "published"]]
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        style: Parameters = {"ha": "center", "va": "center", "fontsize": 6}
        ax.text(x, y, f"\n{low:.2f} to {high:.2f}\n", color=ORANGE, bbox=box, **style)
        ax.text(x, y, f"{code}\n\n{value:.2f}", **style)
    columns, heights = zip(*spot.values(), strict=True)
    ax.set(xlim=(min(columns) - 0.5, max(columns) + 0.5), ylim=(min(heights) - 0.4, max(heights) + 0.4))
    ax.axis("off")
