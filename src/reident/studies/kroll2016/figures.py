"""Figures of the study kroll2016: figures 1 to 14 of the paper, its appendix, the attacks that locate, and the map."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reident.data.datasets import load_boundary
from reident.data.papers import claims, published
from reident.plotting._labels import Label, place_labels
from reident.plotting._style import (
    COLOURS,
    LINES,
    MARKERS,
    in_house_style,
    new_figure,
    not_run,
    ordered_colours,
    say_instead,
)
from reident.plotting.rumap import plot_ru_panels
from reident.studies.captions import rests_on
from reident.studies.comparison import DRAWN, PUBLIC
from reident.studies.kroll2016 import STUDY
from reident.studies.kroll2016.scenarios import JITTER_KM
from reident.studies.study import Results
from reident.studies.together import confidence

__all__ = ["FIGURES"]

# The precision above which the paper calls the risk too high.
_RISK_LIMIT = 0.25

# Distances that all lie so near to the true one, as a share of it, are told, not drawn.
_SPIKE = 0.01

# Shares that are all below this one are told, not drawn.
_NOTHING = 0.03

# Section "Contractive anonymisation": the distances of the paper's example, at points that it does not state.
_PRINTED_KM = (308.9, 262.3, 162.7)


def _source(results: Results, scenario: str) -> str:
    """Say what the points are: a simulated stand-in must never pass for the real list."""
    if scenario == "germany":
        return "drawn from public places"
    return "NHS list of 2020" if _data(results, scenario) == PUBLIC else "SIMULATED stand-in"


def _data(results: Results, scenario: str) -> str:
    """Return the kind of data that the files of a scenario are, as the ledger has it."""
    files = results.frames["files"]
    simulated = (files.loc[files["scenario"] == scenario, "source"] == "simulated").all()
    return DRAWN if scenario == "england" and simulated else PUBLIC


def _sizes(results: Results, scenario: str) -> dict[str, Any]:
    """Return what a caption tells of the two files of a scenario."""
    files = results.frames["files"]
    files = files[files["scenario"] == scenario]
    target = files["file"] == "target"
    return {
        "n_original": int(target.sum()),
        "n_known": int((~target).sum()),
        "n_common": int(files.loc[target, "common"].sum()),
        "jitter_km": JITTER_KM[scenario] if scenario == "germany" else None,
        "file": None,
        "scenario": None,
    }


def _outline(ax: Axes, country: str) -> None:
    # Lines of their own, which labels avoid.
    for line in load_boundary(country).boundary.explode().geometry:
        ax.plot(*line.coords.xy, color="0.5", linewidth=0.7, zorder=1)
    middle = {"germany": 51.0, "england": 52.8, "united_kingdom": 55.0}[country]
    # One degree of longitude is shorter than one of latitude.
    ax.set_aspect(1 / np.cos(np.radians(middle)))
    ax.set_xlabel("longitude, degrees")
    ax.set_ylabel("latitude, degrees")


def figure_1(results: Results) -> Figure:
    """Draw one Lipschitz coordinate: the distance from p to the nearest of three reference points."""
    points = results.frames["coordinate"]
    figure, ax = new_figure(size=(4.6, 5.6))
    _outline(ax, "united_kingdom")
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
    n, datasets = _sizes(results, "england")["n_original"], results.frames["utility"]["dataset"].nunique()
    return f"{n} hospitals in England ({_source(results, 'england')}); means over {datasets} data sets, 95 % intervals"


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
    n = _sizes(results, "england")["n_original"]
    return rests_on(figure, utility, data=_data(results, "england"), n_records=n)


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
    n = _sizes(results, "england")["n_original"]
    return rests_on(figure, utility, data=_data(results, "england"), n_records=n)


def files(results: Results, *, scenario: str) -> Figure:
    """Draw both files of {scenario} on the country's outline."""
    points = results.frames["files"]
    points = points[points["scenario"] == scenario]
    figure, axes = new_figure(1, 2, size=(7.2, 4.7), sharey=True)
    for ax, name in zip(axes, ("target", "identification"), strict=True):
        part = points[points["file"] == name]
        _outline(ax, scenario)
        for common, marker, colour, label in (
            (False, "o", "0.55", "in this file only"),
            (True, "^", COLOURS[3], "in both"),
        ):
            shown = part[part["common"] == common]
            ax.scatter(shown["lon_deg"], shown["lat_deg"], s=14 if common else 7, marker=marker, color=colour,
                       label=f"{label} ({len(shown)})", linewidths=0, zorder=2 + common)  # fmt: skip
        ax.set_title(f"{name} file, {len(part)} {STUDY.words[scenario].split()[0]}")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    axes[1].set_ylabel("")
    figure.suptitle(f"{STUDY.words[scenario]} ({_source(results, scenario)})", fontsize=9)
    return rests_on(figure, points, data=_data(results, scenario), dataset=1, **_sizes(results, scenario))


