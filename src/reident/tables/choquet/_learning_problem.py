"""Attack. The learning problem as arrays: blocks, the rows that matter, and the polytope of weights or measures.

A row is one linear inequality for a block and a rival, in the values of a model. The functions of rows take the
records, and a block and a rival for each row; they return the columns and coefficients of each row, and its least and
greatest value over all x of the model. Rows are divided by their largest absolute value.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import highspy
import numpy as np

from reident.base import FloatArray, IntArray
from reident.kernels.tables.linkage_rows import block_margins, rivals
from reident.tables.choquet.fuzzy_measure import monotone_closure

Rows = tuple[IntArray, FloatArray, FloatArray, FloatArray]

#: The third is learned and linked like the others, but its matrices are no polytope.
MODELS = ("weighted_mean", "choquet", "bilinear")


class Clock:
    """The time of a search: seconds, or steps that it counts itself, so that a run repeats on every machine.

    A step is a linear programme, a node of a mixed integer one, or as much work elsewhere: about half a millisecond.
    """

    def __init__(self, *, counts_steps: bool = False) -> None:
        self._steps = 0.0 if counts_steps else None

    def now(self) -> float:
        """Return the seconds or steps until now."""
        return time.perf_counter() if self._steps is None else self._steps

    def count(self, steps: float = 1.0) -> None:
        """Let steps pass; seconds pass by themselves."""
        if self._steps is not None:
            self._steps += steps

    def run(self, model: highspy.Highs, deadline: float) -> None:
        """Solve a mixed integer programme, at most until the deadline."""
        left = deadline - self.now()
        if self._steps is None:
            model.setOptionValue("time_limit", min(max(model.getRunTime() + left, 1e-3), 1e9))
            model.run()
        else:
            model.setOptionValue("mip_max_nodes", int(min(max(left, 0), 2**31 - 1)))
            model.run()
            self.count(1 + max(model.getInfo().mip_node_count, 0))


@dataclass(frozen=True)
class LearningProblem:
    """Rows g(x) of the blocks that are neither always nor never linked.

    Attributes
    ----------
    model : {"weighted_mean", "choquet", "bilinear"}
        x holds p weights, the 2**p values of a measure by bit mask, or the upper triangle of a positive semidefinite
        matrix of trace 1, row by row.
    n_variables, n_records : int
        p, and the number of all blocks.
    eps : float
        Margin that a row must reach; rows are divided by their largest absolute value over all x, so it is relative.
    blocks : ndarray of int64
        Records whose blocks have rows here, ascending.
    impossible : ndarray of int64
        Records with a row that no x brings to eps: never linked.
    starts : ndarray of int64, shape (blocks + 1,)
        First row of each block.
    index, value : ndarray, shape (rows, width)
        Sparse rows of fixed width.
    """

    model: str
    n_variables: int
    n_records: int
    eps: float
    blocks: IntArray
    impossible: IntArray
    starts: IntArray
    index: IntArray
    value: FloatArray

    @property
    def n_columns(self) -> int:
        """Return the length of x."""
        p = self.n_variables
        return {"weighted_mean": p, "choquet": 2**p, "bilinear": p * (p + 1) // 2}[self.model]

    def margins(self, x: FloatArray, wanted: IntArray | None = None) -> tuple[FloatArray, IntArray]:
        """Return each block's least row value at x and its row; infinity for blocks that are not `wanted`."""
        margins, worst = np.full(self.blocks.size, np.inf), np.full(self.blocks.size, -1, np.int64)
        wanted = np.arange(self.blocks.size) if wanted is None else wanted
        block_margins(self.index, self.value, self.starts, wanted, x, margins, worst)
        return margins, worst

    def block_of(self, row: int) -> int:
        """Return the block (its place in `blocks`) that a row belongs to."""
        return int(np.searchsorted(self.starts, row, side="right")) - 1

    def part(self, wanted: IntArray) -> LearningProblem:
        """Return the problem of some blocks only, given by their places; their rivals stay all."""
        sizes = np.diff(self.starts)[wanted]
        rows = np.repeat(self.starts[wanted] - np.append(0, np.cumsum(sizes)[:-1]), sizes) + np.arange(sizes.sum())
        return replace(
            self,
            blocks=self.blocks[wanted],
            starts=np.append(0, np.cumsum(sizes)).astype(np.int64),
            index=self.index[rows],
            value=self.value[rows],
        )

    def even(self) -> FloatArray:
        """Return the x of the simple mean."""
        if self.model == "weighted_mean":
            return np.full(self.n_variables, 1.0 / self.n_variables)
        if self.model == "bilinear":
            return as_triangle(np.eye(self.n_variables) / self.n_variables)
        return np.array([mask.bit_count() / self.n_variables for mask in range(self.n_columns)])

    def order_pairs(self) -> list[tuple[int, int]]:
        """Return the covering pairs (smaller set, larger set) that monotonicity is about; none without a measure."""
        if self.model != "choquet":
            return []
        bits = [1 << bit for bit in range(self.n_variables)]
        return [(mask, mask | bit) for mask in range(1, self.n_columns) for bit in bits if not mask & bit]


