"""Figures of the study vanhoef2012_networks: 8.2, 9.6 to 9.18, the passive attack, link prediction and the map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reident.plotting._style import COLOURS, LINES, MARKERS, in_house_style, new_figure
from reident.plotting.rumap import plot_ru_panels
from reident.rates import wilson_interval
from reident.studies.study import Results
from reident.studies.vanhoef2012_networks import REAL
from reident.studies.vanhoef2012_networks.drawings import draw_ideas

__all__ = ["FIGURES"]


_NAMES = {
    "les_miserables": "Les Misérables",
    "enron": "Enron e-mail",
    "powergrid": "power grid",
    "caltech36": "Caltech (Facebook)",
    "bowdoin47": "Bowdoin (Facebook)",
    "american75": "American University (Facebook)",
    "power_law_cluster": "power law with triangles",
    "chung_lu": "power law without triangles",
    "small_world": "small world",
}


def _title(name: str) -> str:
    """Name a graph in words, and say where it is generated and no data."""
    known = name in (*REAL, "american75", "les_miserables")
    told = _NAMES.get(name) or name.replace("_", " ").replace("attachment 1", "attachment, 1")
    return told if known else f"{told} (generated)"


def _spread(
    ax: Axes,
    frame: pd.DataFrame,
    x: str,
    y: str,
    by: str,
    order: Sequence[str] | None = None,
    fan: float = 0.0,
    at: int = 0,
) -> None:
    """Draw mean and spread (one standard deviation) of `y` over the runs at each `x`, a line for each `by`.

    The lines' looks begin with the one numbered `at`.
    """
    names = list(dict.fromkeys(frame[by])) if order is None else [name for name in order if name in set(frame[by])]
    for place, name in enumerate(names):
        position = at + place
        part = frame[(frame[by] == name) & frame[y].notna() & np.isfinite(frame[y])]
        if part.empty:
            continue
        groups = part.groupby(x)[y]
        mean, ends = groups.mean(), groups.quantile([0.05, 0.95]).unstack()  # noqa: PD010
        shift = 1 + fan * (place - (len(names) - 1) / 2)
        ax.errorbar(
            mean.index.to_numpy(float) * shift,
            mean,
            yerr=np.abs(ends.to_numpy().T - mean.to_numpy()) if groups.size().max() > 1 else None,
            color=COLOURS[position % len(COLOURS)],
            marker=MARKERS[position % len(MARKERS)],
            linestyle=LINES[position % len(LINES)],
            markersize=4,
            linewidth=1.2,
            elinewidth=0.8,
            capsize=2,
            label=str(name),
        )


def _panels(names: Sequence[str], *, width: float = 3.6, height: float = 3.0) -> tuple[Figure, list[Axes]]:
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    # One more strip below for the common legend.
    figure, axes = new_figure(rows, columns, size=(width * columns, height * rows + 0.4), squeeze=False)
    flat = list(axes.flat)
    for ax in flat[len(names) :]:
        ax.remove()
    return figure, flat[: len(names)]


def _legend(figure: Figure, axes: Sequence[Axes], columns: int = 4) -> Figure:
    handles: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=min(columns, 2 * len(axes)))
    return figure


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
        _rate(axes[0], part.droplevel("series"), name, position)
    axes[0].axvline(7, color="0.8", linewidth=1, zorder=0)
    axes[0].set(xlabel="planted nodes k", ylabel="share of attacks that find all targets", ylim=(0, 1.05))
    axes[0].set_title(f"Naive release of\n{_title(graph)}; bars: 95 % intervals")
    axes[0].legend(loc="lower right")
    own_graph = active.loc[active["kind"] == "coalition", "graph"].iloc[0]
    own = active[active["kind"] == "coalition"].groupby("k")
    _rate(axes[1], own["is_unique"].agg(["mean", "count"]), "coalition finds itself", 0)
    found = active[active["kind"] == "coalition"].groupby("k")["n_found"].mean()
    axes[1].set(xlabel="members of the coalition", ylabel="share of coalitions", ylim=(0, 1.05))
    twin = axes[1].twinx()
    twin.spines["right"].set_visible(True)
    twin.plot(found.index, found, color=COLOURS[1], marker=MARKERS[1], linestyle=LINES[1], markersize=4)
    twin.set_ylabel("friends re-identified (mean)", color=COLOURS[1])
    twin.set_ylim(bottom=0)
    axes[1].set_title(
        f"Coalition of a user and friends in {_title(own_graph)}\n(solid: finds itself; dashed: friends found)"
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
        label = f"{kind}-based, {_title(name)}"
        _spread(axes[0], part.assign(series=label), "k", "n_links", "series", at=position)
        _rate(axes[1], part.groupby("k")["owner_sees"].agg(["mean", "count"]), label, position)
        _spread(axes[2], part.assign(series=label), "k", "auc_clustering", "series", at=position)
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
    return _legend(figure, axes[:2], 3)


def _rate(ax: Axes, counted: pd.DataFrame, name: str, position: int) -> None:
    """Draw shares with their Wilson intervals."""
    rates = [wilson_interval(mean * n, n) for mean, n in zip(counted["mean"], counted["count"], strict=True)]
    p, low, high = np.array(rates).T
    ax.errorbar(
        counted.index + 0.06 * (position - 1.5),
        p,
        yerr=np.maximum([p - low, high - p], 0),
        color=COLOURS[position],
        marker=MARKERS[position],
        linestyle=LINES[position],
        markersize=4,
        linewidth=1.2,
        elinewidth=0.8,
        capsize=2,
        label=name,
    )


def figure_9_6(results: Results) -> Figure:
    """Draw the cost of the degree programme with and without deletions, for every graph (9.6 and 9.7)."""
    costs = results.frames["costs"]
    names = list(dict.fromkeys(costs["graph"]))
    figure, axes = _panels(names)
    kinds = costs.assign(series=costs["deletions"].map({False: "additions", True: "additions and deletions"}))
    for ax, name in zip(axes, names, strict=True):
        _spread(ax, kinds[kinds["graph"] == name], "k", "l1", "series")
        ax.set_title(_title(name))
        ax.set(xlabel="k", ylabel="L1 distance of degree sequences", ylim=(0, None))
    return _legend(figure, axes, 2)


def _probing(results: Results, y: str, label: str, *, log: bool = False) -> Figure:
    probing = results.frames["probing"]
    names = list(dict.fromkeys(probing["graph"]))
    figure, axes = _panels(names)
    series = probing.assign(series=probing["scheme"].map(lambda s: s if s == "batch" else f"scheme {s}"))
    limit = int(probing["max_probes"].max())
    for ax, name in zip(axes, names, strict=True):
        part = series[series["graph"] == name]
        _spread(ax, part, "k", y, "series", fan=0.02)
        if log:
            ax.set_yscale("log")
            ax.axhline(limit, color="0.6", linewidth=0.8, linestyle=":")
        stopped = (~part["finished"]).mean()
        ax.set_title(f"{_title(name)}\n{stopped:.0%} of runs stopped at {limit:,} probes")
        ax.set(xlabel="k", ylabel=label)
    return _legend(figure, axes, 5)


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
        figure, axes = _panels(graphs)
        for ax, graph in zip(axes, graphs, strict=True):
            _against_k(ax, releases[releases["graph"] == graph], name, methods)
            low, high = ax.get_ylim()
            least = 0.1 * max(abs(low), abs(high))  # no axis is stretched over differences of a few per cent
            if high - low < least:
                ax.set_ylim((low + high - least) / 2, (low + high + least) / 2)
            ax.set_title(_title(graph))
            ax.set(xlabel="k", ylabel=label)
        return _legend(figure, axes, 3)

    draw.__doc__ = f"Draw {source or name} of the releases against k, mean and 5 to 95 % of the runs."
    return draw


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
                ax.set_title(f"{_title(name)}: {measure}")
                continue
            _spread(ax, part, "known_edges", measure, "series", fan=0.006)
            ax.set(xlabel="share of edges in each copy", ylabel=measure, ylim=(-0.02, 1.05))
            ax.set_title(_title(name))
    return _legend(figure, axes.flat, 4)


def seeds_by_clique(results: Results) -> Figure:
    """Draw how often a clique of known people is found by degrees and common friends, and what spreads from it."""
    frame = results.frames["cliques"]
    names = list(dict.fromkeys(frame["graph"]))
    figure, axes = new_figure(2, len(names), size=(3.4 * max(len(names), 2), 6.0), squeeze=False)
    shown = frame.assign(series=frame["known_edges"].map("{:.0%} of links in each copy".format))
    for column, name in enumerate(names):
        part = shown[shown["graph"] == name]
        for position, (series, runs) in enumerate(part.groupby("series", sort=False)):
            _rate(axes[0, column], runs.groupby("clique_size")["right"].agg(["mean", "count"]), str(series), position)
        _spread(axes[1, column], part, "clique_size", "recall", "series")
        axes[0, column].set(ylabel="cliques found and right", title=_title(name))
        axes[1, column].set(ylabel="people then re-identified")
    for ax in axes.flat:
        ax.set(xlabel="people in the clique", ylim=(-0.03, 1.05), xticks=sorted(set(frame["clique_size"])))
    return _legend(figure, axes.flat, 3)


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
        _spread(ax, shown, "changed", measure, "series", fan=0.02)
        ax.axhline(print_, color="0.4", linestyle=":", label="printed")
        ax.set(xlabel="links changed between the crawls", ylabel=label, ylim=(-0.03, 1.05))
    for ax in axes[:2]:
        ax.set_title(f"one network crawled twice\n({crawls['size'].iloc[0]:,} people)")
    kinds = {"right": ("right", 0.308), "wrong": ("mistaken", 0.121), "left": ("not identified", 0.57)}
    for position, (measure, (label, print_)) in enumerate(kinds.items()):
        _spread(axes[2], overlaps.assign(series=label), "known_edges", measure, "series", at=position + 2)
        axes[2].axhline(print_, color=COLOURS[position + 2], linestyle=":", linewidth=0.9)
    axes[2].set(xlabel="share of links kept in each network", ylabel="share of the people in both", ylim=(-0.03, 1.05))
    overlap, known = overlaps["overlap"].iloc[0], overlaps["n_seeds"].iloc[0]
    axes[2].set_title(f"two networks, {overlap:.0%} in common,\n{known} seeds (dotted: printed)")
    return _legend(figure, axes, 3)


def _constant(ax: Axes, part: pd.DataFrame, measure: str) -> bool:
    """Say in words what is the same in all runs, in place of curves that lie on one another."""
    low, high = part[measure].quantile([0.02, 0.98])
    if high - low > 0.02:
        return False
    settings = f"{part['known_edges'].min():.0%} to {part['known_edges'].max():.0%} of the links"
    ax.text(0.5, 0.5, f"{measure} {part[measure].mean():.2f}\nwith {settings}\nand any number of seeds",
            ha="center", va="center", transform=ax.transAxes)  # fmt: skip
    ax.set_axis_off()
    return True


def _against_k(ax: Axes, part: pd.DataFrame, measure: str, methods: Sequence[str]) -> None:
    """Draw a measure of the releases against k, and the original's as a line."""
    _spread(ax, part[part["method"] != "original"], "k", measure, "method", methods, fan=0.03)
    ax.axhline(part.loc[part["method"] == "original", measure].mean(), color="0.4", linewidth=0.9, label="original")
    ax.set_xscale("log")
    ks = sorted(set(part["k"]) - {1})
    # More than eight labels would run into one another on the log axis.
    ticks = ks if len(ks) <= 8 else [k for k in (2, 5, 10, 20, 50, 98) if ks[0] <= k <= ks[-1]]
    ax.set_xticks(ticks, [str(k) for k in ticks])
    ax.minorticks_off()


