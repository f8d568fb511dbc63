"""Figures of vanhoef2012_networks: chapters 8 and 9, the active attack, link prediction; the table of all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from reident.plotting._style import COLOURS, LINES, MARKERS, in_house_style, new_figure
from reident.studies.study import Results
from reident.studies.vanhoef2012_networks.drawings import draw_ideas
from reident.studies.vanhoef2012_networks.figures_parts import (
    common_legend,
    draw_against_k,
    draw_rate,
    draw_spread,
    graph_panels,
    graph_title,
)
from reident.studies.vanhoef2012_networks.figures_passive import (
    headline,
    passive,
    ru_map,
    ru_map_clustering,
    section_10_5,
    seeds_by_clique,
    spectra,
)

__all__ = ["FIGURES"]


def definitions(_results: Results) -> Figure:
    """Draw planted nodes and their targets (8.1), a link without a secret (7.2), 2-degree anonymity (9.2), cosines."""
    figure, axes = new_figure(1, 4, size=(12.8, 3.4))
    draw_ideas(axes)
    return figure


def figure_8_2(results: Results) -> Figure:
    """Draw the success of the active attack against the number of planted nodes."""
    active = results.frames["active"]
    planted = active[active["kind"] != "coalition"]
    graph = planted["graph"].iloc[0]
    figure, axes = new_figure(1, 2, size=(9.0, 3.6))
    labels = planted["kind"] + ", " + planted["outside"].map(lambda d: f"{d[0]}-{d[1]} links")
    summary = planted.assign(series=labels).groupby(["series", "k"], sort=False)["success"].agg(["mean", "count"])
    for position, (name, part) in enumerate(summary.groupby(level="series", sort=False)):
        draw_rate(axes[0], part.droplevel("series"), name, position)
    axes[0].axvline(7, color="0.8", linewidth=1, zorder=0)
    axes[0].set(xlabel="planted nodes k", ylabel="share of attacks that find all targets", ylim=(0, 1.05))
    axes[0].set_title(f"Naive release of\n{graph_title(graph)}; bars: 95 % intervals")
    axes[0].legend(loc="lower right")
    own_graph = active.loc[active["kind"] == "coalition", "graph"].iloc[0]
    own = active[active["kind"] == "coalition"].groupby("k")
    draw_rate(axes[1], own["is_unique"].agg(["mean", "count"]), "coalition finds itself", 0)
    found = active[active["kind"] == "coalition"].groupby("k")["n_found"].mean()
    axes[1].set(xlabel="members of the coalition", ylabel="share of coalitions", ylim=(0, 1.05))
    twin = axes[1].twinx()
    twin.spines["right"].set_visible(True)
    twin.plot(found.index, found, color=COLOURS[1], marker=MARKERS[1], linestyle=LINES[1], markersize=4)
    twin.set_ylabel("friends re-identified (mean)", color=COLOURS[1])
    twin.set_ylim(bottom=0)
    axes[1].set_title(
        f"Coalition of a user and friends in {graph_title(own_graph)}\n(solid: finds itself; dashed: friends found)"
    )
    return figure


def section_8_4(results: Results) -> Figure:
    """Draw the cut-based attack beside the walk-based one (8.4), and the search tree's size (8.6)."""
    cuts, active = results.frames["cuts"], results.frames["active"]
    figure, axes = new_figure(1, 4, size=(13.6, 3.9))
    rates = cuts.groupby("kind")["success"].mean()
    found = ", ".join(f"{kind} {rate:.0%}" for kind, rate in rates.items())
    titles = (
        f"what it takes\n(all targets found: {found})",
        "owner sees the planted group",
        "planted nodes told apart",
    )
    labels = ("links to others", "share of attacks", "AUC of clustering, either way")
    groups = cuts.groupby(["kind", "graph"], sort=False)
    for position, ((kind, name), part) in enumerate(groups):
        label = f"{kind}-based, {graph_title(name)}"
        draw_spread(axes[0], part.assign(series=label), "k", "n_links", "series", at=position)
        draw_rate(axes[1], part.groupby("k")["owner_sees"].agg(["mean", "count"]), label, position)
        draw_spread(axes[2], part.assign(series=label), "k", "auc_clustering", "series", at=position)
    for ax, title, label in zip(axes, titles, labels, strict=False):
        ax.set(title=title, xlabel="planted nodes (3 a target, and 3)", ylabel=label, xticks=sorted(set(cuts["k"])))
    axes[0].set_yscale("log")
    axes[1].set_ylim(-0.03, 1.05)
    axes[2].set_ylim(0.45, 1.05)
    searched = active[(active["kind"] != "coalition") & active["n_first"].gt(0)]
    for position, (k, part) in enumerate(searched.groupby("k")):
        axes[3].plot(
            part["n_first"], part["n_tree"], MARKERS[position % len(MARKERS)], color=COLOURS[position % len(COLOURS)],
            markersize=3, alpha=0.5, label=f"k = {k}", rasterized=True,
        )  # fmt: skip
    ends = np.array([searched["n_first"].min(), searched["n_first"].max()])
    axes[3].plot(ends, ends, color="0.4", linewidth=0.9)
    axes[3].set(xscale="log", yscale="log", title="search tree of the walk-based attack")
    axes[3].set(xlabel="nodes with the first one's degree", ylabel="nodes of the tree (equal: line)")
    axes[3].legend(fontsize=7, ncols=2)
    return common_legend(figure, axes[:2], 3)


