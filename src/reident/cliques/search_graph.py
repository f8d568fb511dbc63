"""Attack. A graph prepared for the clique search, in one of two forms: rows of bits, or lists of smaller neighbours.

Vertices are renumbered by descending degree. Vertex i's prefix is the set of its neighbours of smaller number; each
clique is looked for in the prefix of its largest member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from reident.base import BoolArray, Int32Array, IntArray
from reident.cliques.adjacency import Adjacency, Bits, count_rows, members_of, set_of
from reident.kernels._numba import in_threads
from reident.kernels.cliques import clique as kernels
from reident.kernels.cliques import clique_prefix as prefix
from reident.kernels.cliques import clique_reduce as reduce
from reident.kernels.cliques.bitset import pack_lists, permute_rows

#: About 50 ms of work, in word operations, between two checks of limits and Ctrl-C.
SLICE = 4e7

# Rows of bits up to this many vertices (about 130 MB), unless lists are shorter by far.
_BITS_VERTICES = 32_000
_BITS_DENSITY = 1 / 250
_SMALL = 1000
_ROWS_A_THREAD = 2048
# Rows that fit the cache while the others are read.
_BLOCK = 1024
# A reduction that removes a smaller share of the edges than this is not repeated.
_WORTHWHILE = 0.02
# Larger graphs are reduced by parts first, one of which holds about so many members of the clique.
_MANY_VERTICES = 4000
_MANY_EDGES = 500_000
_SHARE = 9
# Smallest clique for which the reduction by parts pays.
_SPLIT = 14
# A part whose core has more vertices than this excludes none.
_LARGE_CORE = 10_000


class BitsGraph:
    """Rows of bits: for dense graphs, and for the reduced cores of sparse ones."""

    def __init__(self, bits: Bits, order: IntArray) -> None:
        self.bits = bits
        self.order = order
        self.n = bits.shape[0]

    def degrees(self) -> IntArray:
        """Return the degree of each vertex."""
        return count_rows(self.bits)

    def everything(self) -> Bits:
        """Return the set of all vertices."""
        return set_of(np.arange(self.n), self.bits.shape[1])

    def around(self, i: int) -> tuple[IntArray, Bits]:
        """Return the neighbours of vertex i and the graph that they induce."""
        return prefix.subgraph_bits(self.bits, self.bits[i], 1)

    def prefix(self, i: int) -> IntArray:
        """Return the neighbours of vertex i of smaller number."""
        return members_of(prefix_row(self.bits, i))

    def prefix_sizes(self) -> IntArray:
        """Return the number of smaller neighbours of each vertex."""
        below = (np.uint64(1) << np.arange(64, dtype=np.uint64)) - np.uint64(1)
        counts = np.empty(self.n, dtype=np.int64)
        for w in range(self.bits.shape[1]):
            rows = self.bits[64 * w : 64 * (w + 1)]
            counts[64 * w : 64 * (w + 1)] = np.bitwise_count(rows[:, :w]).sum(axis=1, dtype=np.int64)
            counts[64 * w : 64 * (w + 1)] += np.bitwise_count(rows[:, w] & below[: len(rows)])
        return counts

    def survivors(self, low: int, high: int, target: int) -> IntArray:
        """Return the filtered prefix sizes of low..high-1; zero where no clique of `target` members can end."""
        return prefix.survivors_bits(self.bits, low, high, target)

    def subgraph(self, members: IntArray, need: int) -> tuple[IntArray, Bits]:
        """Return the members that can be in a clique of `need` among them, and the graph that they induce."""
        return prefix.subgraph_bits(self.bits, set_of(members, self.bits.shape[1]), need)

    def colours(self) -> int:
        """Return a number of colours that suffices: no clique is larger."""
        return kernels.count_colours(self.bits, self.everything())

    def chunks(self, sizes: IntArray) -> Iterator[tuple[int, int]]:
        """Cut the vertices into runs of about one slice of filtering."""
        return _runs(sizes * (np.arange(self.n) / 64 + 1.0), SLICE)

    def reduced(self, target: int, check: Callable[[], None]) -> BitsGraph:
        """Return the graph without edges and vertices that no clique of `target` members can have; uses this one up."""
        if self.n > _MANY_VERTICES and target >= _SPLIT:
            self._keep(self._possible(target, check), target)
        self._prune(target, check)
        return _by_degree(self.bits, self.order)

    def _possible(self, target: int, check: Callable[[], None]) -> Bits:
        def of_part(part: int, n_parts: int, share: int) -> BoolArray:
            # A part is every so many-th word of the rows, so that cutting it out is copying words.
            members = np.flatnonzero(np.arange(self.n) // 64 % n_parts == part)
            core = BitsGraph(np.ascontiguousarray(self.bits[members][:, part::n_parts]), members)
            core._prune(share, check)
            row = set_of(core.order, self.bits.shape[1])
            rows = prefix.core_rows(self.bits, np.arange(self.n), row)
            return reduce.may_hold_share(rows, core.order, core.bits, share)

        return set_of(np.flatnonzero(_by_parts(of_part, target)), self.bits.shape[1])

    def _prune(self, target: int, check: Callable[[], None]) -> None:
        """Remove the edges and vertices that no clique of `target` members can have."""
        tested = removed = 1
        while removed > _WORTHWHILE * tested:
            tested = removed = 0
            beyond = np.zeros(self.n, dtype=np.int64)
            for low in range((self.n - 1) // _BLOCK * _BLOCK, -1, -_BLOCK):
                check()
                n_tested, n_removed = reduce.prune_bits(self.bits, low, min(low + _BLOCK, self.n), target - 2, beyond)
                tested += n_tested
                removed += n_removed
            # Vertices left with too few neighbours go as well; the next pass is over a far smaller graph.
            self._keep(self.everything(), target)

    def _keep(self, members: Bits, target: int) -> None:
        """Leave out all but the members that have enough neighbours among them for a clique of `target`."""
        vertices, self.bits = prefix.subgraph_bits(self.bits, members, target)
        self.order = self.order[vertices]
        self.n = vertices.size


class ListsGraph:
    """Lists of smaller neighbours: for graphs so large and sparse that rows of bits would not fit."""

    def __init__(self, starts: IntArray, prefixes: Int32Array, order: IntArray, adjacency: Adjacency) -> None:
        self.starts = starts
        self.prefixes = prefixes
        self.order = order
        self.n = order.size
        self._adjacency = adjacency

    def degrees(self) -> IntArray:
        """Return the degree of each vertex."""
        return _degrees(self.starts, self.prefixes)

    def around(self, i: int) -> tuple[IntArray, Bits]:
        """Return the neighbours of vertex i and the graph that they induce."""
        rank = _places(self.order, self._adjacency.n_vertices)
        members = np.sort(rank[self._adjacency.neighbours(int(self.order[i]))])
        return prefix.subgraph_lists(self.starts, self.prefixes, members, 1)

    def prefix(self, i: int) -> IntArray:
        """Return the neighbours of vertex i of smaller number."""
        return self.prefixes[self.starts[i] : self.starts[i + 1]].astype(np.int64)

    def prefix_sizes(self) -> IntArray:
        """Return the number of smaller neighbours of each vertex."""
        return np.diff(self.starts)

    def survivors(self, low: int, high: int, target: int) -> IntArray:
        """Return the filtered prefix sizes of low..high-1; zero where no clique of `target` members can end."""
        return prefix.survivors_lists(self.starts, self.prefixes, low, high, target)

    def subgraph(self, members: IntArray, need: int) -> tuple[IntArray, Bits]:
        """Return the members that can be in a clique of `need` among them, and the graph that they induce."""
        return prefix.subgraph_lists(self.starts, self.prefixes, members, need)

    def colours(self) -> int:
        """Return a number of colours that suffices: no clique is larger."""
        return prefix.colours_lists(self.starts, self.prefixes)

    def chunks(self, sizes: IntArray) -> Iterator[tuple[int, int]]:
        """Cut the vertices into runs of about one slice of filtering."""
        return _runs(sizes * (sizes.mean() + 1.0), SLICE)

    def reduced(self, target: int, check: Callable[[], None]) -> BitsGraph | ListsGraph:
        """Return the graph without edges and vertices that no clique of `target` members can have; uses this one up."""
        if self.prefixes.size > _MANY_EDGES and target >= _SPLIT:
            possible = self._possible(target, check)
            self.starts, self.prefixes = _selected(self.starts, self.prefixes, possible)
        starts, prefixes = _pruned(self.starts, self.prefixes, target, check)
        self.prefixes = prefixes
        degrees = _degrees(starts, prefixes)
        core = np.flatnonzero(degrees >= max(target - 1, 1))
        if core.size > _BITS_VERTICES:
            return ListsGraph(starts, prefixes, self.order, self._adjacency)
        place = _places(core, self.n)
        rows = reduce.pack_prefixes(starts, prefixes, place, core.size, place, core.size)
        return _by_degree(rows, self.order[core])

    def _possible(self, target: int, check: Callable[[], None]) -> BoolArray:
        def of_part(part: int, n_parts: int, share: int) -> BoolArray:
            starts, prefixes = _selected(self.starts, self.prefixes, np.arange(self.n) % n_parts == part)
            starts, prefixes = _pruned(starts, prefixes, share, check)
            core = np.flatnonzero(_degrees(starts, prefixes) >= share - 1)
            if core.size > _LARGE_CORE:
                return np.ones(self.n, dtype=np.bool_)
            place = _places(core, self.n)
            graph = reduce.pack_prefixes(starts, prefixes, place, core.size, place, core.size)
            rows = reduce.pack_prefixes(self.starts, self.prefixes, np.arange(self.n), self.n, place, core.size)
            return reduce.may_hold_share(rows, core, graph, share)

        return _by_parts(of_part, target)


def _by_parts(of_part: Callable[[int, int, int], BoolArray], target: int) -> BoolArray:
    """Return the vertices that may be in a clique of `target` members, from parts of the graph.

    Of k parts one holds at least a k-th of the clique, its share. That shows in the graph of that part alone: a k-th of
    the vertices, each with a k-th of its neighbours. The other members are adjacent to all of the share.
    """
    n_parts = max(2, target // _SHARE)
    share = -(-target // n_parts)
    return np.any(in_threads(lambda part: of_part(part, n_parts, share), range(n_parts)), axis=0)


def _pruned(
    starts: IntArray, prefixes: Int32Array, target: int, check: Callable[[], None]
) -> tuple[IntArray, Int32Array]:
    """Remove, in place, the edges that no clique of `target` members can have."""
    n = starts.size - 1
    marked = np.zeros(n, dtype=np.uint8)
    place = np.empty(n, dtype=np.int64)
    before, size = 2 * prefixes.size + 1, prefixes.size
    while 0 < size < (1 - _WORTHWHILE) * before:
        shared = np.zeros(size, dtype=np.int32)
        for low, high in _runs(np.diff(starts) * (np.diff(starts).mean() + 1.0), SLICE):
            check()
            reduce.count_shared(starts, prefixes, low, high, marked, place, shared)
        before, size = size, int(reduce.prune_lists(starts, prefixes, shared, target - 2))
        prefixes = prefixes[:size]
    return starts, prefixes


def _selected(starts: IntArray, prefixes: Int32Array, is_selected: BoolArray) -> tuple[IntArray, Int32Array]:
    """Return the prefixes of the graph that some vertices induce, all vertices keeping their numbers."""
    inside = np.repeat(is_selected, np.diff(starts)) & is_selected[prefixes]
    return np.append(0, np.cumsum(inside))[starts], prefixes[inside]


def _degrees(starts: IntArray, prefixes: Int32Array) -> IntArray:
    """Return the degree of each vertex of a graph of prefixes."""
    return np.diff(starts) + np.bincount(prefixes[: starts[-1]], minlength=starts.size - 1)


def prefix_row(bits: Bits, i: int) -> Bits:
    """Return the neighbours of vertex i of smaller number, as a row as short as possible."""
    row = bits[i, : (i + 63) // 64].copy()
    if i % 64:
        row[-1] &= np.uint64((1 << i % 64) - 1)
    return row


def ranks(order: IntArray) -> IntArray:
    """Return the place of each vertex in an order of all."""
    return _places(order, order.size)


def _places(vertices: IntArray, n: int) -> IntArray:
    """Return for each of n vertices its place in a list of some, -1 for the others."""
    place = np.full(n, -1, dtype=np.int64)
    place[vertices] = np.arange(vertices.size)
    return place


def prepare(adjacency: Adjacency, *, only_bits: bool = False) -> BitsGraph | ListsGraph:
    """Renumber a graph by descending degree and put it into the form that suits it, or into rows of bits."""
    order = np.argsort(-adjacency.degrees(), kind="stable")
    rank = ranks(order)
    if adjacency.bits is not None:
        return BitsGraph(permute_rows(adjacency.bits, order, rank), order)
    is_dense = adjacency.n_vertices <= _BITS_VERTICES and adjacency.density > _BITS_DENSITY
    if only_bits or is_dense or adjacency.n_vertices <= _SMALL:
        bits = np.zeros((order.size, (order.size + 63) // 64), dtype=np.uint64)
        ends = range(0, order.size, _ROWS_A_THREAD)
        in_threads(
            lambda low: pack_lists(
                adjacency.indptr, adjacency.indices, order, rank, low, min(low + _ROWS_A_THREAD, order.size), bits
            ),
            ends,
        )
        return BitsGraph(bits, order)
    starts, prefixes = prefix.prefix_lists(adjacency.indptr, adjacency.indices, order, rank)
    return ListsGraph(starts, prefixes, order, adjacency)


def _by_degree(rows: Bits, names: IntArray) -> BitsGraph:
    order = np.argsort(-count_rows(rows), kind="stable")
    return BitsGraph(permute_rows(rows, order, ranks(order)), names[order])


def _runs(work: np.ndarray, size: float) -> Iterator[tuple[int, int]]:
    """Cut positions into runs of about `size` work, each of one position at least."""
    total = np.cumsum(work)
    low = 0
    while low < total.size:
        before = total[low - 1] if low else 0.0
        high = min(max(low + 1, int(np.searchsorted(total, before + size))), total.size)
        yield low, high
        low = high
