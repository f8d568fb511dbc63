"""Search chains of methods for the most useful release that `check` would let pass: the whole panel judges each."""

from __future__ import annotations

import inspect
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from reident._types import FloatArray
from reident.errors import DataError, ParameterError
from reident.methods.forms import FORMS
from reident.methods.release import LAT, LON, Release
from reident.places.distances import great_circle_km
from reident.places.points import read_places
from reident.tables.utility import distances_kept, neighbours_kept
from reident.workbench.finishing import column_loss
from reident.workbench.knowledge import KnowledgePrice, price
from reident.workbench.making import Made, Roles, Step, make
from reident.workbench.panel import Panel, knowledge_of, panel

__all__ = ["DRAWS", "MOST_JUDGED", "PLACE", "Search", "search_release"]

#: Releases drawn of a chain that draws, by profile: each must pass.
DRAWS = {"smoke": 2, "quick": 5, "full": 20}
#: Chains that are judged at most, the most useful first.
MOST_JUDGED = 80
#: What the place of a record is called among the columns.
PLACE = "place"
#: Records beyond which distances are not released here, and on which losses of places are measured.
_MOST_DISTANCES, _SAMPLE = 2000, 500


@dataclass(frozen=True, eq=False)
class Search:
    """What a search found.

    Attributes
    ----------
    candidates : DataFrame
        One row a release judged, in the order of judging: ``chain`` (text), ``withheld`` (columns), ``kept`` (mean
        share of its columns that a release keeps), ``share_above_limit``, ``n_above``, ``worst``, ``attack`` (that
        puts most persons above the limit), ``passed``, ``reason`` (why it could not be made).
    chain : list of dict
        The advised steps as a recipe has them; empty where nothing passed.
    withhold : list of str
        The columns that the advised release leaves out.
    before : Panel
        The data as they are.
    after : Panel or None
        The advised release, in the first draw.
    released : DataFrame or GeoDataFrame or None
        Its first draw: the index tells the records of the data. Confidential.
    losses : mapping of str to float
        Share of each column lost, from 0 to 1; of the place as `PLACE`.
    advised : mapping
        Its row of the candidates; empty where nothing passed.
    original : DataFrame
        The records that were judged, places in ``lat_deg`` and ``lon_deg``. Confidential.
    known : list of str
        The columns that the intruder is given.
    price_before, price_after : KnowledgePrice or None
        What each piece of knowledge is worth with the data as they are (columns only) and with the advised release.
    n_chains : int
        Chains that could be made of the steps tried.
    draws : int
        Releases of each chain that draws; every one had to pass.
    """

    candidates: pd.DataFrame
    chain: list[dict[str, Any]]
    withhold: list[str]
    before: Panel
    after: Panel | None
    released: Any
    losses: Mapping[str, float]
    advised: Mapping[str, Any]
    original: pd.DataFrame
    known: list[str]
    price_before: KnowledgePrice | None
    price_after: KnowledgePrice | None
    n_chains: int
    draws: int

    @property
    def passed(self) -> bool:
        """Whether a release passed."""
        return self.after is not None

    @property
    def nearest(self) -> pd.Series | None:
        """The candidate with the fewest persons above the limit among those that could be made."""
        judged = self.candidates[self.candidates["reason"] == ""]
        return None if judged.empty else judged.loc[judged["share_above_limit"].astype(float).idxmin()]


@dataclass(frozen=True)
class _Part:
    """One step, or none for columns that are withheld, and what it leaves of its columns."""

    step: Step | None
    columns: tuple[str, ...]
    kept: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""