def _headline(measure: str, who: str) -> Callable[[Results], Figure]:
    def draw(results: Results) -> Figure:
        attacks = results.frames["attacks"]
        graphs, shares = list(dict.fromkeys(attacks["graph"])), sorted(set(attacks["known_edges"]), reverse=True)
        methods = [method for method in dict.fromkeys(attacks["method"]) if method != "original"]
        size = (3.4 * max(len(shares), 2), 2.7 * len(graphs) + 0.5)
        figure, axes = new_figure(len(graphs), len(shares), size=size, squeeze=False)
        for row, name in zip(axes, graphs, strict=True):
            for ax, share in zip(row, shares, strict=True):
                _against_k(
                    ax, attacks[(attacks["graph"] == name) & (attacks["known_edges"] == share)], measure, methods
                )
                ax.set(xlabel="k", ylabel="share re-identified", ylim=(-0.02, 1.05))
                ax.set_title(f"{_title(name)}\n{who}; copy with {share:.0%} of links")
        return _legend(figure, axes.flat, 3)

    draw.__doc__ = f"Draw recall of the passive attack on degree-anonymised graphs against k, {who}."
    return draw


def edge_disclosure(results: Results) -> Figure:
    """Draw which share of the released links an intruder is sure of who knows degrees only: true, and feigned."""
    attacks = results.frames["attacks"]
    graphs = list(dict.fromkeys(attacks["graph"]))
    methods = [method for method in dict.fromkeys(attacks["method"]) if method != "original"]
    figure, axes = new_figure(2, len(graphs), size=(3.4 * max(len(graphs), 2), 5.8), squeeze=False, sharey="col")
    for row, (measure, label) in zip(axes, (("links_true", "true"), ("links_feigned", "feigned")), strict=True):
        for ax, name in zip(row, graphs, strict=True):
            _against_k(ax, attacks[attacks["graph"] == name], measure, methods)
            ax.set(xlabel="k", ylabel="share of released links", ylim=(-0.01, None))
            ax.set_title(f"{_title(name)}: links believed\nat .9 and {label}")
    return _legend(figure, axes.flat, 3)


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
        ax.set_title(f"{_title(name)}\nnobody known; copy with 90% of links (bars: extremes)")
    return _legend(figure, axes.flat, 3)


