"""Attack. Ranges of the learned weights: the optimum is a polytope, not a point.

All measures that link the same records form a polytope; every value of a measure, Shapley value and interaction is
linear on it, so its smallest and largest value are linear programmes whose rows are added when an x violates them.
Other sets of equally many records may be linked, too; they are enumerated with the conflicts that exclude the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import highspy
import numpy as np
import pandas as pd

from reident.base import BoolArray, FloatArray
from reident.tables.choquet._learning_problem import Clock, LearningProblem
from reident.tables.choquet._margin_oracle import MarginOracle, OutOfTimeError, add_column, add_row, quiet_solver
from reident.tables.choquet.fuzzy_measure import interactions, shapley_values

#: Differences of Shapley values below this are the solver's rounding.
_ROUNDING = 1e-7


@dataclass(frozen=True)
class LinkageRanges:
    """The smallest and the largest learned values, over all measures that link as many records.

    Attributes
    ----------
    measure : DataFrame
        Columns `low` and `high`, one row a non-empty set of columns, indexed by the tuple of its names.
    shapley : DataFrame
        Columns `low` and `high`, indexed by column: each value is attained by some optimal measure.
    interaction : DataFrame
        Columns `low` and `high`, indexed by the tuple of two columns; 0 for a weighted mean.
    ahead : DataFrame of bool
        Whether the row's Shapley value is above the column's in every measure covered: only then does one lead.
    n_sets : int
        Sets of linked records that the ranges cover.
    is_complete : bool
        Whether these are all there are. If not, the ranges are those of the sets found, and may be wider.
    """

    measure: pd.DataFrame
    shapley: pd.DataFrame
    interaction: pd.DataFrame
    ahead: pd.DataFrame
    n_sets: int
    is_complete: bool

    @property
    def leader(self) -> str | None:
        """The column with the largest Shapley value in every measure covered, None if there is none."""
        leads = self.ahead.sum(axis=1) == len(self.ahead) - 1
        return str(leads.idxmax()) if leads.any() else None


def find_ranges(
    problem: LearningProblem,
    x: FloatArray,
    conflicts: Sequence[tuple[int, ...]],
    columns: Sequence[str],
    used: BoolArray,
    *,
    enumerate_sets: bool,
    max_sets: int,
    clock: Clock,
    deadline: float,
) -> LinkageRanges:
    """Return the ranges over the polytopes of all sets found within the limits; x is one optimal point."""
    first = problem.margins(x)[0] >= problem.eps
    sets, complete = [first], not problem.blocks.size
    if enumerate_sets and problem.blocks.size:
        try:
            for linked in _other_sets(problem, first, conflicts, clock, deadline):
                if len(sets) == max_sets:
                    break
                sets.append(linked)
            else:
                complete = True
        except OutOfTimeError:
            complete = False
    names = [column for column, keep in zip(columns, used, strict=True) if keep]
    low, high = _extremes(problem, names, sets)
    return _frames(low, high, columns, names, len(sets), complete)


def _extremes(
    problem: LearningProblem, names: Sequence[str], sets: Sequence[BoolArray]
) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and largest value of each linear function of x over the polytopes of sets of linked blocks.

    Every x that solves one programme is a value of all functions: where an end that no x can pass is reached, no
    programme is left. Larger sets are made small first, smaller ones large: a measure is monotone. And every programme
    names the blocks whose rows prove its value: where they are all linked again, no x passes it again. Sets of blocks
    that link as many differ in few, so that most programmes of later sets need not be solved.
    """
    functionals, least, greatest = _functionals(problem, names)
    low, high = np.full(len(least), np.inf), np.full(len(least), -np.inf)
    oracle = MarginOracle(problem, Clock(), np.inf, None)
    n_sets = 2 ** (problem.n_columns.bit_length() - 1) - 1 if problem.model == "choquet" else 0
    by_size = np.argsort([int(mask).bit_count() for mask in range(1, n_sets + 1)], kind="stable")
    others = range(n_sets, len(low))
    order = [(row, 1) for row in [*by_size[::-1], *others]] + [(row, -1) for row in [*by_size, *others]]
    proofs: defaultdict[tuple[int, int], list[list[int]]] = defaultdict(list)
    for linked in sets:
        for row, sign in order:
            ended = low[row] <= least[row] + _ROUNDING if sign > 0 else high[row] >= greatest[row] - _ROUNDING
            if ended or any(linked[blocks].all() for blocks in proofs[row, sign]):
                continue
            x, holding = oracle.extreme(linked, sign * functionals[row])
            values = functionals @ x
            np.minimum(low, values, out=low)
            np.maximum(high, values, out=high)
            proofs[row, sign].append(holding)
    return low, high


