"""The most useful release of a network that `check` would let pass: every attack of the judge meets each candidate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from reident.methods import find
from reident.methods.forms import release
from reident.methods.release import Release
from reident.networks.graph import Network, network_from_edges
from reident.sweep._progress import Progress
from reident.workbench.judging import ROW, step_text, told_of
from reident.workbench.making import Step
from reident.workbench.map_plan import Plan
from reident.workbench.microdata import persons_of
from reident.workbench.panel import Panel, knowledge_of, panel, read_release
from reident.workbench.searching import Search

__all__ = ["MOST_NODES", "search_network"]

#: Nodes beyond which no release of a network is judged here: each takes minutes.
MOST_NODES = 5000


def search_network(
    plan: Plan, *, limit: float, tolerate: float, draws: int, seed: int, progress: bool = False
) -> Search | None:
    """Judge the releases of a network's map, those that keep most edges first, until one passes in all its draws.

    As `search_release` does for records: with the true pairs known to the judge, and without. ``kept`` is the share of
    the edges of either network that both have. None beyond `MOST_NODES`.
    """
    network = plan.data.network
    if network.n_nodes > MOST_NODES:
        return None
    judge = _Judge(plan, limit, tolerate, seed)
    steps = [Step(find(one["method"]), one["options"]) for one in plan.settings[1:]]
    first = [judge.made(step, 0) for step in steps]
    kept = [_kept(network, one) for one in first]
    rows: list[dict[str, Any]] = []
    found: tuple[Step, Release] | None = None
    with Progress("network", len(steps), unit="releases", enabled=progress) as bar:
        for place in np.argsort(-np.array(kept), kind="stable"):
            bar.advance()
            bar.partial(0.0, {"judging": step_text(steps[place])})
            rows.append(judge.row(steps[place], first[place], draws) | {"kept": kept[place]})
            if rows[-1]["passed"]:
                found = steps[place], first[place]
                break
    told = pd.DataFrame(rows, columns=ROW)
    before = judge.panel(read_release(network, "data"), told=True)
    shared: dict[str, Any] = {"price_before": None, "price_after": None, "n_chains": len(steps), "draws": draws}
    original = persons_of(network)
    if found is None:
        return Search(told, [], [], before, None, None, {}, {}, original, [], **shared)
    step, made = found
    after = judge.panel(made, told=True)
    return Search(told, [told_of(step)], [], before, after, made.table, {}, rows[-1], original, [], **shared)


class _Judge:
    """What releases of one network are judged by."""

    def __init__(self, plan: Plan, limit: float, tolerate: float, seed: int) -> None:
        self.data, self.limit, self.tolerate, self.seed = plan.data, limit, tolerate, seed
        self.persons = persons_of(plan.data.network)

    def made(self, step: Step, draw: int) -> Release:
        """Draw a release."""
        made = release(self.data, step.entry.name, step.settings, rng=np.random.default_rng([self.seed, draw]))
        return replace(made, table=made.table[[]])

    def panel(self, released: Release, *, told: bool, enough: float | None = None, draw: int = 0) -> Panel:
        """Judge a release; not `told`, its nodes are renamed and nobody says who is who."""
        if not told:
            assert isinstance(released.network, Network)
            n, (u, v) = released.network.n_nodes, released.network.edges()
            renamed = np.random.default_rng([self.seed, draw, 1]).permutation(n)
            network = network_from_edges(renamed[u], renamed[v], n)
            released = replace(released, table=pd.DataFrame(index=pd.RangeIndex(n)), network=network)
        known = knowledge_of(self.persons, released, network=self.data.network, told=told)
        return panel(released, known, limit=self.limit, seed=self.seed, enough=enough)

    def row(self, step: Step, first: Release, draws: int) -> dict[str, Any]:
        """Return what was found of a candidate: its worst draw, up to the one that refuses it."""
        worst: Panel | None = None
        for draw in range(draws):
            released = first if draw == 0 else self.made(step, draw)
            for told in (True, False):
                found = self.panel(released, told=told, enough=self.tolerate, draw=draw)
                worst = found if worst is None or found.share_above_limit > worst.share_above_limit else worst
            if worst is not None and worst.share_above_limit > self.tolerate:
                break
        assert worst is not None
        share, about = worst.share_above_limit, worst.attacks[worst.attacks["what"] != "link"]
        return {
            "chain": step_text(step),
            "withheld": "",
            "share_above_limit": share,
            "n_above": round(share * len(worst.persons)),
            "worst": worst.worst,
            "attack": str(about.loc[about["share_above_limit"].idxmax(), "name"]) if share > 0 else "",
            "passed": share <= self.tolerate,
            "reason": "",
        }


def _kept(original: Network, released: Release) -> float:
    """Return the share of the edges of either network that both have; rows of the release tell whose node each is."""
    one, other = _edges(original, list(original.nodes)), _edges(released.network, list(released.table.index))
    return len(one & other) / max(1, len(one | other))


def _edges(network: Any, names: list[Any]) -> set[frozenset[Any]]:
    return {frozenset((names[u], names[v])) for u, v in zip(*(ends.tolist() for ends in network.edges()), strict=True)}
