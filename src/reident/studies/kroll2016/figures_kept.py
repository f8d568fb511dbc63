"""Figures of the study kroll2016 on what its embedding keeps: figures 1 and 2, the appendix, and the uses."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reident import published
from reident.data.papers import claims
from reident.plotting._labels import Label, place_labels
from reident.plotting._style import COLOURS, LINES, MARKERS, new_figure, ordered_colours, say_instead
from reident.studies.captions import rests_on
from reident.studies.comparison import DRAWN, PUBLIC
from reident.studies.kroll2016.figures_parts import data_class, outline, sizes_of, source
from reident.studies.study import Results
from reident.studies.together import confidence

__all__ = ["city_pairs", "figure_1", "figure_2", "uses"]

# Distances that all lie so near to the true one, as a share of it, are told, not drawn.
_SPIKE = 0.01

# Section "Contractive anonymisation": the distances of the paper's example, at points that it does not state.
_PRINTED_KM = (308.9, 262.3, 162.7)


def figure_1(results: Results) -> Figure:
    """Draw one Lipschitz coordinate: the distance from p to the nearest of three reference points."""
    points = results.frames["coordinate"]
    figure, ax = new_figure(size=(4.6, 5.6))
    outline(ax, "united_kingdom")
    p, others = points.iloc[0], points.iloc[1:]
    nearest = others["distance_km"].idxmin()
    labels = [Label([(p["lon_deg"], p["lat_deg"])], "p", "black", bold=True)]
    for row in others.itertuples():
        chosen = row.Index == nearest
        colour = COLOURS[3] if chosen else COLOURS[0]
        ax.plot([p["lon_deg"], row.lon_deg], [p["lat_deg"], row.lat_deg], color=COLOURS[3] if chosen else "0.6",
                linewidth=1.8 if chosen else 1.0, linestyle="-" if chosen else "--", zorder=2)  # fmt: skip
        ax.plot(row.lon_deg, row.lat_deg, "o", color=colour, zorder=3, label=f"{row.role}: {row.distance_km:.1f} km")
        labels.append(Label([(row.lon_deg, row.lat_deg)], str(row.role), colour))
    ax.plot(p["lon_deg"], p["lat_deg"], "s", color="black", markersize=6, zorder=5)
    ax.plot(p["lon_deg"], p["lat_deg"], "s", markersize=10, alpha=0)  # room that its label leaves
    west, east = ax.get_xlim()
    ax.set_xlim(west, east + 2.5)  # room for the key in the sea
    ax.legend(loc="upper right", title="distance from p", alignment="left")
    ax.set_title(f"f(p) = {p['distance_km']:.1f} km, the distance\nto the nearest of three reference points\n"
                 f"(print, points not stated: min{_PRINTED_KM} = {min(_PRINTED_KM)} km)", fontsize=8)  # fmt: skip
    place_labels(ax, labels, size=8)
    return rests_on(figure, points, data=DRAWN)


def city_pairs(results: Results) -> Figure:
    """Draw how the released distances of three pairs of cities are distributed, over embeddings, up to the true one."""
    cities, true = results.frames["cities"], results.frames["city_pairs"]["distance_km"]
    pairs = {
        "Liverpool-Manchester": "liverpool_manchester_km",
        "London-Sheffield": "london_sheffield_km",
        "Plymouth-Newcastle": "plymouth_newcastle_km",
    }
    figure, axes = new_figure(3, 3, size=(7.2, 6.4), sharey=True)
    sizes = (1, 3, 5)
    for row, (title, column), distance in zip(axes, pairs.items(), true, strict=True):
        for ax, d in zip(row, (20, 100, 500), strict=True):
            ax.set_title(f"{title}, d = {d}", fontsize=8)
            here = cities[(cities["n_reference_sets"] == d) & cities["reference_set_size"].isin(sizes)]
            if distance - here[column].min() < _SPIKE * distance:
                least = f"{here[column].min():.2f} km"
                say_instead(ax, f"all released distances\nlie between {least}\nand the true {distance:.2f} km")
                continue
            for i, (k, colour) in enumerate(zip(sizes, ordered_colours(len(sizes)), strict=True)):
                drawn = here.loc[here["reference_set_size"] == k, column]
                ax.ecdf(drawn, color=colour, linestyle=LINES[i], label=f"k = {k}")
            ax.axvline(distance, color="0.4", linewidth=0.8, linestyle=":", label="the true distance")
    for ax in axes.flat:
        ax.set_xlabel("released distance, km", fontsize=8)
    for ax in axes[:, 0]:
        ax.set_ylabel("share of embeddings", fontsize=8)
    facts = published("kroll2016", "statements").set_index("item")["value"]
    told = [f"{km:.1f} km (print: {facts[column]:g})" for km, column in zip(true, pairs.values(), strict=True)]
    handles = {
        str(handle.get_label()): handle for ax in axes.flat for handle in ax.get_lines() if ax.axison
    }  # panels told in words have none
    figure.legend(handles=list(handles.values()), loc="outside lower center", ncols=4, frameon=False)
    figure.suptitle(
        f"share of embeddings whose released distance is at most that of the axis\nno released distance exceeds the "
        f"true one: {', '.join(told)}",
        fontsize=8,
    )
    return rests_on(figure, cities, data=PUBLIC)


def _draw_course(ax: Axes, utility: pd.DataFrame, column: str, low: float, high: float) -> None:
    """Draw means over data sets against k, a line a d, with their 95 % intervals, cut where no value can lie."""
    by = ["n_reference_sets", "reference_set_size"]
    means = utility.groupby([*by, "dataset"], as_index=False)[column].mean()
    ds = sorted(means[by[0]].unique())
    for i, (d, colour) in enumerate(zip(ds, ordered_colours(len(ds)), strict=True)):
        course = means[means[by[0]] == d].groupby(by[1])[column]
        mean = course.mean()
        ends = np.clip(np.array([confidence(values) for _, values in course]).T, low, high)
        # Side by side, so that the bars can be read.
        at = mean.index.to_numpy() + 0.8 * (i - (len(ds) - 1) / 2)
        ax.errorbar(at, mean, yerr=np.nan_to_num(np.abs(ends - mean.to_numpy())), color=colour, linestyle=LINES[i],
                    marker=MARKERS[i], markersize=4, linewidth=1.2, elinewidth=0.7, label=f"d = {d}")  # fmt: skip
    ax.set_xticks(sorted(means[by[1]].unique()))


def _told_hospitals(results: Results) -> str:
    """Say of what the uses and figure 2 are measured."""
    n, datasets = sizes_of(results, "england")["n_original"], results.frames["utility"]["dataset"].nunique()
    return f"{n} hospitals in England ({source(results, 'england')}); means over {datasets} data sets, 95 % intervals"


def figure_2(results: Results) -> Figure:
    """Draw nearest neighbours and rank correlations by k and d; bars: 95 % interval of the mean over data sets."""
    utility = results.frames["utility"]
    figure, axes = new_figure(1, 3, size=(7.2, 3.4))
    shown = {
        "nearest_neighbour": "share of right nearest neighbours",
        "spearman_centre": "rank correlation of the distances\nfrom the central hospital",
        "spearman_border": "rank correlation of the distances\nfrom the northernmost hospital",
    }
    for ax, (column, name) in zip(axes, shown.items(), strict=True):
        _draw_course(ax, utility, column, -1.0 if column.startswith("spearman") else 0.0, 1.0)
        ax.set_xlabel("points in a reference set, k", fontsize=8)
        ax.set_ylabel(name, fontsize=8)
        ax.set_ylim(top=1.02)
    for ax in axes[1:]:
        ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    figure.suptitle(_told_hospitals(results), fontsize=8)
    n = sizes_of(results, "england")["n_original"]
    return rests_on(figure, utility, data=data_class(results, "england"), n_records=n)


# Uses that the paper names: how each is measured, and the claim whose limit is read into the paper's words.
_USES = {
    "clusters_ari": ("adjusted Rand index of 10 clusters", "discussion: cluster analysis"),
    "gwr_overlap": ("overlap of the weights of regressions (GWR, 100 km)", ""),
    "moran_contiguity_error": (
        "error of Moran's I, 6 nearest",
        "discussion: local statistics are accurate (error of M",
    ),
    "moran_band_error": ("error of Moran's I, 60 km band", ""),
    "geary_contiguity_error": (
        "error of Geary's C, 6 nearest",
        "discussion: local statistics are accurate (error of G",
    ),
    "small_error_km": ("error of distances below 25 km, in km", ""),
    "imputation_error": ("error of filled gaps over that by true distances", "discussion: gaps filled"),
    "gwr_slope_error": ("error of local slopes (GWR)", "discussion: local regression"),
    "pcnm_overlap": ("share of the first 10 eigenvectors kept (PCNM)", "discussion: spatial eigenvectors"),
    "scan_overlap": ("overlap of the scan's cluster with the true one", "discussion: scan for clusters"),
}


def uses(results: Results) -> Figure:
    """Draw the utilities of the uses that the paper names; bars: 95 % interval of the mean over data sets."""
    utility, judged = results.frames["utility"], claims("kroll2016")
    figure, axes = new_figure(4, 3, size=(7.2, 9.0))
    panels = list(axes.flat)
    for ax, (column, (name, claim)) in zip(panels, _USES.items(), strict=False):
        share = not ("error" in column or column == "clusters_ari")
        _draw_course(ax, utility, column, -1.0 if column == "clusters_ari" else 0.0, 1.0 if share else np.inf)
        # Some limits are ratios to what true distances give.
        true = utility[f"{column}_true"].mean() if f"{column}_true" in utility else None
        if true is not None:
            ax.axhline(true, color="0.5", linewidth=0.8, linestyle=":", label="by true distances")
        if claim:
            limit = float(judged.loc[judged["item"].str.startswith(claim), "published"].iloc[0])
            ax.axhline(limit * (1.0 if true is None else true), color="black", linewidth=0.8, linestyle=(0, (6, 3)),
                       label="limit read into the\npaper's words, for\nd = 20 and k = 20")  # fmt: skip
        ax.set_ylabel(textwrap.fill(name, 26), fontsize=8)
        ax.set_xlabel("k", fontsize=8)
        ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    for ax in panels[len(_USES) :]:
        ax.set_axis_off()
    handles: dict[str, Any] = {}
    for ax in panels:
        handles = {**dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True)), **handles}
    panels[len(_USES)].legend(handles.values(), handles.keys(), loc="center left", title="k: points in a reference set")
    figure.suptitle(f"{_told_hospitals(results)}; attribute simulated", fontsize=8)
    n = sizes_of(results, "england")["n_original"]
    return rests_on(figure, utility, data=data_class(results, "england"), n_records=n)
