"""The most useful release of a network that `check` would let pass: every attack of the judge meets each candidate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from reident._old_sweep._progress import Progress
from reident.base import DataError, ParameterError
from reident.methods import find
from reident.methods.forms import release
from reident.methods.release import Release
from reident.networks.graph import Network, reordered
from reident.networks.utility import edge_overlap
from reident.workbench.dataset import Dataset
from reident.workbench.evaluate import RiskReport, evaluate
from reident.workbench.judging import ROW, in_all_draws, step_text, told_of
from reident.workbench.making import Step
from reident.workbench.map_plan import Plan
from reident.workbench.microdata import persons_of
from reident.workbench.searching import Search

__all__ = ["MOST_NODES", "search_network"]

#: Nodes beyond which no release of a network is judged here: each takes minutes.
MOST_NODES = 5000


def search_network(
    plan: Plan, *, limit: float, tolerate: float, draws: int, seed: int, progress: bool = False
) -> Search | None:
    """Judge the releases of a network's map, those that keep most edges first, until one passes in all its draws.

    As `search_release` does for records; other names alone are judged first. ``kept`` is the share of the edges of
    either network that both have, in the first draw. None beyond `MOST_NODES`.
    """
    if plan.data.network.n_nodes > MOST_NODES:
        return None
    judge = _Judge(plan, limit, tolerate, seed)
    steps = [Step.of(find("naive"), {})]
    steps += [Step.of(find(one["method"]), one["options"]) for one in plan.settings[1:] if one["method"] != "naive"]
    kept = np.array([judge.kept(step) for step in steps])
    rows: list[dict[str, Any]] = []
    found: tuple[Step, Release] | None = None
    with Progress("network", len(steps), unit="releases", enabled=progress) as bar:
        for place in np.argsort(-kept, kind="stable"):
            bar.advance()
            bar.partial(0.0, {"judging": step_text(steps[place])})
            row, first = judge.row(steps[place], draws)
            rows.append(row | {"kept": kept[place]})
            if first is not None:
                found = steps[place], first
                break
    told = pd.DataFrame(rows, columns=ROW)
    before = judge.panel(judge.as_it_is())
    search = Search(told, before, judge.persons, [], len(steps), draws)
    if found is None:
        return search
    step, made = found
    after = judge.panel(made)
    return replace(search, chain=[told_of(step)], after=after, released=made.table, advised=rows[-1])


class _Judge:
    """What releases of one network are judged by."""

    def __init__(self, plan: Plan, limit: float, tolerate: float, seed: int) -> None:
        self.data, self.limit, self.tolerate, self.seed = plan.data, limit, tolerate, seed
        self.persons, self.dataset = persons_of(plan.data.network), Dataset(plan.data.network)

    def made(self, step: Step, draw: int) -> Release:
        """Draw a release; the rows of its table name whose node each is."""
        made = release(self.data, step.entry.name, step.settings, rng=np.random.default_rng([self.seed, draw]))
        rows = self.dataset.names.get_indexer(made.table.index)
        return replace(made, table=pd.DataFrame(index=pd.Index(rows)))

    def kept(self, step: Step) -> float:
        """Return the share of edges in common; 0 where the release cannot be made."""
        try:
            made = self.made(step, 0)
        except (DataError, ParameterError):
            return 0.0
        assert isinstance(made.network, Network)
        names = list(self.dataset.names[made.table.index])
        return edge_overlap(self.data.network, reordered(made.network, np.arange(len(names)), names))

    def as_it_is(self) -> Release:
        """Return the network as a release."""
        network = self.data.network
        return Release("network", pd.DataFrame(index=pd.RangeIndex(network.n_nodes)), "original", {}, network.n_nodes,
                       network=network)  # fmt: skip

    def panel(self, released: Release, *, enough: float | None = None) -> RiskReport:
        """Judge a release."""
        report = evaluate(released, self.dataset, limit=self.limit, seed=self.seed, enough=enough, quick=True)
        return replace(report, persons=report.persons.set_axis(self.dataset.names[report.persons.index]))

    def row(self, step: Step, draws: int) -> tuple[dict[str, Any], Release | None]:
        """Return what was found of a candidate, and its first draw if all passed."""
        told: dict[str, Any] = {"chain": step_text(step), "withheld": "", "reason": ""}

        def judged(made: Release, _: int) -> RiskReport:
            return self.panel(made, enough=self.tolerate)

        row, first = in_all_draws(lambda draw: self.made(step, draw), judged, draws=draws, tolerate=self.tolerate)
        return told | row, first[0] if first is not None and row["passed"] else None
