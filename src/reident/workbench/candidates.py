"""Candidates of a search: chains of steps, evaluated in all their draws, with the share of each column kept."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError, ParameterError
from reident.methods import Entry
from reident.methods.forms import FORMS, read_public
from reident.methods.registry import register
from reident.methods.release import LAT, LON, Release
from reident.networks.graph import reordered
from reident.networks.utility import edge_overlap
from reident.workbench.check.checking import QUICK, check
from reident.workbench.dataset import Dataset
from reident.workbench.evaluate import RiskReport, as_attacked, evaluate, knowledge_of
from reident.workbench.finishing import column_loss
from reident.workbench.knowledge import PLACE, KnowledgePrice, group_notes, population_of, price
from reident.workbench.making import Step, make
from reident.workbench.microdata import digest_of
from reident.workbench.pipeline import as_release
from reident.workbench.protecting import released_columns
from reident.workbench.roles import person_notes

#: Records beyond which distances are not released here, and on which losses of places are measured.
_MOST_DISTANCES, _SAMPLE = 2000, 500
#: The name of relations among the columns known.
RELATIONS = "relations"
#: The columns of the table of candidates.
ROW = ["chain", "withheld", "kept", "share_above_limit", "n_above", "worst", "attack", "passed", "reason"]


@dataclass(frozen=True, eq=False)
class Part:
    """One step, the columns that its slot is about, and the shares of each column and of the records that it keeps.

    ``cells``: a hash of the release of a step that draws nothing, else empty.
    """

    step: Step
    columns: tuple[str, ...]
    kept: Mapping[str, float]
    records: float
    cells: str
    reason: str


#: The parts of a release; columns of a slot without one are withheld.
Chain = tuple[Part, ...]


@dataclass(frozen=True, eq=False)
class Evaluator:
    """The data and the rule by which chains are evaluated.

    ``others``: columns released as they are; ``draws``: releases of a chain that draws, each of which must pass;
    ``always``: quasi-identifiers that no step is about; ``scale``: records of the file for each record here;
    ``withheld``: columns of the file that are not in the data set, since no release has them; ``made``: first draws of
    single steps that were tried and are not evaluated yet.
    """

    dataset: Dataset
    others: Sequence[str] = ()
    limit: float = 0.25
    tolerate: float = 0.0
    missing: str = "label"
    draws: int = 5
    seed: int = 0
    always: frozenset[str] = frozenset()
    scale: float = 1.0
    withheld: tuple[str, ...] = ()
    made: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Return what workers get: the releases made stay here."""
        return {**self.__dict__, "made": {}}

    @property
    def known(self) -> list[str]:
        """The columns that the intruder knows."""
        return [name for name in self.protected if name not in (PLACE, RELATIONS)]

    @property
    def records(self) -> pd.DataFrame:
        """The records that are judged, or the nodes of a network, under the names that a report gives them."""
        return self.dataset.table.set_axis(self.dataset.names)

    @property
    def is_network(self) -> bool:
        """Whether relations alone are released: each step is a candidate, which keeps the edges in common."""
        return self.dataset.named_network is not None

    @property
    def protected(self) -> list[str]:
        """The columns that an intruder may know, the place among them; of a network the relations."""
        if self.is_network:
            return [RELATIONS]
        return list(dict.fromkeys([*self.withheld, *self.dataset.quasi, *([PLACE] if self.dataset.has_places else [])]))

    def digest(self) -> str:
        """Return a hash of all that an evaluation depends on beyond the chain: data, roles and rule."""
        data = self.dataset
        rule = [
            data.schema.listed(), data.epsilon_quasi, data.guarded, data.intruder, list(self.others), self.limit,
            self.tolerate, self.missing, self.draws, self.seed, sorted(self.always),
            self.withheld,
        ]  # fmt: skip
        tables = {f"hierarchy of {name}": tree.to_frame() for name, tree in data.hierarchies.items()}
        if self.is_network:
            tables["edges"] = pd.DataFrame(np.transpose(data.named_network.edges()))
        return digest_of(rule, {**read_public(data.public), **tables, "records": data.table})

    def measure(self, step: Step) -> dict[str, Any]:
        """Try a step by itself; return the shares of each column and of the records that it keeps, see `Part`."""
        row: dict[str, Any] = {"kept": {}, "records": 1.0, "cells": "", "reason": ""}
        if np.isfinite(FORMS[step.entry.form].most_records) and len(self.dataset) > _MOST_DISTANCES:
            return row | {"reason": "distances between so many records are not tried"}
        columns = self.columns(step)
        try:
            result = self.make([step], columns, 0)
        except (DataError, ParameterError) as error:
            return row | {"reason": str(error)}
        kept = {name: 1 - self.loss(result, name) for name in columns}
        if "rng" not in step.entry.signature and result.matrix_km is None and result.network is None:
            row["cells"] = digest_of(None, {"": result.table})
        return row | {"kept": kept, "records": len(result.table) / len(self.dataset)}

    def columns(self, step: Step) -> tuple[str, ...]:
        """Return the columns that a step is about."""
        alone = {"places": (PLACE,), "network": (RELATIONS,)}
        return alone.get(step.entry.data) or tuple(step.columns or self.dataset.quasi)

    def promise(self, chain: Chain) -> float:
        """Return the mean share of the protected columns that a chain would keep, by its steps alone.

        A step that leaves records out takes them from the columns of the others, too.
        """
        retained = [
            math.prod(part.kept.get(name, part.records) for part in chain)
            if any(name in part.kept for part in chain) else 0.0
            for name in self.protected
        ]  # fmt: skip
        return float(np.mean(retained)) if retained else 0.0

    def make(self, steps: Sequence[Step], columns_shown: Sequence[str], draw: int) -> Any:
        """Apply steps to the data; each draw has a stream of its own. Each step is tried alone, then evaluated."""
        hidden = [name for name in self.dataset.quasi if name not in columns_shown]
        key = json.dumps([[step.listed for step in steps], hidden, draw])
        made = self.made.pop(key, None)
        if made is None:
            rng = np.random.default_rng([self.seed, draw])
            made = make(self.dataset.without(hidden), steps, missing=self.missing, rng=rng)
            if draw == 0 and len(steps) == 1 and made.matrix_km is None:
                self.made[key] = made
        return made

    def loss(self, result: Any, name: str) -> float:
        """Return the share lost of a column; of the place by neighbours and distances of a sample."""
        if name == RELATIONS:
            nodes = list(self.dataset.names[result.table.index])
            same_names = reordered(result.network, np.arange(len(nodes)), nodes)
            return 1 - edge_overlap(self.dataset.named_network, same_names)
        data, n = self.dataset.frame, len(result.table)
        if name != PLACE:
            return column_loss(data[name], result.table[name])
        rows = np.linspace(0, n - 1, min(_SAMPLE, n)).astype(int)
        if result.places == "true" or len(rows) < 3:
            return 1.0
        return 1.0 - float(np.mean(result.kept_of_places(data, rows)) * n / len(data))

    def losses(self, result: Any, columns_shown: Sequence[str]) -> dict[str, float]:
        """Return the share lost of each protected column; of a column that is withheld all."""
        return {name: self.loss(result, name) if name in columns_shown else 1.0 for name in self.protected}

    def release(self, steps: Sequence[Step], columns_shown: Sequence[str], draw: int) -> tuple[Any, Release]:
        """Make one draw of a chain, as `protect` would write it."""
        result = self.make(steps, columns_shown, draw)
        return result, as_release(result, steps, len(self.dataset), {*columns_shown, *self.others})

    def shown(self, chain: Chain) -> list[str]:
        """Return the protected columns that a chain releases."""
        columns_shown = {name for part in chain for name in part.columns} | self.always
        return [name for name in self.protected if name in columns_shown]

    def row_of(self, chain: Chain) -> dict[str, Any]:
        """Return the description of a candidate."""
        withheld = [name for name in self.protected if name not in self.shown(chain)]
        words = ", ".join("the place" if name == PLACE else name for name in withheld)
        return {"chain": "; ".join(step_text(part.step) for part in chain), "withheld": words}

    def stages(self, steps: Sequence[Step]) -> list[str]:
        """Return how a chain is evaluated, the cheapest first.

        "quick": its first draw without costly attacks, of records; "draws": the others without, of a chain that draws;
        "full": its first draw.
        """
        draws = self.draws > 1 and any("rng" in step.entry.signature for step in steps)
        return [*([] if self.is_network else ["quick"]), *(["draws"] if draws else []), "full"]

    def evaluate_steps(self, steps: Sequence[Step], columns_shown: list[str], stage: str) -> dict[str, Any]:
        """Evaluate a chain in one of its stages, up to the draw that refuses it.

        The row is that of the last report; it has the reason if a draw could not be made. That of a full stage has the
        report as JSON, too, and the numbers of its persons.
        """
        for draw in range(1, self.draws) if stage == "draws" else (0,):
            try:
                result, released = self.release(steps, columns_shown, draw)
            except (DataError, ParameterError) as error:
                return {"passed": False, "reason": str(error)}
            report = self.evaluate(released, quick=stage != "full")
            if report.share_above_limit > self.tolerate:
                break
        full = {} if stage != "full" else {
            "report": report.to_json(), "persons": self.dataset.names.get_indexer(report.persons.index).tolist()
        }  # fmt: skip
        is_table = not self.is_network and result.matrix_km is None
        if stage == "full" and is_table and report.share_above_limit <= self.tolerate:
            report = self.evaluate_cells(result, columns_shown) or report
        share, losses = report.share_above_limit, self.losses(result, columns_shown)
        return {
            "share_above_limit": share, "n_above": round(share * len(report.persons)), "worst": report.highest,
            "attack": report.attack, "passed": share <= self.tolerate, "reason": "",
            "kept": 1 - float(np.mean(list(losses.values()))) if losses else 0.0, **full,
        }  # fmt: skip

    def evaluate(self, released: Release, *, stop_above: float | None = None, quick: bool = True) -> RiskReport:
        """Evaluate a release, up to the attack that refuses it; of a network without costly attacks."""
        report = evaluate(
            released, self.dataset, limit=self.limit, seed=self.seed, quick=quick or self.is_network,
            stop_above=self.tolerate if stop_above is None else stop_above,
        )  # fmt: skip
        return replace(report, persons=report.persons.set_axis(self.dataset.names[report.persons.index]))

    def evaluate_cells(self, result: Any, columns_shown: list[str]) -> RiskReport | None:
        """Evaluate a release as `check` reads its cells: labels that it cannot read count as known.

        None where it judges none: no released column agrees with its own.
        """
        cells = released_columns(self.dataset, result, [*columns_shown, *self.others])
        rule: dict[str, Any] = {"limit": self.limit, "tolerate": self.tolerate, "seed": self.seed}
        return check(cells.reset_index(drop=True), self.dataset, cells.index.to_numpy(), attacks=QUICK, **rule).report

    def groups(self, released: Release, report: RiskReport) -> list[str]:
        """Return the sentences about persons, households and weights."""
        known, data = knowledge_of(released, self.dataset), self.dataset
        if known.weights is not None:  # each record of a sample stands for more
            known = replace(known, weights=known.weights * self.scale)
        population = population_of(known, report)
        persons = person_notes(pd.DataFrame(data.data), data.schema.single("person"))
        return [*persons, *group_notes(known, report, population, data.weights()[1])]

    def original(self) -> Release:
        """Return the data as a release."""
        if self.is_network:
            network = self.dataset.named_network
            table = pd.DataFrame(index=pd.RangeIndex(network.n_nodes))
            return Release("network", table, "original", {}, network.n_nodes, network=network)
        table, with_places = self.dataset.table, self.dataset.has_places
        columns = {*self.protected, *self.others, *([LAT, LON] if with_places else [])}
        table = table[[name for name in table.columns if name in columns]]
        return as_attacked(table, "original", {}, len(table))

    def before(self) -> RiskReport:
        """Evaluate the data as they are, until all persons are above the limit."""
        return self.evaluate(self.original(), stop_above=1 - 0.5 / max(1, len(self.dataset)))

    def priced(self, table: pd.DataFrame) -> KnowledgePrice | None:
        """Return the value of each piece of knowledge with a release of this table."""
        if not self.protected:
            return None
        released = as_attacked(table, "unknown", {}, len(self.dataset), order=np.arange(len(table)))
        return price(released, knowledge_of(released, self.dataset), limit=self.limit, rng=self.seed)