def search_release(
    data: Any,
    slots: Sequence[Sequence[Step | None]],
    roles: Roles,
    *,
    others: Sequence[str] = (),
    limit: float = 0.25,
    tolerate: float = 0.0,
    missing: str = "label",
    draws: int = 5,
    most: int = MOST_JUDGED,
    seed: int = 0,
) -> Search:
    """Judge the chains that the slots allow, the most useful first, until one passes.

    A chain takes one step of each slot; a slot that may be None withholds its columns. A release passes if at most the
    tolerated share of persons is above the limit under every attack that `check` would run, both with the true pairs
    known to the judge and without, in each of the draws. A release has the evidence of its parts: where one part, by
    itself, is refused, no chain with it is judged.

    Parameters
    ----------
    data : DataFrame or GeoDataFrame
        The records; places in ``lat_deg`` and ``lon_deg``, or a geometry. Not modified.
    slots : sequence of sequence of Step or None
    roles : Roles
    others : sequence of str
        Columns released as they are.
    limit, tolerate, missing, seed
        As for `check` and `protect`.
    draws : int
        Releases of each chain that draws.
    most : int
        Chains that are judged at most.
    """
    data = data.set_axis(np.arange(len(data)), axis=0)
    bench = _Bench(data, roles, list(others), limit, tolerate, missing, draws, seed)
    parts = [[bench.part(step, slot) for step in slot] for slot in slots]
    # Columns that no slot is about are released as they are.
    about = {name for slot in parts for part in slot for name in part.columns}
    bench = replace(bench, always=frozenset(set(roles.quasi) - about))
    chains = sorted(itertools.product(*parts), key=bench.promise, reverse=True)
    chains = [chain for chain in chains if any(part.step for part in chain)]
    touched = [column for slot in parts for column in dict.fromkeys(c for part in slot for c in part.columns)]
    apart = len(touched) == len(set(touched))  # else a part alone may be weaker than with another one on its columns
    rows: list[dict[str, Any]] = []
    found: _Judged | None = None
    alone: dict[int, _Judged] = {}
    for chain in chains:
        steps = [part for part in chain if part.step]
        if len(rows) >= most or found is not None:
            break
        if any(part.reason for part in steps):
            continue
        for own in [*((part,) for part in steps if apart and len(steps) > 1), tuple(steps)]:
            judged = alone.get(id(own[0])) if len(own) == 1 else None
            if judged is None:
                judged = bench.judge(own)
                rows.append(judged.row)
                if len(own) == 1:
                    alone[id(own[0])] = judged
            if not judged.passed:
                break
        else:
            found = judged
    told = pd.DataFrame(rows or [dict.fromkeys(_ROW)], columns=_ROW)
    told = told if rows else told.iloc[:0]
    before, plain = bench.before(), bench.plain()
    known = [name for name in bench.protected if name != PLACE]
    priced = bench.priced(plain[known])
    if found is None:
        return Search(told, [], [], before, None, None, {}, {}, plain, known, priced, None, len(chains), draws)
    return Search(
        told, [_told(step) for step in found.steps], found.withheld, before, found.panel, found.released, found.losses,
        found.row, plain, known, priced, bench.priced(found.released), len(chains), draws,
    )  # fmt: skip


_ROW = ["chain", "withheld", "kept", "share_above_limit", "n_above", "worst", "attack", "passed", "reason"]


@dataclass(frozen=True, eq=False)
class _Judged:
    row: dict[str, Any]
    steps: list[Step]
    withheld: list[str]
    panel: Panel | None = None
    released: Any = None
    losses: Mapping[str, float] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return bool(self.row["passed"])


