"""Attack. A linear programme decides whether blocks can all be linked at once: it returns an x, or a conflict."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import highspy
import numpy as np

from reident.base import BoolArray, FloatArray, IntArray
from reident.tables.choquet._learning_problem import Clock, LearningProblem, as_square, as_triangle, tidy_solution

_ROWS_AT_ONCE = 30

#: An eigenvalue below minus this is cut off: far less than a margin where a set of blocks is judged, less than can be
#: seen where the widest margin is sought.
_JUDGED, _SOUGHT = 1e-9, 1e-5

# HiGHS's numbers of its simplex methods.
_DUAL, _PRIMAL = 1, 4

#: Stands for a block where a row is a cut.
_CUT = -1


class OutOfTimeError(Exception):
    """The time limit was reached inside the search."""


class MarginOracle:
    """Maximise the least margin t of a set of blocks, adding rows only when an x violates them.

    Rows once added stay in the model; those of blocks that are not asked for are made free, so that the simplex basis
    of one question serves the next. The positive semidefinite matrices of a bilinear form are no polytope: an x that is
    none of them is cut off by v' M v >= 0 for each of its eigenvectors v of a negative eigenvalue (Kelley's planes).
    Every such row holds for all of them, so that a refusal stays a proof.

    Parameters
    ----------
    problem : LearningProblem
        Rows, structure and eps.
    clock, deadline : Clock, float
        Its time at which `OutOfTimeError` is raised.
    watch : callable
        Called with (x, margins) for every x seen: any of them may link more blocks than were asked for. None: with no
        x, and only the margins of the blocks asked for are computed.
    """

    def __init__(
        self,
        problem: LearningProblem,
        clock: Clock,
        deadline: float,
        watch: Callable[[FloatArray, FloatArray], None] | None,
        template: highspy.HighsLp | None = None,
        cuts: Iterable[FloatArray] = (),
    ) -> None:
        self.problem = problem
        self.clock, self.deadline = clock, deadline
        self.watch = watch
        self._template = structure(problem) if template is None else template
        self._model = lp_solver(self._template)
        self._t = problem.n_columns
        self._first_row = self._model.getNumRow()
        self._pool: list[int] = []
        self._pooled: set[int] = set()
        self._known: defaultdict[int, list[int]] = defaultdict(list)
        self._rows_of: defaultdict[int, list[int]] = defaultdict(list)
        self._active = np.zeros(problem.blocks.size, dtype=bool)
        self._cuts: list[FloatArray] = []
        for cut in cuts:
            self._add_cut(cut)

    def narrowed(self, blocks: list[int]) -> MarginOracle:
        """Return an oracle that knows the rows of these blocks only: questions about few blocks are cheaper."""
        oracle = MarginOracle(self.problem, self.clock, self.deadline, None, self._template, self._cuts)
        oracle._add(np.array([row for block in blocks for row in self._known[block]], np.int64), limit=None)
        return oracle

    def test(self, active: BoolArray) -> tuple[FloatArray, FloatArray] | list[int]:
        """Return (x, margins) if the active blocks reach eps together, else a set of them that cannot."""
        eps = self.problem.eps
        self._activate(active)
        tested = np.flatnonzero(active)
        while True:
            x, t, dual = self._solve()
            if t <= eps:
                return self._conflict(dual)
            outside = self._cut(x, _JUDGED)
            if outside:
                x = tidy_solution(x, self.problem.model)
            margins, worst = self.problem.margins(x, tested)
            short = tested[margins[tested] < eps]
            if outside and short.size:
                self._add(worst[short[np.argsort(margins[short])]])
                continue
            # A row that is in the model already misses eps by the solver's tolerance only; t says it is as good as met.
            if not short.size or not self._add(worst[short[np.argsort(margins[short])]]):
                if self.watch is not None:
                    margins, _ = self.problem.margins(x)
                    self.watch(x, margins)
                return x, margins

    def widest(self, active: BoolArray) -> FloatArray:
        """Return the x at which the least margin of the active blocks is greatest."""
        self._activate(active)
        while True:
            x, t, _ = self._solve()
            if self._cut(x, _SOUGHT):
                continue
            x = tidy_solution(x, self.problem.model) if self._cuts else x
            margins, worst = self.problem.margins(x)
            short = np.flatnonzero(active & (margins < t - 1e-8))
            if not short.size or not self._add(worst[short[np.argsort(margins[short])]]):
                return x

    def extreme(self, active: BoolArray, objective: FloatArray) -> tuple[FloatArray, list[int]]:
        """Return the x that minimises a linear objective among those at which all active blocks reach eps.

        Beside it the blocks whose rows prove that no x is lower. The oracle then answers no other question: its t
        stands at eps.
        """
        self._activate(active)
        self._model.changeColBounds(self._t, self.problem.eps, self.problem.eps)
        columns = np.arange(self._t + 1, dtype=np.int32)
        self._model.changeColsCost(columns.size, columns, np.append(objective, 0.0))
        # The last x is still allowed if no block was added: the primal simplex goes on from it.
        self._model.setOptionValue("simplex_strategy", _PRIMAL)
        while True:
            x, _, dual = self._solve()
            margins, worst = self.problem.margins(x)
            short = np.flatnonzero(active & (margins < self.problem.eps * (1 - 1e-2)))
            if not short.size or not self._add(worst[short[np.argsort(margins[short])]]):
                return x, self._conflict(dual)
            self._model.setOptionValue("simplex_strategy", _DUAL)

    def _solve(self) -> tuple[FloatArray, float, FloatArray]:
        if self.clock.now() > self.deadline:
            raise OutOfTimeError
        self.clock.count()
        self._model.run()
        solution = self._model.getSolution()
        values = np.array(solution.col_value)
        return values[: self._t].copy(), float(values[self._t]), np.array(solution.row_dual)

    def _conflict(self, dual: FloatArray) -> list[int]:
        """Return the blocks of the rows in the dual's support: their combination bounds t, whatever the others do."""
        support = np.flatnonzero(np.abs(dual[self._first_row :]) > 1e-9)
        return sorted({self._pool[row] for row in support} - {_CUT})

    def _cut(self, x: FloatArray, tolerance: float) -> bool:
        """Cut x off if it is no positive semidefinite matrix, and return whether it was."""
        if self.problem.model != "bilinear":
            return False
        values, vectors = np.linalg.eigh(as_square(x))
        for v in vectors.T[values < -tolerance]:
            self._add_cut(v)
        return bool(values[0] < -tolerance)

    def _add_cut(self, v: FloatArray) -> None:
        row = as_triangle(form(v))
        add_row(self._model, 0.0, np.arange(row.size), row)
        self._pool.append(_CUT)
        self._cuts.append(v)

    def _activate(self, active: BoolArray) -> None:
        for block in np.flatnonzero(active != self._active):
            for row in self._rows_of[int(block)]:
                self._model.changeRowBounds(row, 0.0 if active[block] else -highspy.kHighsInf, highspy.kHighsInf)
        self._active = active.copy()

    def _add(self, rows: IntArray, limit: int | None = _ROWS_AT_ONCE) -> bool:
        new = [int(row) for row in rows[:limit] if int(row) not in self._pooled]
        for row in new:
            block = self.problem.block_of(row)
            used = self.problem.value[row] != 0.0
            columns = np.append(self.problem.index[row][used], self._t)
            values = np.append(self.problem.value[row][used], -1.0)
            self._rows_of[block].append(self._model.getNumRow())
            low = 0.0 if self._active[block] else -highspy.kHighsInf
            add_row(self._model, low, columns, values)
            self._pool.append(block)
            self._known[block].append(row)
            self._pooled.add(row)
        return bool(new)


