"""Attack. The covering problem: the cheapest blocks that hit every conflict, by HiGHS."""

from __future__ import annotations

import math
import time

import highspy
import numpy as np

from reident.base import BoolArray, IntArray
from reident.tables.choquet._margin_oracle import quiet_solver

__all__ = ["Cover"]

#: What rounding may add to a bound that is a whole number.
_WHOLE = 1e-6


class Cover:
    """The cheapest blocks that hit every conflict.

    Parameters
    ----------
    costs : ndarray of int64
        Cost of each block, 0 or more; those without a cost are picked.
    conflicts : list of tuple of int
        What is to be hit.
    """

    def __init__(self, costs: IntArray, conflicts: list[tuple[int, ...]]) -> None:
        self._costs = costs
        self._conflicts = [conflict for conflict in conflicts if costs[list(conflict)].all()]
        self._blocks = np.unique([block for conflict in self._conflicts for block in conflict]).astype(np.int64)

    def relaxed(self) -> int:
        """Return the bound that shares of blocks give, in a fraction of the time."""
        if not self._conflicts:
            return 0
        model = self._model(integral=False)
        model.run()
        return math.ceil(model.getInfo().objective_function_value - _WHOLE)

    def solve(self, best: int, deadline: float) -> tuple[int, BoolArray | None]:
        """Return a lower bound, and a pick that costs less than `best` if there is one.

        Without a pick the bound is `best`, or less at the deadline, a value of `time.perf_counter`.
        """
        remaining_s = deadline - time.perf_counter()
        if remaining_s <= 0 or not self._conflicts:
            bound = min(best, self.relaxed())
            return bound, self._costs == 0 if bound < best and not self._conflicts else None
        model = self._model(integral=True)
        m = self._blocks.size
        model.addRow(
            -highspy.kHighsInf, best - 0.5, m, np.arange(m, dtype=np.int32), self._costs[self._blocks].astype(float)
        )
        model.setOptionValue("mip_rel_gap", 0.0)
        model.setOptionValue("time_limit", min(remaining_s, 1e9))
        model.run()
        if model.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
            return best, None
        info = model.getInfo()
        bound = math.ceil(info.mip_dual_bound - _WHOLE) if math.isfinite(info.mip_dual_bound) else 0
        pick = self._costs == 0
        if info.primal_solution_status:
            pick[self._blocks] = np.array(model.getSolution().col_value) > 0.5
            if self._costs[pick].sum() < best and all(pick[list(conflict)].any() for conflict in self._conflicts):
                return min(bound, int(self._costs[pick].sum())), pick
        return min(bound, best), None

    def _model(self, *, integral: bool) -> highspy.Highs:
        model = quiet_solver()
        none, values = np.array([], np.int32), np.array([])
        for column, block in enumerate(self._blocks):
            model.addCol(float(self._costs[block]), 0.0, 1.0, 0, none, values)
            if integral:
                model.changeColIntegrality(column, highspy.HighsVarType.kInteger)
        for conflict in self._conflicts:
            places = np.searchsorted(self._blocks, conflict).astype(np.int32)
            model.addRow(1.0, highspy.kHighsInf, places.size, places, np.ones(places.size))
        return model
