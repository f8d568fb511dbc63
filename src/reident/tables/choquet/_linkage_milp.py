"""Attack. The paper's formulation: one mixed integer programme over all rivals, for comparison."""

from __future__ import annotations

import math
import time

import highspy
import numpy as np
from scipy import sparse

from reident.base import FloatArray
from reident.tables.choquet._benders import Solution
from reident.tables.choquet._learning_problem import LearningProblem, choquet_rows, mean_rows
from reident.tables.choquet._margin_oracle import add_column, quiet_solver


def solve_milp(release: FloatArray, known: FloatArray, problem: LearningProblem, deadline: float) -> Solution:
    """Solve (13) to (17) of Abril et al. (2012): a binary variable a block, a row for every rival, Moebius variables.

    (14) prints one sum over all pairs where each pair needs its own row (erratum 4); C is no distance (erratum 2); the
    printed bounds of Moebius values, -(p-1) and p-1, exclude measures of five columns and more (erratum 9).

    Rows are divided by their range, which makes the constant C = 1 + eps large enough for all of them, and are
    not scaled further. Blocks are all records here, impossible ones included.
    """
    (n, p), eps, is_mean = release.shape, problem.eps, problem.model == "weighted_mean"
    masks = np.arange(2**p)
    # x is linear in the variables: weights themselves, or the values of a measure in its Moebius values
    to_x = np.eye(p) if is_mean else (masks[1:] & ~masks[:, None] == 0).astype(np.float64)
    size = to_x.shape[1]
    blocks, rivals = np.nonzero(~np.eye(n, len(known), dtype=bool))
    index, value, *_ = (mean_rows if is_mean else choquet_rows)(release, known, blocks, rivals)
    starts = np.arange(0, value.size + 1, value.shape[1])
    rows = sparse.csr_array(sparse.csr_array((value.ravel(), index.ravel(), starts), (blocks.size, len(to_x))) @ to_x)
    switch = sparse.csr_array((np.full(blocks.size, 1.0 + eps), (np.arange(blocks.size), blocks)), (blocks.size, n))
    steps = [to_x[large] - to_x[small] for small, large in problem.order_pairs()]
    shape = sparse.csr_array(np.vstack([np.ones(size), *steps]))
    matrix = sparse.vstack(
        [sparse.hstack([rows, switch]), sparse.hstack([shape, sparse.csr_array((shape.shape[0], n))])], format="csr"
    )
    low = np.concatenate([np.full(blocks.size, eps), [1.0], np.zeros(len(steps))])
    high = np.full(len(low), highspy.kHighsInf)
    high[blocks.size] = 1.0
    solver = quiet_solver()
    for name in ("primal_feasibility_tolerance", "mip_feasibility_tolerance"):
        solver.setOptionValue(name, 1e-9)
    for least, greatest in zip(*((np.zeros(p), np.ones(p)) if is_mean else moebius_bounds(p)), strict=True):
        add_column(solver, 0.0, least, greatest)
    for _ in range(n):
        add_column(solver, 1.0, 0.0, 1.0, integral=True)
    solver.addRows(len(low), low, high, matrix.nnz, matrix.indptr, matrix.indices, matrix.data)
    solver.setOptionValue("time_limit", max(deadline - time.perf_counter(), 1e-3))
    solver.run()
    info = solver.getInfo()
    lower = max(0, math.ceil(info.mip_dual_bound - 1e-6)) if math.isfinite(info.mip_dual_bound) else 0
    if not info.primal_solution_status:
        return Solution(problem.even(), n, lower, [])
    values = np.array(solver.getSolution().col_value)
    return Solution(to_x @ values[:size], int(np.rint(values[size:]).sum()), lower, [])


def moebius_bounds(p: int) -> tuple[FloatArray, FloatArray]:
    """Return the least and greatest Moebius value of each non-empty set over all fuzzy measures on p columns.

    The extremes of a set of s columns are attained by the measures that are 1 on its subsets of at least t columns,
    whose Moebius value is (-1)^(s-t) C(s-1, t-1) (Grabisch and Miranda, 2015).
    """
    attained = [[(-1) ** (s - t) * math.comb(s - 1, t - 1) for t in range(1, s + 1)] for s in range(1, p + 1)]
    sizes = np.array([mask.bit_count() for mask in range(1, 2**p)])
    lowest = np.array([min(0, *values) for values in attained], dtype=float)
    greatest = np.array([max(values) for values in attained], dtype=float)
    return lowest[sizes - 1], greatest[sizes - 1]