def quiet_solver() -> highspy.Highs:
    """Return a HiGHS instance without output and with one thread: the same answer on every machine."""
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    return model


def add_row(
    model: highspy.Highs, low: float, columns: Any, values: Any = None, high: float = highspy.kHighsInf
) -> None:
    """Add a row of some columns, with coefficients 1 by default."""
    values = np.ones(len(columns)) if values is None else np.asarray(values)
    model.addRow(low, high, len(columns), np.asarray(columns, np.int32), values)


def add_column(model: highspy.Highs, cost: float, low: float, high: float, *, integral: bool = False) -> None:
    """Add a column without rows."""
    model.addCol(cost, low, high, 0, np.array([], np.int32), np.array([]))
    if integral:
        model.changeColIntegrality(model.getNumCol() - 1, highspy.HighsVarType.kInteger)


def lp_solver(template: highspy.HighsLp) -> highspy.Highs:
    """Return a solver of a copy of `template` that keeps its basis from one run to the next."""
    model = quiet_solver()
    for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
        model.setOptionValue(name, 1e-10)
    model.setOptionValue("presolve", "off")
    model.setOptionValue("solver", "simplex")
    model.passModel(template)
    return model


def structure(problem: LearningProblem) -> highspy.HighsLp:
    """Return "maximise t" over all x, without rows: a simplex of weights, the monotone measures, or matrices.

    Of matrices only that they have trace 1 and are not negative along the sums and differences of two axes: a polytope
    around the positive semidefinite ones.
    """
    model = quiet_solver()
    size = problem.n_columns
    choquet = problem.model == "choquet"
    diagonal = as_triangle(np.eye(problem.n_variables)) if problem.model == "bilinear" else np.ones(size)
    for column in range(size):
        low = 1.0 if choquet and column == size - 1 else 0.0 if diagonal[column] else -0.5
        high = 0.0 if choquet and column == 0 else 1.0 if diagonal[column] else 0.5
        add_column(model, 0.0, low, high)
    if not choquet:  # the trace, or the sum of the weights
        add_row(model, 1.0, np.flatnonzero(diagonal), high=1.0)
    if problem.model == "bilinear":
        for unit, other in itertools.combinations(np.eye(problem.n_variables), 2):
            for v in (unit + other, unit - other):
                add_row(model, 0.0, np.arange(size), as_triangle(form(v)))
    for small, large in problem.order_pairs():
        if large != size - 1:
            add_row(model, 0.0, [large, small], [1.0, -1.0])
    add_column(model, -1.0, -2.0, 1.0)
    return model.getLp()


def form(v: FloatArray) -> FloatArray:
    """Return the matrix with the coefficients of v' M v in the upper triangle of M in its upper triangle."""
    return 2.0 * np.outer(v, v) - np.diag(v * v)
