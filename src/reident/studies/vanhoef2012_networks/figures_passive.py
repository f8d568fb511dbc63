"""Figures of chapter 10: the passive attack, without anonymisation and on anonymised graphs, and the map."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pandas as pd
from matplotlib.figure import Figure

from reident import plot_ru_panels
from reident.data.papers import claims
from reident.plotting._style import COLOURS, MARKERS, new_figure, ordered_colours, say_instead
from reident.studies.captions import rests_on
from reident.studies.comparison import DRAWN
from reident.studies.study import Results
from reident.studies.vanhoef2012_networks.figures_parts import (
    WIDTH,
    by_k,
    common_legend,
    draw_rate,
    draw_spread,
    graph_title,
    levels,
    n_known,
    rests_on_graphs,
    rows_of,
)

__all__ = ["headline", "passive", "ru_map", "ru_map_clustering", "section_10_5", "seeds_by_clique", "spectra"]

#: Precision says nothing where a smaller share of the people is named at all.
_NAMED = 0.01


def passive(results: Results) -> Figure:
    """Draw what the passive attack finds by overlap, noise and people known: mean and 5 to 95 % of the runs."""
    frame = results.frames["passive"]
    names = list(dict.fromkeys(frame["graph"]))
    labels = frame["n_seeds"].map("{} known, ".format) + frame["known_nodes"].map("{:.0%} of people in the copy".format)
    whole = frame["known_nodes"] == frame["known_nodes"].max()
    # Of the smaller copies only those of the attacker who knows most.
    shown = frame.assign(series=labels, whole=whole)[whole | (frame["n_seeds"] == frame["n_seeds"].max())]
    told = {name: {measure: _said(shown[shown["graph"] == name], measure) for measure in _TOLD} for name in names}
    figure, axes = rows_of([all(said.values()) for said in told.values()], len(_TOLD), height=2.6)
    for row, name in zip(axes, names, strict=True):
        for ax, (measure, label) in zip(row, _TOLD.items(), strict=True):
            ax.set_title(textwrap.fill(f"{graph_title(name)}:", 30) + f"\n{label}")
            said = told[name][measure]
            if said:
                say_instead(ax, said)
                continue
            part = shown[shown["graph"] == name]
            part = part[_told_by(part, measure)]
            draw_spread(ax, part[part["whole"]], "known_edges", measure, "series", aside=0.012, ordered=True)
            less = part[~part["whole"]]
            draw_spread(ax, less.assign(at=less["known_edges"] + 0.02), "at", measure, "series", at=3)
            where = f", if {_NAMED:.0%} or more named" if measure == "precision" else ""
            ax.set(xlabel="share of links in each copy", ylabel=f"share{where}", ylim=(-0.02, 1.05))
            ax.set_xticks(sorted(set(frame["known_edges"])))
    common_legend(figure, axes.flat, 2)
    return rests_on_graphs(figure, shown)


_TOLD = {"recall": "people re-identified", "precision": "share of the named right", "unmatched": "people not named"}


def seeds_by_clique(results: Results) -> Figure:
    """Draw how often a clique of known people is found (95 % intervals), and what spreads (mean, 5 to 95 % of runs)."""
    frame = results.frames["cliques"]
    names = list(dict.fromkeys(frame["graph"]))
    figure, axes = new_figure(2, len(names), size=(WIDTH if len(names) > 1 else WIDTH / 2, 5.6), squeeze=False)
    shown = frame.assign(series=frame["known_edges"].map("{:.0%} of links in each copy".format))
    series = list(dict.fromkeys(shown["series"]))
    colours = ordered_colours(len(series))
    for column, name in enumerate(names):
        part = shown[shown["graph"] == name]
        for position, one in enumerate(series):
            runs = part[part["series"] == one].groupby("clique_size")["right"].agg(["mean", "count"])
            draw_rate(axes[0, column], runs, one, position, colour=colours[position])
        draw_spread(axes[1, column], part, "clique_size", "recall", "series", series, aside=0.06, ordered=True)
        axes[0, column].set(ylabel="cliques found and right", title=graph_title(name))
        axes[1, column].set(ylabel="people then re-identified")
    for ax in axes.flat:
        ax.set(xlabel="people in the clique", ylim=(-0.03, 1.05), xticks=sorted(set(frame["clique_size"])))
    common_legend(figure, axes.flat, 3 if len(names) > 1 else 1)  # it is no wider than the figure
    return rests_on_graphs(figure, frame)


def section_10_5(results: Results) -> Figure:
    """Draw the experiments of 10.5 on simulated crawls: mean and 5 to 95 % of the runs, the printed numbers dotted."""
    crawls, overlaps = results.frames["crawls"], results.frames["overlaps"]
    figure, grid = new_figure(3, 2, size=(WIDTH, 8.4))
    axes = list(grid.flat)
    axes.pop().remove()
    series = crawls["opened"].map("release: {:.0%} of the pages opened".format)
    shown = crawls.assign(series=series, named=1 - crawls["left"])
    once = f"one network crawled twice\n({crawls['size'].iloc[0]:,} people)"
    measures = (
        ("named", "people re-identified", "10.5.1: share of the nodes re-identified"),
        ("accuracy", "share of them right", "10.5.1: share of them right"),
        ("top_30", "of the 30 largest hubs in both", "3.1.4: of the 30 nodes of largest in-degree in both crawls"),
    )
    for ax, (measure, label, item) in zip(axes[:3], measures, strict=True):
        draw_spread(ax, shown, "changed", measure, "series", aside=0.006, ordered=True)
        ax.axhline(_printed(item), color="0.4", linestyle=":", label="printed")
        ax.set(title=once, xlabel="share of links changed", ylabel=label, ylim=(-0.03, 1.05))
        ax.set_xticks(sorted(set(crawls["changed"])))
    axes[2].set_ylim(0, 31.5)
    kinds = {
        "right": ("right", "10.5.2: share of the people in both re-identified"),
        "wrong": ("mistaken", "10.5.2: share of them mistaken"),
        "left": ("not identified", "10.5.2: share of them not identified"),
        "beside": ("mistaken for a neighbour", "10.5.2: share of the mistaken taken for a neighbour"),
    }
    for position, (measure, (label, item)) in enumerate(kinds.items(), 2):
        ax = axes[4 if measure == "beside" else 3]
        draw_spread(ax, overlaps.assign(series=label), "known_edges", measure, "series", at=position)
        ax.axhline(_printed(item), color=COLOURS[position], linestyle=":", linewidth=1.2)
    overlap = overlaps["overlap"].iloc[0]
    # At most a third of those in both.
    known = int(min(overlaps["n_seeds"].iloc[0], overlaps["n_common"].max() // 3))
    for ax, label in zip(axes[3:], ("share of the people in both", "share of the mistaken"), strict=True):
        ax.set(xlabel="share of links kept", ylabel=label, ylim=(-0.03, 1.05))
        ax.set_title(f"two networks, {overlap:.0%} in\ncommon, {known} people known")
        ax.set_xticks(sorted(set(overlaps["known_edges"])))
    common_legend(figure, axes, 3)
    people = [int(frame["size"].iloc[0]) for frame in (crawls, overlaps)]
    runs = [frame[["repetition"]] for frame in (crawls, overlaps)]
    return rests_on(figure, *runs, data=DRAWN, n_people=people, n_seeds=[0, known])


def _printed(item: str) -> float:
    return float(claims("vanhoef2012_networks").set_index("item").loc[item, "published"])


def _told_by(part: pd.DataFrame, measure: str) -> pd.Series:
    """Return which rows tell of a measure."""
    named = 1 - part.groupby(["series", "known_edges"])["unmatched"].transform("mean")
    return named >= _NAMED if measure == "precision" else named >= 0


def _said(part: pd.DataFrame, measure: str) -> str | None:
    """Tell what is the same in all runs, or of too few people: curves would show no more; None: draw."""
    if not _told_by(part, measure).any():
        return f"less than {_NAMED:.0%} of the\npeople are named"
    low, high = part[measure].quantile([0.02, 0.98])
    if measure == "precision" or high - low > 0.02:
        return None
    settings = f"{part['known_edges'].min():.0%} to {part['known_edges'].max():.0%} of the links"
    means = part.groupby(["series", "known_edges"])[measure].mean()
    return f"{means.min():.2%} to {means.max():.2%}\nwith {settings}\nand however many known"


def headline(measure: str, who: str) -> Callable[[Results], Figure]:
    """Return what draws a measure of the passive attack on degree-anonymised graphs."""

    def draw(results: Results) -> Figure:
        attacks = results.frames["attacks"]
        graphs, shares = list(dict.fromkeys(attacks["graph"])), sorted(set(attacks["known_edges"]), reverse=True)
        methods = [method for method in dict.fromkeys(attacks["method"]) if method != "original"]
        parts = {
            name: [attacks[(attacks["graph"] == name) & (attacks["known_edges"] == share)] for share in shares]
            for name in graphs
        }
        told = {name: [levels(part, measure) for part in row] for name, row in parts.items()}
        figure, axes = rows_of([all(row) for row in told.values()], len(shares))
        for row, name in zip(axes, graphs, strict=True):
            for ax, share, part, said in zip(row, shares, parts[name], told[name], strict=True):
                ax.set_title(f"{graph_title(name)}\ncopy with {share:.0%} of links")
                if said:
                    say_instead(ax, said)
                else:
                    by_k(ax, part, measure, methods)
                    ax.set(ylabel="share re-identified", ylim=(-0.02, 1.05))
        common_legend(figure, axes.flat, 3)
        known = n_known(results, graphs) if measure == "recall" else 0
        return rests_on_graphs(figure, attacks, n_seeds=known)

    draw.__doc__ = (
        f"Draw recall of the passive attack on degree-anonymised graphs against k, {who}: mean and 5 to 95 % of the "
        "runs, k at even steps and the methods side by side."
    )
    return draw


def spectra(results: Results) -> Figure:
    """Draw the seedless attack from the largest hubs and from the spectra on degree-anonymised graphs: a mark a run."""
    frame = results.frames["spectra"]
    graphs = list(dict.fromkeys(frame["graph"]))
    kinds = {"hubs": "from the hubs", "spectra": "from the spectra", "spectra_alone": "spectra alone"}
    size = (WIDTH if len(graphs) > 1 else WIDTH / 2, 4.2)
    figure, axes = new_figure(1, len(graphs), size=size, squeeze=False, sharey=True)
    for ax, name in zip(axes.flat, graphs, strict=True):
        part = frame[frame["graph"] == name]
        series = part["method"].where(part["k"] == 1, part["method"] + ", k " + part["k"].astype(str))
        places = {one: place for place, one in enumerate(dict.fromkeys(series))}
        for position, (kind, label) in enumerate(kinds.items()):
            at = series.map(places) + 0.25 * (position - 1)
            ax.plot(at, part[f"recall_{kind}"], MARKERS[position], color=COLOURS[position], markersize=4,
                    markerfacecolor="none", label=label)  # fmt: skip
        ax.set_xticks(list(places.values()), list(places), rotation=40, ha="right", rotation_mode="anchor")
        for place in range(1, len(places)):
            ax.axvline(place - 0.5, color="0.93", linewidth=0.6, zorder=0)
        ax.set(ylabel="share re-identified", ylim=(-0.03, 1.05), xlim=(-0.5, len(places) - 0.5))
        (share,) = set(part["known_edges"])
        ax.set_title(f"{graph_title(name)}\nnobody known; copy with {share:.0%} of links")
    common_legend(figure, axes.flat, 3)
    return rests_on_graphs(figure, frame, n_seeds=0)


def _map(results: Results, frame: pd.DataFrame) -> Figure:
    attacks = results.frames["attacks"]
    share = attacks["known_edges"].min()
    named = {name: graph_title(name) for name in attacks["graph"].unique()}
    told = frame["attack"].str.replace(r"^\w+(?: \(generated\))?", lambda found: named[found[0].split()[0]], regex=True)
    links = told.str.endswith(_BY_DEGREES)
    # The attacks on people fill rows, one a graph; on links the risk is another share: these panels come last.
    shown = pd.concat([frame.assign(attack=told)[~links], frame.assign(attack=told)[links]])
    kinds = told[~links].str.split(", ").str[-1].nunique()
    risks = ["people re-identified"] * bool(kinds) + ["links rightly believed"] * bool(links.any())
    figure = plot_ru_panels(
        shown,
        columns=kinds if kinds > 1 and len(named) > 1 else None,
        title=f"k-degree anonymous releases; the attacker's copy has {share:.0%} of the links; "
        f"risk: share of {', or of '.join(risks)}",
    )
    return rests_on_graphs(figure, attacks[attacks["known_edges"] == share], n_seeds=n_known(results, named))


#: How `summaries.ru_map` ends the name of the attack on links.
_BY_DEGREES = "links by degrees"


def ru_map(results: Results) -> Figure:
    """Draw the risk-utility map by edges in common: attacks on the people of every graph, then on the links."""
    frame = results.frames["ru_map"]
    return _map(results, frame[frame["analysis"].str.startswith("edges")])


def ru_map_clustering(results: Results) -> Figure:
    """Draw the risk-utility map by the clustering coefficient: attacks on the people of every graph, then on links."""
    frame = results.frames["ru_map"]
    return _map(results, frame[~frame["analysis"].str.startswith("edges")])