class _Printed(NamedTuple):
    """A number that the text states of a panel: from which k to which it holds, and what is said of it."""

    least: int
    most: int
    value: float
    words: str


def _printed(frame: str, scenario: str, alpha: float) -> dict[str, _Printed]:
    """Return what the text states of precision and recall in one experiment."""
    facts = published("kroll2016", "statements").set_index("item")["value"]
    if frame == "first":
        at = _Printed(10, 10, facts["england_safest_first"], "print, for d = 20")
        return {"precision": at} if scenario == "england" and alpha == 0.5 else {}
    if scenario == "germany":
        few = facts["germany_recall_below"]
        return {
            "precision": _Printed(30, 30, facts["germany_recommended"], "print, for d = 20: close to 0"),
            "recall": _Printed(20, 100, few, f"print, for d = 20: below {few:g}"),
        }
    share, rare = facts["england_large_k"], facts["england_recall_rarely_above"]
    return {
        "precision": _Printed(30, 100, share, f"print: approaches {share:g} for large k"),
        "recall": _Printed(10, 100, rare, f"print: rarely above {rare:g}"),
    }


def experiment(results: Results, *, frame: str, scenario: str, alpha: float) -> Figure:
    """Draw precision and recall of the attack on {scenario}, the {frame} experiment; bars: 95 % interval of the mean.

    Thin lines are a stronger clique search than the paper's.
    """
    summary, trials = results.frames[f"{frame}_summary"], results.frames[frame]
    summary, trials = (rows[(rows["scenario"] == scenario) & (rows["alpha"] == alpha)] for rows in (summary, trials))
    told = f"{STUDY.words[scenario]} ({_source(results, scenario)}), alpha = {alpha:g}"
    sizes = _sizes(results, scenario)
    if summary.empty:
        return rests_on(not_run(told, results.profile), trials, data=_data(results, scenario), dataset=None, **sizes)
    figure, axes = new_figure(1, 2, size=(7.2, 3.7))
    printed = _printed(frame, scenario, alpha)
    handles: dict[str, Any] = {}
    for ax, measure in zip(axes, ("precision", "recall"), strict=True):
        _draw_measure(ax, summary, measure, printed.get(measure))
        handles = {**handles, **dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))}
    if any(ax.axison for ax in axes):
        grey: dict[str, Any] = {"color": "0.3", "linestyle": "-"}
        handles["thin: a stronger search"] = Line2D([], [], linewidth=0.6, **grey)
        open_ = Line2D([], [], marker="o", markersize=4, markerfacecolor="white", linewidth=1.2, **grey)
        handles["white: not every clique proven maximum"] = open_
        figure.legend(
            handles.values(), handles.keys(), loc="outside lower center", frameon=False, ncols=3, fontsize=7.5
        )
        told += f"\nmeans over {int(summary['n'].max())} data sets; bars: 95 % interval of the mean"
    figure.suptitle(told, fontsize=8)
    shows = f"What the attack finds on {STUDY.words[scenario]}, the {frame} experiment, alpha {alpha:g}, in words"
    shows = "" if any(ax.axison for ax in axes) else shows
    return rests_on(figure, trials, data=_data(results, scenario), shows=shows, **sizes)


