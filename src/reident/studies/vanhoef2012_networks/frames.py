"""From the plan of the study to its sweeps, and from their trials to the frames that figures and pages show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from reident import published
from reident.base import ParameterError
from reident.studies.study import Sweep
from reident.studies.vanhoef2012_networks import ATTACKS, Profile, crawls, summaries
from reident.studies.vanhoef2012_networks import trials as work
from reident.studies.vanhoef2012_networks.graphs import available, graph

__all__ = ["claims", "frames", "sweeps"]

# A coalition needs a network in which friends have friends in common.
_FRIENDS = "communities"
#: Links of a planted node to others: the thesis's two intervals, and one around the mean degree of the attacked graph.
_OUTSIDE = ([10, 20], [20, 60], [4, 8])


def sweeps(plan: Profile, _seed: int) -> dict[str, Sweep]:
    """Return the sweeps: anonymity, releases, passive and active attacks, links."""
    real = available(plan.real)
    most = max(graph(name).n_nodes for name in real or plan.graphs)
    for name in plan.to_all_nodes:
        if min(getattr(plan, name)) > most:
            raise ParameterError(
                f"`{name}` must be at most the people of some network ({most}), got {getattr(plan, name)}"
            )
    return {
        "cost": _costs(plan, real),
        **_releases(plan, real),
        **_probing(plan, real),
        "attack": _attacks(plan, real),
        "passive": _passive(plan, real),
        **_crawls(plan, real),
        **_active(plan),
        "cut": _cuts(plan, real),
        "spectral": _spectral(plan, real),
        "links": _links(plan, real),
    }


def frames(plan: Profile, _seed: int, trials: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the graphs described, the trials of every sweep, and the map."""

    def of(kind: str) -> pd.DataFrame:
        parts = [frame for name, frame in trials.items() if name.startswith(kind)]
        return pd.concat(parts, ignore_index=True)

    named = [*(available(plan.real) or plan.graphs), *plan.probing_graphs]
    return {
        "graphs": summaries.described([*dict.fromkeys(named)]),
        "costs": trials["cost"],
        "probing": of("probing"),
        "releases": of("release"),
        "attacks": trials["attack"],
        "passive": trials["passive"],
        "cliques": trials["clique"],
        "crawls": trials["crawls"],
        "overlaps": trials["overlap"],
        "active": trials["active"],
        "after_anonymity": trials["after-anonymity"],
        "cuts": trials["cut"],
        "spectra": trials["spectral"],
        "links": trials["links"],
        "ru_map": summaries.ru_map(trials["attack"]),
    }


