"""Attack. The covering problem: the cheapest blocks that hit every conflict, by branch and bound."""

from __future__ import annotations

import copy
import itertools
import math
import time
from dataclasses import dataclass

import numpy as np

from reident.base import BoolArray, FloatArray, IntArray
from reident.kernels.tables.packing import pack, packed

__all__ = ["Cover"]

#: What rounding may add to a bound that is a whole number.
_WHOLE = 1e-6

#: Steps of the simplex method: at the root, at a node, and at one that is looked at to choose where to branch.
_ROOT_STEPS, _STEPS, _LOOK_STEPS = 100_000, 5_000, 500

#: Steps after which the basis is inverted anew.
_STALE = 150

#: Looks at members in vain before the best one is taken, and looks after which a member's past is trusted.
_PATIENCE, _TRUSTED = 8, 4

#: A side that lifts the bound by nothing counts for this much.
_LITTLE = 1e-4


@dataclass
class _Node:
    """A part of the choices, and the packing of rows that bounds it.

    Members that are `free` are decided: `taken`, with their rows no longer `alive`, or not. For the others see `pack`;
    `left` is what the packing leaves of their capacity, `value` its value with the cost of those taken, and no choice
    in this part costs less than `bound`.
    """

    taken: BoolArray
    free: BoolArray
    alive: BoolArray
    inverse: FloatArray
    basis: IntArray
    amount: FloatArray
    price: FloatArray
    left: FloatArray
    steps: int = 0
    value: float = 0.0
    bound: float = 0.0

    def copy(self) -> _Node:
        node = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(node, name, value.copy())
        return node