def _draw_measure(ax: Axes, summary: pd.DataFrame, measure: str, printed: _Printed | None) -> None:
    """Draw a measure of both searches against k, or tell it where it is nearly nothing everywhere."""
    both = summary[summary["measure"].isin([measure, f"strong_{measure}"])]
    most = float(both["mean"].max())
    if most < _NOTHING:
        beside = f"\n({printed.words})" if printed else ""
        say_instead(
            ax, f"{measure} is {most:.2g} at most,\nat every d and k,\nby the paper's search and a stronger one{beside}"
        )
        return
    ds = sorted(both["n_reference_sets"].unique())
    for i, (d, colour) in enumerate(zip(ds, ordered_colours(len(ds)), strict=True)):
        for j, name in enumerate((measure, f"strong_{measure}")):
            part = both[(both["n_reference_sets"] == d) & (both["measure"] == name)].sort_values("reference_set_size")
            # Points of one k side by side, so that their bars can be read.
            size = part["reference_set_size"] * 1.025 ** (2 * i + j - len(ds) + 0.5)
            ends = np.clip(part[["low", "high"]].to_numpy().T, 0, 1)
            bars = np.nan_to_num(np.abs(ends - part["mean"].to_numpy()))
            look: dict[str, Any] = {"color": colour, "linestyle": LINES[i]}
            if j:
                ax.errorbar(
                    size, part["mean"], yerr=bars, linewidth=0.6, elinewidth=0.4, marker=".", markersize=2, **look
                )
                continue
            look |= {"marker": MARKERS[i], "markersize": 4, "linewidth": 1.2}
            ax.errorbar(size, part["mean"], yerr=bars, elinewidth=0.8, capsize=2, label=f"d = {d}", **look)
            unproven = part["share_proven"] < 1
            ax.plot(size[unproven], part.loc[unproven, "mean"], MARKERS[i], color=colour, markersize=4,
                    markerfacecolor="white", zorder=3)  # fmt: skip
    values = sorted(both["reference_set_size"].unique())
    top = min(1.0, float(np.nanmax(both[["mean", "high"]].to_numpy())))
    at = [k for k in values if printed.least <= k <= printed.most] if printed else []
    if printed and at:
        star = "*" if measure == "precision" else ""
        ax.plot(at, np.full(len(at), printed.value), color="black", zorder=4, label=printed.words, linestyle=":",
                linewidth=1.0, marker=star, markersize=8, markerfacecolor="none")  # fmt: skip
        top = max(top, 1.04 * printed.value)
    if measure == "precision":
        ax.axhline(_RISK_LIMIT, color="0.4", linewidth=0.8, linestyle=(0, (6, 3)),
                   label=f"the paper's limit, {100 * _RISK_LIMIT:g} %")  # fmt: skip
        top = max(top, _RISK_LIMIT)
    ax.set_ylim(-0.04 * top, 1.05 * top)
    ax.set_xscale("log")
    ax.set_xticks(values, [f"{k}" for k in values], minor=False)
    ax.set_xticks([], minor=True)
    ax.set_xlim(values[0] / 1.15, values[-1] * 1.15)
    ax.set_xlabel("points in a reference set, k (log scale)", fontsize=8)
    ax.set_ylabel(measure)


# Smaller position errors, km, are of floating point: a millimetre.
_FLOOR_KM = 1e-6


def _told(size: str) -> str:
    """Return the options of a release as a reader says them."""
    return size.replace(", 1 places", ", 1 place").replace("reflect", "reflected")


