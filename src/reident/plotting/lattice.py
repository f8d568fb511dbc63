"""The generalisation lattice: which nodes satisfy, which of them are minimal, which is chosen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from reident.plotting import COLOURS, new_figure

#: Beyond so many nodes, arrows would be a grey area and labels a black one.
_MOST_LABELS, _MOST_EDGES = 80, 3000


def plot_lattice(
    lattice: pd.DataFrame, quasi: Sequence[str], *, node: Sequence[int] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a lattice of generalisations, the original at the bottom.

    Parameters
    ----------
    lattice : DataFrame
        As `KAnonymous.lattice` has it: a level for each of `quasi`, total_level, satisfies, k_minimal.
    quasi : sequence of str
    node : sequence of int, optional
        The chosen node, ringed.
    ax : Axes, optional

    Returns
    -------
    Axes
        A node with its levels as its name; filled where it satisfies the criteria, a square where it is minimal.
    """
    if ax is None:
        ax = new_figure(size=(7.2, 4.8))[1]
    assert ax is not None
    levels = lattice[list(quasi)].to_numpy()
    total = lattice["total_level"].to_numpy()
    within = lattice.groupby("total_level").cumcount().to_numpy()
    width = lattice.groupby("total_level")["total_level"].transform("size").to_numpy()
    x = within - (width - 1) / 2
    place = {tuple(row): position for position, row in enumerate(levels.tolist())}
    edges = [
        (position, place[above])
        for row, position in place.items()
        for j in range(len(row))
        if (above := (*row[:j], row[j] + 1, *row[j + 1 :])) in place
    ]
    if len(edges) <= _MOST_EDGES:
        segments = [((x[low], total[low]), (x[high], total[high])) for low, high in edges]
        ax.add_collection(LineCollection(segments, colors="0.85", linewidths=0.5, zorder=1, rasterized=True))
    satisfies, minimal = lattice["satisfies"].to_numpy(bool), lattice["k_minimal"].to_numpy(bool)
    has_names = len(lattice) <= _MOST_LABELS
    # A node holds its name: edges run behind it.
    size = (4.6 * len(quasi) + 5) ** 2 if has_names else 12
    for part, marker, colour, label in (
        (~satisfies, "o", "white", "does not satisfy"),
        (satisfies & ~minimal, "o", COLOURS[4], "satisfies"),
        (minimal, "s", COLOURS[3], "minimal"),
    ):
        ax.scatter(x[part], total[part], s=size, marker=marker, c=colour, edgecolors="0.4", linewidths=0.6, label=label,
                   zorder=2, rasterized=not has_names)  # fmt: skip
    if node is not None:
        chosen = place[tuple(int(level) for level in node)]
        ax.scatter(
            x[chosen], total[chosen], s=size * 1.6, facecolors="none", edgecolors="black", label="chosen", zorder=3
        )
    if has_names:
        for row, position in place.items():
            ax.text(x[position], total[position], "".join(map(str, row)), ha="center", va="center", fontsize=7)
    ax.set_ylabel("sum of levels")
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.set_yticks(np.arange(total.max() + 1))
    ax.margins(0.06)
    ax.legend(loc="upper right", fontsize=7, markerscale=6 / np.sqrt(size) if has_names else 1)
    ax.set_title(f"levels of {', '.join(quasi)}")
    return ax
