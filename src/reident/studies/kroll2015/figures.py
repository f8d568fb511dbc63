"""Figures of the study kroll2015: figures 1 to 8 of the paper and the map of its variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reident.data.datasets import load_boundary
from reident.data.papers import published
from reident.plotting._labels import Label, place_labels
from reident.plotting._style import COLOURS, MARKERS, draw_lines, in_house_style, new_figure
from reident.plotting.rumap import plot_ru_panels
from reident.studies.study import Results
from reident.studies.together import confidence

__all__ = ["FIGURES"]

# Closed markers, so that a label can stand inside.
_MARKERS = ["o", "s", "^", "D", "v", "p", "h"]


def figure_1(results: Results) -> Figure:
    """Draw the graph model of Example 2: labels at the vertices, distances in km at the edges."""
    vertices, edges = results.frames["example2_vertices"], results.frames["example2_edges"]
    figure, ax = new_figure(size=(6.4, 4.6))
    place = {row.vertex: (row.lon_deg, row.lat_deg) for row in vertices.itertuples()}
    for row in edges.itertuples():
        (x1, y1), (x2, y2) = place[row.a], place[row.b]
        ax.plot([x1, x2], [y1, y2], color="0.6", linewidth=1, zorder=1)
        # A third of the way, so that the labels of crossing edges stay apart.
        x, y = x1 + (x2 - x1) * 0.42, y1 + (y2 - y1) * 0.42
        ax.text(x, y, f"{row.distance_km:.1f}", fontsize=8, ha="center", va="center",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})  # fmt: skip
    for row in vertices.itertuples():
        female = row.sex == "f"
        ax.plot(row.lon_deg, row.lat_deg, "o" if female else "s", markersize=36, color="white",
                markeredgecolor=COLOURS[3 if female else 0], markeredgewidth=1.6, zorder=2)  # fmt: skip
        ax.text(row.lon_deg, row.lat_deg, f"{row.vertex}\n{row.sex}, {row.yob}", ha="center", va="center", fontsize=7)
    ax.margins(0.14)
    ax.axis("off")
    ax.set_title("Example 2: vertices carry sex and year of birth, edges distances in km")
    return figure


def _apart(points: np.ndarray, least: float) -> np.ndarray:
    """Return points pushed apart until none is nearer to another than `least`: several poets were born in one town."""
    moved = points + 1e-3 * np.random.default_rng(0).normal(size=points.shape)
    for _ in range(200):
        gap = moved[:, None] - moved[None]
        distance = np.maximum(np.linalg.norm(gap, axis=-1), 1e-9)
        push = np.clip(least - distance, 0, None) / distance
        np.fill_diagonal(push, 0.0)
        moved = moved + 0.25 * (push[..., None] * gap).sum(axis=1)
    return np.asarray(moved)


def _draw_poets(ax: Axes, vertices: pd.DataFrame, edges: pd.DataFrame, languages: list[str], title: str) -> None:
    apart = _apart(vertices[["x_km", "y_km"]].to_numpy(float), 230.0)
    place = dict(zip(vertices["vertex"], apart, strict=True))
    for row in edges.sort_values("in_both").itertuples():
        look: dict[str, Any] = {"color": "0.25", "linewidth": 1.8}
        if not row.in_both:
            look = {"color": "0.87", "linewidth": 0.5}
        ax.plot(*zip(place[row.a], place[row.b], strict=True), zorder=1 + row.in_both, **look)
    for row in vertices.itertuples():
        position, (x, y) = languages.index(row.language), place[row.vertex]
        ax.plot(x, y, _MARKERS[position], markersize=20, color="white", zorder=3,
                markeredgecolor=COLOURS[position], markeredgewidth=2.6 if row.in_both else 1.0)  # fmt: skip
        ax.text(x, y, f"{row.vertex}\n{row.cob}", ha="center", va="center", fontsize=6.5,
                fontweight="bold" if row.in_both else "normal", linespacing=0.9, zorder=4)  # fmt: skip
    ax.set_aspect("equal")
    ax.margins(0.1)
    ax.axis("off")
    ax.set_title(title)


def figure_2(results: Results) -> Figure:
    """Draw target and identification graph of Example 10, laid alike; what both have in common is bold."""
    vertices, edges = results.frames["example10_vertices"], results.frames["example10_edges"]
    languages = list(dict.fromkeys(vertices["language"]))
    figure, axes = new_figure(1, 2, size=(11.0, 5.4), sharex=True, sharey=True)
    for ax, name in zip(axes, ("target", "identification"), strict=True):
        shown, joined = vertices[vertices["file"] == name], edges[edges["file"] == name]
        _draw_poets(ax, shown, joined, languages, f"{name} graph: number of the record, century of birth")
    handles = [
        Line2D(
            [], [], marker=_MARKERS[i], linestyle="", markerfacecolor="white", markeredgecolor=COLOURS[i], label=name
        )
        for i, name in enumerate(languages)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(languages), frameon=False, fontsize=8)
    return figure


def figure_3(results: Results) -> Figure:
    """Draw the product graph of Example 10 with its unique maximum clique."""
    vertices, edges = results.frames["product_vertices"], results.frames["product_edges"]
    figure, ax = new_figure(size=(5.0, 4.2))
    angle = np.pi / 2 - 2 * np.pi * np.arange(len(vertices)) / len(vertices)
    place = dict(zip(vertices["vertex"], zip(np.cos(angle), np.sin(angle), strict=True), strict=True))
    members = set(vertices.loc[vertices["in_clique"], "vertex"])
    for row in edges.itertuples():
        inside = {row.a, row.b} <= members
        ax.plot(*zip(place[row.a], place[row.b], strict=True), color=COLOURS[3] if inside else "0.6",
                linewidth=2 if inside else 1, linestyle="-" if inside else "--", zorder=1)  # fmt: skip
    for row in vertices.itertuples():
        x, y = place[row.vertex]
        ax.plot(
            x, y, "o", markersize=19, color=COLOURS[3] if row.in_clique else "white", markeredgecolor="0.2", zorder=2
        )
        ax.text(x, y, str(row.vertex), ha="center", va="center", fontsize=9, color="white" if row.in_clique else "0.1")
        ax.text(1.22 * x, 1.17 * y, f"{row.target} ~ {row.identification}", ha="center", va="center", fontsize=7)
    ax.set_aspect("equal")
    ax.margins(0.12)
    ax.axis("off")
    ax.set_title(f"{len(vertices)} possible matches (target ~ identification), {len(edges)} edges\n"
                 f"maximum clique {{{', '.join(map(str, sorted(members)))}}}")  # fmt: skip
    return figure


def _draw_outline(ax: Axes) -> None:
    germany = load_boundary("germany")
    germany.boundary.plot(ax=ax, color="0.5", linewidth=0.7)
    # One degree of longitude is shorter than one of latitude: at 51 degrees by the factor cos 51.
    ax.set_aspect(1 / np.cos(np.radians(51.0)))
    ax.set_xlabel("longitude, degrees")
    ax.set_ylabel("latitude, degrees")


def figure_4(results: Results) -> Figure:
    """Draw both files on the country's outline."""
    points = results.frames["files"]
    figure, axes = new_figure(1, 2, size=(8.0, 5.0), sharey=True)
    for ax, (name, title) in zip(axes, (("original", "target file"), ("known", "identification file")), strict=True):
        part = points[points["file"] == name]
        _draw_outline(ax)
        for common, marker, colour, label in (
            (False, "o", "0.55", "in this file only"),
            (True, "^", COLOURS[3], "in both"),
        ):
            shown = part[part["common"] == common]
            ax.scatter(shown["lon_deg"], shown["lat_deg"], s=14 if common else 7, marker=marker, color=colour,
                       label=f"{label} ({len(shown)})", linewidths=0, zorder=2 + common)  # fmt: skip
        ax.set_title(f"{title}, {len(part)} simulated records")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    axes[1].set_ylabel("")
    return figure


