"""Figures of vanhoef2012_networks: chapters 8 and 9, the active attack, link prediction; the table of all."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reident.plotting._style import COLOURS, MARKERS, in_house_style, new_figure, ordered_colours, say_instead
from reident.studies.captions import NO_DATA, rests_on
from reident.studies.study import Results
from reident.studies.vanhoef2012_networks import N_SEEDS
from reident.studies.vanhoef2012_networks.drawings import draw_ideas
from reident.studies.vanhoef2012_networks.figures_parts import (
    WIDTH,
    beside,
    by_k,
    common_legend,
    draw_band,
    draw_by_k,
    draw_rate,
    draw_spread,
    graph_panels,
    graph_title,
    rests_on_graphs,
    rows_of,
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
    figure, axes = new_figure(2, 2, size=(WIDTH, 6.4))
    draw_ideas(axes.flat)
    return rests_on(figure, data=NO_DATA)


#: The thesis gives no number for "with high probability"; the ledger reads so much.
_HIGH = 0.8


def figure_8_2(results: Results) -> Figure:
    """Draw the success of the active attack by planted nodes: 95 % intervals; friends found: 5 to 95 % of the runs."""
    active = results.frames["active"]
    planted, own = active[active["kind"] != "coalition"], active[active["kind"] == "coalition"]
    figure, axes = new_figure(1, 3, size=(WIDTH, 3.7), width_ratios=(1.4, 1, 1))
    kinds = planted["kind"].map({"planted": "", "planted, H checked": ", no symmetry inside"})
    labels = planted["outside"].map(lambda d: f"{d[0]} to {d[1]} links") + kinds
    summary = planted.assign(series=labels).groupby(["series", "k"], sort=False)["success"].agg(["mean", "count"])
    for position, (name, part) in enumerate(summary.groupby(level="series", sort=False)):
        draw_rate(axes[0], part.droplevel("series"), name, position, aside=0.1)
    axes[0].vlines(7, _HIGH, 1.05, color="0.3", linewidth=1.2, linestyle=":",
                   label=f"printed at k 7: high probability (read as {_HIGH} or more)")  # fmt: skip
    axes[0].set(xlabel="planted nodes k", ylabel="attacks that find all targets", ylim=(0, 1.05))
    axes[0].set_title(f"naive release of\n{graph_title(planted['graph'].iloc[0])}")
    themselves = own.groupby("k")["is_unique"].agg(["mean", "count"])
    draw_rate(axes[1], themselves, "coalition", 1, aside=0, colour=ordered_colours(1)[0])
    axes[1].set(ylabel="coalitions that find themselves", ylim=(0, 1.05))
    draw_spread(axes[2], own.assign(series="coalition"), "k", "n_found", "series", at=1, ordered=True)
    axes[2].set(ylabel="friends re-identified by a coalition", ylim=(0, None))
    for ax in axes[1:]:
        ax.set(xlabel="members of the coalition")
        ax.set_title(f"a user and friends in\n{graph_title(own['graph'].iloc[0])}")
    for ax in axes:
        ax.set_xticks(sorted(set(active["k"])))
    common_legend(figure, axes[:1], 3)
    return rests_on_graphs(figure, active, k=None, n_planted=sorted(set(active["k"])))


def section_8_4(results: Results) -> Figure:
    """Draw the cut-based attack beside the walk-based one (8.4), 5 to 95 % of the runs, and the search tree (8.6)."""
    cuts, active = results.frames["cuts"], results.frames["active"]
    figure, grid = new_figure(2, 2, size=(WIDTH, 6.8))
    axes = list(grid.flat)
    rates = cuts.groupby("kind")["success"].mean()
    titles = (
        "what it takes; all targets found:\n" + ", ".join(f"{kind} {rate:.0%}" for kind, rate in rates.items()),
        "owner sees the planted group",
        "planted nodes told apart",
    )
    labels = ("links to others", "share of attacks, 95 % intervals", "AUC of clustering, either way")
    groups = cuts.groupby(["kind", "graph"], sort=False)
    for position, ((kind, name), part) in enumerate(groups):
        label = f"{kind}-based, {graph_title(name)}"
        # Side by side: on several networks the attacks do the same.
        aside = 0.3 * (position - (groups.ngroups - 1) / 2)
        moved = part.assign(series=label, place=part["k"] + aside)
        draw_spread(axes[0], moved, "place", "n_links", "series", at=position, linewidth=0.5)
        seen = moved.groupby("place")["owner_sees"].agg(["mean", "count"])
        draw_rate(axes[1], seen, label, position, aside=0, linewidth=0.5)
        draw_spread(axes[2], moved, "place", "auc_clustering", "series", at=position, linewidth=0.5)
    for ax, title, label in zip(axes, titles, labels, strict=False):
        ax.set(title=title, xlabel="planted nodes (3 a target, and 3)", ylabel=label, xticks=sorted(set(cuts["k"])))
    axes[0].set_yscale("log")
    axes[1].set_ylim(-0.03, 1.05)
    axes[2].set_ylim(0.45, 1.05)
    _search_tree(axes[3], active[(active["kind"] != "coalition") & active["n_first"].gt(0)])
    common_legend(figure, axes[:2], 2)
    return rests_on_graphs(figure, cuts, k=None, n_planted=sorted(set(cuts["k"])))


def _search_tree(ax: Axes, searched: pd.DataFrame) -> None:
    ks = sorted(set(searched["k"]))
    colours = dict(zip(ks, ordered_colours(len(ks)), strict=True))
    # In random order: no k covers the others.
    mixed = searched.sample(frac=1, random_state=0)
    ax.scatter(mixed["n_first"], mixed["n_tree"], c=list(mixed["k"].map(colours)), s=5, linewidth=0, rasterized=True)
    for k in (ks[0], *([ks[len(ks) // 2], ks[-1]] if len(ks) > 2 else ks[1:])):
        ax.plot([], [], "o", color=colours[k], markersize=4, label=f"{k} planted nodes")
    ends = np.array([searched["n_first"].min(), searched["n_first"].max()])
    ax.plot(ends, ends, color="0.4", linewidth=0.9, label="as many")
    ax.plot(ends, 3 * ends, color="0.4", linewidth=0.9, linestyle=":", label="three times as many")
    ax.set(xscale="log", yscale="log", title="8.6: search tree of the walk-based attack")
    ax.set(xlabel="nodes with the first one's degree", ylabel="nodes of the tree")
    # Above the points: the tree has at least about as many nodes as there are first ones.
    ax.set_ylim(top=ax.get_ylim()[1] * 8)
    ax.legend(loc="upper left")


def figure_9_6(results: Results) -> Figure:
    """Draw the cost of the degree programme with and without deletions, for every graph (9.6 and 9.7), exactly."""
    costs = results.frames["costs"]
    names = list(dict.fromkeys(costs["graph"]))
    figure, axes = graph_panels(names)
    kinds = costs.assign(series=costs["deletions"].map({False: "additions", True: "additions and deletions"}))
    for ax, name in zip(axes, names, strict=True):
        every = max(1, costs["k"].nunique() // 10)
        draw_spread(ax, kinds[kinds["graph"] == name], "k", "l1", "series", markevery=every)
        ax.set_title(graph_title(name))
        ax.set(xlabel="k", ylabel="L1 distance of degree sequences", ylim=(0, None))
    common_legend(figure, axes, 2)
    return rests_on_graphs(figure, costs, repetition=None)


def _probing(results: Results, y: str, label: str, *, log: bool = False) -> Figure:
    probing = results.frames["probing"]
    names = list(dict.fromkeys(probing["graph"]))
    figure, axes = graph_panels(names)
    series = probing.assign(series=probing["scheme"].map(lambda s: s if s == "batch" else f"scheme {s}"))
    order = list(dict.fromkeys(series["series"]))
    limit = int(probing["max_probes"].max())
    for ax, name in zip(axes, names, strict=True):
        part = series[series["graph"] == name]
        draw_by_k(ax, part, y, "series", order, lines=False)
        if log:
            ax.set_yscale("log")
            ax.axhline(limit, color="0.6", linewidth=0.8, linestyle=":", label="limit of probes")
        stopped = (~part["finished"]).mean()
        few = f", k up to {part['k'].max()}: slow beyond" if name == _SLOW else ""
        ax.set_title(f"{graph_title(name)}{few}\n{stopped:.0%} of runs stopped at {limit:,} probes")
        ax.set_ylabel(label)
    common_legend(figure, axes, 6)
    return rests_on_graphs(figure, probing)


#: Of this graph the thesis, too, probes only the first few k.
_SLOW = "bowdoin47"


def figure_9_8(results: Results) -> Figure:
    """Draw how far probing schemes end above the optimum (9.8 to 9.13): mean, 5 to 95 % of the runs that finished."""
    return _probing(results, "l1_above_optimum", "L1 above the optimum")


def figure_probes(results: Results) -> Figure:
    """Draw how many probes the schemes need: mean and 5 to 95 % of the runs."""
    return _probing(results, "n_probes", "probes", log=True)


def _property(name: str, label: str, source: str | None = None) -> Callable[[Results], Figure]:
    def draw(results: Results) -> Figure:
        releases = results.frames["releases"]
        graphs = list(dict.fromkeys(releases["graph"]))
        methods = [method for method in dict.fromkeys(releases["method"]) if method != "original"]
        figure, axes = graph_panels(graphs)
        for ax, graph in zip(axes, graphs, strict=True):
            part = releases[releases["graph"] == graph]
            draw_band(ax, part, name, methods)
            low, high = ax.get_ylim()
            least = 0.1 * max(abs(low), abs(high))  # no axis is stretched over differences of a few per cent
            if high - low < least:
                ax.set_ylim((low + high - least) / 2, (low + high + least) / 2)
            ax.set_title(f"{graph_title(graph)}, {part['repetition'].nunique()} runs{_shattered(part)}")
            ax.set(xlabel="k", ylabel=label)
        common_legend(figure, axes, 3)
        return rests_on_graphs(figure, releases)

    told = "mean and band of 5 to 95 % of the runs, single runs where fewer than three"
    draw.__doc__ = f"Draw {source or name} of the releases against k: {told}."
    return draw


def _shattered(part: pd.DataFrame) -> str:
    """Say which methods keep next to no link of a graph: what is measured then is that of another graph."""
    kept = part.groupby("method", sort=False)["edges_kept"].mean()
    kept = kept / kept["original"]
    few = kept[kept < 0.05]
    if few.empty:
        return ""
    literal = all("literal" in str(name) for name in few.index)
    most = f"{few.max():.1%}".replace(".0%", "%")
    return f"\n{'literal swaps' if literal else ', '.join(few.index)}: at most {most} of the links kept"


#: Shares below it are told in words.
_HARDLY = 0.01


def _hardly(most: float) -> str:
    if np.isnan(most):
        return "not asked"
    return f"{f'at most {most:.2%}' if most else 'none'} of the released links,\nby any method at any k"


def edge_disclosure(results: Results) -> Figure:
    """Draw the links believed (.9 or more) by who knows degrees, true and feigned: mean and 5 to 95 % of the runs."""
    attacks = results.frames["attacks"]
    graphs = list(dict.fromkeys(attacks["graph"]))
    methods = [method for method in dict.fromkeys(attacks["method"]) if method != "original"]
    measures = {"links_true": "true", "links_feigned": "feigned"}
    most = attacks.groupby("graph")[[*measures]].max()
    figure, axes = rows_of([not (most.loc[name] >= _HARDLY).any() for name in graphs], 2)
    for row, name in zip(axes, graphs, strict=True):
        part, top = attacks[attacks["graph"] == name], 1.08 * most.loc[name].max()
        for ax, (measure, label) in zip(row, measures.items(), strict=True):
            ax.set_title(textwrap.fill(f"{graph_title(name)}: links believed, {label}", 46))
            if most.loc[name, measure] >= _HARDLY:
                by_k(ax, part, measure, methods)
                ax.set(ylabel="share of released links", ylim=(-0.04 * top, top))
            else:
                say_instead(ax, _hardly(most.loc[name, measure]))
    common_legend(figure, axes.flat, 3)
    # What is known by degrees does not depend on the copy: its runs are runs of one setting.
    runs = attacks.drop(columns="known_edges")
    return rests_on_graphs(figure, runs.assign(repetition=runs.groupby(["graph", "method", "k"]).cumcount()))


def links(results: Results) -> Figure:
    """Draw how well link prediction tells edited links, and what pruning does: mean and 5 to 95 % of the runs."""
    frame = results.frames["links"]
    rows = frame.assign(series=frame["method"] + ", k " + frame["k"].astype(str))
    order = list(dict.fromkeys(rows["series"]))
    graphs = list(dict.fromkeys(rows["graph"]))
    figure, grid = new_figure(2, 2, size=(WIDTH, 0.5 * len(order) + 2.2), sharey=True)
    axes = list(grid.flat)
    place = {name: i for i, name in enumerate(reversed(order))}
    for position, graph in enumerate(graphs):
        part = rows[rows["graph"] == graph]
        y = pd.Series(place) + 0.3 * ((len(graphs) - 1) / 2 - position)
        look = {"color": COLOURS[position], "marker": MARKERS[position], "label": graph_title(graph)}
        for ax, measure in zip(axes, ("auc_added", "auc_deleted", "added_removed", "recall_pruned"), strict=True):
            _across(ax, part, measure, y, **look)
        told = {**look, "label": f"{graph_title(graph)}, before pruning", "markerfacecolor": "white"}
        _across(axes[3], part, "recall", y, **told)
    titles = (
        "original against added links",
        "deleted links against pairs never linked",
        "added links taken out",
        "passive attack, before and after pruning",
    )
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title)
        ax.grid(axis="y", color="0.93")
        ax.set_axisbelow(True)
        ax.set_xlim(-0.03, 1.03)
    for ax in axes[:2]:
        ax.axvline(0.5, color="0.6", linewidth=0.8, linestyle=":")
        ax.set_xlabel("AUC")
    for name in rows.groupby("series")["n_deleted"].max().loc[lambda most: most == 0].index:
        axes[1].text(0.02, place[name], "deletes none", va="center", fontsize=8, color="0.4",
                     bbox={"facecolor": "white", "linewidth": 0, "pad": 1})  # fmt: skip
    axes[0].set_yticks(list(place.values()), list(place))
    axes[2].set(xlabel="share of the added links")
    axes[3].set_xlabel("share of people re-identified")
    common_legend(figure, axes[2:], 2)
    return rests_on_graphs(figure, frame, n_seeds=N_SEEDS)


def _across(ax: Axes, part: pd.DataFrame, measure: str, y: pd.Series, **look: Any) -> None:
    """Draw the mean and 5 to 95 % of the runs of each series at its height."""
    runs = part.dropna(subset=measure).groupby("series", sort=False)[measure]
    mean, ends = runs.mean(), runs.quantile([0.05, 0.95]).unstack()  # noqa: PD010
    if len(mean):
        bars = np.abs(ends.to_numpy().T - mean.to_numpy())
        ax.errorbar(mean, y[mean.index], xerr=bars, linestyle="none", markersize=3.5, elinewidth=0.8, capsize=2, **look)


def active_after(results: Results) -> Figure:
    """Draw the active attack's success on degree-anonymised releases (direct editing), with 95 % intervals."""
    frame = results.frames["after_anonymity"]
    intervals = sorted({tuple(links) for links in frame["outside"]})
    (planted,) = set(frame["k"])
    figure, axes = new_figure(1, len(intervals), size=(WIDTH, 3.9), squeeze=False)
    slacks = sorted(set(frame["slack"]))
    colours = ordered_colours(len(slacks))
    for ax, interval in zip(axes.flat, intervals, strict=True):
        part = frame[frame["outside"].map(tuple) == interval]
        places = beside(part["anonymity"])
        for position, slack in enumerate(slacks):
            runs = part[part["slack"] == slack]
            counted = runs.groupby(runs["anonymity"].map(places))["success"].agg(["mean", "count"])
            told = f"changes allowed: {slack} a degree, {slack} of the inner pairs" if slack else "exact search"
            draw_rate(ax, counted, told, position, colour=colours[position])
            ax.set_xticks(list(places.values()), [str(k) for k in places])
        ax.set(xlabel="k of the release, by direct editing", ylabel="attacks that find all targets", ylim=(-0.02, 1.05))
        ax.set_title(
            f"{planted} planted nodes with {interval[0]} to {interval[1]} links\n"
            f"in {graph_title(frame['graph'].iloc[0])}"
        )
    common_legend(figure, axes.flat, 2)
    return rests_on_graphs(figure, frame, k=sorted(set(frame["anonymity"])), n_planted=planted)


FIGURES: dict[str, Callable[[Results], Figure]] = in_house_style(
    {
        "definitions": definitions,
        "figure-8-2-active-attack": figure_8_2,
        "section-8-4-cut-attack": section_8_4,
        "active-attack-after-anonymity": active_after,
        "figure-9-6-cost": figure_9_6,
        "figure-9-8-to-9-13-probing": figure_9_8,
        "probes": figure_probes,
        "figure-9-14-diameter": _property(
            "diameter", "diameter", "the diameter (largest distance of a pair that has a path)"
        ),
        "figure-9-15-path-length": _property(
            "average_path_length",
            "average path length",
            "the average path length over all pairs (one without a path counts 0)",
        ),
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
