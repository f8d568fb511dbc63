"""Search chains of methods for the most useful release that `check` would pass."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from reident.base import check_main
from reident.experiments.sweep import connected, sweep
from reident.methods.registry import registered
from reident.rumap import ORIGINAL, anchor
from reident.workbench.candidates import (
    ROW,
    Chain,
    Evaluator,
    Part,
    evaluate_chain,
    measure_step,
)
from reident.workbench.dataset import Dataset
from reident.workbench.evaluate import RiskReport
from reident.workbench.knowledge import PLACE, KnowledgePrice
from reident.workbench.making import Step

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Releases drawn of a chain that draws, by profile: each must pass.
DRAWS = {"smoke": 2, "quick": 5, "full": 20}
#: Releases that are judged at most, the most useful first.
MOST_JUDGED = 80
#: Under costly attacks, or in all draws, an evaluation takes about as long as so many others.
_LOAD = 4
#: Seconds of judging that workers must save: their start, and what they judge in vain, take about as long.
_START_S = 45.0
#: Evaluations that show how long one takes.
_SHOWN = 10
#: Sizes of classes tried beyond those of the registry.
_LARGER = (50, 100, 200, 400)
#: Grids are also tried whose cells hold so many times more records than the limit asks for.
_CROWDS = (1, 3, 8)
#: Sensitive values up to which classes are also tried whose shares are close to those of the file.
_VALUES = 50


#: A chain and the stage of its evaluation.
Trial = tuple[Chain, str]


@dataclass(frozen=True, eq=False)
class Search:
    """Result of a search.

    Attributes
    ----------
    candidates : DataFrame
        One row a release judged, in the order of judging, then those that could not be made: ``chain`` (text),
        ``withheld`` (columns), ``kept`` (mean share of its columns that a release keeps), ``share_above_limit``,
        ``n_above``, ``worst``, ``attack`` (that puts most persons above the limit), ``passed``, ``reason``.
    before, after : RiskReport
        The data as they are; the advised release in the first draw, None where no release passed.
    evaluator : Evaluator
        The records that were judged, and the rule.
    released : DataFrame
        The first draw of the advised release (index: the records). Confidential.
    n_chains : int
        Chains that could be made of the steps tried.
    is_cut : bool
        Whether the search ended because it had judged as many releases as it may.
    groups : list of str
        Sentences about households and survey weights, of the advised release, else the data as they are.
    price_before, price_after : KnowledgePrice or None
        The value of each piece of knowledge with the data as they are (columns only) and with the advised release.
    chain, withhold : list
        The advised steps as a recipe has them, and the columns that the advised release leaves out.
    losses : mapping of str to float
        Share of each column lost, from 0 to 1; of the place as `PLACE`.
    advised : mapping
        Its row of the candidates.
    """

    evaluator: Evaluator
    candidates: pd.DataFrame
    before: RiskReport
    n_chains: int
    is_cut: bool = False
    groups: Sequence[str] = ()
    price_before: KnowledgePrice | None = None
    price_after: KnowledgePrice | None = None
    chain: list[dict[str, Any]] = field(default_factory=list)
    withhold: list[str] = field(default_factory=list)
    after: RiskReport | None = None
    released: Any = None
    losses: Mapping[str, float] = field(default_factory=dict)
    advised: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether a release passed."""
        return self.after is not None

    @property
    def judged(self) -> pd.DataFrame:
        """The candidates that could be made."""
        return self.candidates[self.candidates["reason"] == ""]

    @property
    def frame(self) -> pd.DataFrame:
        """The candidates as a risk-utility map: persons above the limit against the share of columns kept.

        Risks of refused releases are lower bounds, since no further attack was run; `refused` names the attack.
        """
        judged = self.judged.reset_index(drop=True)
        frame = pd.DataFrame({
            "method": judged["chain"].str.replace(r" \(.*?\)", "", regex=True),
            "label": judged["chain"].str.findall(r"\((.*?)\)").str.join("; "),
            "risk": judged["share_above_limit"].astype(float), "utility": judged["kept"].astype(float),
            "n_above": judged["n_above"],
            "refused": judged["attack"].astype(object).mask(judged["passed"].astype(bool), None),
        })  # fmt: skip
        ends = {f"{name}_{end}": frame[name] for name in ("risk", "utility") for end in ("low", "high")}
        frame = frame.assign(
            **ends, parameter="", unit="", value=np.nan, risk_worst=frame["risk"], undominated=np.nan,
            n=self.evaluator.draws if len(judged) else [], attack="persons above the limit (share)",
            analysis="columns kept (share)",
        ).sort_values(["method", "utility"], kind="stable")  # fmt: skip
        return anchor(frame, ORIGINAL, risk=self.before.share_above_limit, utility=1.0) if len(judged) else frame

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the risk-utility map of the candidates; the ring is the advised release."""
        from reident.plotting.ru_curves import plot_ru_map

        return plot_ru_map(self.frame, limit=self.evaluator.tolerate, ax=ax)

    @property
    def sentence(self) -> str:
        """The advice in a sentence."""
        n, n_records = len(self.before.persons), len(self.evaluator.records)
        before = round(self.before.share_above_limit * n)
        limit, tolerate, scale = self.evaluator.limit, self.evaluator.tolerate, self.evaluator.scale
        sample = f"; judged on a sample of {n_records} of the {round(n_records * scale)} records" if scale > 1 else ""
        if self.passed:
            last = self.advised
            absent = n_records - len(self.released)
            more = f"; it leaves out {absent} of the records" if absent else ""
            more += (f"; it withholds {last['withheld']}" if last["withheld"] else "") + sample
            return (
                f"{last['chain']}: {round(float(last['share_above_limit']) * n)} of {n} persons above a risk of "
                f"{limit:.0%}, against {before} in the data as they are; the most useful of the releases tried that "
                f"passes every attack of reident check{more}"
            )
        is_passed = self.judged["passed"].astype(bool)
        refused, passing = self.judged[~is_passed], self.judged[is_passed]
        if refused.empty:
            return f"no release could be made: nothing is advised ({before} of {n} persons are above {limit:.0%} now)"
        safest = refused.loc[refused["share_above_limit"].astype(float).idxmin()]
        ended = ", where the search ended," if self.is_cut else ""
        alone = ""
        if len(passing):  # steps that pass by themselves, but with no other step
            best = passing.loc[passing["kept"].astype(float).idxmax()]
            withheld = f", with {best['withheld']} withheld" if best["withheld"] else ""
            alone = f"; {best['chain']} by itself passes{withheld}"
        return (
            f"no release tried puts at most {tolerate:.0%} of persons above a risk of {limit:.0%}, and nothing is "
            f"advised; each of the {len(refused)} refused{ended} puts at least "
            f"{float(safest['share_above_limit']):.1%} above ({safest['chain']}, by {safest['attack']}){alone}{sample}"
        )


def search_release(
    evaluator: Evaluator,
    slots: Sequence[Sequence[Step | None]],
    *,
    max_judged: int = MOST_JUDGED,
    jobs: int | str = 1,
    cache: str | Path | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> Search:
    """Judge the chains that the slots allow, the most useful first, until one passes.

    A chain takes one step of each slot; a slot that may be None withholds its columns. A release passes if at most the
    tolerated share of persons is above the limit under every attack that `check` would run, in each of the draws;
    further draws and costly attacks come last. A release has the evidence of its parts: where one part, by itself, is
    refused, no chain with it is judged. Where no chain passes, parts are judged by themselves up to the first that
    passes. Of steps that give the same cells one is judged. Several jobs judge several releases at once.

    Parameters
    ----------
    evaluator : Evaluator
        The rule and the records, or a network alone: then each step is a candidate, and ``kept`` is the share of edges
        in common.
    slots : sequence of sequence of Step or None
    max_judged : int
        Releases that are judged at most, parts by themselves among them.
    jobs : int or str
        Processes, or the address of a running dask scheduler.
    cache : folder, optional
        The rows of judged candidates are stored there: the same search goes on and judges none again.
    progress : bool or callable
        Show how many chains were judged, or call a function with this number and the largest.
    """
    touched = [tuple(dict.fromkeys(c for step in slot if step for c in evaluator.columns(step))) for slot in slots]
    each = [column for columns in touched for column in columns]
    apart = len(each) == len(set(each))  # else a part alone may be weaker than with another one on its columns
    evaluator = replace(evaluator, always=frozenset(set(evaluator.dataset.quasi) - set(each)))
    name, began, stack, client = evaluator.digest(), time.monotonic(), ExitStack(), None
    n_at_once = jobs if isinstance(jobs, int) else 4
    if isinstance(jobs, int) and jobs > 1:
        check_main(jobs)  # workers start late: the error is to come before the work
    alone_s = 0.0 if isinstance(jobs, str) else _START_S * jobs / max(jobs - 1, 1)

    def trials(trial: Any, grid: list[dict[str, str]]) -> list[dict[str, Any]]:
        """Run trials here or, once all of them can be seen to take long, by workers."""
        nonlocal client
        n = len(results)
        # Some evaluations show how long the rest takes; before, it takes as long again as so far, about.
        rest_s = (time.monotonic() - first) / n * (max_judged - n) if n >= _SHOWN else time.monotonic() - began
        if jobs != 1 and client is None and rest_s >= alone_s:
            client = stack.enter_context(connected(n_at_once, jobs if isinstance(jobs, str) else None))
        rows = sweep(trial, [{"evaluator": name, **setting} for setting in grid], seed=evaluator.seed, cache=cache,
                     scheduler=client, progress=False, context=(evaluator, registered()))  # fmt: skip
        return [dict(row) for row in rows.to_dict("records")]  # type: ignore[arg-type]

    def measured(slot: Sequence[Step | None], columns: tuple[str, ...]) -> list[Part | None]:
        """Return each step of a slot, tried by itself; of those that give the same cells the first."""
        steps, rows, size = [step for step in slot if step], [], 4 * n_at_once
        for i in range(0, len(steps), size):
            rows += trials(measure_step, [{"step": json.dumps(step.listed)} for step in steps[i : i + size]])
        parts: dict[Any, Part | None] = {}
        for step, row in zip(steps, rows, strict=True):
            stored = {key: row[key] for key in ("records", "cells", "reason")}
            part = Part(step, columns, json.loads(row["kept"]), **stored)
            parts.setdefault(part.cells or part, part)
        return [*parts.values(), *([None] if None in slot else [])]

    # Workers run ahead: `judged` is what one process would have judged, one trial after another, whatever their number.
    results: dict[Trial, dict[str, Any]] = {}
    judged: dict[Trial, dict[str, Any]] = {}
    refused: set[Chain] = set()

    def stages(piece: Chain) -> list[str]:
        return evaluator.stages([part.step for part in piece])

    def pieces_of(chain: Chain) -> list[Chain]:
        """Return the parts of a chain, places first, and the chain."""
        alone = sorted(chain, key=lambda part: PLACE not in part.columns) if apart and len(chain) > 1 else []
        return [*((part,) for part in alone), chain]

    def trials_of(chain: Chain) -> list[Trial]:
        """Return the quick stages of the pieces of a chain, then the others."""
        every = [(piece, stage) for piece in pieces_of(chain) for stage in stages(piece)]
        return sorted(every, key=lambda trial: trial[1] != "quick")

    def verdict(piece: Chain) -> dict[str, Any] | None:
        """Return the row that refuses a chain, else that of its full stage; None while its stages are not all known."""
        rows = {stage: judged.get((piece, stage)) for stage in stages(piece)}
        refusal = next((row for row in rows.values() if row and not row["passed"]), None)
        return refusal or (None if None in rows.values() else rows["full"])

    def is_refused(chain: Chain) -> bool:
        return not refused.isdisjoint(pieces_of(chain))

    def waiting(room: int) -> list[Trial]:
        """Return the next trials; none if a chain passed that no more useful one is waiting before."""
        listed: list[Trial] = []
        for chain in [*chains, *(spare if apart else [])]:
            if is_refused(chain):
                continue
            unknown = [trial for trial in trials_of(chain) if trial not in judged]
            if not unknown:
                break
            # Most chains end in the quick stage: there a part goes before the chain.
            for trial in unknown[:1] if unknown[0][1] == "quick" else unknown:
                ahead = list(dict.fromkeys([*listed, trial]))
                if len({piece for piece, _ in [*judged, *ahead]}) > max_judged:
                    break  # what is judged in part comes to its end
                if listed and sum(1 if stage == "quick" else _LOAD for _, stage in ahead) > room:
                    return listed
                listed = ahead
        return listed

    with stack:
        slots_of_parts = [measured(slot, columns) for slot, columns in zip(slots, touched, strict=True)]
        every = [tuple(part for part in chain if part) for chain in itertools.product(*slots_of_parts)]
        every = sorted(filter(None, every), key=evaluator.promise, reverse=True)
        chains = [chain for chain in every if not any(part.reason for part in chain)]
        alone = [(part,) for slot in slots_of_parts for part in slot if part and not part.reason]
        spare = sorted([part for part in alone if part not in chains], key=evaluator.promise, reverse=True)
        bar = stack.enter_context(
            tqdm(total=min(max_judged, len(chains)), desc="search", unit="release", disable=progress is not True)
        )
        first = time.monotonic()
        while following := waiting(1):
            trial = following[0]
            if trial not in results:
                batch = following if client is None else waiting(_LOAD * n_at_once)
                batch = [ahead for ahead in batch if ahead not in results]
                grid = [
                    {"steps": json.dumps([part.step.listed for part in piece]),
                     "columns_shown": json.dumps(evaluator.shown(piece)), "stage": stage}
                    for piece, stage in batch
                ]  # fmt: skip
                results |= dict(zip(batch, trials(evaluate_chain, grid), strict=True))
            row = {name: value for name, value in results[trial].items() if value is not None}
            judged[trial] = evaluator.row_of(trial[0]) | row
            if not row["passed"]:
                refused.add(trial[0])
            n_judged = len({piece for piece, _ in judged})
            bar.update(n_judged - bar.n)
            if callable(progress):
                progress(n_judged, bar.total)
    evaluator.made.clear()
    chosen = next((chain for chain in chains if (verdict(chain) or {}).get("passed")), None)
    unmade = [part for slot in slots_of_parts for part in slot if part and part.reason]
    pieces = dict.fromkeys(piece for piece, _ in judged)
    table = [row for row in map(verdict, pieces) if row is not None]
    table += [evaluator.row_of((part,)) | {"withheld": "", "passed": False, "reason": part.reason} for part in unmade]
    before = evaluator.before()
    search = Search(
        evaluator, pd.DataFrame(table, columns=ROW), before, len(every),
        is_cut=chosen is None and not all(map(is_refused, chains)),
        price_before=evaluator.priced(evaluator.records.filter(evaluator.known)),
    )  # fmt: skip
    if chosen is None:
        return replace(search, groups=evaluator.groups(evaluator.original(), before))
    steps, columns = [part.step for part in chosen], evaluator.shown(chosen)
    first_draw, released = evaluator.release(steps, columns, 0)
    row = judged[chosen, "full"]
    after = RiskReport.of_json(row["report"], evaluator.dataset.names[row["persons"]])
    return replace(
        search, chain=[step.listed for step in steps],
        withhold=[column for column in evaluator.known if column not in columns], after=after,
        released=released.table, losses=evaluator.losses(first_draw, columns),
        advised={column: row[column] for column in ROW},
        price_after=evaluator.priced(released.table), groups=evaluator.groups(released, after),
    )  # fmt: skip


def slots_of(tried: Mapping[str, Sequence[Step]], dataset: Dataset, limit: float) -> list[list[Step | None]]:
    """Return the candidates of table and places: those of the registry, larger classes, and to withhold the columns.

    Columns that must be kept are not withheld: `PLACE`, or columns of the table.
    """
    slots: list[list[Step | None]] = []
    for kind in ("table", "places"):
        if kind not in tried:
            continue
        steps = list(tried[kind])
        steps += _larger(steps, dataset, limit) if kind == "table" else _cells(steps, len(dataset), limit)
        needed = PLACE in dataset.must_keep if kind == "places" else bool(set(dataset.must_keep) - {PLACE})
        slots.append([*steps, *([] if needed else [None])])
    return slots if len(slots) > 1 else [[step for step in slot if step] for slot in slots]


def _larger(tried: Sequence[Step], dataset: Dataset, limit: float) -> list[Step]:
    """Return larger classes; where a sensitive column has few values, classes with shares close to its own.

    A share that exceeds the file's by t gains t / (1 - share) over guessing: at most the limit if t is that small.
    """
    larger: list[Step] = []
    shares = pd.Series(dtype=float)
    if dataset.first_sensitive is not None:
        shares = pd.DataFrame(dataset.data)[dataset.first_sensitive].value_counts(normalize=True)
    close = float(np.floor(100 * limit * (1 - shares.max())) / 100) if 2 <= len(shares) <= _VALUES else 0.0
    classes = {step.entry.name: step for step in tried if step.entry.classes and "k" in step.settings}
    for name, step in classes.items():
        usual = sorted({int(other.settings["k"]) for other in tried if other.entry.name == name})
        sizes = [k for k in _LARGER if k > max(usual) and 2 * k <= len(dataset)]
        larger += [_changed(step, k=k) for k in sizes]
        if close > 0 and "t" in step.settings:
            larger += [_changed(step, k=k, t=close) for k in [*usual, *sizes]]
    return larger


def _cells(tried: Sequence[Step], n: int, limit: float) -> list[Step]:
    """Return grids with enough records, or households, in a cell that each is one of several."""
    safest = int(np.ceil(1 / max(limit, 1e-3) - 1e-9))
    grids = [step for step in tried if step.settings.get("min_count") == 1]
    counts = [times * safest for times in _CROWDS if 10 * times * safest <= n]
    return [_changed(step, min_count=count) for step in grids for count in counts]


def _changed(step: Step, **settings: Any) -> Step:
    return Step(step.entry.name, **{**step.settings, **settings})