def _ordered(values: Any) -> dict[Any, Any]:
    """Return a colour for each value of an ordered parameter, from dark to light."""
    return dict(zip(values, colormaps["viridis"](np.linspace(0, 0.85, len(values))), strict=True))


def _measure_panels(results: Results, x: str, by: str, names: tuple[str, str]) -> Figure:
    """Draw averages with their intervals, and print dashed beside them, three groups of lines a measure."""
    summary = results.frames["summary"]
    values = np.sort(summary[by].unique())
    colours, groups = _ordered(values), np.array_split(values, min(3, len(values)))
    figure, axes = new_figure(2, len(groups), size=(3.7 * len(groups), 6.4), sharex=True, sharey="row", squeeze=False)
    step = float(np.diff(np.sort(summary[x].unique()), append=np.inf).min())
    step = step if np.isfinite(step) else 1.0
    for row, measure in zip(axes, ("precision", "recall"), strict=True):
        for ax, group in zip(row, groups, strict=True):
            for i, value in enumerate(group):
                part = summary[summary[by] == value].sort_values(x)
                # Side by side, so that the bars can be read.
                at = part[x] + step * 0.16 * (i - (len(group) - 1) / 2)
                bars = np.stack([part[measure] - part[f"{measure}_low"], part[f"{measure}_high"] - part[measure]])
                ax.errorbar(at, part[measure], yerr=np.clip(bars, 0, None), color=colours[value], marker=MARKERS[i],
                            markersize=4, linewidth=1.2, elinewidth=0.6, label=f"{value:g}")  # fmt: skip
                ax.plot(
                    part[x], part[f"{measure}_published"], color=colours[value], linewidth=1.2, linestyle=(0, (4, 2))
                )
            ax.set_ylim(-0.02, 1.02)
        row[0].set_ylabel(f"average {measure}")
    for ax, group in zip(axes[0], groups, strict=True):
        ax.set_title(f"{names[1]} = {', '.join(f'{value:g}' for value in group)}")
        # At the largest sigma and the smallest alpha precision is low: the key lies at the other end.
        ax.legend(loc="lower left" if x == "sigma_deg" else "lower right", fontsize=7)
    for ax in axes[-1]:
        ax.set_xlabel(names[0])
    n, k = (results.frames["trials"][name].nunique() for name in ("dataset", "repetition"))
    figure.suptitle(
        f"solid: ours, {n} data sets of 500 and 500 records, up to {k} release{'s' * (k > 1)} each, bars: 95 % "
        "interval of the average on one further data set; dashed: print",
        fontsize=8,
    )
    return figure