def _map(results: Results, frame: pd.DataFrame) -> Figure:
    share = results.frames["attacks"]["known_edges"].min()
    return plot_ru_panels(
        frame,
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


def links(results: Results) -> Figure:
    """Draw how well link prediction tells added and deleted edges, what pruning takes out, and what that does."""
    frame = results.frames["links"]
    rows = frame.assign(series=frame["method"] + ", k = " + frame["k"].astype(str))
    order = list(dict.fromkeys(rows["series"]))
    graphs = list(dict.fromkeys(rows["graph"]))
    figure, axes = new_figure(1, 4, size=(13.6, max(4.0, 0.32 * len(order) + 1.6)))
    place = {name: i for i, name in enumerate(reversed(order))}
    for position, graph in enumerate(graphs):
        part = rows[rows["graph"] == graph].groupby("series", sort=False)
        y = np.array([place[name] for name in part.groups]) + 0.16 * (position - (len(graphs) - 1) / 2)
        look = {"color": COLOURS[position], "marker": MARKERS[position], "linestyle": "none", "markersize": 4}
        for ax, measure in zip(axes[:2], ("auc_added", "auc_deleted"), strict=True):
            means = part[[measure, f"{measure}_low", f"{measure}_high"]].mean()
            bars = np.abs(means[[f"{measure}_low", f"{measure}_high"]].to_numpy().T - means[measure].to_numpy())
            ax.errorbar(means[measure], y, xerr=bars, capsize=2, elinewidth=0.8, label=_title(graph), **look)
        axes[2].plot(part["added_removed"].mean(), y, label=_title(graph), **look)
        axes[3].plot(part["recall_pruned"].mean() - part["recall"].mean(), y, label=_title(graph), **look)
    titles = (
        "Original against added edges",
        "Deleted edges against non-edges",
        "Added edges taken out",
        "Passive attack after pruning",
    )
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title)
        ax.set_yticks(list(place.values()), list(place) if ax is axes[0] else [])
        ax.grid(axis="y", color="0.93")
    for ax in axes[:2]:
        ax.axvline(0.5, color="0.6", linewidth=0.8, linestyle=":")
        ax.set(xlabel="AUC with 95 % interval", xlim=(0, 1.02))
    axes[2].set(xlabel="share of the added edges", xlim=(-0.02, 1.02))
    axes[3].axvline(0, color="0.6", linewidth=0.8, linestyle=":")
    axes[3].set_xlabel("change of recall")
    return _legend(figure, axes, 3)


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
            _rate(ax, at, f"up to {slack} changes a degree, {slack} inner pairs" if slack else "exact search", position)
            ax.set_xticks(range(len(counted)), [str(k) for k in counted.index])
        ax.set(xlabel="k of the k-degree anonymous release", ylabel="attacks that find all targets", ylim=(-0.02, 1.05))
        ax.set_title(f"7 planted nodes with {interval[0]}-{interval[1]} links\nin {_title(frame['graph'].iloc[0])}")
    return _legend(figure, axes.flat, 3)


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
        "figure-9-17-exponent": _property("exponent", "power-law exponent (x_min 3)", "the power-law exponent"),
        "figure-9-18-clustering": _property("clustering", "clustering coefficient (7.1)", "the clustering coefficient"),
        "passive-attack": passive,
        "section-10-3-seeds-by-clique": seeds_by_clique,
        "section-10-5-crawls": section_10_5,
        "passive-attack-on-releases": _headline("recall", "some people known"),
        "passive-attack-on-releases-seedless": _headline("recall_seedless", "nobody known"),
        "passive-attack-by-spectra": spectra,
        "edge-disclosure": edge_disclosure,
        "ru-map-networks": ru_map,
        "ru-map-networks-clustering": ru_map_clustering,
        "link-prediction": links,
    }
)