@dataclass(frozen=True, eq=False)
class _Bench:
    """The data and the rule by which chains are judged."""

    data: Any
    roles: Roles
    others: list[str]
    limit: float
    tolerate: float
    missing: str
    draws: int
    seed: int
    always: frozenset[str] = frozenset()

    @property
    def places(self) -> list[str]:
        has = hasattr(self.data, "to_crs") or {LAT, LON} <= set(self.data.columns)
        return [PLACE] if has else []

    @property
    def protected(self) -> list[str]:
        return list(dict.fromkeys([*self.roles.quasi, *self.roles.epsilon_quasi, *self.places]))

    def part(self, step: Step | None, slot: Sequence[Step | None]) -> _Part:
        """Try a step by itself to see what it leaves."""
        columns = tuple(dict.fromkeys(name for one in slot if one for name in self.columns(one)))
        if step is None:
            return _Part(None, columns)
        if np.isfinite(FORMS[step.entry.form].most_records) and len(self.data) > _MOST_DISTANCES:
            return _Part(step, columns, reason="distances between so many records are not tried")
        try:
            made = self.make([step], set(self.columns(step)), 0)
        except (DataError, ParameterError) as error:
            return _Part(step, columns, reason=str(error))
        lost = self.losses(made, list(self.columns(step)))
        return _Part(step, columns, {name: 1 - value for name, value in lost.items()})

    def columns(self, step: Step) -> tuple[str, ...]:
        if step.entry.data == "places":
            return (PLACE,)
        return tuple(step.columns or dict.fromkeys([*self.roles.quasi, *self.roles.epsilon_quasi]))

    def promise(self, chain: Sequence[_Part]) -> float:
        """Return the mean share of the protected columns that a chain would keep by what its steps keep alone."""
        kept = dict.fromkeys(self.protected, 0.0)
        for part in chain:
            for name, share in part.kept.items():
                kept[name] = share if not kept.get(name) else kept[name] * share
        return float(np.mean(list(kept.values()))) if kept else 0.0

    def make(self, steps: Sequence[Step], shown: set[str], draw: int) -> Made:
        roles = replace(
            self.roles,
            quasi=[name for name in self.roles.quasi if name in shown],
            epsilon_quasi=[name for name in self.roles.epsilon_quasi if name in shown],
        )
        return make(self.data, steps, roles, missing=self.missing, rng=np.random.default_rng([self.seed, draw]))

    def losses(self, made: Made, names: list[str]) -> dict[str, float]:
        lost = {name: column_loss(self.data[name], made.table[name]) for name in names if name != PLACE}
        if PLACE in names:
            lost[PLACE] = 1.0 if made.places == "true" else self.place_loss(made)
        return lost

    def place_loss(self, made: Made) -> float:
        rows = np.linspace(0, len(made.table) - 1, min(_SAMPLE, len(made.table))).astype(int)
        if len(rows) < 3:
            return 1.0
        true = great_circle_km(*read_places(self.data.loc[made.table.index[rows]], "data"))
        if made.matrix_km is None:
            shown: FloatArray = great_circle_km(*read_places(made.table.iloc[rows], "release"))
        else:
            shown = made.matrix_km[np.ix_(rows, rows)]
        kept = (neighbours_kept(true, shown) + distances_kept(true, shown)) / 2
        return 1.0 - kept * len(made.table) / len(self.data)

    def release(self, made: Made, shown: set[str], steps: Sequence[Step]) -> Release:
        """Return what `protect` would write of this."""
        table, named = made.table, shown | set(self.others)
        with_place = made.places == "moved"
        if hasattr(table, "to_crs"):
            lat, lon = read_places(table, "release") if with_place else (None, None)
            table = pd.DataFrame(table.drop(columns=table.geometry.name))
            table = table.assign(**{LAT: lat, LON: lon}) if with_place else table
        kept = [name for name in table.columns if name in named and name not in (LAT, LON)]
        table = pd.DataFrame(table[[*kept, *([LAT, LON] if with_place else [])]])
        form = "points" if with_place else "distances" if made.matrix_km is not None else "table"
        moved = [step for step in steps if with_place and step.entry.data == "places"]
        law = next(iter(moved), steps[-1])
        return Release(form, table, law.entry.name, law.settings, len(self.data), matrix_km=made.matrix_km)

    def judge(self, chain: Sequence[_Part]) -> _Judged:
        """Judge a chain in all its draws, as a check with the true pairs and as one without them."""
        steps = [part.step for part in chain if part.step]
        shown = {name for part in chain if part.step for name in part.columns} | self.always
        withheld = [name for name in self.roles.quasi if name not in shown]
        row: dict[str, Any] = {"chain": "; ".join(map(_text, steps)), "withheld": ", ".join(withheld), "reason": ""}
        draws = self.draws if any(_draws(step) for step in steps) else 1
        worst: Panel | None = None
        first: tuple[Any, Panel, dict[str, float]] | None = None
        for draw in range(draws):
            try:
                made = self.make(steps, shown, draw)
            except (DataError, ParameterError) as error:
                return _Judged(row | {"passed": False, "reason": str(error)}, steps, withheld)
            released = self.release(made, shown, steps)
            for told in (True, False):
                found = self.panel(released, told=told, enough=self.tolerate, draw=draw)
                worst = found if worst is None or found.share_above_limit > worst.share_above_limit else worst
                if told and first is None:
                    first = released.table, found, self.losses(made, self.protected)
                if found.share_above_limit > self.tolerate:
                    break
            if worst is not None and worst.share_above_limit > self.tolerate:
                break
        assert worst is not None and first is not None  # noqa: PT018
        table, panel_of_first, losses = first
        losses |= dict.fromkeys([*withheld, *(name for name in self.places if name not in shown)], 1.0)
        about = worst.attacks[worst.attacks["what"] != "link"]
        share = worst.share_above_limit
        row |= {
            "kept": 1 - float(np.mean([losses[name] for name in self.protected])) if self.protected else 0.0,
            "share_above_limit": share,
            "n_above": round(share * len(worst.persons)),
            "worst": worst.worst,
            "attack": str(about.loc[about["share_above_limit"].idxmax(), "name"]) if share > 0 else "",
            "passed": share <= self.tolerate,
        }
        return _Judged(row, steps, withheld, panel_of_first, table, losses)

    def panel(self, released: Release, *, told: bool, enough: float | None, draw: int = 0) -> Panel:
        if not told:
            order = np.random.default_rng([self.seed, draw, 1]).permutation(len(released.table))
            matrix = None if released.matrix_km is None else released.matrix_km[np.ix_(order, order)]
            released = replace(released, table=released.table.iloc[order].reset_index(drop=True), matrix_km=matrix)
        known = knowledge_of(
            self.data, released, quasi=list(dict.fromkeys([*self.roles.quasi, *self.roles.epsilon_quasi])),
            sensitive=self.roles.sensitive, hierarchies=self.roles.hierarchies, told=told,
        )  # fmt: skip
        return panel(released, known, limit=self.limit, seed=self.seed, enough=enough)

    def plain(self) -> pd.DataFrame:
        """Return the records with their places in two columns."""
        if not hasattr(self.data, "to_crs"):
            return pd.DataFrame(self.data)
        lat, lon = read_places(self.data, "data")
        return pd.DataFrame(self.data.drop(columns=self.data.geometry.name)).assign(**{LAT: lat, LON: lon})

    def before(self) -> Panel:
        """Judge the data as they are, until everybody is above the limit."""
        table, form = self.plain(), "points" if self.places else "table"
        named = {*self.protected, *self.others, *([LAT, LON] if self.places else [])}
        shown = table[[name for name in table.columns if name in named]]
        released = Release(form, shown, "original", {}, len(shown))
        return self.panel(released, told=True, enough=1 - 0.5 / max(1, len(shown)))

    def priced(self, table: pd.DataFrame) -> KnowledgePrice | None:
        """Return what knowledge is worth with a release of this table, the true pairs known to the judge."""
        released = Release("points" if LAT in table else "table", table, "unknown", {}, len(self.data))
        names = list(dict.fromkeys([*self.roles.quasi, *self.roles.epsilon_quasi]))
        if not (self.places or names):
            return None
        known = knowledge_of(self.data, released, quasi=names, hierarchies=self.roles.hierarchies, told=True)
        try:
            return price(released, known, limit=self.limit, rng=self.seed)
        except ParameterError:  # no column of what is known is released
            return None


def _draws(step: Step) -> bool:
    return "rng" in inspect.signature(step.entry.function).parameters


def _told(step: Step) -> dict[str, Any]:
    """Return a step as a recipe writes it."""
    given = {name: value for name, value in step.settings.items() if value is not None}
    columns = {} if step.columns is None else {"columns": list(step.columns)}
    return {"method": step.entry.name, **columns, "parameters": json.loads(json.dumps(given))}


def _text(step: Step) -> str:
    told, usual = _told(step), step.entry.defaults()
    given = ", ".join(f"{name}={v}" for name, v in told["parameters"].items() if usual.get(name) != v or name == "k")
    columns = f" of {', '.join(told['columns'])}" if "columns" in told else ""
    return f"{told['method']}{columns}{f' ({given})' if given else ''}"
