"""Attack. Combinatorial Benders: which blocks to give up, found between conflicts and a covering problem."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from reident.base import BoolArray, FloatArray, IntArray
from reident.kernels.tables.hitting_set import cheap_hitting_set
from reident.tables.choquet._climb import climb
from reident.tables.choquet._cover import Cover
from reident.tables.choquet._learning_problem import LearningProblem
from reident.tables.choquet._margin_oracle import MarginOracle, OutOfTimeError
from reident.tables.choquet._weight_cells import divide_weights

__all__ = ["Solution", "solve_benders"]

#: Rounds after which a weighted mean's bound is sought cell by cell: what conflicts prove quickly they have by then.
#: With more weights than these there are too many cells, and conflicts are the better way.
_ROUNDS_BEFORE_CELLS = 8
_MOST_WEIGHTS_IN_CELLS = 5

#: Exchanges of the local search for a pick: few, and many before the covering problem must tell that there is none.
_STEPS = (1_000, 50_000)


#: More blocks than this are bounded in parts of about so many.
_MANY, _PART = 2_000, 400


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


def solve_benders(
    problem: LearningProblem,
    deadline: float,
    rng: np.random.Generator,
    *,
    costs: IntArray | None = None,
    conflicts: Iterable[tuple[int, ...]] = (),
) -> Solution:
    """Find the x that gives up the fewest blocks, and prove it, or return the best at the deadline.

    `costs` counts a block several times or not at all, as a resample does; `conflicts` known from an earlier search of
    the same rows are taken over.

    Each round picks blocks that hit every known conflict, asks the oracle whether the others hold together, and turns
    each refusal into a new irreducible conflict. A local search makes the picks, and only when it finds none below the
    best x is the covering problem solved exactly, which gives the lower bound. The search ends where the bound meets
    the best x. What is not proven at half of the time climbs for a quarter of it, and goes on from there: conflicts may
    bring a good x late, and the intruder would be taken for weak. A weighted mean of few columns that is not proven
    after a few rounds is searched cell by cell; the conflicts then say why each block given up at the best x cannot be
    taken back, but do not prove the bound. More than 2,000 blocks are bounded in parts.
    """
    if costs is None and problem.blocks.size > _MANY:
        return _solve_in_parts(problem, deadline, rng)
    each = np.ones(problem.blocks.size, np.int64) if costs is None else costs
    return _Search(problem, deadline, rng, each, conflicts).run()


def _solve_in_parts(problem: LearningProblem, deadline: float, rng: np.random.Generator) -> Solution:
    """Take a good x of all blocks, and bound the loss of any x by its loss in each part of the blocks.

    Every part may have an x of its own, so that the sum of what the parts give up at least is a bound, and seldom met.
    """
    n = problem.blocks.size
    candidates = [climb(problem, np.ones(n, np.int64), rng)]
    lower, conflicts = 0, []
    parts = np.array_split(rng.permutation(n), math.ceil(n / _PART))
    for k, wanted in enumerate(parts):
        now = time.perf_counter()
        solution = solve_benders(problem.part(wanted), now + (deadline - now) / (len(parts) - k), rng)
        lower += solution.lower_bound
        conflicts += [tuple(sorted(wanted[list(conflict)].tolist())) for conflict in solution.conflicts]
        candidates.append(solution.x)
    missed = [int((problem.margins(x)[0] < problem.eps).sum()) for x in candidates]
    best = int(np.argmin(missed))
    return Solution(candidates[best], missed[best], lower, conflicts)


class _Search:
    def __init__(
        self,
        problem: LearningProblem,
        deadline: float,
        rng: np.random.Generator,
        costs: IntArray,
        conflicts: Iterable[tuple[int, ...]],
    ) -> None:
        self.problem = problem
        self.costs = costs
        self.deadline = deadline
        self.rng = rng
        self.n = problem.blocks.size
        self.best_x = problem.even()
        self.best = int(costs.sum()) + 1
        self.lower = 0
        self.conflicts: list[tuple[int, ...]] = []
        self.known: set[tuple[int, ...]] = set()
        self.begun, self.rounds, self.until = False, itertools.count(), deadline
        self.oracle = MarginOracle(problem, deadline, self.watch)
        self.watch(self.best_x, problem.margins(self.best_x)[0])
        for conflict in conflicts:
            self.remember(conflict)

    def watch(self, x: FloatArray, margins: FloatArray) -> None:
        """Keep the best x seen, whatever it was computed for."""
        missed = int(self.costs[margins < self.problem.eps].sum())
        if missed < self.best:
            self.best, self.best_x = missed, x.copy()

    def run(self) -> Solution:
        now = time.perf_counter()
        quarter = (self.deadline - now) / 4
        # The oracle is slow for a bilinear form, and a good x makes many questions needless.
        climb_first = self.problem.model == "bilinear"
        if climb_first or not self.search(now + 2 * quarter):
            climb_until = now if climb_first else self.deadline - quarter
            while self.lower < self.best:
                self.try_out(climb(self.problem, self.costs, self.rng, self.deadline))
                if time.perf_counter() > climb_until:
                    break
            if not self.search(self.deadline):
                self.lower = max(self.lower, Cover(self.costs, self.conflicts).relaxed())
        return Solution(self.best_x, self.best, self.lower, self.conflicts)

    def search(self, until: float) -> bool:
        """Search until a time, from the present state; tell whether the search came to its end."""
        self.until = self.oracle.deadline = until
        try:
            if self.best > 0 and not self.begun:
                self.begun = True
                self.explore(self.costs == 0)
            while self.lower < self.best:
                if next(self.rounds) == _ROUNDS_BEFORE_CELLS and self.few_weights():
                    self.divide()
                    continue
                pick = self.cheap_pick()
                if self.costs[pick].sum() >= self.best:
                    lower, better = Cover(self.costs, self.conflicts).solve(self.best, self.until)
                    self.lower = max(self.lower, lower)
                    if better is None:
                        break
                    pick = better
                self.explore(pick)
            self.widen()
        except OutOfTimeError:
            return False
        return True

    def few_weights(self) -> bool:
        return self.problem.model == "weighted_mean" and self.problem.n_variables <= _MOST_WEIGHTS_IN_CELLS

    def divide(self) -> None:
        """Search the simplex of weights cell by cell, for half of the time left: it brings a good x itself."""
        self.until = self.oracle.deadline = self.deadline
        now = time.perf_counter()
        bound = divide_weights(self.problem, self.costs, self.try_out, now + (self.deadline - now) / 2)
        self.lower = max(self.lower, bound)
        self.take_back(self.problem.margins(self.best_x)[0] >= self.problem.eps)

    def try_out(self, x: FloatArray) -> int:
        """Look at x, and return the least cost given up so far."""
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
        for block in self.rng.permutation(np.flatnonzero(~satisfied & (self.costs > 0))):
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
        self.remember(conflict)
        return conflict

    def remember(self, conflict: tuple[int, ...]) -> None:
        """Add a conflict to the known ones, once."""
        if conflict not in self.known:
            self.known.add(conflict)
            self.conflicts.append(conflict)

    def cheap_pick(self) -> BoolArray:
        """Hit all conflicts at a low cost, below the best known one if a long local search finds that."""
        sizes = [len(conflict) for conflict in self.conflicts]
        starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        members = np.fromiter(itertools.chain.from_iterable(self.conflicts), np.int64, starts[-1])
        for steps in _STEPS:
            pick = cheap_hitting_set(starts, members, self.costs, steps, self.rng)
            if self.costs[pick].sum() < self.best:
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