def figure_9_6(results: Results) -> Figure:
    """Draw the cost of the degree programme with and without deletions, for every graph (9.6 and 9.7)."""
    costs = results.frames["costs"]
    names = list(dict.fromkeys(costs["graph"]))
    figure, axes = graph_panels(names)
    kinds = costs.assign(series=costs["deletions"].map({False: "additions", True: "additions and deletions"}))
    for ax, name in zip(axes, names, strict=True):
        draw_spread(ax, kinds[kinds["graph"] == name], "k", "l1", "series")
        ax.set_title(graph_title(name))
        ax.set(xlabel="k", ylabel="L1 distance of degree sequences", ylim=(0, None))
    return common_legend(figure, axes, 2)


def _probing(results: Results, y: str, label: str, *, log: bool = False) -> Figure:
    probing = results.frames["probing"]
    names = list(dict.fromkeys(probing["graph"]))
    figure, axes = graph_panels(names)
    series = probing.assign(series=probing["scheme"].map(lambda s: s if s == "batch" else f"scheme {s}"))
    limit = int(probing["max_probes"].max())
    for ax, name in zip(axes, names, strict=True):
        part = series[series["graph"] == name]
        draw_spread(ax, part, "k", y, "series", fan=0.02)
        if log:
            ax.set_yscale("log")
            ax.axhline(limit, color="0.6", linewidth=0.8, linestyle=":")
        stopped = (~part["finished"]).mean()
        ax.set_title(f"{graph_title(name)}\n{stopped:.0%} of runs stopped at {limit:,} probes")
        ax.set(xlabel="k", ylabel=label)
    return common_legend(figure, axes, 5)


def figure_9_8(results: Results) -> Figure:
    """Draw how far the probing schemes end above the optimum (9.8 to 9.13), runs that finished."""
    return _probing(results, "l1_above_optimum", "L1 above the optimum")


def figure_probes(results: Results) -> Figure:
    """Draw how many probes the schemes need."""
    return _probing(results, "n_probes", "probes", log=True)


def _property(name: str, label: str, source: str | None = None) -> Callable[[Results], Figure]:
    def draw(results: Results) -> Figure:
        releases = results.frames["releases"]
        graphs = list(dict.fromkeys(releases["graph"]))
        methods = [method for method in dict.fromkeys(releases["method"]) if method != "original"]
        figure, axes = graph_panels(graphs)
        for ax, graph in zip(axes, graphs, strict=True):
            draw_against_k(ax, releases[releases["graph"] == graph], name, methods)
            low, high = ax.get_ylim()
            least = 0.1 * max(abs(low), abs(high))  # no axis is stretched over differences of a few per cent
            if high - low < least:
                ax.set_ylim((low + high - least) / 2, (low + high + least) / 2)
            ax.set_title(graph_title(graph))
            ax.set(xlabel="k", ylabel=label)
        return common_legend(figure, axes, 3)

    draw.__doc__ = f"Draw {source or name} of the releases against k, mean and 5 to 95 % of the runs."
    return draw


def edge_disclosure(results: Results) -> Figure:
    """Draw which share of the released links an intruder is sure of who knows degrees only: true, and feigned."""
    attacks = results.frames["attacks"]
    graphs = list(dict.fromkeys(attacks["graph"]))
    methods = [method for method in dict.fromkeys(attacks["method"]) if method != "original"]
    figure, axes = new_figure(2, len(graphs), size=(3.4 * max(len(graphs), 2), 5.8), squeeze=False, sharey="col")
    for row, (measure, label) in zip(axes, (("links_true", "true"), ("links_feigned", "feigned")), strict=True):
        for ax, name in zip(row, graphs, strict=True):
            draw_against_k(ax, attacks[attacks["graph"] == name], measure, methods)
            ax.set(xlabel="k", ylabel="share of released links", ylim=(-0.01, None))
            ax.set_title(f"{graph_title(name)}: links believed\nat .9 and {label}")
    return common_legend(figure, axes.flat, 3)


