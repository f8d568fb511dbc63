"""Search the most useful release of a network that `check` would pass: every attack meets each candidate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from reident.base import DataError, ParameterError
from reident.methods import find
from reident.methods.forms import release
from reident.methods.release import Release
from reident.networks.graph import Network, reordered
from reident.networks.utility import edge_overlap
from reident.workbench.candidates import ROW, in_all_draws, recipe_step, step_text
from reident.workbench.dataset import Dataset
from reident.workbench.evaluate import RiskReport, evaluate
from reident.workbench.making import Step
from reident.workbench.search import Search

__all__ = ["MOST_NODES", "search_network"]

#: Nodes beyond which no release of a network is judged here: each takes minutes.
MOST_NODES = 5000


def search_network(
    network: Network, settings: Sequence[Mapping[str, Any]], *, limit: float, tolerate: float, draws: int, seed: int,
    progress: bool | Callable[[int, int], None] = False,
) -> Search | None:  # fmt: skip
    """Judge releases of a network, those that keep most edges first, until one passes in all its draws.

    As `search_release` does for records; new names alone are judged first. ``kept`` is the share of the edges of
    either network that both have, in the first draw. None beyond `MOST_NODES`.
    """
    if network.n_nodes > MOST_NODES:
        return None
    bench = NetworkBench(network, limit, tolerate, seed)
    steps = [Step.of(find("naive"), {})]
    steps += [Step.of(find(spec["method"]), spec["options"]) for spec in settings if spec["method"] != "naive"]
    shares_kept = np.array([bench.kept(step) for step in steps])
    rows: list[dict[str, Any]] = []
    search = Search(pd.DataFrame(columns=ROW), bench.evaluate(bench.original()), bench.persons, [], len(steps), draws)
    for place in tqdm(
        np.argsort(-shares_kept, kind="stable"), desc="network", unit="release", disable=progress is not True
    ):
        step = steps[place]
        row, first = in_all_draws(
            lambda draw, step=step: bench.release(step, draw),  # type: ignore[misc]
            lambda release: bench.evaluate(release, stop_above=tolerate), draws, tolerate,
        )  # fmt: skip
        if callable(progress):
            progress(len(rows), len(steps))
        rows.append({"chain": step_text(step), "withheld": "", "kept": shares_kept[place]} | row)
        if first is not None and row["passed"]:
            after = bench.evaluate(first[0])
            search = replace(search, chain=[recipe_step(step)], after=after, released=first[0].table, advised=rows[-1])
            break
    return replace(search, candidates=pd.DataFrame(rows, columns=ROW))


class NetworkBench:
    """A network and the rule by which its releases are evaluated."""

    def __init__(self, network: Network, limit: float, tolerate: float, seed: int) -> None:
        self.network, self.limit, self.tolerate, self.seed = network, limit, tolerate, seed
        self.dataset = Dataset(network)
        self.records = self.dataset.records()
        self.persons = self.records.table

    def release(self, step: Step, draw: int) -> Release:
        """Draw a release; the rows of its table are the nodes of the original."""
        draw_made = release(self.records, step.entry.name, step.settings, rng=np.random.default_rng([self.seed, draw]))
        rows = self.dataset.names.get_indexer(draw_made.table.index)
        return replace(draw_made, table=pd.DataFrame(index=pd.Index(rows)))

    def kept(self, step: Step) -> float:
        """Return the share of edges in common; 0 where the release cannot be made."""
        try:
            draw_made = self.release(step, 0)
        except (DataError, ParameterError):
            return 0.0
        assert isinstance(draw_made.network, Network)
        names = list(self.dataset.names[draw_made.table.index])
        return edge_overlap(self.network, reordered(draw_made.network, np.arange(len(names)), names))

    def original(self) -> Release:
        """Return the network as a release."""
        n = self.network.n_nodes
        return Release("network", pd.DataFrame(index=pd.RangeIndex(n)), "original", {}, n, network=self.network)

    def evaluate(self, released: Release, *, stop_above: float | None = None) -> RiskReport:
        """Evaluate a release; persons have the names of their nodes."""
        report = evaluate(released, self.dataset, limit=self.limit, seed=self.seed, stop_above=stop_above, quick=True)
        return replace(report, persons=report.persons.set_axis(self.dataset.names[report.persons.index]))
