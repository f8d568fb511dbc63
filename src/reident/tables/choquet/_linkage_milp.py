"""Attack. The paper's formulation: one mixed integer programme over all rivals, for comparison."""

from __future__ import annotations

import math
import time

import highspy
import numpy as np
from scipy import sparse

from reident.base import FloatArray
from reident.tables.choquet._benders import Solution
from reident.tables.choquet._learning_problem import LearningProblem, mean_rows
from reident.tables.choquet._margin_oracle import quiet_solver
from reident.tables.choquet.fuzzy_measure import zeta_transform


def solve_milp(release: FloatArray, known: FloatArray, problem: LearningProblem, deadline: float) -> Solution:
    """Solve (13) to (17) of Abril et al. (2012): a binary variable a block, a row for every rival, Moebius variables.

    (14) prints one sum over all pairs where each pair needs its own row (erratum 4); C is no distance (erratum 2); the
    printed bounds of Moebius values, -(p-1) and p-1, exclude measures of five columns and more (erratum 9).

    Rows are divided by their range, which makes the constant C = 1 + eps large enough for all of them, and are
    not scaled further. Blocks are all records here, impossible ones included.
    """
    (n, p), model, eps = release.shape, problem.model, problem.eps
    size = p if model == "weighted_mean" else 2**p - 1
    rows = _all_rows(release, known, model)
    blocks = np.repeat(np.arange(n), len(known) - 1)
    switch = sparse.csr_array((np.full(blocks.size, 1.0 + eps), (np.arange(blocks.size), blocks)), (blocks.size, n))
    shape = _structure(p, model)
    matrix = sparse.vstack(
        [sparse.hstack([rows, switch]), sparse.hstack([shape, sparse.csr_array((shape.shape[0], n))])], format="csr"
    )
    low = np.concatenate([np.full(blocks.size, eps), [1.0], np.zeros(shape.shape[0] - 1)])
    high = np.concatenate(
        [np.full(blocks.size, highspy.kHighsInf), [1.0], np.full(shape.shape[0] - 1, highspy.kHighsInf)]
    )
    bounds = (np.zeros(p), np.ones(p)) if model == "weighted_mean" else moebius_bounds(p)
    solver = _load(matrix, low, high, n, bounds)
    solver.setOptionValue("time_limit", max(deadline - time.perf_counter(), 1e-3))
    solver.run()
    info = solver.getInfo()
    lower = max(0, math.ceil(info.mip_dual_bound - 1e-6)) if math.isfinite(info.mip_dual_bound) else 0
    if not info.primal_solution_status:
        return Solution(problem.even(), n, lower, [])
    values = np.array(solver.getSolution().col_value)
    x, given_up = values[:size], int(np.rint(values[size:]).sum())
    if model == "choquet":
        x = zeta_transform(np.concatenate([[0.0], x]), 1.0)
    return Solution(x, given_up, lower, [])


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


def _all_rows(release: FloatArray, known: FloatArray, model: str) -> sparse.csr_array:
    """Return the scaled rows of all pairs of a block and a rival, in weights or in Moebius values."""
    n, p = release.shape
    block = np.repeat(np.arange(n), len(known) - 1)
    rival = np.concatenate([np.delete(np.arange(len(known)), i) for i in range(n)])
    if model == "weighted_mean":
        return sparse.csr_array(mean_rows(release, known, block, rival)[1])
    # In Moebius values the integral of c is the sum of m(A) times the minimum of c over A.
    rival_gaps = (release[block] - known[rival]) ** 2
    true_gaps = (release[block] - known[block]) ** 2
    raw = np.empty((block.size, 2**p - 1))
    for mask in range(1, 2**p):
        members = [c for c in range(p) if mask >> c & 1]
        raw[:, mask - 1] = rival_gaps[:, members].min(axis=1) - true_gaps[:, members].min(axis=1)
    scale = _range(rival_gaps, true_gaps)
    return sparse.csr_array(raw / scale[:, None])


def _range(rival_gaps: FloatArray, true_gaps: FloatArray) -> FloatArray:
    """Return each row's largest absolute value over all fuzzy measures; 1 for a row that is always 0."""
    # C(a) - C(b) is greatest where the measure is 1 on the sets around an upper level set of a; likewise the least.
    reach = np.zeros(rival_gaps.shape[0])
    for first, second in ((rival_gaps, true_gaps), (true_gaps, rival_gaps)):
        for c in range(first.shape[1]):
            level = first[:, [c]] <= first
            smallest = np.where(level, second, np.inf).min(axis=1)
            reach = np.maximum(reach, first[:, c] - smallest)
    return np.where(reach > 0, reach, 1.0)


def _structure(p: int, model: str) -> sparse.csr_array:
    """Return the equality (the sum is 1) and then the rows of monotonicity, (16) and (17)."""
    if model == "weighted_mean":
        return sparse.csr_array(np.ones((1, p)))
    rows = [np.ones(2**p - 1)]
    masks = np.arange(1, 2**p)
    for large in range(1, 2**p):
        for bit in range(p):
            if large >> bit & 1:
                rows.append((((masks & ~large) == 0) & (masks >> bit & 1 == 1)).astype(float))
    return sparse.csr_array(np.array(rows))


def _load(
    matrix: sparse.csr_array, low: FloatArray, high: FloatArray, n: int, bounds: tuple[FloatArray, FloatArray]
) -> highspy.Highs:
    size = bounds[0].size
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = size + n, matrix.shape[0]
    model.col_cost_ = np.concatenate([np.zeros(size), np.ones(n)])
    model.col_lower_ = np.concatenate([bounds[0], np.zeros(n)])
    model.col_upper_ = np.concatenate([bounds[1], np.ones(n)])
    model.row_lower_, model.row_upper_ = low, high
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = matrix.indptr
    model.a_matrix_.index_ = matrix.indices
    model.a_matrix_.value_ = matrix.data
    model.integrality_ = [highspy.HighsVarType.kContinuous] * size + [highspy.HighsVarType.kInteger] * n
    solver = quiet_solver()
    for name in ("primal_feasibility_tolerance", "mip_feasibility_tolerance"):
        solver.setOptionValue(name, 1e-9)
    solver.passModel(model)
    return solver
