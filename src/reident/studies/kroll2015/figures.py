"""Figures of the study kroll2015: figures 1 to 8 of the paper and the map of its variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reident import plot_ru_panels, published
from reident.data.datasets import load_boundary
from reident.plotting._labels import Label, place_labels
from reident.plotting._style import COLOURS, LINES, MARKERS, in_house_style, new_figure, ordered_colours
from reident.studies.captions import rests_on
from reident.studies.comparison import OWN, PUBLIC
from reident.studies.kroll2015.frames import N_FEWER
from reident.studies.study import Results
from reident.studies.together import confidence

__all__ = ["FIGURES", "draw_file"]

# Closed markers, so that a label can stand inside.
_MARKERS = ["o", "s", "^", "D", "v", "p", "h"]

# Triangles hold less than other markers, and hold it towards their base: size in points, shift of the text.
_SIZES, _SHIFTS = {"^": 29, "v": 29}, {"^": -3.5, "v": 3.5}

# Around the middle of Germany one degree of longitude is shorter than one of latitude by the factor cos 51.
_ASPECT = 1 / np.cos(np.radians(51.0))


def _sizes(results: Results) -> dict[str, Any]:
    """Return what a caption tells of the two files; which file a row is of needs no word."""
    points = results.frames["files"]
    original = points["file"] == "original"
    return {
        "n_original": int(original.sum()),
        "n_known": int((~original).sum()),
        "n_common": int(points.loc[original, "common"].sum()),
        "jitter_km": results.parameters.get("jitter_km"),
        "file": None,
    }


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


def _apart(points: np.ndarray, least: float, edges: list[tuple[int, int]]) -> np.ndarray:
    """Return points pushed apart: none nearer than `least` to another, none but their ends near `edges`.

    Several poets were born in one town, and what lies on an edge would look as if it were on its way.
    """
    moved = points + 1e-3 * np.random.default_rng(0).normal(size=points.shape)
    kept = {end for edge in edges for end in edge}
    for _ in range(400):
        gap = moved[:, None] - moved[None]
        distance = np.maximum(np.linalg.norm(gap, axis=-1), 1e-9)
        push = np.clip(least - distance, 0, None) / distance
        np.fill_diagonal(push, 0.0)
        moved = moved + 0.25 * (push[..., None] * gap).sum(axis=1)
        for a, b in edges:
            way = moved[b] - moved[a]
            for c in set(range(len(moved))) - kept:
                off = moved[c] - moved[a] - np.clip((moved[c] - moved[a]) @ way / (way @ way), 0, 1) * way
                away = max(float(np.linalg.norm(off)), 1e-9)
                moved[c] += 0.25 * max(0.65 * least - away, 0.0) / away * off
    return np.asarray(moved)


def _draw_poets(ax: Axes, vertices: pd.DataFrame, edges: pd.DataFrame, languages: list[str], title: str) -> None:
    position = {vertex: i for i, vertex in enumerate(vertices["vertex"])}
    common = [(position[row.a], position[row.b]) for row in edges[edges["in_both"]].itertuples()]
    apart = _apart(vertices[["x_km", "y_km"]].to_numpy(float), 440.0, common)
    place = dict(zip(vertices["vertex"], apart, strict=True))
    for row in edges.sort_values("in_both").itertuples():
        look: dict[str, Any] = {"color": "0.25", "linewidth": 1.8}
        if not row.in_both:
            look = {"color": "0.87", "linewidth": 0.5}
        ax.plot(*zip(place[row.a], place[row.b], strict=True), zorder=1 + row.in_both, **look)
    for row in vertices.itertuples():
        language, (x, y) = languages.index(row.language), place[row.vertex]
        marker = _MARKERS[language]
        ax.plot(x, y, marker, markersize=_SIZES.get(marker, 21), color="white", zorder=3,
                markeredgecolor=COLOURS[language], markeredgewidth=2.4 if row.in_both else 1.0)  # fmt: skip
        ax.annotate(f"{row.vertex}\n{row.cob}", (x, y), xytext=(0, _SHIFTS.get(marker, 0.0)), ha="center", va="center",
                    textcoords="offset points", fontsize=7.5, fontweight="bold" if row.in_both else "normal",
                    linespacing=0.85, zorder=4)  # fmt: skip
    ax.set_aspect("equal")
    ax.margins(0.1)
    ax.axis("off")
    ax.set_title(title, fontsize=8)


def figure_2(results: Results) -> Figure:
    """Draw target and identification graph of Example 10, nodes pushed apart; what both have in common is bold."""
    vertices, edges = results.frames["example10_vertices"], results.frames["example10_edges"]
    languages = list(dict.fromkeys(vertices["language"]))
    figure, axes = new_figure(1, 2, size=(7.2, 4.0), sharex=True, sharey=True)
    for ax, name in zip(axes, ("target", "identification"), strict=True):
        shown, joined = vertices[vertices["file"] == name], edges[edges["file"] == name]
        _draw_poets(ax, shown, joined, languages, f"{name} graph: number, century of birth")
    handles = [
        Line2D(
            [], [], marker=_MARKERS[i], linestyle="", markerfacecolor="white", markeredgecolor=COLOURS[i], label=name
        )
        for i, name in enumerate(languages)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(languages))
    return rests_on(figure, vertices, data=OWN, n_records=list(vertices.groupby("file").size()), file=None)


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
    load_boundary("germany").boundary.plot(ax=ax, color="0.5", linewidth=0.7)
    ax.set_aspect(_ASPECT)
    ax.set_xlabel("longitude, degrees")
    ax.set_ylabel("latitude, degrees")


def draw_file(ax: Axes, part: pd.DataFrame) -> None:
    """Draw where the records of a file are, and which of them are in the other file, too."""
    for common, marker, colour, label in (
        (False, "o", "0.55", "in this file only"),
        (True, "^", COLOURS[3], "in both"),
    ):
        shown = part[part["common"] == common]
        ax.scatter(shown["lon_deg"], shown["lat_deg"], s=14 if common else 7, marker=marker, color=colour,
                   label=f"{label} ({len(shown)})", linewidths=0, zorder=2 + common)  # fmt: skip


def figure_4(results: Results) -> Figure:
    """Draw both files on the country's outline: people drawn from public places by population."""
    points = results.frames["files"]
    figure, axes = new_figure(1, 2, size=(7.2, 4.6), sharey=True)
    for ax, (name, title) in zip(axes, (("original", "target file"), ("known", "identification file")), strict=True):
        part = points[points["file"] == name]
        _draw_outline(ax)
        draw_file(ax, part)
        ax.set_title(f"{title}, {len(part)} people", fontsize=8)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    axes[1].set_ylabel("")
    figure.suptitle("people drawn from public places by population", fontsize=8)
    return rests_on(figure, points, data=PUBLIC, dataset=1, **_sizes(results))


