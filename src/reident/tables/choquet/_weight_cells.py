"""Attack. Branch and bound over the simplex of weights: exact for a weighted mean of few columns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reident.base import FloatArray, IntArray
from reident.kernels.tables.weight_cells import held_at_most, settle, where_to_cut
from reident.tables.choquet._learning_problem import Clock, LearningProblem

#: Steps of the clock a cell takes: it costs a fraction of a linear programme.
_CELL = 0.2


@dataclass(frozen=True)
class _Cell:
    """A part of the simplex: its corners in columns, the rows it does not decide, and a lower bound of its loss."""

    corners: FloatArray
    rows: FloatArray
    owner: IntArray
    lost: int
    bound: int


def divide_weights(
    problem: LearningProblem, try_out: Callable[[FloatArray], int], clock: Clock, deadline: float
) -> int:
    """Cut the simplex of weights into cells until none can hold more blocks than the best point, or until the deadline.

    Parameters
    ----------
    problem : LearningProblem
        Of the model "weighted_mean".
    try_out : callable
        Given weights; returns the fewest blocks given up by any weights seen so far, these included.
    clock, deadline : Clock, float

    Returns
    -------
    int
        No weights give up fewer blocks. The best weights give up as many if the search ended in time.

    Notes
    -----
    A cell decides most blocks outright; the concave envelope of the others bounds it, and it is cut where the rows
    cross its edges. Many small cells prove bounds that conflicts of few blocks prove badly, because every block is only
    half in their way. The number of cells grows exponentially with the columns.
    """
    p = problem.n_variables
    owner = np.repeat(np.arange(problem.blocks.size), np.diff(problem.starts))
    best = try_out(np.full(p, 1.0 / p))
    cells = [_Cell(np.eye(p), problem.value - problem.eps, owner, 0, 0)]
    rounded = best  # the least that a cell gives up whose points miss a margin by rounding only
    while cells and clock.now() < deadline:
        clock.count(_CELL)
        cell = cells.pop()
        if cell.bound >= best:
            continue
        rows, owner, lost, undecided = settle(cell.rows, cell.owner)
        lost += cell.lost
        total = lost + undecided
        bound, place, satisfied, point = held_at_most(rows, owner, total - best + 1 - 1e-6)
        if total - satisfied < best:
            best = try_out(cell.corners @ point)
        at_least = max(cell.bound, total - math.floor(bound + 1e-6))
        if at_least >= best:
            continue
        if not rows.size:
            rounded = min(rounded, at_least)
            continue
        u, w, share = where_to_cut(rows, owner, place)
        halves = [
            _Cell(corners, values, owner, lost, at_least)
            for corners, values in zip(_cut(cell.corners, u, w, share), _cut(rows, u, w, share), strict=True)
        ]
        # The part where the relaxation is greatest comes first: good weights lie there more often.
        first = 0 if place[w] * (1 - share) <= place[u] * share else 1
        cells += [halves[1 - first], halves[first]]
    return min([best, rounded, *(cell.bound for cell in cells)])


def _cut(values: FloatArray, u: int, w: int, share: float) -> tuple[FloatArray, FloatArray]:
    """Return `values` at the corners (in columns) of the two parts: one end of the edge is moved to the cut."""
    first, right = values.copy(), values.copy()
    first[:, w] = right[:, u] = (1.0 - share) * values[:, u] + share * values[:, w]
    return first, right
