"""Attack. The search of `max_clique` and `max_cliques`: local search, then branch and bound in slices."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from reident.base import Generator, IntArray, check_flag, check_integer, check_positive
from reident.cliques.adjacency import Adjacency, Bits, members_of, set_of
from reident.cliques.search_graph import SLICE, BitsGraph, ListsGraph, prepare, ranks
from reident.kernels.cliques import clique as kernels
from reident.kernels.cliques.bitset import permute_rows
from reident.kernels.cliques.clique_climb import climb

# Up to this order a graph is one branch and bound; above it, one for each vertex.
_WHOLE = 1500
# Vertices of a subproblem whose preparation costs as much as a node of the search.
_VERTICES_A_NODE = 50
# What takes longer than this share of a slice is cut up at its root: smaller graphs, each in an order of its own, end
# sooner. Of so few vertices, or cut so often already, it goes on as it is.
_SHORT = 1 / 8
_UNCUT = 64
_CUTS = 16
# Above this density no edge is hoped to be removed beforehand, and local search walks on the whole graph.
_DENSE = 0.1
# Of a sparse graph, one more neighbourhood in vain is climbed for so many edges.
_EDGES_A_CLIMB = 100_000
# Local search's share of the time, once branch and bound takes longer than a moment.
_CLIMBING_SHARE = 0.25


class LimitReached(Exception):  # noqa: N818 (a signal between two functions, not an error)
    """The time or node limit ended the search."""


class Search(ABC):
    """A search of one graph that can be stopped; `best` holds the vertices of the largest clique so far."""

    def __init__(
        self,
        adjacency: Adjacency,
        *,
        time_limit_s: float | None = None,
        node_limit: int | None = None,
        progress: bool = False,
    ) -> None:
        self._start_s = time.perf_counter()
        self.time_limit_s = None if time_limit_s is None else check_positive(time_limit_s, "time_limit_s")
        self.node_limit = None if node_limit is None else check_integer(node_limit, "node_limit", low=1)
        self.n_nodes = 0
        self.best: IntArray = np.zeros(0, dtype=np.int64)
        self._upper_bound = adjacency.n_vertices if adjacency.largest is None else adjacency.largest
        self.open_bound = self._upper_bound
        self._line = tqdm(
            bar_format="{desc}, {elapsed}", delay=2, mininterval=0.5, leave=False,
            disable=None if check_flag(progress, "progress") else True,  # None: not in a log
        )  # fmt: skip

    def _show(self, text: str) -> None:
        self._line.set_description_str(text, refresh=False)
        self._line.update()

    @abstractmethod
    def maximum(self) -> bool:
        """Search until the best clique is proven maximum; return whether it is."""

    def seconds(self) -> float:
        """Return the time since the search was made, s."""
        return time.perf_counter() - self._start_s


class CliqueSearch(Search):
    """Local search for a large clique, then branch and bound until it is proven maximum.

    With `ties` vertices that are removed beforehand are in no maximum clique; without, in none larger than the best so
    far. `initial` is the clique and the upper bound of an earlier search. `n_nodes` counts branch-and-bound nodes and
    one more for every 50 vertices of a prepared subproblem.
    """

    def __init__(
        self,
        adjacency: Adjacency,
        rng: Generator,
        *,
        ties: bool,
        initial: tuple[IntArray, int] | None = None,
        **limits: Any,
    ) -> None:
        super().__init__(adjacency, **limits)
        self._ties = ties
        self._initial = None if initial is None else initial[0]
        #: No clique is larger, by the graph's construction or by an earlier search.
        self._bound = self._upper_bound if initial is None else min(initial[1], self._upper_bound)
        self._n_vertices, self._n_edges = adjacency.n_vertices, adjacency.n_edges
        self._random = np.array([rng.integers(1, 2**63)], dtype=np.uint64)
        self._dense = adjacency.density > _DENSE
        self._graph = prepare(adjacency)
        self._slices = 0.0
        self._climbed = 0.0
        self._work = 0  # in vertices of prepared subproblems

    def maximum(self) -> bool:
        """Search until the best clique is proven maximum; return whether it is."""
        if self._n_vertices == 0:
            return True
        self.best = self._graph.order[:1].copy() if self._initial is None else self._initial
        try:
            if self.best.size < self._bound:
                self._first_climb()
            if not self._dense:
                self._graph = self._graph.reduced(self.best.size + (not self._ties), self._check_limits)
            if self.best.size < self._bound:
                for members, tail, rest in self._subproblems(more=1):
                    self._branch(self._graph, members, tail, rest)
        except LimitReached:
            self.open_bound = min(self.open_bound, self._bound, max(self._graph.colours(), self.best.size))
            return self.open_bound <= self.best.size
        finally:
            self._line.close()
        return True

    def every(self, limit: int) -> tuple[list[IntArray], bool]:
        """List up to `limit` maximum cliques after `maximum` with `ties`, and return whether the list is complete."""
        if self.best.size <= 1:
            return [np.array([v]) for v in range(min(self._n_vertices, limit))], self._n_vertices <= limit
        cliques: list[IntArray] = []
        try:
            for members, tail, _ in self._subproblems(more=0):
                if not self._list_cliques(members, tail, limit, cliques):
                    return cliques, False
        except LimitReached:
            return cliques, False
        finally:
            self._line.close()
        return cliques, True

    def _check_limits(self) -> None:
        self._show(f"clique search: {self.best.size} members so far, at most {self.open_bound}")
        self._spend(0)

    def _spend(self, work: int) -> None:
        """Count work, in vertices of prepared subproblems, and raise at the time or node limit."""
        self._work += work
        self.n_nodes = self._work // _VERTICES_A_NODE
        if self.time_limit_s is not None and self.seconds() >= self.time_limit_s:
            raise LimitReached
        if self.node_limit is not None and self.n_nodes >= self.node_limit:
            raise LimitReached

    # -- subproblems -------------------------------------------------------------------------------------------------

    def _subproblems(self, *, more: int) -> Iterator[tuple[IntArray, IntArray, int]]:
        """Yield subproblems that may hold a clique of best + `more` members.

        Each is a set of vertices, a vertex that is adjacent to all of it (or none), and an upper bound for the cliques
        of all later subproblems.
        """
        graph = self._graph
        # If the best clique reaches the upper bound, maximum cliques are many and cutting the graph would only cost.
        if graph.n <= _WHOLE or (self.best.size >= self._upper_bound and isinstance(graph, BitsGraph)):
            yield np.arange(graph.n), graph.order[:0], 0
            return
        reach = graph.prefix_sizes() + 1
        # The largest clique that may still come, from each vertex on.
        to_come = np.append(np.maximum.accumulate(reach[::-1])[::-1], 0)
        for low, high in graph.chunks(reach):
            self.open_bound = int(to_come[low])
            self._check_limits()
            sizes = graph.survivors(low, high, self.best.size + more)
            self._slices += 1
            for i in low + np.flatnonzero(sizes):
                if sizes[i - low] + 1 >= self.best.size + more:
                    yield graph.prefix(int(i)), graph.order[[i]], int(to_come[i + 1])

    def _prepare(self, graph: BitsGraph | ListsGraph, members: IntArray, need: int) -> tuple[IntArray, Bits, int]:
        """Return the members fit for a clique of `need`, in search order, their graph, and an upper bound."""
        self._spend(members.size)
        candidates, rows = graph.subgraph(members, need)
        if candidates.size < max(need, 1):
            return candidates, rows, 0
        order = kernels.degeneracy_order(rows)
        rows = permute_rows(rows, order, ranks(order))
        everything = set_of(np.arange(order.size), rows.shape[1])
        return graph.order[candidates[order]], rows, kernels.count_colours(rows, everything)

    def _branch(self, graph: BitsGraph | ListsGraph, members: IntArray, tail: IntArray, rest: int) -> None:
        """Search a subproblem for cliques that with `tail`, adjacent to all of it, exceed the best."""
        names, rows, colours = self._prepare(graph, members, self.best.size + 1 - tail.size)
        if colours + tail.size <= self.best.size:
            return
        self.open_bound = max(rest, colours + tail.size)
        self._check_limits()
        tree = _Tree(rows, colours, self.best.size + 1 - tail.size)
        clique = np.zeros((1, colours + 1), dtype=np.int64)
        finished = self._advance(tree, clique, every=False, share=_SHORT)
        self._take(names, clique, tree, tail)
        if not finished and names.size > _UNCUT and tail.size < _CUTS:
            whole = BitsGraph(rows, names)
            for inner, v, to_come in tree.cut():
                self._climb_on()
                self._branch(whole, inner, np.append(tail, names[v]), max(rest, to_come + tail.size))
                tree.raise_target(self.best.size + 1 - tail.size)
            return
        while not finished:
            self._climb_on()
            tree.raise_target(self.best.size + 1 - tail.size)
            self.open_bound = max(rest, tree.bound() + tail.size)
            self._check_limits()
            finished = self._advance(tree, clique, every=False)
            self._take(names, clique, tree, tail)

    def _take(self, names: IntArray, clique: IntArray, tree: _Tree, tail: IntArray) -> None:
        size = int(tree.state[kernels.FOUND])
        if size + tail.size > self.best.size:
            self.best = np.append(names[clique[0, :size]], tail)

    def _advance(self, tree: _Tree, cliques: IntArray, *, every: bool, share: float = 1.0) -> bool:
        budget = max(1, int(tree.budget * share))
        budget = budget if self.node_limit is None else max(1, min(budget, self.node_limit - self.n_nodes))
        before = int(tree.state[kernels.NODES])
        finished = tree.advance(cliques, every, budget)
        visited = int(tree.state[kernels.NODES]) - before
        self._work += _VERTICES_A_NODE * visited
        self.n_nodes = self._work // _VERTICES_A_NODE
        self._slices += visited / tree.budget
        return finished

    def _list_cliques(self, members: IntArray, tail: IntArray, limit: int, cliques: list[IntArray]) -> bool:
        """Append a subproblem's cliques of the best's size; return False if there are more than `limit` in all."""
        need = self.best.size - tail.size
        names, rows, colours = self._prepare(self._graph, members, need)
        if colours < need:
            return True
        tree = _Tree(rows, colours, need)
        finished = False
        while not finished:
            self._check_limits()
            batch = np.zeros((min(limit - len(cliques) + 1, 4096), need), dtype=np.int64)
            tree.state[kernels.FOUND] = tree.state[kernels.FULL] = 0
            finished = self._advance(tree, batch, every=True)
            cliques.extend(np.append(names[row], tail) for row in batch[: tree.state[kernels.FOUND]])
            if len(cliques) > limit:
                del cliques[limit:]
                return False
        return True

    # -- local search ------------------------------------------------------------------------------------------------

    def _first_climb(self) -> None:
        """Find a large clique fast: on the whole graph if it is dense, else around the vertices of largest degree."""
        graph = self._graph
        if isinstance(graph, BitsGraph) and (graph.n <= _WHOLE or self._dense):
            # Slices: the square of the order for small graphs, a moment for large ones.
            effort = min(4.0, graph.n**2 / 5e5)
            while self._climbed < effort and self.best.size < self._upper_bound:
                self._climb_whole()
                self._check_limits()
            return
        # The larger the clique, the faster a large graph is reduced.
        max_failures = 16 + self._n_edges // _EDGES_A_CLIMB
        degrees = graph.degrees()[: 4 * max_failures]
        improved = 0
        for v in range(degrees.size):
            if v - improved > max_failures or degrees[v] < self.best.size:
                break
            members, rows = graph.around(v)
            if members.size:
                best = np.empty(members.size, dtype=np.int64)
                size, _ = climb(rows, 0, 100, self._random, best)
                if size + 1 > self.best.size:
                    improved = v
                    self.best = graph.order[np.append(members[best[:size]], v)]

    def _climb_on(self) -> None:
        """Give local search its share of a long search."""
        if self._slices > 4 and isinstance(self._graph, BitsGraph):
            while self._climbed < _CLIMBING_SHARE * self._slices:
                self._climb_whole()

    def _climb_whole(self) -> None:
        assert isinstance(self._graph, BitsGraph)
        rows = self._graph.bits
        best = np.empty(rows.shape[0], dtype=np.int64)
        start = int(self._random[0] >> np.uint64(11)) % rows.shape[0]
        size, moves = climb(rows, start, min(2000, 10 * rows.shape[0]), self._random, best)
        self._climbed += (moves * (size + 4) * rows.shape[1] + 1000) / SLICE
        if size > self.best.size:
            self.best = self._graph.order[best[:size]]


def workspace(n_classes: int, words: int) -> tuple[Bits, Bits, IntArray]:
    """Return the working arrays of `clique.branching_set`: sets, adjacency among the relaxation variables, and marks.

    The sets hold vertices and relaxation variables: colour classes, inconsistent subsets, and two for intermediate use.
    """
    width, n_sets = words + kernels.BLANKS // 64, n_classes + kernels.BLANKS
    return (
        np.zeros((n_sets + 2, width), dtype=np.uint64),
        np.zeros((kernels.BLANKS, kernels.BLANKS // 64), dtype=np.uint64),
        np.zeros((6, max(n_sets, 64 * width)), dtype=np.int64),
    )


class _Tree:
    """A branch and bound in progress."""

    def __init__(self, rows: Bits, colours: int, need: int) -> None:
        n, words = rows.shape
        self.rows = rows
        self.state = np.zeros(5, dtype=np.int64)
        # A node costs some word operations a vertex.
        self.budget = max(16, int(SLICE / (n * words * 2)))
        self._members = np.zeros((colours + 2, words), dtype=np.uint64)
        self._branch = np.zeros((colours + 2, words), dtype=np.uint64)
        self._needs = np.zeros(colours + 2, dtype=np.int64)
        self._chosen = np.zeros(colours + 2, dtype=np.int64)
        self._space = workspace(colours + 2, words)
        self.state[kernels.TARGET] = need
        self._members[0] = set_of(np.arange(n), words)

    def advance(self, cliques: IntArray, every: bool, budget: int) -> bool:
        """Visit at most `budget` nodes; return whether the search is finished."""
        work = self._members, self._branch, self._needs, self._space, self._chosen
        return bool(kernels.advance(self.rows, self.state, *work, cliques, every, budget))

    def raise_target(self, target: int) -> None:
        """Search only for cliques of at least `target` members from now on."""
        self.state[kernels.TARGET] = max(self.state[kernels.TARGET], target)

    def bound(self) -> int:
        """Return a bound on the cliques that are not searched yet."""
        open_members = self._members[0].copy()
        if self.state[kernels.DEPTH] > 0:
            v = int(self._chosen[0])
            open_members[v >> 6] |= np.uint64(1 << (v & 63))
        return self._colours(open_members)

    def _colours(self, members: Bits) -> int:
        return int(kernels.count_colours(self.rows, members))

    def cut(self) -> Iterator[tuple[IntArray, int, int]]:
        """Yield the open part as sets of vertices, each with a vertex adjacent to all of it and an upper bound.

        The bound holds for the cliques of all later sets.
        """
        members = self._members[0]
        v = int(self._chosen[0]) if self.state[kernels.DEPTH] > 0 else self._next()
        while v >= 0:
            yield members_of(members & self.rows[v]), v, self._colours(members)
            v = self._next()

    def _next(self) -> int:
        """Remove the next vertex to branch on from the root's sets."""
        target, branch = int(self.state[kernels.TARGET]), self._branch[0]
        if target > self._needs[0]:
            kernels.branching_set(self.rows, self._members[0], target, self._space, branch)
            self._needs[0] = target
        words = np.flatnonzero(branch)
        if words.size == 0:
            return -1
        w = int(words[-1])
        v = 64 * w + int(branch[w]).bit_length() - 1
        others = ~np.uint64(1 << (v & 63))
        branch[w] &= others
        self._members[0, w] &= others
        return v