def _measure_panels(results: Results, x: str, by: str, names: tuple[str, str], more: str = "") -> Figure:
    """Draw averages with their intervals, and print dashed beside them, three groups of lines a measure."""
    summary, trials = results.frames["summary"], results.frames["trials"]
    values = np.sort(summary[by].unique())
    colours, groups = dict(zip(values, ordered_colours(len(values)), strict=True)), np.array_split(values, 3)
    groups = [group for group in groups if len(group)]
    figure, axes = new_figure(
        2, len(groups), size=(max(2.4 * len(groups), 4.8), 6.0), sharex=True, sharey="row", squeeze=False
    )
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
    for ax in axes[0]:
        # Bars fill the panel: the key stands above it.
        ax.legend(title=names[1], loc="lower left", bbox_to_anchor=(-0.05, 1.0), ncols=2, fontsize=7.5,
                  title_fontsize=7.5, alignment="left", handlelength=1.6, columnspacing=1.0)  # fmt: skip
    for ax in axes[-1]:
        ax.set_xlabel(names[0])
    n, k = (trials[name].nunique() for name in ("dataset", "repetition"))
    size = _sizes(results)
    beside = "; dashed: print" if summary[["precision_published", "recall_published"]].notna().any(axis=None) else ""
    figure.suptitle(
        f"solid: ours, {n} data sets of {size['n_original']} and {size['n_known']} records, up to {k} "
        f"release{'s' * (k > 1)} each{beside}\nbars: 95 % interval of the average on one further data set{more}",
        fontsize=8,
    )
    return rests_on(figure, trials, data=PUBLIC, gamma=None)


def figure_5(results: Results) -> Figure:
    """Draw average precision and recall by sigma and alpha, beside print; bars: 95 % interval of a further data set."""
    return _measure_panels(results, "sigma_deg", "alpha", ("noise $\\sigma$, degrees", "threshold $\\alpha$"))


