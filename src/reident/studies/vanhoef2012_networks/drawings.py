"""Small drawings for the lecture: what figures 7.2, 8.1, 9.2 and 10.1 of the thesis show, on graphs of a few nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from reident import implant
from reident.studies.vanhoef2012_networks.graphs import graph

__all__ = ["ADDED", "CRAWLED", "EXAMPLE", "STAR", "draw_ideas"]

#: The house's first two colours; only figures may read its style.
_FILL, _ACCENT = "#0072B2", "#E69F00"

Pair = tuple[str, str]
Places = Mapping[str, tuple[float, float]]

#: 7.2: who is A, B or D cannot be told; that each is linked to C can.
STAR: tuple[Pair, ...] = (("A", "C"), ("B", "C"), ("D", "C"))

#: 9.5.2: a graph of degrees 3, 3, 3, 2, 2, 1, and the edge that makes it 2-degree anonymous.
EXAMPLE: tuple[Pair, ...] = (("1", "2"), ("1", "3"), ("2", "3"), ("1", "4"), ("3", "4"), ("2", "5"), ("5", "6"))
ADDED: Pair = ("4", "6")

#: 10.1: who follows A and B; two of each one's three followers are the same.
CRAWLED: tuple[Pair, ...] = (("1", "A"), ("2", "A"), ("3", "A"), ("2", "B"), ("3", "B"), ("4", "B"))


#: Planted nodes round their circle so that no link runs under a node that it does not join.
_ROUND = (3, 1, 0, 4, 5, 6, 2)


def draw_ideas(axes: Sequence[Axes]) -> None:
    """Draw planted nodes and their targets, a link that is no secret, 2-degree anonymity and cosines."""
    _planted(axes[0])
    places = {"C": (0.0, 0.0), "A": (-0.9, 0.6), "B": (0.9, 0.6), "D": (0.0, -1.0)}
    _links(axes[1], places, STAR)
    _nodes(axes[1], places, "ABD")
    axes[1].set_title("7.2: A, B and D cannot be told apart;\nthat they are linked to C can")
    places = {"1": (-0.5, 0.8), "2": (0.5, 0.8), "3": (0.0, 0.1), "4": (-0.9, -0.2), "5": (0.9, -0.2), "6": (0.0, -1.0)}
    _links(axes[2], places, EXAMPLE)
    _links(axes[2], places, [ADDED], _ACCENT)
    _nodes(axes[2], places)
    axes[2].set_title("9.2: degrees 3, 3, 3, 2, 2, 1;\none edge more: 3, 3, 3, 3, 2, 2")
    places = {"A": (-0.5, 0.8), "B": (0.5, 0.8)} | {str(i + 1): (-0.9 + 0.6 * i, -0.7) for i in range(4)}
    _links(axes[3], places, CRAWLED, style="-|>")
    _nodes(axes[3], places, "23")
    axes[3].set_title("10.1: cosine of A's and B's followers\n2 / $\\sqrt{3 \\cdot 3}$ = 2/3")


def _planted(ax: Axes) -> None:
    """Draw the nodes that an attacker plants in a network, their links, and the patterns that point to the targets."""
    plan = implant(graph("les_miserables"), [0, 10, 20], k=7, d0=4, d1=8, rng=8)
    names = {node: f"$x_{i + 1}$" for i, node in enumerate(plan.nodes)}
    targets = {target: f"$w_{i + 1}$" for i, target in enumerate(plan.links)}
    turn = 0.45 + 2 * np.pi * np.argsort(_ROUND) / len(names)
    circle = 0.85 * np.column_stack([np.cos(turn), np.sin(turn)])
    aside = np.array([(1.75, 0.85 * height) for height in (0, 1, -1)])
    spots = np.concatenate([circle, aside]).tolist()
    places = {name: (x, y) for name, (x, y) in zip([*names.values(), *targets.values()], spots, strict=True)}
    u, v = plan.network.edges()
    ends = [(plan.network.nodes[a], plan.network.nodes[b]) for a, b in zip(u.tolist(), v.tolist(), strict=True)]
    inner = [(names[a], names[b]) for a, b in ends if a in names and b in names]
    aimed = [(names[plan.nodes[i]], targets[b]) for b, chosen in plan.links.items() for i in sorted(chosen)]
    _links(ax, places, inner)
    _links(ax, places, aimed, _ACCENT)
    _nodes(ax, places, list(targets.values()))
    ax.set_title(f"8.1: {len(names)} planted nodes, and the links\nthat single out three targets")


def _links(ax: Axes, places: Places, pairs: Sequence[Pair], colour: str = "0.35", style: str = "-") -> None:
    for a, b in pairs:
        look = {"arrowstyle": style, "color": colour, "linewidth": 1.3, "shrinkA": 7, "shrinkB": 7}
        ax.annotate("", xy=places[b], xytext=places[a], arrowprops=look)


def _nodes(ax: Axes, places: Places, marked: Sequence[str] = ()) -> None:
    for name, (x, y) in places.items():
        face, text = (_FILL, "white") if name in marked else ("white", "black")
        ax.plot(x, y, "o", markersize=16, markerfacecolor=face, markeredgecolor="0.3", zorder=3, clip_on=False)
        ax.text(x, y, name, ha="center", va="center", fontsize=8, color=text, zorder=4)
    ax.set_aspect("equal")
    ax.margins(0.15)
    ax.set_axis_off()