#: What trials of a search get from it: the evaluator, and the methods that the user's session registered.
Context = tuple[Evaluator, list[Entry]]


def _evaluator(context: Context) -> Evaluator:
    for entry in context[1]:
        register(entry)
    return context[0]


def measure_step(rng: np.random.Generator, *, context: Context, evaluator: str, step: str) -> dict[str, Any]:
    """Try one step by itself, a trial of `sweep`; `step` is its JSON."""
    del rng, evaluator
    row = _evaluator(context).measure(Step.of(json.loads(step)))
    return row | {"kept": json.dumps(row["kept"])}


def evaluate_chain(
    rng: np.random.Generator, *, context: Context, evaluator: str, steps: str, columns_shown: str, stage: str
) -> dict[str, Any]:
    """Evaluate one candidate, a trial of `sweep`: JSON of its steps and of the protected columns that are released.

    The draws of a chain follow from the evaluator's seed; `evaluator` is its digest.
    """
    del rng, evaluator
    chain = [Step.of(step) for step in json.loads(steps)]
    return _evaluator(context).evaluate_steps(chain, json.loads(columns_shown), stage)


def step_text(step: Step) -> str:
    """Return a step in words, with the parameters that differ from their defaults."""
    stated, usual = step.listed, step.entry.defaults()
    parameters = ", ".join(
        f"{name}={v}" for name, v in stated["parameters"].items() if usual.get(name) != v or name == "k"
    )
    columns = f" of {', '.join(stated['columns'])}" if "columns" in stated else ""
    return f"{stated['method']}{columns}{f' ({parameters})' if parameters else ''}"
