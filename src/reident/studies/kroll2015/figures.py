"""Figures of the study kroll2015: figures 1 to 8 of the paper and the map of its variants."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reident.data.datasets import load_boundary
from reident.plotting._style import COLOURS, draw_lines, in_house_style, new_figure
from reident.plotting.rumap import plot_ru_panels
from reident.studies.study import Results

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


def _draw_poets(ax: Axes, vertices: pd.DataFrame, edges: pd.DataFrame, languages: list[str], title: str) -> None:
    place = {row.vertex: (row.x_km, row.y_km) for row in vertices.itertuples()}
    for row in edges.itertuples():
        ax.plot(*zip(place[row.a], place[row.b], strict=True), color="0.85", linewidth=0.5, zorder=1)
    for at, group in vertices.groupby(["x_km", "y_km"]):
        # Poets born in one town lie on one point: fan them out.
        for i, row in enumerate(group.itertuples()):
            angle = 2 * np.pi * i / max(len(group), 2)
            x, y = np.array(at) + (len(group) > 1) * 110 * np.array([np.cos(angle), np.sin(angle)])
            position = languages.index(row.language)
            ax.plot(x, y, _MARKERS[position], markersize=16, color="white", markeredgecolor=COLOURS[position],
                    markeredgewidth=1.5, zorder=2)  # fmt: skip
            ax.text(x, y, str(row.cob), ha="center", va="center", fontsize=6.5, color=COLOURS[position], zorder=3)
    ax.set_aspect("equal")
    ax.margins(0.1)
    ax.axis("off")
    ax.set_title(title)


def figure_2(results: Results) -> Figure:
    """Draw target and identification graph of Example 10; edge lengths approximate the distances."""
    vertices, edges = results.frames["example10_vertices"], results.frames["example10_edges"]
    languages = list(dict.fromkeys(vertices["language"]))
    figure, axes = new_figure(1, 2, size=(11.0, 5.4))
    for ax, name in zip(axes, ("target", "identification"), strict=True):
        shown, joined = vertices[vertices["file"] == name], edges[edges["file"] == name]
        _draw_poets(ax, shown, joined, languages, f"{name} graph; label: century of birth")
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
        ax.legend(loc="lower right", fontsize=7)
    axes[1].set_ylabel("")
    return figure


def _measure_panels(results: Results, x: str, by: str, names: tuple[str, str]) -> Figure:
    summary = results.frames["summary"]
    figure, axes = new_figure(1, 2, size=(9.5, 4.0), sharey=True)
    for ax, measure in zip(axes, ("precision", "recall"), strict=True):
        wide = summary.pivot_table(index=x, columns=by, values=measure)
        draw_lines(ax, wide.index, {f"{value:g}": wide[value] for value in wide.columns})
        ax.set_xlabel(names[0])
        ax.set_ylabel(f"average {measure}")
        ax.set_ylim(0, 1.02)
        ax.yaxis.set_tick_params(labelleft=True)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", title=names[1], frameon=False)
    return figure


def figure_5(results: Results) -> Figure:
    """Draw average precision and recall against sigma, a line an alpha."""
    return _measure_panels(results, "sigma_deg", "alpha", ("noise $\\sigma$, degrees", "threshold $\\alpha$"))


def figure_6(results: Results) -> Figure:
    """Draw average precision and recall against alpha, a line a sigma."""
    return _measure_panels(results, "alpha", "sigma_deg", ("threshold $\\alpha$", "noise $\\sigma$, degrees"))


def figure_7(results: Results) -> Figure:
    """Draw typical matches between the maps: true ones green and solid, false ones red, dashed and crossed."""
    points, links = results.frames["files"], results.frames["matches"]
    settings = links[["sigma_deg", "alpha"]].drop_duplicates()
    offset_deg = 11.0
    figure, axes = new_figure(len(settings), 1, size=(7.0, 4.0 * len(settings)), squeeze=False)
    shown_lon = points["lon_deg"] + offset_deg * (points["file"] == "known")
    place = {(row.file, row.id): (x, row.lat_deg) for row, x in zip(points.itertuples(), shown_lon, strict=True)}
    germany = load_boundary("germany").boundary
    for ax, setting in zip(axes[:, 0], settings.itertuples(), strict=True):
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
        ax.set_title(f"$\\sigma$ = {setting.sigma_deg:g} degrees, $\\alpha$ = {setting.alpha:g}: "
                     f"{true} true (green, solid), {len(part) - true} false (red, dashed) matches")  # fmt: skip
        ax.set_aspect(1 / np.cos(np.radians(51.0)))
        ax.axis("off")
    return figure


def figure_8(results: Results) -> Figure:
    """Draw the paper's risk-utility map."""
    return plot_ru_panels(results.frames["ru_map"])


def variants(results: Results) -> Figure:
    """Draw the risk-utility map of the variants that the paper names."""
    return plot_ru_panels(results.frames["ru_variants"])


def ties(results: Results) -> Figure:
    """Draw precision over all maximum cliques, where ties decide: smallest, mean and largest, beside print."""
    frame = results.frames["ties"]
    alphas = sorted(frame["alpha"].unique())
    figure, axes = new_figure(1, len(alphas), size=(3.4 * len(alphas), 3.4), sharey=True, squeeze=False)
    for ax, alpha in zip(axes[0], alphas, strict=True):
        part = frame[frame["alpha"] == alpha].sort_values("sigma_deg")
        ax.fill_between(part["sigma_deg"], part["precision_min"], part["precision_max"], color=COLOURS[4], alpha=0.3,
                        label="smallest to largest", linewidth=0)  # fmt: skip
        draw_lines(ax, part["sigma_deg"], {"mean over ties": part["precision_mean"], "printed": part["published"]})
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
