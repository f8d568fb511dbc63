"""One candidate of a search: made, judged by the whole panel in all its draws, and what it leaves of each column."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from reident._old_sweep import _code
from reident._old_sweep._parts import PartStore
from reident.base import DataError, ParameterError
from reident.methods.forms import FORMS
from reident.methods.given import read_public
from reident.methods.outcome import Knowledge
from reident.methods.release import LAT, LON, Release
from reident.workbench.dataset import Dataset
from reident.workbench.evaluate import RiskReport, evaluate, own_order
from reident.workbench.finishing import column_loss
from reident.workbench.knowledge import PLACE, KnowledgePrice, priced
from reident.workbench.making import Made, Roles, Step, make
from reident.workbench.microdata import in_columns
from reident.workbench.pipeline import roles_of
from reident.workbench.population import population_of, told_of_groups
from reident.workbench.roles import told_of_persons

__all__ = ["PLACE", "ROW", "Bench", "Judged", "Part", "Shown", "Verdicts", "in_all_draws", "step_text", "told_of"]

Drawn = TypeVar("Drawn")

#: Records beyond which distances are not released here, and on which losses of places are measured.
_MOST_DISTANCES, _SAMPLE = 2000, 500


#: The columns of the table of candidates.
ROW = ["chain", "withheld", "kept", "share_above_limit", "n_above", "worst", "attack", "passed", "reason"]


@dataclass(frozen=True)
class Part:
    """One step, or none for columns that are withheld, and what it leaves of its columns."""

    step: Step | None
    columns: tuple[str, ...]
    kept: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Shown:
    """The first draw of a release as its custodian sees it: confidential."""

    panel: RiskReport
    released: Release
    losses: Mapping[str, float]

    @property
    def table(self) -> pd.DataFrame:
        """The records of the release: the index tells those of the data."""
        return self.released.table


@dataclass(frozen=True, eq=False)
class Judged:
    """What was found of a candidate, and its first draw where it is at hand."""

    row: Mapping[str, Any]
    shown: Shown | None = None

    @property
    def passed(self) -> bool:
        """Whether every draw passed."""
        return bool(self.row["passed"])


@dataclass(frozen=True, eq=False)
class Bench:
    """The data and the rule by which chains are judged."""

    dataset: Dataset
    others: list[str]
    limit: float
    tolerate: float
    missing: str
    draws: int
    seed: int
    always: frozenset[str] = frozenset()
    scale: float = 1.0

    @cached_property
    def data(self) -> Any:
        """The records, places in ``lat_deg`` and ``lon_deg``, or a geometry."""
        return self.dataset.frame

    @cached_property
    def roles(self) -> Roles:
        """The roles as methods take them."""
        return roles_of(self.dataset)

    @property
    def places(self) -> list[str]:
        """`PLACE` where the records have one."""
        return [PLACE] if self.dataset.has_places else []

    @property
    def protected(self) -> list[str]:
        """The columns that an intruder may know, the place among them."""
        return list(dict.fromkeys([*self.roles.known, *self.places]))

    def digest(self) -> str:
        """Return a hash of all that a verdict depends on beside the chain: code, data, roles and rule."""
        told = [
            _code.IMPORTED_DIGEST, sorted(_code.versions().items()), self.roles.quasi, self.roles.epsilon_quasi,
            self.roles.secret, self.roles.household, self.dataset.schema.single("person"),
            self.others, self.limit, self.tolerate, self.missing,
            self.draws, self.seed, sorted(self.always),
            {name: tree.to_frame().astype(str).to_numpy().tolist() for name, tree in self.roles.hierarchies.items()},
            {name: _digest(given) for name, given in self.roles.public.items()},
        ]  # fmt: skip
        digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
        for _, table in sorted(read_public(self.roles.public).items()):
            digest.update(json.dumps(list(map(str, table.columns))).encode())
            digest.update(pd.util.hash_pandas_object(table.astype(str), index=False).to_numpy().tobytes())
        digest.update(pd.util.hash_pandas_object(self.plain().astype(str), index=False).to_numpy().tobytes())
        return digest.hexdigest()

    def part(self, step: Step | None, slot: Sequence[Step | None]) -> Part:
        """Try a step by itself to see what it leaves."""
        columns = tuple(dict.fromkeys(name for one in slot if one for name in self.columns(one)))
        if step is None:
            return Part(None, columns)
        if np.isfinite(FORMS[step.entry.form].most_records) and len(self.data) > _MOST_DISTANCES:
            return Part(step, columns, reason="distances between so many records are not tried")
        try:
            made = self.make([step], set(self.columns(step)), 0)
        except (DataError, ParameterError) as error:
            return Part(step, columns, reason=str(error))
        lost = self.losses(made, list(self.columns(step)))
        return Part(step, columns, {name: 1 - value for name, value in lost.items()})

    def columns(self, step: Step) -> tuple[str, ...]:
        """Return the columns that a step is about."""
        if step.entry.data == "places":
            return (PLACE,)
        return tuple(step.columns or self.roles.known)

    def promise(self, chain: Sequence[Part]) -> float:
        """Return the mean share of the protected columns that a chain would keep by what its steps keep alone."""
        kept = dict.fromkeys(self.protected, 0.0)
        for part in chain:
            for name, share in part.kept.items():
                kept[name] = share if not kept.get(name) else kept[name] * share
        return float(np.mean(list(kept.values()))) if kept else 0.0

    def make(self, steps: Sequence[Step], shown: set[str], draw: int) -> Made:
        """Apply steps to the data; each draw has a stream of its own."""
        roles = replace(
            self.roles,
            quasi=[name for name in self.roles.quasi if name in shown],
            epsilon_quasi=[name for name in self.roles.epsilon_quasi if name in shown],
        )
        return make(self.data, steps, roles, missing=self.missing, rng=np.random.default_rng([self.seed, draw]))

    def losses(self, made: Made, names: list[str]) -> dict[str, float]:
        """Return the share lost of each column."""
        lost = {name: column_loss(self.data[name], made.table[name]) for name in names if name != PLACE}
        if PLACE in names:
            lost[PLACE] = 1.0 if made.places == "true" else self.place_loss(made)
        return lost

    def place_loss(self, made: Made) -> float:
        """Return how much of neighbours and distances is lost, on a sample of the records."""
        rows = np.linspace(0, len(made.table) - 1, min(_SAMPLE, len(made.table))).astype(int)
        if len(rows) < 3:
            return 1.0
        neighbours, distances = made.kept_of_places(self.data, rows)
        return 1.0 - (neighbours + distances) / 2 * len(made.table) / len(self.data)

    def release(self, made: Made, shown: set[str], steps: Sequence[Step]) -> Release:
        """Return what `protect` would write of this."""
        table, named = made.table, shown | set(self.others)
        with_place = made.places == "moved"
        if with_place:
            table = in_columns(table, "release")
        elif hasattr(table, "to_crs"):
            table = table.drop(columns=table.geometry.name)
        kept = [name for name in table.columns if name in named and name not in (LAT, LON)]
        table = pd.DataFrame(table[[*kept, *([LAT, LON] if with_place else [])]])
        form = "points" if with_place else "distances" if made.matrix_km is not None else "table"
        moved = [step for step in steps if with_place and step.entry.data == "places"]
        law = next(iter(moved), steps[-1])
        order = own_order(table)
        matrix = None if made.matrix_km is None else made.matrix_km[np.ix_(order, order)]
        return Release(form, table.iloc[order], law.entry.name, law.settings, len(self.data), matrix_km=matrix)

    def withheld(self, chain: Sequence[Part]) -> list[str]:
        """Return what an intruder may know and a chain leaves out."""
        shown = self._shown(chain)
        return [name for name in self.protected if name not in shown]

    def _shown(self, chain: Sequence[Part]) -> set[str]:
        return {name for part in chain if part.step for name in part.columns} | self.always

    def row_of(self, chain: Sequence[Part]) -> dict[str, Any]:
        """Return what a candidate is, in words."""
        steps = [part.step for part in chain if part.step]
        held = ", ".join("the place" if name == PLACE else name for name in self.withheld(chain))
        return {"chain": "; ".join(map(step_text, steps)), "withheld": held, "reason": ""}

    def _drawn(self, chain: Sequence[Part], draw: int) -> tuple[Made, Release]:
        steps, shown = [part.step for part in chain if part.step], self._shown(chain)
        made = self.make(steps, shown, draw)
        return made, self.release(made, shown, steps)

    def shown(self, chain: Sequence[Part]) -> Shown:
        """Make and judge the first draw of a chain that passed before."""
        made, released = self._drawn(chain, 0)
        found = self.panel(released, enough=self.tolerate)
        return Shown(found, released, self._all_losses(made, chain))

    def _all_losses(self, made: Made, chain: Sequence[Part]) -> dict[str, float]:
        return self.losses(made, self.protected) | dict.fromkeys(self.withheld(chain), 1.0)

    def judge(self, chain: Sequence[Part]) -> Judged:
        """Judge a chain in all its draws, as a check with the true pairs and as one without them."""
        draws = self.draws if any("rng" in part.step.entry.signature for part in chain if part.step) else 1

        def judged(drawn: tuple[Made, Release], _: int) -> RiskReport:
            return self.panel(drawn[1], enough=self.tolerate)

        row, first = in_all_draws(lambda draw: self._drawn(chain, draw), judged, draws=draws, tolerate=self.tolerate)
        row = self.row_of(chain) | row
        if first is None:
            return Judged(row)
        (made, released), found = first
        if row["passed"]:  # then costly attacks, too
            found = self.panel(released, enough=self.tolerate, quick=False)
            row |= _summary(found, self.tolerate)
        losses, names = self._all_losses(made, chain), self.protected
        row["kept"] = 1 - float(np.mean([losses[name] for name in names])) if names else 0.0
        return Judged(row, Shown(found, released, losses))

    def panel(self, released: Release, *, enough: float | None, quick: bool = True) -> RiskReport:
        """Judge a release."""
        return evaluate(released, self.dataset, limit=self.limit, seed=self.seed, enough=enough, quick=quick)

    def known(self, released: Release) -> Knowledge:
        """Return what the intruder knows."""
        return self.dataset.knowledge(released.table.index.get_indexer(self.dataset.data.index))

    def groups(self, released: Release, judged: RiskReport) -> list[str]:
        """Say what households and weights add to a verdict."""
        known = self.known(released)
        receipt = self.dataset.weights()[1]
        if known.weights is not None:  # each record of a sample stands for more
            known = replace(known, weights=known.weights * self.scale)
        stands_for = population_of(released, known, judged, self.limit)
        persons = told_of_persons(pd.DataFrame(self.dataset.data), self.dataset.schema.single("person"))
        return [*persons, *told_of_groups(known, judged, stands_for, self.limit, receipt)]

    def plain(self) -> pd.DataFrame:
        """Return the records with their places in two columns."""
        return self.dataset.table

    def as_they_are(self) -> Release:
        """Return the data as a release."""
        table, form = self.plain(), "points" if self.places else "table"
        named = {*self.protected, *self.others, *([LAT, LON] if self.places else [])}
        table = table[[name for name in table.columns if name in named]]
        return Release(form, table.iloc[own_order(table)], "original", {}, len(table))

    def before(self) -> RiskReport:
        """Judge the data as they are, until everybody is above the limit."""
        return self.panel(self.as_they_are(), enough=1 - 0.5 / max(1, len(self.data)))

    def priced(self, table: pd.DataFrame) -> KnowledgePrice | None:
        """Return what knowledge is worth with a release of this table, the true pairs known to the judge."""
        released = Release("points" if LAT in table else "table", table, "unknown", {}, len(self.data))
        if not (self.places or self.roles.known):
            return None
        return priced(released, self.known(released), limit=self.limit, rng=self.seed)


class Verdicts:
    """The candidates that were judged, on disk as they come: a search that was killed goes on and judges none again."""

    def __init__(self, folder: Path, bench: Bench) -> None:
        self._bench, self._store = bench, PartStore(folder)
        self._digest, self._found = bench.digest(), self._store.load()

    def _key(self, chain: Sequence[Part]) -> str:
        steps = [told_of(part.step) for part in chain if part.step]
        told = [self._digest, steps, self._bench.withheld(chain)]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:40]

    def judge(self, chain: Sequence[Part]) -> Judged:
        """Return what is known of a candidate, or judge it and keep what was found."""
        key = self._key(chain)
        if key in self._found:
            return Judged({name: value for name, value in self._found[key].items() if value is not None})
        judged = self._bench.judge(chain)
        row = {name: judged.row.get(name) for name in ROW}
        self._store.add({"_key": key, "_parameters": "", "repetition": 0, "seed_key": "", **row})
        self._store.flush()
        return judged


def in_all_draws(
    drawn: Callable[[int], Drawn], judged: Callable[[Drawn, int], RiskReport], *, draws: int, tolerate: float
) -> tuple[dict[str, Any], tuple[Drawn, RiskReport] | None]:
    """Judge a candidate draw by draw, up to the one that refuses it.

    Returns what its row says of the worst panel, and the first draw with its panel; none, and the reason in the row,
    where a draw could not be made.
    """
    first, worst = None, None
    for draw in range(draws):
        try:
            made = drawn(draw)
        except (DataError, ParameterError) as error:
            return {"passed": False, "reason": str(error)}, None
        found = judged(made, draw)
        first = first or (made, found)
        worst = found if worst is None or found.share_above_limit > worst.share_above_limit else worst
        if worst.share_above_limit > tolerate:
            break
    assert worst is not None and first is not None  # noqa: PT018
    return _summary(worst, tolerate), first


def _summary(report: RiskReport, tolerate: float) -> dict[str, Any]:
    """Return what a row of candidates says of a report."""
    share = report.share_above_limit
    return {
        "share_above_limit": share,
        "n_above": round(share * len(report.persons)),
        "worst": report.highest,
        "attack": report.attack,
        "passed": share <= tolerate,
    }


def _digest(given: Any) -> str:
    """Return a hash of all of a public input."""
    if isinstance(given, pd.DataFrame):
        cells = pd.DataFrame(given).astype(str)
        return hashlib.sha256(pd.util.hash_pandas_object(cells, index=False).to_numpy().tobytes()).hexdigest()
    return str(given)


def told_of(step: Step) -> dict[str, Any]:
    """Return a step as a recipe writes it."""
    given = {name: value for name, value in step.settings.items() if value is not None}
    columns = {} if step.columns is None else {"columns": list(step.columns)}
    return {"method": step.entry.name, **columns, "parameters": json.loads(json.dumps(given))}


def step_text(step: Step) -> str:
    """Return a step in words, with the parameters that are not the usual ones."""
    told, usual = told_of(step), step.entry.defaults()
    given = ", ".join(f"{name}={v}" for name, v in told["parameters"].items() if usual.get(name) != v or name == "k")
    columns = f" of {', '.join(told['columns'])}" if "columns" in told else ""
    return f"{told['method']}{columns}{f' ({given})' if given else ''}"