def locating(results: Results) -> Figure:
    """Draw how closely three attacks place all records of a release: median and 5 to 95 % of the releases.

    The map that an attack finishes gives matches, too: the last panel is the share of right ones among them.
    """
    located = results.frames["locating"]
    by = ["label", "size"]
    order = located[by].drop_duplicates().itertuples(index=False)
    names = [tuple(row) for row in order]
    figure, axes = new_figure(1, 3, size=(7.2, 0.3 * len(names) + 1.8), sharey=True)
    rows = np.arange(len(names))[::-1]
    attacks = {
        "multilateration": "from the clique attack's matches",
        "registration": "without any match",
        "equalities": "from equal differences of released numbers, embeddings only",
    }
    n = int(located.groupby(by).size().min())
    for i, attack in enumerate(attacks):
        for ax, measure in zip(axes, ("median_km", "within_5km", "precision"), strict=True):
            if f"{attack}_{measure}" not in located:
                continue
            part = located.groupby(by, sort=False)[f"{attack}_{measure}"]
            judged = part.count()
            fewest = judged[judged > 0].min()
            label = attacks[attack] + (f" ({fewest} of {n})" if fewest < n else "")
            middle, low, high = part.median(), part.quantile(0.05), part.quantile(0.95)
            floor = _FLOOR_KM if measure == "median_km" else 0.0
            y = rows + 0.22 * (1 - i)
            at = np.maximum(middle.loc[names].to_numpy(), floor)
            bars = np.stack([at - np.maximum(low.loc[names].to_numpy(), floor), high.loc[names].to_numpy() - at])
            look = {"fmt": MARKERS[i], "color": COLOURS[i], "markersize": 4.5, "elinewidth": 0.8}
            ax.errorbar(at, y, xerr=np.clip(bars, 0, None), label=label, **look)
    axes[0].set_xscale("log")
    axes[0].set_xticks([_FLOOR_KM, 1e-3, 1.0, 1e3], ["≤ 1 mm", "1 m", "1 km", "1000\nkm"], fontsize=7.5)
    axes[0].set_xticks([], minor=True)
    axes[0].set_xlim(_FLOOR_KM / 4)
    axes[0].set_xlabel("median position error\n(log scale)", fontsize=8)
    axes[1].set_xlabel("share located within 5 km", fontsize=8)
    axes[2].set_xlabel("share of right ones among\nthe matches of that map", fontsize=8)
    told = [", ".join(filter(None, (name, _told(size)))) for name, size in names]
    axes[0].set_yticks(rows, [one.replace(", ", ",\n", len(one) > 24) for one in told], fontsize=7.5)
    for ax in axes:
        ax.grid(axis="y", color="0.92", linewidth=0.6)
        ax.set_axisbelow(True)
    for ax in axes[1:]:
        ax.set_xlim(-0.03, 1.03)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=1, frameon=False)
    figure.suptitle(
        f"{STUDY.words['germany']} ({_source(results, 'germany')}); median and 5-95 % of {n} releases", fontsize=8
    )
    return rests_on(figure, located, data=_data(results, "germany"), **_sizes(results, "germany"))


