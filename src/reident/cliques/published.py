"""Attack. The clique search of Kroll (2015, 2016): Konc and Janežič's branch and bound with a limit of steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from reident.cliques.adjacency import Adjacency
from reident.cliques.search import Search
from reident.cliques.search_graph import BitsGraph, prepare
from reident.kernels.cliques import clique_published

# Accesses to the graph, about a tenth of a second, between two checks of time and Ctrl-C.
_SLICE = 20_000_000


class PublishedSearch(Search):
    """The algorithm of Konc and Janežič."""

    def __init__(self, adjacency: Adjacency, **limits: Any) -> None:
        super().__init__(adjacency, **limits)
        self._adjacency = adjacency

    def maximum(self) -> bool:
        """Search until the best clique is proven maximum; return whether it is."""
        degrees = self._adjacency.degrees()
        n = degrees.size
        if n == 0:
            return True
        graph = prepare(self._adjacency, only_bits=True)
        assert isinstance(graph, BitsGraph)
        rows, order = graph.bits, graph.order
        # A clique has at most one member more than the largest degree.
        depth = int(degrees.max()) + 3
        state = np.zeros(3, dtype=np.int64)
        stops, chosen, best = (np.zeros(depth, dtype=np.int64) for _ in range(3))
        sums = np.zeros((depth, 2), dtype=np.int64)
        members, colours = (np.zeros(2 * n, dtype=np.int32) for _ in range(2))
        # The root's candidates by descending degree, with the colours that need no colouring.
        members[:n] = np.arange(n)
        colours[:n] = np.minimum(np.arange(n), degrees.max()) + 1
        stops[1] = n
        state[clique_published.LEVEL] = 1
        limit = np.iinfo(np.int64).max if self.node_limit is None else self.node_limit
        while True:
            status = clique_published.advance(rows, state, stops, chosen, sums, members, colours, best, limit, _SLICE)
            self.n_nodes = int(state[clique_published.STEPS])
            self.best = order[best[: state[clique_published.BEST]]]
            # The upper bound is reached: further steps would not change the clique.
            if status == clique_published.FINISHED or self.best.size >= self._upper_bound:
                self._line.close()
                return True
            self._show(f"clique search: {self.best.size} members so far after {self.n_nodes} steps")
            if status == clique_published.NEEDS_ROOM:
                members, colours = (np.concatenate([part, np.zeros_like(part)]) for part in (members, colours))
            elif self.n_nodes >= limit or (self.time_limit_s is not None and self.seconds() >= self.time_limit_s):
                break
        self._line.close()
        self.open_bound = min(self.open_bound, graph.colours())
        return self.open_bound <= self.best.size
