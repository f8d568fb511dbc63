"""Search chains of methods for the most useful release that `check` would let pass: the whole panel judges each."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from reident._old_sweep._progress import Progress
from reident.workbench.dataset import Dataset
from reident.workbench.evaluate import RiskReport
from reident.workbench.judging import PLACE, ROW, Bench, Judged, Part, Verdicts, told_of
from reident.workbench.knowledge import KnowledgePrice
from reident.workbench.making import Step

__all__ = ["DRAWS", "MOST_JUDGED", "PLACE", "Search", "search_release"]

#: Releases drawn of a chain that draws, by profile: each must pass.
DRAWS = {"smoke": 2, "quick": 5, "full": 20}
#: Chains that are judged at most, the most useful first.
MOST_JUDGED = 80


@dataclass(frozen=True, eq=False)
class Search:
    """What a search found.

    Attributes
    ----------
    candidates : DataFrame
        One row a release judged, in the order of judging, then those that could not be made: ``chain`` (text),
        ``withheld`` (columns), ``kept`` (mean share of its columns that a release keeps), ``share_above_limit``,
        ``n_above``, ``worst``, ``attack`` (that puts most persons above the limit), ``passed``, ``reason`` (why it
        could not be made).
    before : RiskReport
        The data as they are.
    original : DataFrame
        The records that were judged, places in ``lat_deg`` and ``lon_deg``. Confidential.
    known : list of str
        The columns that the intruder is given.
    n_chains : int
        Chains that could be made of the steps tried.
    draws : int
        Releases of each chain that draws; every one had to pass.
    scale : float
        How many records of the file each of those judged stands for: more than 1 where a sample was drawn.
    groups : list of str
        What households and survey weights add, a sentence each, about the advised release, else the data as they are.
    price_before, price_after : KnowledgePrice or None
        What each piece of knowledge is worth with the data as they are (columns only) and with the advised release.
    chain : list of dict
        The advised steps as a recipe has them; empty, as all below is, where nothing passed.
    withhold : list of str
        The columns that the advised release leaves out.
    after : RiskReport or None
        The advised release, in the first draw.
    released : DataFrame or GeoDataFrame or None
        Its first draw: the index tells the records of the data. Confidential.
    losses : mapping of str to float
        Share of each column lost, from 0 to 1; of the place as `PLACE`.
    advised : mapping
        Its row of the candidates.
    """

    candidates: pd.DataFrame
    before: RiskReport
    original: pd.DataFrame
    known: list[str]
    n_chains: int
    draws: int
    scale: float = 1.0
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
    def nearest(self) -> pd.Series | None:
        """The candidate with the fewest persons above the limit among those that were refused."""
        refused = self.judged[~self.judged["passed"].astype(bool)]
        return None if refused.empty else refused.loc[refused["share_above_limit"].astype(float).idxmin()]

    @property
    def alone(self) -> pd.Series | None:
        """The steps of a chain that pass by themselves where none passes with the others: of them who keep most."""
        passing = self.judged[self.judged["passed"].astype(bool)]
        return None if self.passed or passing.empty else passing.loc[passing["kept"].astype(float).idxmax()]


def search_release(
    dataset: Dataset,
    slots: Sequence[Sequence[Step | None]],
    *,
    others: Sequence[str] = (),
    limit: float = 0.25,
    tolerate: float = 0.0,
    missing: str = "label",
    draws: int = 5,
    most: int = MOST_JUDGED,
    seed: int = 0,
    scale: float = 1.0,
    folder: str | Path | None = None,
    progress: bool = False,
) -> Search:
    """Judge the chains that the slots allow, the most useful first, until one passes.

    A chain takes one step of each slot; a slot that may be None withholds its columns. A release passes if at most the
    tolerated share of persons is above the limit under every attack that `check` would run, in each of the draws;
    costly attacks meet the first draw of a release that passed the others. A release has the evidence of its parts:
    where one part, by itself, is refused, no chain with it is judged.

    Parameters
    ----------
    dataset : Dataset
    slots : sequence of sequence of Step or None
    others : sequence of str
        Columns released as they are.
    limit, tolerate, missing, seed
        As for `check` and `protect`.
    draws : int
        Releases of each chain that draws.
    most : int
        Chains that are judged at most.
    scale : float
        How many records of the file each of these stands for.
    folder : path, optional
        Where what was found of each candidate is kept: the same search goes on from it and judges none again.
    progress : bool
        Show how many chains are settled.
    """
    bench = Bench(dataset, list(others), limit, tolerate, missing, draws, seed)
    parts = [[bench.part(step, slot) for step in slot] for slot in slots]
    touched = [column for slot in parts for column in dict.fromkeys(c for part in slot for c in part.columns)]
    # Columns that no slot is about are released as they are.
    bench = replace(bench, always=frozenset(set(dataset.quasi) - set(touched)), scale=scale)
    chains = sorted(itertools.product(*parts), key=bench.promise, reverse=True)
    chains = [chain for chain in chains if any(part.step for part in chain)]
    apart = len(touched) == len(set(touched))  # else a part alone may be weaker than with another one on its columns
    kept = None if folder is None else Verdicts(Path(folder) / "search", bench)
    judged: dict[tuple[int, ...], Judged] = {}
    found: tuple[Part, ...] = ()
    with Progress("search", len(chains), unit="chains", enabled=progress) as bar:
        for chain in chains:
            bar.advance()
            steps = [part for part in chain if part.step]
            if len(judged) >= most:
                break
            # Places first: they are judged in a fraction of the time.
            alone = sorted(steps, key=lambda p: PLACE not in p.columns) if apart and len(steps) > 1 else []
            refused = any((id(part),) in judged and not judged[(id(part),)].passed for part in alone)
            if refused or any(part.reason for part in steps):
                continue
            for own in [*((part,) for part in alone), tuple(steps)]:
                key: tuple[int, ...] = tuple(map(id, own))
                if key not in judged:
                    bar.partial(0.0, {"judging": bench.row_of(own)["chain"]})
                    judged[key] = bench.judge(own) if kept is None else kept.judge(own)
                if not judged[key].passed:
                    break
            else:
                found = own
                break
    if not found:  # the search may end before it comes to a chain that passed as a part of others
        steps_of = (tuple(part for part in chain if part.step) for chain in chains)
        passed = {key for key, one in judged.items() if one.passed}
        found = next((own for own in steps_of if tuple(map(id, own)) in passed), ())
    unmade = [part for slot in parts for part in slot if part.reason]
    rows = [one.row for one in judged.values()]
    rows += [bench.row_of((part,)) | {"withheld": "", "passed": False, "reason": part.reason} for part in unmade]
    told = pd.DataFrame(rows, columns=ROW)
    before, plain = bench.before(), bench.plain()
    known = [name for name in bench.protected if name != PLACE]
    search = Search(told, before, plain, known, len(chains), draws, scale, price_before=bench.priced(plain[known]))
    if not found:
        return replace(search, groups=bench.groups(bench.as_they_are(), before))
    advised = judged[tuple(map(id, found))]
    shown = advised.shown or bench.shown(found)
    return replace(
        search,
        chain=[told_of(part.step) for part in found if part.step],
        withhold=[name for name in bench.withheld(found) if name != PLACE],
        after=shown.panel,
        released=shown.table,
        losses=shown.losses,
        advised=advised.row,
        price_after=bench.priced(shown.table),
        groups=bench.groups(shown.released, shown.panel),
    )