def claims(_plan: Profile, _seed: int, frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the comparison with print."""
    return summaries.comparison(frames)


def _costs(plan: Profile, real: list[str]) -> Sweep:
    names = [*real, *available(["american75"])] if real else [*dict.fromkeys([*plan.graphs, *plan.probing_graphs])]
    settings = [
        {"graph": name, "deletions": deletions, "k": k}
        for name in names
        for deletions in (False, True)
        for k in plan.cost_ks
        if k <= graph(name).n_nodes
    ]
    return {"grid": settings, "trial": work.cost}


def _probing(plan: Profile, real: list[str]) -> dict[str, Sweep]:
    """Return a sweep a real graph, as each has its own number of runs, or one of all generated graphs."""

    def sweep(names: list[str], ks: list[int], repetitions: int) -> Sweep:
        settings = [
            {"graph": name, "scheme": scheme, "k": k, "max_probes": plan.max_probes}
            for name in names
            for scheme in plan.probing
            for k in ks
            if k <= graph(name).n_nodes // 2
        ]
        return {"grid": settings, "trial": work.probing, "repetitions": repetitions}

    if not real:
        return {"probing": sweep(plan.probing_graphs, plan.probing_ks, plan.probing_repetitions)}
    # The thesis takes twenty runs of each, and only the first few k of Bowdoin: it became too slow.
    few = [k for k in plan.probing_ks if k <= 5]
    return {
        f"probing-{name}": sweep([name], few if name == "bowdoin47" else plan.probing_ks, plan.probing_repetitions)
        for name in real
    }


def _releases(plan: Profile, real: list[str]) -> dict[str, Sweep]:
    """Return one sweep of the generated graphs, or one a real graph with the runs and the interval of table 9.2."""

    def sweep(names: list[str], ks: list[int], repetitions: int) -> Sweep:
        return {
            "grid": list(_made(plan, names, plan.methods, ks, "ks")),
            "trial": work.release,
            "repetitions": repetitions,
        }

    if not real:
        return {"release": sweep(plan.graphs, plan.ks, plan.repetitions)}
    table = published("vanhoef2012", "runs").set_index("name")
    return {
        f"release-{name}": sweep([name], list(range(2, 99, int(table["interval"][name]))), int(table["runs"][name]))
        for name in real
    }


def _attacks(plan: Profile, real: list[str]) -> Sweep:
    known: dict[str, Any] = {} if plan.n_seeds is None else {"n_seeds": plan.n_seeds}
    if tuple(plan.attacks) != ATTACKS:
        known["attacks"] = [*plan.attacks]
    settings = [
        {**setting, "known_edges": share, **known}
        for setting in _made(plan, real or plan.graphs, plan.attack_methods, plan.attack_ks, "attack_ks")
        for share in plan.copy_share
    ]
    return {"grid": settings, "trial": work.attacked, "repetitions": plan.attack_repetitions}


def _made(
    plan: Profile, graphs: list[str], methods: list[str], ks: list[int], parameter: str
) -> Iterator[dict[str, Any]]:
    """Yield the settings of the releases, and each original among them; `ks` are those of the parameter."""
    share = 1 if parameter in plan.to_all_nodes else 2
    for name in graphs:
        for method in ["original", *methods]:
            for k in [1] if method == "original" else ks:
                if k <= graph(name).n_nodes // share:
                    swaps = {} if plan.swaps is None or method == "original" else {"swaps": plan.swaps}
                    yield {"graph": name, "method": method, "k": k, **swaps}


def _passive(plan: Profile, real: list[str]) -> Sweep:
    settings = [
        {"graph": name, "known_edges": known_edges, "known_nodes": known_nodes, "n_seeds": n_seeds}
        for name in ([one for one in real if one in ("powergrid", "caltech36")] or plan.attacked)
        for known_edges in (1.0, 0.9, 0.7, 0.5)
        for known_nodes in (1.0, 0.7)
        for n_seeds in (plan.seeds if plan.n_seeds is None else [plan.n_seeds])
        if n_seeds <= graph(name).n_nodes // 4
    ]
    if not settings:
        raise ParameterError(f"`n_seeds` must be at most a quarter of the people of some network, got {plan.n_seeds}")
    return {"grid": settings, "trial": work.passive, "repetitions": plan.repetitions}


def _crawls(plan: Profile, real: list[str]) -> dict[str, Sweep]:
    """Return seeds by cliques (10.3.1), and the experiments of 10.5 on simulated crawls."""
    cliques = [
        {"graph": name, "clique_size": size, "known_edges": share}
        for name in ([one for one in real if one in ("enron", "caltech36", "bowdoin47")] or plan.link_graphs)
        for size in (3, 4, 5, 6)
        for share in (1.0, 0.99, 0.95)
    ]
    matched = min(400, plan.crawl_size // 4)
    twice = [
        {"size": plan.crawl_size, "opened": opened, "own": 0.9, "changed": changed, "n_matched": matched, "theta": 0.3}
        for opened in (0.3, 0.6)
        for changed in (0.02, 0.1, 0.3)
    ]
    members = [
        {"size": 2 * plan.crawl_size, "overlap": 0.15, "known_edges": share, "n_seeds": 150}
        for share in (1.0, 0.7, 0.5)
    ]
    return {
        "clique": {"grid": cliques, "trial": crawls.clique, "repetitions": 4 * plan.repetitions},
        "crawls": {"grid": twice, "trial": crawls.crawled_twice, "repetitions": plan.repetitions},
        "overlap": {"grid": members, "trial": crawls.two_networks, "repetitions": plan.repetitions},
    }


def _active(plan: Profile) -> dict[str, Sweep]:
    """Return the active attack on naive releases (figure 8.2) and on degree-anonymised ones."""
    kinds = [("planted", outside) for outside in _OUTSIDE[:2]]
    kinds += [("planted, H checked", outside) for outside in _OUTSIDE]
    kinds.append(("coalition", [0, 0]))
    settings = [
        {
            "graph": _FRIENDS if kind == "coalition" else plan.active_graph,
            "kind": kind,
            "outside": outside,
            "k": k,
            "anonymity": 1,
            "slack": 0,
        }
        for kind, outside in kinds
        for k in plan.active_ks
    ]
    later = [
        {**settings[-1], "graph": plan.active_graph, "kind": "planted, H checked", "outside": outside, "k": 7,
         "anonymity": anonymity, "slack": slack}
        for outside in _OUTSIDE[:2]
        for anonymity in plan.attack_ks
        for slack in (0, 1, 2)
    ]  # fmt: skip
    repetitions = plan.active_repetitions
    return {
        "active": {"grid": settings, "trial": work.active, "repetitions": repetitions},
        "after-anonymity": {"grid": later, "trial": work.active, "repetitions": max(2, repetitions // 2)},
    }


def _cuts(plan: Profile, real: list[str]) -> Sweep:
    """Return the cut-based attack beside the walk-based one with as many planted nodes."""
    names = [plan.active_graph, *([one for one in real if one in ("powergrid", "caltech36")] or [_FRIENDS])]
    settings = [
        {"graph": name, "kind": kind, "n_targets": b}
        for name in names
        for kind in ("cut", "walk")
        for b in (1, 2, 3, 4)
    ]
    return {"grid": settings, "trial": work.cut, "repetitions": plan.active_repetitions}


def _spectral(plan: Profile, real: list[str]) -> Sweep:
    """Return the seedless attacks by hubs and by spectra; graphs for which the matrices are small."""
    names = [one for one in real if one in ("enron", "caltech36")] or [plan.graphs[0], plan.link_graphs[0]]
    methods = [method for method in plan.methods if method in ("supergraph", "relaxed", "simultaneous")]
    settings = [
        {**setting, "known_edges": 0.9}
        for name in dict.fromkeys(names)
        for setting in _made(plan, [name], methods, [k for k in plan.attack_ks if k >= 5], "attack_ks")
    ]
    return {"grid": settings, "trial": work.spectral, "repetitions": max(1, plan.repetitions // 2)}


def _links(plan: Profile, real: list[str]) -> Sweep:
    settings = [
        {"graph": name, "method": method, "k": k, "score": "cosine", "known_edges": 0.7}
        for name in ([one for one in real if one in ("caltech36", "bowdoin47")] or plan.link_graphs)
        for method in plan.methods
        for k in plan.link_ks
    ]
    return {"grid": settings, "trial": work.links, "repetitions": plan.repetitions}
