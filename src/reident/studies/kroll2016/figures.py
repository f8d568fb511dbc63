"""Figures of the study kroll2016 on attacks: figures 3 to 14 of the paper, the attacks that locate, and the map."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reident import plot_ru_panels, published
from reident.plotting._style import (
    COLOURS,
    LINES,
    MARKERS,
    handles_of,
    in_house_style,
    new_figure,
    not_run,
    ordered_colours,
    say_instead,
)
from reident.studies.captions import rests_on
from reident.studies.kroll2016 import STUDY
from reident.studies.kroll2016.figures_kept import city_pairs, figure_1, figure_2, uses
from reident.studies.kroll2016.figures_parts import data_class, outline, sizes_of, source
from reident.studies.study import Results
from reident.studies.together import confidence

__all__ = ["FIGURES"]

# The precision above which the paper calls the risk too high.
_RISK_LIMIT = 0.25

# Shares that are all below this one are told, not drawn.
_NOTHING = 0.03


def draw_file(ax: Axes, part: pd.DataFrame) -> None:
    """Draw where the records of a file are, and which of them are in the other file, too."""
    for common, marker, colour, label in (
        (False, "o", "0.55", "in this file only"),
        (True, "^", COLOURS[3], "in both"),
    ):
        shown = part[part["common"] == common]
        ax.scatter(shown["lon_deg"], shown["lat_deg"], s=14 if common else 7, marker=marker, color=colour,
                   label=f"{label} ({len(shown)})", linewidths=0, zorder=2 + common)  # fmt: skip


def files(results: Results, *, scenario: str) -> Figure:
    """Draw both files of {scenario} on the country's outline."""
    points = results.frames["files"]
    points = points[points["scenario"] == scenario]
    figure, axes = new_figure(1, 2, size=(7.2, 4.7), sharey=True)
    for ax, name in zip(axes, ("target", "identification"), strict=True):
        part = points[points["file"] == name]
        outline(ax, scenario)
        draw_file(ax, part)
        ax.set_title(f"{name} file, {len(part)} {STUDY.words[scenario].split()[0]}")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    axes[1].set_ylabel("")
    figure.suptitle(f"{STUDY.words[scenario]} ({source(results, scenario)})", fontsize=9)
    return rests_on(figure, points, data=data_class(results, scenario), dataset=1, **sizes_of(results, scenario))


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
    told = f"{STUDY.words[scenario]} ({source(results, scenario)}), alpha = {alpha:g}"
    sizes = sizes_of(results, scenario)
    if summary.empty:
        return rests_on(
            not_run(told, results.profile), trials, data=data_class(results, scenario), dataset=None, **sizes
        )
    figure, axes = new_figure(1, 2, size=(7.2, 3.7))
    printed = _printed(frame, scenario, alpha)
    for ax, measure in zip(axes, ("precision", "recall"), strict=True):
        _draw_measure(ax, summary, measure, printed.get(measure))
    handles = handles_of(axes)
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
    return rests_on(figure, trials, data=data_class(results, scenario), shows=shows, **sizes)


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
        f"{STUDY.words['germany']} ({source(results, 'germany')}); median and 5-95 % of {n} releases", fontsize=8
    )
    return rests_on(figure, located, data=data_class(results, "germany"), **sizes_of(results, "germany"))


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
        f"hospitals in England ({source(results, 'england')}), d = {d}, alpha = {alpha:g}\n"
        f"mean and 95 % interval over {frame['dataset'].nunique()} data sets",
        fontsize=8,
    )
    return rests_on(figure, frame, data=data_class(results, "england"), **sizes_of(results, "england"))


def ru_map(results: Results) -> Figure:
    """Draw risk against utility for every method that releases distances; patches: 5 to 95 % of the releases."""
    frame, located = results.frames["ru_map"], results.frames["locating"]
    sizes = sizes_of(results, "germany")
    figure = plot_ru_panels(
        frame.assign(value=frame["value"].map(_told, na_action="ignore")),
        risk_limit=_RISK_LIMIT,
        title=f"{STUDY.words['germany']} ({source(results, 'germany')}): {sizes['n_original']} released, "
        f"{sizes['n_known']} known, {sizes['n_common']} in both",
    )
    attacks = frame["attack"].str.extract(r"alpha ([\d.]+)")[0].dropna().unique()
    return rests_on(
        figure, located, data=data_class(results, "germany"), alpha=[float(one) for one in attacks], **sizes
    )


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
