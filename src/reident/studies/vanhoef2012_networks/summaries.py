"""Summaries of the study vanhoef2012_networks: the graphs, the risk-utility map, and the comparison with print."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from reident import anonymise_degrees, network_properties, published, ru_frame
from reident.data.papers import claims
from reident.rumap import anchor_both
from reident.studies.comparison import DRAWN, OWN, PUBLIC, Reading, compare, exact, held
from reident.studies.vanhoef2012_networks import REAL, chapter9
from reident.studies.vanhoef2012_networks.graphs import STAND_INS, graph, public_graphs

__all__ = ["comparison", "described", "ru_map"]


def described(names: list[str]) -> pd.DataFrame:
    """Return the properties of the study's graphs, one row a graph."""
    return pd.DataFrame([{"graph": name, **network_properties(graph(name)).to_dict()} for name in names])


def ru_map(attacks: pd.DataFrame) -> pd.DataFrame:
    """Return the map of all releases: each graph under three attacks, for two analyses.

    Only the attacker's copy with the fewest edges counts: the weakest attacker of the study.
    """
    weakest = attacks[attacks["known_edges"] == attacks["known_edges"].min()]
    parts = []
    for name, trials in weakest.groupby("graph", sort=False):
        title = str(name) if name in (*REAL, "les_miserables") else f"{name} (generated)"
        for risk, attack in (
            ("recall", f"{title}, some people known"),
            ("recall_seedless", f"{title}, nobody known"),
            ("degree_risk", f"{title}, only degrees known"),
            ("links_true", f"{title}, links by degrees"),
        ):
            if trials[risk].isna().all():
                continue  # An attack that was not asked for.
            for utility, analysis in (
                ("edge_overlap", "edges in common (Jaccard)"),
                ("clustering_kept", "1 - relative error of clustering"),
            ):
                parts.append(_panel(trials, risk, utility, attack, analysis))
    return pd.concat(parts, ignore_index=True)


def _panel(trials: pd.DataFrame, risk: str, utility: str, attack: str, analysis: str) -> pd.DataFrame:
    untouched = trials["method"] == "original"
    releases = trials[~untouched]
    frame = ru_frame(
        releases, method="method", parameter="k", risk=risk, utility=utility, attack=attack, analysis=analysis
    )
    at = trials.loc[untouched]
    return anchor_both(frame, risk=float(at[risk].mean()), utility=float(at[utility].mean()))


