"""The search behind `max_clique` and `max_cliques`: incumbent first, then proof, in slices that can be interrupted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from reident._typing import IntArray
from reident.attacks.adjacency import Adjacency
from reident.kernels import clique as kernels
from reident.kernels.bitset import pack_lists, permute_rows
from reident.kernels.clique_climb import climb

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Below this order the whole graph is one branch and bound; above it, one a vertex.
_WHOLE = 1500
# Rows of bits up to this many vertices (about 130 MB), and only where lists would not be shorter by far.
_BITS_VERTICES = 32_000
_BITS_DENSITY = 1 / 200
# About 50 ms of work: what a slice may take before limits and Ctrl-C are looked at. Unit: word operations.
_SLICE = 4e7


class LimitReached(Exception):  # noqa: N818 (a signal between two functions, not an error)
    """The time or node limit ended the search."""


class CliqueSearch:
    """One graph, prepared for searching; vertices are renamed so that 0 has the largest degree."""

    def __init__(
        self,
        adjacency: Adjacency,
        rng: np.random.Generator,
        *,
        time_limit_s: float | None = None,
        node_limit: int | None = None,
    ) -> None:
        self.began = time.perf_counter()
        self.time_limit_s = time_limit_s
        self.node_limit = node_limit
        self.n = adjacency.n_vertices
        self.n_nodes = 0
        self.best: IntArray = np.zeros(0, dtype=np.int64)
        self.open_bound = 0
        self._random = np.array([rng.integers(1, 2**63)], dtype=np.uint64)
        degrees = adjacency.degrees()
        self.order = np.argsort(-degrees, kind="stable")
        rank = np.empty(self.n, dtype=np.int64)
        rank[self.order] = np.arange(self.n)
        self.dense = adjacency.density > 0.1 or self.n <= _WHOLE
        self.bits: NDArray[np.uint64] | None = None
        if adjacency.bits is not None:
            self.bits = permute_rows(adjacency.bits, self.order, rank)
        elif self.n <= _WHOLE or (self.n <= _BITS_VERTICES and adjacency.density > _BITS_DENSITY):
            self.bits = pack_lists(adjacency.indptr, adjacency.indices, rank)
        else:
            self.starts, self.prefixes = kernels.prefix_lists(adjacency.indptr, adjacency.indices, self.order, rank)
        self._adjacency = adjacency
        self._rank = rank
        self._degrees = degrees[self.order]
        self._climbed = 0.0
        self._proved = 0.0

    # -- what the caller asks -------------------------------------------------------------------------------------

    def maximum(self) -> bool:
        """Search until the best clique is proven maximum; return whether it is."""
        if self.n == 0:
            return True
        self.best = np.zeros(1, dtype=np.int64)
        self.open_bound = self.n
        try:
            self._first_climb()
            for members, last in self._subproblems(more=1):
                self._branch(members, last)
        except LimitReached:
            self.open_bound = min(self.open_bound, self._colour_bound())
            return self.open_bound <= self.best.size
        return True

    def every(self, size: int, limit: int) -> tuple[list[IntArray], bool]:
        """List the cliques of `size` members, the maximum, up to `limit`; return them and whether they are all."""
        if size == 1:
            return [np.array([v]) for v in range(min(self.n, limit))], self.n <= limit
        found: list[IntArray] = []
        complete = True
        try:
            for members, last in self._subproblems(more=0):
                if not self._list_cliques(members, last, size, limit, found):
                    complete = False
                    break
        except LimitReached:
            complete = False
        return found, complete

    def named(self, clique: IntArray) -> IntArray:
        """Return the members of a clique under their original numbers, ascending."""
        return np.sort(self.order[clique])

    # -- limits ---------------------------------------------------------------------------------------------------

    def seconds(self) -> float:
        """Return the time since the search was made, s."""
        return time.perf_counter() - self.began

    def _check_limits(self) -> None:
        if self.time_limit_s is not None and self.seconds() >= self.time_limit_s:
            raise LimitReached
        if self.node_limit is not None and self.n_nodes >= self.node_limit:
            raise LimitReached

    def _colour_bound(self) -> int:
        if self.bits is None:
            return kernels.colours_lists(self.starts, self.prefixes)
        everything = np.zeros(self.bits.shape[1], dtype=np.uint64)
        kernels.fill_row(everything, self.n)
        return kernels.count_colours(self.bits, everything)

    # -- subproblems: a set of vertices, and the vertex adjacent to all of them (or -1) --------------------------------

    def _subproblems(self, *, more: int) -> Iterator[tuple[IntArray, int]]:
        """Yield what may hold a clique of best + `more` members, keeping the bound of what is left."""
        self.open_bound = self.n
        if self.n <= _WHOLE:
            yield np.arange(self.n), -1
            return
        reach = self._prefix_sizes() + 1
        # The largest clique that may still come, from each vertex on.
        to_come = np.append(np.maximum.accumulate(reach[::-1])[::-1], 0)
        for low, high in self._chunks(reach):
            self.open_bound = int(to_come[low])
            self._check_limits()
            target = self.best.size + more
            if self.bits is None:
                left = kernels.survivors_lists(self.starts, self.prefixes, low, high, target)
            else:
                left = kernels.survivors_bits(self.bits, low, high, target)
            for i in low + np.flatnonzero(left):
                if left[i - low] + 1 >= self.best.size + more:
                    self.open_bound = int(max(to_come[i + 1], reach[i]))
                    yield self._prefix(int(i)), int(i)

    def _prefix_sizes(self) -> IntArray:
        if self.bits is None:
            return np.diff(self.starts)
        return kernels.prefix_counts(self.bits)

    def _prefix(self, i: int) -> IntArray:
        if self.bits is None:
            return self.prefixes[self.starts[i] : self.starts[i + 1]].astype(np.int64)
        return kernels.listed(kernels.prefix_row(self.bits, i))

    def _chunks(self, reach: IntArray) -> Iterator[tuple[int, int]]:
        """Cut the vertices into runs whose filtering takes about a slice."""
        width = np.arange(self.n) / 64 if self.bits is not None else np.full(self.n, reach.mean())
        work = np.cumsum(reach * (width + 1.0))
        low = 0
        while low < self.n:
            done = work[low - 1] if low else 0.0
            high = max(low + 1, int(np.searchsorted(work, done + _SLICE)))
            high = min(high, self.n)
            yield low, high
            low = high

    def _subgraph(self, members: IntArray, need: int) -> tuple[IntArray, NDArray[np.uint64]]:
        if self.bits is None:
            return kernels.subgraph_lists(self.starts, self.prefixes, members, need)
        row = np.zeros(self.bits.shape[1], dtype=np.uint64)
        kernels.set_bits(row, members)
        return kernels.subgraph_bits(self.bits, row, need)

    # -- branch and bound inside a subproblem ----------------------------------------------------------------------

    def _prepare(self, members: IntArray, need: int) -> tuple[IntArray, NDArray[np.uint64], int]:
        """Return the members fit for a clique of `need`, in search order, their graph, and a bound on its cliques."""
        kept, rows = self._subgraph(members, need)
        if kept.size < max(need, 1):
            return kept, rows, 0
        order = kernels.min_width_order(rows)
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        rows = permute_rows(rows, order, rank)
        everything = np.zeros(rows.shape[1], dtype=np.uint64)
        kernels.fill_row(everything, order.size)
        return kept[order], rows, kernels.count_colours(rows, everything)

    def _branch(self, members: IntArray, last: int) -> None:
        """Search a subproblem for cliques larger than the best."""
        tail = [] if last < 0 else [last]
        kept, rows, colours = self._prepare(members, self.best.size + 1 - len(tail))
        if colours + len(tail) <= self.best.size:
            return
        stack = _Stack(rows, colours)
        found = np.zeros((1, colours + 1), dtype=np.int64)
        stack.start(self.best.size + 1 - len(tail))
        # What is not searched yet bounds the cliques to come, once the search of this one is under way.
        others = self.open_bound
        finished = False
        while not finished:
            self.open_bound = others
            self._check_limits()
            finished = self._advance(stack, found, every=False)
            size = int(stack.state[kernels.FOUND])
            if size + len(tail) > self.best.size:
                self.best = np.array([*kept[found[0, :size]], *tail], dtype=np.int64)

    def _advance(self, stack: _Stack, found: IntArray, *, every: bool) -> bool:
        before = int(stack.state[kernels.NODES])
        budget = stack.budget
        if self.node_limit is not None:
            budget = min(budget, self.node_limit - self.n_nodes)
        finished = bool(stack.advance(found, every, budget))
        self.n_nodes += int(stack.state[kernels.NODES]) - before
        return finished

    def _list_cliques(self, members: IntArray, last: int, size: int, limit: int, found: list[IntArray]) -> bool:
        """Append the cliques of a subproblem; return False if there are more than `limit`."""
        tail = [] if last < 0 else [last]
        need = size - len(tail)
        kept, rows, colours = self._prepare(members, need)
        if colours < need:
            return True
        stack = _Stack(rows, colours)
        stack.start(need)
        finished = False
        while not finished:
            self._check_limits()
            buffer = np.zeros((min(limit - len(found) + 1, 4096), need), dtype=np.int64)
            stack.state[kernels.FOUND] = stack.state[kernels.FULL] = 0
            finished = self._advance(stack, buffer, every=True)
            for row in buffer[: stack.state[kernels.FOUND]]:
                found.append(np.array([*kept[row], *tail], dtype=np.int64))
            if len(found) > limit:
                del found[limit:]
                return False
        return True

    # -- local search ----------------------------------------------------------------------------------------------

    def _first_climb(self) -> None:
        """Find a large clique fast: on the whole graph if it is dense, else around the largest degrees."""
        if self.dense and self.bits is not None:
            for start in range(min(self.n, 16)):
                self._climb(self.bits, None, start, patience=200)
                self._check_limits()
            return
        for v in range(min(self.n, 64)):
            if self._degrees[v] < self.best.size:
                break
            around = np.sort(self._rank[self._adjacency.neighbours(int(self.order[v]))])
            kept, rows = self._subgraph(around, 1)
            if kept.size:
                self._climb(rows, np.append(kept, v), 0, patience=100)

    def _climb(self, rows: NDArray[np.uint64], names: IntArray | None, start: int, *, patience: int) -> None:
        best = np.empty(rows.shape[0], dtype=np.int64)
        size = int(climb(rows, start, patience, self._random, best))
        if names is None:
            if size > self.best.size:
                self.best = best[:size].copy()
        elif size + 1 > self.best.size:
            self.best = np.append(names[best[:size]], names[-1]).astype(np.int64)


class _Stack:
    """The arrays of one branch and bound."""

    def __init__(self, rows: NDArray[np.uint64], colours: int) -> None:
        n, words = rows.shape
        self.rows = rows
        self.state = np.zeros(5, dtype=np.int64)
        self.members = np.zeros((colours + 2, words), dtype=np.uint64)
        self.branch = np.zeros((colours + 2, words), dtype=np.uint64)
        self.needs = np.zeros(colours + 2, dtype=np.int64)
        self.chosen = np.zeros(colours + 2, dtype=np.int64)
        self.classes = np.zeros((colours + 2, words), dtype=np.uint64)
        self.locked = np.zeros(colours + 2, dtype=np.bool_)
        # A node costs a few word operations a vertex and word.
        self.budget = max(16, int(_SLICE / (n * words * 2)))

    def start(self, need: int) -> None:
        kernels.start(self.rows, need, self.state, self.members, self.branch, self.needs, self.classes, self.locked)

    def advance(self, found: IntArray, every: bool, budget: int) -> bool:
        return kernels.advance(
            self.rows,
            self.state,
            self.members,
            self.branch,
            self.needs,
            self.chosen,
            self.classes,
            self.locked,
            found,
            every,
            budget,
        )