def areas(results: Results) -> Figure:
    """Draw what reference places of other areas protect and cost; bars: 95 % interval of the mean over data sets."""
    frame = results.frames["areas"]
    by = frame.groupby(["area", "reference_set_size", "dataset"], sort=False).mean(numeric_only=True)
    order = list(by["effective_k"].groupby(level="area").mean().sort_values(ascending=False).index)
    rows = np.arange(len(order))[::-1]
    figure, axes = new_figure(1, 3, size=(7.2, 0.42 * len(order) + 1.8), sharey=True)
    shown = {
        "effective_k": "places of a set\nnearest to somebody",
        "precision": "precision of the attack",
        "nearest_neighbour": "share of right\nnearest neighbours",
    }
    facts = published("kroll2016", "statements").set_index("item")["value"]
    printed = {10: facts["england_safest_first"], 30: facts["england_large_k"]}
    sizes = sorted(frame["reference_set_size"].unique())
    countries = {"england": "England", "united_kingdom": "United Kingdom"}
    # Which of both countries the paper's reference places are of is not clear: its numbers stand beside both.
    stated = [row for row, name in zip(rows, order, strict=True) if name in countries]
    for i, (k, colour) in enumerate(zip(sizes, ordered_colours(len(sizes) + 1), strict=False)):
        shift = (0.14, -0.14)[i % 2]
        for ax, (measure, name) in zip(axes, shown.items(), strict=True):
            drawn = by[measure].xs(k, level="reference_set_size").groupby(level="area")
            middle = drawn.mean()[order].to_numpy()
            ends = np.array([confidence(drawn.get_group(area)) for area in order]).T
            ends = np.clip(ends, 0, np.inf if measure == "effective_k" else 1)
            ax.errorbar(middle, rows + shift, xerr=np.nan_to_num(np.abs(ends - middle)), fmt=MARKERS[i], color=colour,
                        markersize=5, elinewidth=0.8, label=f"k = {k}")  # fmt: skip
            ax.set_xlabel(name, fontsize=8)
        if k in printed:
            axes[1].plot(np.full(len(stated), printed[k]), np.array(stated) + shift, MARKERS[i], color=colour,
                         markersize=6, markerfacecolor="none", label=f"print, k = {k}")  # fmt: skip
    for ax in axes[:2]:
        ax.set_xlim(left=0)
    axes[1].set_xlim(left=-0.02)
    axes[2].locator_params(axis="x", nbins=4)
    axes[0].set_yticks(rows, [countries.get(name, name.replace("_", " ")) for name in order])
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    d, alpha = frame["n_reference_sets"].iloc[0], frame["alpha"].iloc[0]
    figure.suptitle(
        f"hospitals in England ({_source(results, 'england')}), d = {d}, alpha = {alpha:g}\n"
        f"mean and 95 % interval over {frame['dataset'].nunique()} data sets",
        fontsize=8,
    )
    return rests_on(figure, frame, data=_data(results, "england"), **_sizes(results, "england"))


def ru_map(results: Results) -> Figure:
    """Draw risk against utility for every method that releases distances; patches: 5 to 95 % of the releases."""
    frame, located = results.frames["ru_map"], results.frames["locating"]
    sizes = _sizes(results, "germany")
    figure = plot_ru_panels(
        frame.assign(value=frame["value"].map(_told, na_action="ignore")),
        risk_limit=_RISK_LIMIT,
        title=f"{STUDY.words['germany']} ({_source(results, 'germany')}): {sizes['n_original']} released, "
        f"{sizes['n_known']} known, {sizes['n_common']} in both",
    )
    attacks = frame["attack"].str.extract(r"alpha ([\d.]+)")[0].dropna().unique()
    return rests_on(figure, located, data=_data(results, "germany"), alpha=[float(one) for one in attacks], **sizes)


def _panels() -> dict[str, Callable[[Results], Figure]]:
    panels: dict[str, Callable[[Results], Figure]] = {}
    number = 5
    for scenario in ("england", "germany"):
        for frame, alphas in (("first", (0.1, 0.5, 0.9)), ("second", (0.1, 0.5))):
            for alpha in alphas:
                name = f"figure-{number}-{scenario}-{frame}-alpha-{alpha:g}"
                panels[name] = partial(experiment, frame=frame, scenario=scenario, alpha=alpha)
                number += 1
    return panels


FIGURES: dict[str, Callable[[Results], Figure]] = in_house_style(
    {
        "figure-1-one-coordinate": figure_1,
        "appendix-city-pairs": city_pairs,
        "figure-2-utility": figure_2,
        "uses": uses,
        "figure-3-england-files": partial(files, scenario="england"),
        "figure-4-germany-files": partial(files, scenario="germany"),
        **_panels(),
        "reference-areas": areas,
        "locating": locating,
        "ru-map": ru_map,
    }
)