def _other_sets(
    problem: LearningProblem, first: BoolArray, conflicts: Sequence[tuple[int, ...]], clock: Clock, deadline: float
) -> Iterator[BoolArray]:
    """Yield the other sets of as many blocks that can be linked together: complements of covers of all conflicts."""
    cover = _Covers(problem.blocks.size, int((~first).sum()))
    for conflict in conflicts:
        cover.forbid(conflict)
    cover.exclude(~first)
    oracle = MarginOracle(problem, clock, deadline, None)
    while (pick := cover.next(clock, deadline)) is not None:
        answer = oracle.test(~pick)
        if isinstance(answer, list):
            cover.forbid(tuple(answer))
        else:
            cover.exclude(pick)
            yield ~pick


class _Covers:
    """Sets of so many blocks that hit every conflict, one after the other."""

    def __init__(self, n: int, size: int) -> None:
        self.size = size
        self.model = quiet_solver()
        for _ in range(n):
            add_column(self.model, 0.0, 0.0, 1.0, integral=True)
        add_row(self.model, size, np.arange(n), high=size)

    def forbid(self, conflict: tuple[int, ...]) -> None:
        """Give up at least one block of a conflict."""
        add_row(self.model, 1.0, conflict)

    def exclude(self, pick: BoolArray) -> None:
        """Do not return this set again."""
        places = np.flatnonzero(pick)
        add_row(self.model, -highspy.kHighsInf, places, high=places.size - 1)

    def next(self, clock: Clock, deadline: float) -> BoolArray | None:
        if clock.now() >= deadline:
            raise OutOfTimeError
        if not self.size:
            return None
        clock.run(self.model, deadline)
        status = self.model.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            return None
        if status != highspy.HighsModelStatus.kOptimal:
            raise OutOfTimeError
        return np.asarray(np.array(self.model.getSolution().col_value) > 0.5)


def _functionals(problem: LearningProblem, names: Sequence[str]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return linear functions of x, one a row, and the ends that none passes.

    They are measures of sets, Shapley values, their differences, and interactions; of a difference its least value is
    asked for only, since the greatest is that of the pair the other way round.
    """
    p = len(names)
    masks, most = np.arange(1, 2**p), 1.0
    if problem.model == "weighted_mean":
        measures = ((masks[:, None] >> np.arange(p)) & 1).astype(float)
        shapley, crossed, most = np.eye(p), np.zeros((p * (p - 1) // 2, p)), 0.0
    else:  # linear: the index of the function that is 1 on a set alone is the coefficient of the set
        sets = np.eye(2**p)
        measures, shapley, crossed = sets[1:], shapley_values(sets).T, interactions(sets).T
    differences = np.reshape([shapley[i] - shapley[j] for i, j in permutations(range(p), 2)], (-1, shapley.shape[1]))
    parts = [(measures, 0, 1), (shapley, 0, 1), (differences, -1, -np.inf), (crossed, -most, most)]
    lowest, greatest = (np.concatenate([np.full(len(part[0]), float(part[end])) for part in parts]) for end in (1, 2))
    return np.vstack([part[0] for part in parts]), lowest, greatest


def _frames(
    low: FloatArray,
    high: FloatArray,
    columns: Sequence[str],
    names: Sequence[str],
    n_sets: int,
    complete: bool,
) -> LinkageRanges:
    p = len(names)
    ends = np.cumsum([2**p - 1, p, p * (p - 1)])
    measures, shapley, differences, crossed = (
        np.column_stack([part_low, part_high])
        for part_low, part_high in zip(np.split(low, ends), np.split(high, ends), strict=True)
    )
    by_set: dict[tuple[str, ...], FloatArray] = {}
    for size in range(1, len(columns) + 1):
        for chosen in combinations(columns, size):
            mask = sum(1 << names.index(name) for name in chosen if name in names)
            by_set[chosen] = measures[mask - 1] if mask else np.zeros(2)
    by_pair: dict[tuple[str, ...], FloatArray] = dict(zip(combinations(names, 2), crossed, strict=True))
    by_column = pd.DataFrame(shapley, index=list(names), columns=["low", "high"])
    ahead = np.zeros((p, p), dtype=bool)
    ahead[~np.eye(p, dtype=bool)] = differences[:, 0] > _ROUNDING
    return LinkageRanges(
        measure=_indexed(by_set),
        shapley=by_column.reindex(list(columns), fill_value=0.0).rename_axis("variable"),
        interaction=_indexed(by_pair),
        ahead=pd.DataFrame(ahead, index=list(names), columns=list(names)),
        n_sets=n_sets,
        is_complete=complete,
    )


def _indexed(rows: Mapping[tuple[str, ...], FloatArray]) -> pd.DataFrame:
    values = np.array(list(rows.values())).reshape(-1, 2)
    index = pd.Index(list(rows), tupleize_cols=False, name="variables")
    return pd.DataFrame(values, index=index, columns=["low", "high"])