def figure_6(results: Results) -> Figure:
    """Draw average precision and recall by alpha and sigma, beside print; bars: 95 % interval of a further data set."""
    recall = results.frames["summary"].groupby("alpha")["recall"]
    apart = float((recall.max() - recall.min()).max())
    more = f"\nrecall: at one $\\alpha$ the averages of all $\\sigma$ lie within {apart:.2f}"
    names = ("threshold $\\alpha$", "noise $\\sigma$, degrees")
    return _measure_panels(results, "alpha", "sigma_deg", names, more if apart > 0 else "")


def figure_7(results: Results) -> Figure:
    """Draw typical matches from target to identification file: true green and solid, false orange, dashed, crossed."""
    points, links = results.frames["files"], results.frames["matches"]
    settings = links[["sigma_deg", "alpha"]].drop_duplicates()
    offset_deg, rows = 11.0, -(-len(settings) // 2)
    figure, axes = new_figure(rows, 2, size=(7.2, 2.6 * rows + 0.3), squeeze=False)
    shown_lon = points["lon_deg"] + offset_deg * (points["file"] == "known")
    place = {(row.file, row.id): (x, row.lat_deg) for row, x in zip(points.itertuples(), shown_lon, strict=True)}
    germany = load_boundary("germany").boundary
    west, south, east, _ = germany.total_bounds
    for ax, setting in zip(axes.ravel(), settings.itertuples(), strict=False):
        for shift, name in ((0.0, "target file"), (offset_deg, "identification file")):
            germany.translate(shift).plot(ax=ax, color="0.5", linewidth=0.6)
            ax.text((west + east) / 2 + shift, south - 0.2, name, ha="center", va="top", fontsize=7.5)
        ax.scatter(shown_lon, points["lat_deg"], s=2, color="0.75", linewidths=0)
        part = links[(links["sigma_deg"] == setting.sigma_deg) & (links["alpha"] == setting.alpha)]
        part = part[part["release"] != ""]
        for row in part.itertuples():
            ends = np.array([place["original", row.release], place["known", row.known]])
            colour, line, marker = (COLOURS[2], "-", "o") if row.true else (COLOURS[3], "--", "x")
            ax.plot(*ends.T, color=colour, linestyle=line, marker=marker, markersize=3, linewidth=0.8)
        true = int(part["true"].sum())
        ax.set_title(f"$\\sigma$ = {setting.sigma_deg:g}°, $\\alpha$ = {setting.alpha:g}: "
                     f"{true} true, {len(part) - true} false", fontsize=8)  # fmt: skip
        ax.set_ylim(bottom=south - 0.9)
        ax.set_aspect(_ASPECT)
    for ax in axes.flat:
        ax.axis("off")
    handles = [
        Line2D([], [], color=COLOURS[2], linestyle="-", marker="o", markersize=3, linewidth=0.8, label="true match"),
        Line2D([], [], color=COLOURS[3], linestyle="--", marker="x", markersize=3, linewidth=0.8, label="false match"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return rests_on(figure, links, data=PUBLIC, dataset=1, **_sizes(results))


def figure_8(results: Results) -> Figure:
    """Draw the paper's map: precision at alpha .5 by 1 / variance, beside print; bars: 95 % interval of the mean."""
    trials = results.frames["trials"]
    alpha = min(trials["alpha"].unique(), key=lambda one: abs(one - 0.5))
    at = trials[trials["alpha"] == alpha]
    averages = at.groupby(["sigma_deg", "dataset"], as_index=False)[["precision", "utility_per_km2"]].mean()
    figure, ax = new_figure(size=(6.2, 4.4))
    table_3, table_4 = (published("kroll2015", name) for name in ("table3", "table4"))
    risk = table_4[np.isclose(table_4["alpha"], alpha)].set_index("sigma_deg")["precision"]
    utility = 1 / table_3.set_index("sigma_deg")["variance_km2"]
    shared = utility.index.intersection(risk.index)  # none where another alpha was run
    ax.plot(utility[shared], risk[shared], "s--", color="0.55", markerfacecolor="white", markersize=6, linewidth=0.9,
            label="print")  # fmt: skip
    points, names = [], []
    for sigma_deg, part in averages.groupby("sigma_deg"):
        mean, (low, high) = part["precision"].mean(), np.clip(confidence(part["precision"]), 0, 1)
        x = part["utility_per_km2"].mean()
        points.append((x, mean))
        # A line of its own, which the labels avoid.
        ax.plot([x, x], [low, high], color=COLOURS[0], linewidth=0.8)
        names.append(Label([(x, mean if np.isnan(high) else high)], f"{sigma_deg:g}°", "black"))
    ours = "ours, 95 % interval of the mean"
    ax.plot(*zip(*points, strict=True), "o-", color=COLOURS[0], markersize=5, linewidth=0.9, label=ours)
    ax.set_xscale("log")
    ax.set_ylim(0, 1.08)
    ax.margins(x=0.08)
    ax.set_xlabel("utility: 1 / variance of d - d', per km$^2$ (log scale)")
    ax.set_ylabel(f"risk: precision of the clique attack, $\\alpha$ = {alpha:g}")
    ax.set_title(f"each point a noise $\\sigma$; {averages['dataset'].nunique()} data sets")
    figure.legend(loc="outside lower center", ncols=2)
    place_labels(ax, names, size=7.5)
    return rests_on(figure, at, data=PUBLIC, gamma=None)


def variants(results: Results) -> Figure:
    """Draw the risk-utility map of the variants that the paper names; patches: 5 to 95 % of the runs."""
    frame = results.frames["ru_variants"]
    releases = frame[frame["n"] > 0].dropna(subset="value")
    levels = releases["value"].astype(str).str.extract(r"([\d.]+) (deg|km)").dropna().drop_duplicates()
    sigma = {unit: list(part[0].astype(float)) for unit, part in levels.groupby(1)}
    figure = plot_ru_panels(frame.assign(value=frame["value"].str.replace(" deg", "°")))
    n = int(releases["n"].max())
    datasets = min(N_FEWER, results.frames["trials"]["dataset"].nunique())
    return rests_on(
        figure,
        frame,
        data=PUBLIC,
        **_sizes(results),
        sigma_deg=sigma.get("deg"),
        sigma_km=sigma.get("km"),
        alpha=sorted({float(attack.rpartition("alpha ")[2]) for attack in frame["attack"]}),
        gamma=sorted({1.0, results.parameters.get("gamma", 1.0)}),
        dataset=datasets,
        repetition=n // datasets,
    )


def ties(results: Results) -> Figure:
    """Draw precision where ties decide, and over all maximum cliques, beside print; bars: 95 % interval of the mean."""
    frame, trials = results.frames["ties"], results.frames["trials"]
    alphas = sorted(frame["alpha"].unique())
    figure, axes = new_figure(1, len(alphas), size=(max(2.4 * len(alphas), 4.8), 3.9), sharey=True, squeeze=False)
    shown = trials[trials["alpha"].isin(alphas)]
    sigmas = np.sort(frame["sigma_deg"].unique())
    step = 0.12 * float(np.diff(sigmas).min()) if len(sigmas) > 1 else 0.0
    for ax, alpha in zip(axes.flat, alphas, strict=True):
        part = frame[frame["alpha"] == alpha].sort_values("sigma_deg")
        ax.fill_between(part["sigma_deg"], part["precision_min"], part["precision_max"], color=COLOURS[4], alpha=0.3,
                        label="from the worst to the best maximum clique", linewidth=0)  # fmt: skip
        lines = {"the program's clique": "precision_published", "mean over all maximum cliques": "precision_mean"}
        for i, (name, column) in enumerate(lines.items()):
            by = shown[shown["alpha"] == alpha].groupby(["sigma_deg", "dataset"])[column].mean().groupby("sigma_deg")
            ends = np.clip(np.array([confidence(values) for _, values in by]), 0, 1)
            bars = np.nan_to_num(np.abs(ends.T - part[column].to_numpy()))
            ax.errorbar(part["sigma_deg"] + step * (2 * i - 1), part[column], yerr=bars, color=COLOURS[i], label=name,
                        marker=MARKERS[i], linestyle=LINES[i], markersize=4, linewidth=1.2, elinewidth=0.7)  # fmt: skip
        ax.plot(part["sigma_deg"], part["published"], color="black", linestyle=":", marker="x", markersize=4,
                linewidth=1.2, label="print")  # fmt: skip
        ax.set_title(f"$\\alpha$ = {alpha:g}")
        ax.set_xlabel("noise $\\sigma$, degrees")
        ax.set_ylim(0, 1.02)
    axes[0, 0].set_ylabel("average precision")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center")
    return rests_on(figure, shown, data=PUBLIC, gamma=None)


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