def figure_5(results: Results) -> Figure:
    """Draw average precision and recall against sigma, a line an alpha, beside print."""
    return _measure_panels(results, "sigma_deg", "alpha", ("noise $\\sigma$, degrees", "threshold $\\alpha$"))


def figure_6(results: Results) -> Figure:
    """Draw average precision and recall against alpha, a line a sigma, beside print."""
    return _measure_panels(results, "alpha", "sigma_deg", ("threshold $\\alpha$", "noise $\\sigma$, degrees"))


def figure_7(results: Results) -> Figure:
    """Draw typical matches between the maps: true ones green and solid, false ones orange, dashed and crossed."""
    points, links = results.frames["files"], results.frames["matches"]
    settings = links[["sigma_deg", "alpha"]].drop_duplicates()
    offset_deg = 11.0
    figure, axes = new_figure(-(-len(settings) // 2), 2, size=(12.0, 3.9 * -(-len(settings) // 2)), squeeze=False)
    shown_lon = points["lon_deg"] + offset_deg * (points["file"] == "known")
    place = {(row.file, row.id): (x, row.lat_deg) for row, x in zip(points.itertuples(), shown_lon, strict=True)}
    germany = load_boundary("germany").boundary
    for ax, setting in zip(axes.ravel(), settings.itertuples(), strict=False):
        for shift in (0.0, offset_deg):
            germany.translate(shift).plot(ax=ax, color="0.5", linewidth=0.6)
        ax.scatter(shown_lon, points["lat_deg"], s=2, color="0.75", linewidths=0)
        part = links[(links["sigma_deg"] == setting.sigma_deg) & (links["alpha"] == setting.alpha)]
        part = part[part["release"] != ""]
        for row in part.itertuples():
            ends = np.array([place["original", row.release], place["known", row.known]])
            colour, line, marker = (COLOURS[2], "-", "o") if row.true else (COLOURS[3], "--", "x")
            ax.plot(*ends.T, color=colour, linestyle=line, marker=marker, markersize=3, linewidth=0.8)
        true = int(part["true"].sum())
        ax.set_title(f"$\\sigma$ = {setting.sigma_deg:g}°, $\\alpha$ = {setting.alpha:g}: "
                     f"{true} true (green, solid), {len(part) - true} false (orange, dashed)")  # fmt: skip
        ax.set_aspect(1 / np.cos(np.radians(51.0)))
        ax.axis("off")
    return figure


def figure_8(results: Results) -> Figure:
    """Draw the paper's risk-utility map: precision at alpha .5 against 1 / variance, beside print."""
    trials = results.frames["trials"]
    alpha = min(trials["alpha"].unique(), key=lambda one: abs(one - 0.5))
    at = trials[trials["alpha"] == alpha]
    averages = at.groupby(["sigma_deg", "dataset"], as_index=False)[["precision", "utility_per_km2"]].mean()
    figure, ax = new_figure(size=(6.2, 4.4))
    table_3, table_4 = (published("kroll2015", name) for name in ("table3", "table4"))
    risk = table_4[np.isclose(table_4["alpha"], alpha)].set_index("sigma_deg")["precision"]
    utility = 1 / table_3.set_index("sigma_deg")["variance_km2"]
    ax.plot(utility, risk, "s--", color="0.55", markerfacecolor="white", markersize=6, linewidth=0.9, label="print")
    points, names = [], []
    for i, (sigma_deg, part) in enumerate(averages.groupby("sigma_deg")):
        mean, (low, high) = part["precision"].mean(), np.clip(confidence(part["precision"]), 0, 1)
        x = part["utility_per_km2"].mean()
        points.append((x, mean))
        ax.errorbar(x, mean, yerr=np.array([[mean - low], [high - mean]]), fmt="o", color=COLOURS[0], markersize=5,
                    elinewidth=0.8, label="ours, 95 % interval of the mean" if i == 0 else None)  # fmt: skip
        names.append(Label([(x, mean), (x, high)], f"{sigma_deg:g}°", "black"))
    ax.plot(*zip(*points, strict=True), color=COLOURS[0], linewidth=0.9)
    ax.set_xscale("log")
    ax.set_ylim(0, 1.08)
    ax.margins(x=0.08)
    ax.set_xlabel("utility: 1 / variance of d - d', per km$^2$ (log scale)")
    ax.set_ylabel(f"risk: precision of the clique attack, $\\alpha$ = {alpha:g}")
    ax.set_title(f"each point a noise $\\sigma$; {averages['dataset'].nunique()} data sets")
    ax.legend(loc="lower right")
    place_labels(ax, names)
    return figure


def variants(results: Results) -> Figure:
    """Draw the risk-utility map of the variants that the paper names."""
    return plot_ru_panels(results.frames["ru_variants"])


def ties(results: Results) -> Figure:
    """Draw precision where ties decide: of the clique that the program ends with, and over all, beside print."""
    frame = results.frames["ties"]
    alphas = sorted(frame["alpha"].unique())
    figure, axes = new_figure(1, len(alphas), size=(3.4 * len(alphas), 3.4), sharey=True, squeeze=False)
    for ax, alpha in zip(axes[0], alphas, strict=True):
        part = frame[frame["alpha"] == alpha].sort_values("sigma_deg")
        ax.fill_between(part["sigma_deg"], part["precision_min"], part["precision_max"], color=COLOURS[4], alpha=0.3,
                        label="smallest to largest", linewidth=0)  # fmt: skip
        lines = {"the program's clique": "precision_published", "mean over all": "precision_mean", "print": "published"}
        draw_lines(ax, part["sigma_deg"], {name: part[column] for name, column in lines.items()})
        ax.set_title(f"$\\alpha$ = {alpha:g}")
        ax.set_xlabel("noise $\\sigma$, degrees")
        ax.set_ylim(0, 1.02)
    axes[0, 0].set_ylabel("average precision")
    axes[0, -1].legend(fontsize=7)
    return figure


FIGURES: dict[str, Callable[[Results], Figure]] = in_house_style(
    {
        "figure-1-graph-model": figure_1,
        "figure-2-poets": figure_2,
        "figure-3-product-graph": figure_3,
        "figure-4-files": figure_4,
        "figure-5-against-sigma": figure_5,
        "figure-6-against-alpha": figure_6,
        "figure-7-matches": figure_7,
        "figure-8-ru-map": figure_8,
        "ties": ties,
        "ru-map-variants": variants,
    }
)
