"""Attack. Combinatorial Benders: the blocks to give up, found between conflicts and a covering problem."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import highspy
import numpy as np

from reident.base import BoolArray, FloatArray, IntArray
from reident.kernels.tables.hitting_set import small_hitting_set
from reident.tables.choquet._climb import climb
from reident.tables.choquet._learning_problem import Clock, LearningProblem
from reident.tables.choquet._margin_oracle import MarginOracle, OutOfTimeError, add_column, add_row, quiet_solver
from reident.tables.choquet._weight_cells import divide_weights

#: Rounds after which a weighted mean's bound is sought cell by cell: by then conflicts have proven all that is quick.
#: With more weights than these there are too many cells, and conflicts are the better way.
_ROUNDS_BEFORE_CELLS = 8
_MOST_WEIGHTS_IN_CELLS = 5

#: Exchanges of the local search for a pick: few, and many before the covering problem is solved exactly.
_STEPS = (1_000, 50_000)

#: More blocks than this are bounded in parts of about so many.
_MANY, _PART = 2_000, 400

#: The rounding allowed in a bound that is a whole number.
_WHOLE = 1e-6


@dataclass(frozen=True)
class Solution:
    """Result of a search, in places of `LearningProblem.blocks`.

    Attributes
    ----------
    x : ndarray of float64
        The best weights or measure found.
    given_up : int
        Blocks that miss eps at x, the impossible ones not counted.
    lower_bound : int
        No x gives up fewer.
    conflicts : list of tuple of int
        Irreducible sets of blocks that cannot all reach eps.
    """

    x: FloatArray
    given_up: int
    lower_bound: int
    conflicts: list[tuple[int, ...]]


def solve_benders(problem: LearningProblem, clock: Clock, deadline: float, rng: np.random.Generator) -> Solution:
    """Find the x that gives up the fewest blocks, and prove it, or return the best at the deadline.

    Each round picks blocks that hit every known conflict, asks the oracle whether the others hold together, and turns
    each refusal into a new irreducible conflict. A local search makes the picks, and only when it finds none below the
    best x is the covering problem solved exactly, which gives the lower bound. The search ends where the bound meets
    the best x. If no proof is found in half of the time, a local search runs for a quarter of it, and the search
    resumes: conflicts may bring a good x late, and the risk would be underestimated. A weighted mean of few columns
    that is not proven after a few rounds is searched cell by cell; the conflicts then show why each block given up at
    the best x cannot be taken back, but do not prove the bound. More than 2,000 blocks are bounded in parts.
    """
    if problem.blocks.size > _MANY:
        return _solve_in_parts(problem, clock, deadline, rng)
    return _Search(problem, clock, deadline, rng).run()


def _solve_in_parts(problem: LearningProblem, clock: Clock, deadline: float, rng: np.random.Generator) -> Solution:
    """Take a good x of all blocks, and bound the loss of any x by its loss in each part of the blocks.

    Every part may have another x, so that the sum of the parts' bounds is a bound, and seldom met.
    """
    candidates = [climb(problem, rng)]
    lower, conflicts = 0, []
    n = problem.blocks.size
    parts = np.array_split(rng.permutation(n), math.ceil(n / _PART))
    for k, wanted in enumerate(parts):
        now = clock.now()
        solution = solve_benders(problem.part(wanted), clock, now + (deadline - now) / (len(parts) - k), rng)
        lower += solution.lower_bound
        conflicts += [tuple(sorted(wanted[list(conflict)].tolist())) for conflict in solution.conflicts]
        candidates.append(solution.x)
    missed = [int((problem.margins(x)[0] < problem.eps).sum()) for x in candidates]
    best = int(np.argmin(missed))
    return Solution(candidates[best], missed[best], lower, conflicts)


class _Search:
    def __init__(self, problem: LearningProblem, clock: Clock, deadline: float, rng: np.random.Generator) -> None:
        self.problem, self.clock, self.deadline, self.rng = problem, clock, deadline, rng
        self.n = problem.blocks.size
        self.best_x, self.best, self.lower = problem.even(), self.n + 1, 0
        self.conflicts: dict[tuple[int, ...], None] = {}  # in order
        self.begun, self.rounds, self.until = False, itertools.count(), deadline
        self.oracle = MarginOracle(problem, clock, deadline, self.watch)
        self.try_out(self.best_x)

    def watch(self, x: FloatArray, margins: FloatArray) -> None:
        """Keep the best x seen, whatever it was computed for."""
        missed = int((margins < self.problem.eps).sum())
        if missed < self.best:
            self.best, self.best_x = missed, x.copy()

    def run(self) -> Solution:
        now = self.clock.now()
        quarter = (self.deadline - now) / 4
        # The oracle is slow for a bilinear form, and a good x makes many questions needless.
        climb_first = self.problem.model == "bilinear"
        if climb_first or not self.search(now + 2 * quarter):
            climb_until = now if climb_first else self.deadline - quarter
            while self.lower < self.best:
                self.try_out(climb(self.problem, self.rng, self.clock, self.deadline))
                if self.clock.now() > climb_until:
                    break
            if not self.search(self.deadline):
                self.lower = max(self.lower, cover_bound([*self.conflicts]))
        return Solution(self.best_x, self.best, self.lower, [*self.conflicts])

    def search(self, until: float) -> bool:
        """Search until a time, from the present state; return whether the search came to its end."""
        self.until = self.oracle.deadline = until
        is_mean = self.problem.model == "weighted_mean"
        has_few_weights = is_mean and self.problem.n_variables <= _MOST_WEIGHTS_IN_CELLS
        try:
            if self.best > 0 and not self.begun:
                self.begun = True
                self.explore(np.zeros(self.n, dtype=bool))
            while self.lower < self.best:
                if next(self.rounds) == _ROUNDS_BEFORE_CELLS and has_few_weights:
                    self.divide()
                    continue
                pick = self.cheap_pick()
                if pick.sum() >= self.best:
                    lower, better = solve_cover(self.n, [*self.conflicts], self.best, self.clock, self.until)
                    self.lower = max(self.lower, lower)
                    if better is None:
                        break
                    pick = better
                self.explore(pick)
            self.widen()
        except OutOfTimeError:
            return False
        return True

    def divide(self) -> None:
        """Search the simplex of weights cell by cell, for half of the time left: it brings a good x itself."""
        self.until = self.oracle.deadline = self.deadline
        now = self.clock.now()
        bound = divide_weights(self.problem, self.try_out, self.clock, now + (self.deadline - now) / 2)
        self.lower = max(self.lower, bound)
        self.take_back(self.problem.margins(self.best_x)[0] >= self.problem.eps)

    def try_out(self, x: FloatArray) -> int:
        """Keep x if it is the best so far; return the fewest blocks given up."""
        self.watch(x, self.problem.margins(x)[0])
        return self.best

    def explore(self, dropped: BoolArray) -> None:
        """Drop more blocks until the others hold together, then take back all that fit: every refusal is a conflict."""
        active = ~dropped
        while True:
            answer = self.oracle.test(active)
            if not isinstance(answer, list):
                break
            conflict = self.learn(answer)
            active[list(conflict)] = False
        self.take_back(answer[1] >= self.problem.eps)

    def take_back(self, satisfied: BoolArray) -> None:
        """Add to the blocks that hold together all that fit: every refusal is a conflict."""
        for block in self.rng.permutation(np.flatnonzero(~satisfied)):
            if satisfied[block]:
                continue
            trial = satisfied.copy()
            trial[block] = True
            answer = self.oracle.test(trial)
            if isinstance(answer, list):
                self.learn(answer)
            else:
                satisfied = (answer[1] >= self.problem.eps) | trial

    def learn(self, blocks: list[int]) -> tuple[int, ...]:
        """Shrink a conflict until every block in it is needed, and remember it."""
        oracle = self.oracle.narrowed(blocks)
        for block in self.rng.permutation(blocks):
            if block not in blocks or len(blocks) == 1:
                continue
            active = np.zeros(self.n, dtype=bool)
            active[[other for other in blocks if other != block]] = True
            answer = oracle.test(active)
            if isinstance(answer, list):
                blocks = answer
        conflict = tuple(sorted(blocks))
        self.conflicts[conflict] = None
        return conflict

    def cheap_pick(self) -> BoolArray:
        """Hit all conflicts with few blocks, fewer than the best x gives up if a long local search finds that."""
        sizes = [len(conflict) for conflict in self.conflicts]
        starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        members = np.fromiter(itertools.chain.from_iterable(self.conflicts), np.int64, starts[-1])
        for steps in _STEPS:
            pick = small_hitting_set(starts, members, self.n, steps, self.rng)
            self.clock.count(steps / 1000)
            if pick.sum() < self.best:
                break
        return pick

    def widen(self) -> None:
        """Replace the best x by the one with the widest margin among those that link the same blocks."""
        satisfied = self.problem.margins(self.best_x)[0] >= self.problem.eps
        if not satisfied.any():
            return
        x = self.oracle.widest(satisfied)
        if (self.problem.margins(x)[0][satisfied] >= self.problem.eps).all():
            self.best_x = x


def cover_bound(conflicts: list[tuple[int, ...]]) -> int:
    """Return a lower bound of the blocks that hit every conflict: the covering problem in shares of blocks."""
    if not conflicts:
        return 0
    model, _ = _covering(conflicts, integral=False)
    model.run()
    return math.ceil(model.getInfo().objective_function_value - _WHOLE)


def solve_cover(
    n: int, conflicts: list[tuple[int, ...]], best: int, clock: Clock, deadline: float
) -> tuple[int, BoolArray | None]:
    """Return a lower bound of the blocks that hit every conflict, and a pick of fewer than `best` of n blocks.

    Without such a pick the bound is `best`, or less at the deadline.
    """
    if clock.now() >= deadline:
        return min(best, cover_bound(conflicts)), None
    model, blocks = _covering(conflicts, integral=True)
    add_row(model, -highspy.kHighsInf, np.arange(blocks.size), high=best - 0.5)
    model.setOptionValue("mip_rel_gap", 0.0)
    clock.run(model, deadline)
    if model.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
        return best, None
    info = model.getInfo()
    bound = math.ceil(info.mip_dual_bound - _WHOLE) if math.isfinite(info.mip_dual_bound) else 0
    if info.primal_solution_status:
        pick = np.zeros(n, dtype=bool)
        pick[blocks] = np.array(model.getSolution().col_value) > 0.5
        if pick.sum() < best and all(pick[list(conflict)].any() for conflict in conflicts):
            return min(bound, int(pick.sum())), pick
    return min(bound, best), None


def _covering(conflicts: list[tuple[int, ...]], *, integral: bool) -> tuple[highspy.Highs, IntArray]:
    """Return the covering problem of the blocks in conflicts, and these blocks."""
    model = quiet_solver()
    blocks = np.unique(np.concatenate(conflicts)).astype(np.int64)
    for _ in blocks:
        add_column(model, 1.0, 0.0, 1.0, integral=integral)
    for conflict in conflicts:
        add_row(model, 1.0, np.searchsorted(blocks, conflict))
    return model, blocks