def comparison(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Compare table 9.1 with the public files, and the thesis's statements about its figures with ours."""
    return compare([*_table_9_1(), *_example(), *_statements(frames)], claims("vanhoef2012_networks"))


def _example() -> list[Reading]:
    """Compare the printed 2-anonymous sequence of 9.5.2 with the optimum, and with the optimum of even sum."""
    degrees = np.array([3, 3, 3, 2, 2, 1])
    cost, even = (int(np.abs(anonymise_degrees(degrees, 2, even=e) - degrees).sum()) for e in (False, True))
    note = "the cheapest sequence has an odd sum, hence no graph; the thesis prints one of even sum"
    return [
        exact("9.5.2, cost of the 2-anonymous sequence", 2, cost, note),
        exact("9.5.2, cost of the 2-anonymous sequence with an even sum", 2, even),
    ]


def _table_9_1() -> list[Reading]:
    held = public_graphs().set_index("name")
    notes = {
        "enron": "another cleaning of the same mail: the thesis's dump is not to be had",
        "caltech36": "the thesis counts one node less",
        "bowdoin47": "the thesis counts one node less",
        "powergrid": "the thesis's own figure 9.4 says 4941",
    }
    rows = []
    for row in published("vanhoef2012", "graphs").itertuples():
        if row.name in held.index:
            for what in ("nodes", "edges"):
                print_, ours = int(getattr(row, what)), int(held.loc[row.name, what])
                note = notes.get(row.name, "") if print_ != ours else ""
                got = PUBLIC if row.name in STAND_INS else OWN
                rows.append(exact(f"table 9.1, {row.name}, {what}", print_, ours, note, got))
    return rows


def _statements(frames: Mapping[str, pd.DataFrame]) -> list[Reading]:
    """Return what the thesis says of the active attack, and of chapter 9 on its own graphs."""
    planted = frames["active"].query("kind == 'planted' and k == 7")["success"]
    checked = frames["active"].query("kind == 'planted, H checked' and k == 7")["success"]
    naive = frames["active"].query("kind != 'coalition' and k >= 7")
    ratio = (naive["n_tree"] / naive["n_first"].clip(lower=1)).groupby(naive["k"]).median()
    rows = [
        (
            "figure 8.2: k = 7 succeeds with high probability (at least .8)",
            planted.mean() >= 0.8,
            f"{planted.mean():.3f}; {checked.mean():.3f} where the attacker redraws H until it is rigid",
        ),
        (
            "8.6: the tree is not much larger than the number of nodes with x_1's degree (3 times at most)",
            ratio.max() <= 3,
            "median ratio by k: " + ", ".join(f"{k}: {value:.2f}" for k, value in ratio.items()),
        ),
    ]
    rows += _cut_rows(frames["cuts"])
    return [*(held(*row) for row in rows), *chapter9.statements(frames), *_experiments(frames)]


def _experiments(frames: Mapping[str, pd.DataFrame]) -> list[Reading]:
    """Return the numbers of 10.5 beside simulated crawls: no such network is at hand, so none is judged.

    The reading is that of one setting, the same for all: .6 of the pages opened and .1 of the links changed, and .7 of
    the links kept. The others are told.
    """
    crawls, overlaps = frames["crawls"], frames["overlaps"]
    twice, members = (["opened", "changed"], (0.6, 0.1)), (["known_edges"], 0.7)
    rows = [
        ("10.5.1: share of the nodes re-identified", 0.647, crawls.assign(named=1 - crawls["left"]), "named", *twice),
        ("10.5.1: share of them right", 0.952, crawls, "accuracy", *twice),
        ("3.1.4: of the 30 nodes of largest in-degree in both crawls", 27, crawls, "top_30", *twice),
        ("10.5.2: share of the people in both re-identified", 0.308, overlaps, "right", *members),
        ("10.5.2: share of them mistaken", 0.121, overlaps, "wrong", *members),
        ("10.5.2: share of them not identified", 0.57, overlaps, "left", *members),
        ("10.5.2: share of the mistaken taken for a neighbour", 0.41, overlaps, "beside", *members),
    ]
    return [
        _beside(item, print_, frame.groupby(by)[measure].mean(), at) for item, print_, frame, measure, by, at in rows
    ]


def _beside(item: str, published_: float, means: pd.Series, at: object) -> Reading:
    """Return the mean at one setting, with all settings in the note."""
    told = {"opened": "pages opened", "changed": "links changed", "known_edges": "links kept"}
    settings = [np.atleast_1d(one) for one in means.index]
    names = [", ".join(f"{told[b]} {v:.0%}" for b, v in zip(means.index.names, one, strict=True)) for one in settings]
    values = "; ".join(f"{name}: {value:.3g}" for name, value in zip(names, means, strict=True))
    return exact(item, published_, float(means.loc[at]), f"simulated; {values}", DRAWN)


def _cut_rows(cuts: pd.DataFrame) -> list[tuple[str, bool, str]]:
    """Return what 8.4 says of the cut-based attack beside the walk-based one."""
    by_kind = cuts.groupby("kind")
    seen, clustering = by_kind["owner_sees"].mean(), by_kind["auc_clustering"].mean()
    rates = cuts.groupby(["kind", "k"])["success"].mean()
    least = {kind: int(min(rates[kind].index[rates[kind] >= 0.8], default=99)) for kind in ("cut", "walk")}
    groups = cuts[cuts["kind"] == "cut"].groupby("graph")["n_groups"].median()
    links = by_kind["n_links"].mean()
    return [
        (
            "8.4: the cut-based attack is easier to detect than the walk-based one",
            seen["cut"] > seen["walk"] and seen["cut"] >= 0.5,
            f"the planted group hangs by few edges in {seen['cut']:.0%} of the attacks ({seen['walk']:.0%} by a walk), "
            f"one of {', '.join(f'{n:g} in {name}' for name, n in groups.items())}; AUC of clustering "
            f"{clustering['cut']:.2f} against {clustering['walk']:.2f}",
        ),
        (
            "8.4: the cut-based attack needs fewer planted nodes",
            least["cut"] < least["walk"],
            f"fewest of 6, 9, 12, 15 at which .8 succeed: {least['cut']} against {least['walk']}; with "
            f"{links['cut']:.0f} links to others against {links['walk']:.0f}",
        ),
    ]
