"""Attack. Good weights or measures in a moment, without a proof: from line to line, the best point of each."""

from __future__ import annotations

import math

import numpy as np

from reident.base import FloatArray
from reident.kernels.tables.linkage_rows import spans
from reident.tables.choquet._learning_problem import Clock, LearningProblem, as_square, as_triangle

#: Lines searched, those of them that are searched whatever the clock says, and lines in vain after which the search
#: leaves the best point.
_LINES, _AT_LEAST, _PATIENCE = 1_000, 50, 40

#: How far inside the margin a block must lie, because of rounding between a line and its best point.
_INSIDE = 1e-3


def climb(
    problem: LearningProblem, rng: np.random.Generator, clock: Clock | None = None, deadline: float = math.inf
) -> FloatArray:
    """Return weights, a measure or a matrix that hold many blocks.

    On the line through an allowed point and a corner each block is held between two ends, so that the best point of the
    whole line is known after one pass over the rows. The search goes on from there towards another corner,
    drawn at random; after some lines in vain it starts again on the way from the best point to a corner. The same
    generator gives the same answer on every machine, unless the `deadline` of a clock of seconds ends it: the effort is
    a number of lines, not of seconds.
    """
    allowed = _Matrices(problem) if problem.model == "bilinear" else _Polytope(problem)
    n = problem.blocks.size
    low, high = np.empty((2, n))
    eps = problem.eps * (1 + _INSIDE)
    x = best_x = problem.even()
    best = int((problem.margins(x)[0] >= problem.eps).sum())
    in_vain = 0
    for line in range(_LINES):
        if best == n or (clock is not None and line >= _AT_LEAST and clock.now() > deadline):
            break
        if clock is not None:
            clock.count()
        if in_vain == _PATIENCE:
            x, in_vain = best_x + rng.random() / 2 * (allowed.corner(rng) - best_x), 0
        step = allowed.corner(rng) - x
        spans(problem.index, problem.value, problem.starts, x, step, eps, low, high)
        s, held = _densest(low, high, -allowed.backwards(x, step), 1.0)
        x = x + s * step
        in_vain += 1
        if held > best:
            best, best_x, in_vain = held, x, 0
    return best_x


def _densest(low: FloatArray, high: FloatArray, lower: float, upper: float) -> tuple[float, int]:
    """Return the s between `lower` and `upper` that lies in the most spans, and how many these are.

    It is the middle of the longest stretch of those that lie in as many spans; `lower` if there is none.
    """
    begins, ends = np.maximum(low, lower), np.minimum(high, upper)
    is_open = begins < ends
    begins, ends = np.sort(begins[is_open]), np.sort(ends[is_open])
    if not begins.size:
        return lower, 0
    closed = np.searchsorted(ends, begins, side="right")
    held = np.arange(1, begins.size + 1) - closed  # of spans that begin together the last one counts all
    densest = np.flatnonzero(held == held.max())
    begin, end = begins[densest], ends[closed[densest]]
    longest = (end - begin).argmax()
    return float(begin[longest] + end[longest]) / 2, int(held.max())


class _Polytope:
    """The weights, or the monotone measures: its corners, and how far a line goes on inside it."""

    def __init__(self, problem: LearningProblem) -> None:
        self._size, self._is_mean = problem.n_columns, problem.model == "weighted_mean"
        self._pairs = np.array(problem.order_pairs(), np.int64).reshape(-1, 2)
        self._masks = np.arange(self._size)

    def corner(self, rng: np.random.Generator) -> FloatArray:
        """Draw a corner: one column, or the measure that is 1 on all sets around one of one or two sets."""
        y = np.zeros(self._size)
        if self._is_mean:
            y[rng.integers(self._size)] = 1.0
            return y
        for chosen in rng.integers(1, self._size, rng.integers(1, 3)):
            y[self._masks & chosen == chosen] = 1.0
        return y

    def backwards(self, x: FloatArray, step: FloatArray) -> float:
        """Return how far x - s step stays inside."""
        room, used = self._slack(x), self._slack(step)
        ends = room[used > 1e-12] / used[used > 1e-12]
        return max(0.0, float(ends.min()) * (1 - 1e-9)) if ends.size else 0.0

    def _slack(self, x: FloatArray) -> FloatArray:
        """Return the coefficients that must not be negative: weights, or steps of the measure by a column."""
        small, large = self._pairs.T
        return x if self._is_mean else np.concatenate([x[1:], x[large] - x[small]])


class _Matrices:
    """The positive semidefinite matrices of trace 1: those of rank 1 are their corners."""

    def __init__(self, problem: LearningProblem) -> None:
        self._p = problem.n_variables

    def corner(self, rng: np.random.Generator) -> FloatArray:
        """Draw the square of the difference along a direction: an axis as often as any."""
        v = np.eye(self._p)[rng.integers(self._p)] if rng.random() < 0.5 else rng.normal(size=self._p)
        return as_triangle(np.outer(v, v) / (v @ v))

    def backwards(self, x: FloatArray, step: FloatArray) -> float:
        """Return how far x - s step stays inside, but for a last part: at the very end a matrix has no inverse."""
        inside = as_square(x)
        try:
            half = np.linalg.inv(np.linalg.cholesky(inside))
        except np.linalg.LinAlgError:
            return 0.0
        steepest = float(np.linalg.eigvalsh(half @ as_square(step) @ half.T)[-1])
        return (1 - _INSIDE) / steepest if steepest > _INSIDE else 1 / _INSIDE