class Cover:
    """The cheapest blocks that hit every conflict.

    Parameters
    ----------
    costs : ndarray of int64
        Cost of each block, 0 or more; those without a cost are picked.
    conflicts : list of tuple of int
        What is to be hit.

    Notes
    -----
    The linear programme of each part is solved in its dual, a packing of conflicts into the costs of blocks: it stays
    feasible when a block is decided, so each part goes on from where its parent ended, and every packing on the way is
    a bound already. Each bound is computed anew from the packing itself, so that rounding inside the simplex method may
    cost time, but proves nothing wrong. Branching is on the block that lifts both bounds most when tried, or did so
    before (Achterberg, Koch, Martin, 2005).
    """

    def __init__(self, costs: IntArray, conflicts: list[tuple[int, ...]]) -> None:
        self._costs = costs
        rows = [conflict for conflict in conflicts if costs[list(conflict)].all()]
        sizes = np.array([len(row) for row in rows], np.int64)
        self._starts = np.append(0, np.cumsum(sizes))
        flat = np.fromiter(itertools.chain.from_iterable(rows), np.int64, self._starts[-1])
        self._blocks, self._members = np.unique(flat, return_inverse=True)
        self._row = np.repeat(np.arange(sizes.size), sizes)
        self._cost = costs[self._blocks].astype(np.float64)
        m = self._m = self._blocks.size
        # Uneven, and a little below the costs: even ones let the simplex method go round in circles.
        self._capacity = self._cost * (1 - 1e-7 * (1 + np.arange(m) * 0.618 % 1))
        self._looks, self._lifts = np.zeros((2, m)), np.zeros((2, m))

    def relaxed(self) -> int:
        """Return the bound that shares of blocks give, in a fraction of the time."""
        return int(_whole(self._root(math.inf).bound))

    def solve(self, best: int, deadline: float) -> tuple[int, BoolArray | None]:
        """Return a lower bound, and a pick that costs less than `best` if there is one.

        Such a pick is enough to go on with, so the search for a cheaper one stops there. Without a pick the bound is
        `best`, or less at the deadline, a value of `time.perf_counter`.
        """
        waiting = [self._root(best)]
        while waiting:
            if time.perf_counter() > deadline:
                return int(_whole(min(best, *(node.bound for node in waiting)))), None
            node = waiting.pop()
            if _whole(node.bound) >= best:
                continue
            if not node.inverse.size:
                self._invert(node)
            # what would cost too much is not taken
            node.free |= node.value + node.left > best - 1 + _LITTLE
            chosen = node.taken | (~node.free & (node.price > 0.5))
            if self._hits_all(chosen) and self._cost[chosen].sum() < best:
                pick = self._costs == 0
                pick[self._blocks[chosen]] = True
                return int(_whole(min(other.bound for other in [node, *waiting]))), pick
            parts = self._branch(node, best)
            for part in parts[:-1]:
                part.inverse = np.empty((0, 0))
            waiting += parts
        return best, None

    def _root(self, best: float) -> _Node:
        m = self._m
        none, alive = np.zeros(m, dtype=bool), np.ones(self._starts.size - 1, dtype=bool)
        node = _Node(
            none, none.copy(), alive, np.eye(m), np.arange(m), self._capacity.copy(), np.zeros(m), self._capacity
        )
        self._enlarge(node, best, _ROOT_STEPS)
        return node

    def _hits_all(self, chosen: BoolArray) -> bool:
        hit = np.zeros(self._starts.size - 1, dtype=bool)
        hit[self._row[chosen[self._members]]] = True
        return bool(hit.all())

    def _branch(self, node: _Node, best: int) -> list[_Node]:
        """Return the two parts by one member, the lower bound last; only what is left if a part is ruled out."""
        shares = np.where(node.free, 0.0, node.price)
        undecided = np.flatnonzero((shares > _WHOLE) & (shares < 1 - _WHOLE))
        if not undecided.size:  # the simplex method stopped early
            undecided = np.flatnonzero(~node.free)
        scores = self._past(undecided, shares)
        chosen, most, in_vain = -1, -1.0, 0
        parts: list[_Node] = []
        for place in np.argsort(-scores, kind="stable"):
            member, score, looked = int(undecided[place]), scores[place], []
            if self._looks[:, member].min() < _TRUSTED:
                looked = self._look(node, member, shares[member], best)
                if len(looked) < 2:
                    return self._enlarged(looked, best)
                score = math.prod(max(part.bound - node.bound, _LITTLE) for part in looked)
            if score > most:
                chosen, most, in_vain, parts = member, score, 0, looked
            elif (in_vain := in_vain + 1) == _PATIENCE:
                break
        return self._enlarged(parts or [self._decide(node, chosen, take) for take in (False, True)], best)

    def _enlarged(self, parts: list[_Node], best: int) -> list[_Node]:
        for part in parts:
            self._enlarge(part, best, _STEPS)
        return sorted(parts, key=lambda part: -part.bound)

    def _look(self, node: _Node, member: int, share: float, best: int) -> list[_Node]:
        """Return the parts without and with a member that may hold a cheaper pick, and note what both lift."""
        parts = []
        for side, way in enumerate((share, 1 - share)):
            part = self._decide(node, member, bool(side))
            self._enlarge(part, best, _LOOK_STEPS)
            self._looks[side, member] += 1
            self._lifts[side, member] += (min(part.bound, best) - node.bound) / max(way, _WHOLE)
            if _whole(part.bound) < best:
                parts.append(part)
        return parts

    def _past(self, members: IntArray, shares: FloatArray) -> FloatArray:
        """Return by how much both sides lifted the bound so far, multiplied; by the mean of all where none was seen."""
        mean = (self._lifts.sum(1) / np.maximum(self._looks.sum(1), 1))[:, None]
        rate = np.where(self._looks > 0, self._lifts / np.maximum(self._looks, 1), mean)[:, members]
        ways = np.array([shares[members], 1 - shares[members]])
        return np.asarray(np.maximum(rate * ways, _LITTLE).prod(0))

    def _decide(self, node: _Node, member: int, take: bool) -> _Node:
        part = node.copy()
        part.free[member] = True
        if take:
            part.taken[member] = True
            part.alive[self._row[self._members == member]] = False
            self._set_prices(part)
        return part

    def _enlarge(self, node: _Node, best: float, limit: int) -> None:
        """Enlarge the packing of a node as far as its bound needs it."""
        if node.steps > _STALE:
            self._invert(node)
        taken = float(self._cost[node.taken].sum())
        node.steps += pack(
            self._starts, self._members, node.alive, node.free, node.inverse, node.basis, node.amount, node.price,
            best - 1 - taken + 10 * _WHOLE, limit,
        )  # fmt: skip
        value, node.left = packed(
            self._starts, self._members, node.alive, node.free, node.basis, node.amount, self._capacity
        )
        node.value = taken + value
        node.bound = max(node.bound, node.value)

    def _set_prices(self, node: _Node) -> None:
        rows = node.basis - self._m
        node.price = node.inverse @ ((rows >= 0) & node.alive[np.maximum(rows, 0)]).astype(np.float64)

    def _invert(self, node: _Node) -> None:
        """Invert the basis anew: rounding adds up from step to step."""
        matrix = np.zeros((self._m, self._m))
        for i, entry in enumerate(node.basis):
            row = entry - self._m
            matrix[entry if row < 0 else self._members[self._starts[row] : self._starts[row + 1]], i] = 1.0
        inverse: FloatArray = np.linalg.inv(matrix).astype(np.float64)
        node.inverse, node.amount, node.steps = np.ascontiguousarray(inverse.T), inverse @ self._capacity, 0
        self._set_prices(node)


def _whole(bound: float) -> float:
    """Return the least whole number that a cost can be; infinity if there is none."""
    return math.ceil(bound - _WHOLE) if math.isfinite(bound) else math.inf