def build_problem(release: FloatArray, known: FloatArray, model: str, eps: float) -> LearningProblem:
    """Set up the rows: scaled records in one order in, the rows of all rivals that matter out.

    Rows of `known` beyond those of `release` are rivals only.
    A row that reaches `eps` for every x is left out; a block with a row that reaches it for no x is impossible.
    """
    n, p = release.shape
    if model == "bilinear":  # no rival dominates another for every matrix
        block, rival = np.nonzero(~np.eye(n, len(known), dtype=bool))
        index, value, low, high = bilinear_rows(release, known, block, rival)
    else:
        block, rival = rivals(release, known, np.arange(n))
        rows = mean_rows if model == "weighted_mean" else choquet_rows
        index, value, low, high = rows(release, known, block, rival)
    never = np.zeros(n, dtype=bool)
    never[block[high < eps]] = True
    keep = (low < eps) & ~never[block]
    blocks = np.unique(block[keep])
    return LearningProblem(
        model=model,
        n_variables=p,
        n_records=n,
        eps=eps,
        blocks=blocks,
        impossible=np.flatnonzero(never),
        starts=np.searchsorted(block[keep], np.append(blocks, n)).astype(np.int64),
        index=np.ascontiguousarray(index[keep]),
        value=np.ascontiguousarray(value[keep]),
    )


def as_square(x: FloatArray) -> FloatArray:
    """Return the symmetric matrix of an upper triangle."""
    p = int(np.sqrt(2 * x.size))
    square = np.zeros((p, p))
    square[np.triu_indices(p)] = x
    return square + np.triu(square, 1).T


def as_triangle(square: FloatArray) -> FloatArray:
    """Return the upper triangle of a symmetric matrix, row by row."""
    return np.asarray(square[np.triu_indices(len(square))])


def tidy_solution(x: FloatArray, model: str) -> FloatArray:
    """Remove a solver's rounding.

    The result are weights that are not negative and sum to 1, a monotone measure from 0 to 1, or a positive
    semidefinite matrix of trace 1.
    """
    if model == "bilinear":
        values, vectors = np.linalg.eigh(as_square(x))
        square = (vectors * np.maximum(values, 0.0)) @ vectors.T
        return as_triangle(square / np.trace(square))
    x = np.clip(x, 0.0, 1.0)
    if model == "weighted_mean":
        return np.asarray(x / x.sum())
    x[0], x[-1] = 0.0, 1.0
    return monotone_closure(x)


def mean_rows(release: FloatArray, known: FloatArray, block: IntArray, rival: IntArray) -> Rows:
    """Return the rows for a weighted mean, in its weights."""
    value = (release[block] - known[rival]) ** 2 - (release[block] - known[block]) ** 2
    return _scaled(None, value, value.min(axis=1), value.max(axis=1))


def choquet_rows(release: FloatArray, known: FloatArray, block: IntArray, rival: IntArray) -> Rows:
    """Return the rows for the Choquet integral, in the values of the measure by bit mask.

    C is the sum of (c_(k) - c_(k-1)) mu(A_(k)) over the sorted gaps; sets that both sums hold are joined in the first.
    """
    rival_gaps, true_gaps = (release[block] - known[rival]) ** 2, (release[block] - known[block]) ** 2
    rival_order, true_order = (np.argsort(gaps, axis=1, kind="stable") for gaps in (rival_gaps, true_gaps))
    rival_sets, steps = _chain(rival_gaps, rival_order)
    true_sets, less = _chain(true_gaps, true_order)
    for k in range(less.shape[1]):
        is_same = rival_sets == true_sets[:, [k]]
        steps -= np.where(is_same, less[:, [k]], 0.0)
        less[is_same.any(axis=1), k] = 0.0
    low, high = -_greatest(true_gaps, rival_gaps, true_order), _greatest(rival_gaps, true_gaps, rival_order)
    return _scaled(np.hstack([rival_sets, true_sets]), np.hstack([steps, -less]), low, high)


def _chain(gaps: FloatArray, order: IntArray) -> tuple[IntArray, FloatArray]:
    """Return for each row the sets of the variables from the k-th smallest gap up, and the steps up to each gap."""
    sets = np.cumsum((1 << order)[:, ::-1], axis=1)[:, ::-1]
    return sets, np.diff(np.take_along_axis(gaps, order, axis=1), axis=1, prepend=0.0)


def _greatest(a: FloatArray, b: FloatArray, order: IntArray) -> FloatArray:
    """Return the greatest C(a) - C(b) over all fuzzy measures for each row; `order` sorts a.

    It is reached by a measure that is 1 exactly on the sets around one upper level set S of a: there C(a) is the
    minimum of a over S, and C(b) that of b over S; no other measure with values 0 and 1 does better.
    """
    a, b = np.take_along_axis(a, order, axis=1), np.take_along_axis(b, order, axis=1)
    return np.asarray((a - np.minimum.accumulate(b[:, ::-1], axis=1)[:, ::-1]).max(axis=1))


def bilinear_rows(release: FloatArray, known: FloatArray, block: IntArray, rival: IntArray) -> Rows:
    """Return the rows for a bilinear form d' M d, in the upper triangle of M, row by row.

    With the differences u to the rival and v to the true partner a row is the inner product of M and u u' - v v', so
    that its ends are the least and greatest eigenvalue of that matrix, which has rank 2.
    """
    p = release.shape[1]
    u, v = release[block] - known[rival], release[block] - known[block]
    i, j = np.triu_indices(p)
    value = (u[:, i] * u[:, j] - v[:, i] * v[:, j]) * np.where(i == j, 1.0, 2.0)
    uu, vv, uv = (u * u).sum(axis=1), (v * v).sum(axis=1), (u * v).sum(axis=1)
    if p == 1:
        return _scaled(None, value, uu - vv, uu - vv)
    root = np.sqrt(np.maximum(0.0, (uu + vv) ** 2 - 4.0 * uv * uv))
    return _scaled(None, value, (uu - vv - root) / 2.0, (uu - vv + root) / 2.0)


def _scaled(index: IntArray | None, value: FloatArray, low: FloatArray, high: FloatArray) -> Rows:
    if index is None:
        index = np.tile(np.arange(value.shape[1]), (len(value), 1))
    scale = np.maximum(-low, high)
    scale = np.where(scale > 0.0, scale, 1.0)
    return index, value / scale[:, None], low / scale, high / scale
