"""Figures of chapter 10: the passive attack, without anonymisation and on anonymised graphs, and the map."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reident.plotting._style import COLOURS, MARKERS, new_figure, say_instead
from reident.plotting.rumap import plot_ru_panels
from reident.studies.study import Results
from reident.studies.vanhoef2012_networks.figures_parts import (
    common_legend,
    draw_against_k,
    draw_rate,
    draw_spread,
    graph_title,
)

__all__ = ["headline", "passive", "ru_map", "ru_map_clustering", "section_10_5", "seeds_by_clique", "spectra"]


def passive(results: Results) -> Figure:
    """Draw what the passive attack finds by overlap, noise and number of seeds, without anonymisation."""
    frame = results.frames["passive"]
    names = list(dict.fromkeys(frame["graph"]))
    figure, axes = new_figure(len(names), 3, size=(10.5, 2.9 * len(names) + 0.4), squeeze=False)
    labels = frame["known_nodes"].map("{:.0%} of people, ".format) + frame["n_seeds"].map("{} seeds".format)
    shown = frame.assign(series=labels)
    shown = shown[(shown["known_nodes"] == 1.0) | (shown["n_seeds"] == shown["n_seeds"].max())]
    for row, name in zip(axes, names, strict=True):
        part = shown[shown["graph"] == name]
        for ax, measure in zip(row, ("recall", "precision", "unmatched"), strict=True):
            if _constant(ax, part, measure):
                ax.set_title(f"{graph_title(name)}: {measure}")
                continue
            draw_spread(ax, part, "known_edges", measure, "series", fan=0.006)
            ax.set(xlabel="share of edges in each copy", ylabel=measure, ylim=(-0.02, 1.05))
            ax.set_title(graph_title(name))
    return common_legend(figure, axes.flat, 4)


def seeds_by_clique(results: Results) -> Figure:
    """Draw how often a clique of known people is found by degrees and common friends, and what spreads from it."""
    frame = results.frames["cliques"]
    names = list(dict.fromkeys(frame["graph"]))
    figure, axes = new_figure(2, len(names), size=(3.4 * max(len(names), 2), 6.0), squeeze=False)
    shown = frame.assign(series=frame["known_edges"].map("{:.0%} of links in each copy".format))
    for column, name in enumerate(names):
        part = shown[shown["graph"] == name]
        for position, (series, runs) in enumerate(part.groupby("series", sort=False)):
            draw_rate(
                axes[0, column], runs.groupby("clique_size")["right"].agg(["mean", "count"]), str(series), position
            )
        draw_spread(axes[1, column], part, "clique_size", "recall", "series")
        axes[0, column].set(ylabel="cliques found and right", title=graph_title(name))
        axes[1, column].set(ylabel="people then re-identified")
    for ax in axes.flat:
        ax.set(xlabel="people in the clique", ylim=(-0.03, 1.05), xticks=sorted(set(frame["clique_size"])))
    return common_legend(figure, axes.flat, 3)


def section_10_5(results: Results) -> Figure:
    """Draw the two experiments of 10.5 on simulated crawls beside the printed numbers (dotted)."""
    crawls, overlaps = results.frames["crawls"], results.frames["overlaps"]
    figure, axes = new_figure(1, 3, size=(11.4, 3.9))
    series = crawls["opened"].map("release: {:.0%} of the pages opened".format)
    shown = crawls.assign(series=series, named=1 - crawls["left"])
    for ax, measure, label, print_ in (
        (axes[0], "named", "people re-identified", 0.647),
        (axes[1], "accuracy", "share of them right", 0.952),
    ):
        draw_spread(ax, shown, "changed", measure, "series", fan=0.02)
        ax.axhline(print_, color="0.4", linestyle=":", label="printed")
        ax.set(xlabel="links changed between the crawls", ylabel=label, ylim=(-0.03, 1.05))
    for ax in axes[:2]:
        ax.set_title(f"one network crawled twice\n({crawls['size'].iloc[0]:,} people)")
    kinds = {"right": ("right", 0.308), "wrong": ("mistaken", 0.121), "left": ("not identified", 0.57)}
    for position, (measure, (label, print_)) in enumerate(kinds.items()):
        draw_spread(axes[2], overlaps.assign(series=label), "known_edges", measure, "series", at=position + 2)
        axes[2].axhline(print_, color=COLOURS[position + 2], linestyle=":", linewidth=0.9)
    axes[2].set(xlabel="share of links kept in each network", ylabel="share of the people in both", ylim=(-0.03, 1.05))
    overlap, known = overlaps["overlap"].iloc[0], overlaps["n_seeds"].iloc[0]
    axes[2].set_title(f"two networks, {overlap:.0%} in common,\n{known} seeds (dotted: printed)")
    return common_legend(figure, axes, 3)


def _constant(ax: Axes, part: pd.DataFrame, measure: str) -> bool:
    """Say in words what is the same in all runs, in place of curves that lie on one another."""
    low, high = part[measure].quantile([0.02, 0.98])
    if high - low > 0.02:
        return False
    settings = f"{part['known_edges'].min():.0%} to {part['known_edges'].max():.0%} of the links"
    say_instead(ax, f"{measure} {part[measure].mean():.2f}\nwith {settings}\nand any number of seeds")
    return True


def headline(measure: str, who: str) -> Callable[[Results], Figure]:
    """Return what draws a measure of the passive attack on degree-anonymised graphs."""

    def draw(results: Results) -> Figure:
        attacks = results.frames["attacks"]
        graphs, shares = list(dict.fromkeys(attacks["graph"])), sorted(set(attacks["known_edges"]), reverse=True)
        methods = [method for method in dict.fromkeys(attacks["method"]) if method != "original"]
        size = (3.4 * max(len(shares), 2), 2.7 * len(graphs) + 0.5)
        figure, axes = new_figure(len(graphs), len(shares), size=size, squeeze=False)
        for row, name in zip(axes, graphs, strict=True):
            for ax, share in zip(row, shares, strict=True):
                draw_against_k(
                    ax, attacks[(attacks["graph"] == name) & (attacks["known_edges"] == share)], measure, methods
                )
                ax.set(xlabel="k", ylabel="share re-identified", ylim=(-0.02, 1.05))
                ax.set_title(f"{graph_title(name)}\n{who}; copy with {share:.0%} of links")
        return common_legend(figure, axes.flat, 3)

    draw.__doc__ = f"Draw recall of the passive attack on degree-anonymised graphs against k, {who}."
    return draw


def spectra(results: Results) -> Figure:
    """Draw the seedless attack from the largest hubs beside the one from the spectra, on degree-anonymised graphs."""
    frame = results.frames["spectra"]
    graphs = list(dict.fromkeys(frame["graph"]))
    kinds = {"hubs": "from the hubs", "spectra": "from the spectra", "spectra_alone": "spectra alone"}
    figure, axes = new_figure(1, len(graphs), size=(5.2 * max(len(graphs), 1), 3.9), squeeze=False, sharey=True)
    for ax, name in zip(axes.flat, graphs, strict=True):
        part = frame[frame["graph"] == name]
        series = part["method"].where(part["k"] == 1, part["method"] + ", k = " + part["k"].astype(str))
        order = list(dict.fromkeys(series))
        for position, (kind, label) in enumerate(kinds.items()):
            runs = part.groupby(series, sort=False)[f"recall_{kind}"]
            at = np.arange(len(order)) + 0.2 * (position - 1)
            mean = runs.mean().reindex(order)
            bars = np.stack([mean - runs.min().reindex(order), runs.max().reindex(order) - mean])
            ax.errorbar(at, mean, yerr=np.maximum(bars, 0), color=COLOURS[position], marker=MARKERS[position],
                        linestyle="none", capsize=2, label=label)  # fmt: skip
        ax.set_xticks(range(len(order)), order, rotation=30, ha="right")
        ax.set(ylabel="share re-identified", ylim=(-0.03, 1.05))
        ax.set_title(f"{graph_title(name)}\nnobody known; copy with 90% of links (bars: extremes)")
    return common_legend(figure, axes.flat, 3)


def _map(results: Results, frame: pd.DataFrame) -> Figure:
    share = results.frames["attacks"]["known_edges"].min()
    named = {name: graph_title(name) for name in results.frames["attacks"]["graph"].unique()}
    told = frame["attack"].str.replace(r"^\w+(?: \(generated\))?", lambda found: named[found[0].split()[0]], regex=True)
    return plot_ru_panels(
        frame.assign(attack=told),
        columns=3,
        title="k-degree anonymous releases; risk: share of people re-identified; "
        f"the attacker's copy has {share:.0%} of the links",
    )


def ru_map(results: Results) -> Figure:
    """Draw the risk-utility map: three attacks (columns) on every graph (rows), utility by edges in common."""
    frame = results.frames["ru_map"]
    return _map(results, frame[frame["analysis"].str.startswith("edges")])


def ru_map_clustering(results: Results) -> Figure:
    """Draw the risk-utility map with the clustering coefficient as the analysis."""
    frame = results.frames["ru_map"]
    return _map(results, frame[~frame["analysis"].str.startswith("edges")])