def links(results: Results) -> Figure:
    """Draw how well link prediction tells added and deleted edges, what pruning takes out, and what that does."""
    frame = results.frames["links"]
    rows = frame.assign(series=frame["method"] + ", k = " + frame["k"].astype(str))
    order = list(dict.fromkeys(rows["series"]))
    graphs = list(dict.fromkeys(rows["graph"]))
    figure, axes = new_figure(1, 4, size=(13.6, max(4.0, 0.32 * len(order) + 1.6)), sharey=True)
    place = {name: i for i, name in enumerate(reversed(order))}
    for position, graph in enumerate(graphs):
        part = rows[rows["graph"] == graph].groupby("series", sort=False)
        y = np.array([place[name] for name in part.groups]) + 0.16 * (position - (len(graphs) - 1) / 2)
        look = {"color": COLOURS[position], "marker": MARKERS[position], "linestyle": "none", "markersize": 4}
        for ax, measure in zip(axes[:2], ("auc_added", "auc_deleted"), strict=True):
            means = part[[measure, f"{measure}_low", f"{measure}_high"]].mean()
            bars = np.abs(means[[f"{measure}_low", f"{measure}_high"]].to_numpy().T - means[measure].to_numpy())
            ax.errorbar(means[measure], y, xerr=bars, capsize=2, elinewidth=0.8, label=graph_title(graph), **look)
        axes[2].plot(part["added_removed"].mean(), y, label=graph_title(graph), **look)
        axes[3].plot(part["recall_pruned"].mean() - part["recall"].mean(), y, label=graph_title(graph), **look)
    titles = (
        "Original against added edges",
        "Deleted edges against non-edges",
        "Added edges taken out",
        "Passive attack after pruning",
    )
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title)
        ax.grid(axis="y", color="0.93")
    for ax in axes[:2]:
        ax.axvline(0.5, color="0.6", linewidth=0.8, linestyle=":")
        ax.set(xlabel="AUC with 95 % interval", xlim=(0, 1.02))
    axes[0].set_yticks(list(place.values()), list(place))
    axes[2].set(xlabel="share of the added edges", xlim=(-0.02, 1.02))
    axes[3].axvline(0, color="0.6", linewidth=0.8, linestyle=":")
    axes[3].set_xlabel("change of recall")
    return common_legend(figure, axes, 3)


def active_after(results: Results) -> Figure:
    """Draw the active attack's success on degree-anonymised releases (direct editing), 7 planted nodes, 95 % bars."""
    frame = results.frames["after_anonymity"]
    intervals = sorted({tuple(links) for links in frame["outside"]})
    figure, axes = new_figure(1, len(intervals), size=(4.4 * len(intervals), 3.9), squeeze=False)
    for ax, interval in zip(axes.flat, intervals, strict=True):
        part = frame[frame["outside"].map(tuple) == interval]
        for position, (slack, runs) in enumerate(part.groupby("slack")):
            counted = runs.groupby("anonymity")["success"].agg(["mean", "count"])
            # Categories, not numbers: the values of k lie far apart.
            at = counted.set_index(pd.Index(np.arange(len(counted)), name="anonymity"))
            draw_rate(
                ax,
                at,
                f"changes allowed: {slack} a degree, {slack} of the inner pairs" if slack else "exact search",
                position,
            )
            ax.set_xticks(range(len(counted)), [str(k) for k in counted.index])
        ax.set(xlabel="k of the k-degree anonymous release", ylabel="attacks that find all targets", ylim=(-0.02, 1.05))
        ax.set_title(
            f"7 planted nodes with {interval[0]}-{interval[1]} links\nin {graph_title(frame['graph'].iloc[0])}"
        )
    return common_legend(figure, axes.flat, 3)


FIGURES: dict[str, Callable[[Results], Figure]] = in_house_style(
    {
        "definitions": definitions,
        "figure-8-2-active-attack": figure_8_2,
        "section-8-4-cut-attack": section_8_4,
        "active-attack-after-anonymity": active_after,
        "figure-9-6-cost": figure_9_6,
        "figure-9-8-to-9-13-probing": figure_9_8,
        "probes": figure_probes,
        "figure-9-14-diameter": _property("diameter", "diameter", "the diameter"),
        "figure-9-15-path-length": _property("average_path_length", "average path length", "the average path length"),
        "figure-9-16-density": _property("density", "density", "the density"),
        "figure-9-17-exponent": _property("exponent", "power-law exponent ($x_{\\min}$ = 3)", "the power-law exponent"),
        "figure-9-18-clustering": _property("clustering", "clustering coefficient (7.1)", "the clustering coefficient"),
        "passive-attack": passive,
        "section-10-3-seeds-by-clique": seeds_by_clique,
        "section-10-5-crawls": section_10_5,
        "passive-attack-on-releases": headline("recall", "some people known"),
        "passive-attack-on-releases-seedless": headline("recall_seedless", "nobody known"),
        "passive-attack-by-spectra": spectra,
        "edge-disclosure": edge_disclosure,
        "ru-map-networks": ru_map,
        "ru-map-networks-clustering": ru_map_clustering,
        "link-prediction": links,
    }
)
