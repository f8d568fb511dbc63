"""Study vanhoef2012_networks: networks anonymised and attacked (M. Vanhoef, Privacy in Databases, 2012, chapters 7-10).

The thesis used graphs that cannot be passed on (Facebook100) or found (DBLP, LiveJournal). By default the study runs
on generated graphs and one that networkx carries; profile `full` adds the thesis's graphs where the user has them
(REIDENT_DATA). Choices of this study:

- *Limits.* The literal probing schemes may need any number of probes; they run under a limit of PROBES, not of time,
so that
  a run gives the same rows on every machine. Where a scheme reaches it, the row says `finished = False`.
- *Attacker.* The passive attacker has a copy of the network that keeps each edge with the stated probability, and knows
  50 people in the release (at most a tenth), or none.
- *Repetitions.* Every random step is repeated; figures show mean and spread, as the thesis asks (9.6.2).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from reident._validation import check_choice
from reident.experiments import grid, study
from reident.experiments.study import Results
from reident.experiments.vanhoef2012_networks import summaries, trials
from reident.experiments.vanhoef2012_networks.graphs import REAL, available, graph, public_graphs
from reident.experiments.vanhoef2012_networks.trials import METHODS, N_SEEDS

__all__ = ["METHODS", "N_SEEDS", "PROFILES", "Profile", "available", "graph", "public_graphs", "run"]

_STEM = "vanhoef2012_networks"


@dataclass(frozen=True)
class Profile:
    """How much of the grids a profile covers."""

    graphs: list[str]
    ks: list[int]
    cost_ks: list[int]
    probing_graphs: list[str]
    probing_ks: list[int]
    max_probes: int
    repetitions: int
    probing_repetitions: int
    known_edges: list[float]
    methods: list[str]
    attacked: list[str]
    seeds: list[int]
    active_graph: str
    active_ks: list[int]
    active_repetitions: int
    link_graphs: list[str]
    link_ks: list[int]
    real: list[str] = field(default_factory=list)


_EMBEDDED = ["les_miserables", "power_law_cluster", "communities", "chung_lu", "small_world"]
# A coalition needs a network in which friends have friends in common.
_FRIENDS = "communities"
_QUICK = ["supergraph", "relaxed", "simultaneous", "direct", "simultaneous, literal swaps"]

PROFILES = {
    "smoke": Profile(
        graphs=["les_miserables"],
        ks=[5],
        cost_ks=[2, 5],
        probing_graphs=["les_miserables"],
        probing_ks=[2, 5],
        max_probes=200,
        repetitions=2,
        probing_repetitions=2,
        known_edges=[1.0],
        methods=["direct", "supergraph"],
        attacked=["small_world"],
        seeds=[20],
        active_graph="preferential_attachment_1000",
        active_ks=[4, 7],
        active_repetitions=2,
        link_graphs=["communities"],
        link_ks=[10],
    ),
    "quick": Profile(
        graphs=["les_miserables", "power_law_cluster", "communities"],
        ks=[2, 10, 50],
        cost_ks=[2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 98],
        probing_graphs=["les_miserables", "power_law_cluster", "small_world"],
        probing_ks=[2, 5, 10, 20, 30],
        max_probes=1000,
        repetitions=3,
        probing_repetitions=5,
        known_edges=[0.9],
        methods=_QUICK,
        attacked=["power_law_cluster", "chung_lu"],
        seeds=[5, 15, 50],
        active_graph="preferential_attachment_10000",
        active_ks=[3, 4, 5, 6, 7, 8],
        active_repetitions=30,
        link_graphs=["communities", "power_law_cluster"],
        link_ks=[10, 50],
    ),
    "full": Profile(
        graphs=_EMBEDDED,
        ks=[2, 5, 10, 20, 35, 50, 75, 98],
        cost_ks=list(range(2, 99, 3)),
        probing_graphs=_EMBEDDED,
        probing_ks=list(range(2, 99, 8)),
        max_probes=20_000,
        repetitions=20,
        probing_repetitions=20,
        known_edges=[1.0, 0.9, 0.7],
        methods=list(METHODS),
        attacked=["power_law_cluster", "communities", "chung_lu", "small_world"],
        seeds=[2, 5, 15, 50, 100],
        active_graph="preferential_attachment_100000",
        active_ks=[3, 4, 5, 6, 7, 8, 9, 10],
        active_repetitions=200,
        link_graphs=["communities", "power_law_cluster"],
        link_ks=[10, 50, 98],
        real=list(REAL),
    ),
}


def run(
    profile: str = "quick",
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    seed: int = 2012,
    folder: str | Path | None = None,
    progress: bool = True,
) -> Results:
    """Run the study.

    Parameters
    ----------
    profile : {"smoke", "quick", "full"}
        How much of the grids: `PROFILES`. Full adds the thesis's graphs that lie in the folder REIDENT_DATA.
    jobs, scheduler, progress
        As for `reident.experiments.grid.run`.
    seed : int
        Root of the trials' streams.
    folder : path, optional
        Where finished trials are kept and the results are written; an interrupted run goes on there.

    Returns
    -------
    Results
        Frames: `graphs`, `costs`, `probing`, `releases`, `ru_map`, `passive`, `active`, `after_anonymity`, `links`.
    """
    plan = PROFILES[check_choice(profile, "profile", list(PROFILES))]
    real = available(plan.real)
    engine = study.engine(seed=seed, folder=folder, jobs=jobs, scheduler=scheduler, progress=progress)
    graphs = [*plan.graphs, *real]
    frames = {
        "graphs": summaries.described([*dict.fromkeys([*graphs, *plan.probing_graphs])]),
        "costs": _costs(plan, real, engine),
        "probing": _probing(plan, real, engine),
        "releases": _releases(plan, graphs, engine),
        "passive": _passive(plan, real, engine),
        **_active(plan, engine),
        "links": _links(plan, real, engine),
    }
    frames["ru_map"] = summaries.ru_map(frames["releases"])
    return Results(_STEM, profile, seed, frames, summaries.comparison(frames)).kept(folder)


def _costs(plan: Profile, real: list[str], engine: dict[str, Any]) -> pd.DataFrame:
    names = [*dict.fromkeys([*plan.graphs, *plan.probing_graphs, *real])]
    settings = [
        {"graph": name, "deletions": deletions, "k": k}
        for name in names
        for deletions in (False, True)
        for k in plan.cost_ks
        if k <= graph(name).n_nodes
    ]
    return grid.run(settings, trials.cost, stem=f"{_STEM}-cost", **engine)


def _probing(plan: Profile, real: list[str], engine: dict[str, Any]) -> pd.DataFrame:
    settings = [
        {"graph": name, "scheme": scheme, "k": k, "max_probes": plan.max_probes}
        for name in [*plan.probing_graphs, *real]
        for scheme in ("1", "2", "3", "4", "batch")
        for k in plan.probing_ks
        if k <= graph(name).n_nodes // 2
    ]
    return grid.run(settings, trials.probing, repetitions=plan.probing_repetitions, stem=f"{_STEM}-probing", **engine)


def _releases(plan: Profile, graphs: list[str], engine: dict[str, Any]) -> pd.DataFrame:
    settings = [
        {"graph": name, "method": method, "k": k, "known_edges": known_edges}
        for name in graphs
        for known_edges in plan.known_edges
        for method in ["original", *plan.methods]
        for k in ([1] if method == "original" else plan.ks)
        if k <= graph(name).n_nodes // 2
    ]
    return grid.run(settings, trials.release, repetitions=plan.repetitions, stem=f"{_STEM}-release", **engine)


def _passive(plan: Profile, real: list[str], engine: dict[str, Any]) -> pd.DataFrame:
    settings = [
        {"graph": name, "known_edges": known_edges, "known_nodes": known_nodes, "n_seeds": n_seeds}
        for name in [*plan.attacked, *real]
        for known_edges in (1.0, 0.9, 0.7, 0.5)
        for known_nodes in (1.0, 0.7)
        for n_seeds in plan.seeds
        if n_seeds <= graph(name).n_nodes // 4
    ]
    return grid.run(settings, trials.passive, repetitions=plan.repetitions, stem=f"{_STEM}-passive", **engine)


def _active(plan: Profile, engine: dict[str, Any]) -> dict[str, pd.DataFrame]:
    """Run the active attack on naive releases (figure 8.2) and on degree-anonymised ones."""
    kinds = [(kind, outside) for kind in ("planted", "planted, H checked") for outside in ([10, 20], [20, 60])]
    kinds.append(("coalition", [0, 0]))
    settings = [
        {
            "graph": _FRIENDS if kind == "coalition" else plan.active_graph,
            "kind": kind,
            "outside": outside,
            "k": k,
            "anonymity": 1,
        }
        for kind, outside in kinds
        for k in plan.active_ks
    ]
    later = [
        {"graph": plan.active_graph, "kind": "planted, H checked", "outside": outside, "k": 7, "anonymity": anonymity}
        for outside in ([10, 20], [20, 60])
        for anonymity in plan.ks
    ]
    repetitions = plan.active_repetitions
    return {
        "active": grid.run(settings, trials.active, repetitions=repetitions, stem=f"{_STEM}-active", **engine),
        "after_anonymity": grid.run(
            later, trials.active, repetitions=max(2, repetitions // 4), stem=f"{_STEM}-after-anonymity", **engine
        ),
    }


def _links(plan: Profile, real: list[str], engine: dict[str, Any]) -> pd.DataFrame:
    other = {"caltech36", "bowdoin47"}
    settings = [
        {"graph": name, "method": method, "k": k, "score": "cosine", "known_edges": 0.7}
        for name in [*plan.link_graphs, *([n for n in real if n in other] if other <= set(real) else [])]
        for method in plan.methods
        for k in plan.link_ks
    ]
    return grid.run(settings, trials.links, repetitions=plan.repetitions, stem=f"{_STEM}-links", **engine)
