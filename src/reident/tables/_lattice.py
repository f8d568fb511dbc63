"""Anonymiser. Search of the generalisation lattice: which nodes satisfy the criteria, and which of them loses least.

Nodes are counted on distinct tuples, not on records, and each node's classes are rolled up from the smallest set of
classes counted before at a node below it. A node that satisfies monotone criteria settles all above it, one that does
not settles all below it, so that few nodes beside those at the border are counted.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from reident._types import BoolArray, FloatArray, IntArray
from reident.errors import DataError, ParameterError
from reident.kernels.tables.classes import class_sizes, group_tuples
from reident.tables._criteria import Criteria
from reident.tables._losses import LevelLosses
from reident.tables._published import settle_by_sublattices
from reident.tables._runs import sensitive_runs
from reident.tables.classes import class_ids, encode_column
from reident.tables.hierarchy import Hierarchy

__all__ = ["SOLUTION_COLUMNS", "Found", "search", "too_large"]

SOLUTION_COLUMNS = ["total_level", "loss", "n_suppressed", "n_classes"]

Node = tuple[int, ...]

#: Bytes that the classes of counted nodes may take up.
_MEMORY = 256 * 2**20

#: Cells up to which they are numbered; a node with more is counted by sorting.
_MAX_CELLS = 2**62

_MAX_NODES = 2_000_000


def too_large(levels: Iterable[int]) -> str:
    """Return why a lattice over so many levels of each attribute is not searched, nothing if it is."""
    n_nodes = math.prod(levels)
    if n_nodes <= _MAX_NODES:
        return ""
    return (
        f"`hierarchies` must span at most {_MAX_NODES:,} nodes, got {n_nodes:.6g}: use fewer levels or attributes, or "
        "method='mondrian'"
    )


@dataclass(frozen=True)
class Found:
    """The outcome of a search."""

    node: Node
    losses: Mapping[str, float]
    classes: IntArray
    solutions: pd.DataFrame
    lattice: pd.DataFrame
    n_checked: int


class _Coded:
    """The table as distinct tuples of codes, and the hierarchies as maps from codes to labels."""

    def __init__(self, table: pd.DataFrame, quasi: list[str], hierarchies: Mapping[str, Hierarchy]) -> None:
        self.n = len(table)
        columns, values = [], []
        for name in quasi:
            codes, index = encode_column(table[name])
            columns.append(codes)
            values.append(index)
        self.levels = np.array([hierarchies[name].n_levels for name in quasi], dtype=np.int64)
        q, n_values = len(quasi), [len(index) for index in values]
        self.maps = np.zeros((q, int(self.levels.max()), max(n_values)), dtype=np.int32)
        #: A value of each label, the inverse of `maps`.
        self.value_of: list[list[IntArray]] = []
        for j, name in enumerate(quasi):
            rows = hierarchies[name].rows_of(values[j], name)
            self.value_of.append([])
            for level in range(self.levels[j]):
                labels = pd.factorize(hierarchies[name].codes_at(level)[rows])[0]
                self.maps[j, level, : n_values[j]] = labels
                self.value_of[j].append(np.unique(labels, return_index=True)[1])
        self.tuple_of, n_tuples = class_ids(columns)
        first = np.empty(n_tuples, dtype=np.int64)
        first[self.tuple_of[::-1]] = np.arange(self.n - 1, -1, -1)
        small = np.int16 if max(n_values) < 2**15 else np.int32
        self.columns = np.stack([codes[first].astype(small) for codes in columns])
        self.weights = np.bincount(self.tuple_of, minlength=n_tuples)
        self.counts = [np.bincount(codes) for codes in columns]
        self.values = values

    def n_labels(self, node: Node) -> list[int]:
        """Return the number of labels of each attribute at a node."""
        return [len(self.value_of[j][level]) for j, level in enumerate(node)]

    def fineness(self) -> FloatArray:
        """Return the logarithm of the number of cells at every node."""
        logs = [np.log([len(values) for values in levels]) for levels in self.value_of]
        return np.asarray(functools.reduce(np.add.outer, logs))

    def _offsets(self, node: Node) -> tuple[IntArray, np.ndarray, int]:
        """Return the attributes with several labels, what each of their values adds to a cell, and the cells."""
        varied, offsets, n_cells = [], [], 1
        for j, count in enumerate(self.n_labels(node)):
            if count > 1:
                varied.append(j)
                offsets.append(self.maps[j, node[j]] * np.int64(n_cells))
                n_cells *= count
                if n_cells >= _MAX_CELLS:
                    break
        width = self.maps.shape[2]
        return np.array(varied, dtype=np.int64), np.array(offsets, dtype=np.int64).reshape(-1, width), n_cells

    def group(self, node: Node) -> tuple[IntArray, IntArray]:
        """Return the class of each distinct tuple at a node, and the records of each class."""
        varied, offsets, n_cells = self._offsets(node)
        if n_cells < _MAX_CELLS:
            return group_tuples(self.columns, self.weights, varied, offsets)  # type: ignore[no-any-return]
        labels = [self.maps[j, level][codes] for j, (level, codes) in enumerate(zip(node, self.columns, strict=True))]
        group, n_groups = class_ids(labels)
        return group, np.bincount(group, weights=self.weights, minlength=n_groups).astype(np.int64)

    def roll_up(
        self, columns: np.ndarray, weights: IntArray, node: Node, most: int
    ) -> tuple[IntArray | None, IntArray]:
        """Merge the classes of a node below; of more than `most` any more than `most` will do.

        Returns the cell of each class, None where there are too many to number, and the records of each class.
        """
        varied, offsets, n_cells = self._offsets(node)
        if n_cells >= _MAX_CELLS:
            return None, self.group(node)[1]
        return class_sizes(columns, weights, varied, offsets, n_cells, most)  # type: ignore[no-any-return]

    def tuples_of(self, cells: IntArray, node: Node) -> np.ndarray:
        """Return a tuple in each cell at a node, an attribute a row."""
        tuples = np.zeros((len(node), len(cells)), dtype=self.columns.dtype)
        for j, (level, count) in enumerate(zip(node, self.n_labels(node), strict=True)):
            if count > 1:
                cells, labels = np.divmod(cells, count)
                tuples[j] = self.value_of[j][level][labels]
        return tuples


@dataclass
class _Pool:
    """The classes of nodes counted before, for others above them to be rolled up from."""

    coded: _Coded
    nodes: list[Node] = field(default_factory=list)
    columns: list[np.ndarray] = field(default_factory=list)
    sizes: list[IntArray] = field(default_factory=list)
    used: int = 0

    def __post_init__(self) -> None:
        self._at = np.zeros((64, self.coded.levels.size), dtype=np.int16)
        self._lengths = np.zeros(64, dtype=np.int64)
        self._add((0,) * self.coded.levels.size, self.coded.columns, self.coded.weights)
        self.used = 0

    def _add(self, node: Node, columns: np.ndarray, sizes: IntArray) -> None:
        place = len(self.nodes)
        if place == len(self._lengths):
            self._at = np.concatenate([self._at, np.zeros_like(self._at)])
            self._lengths = np.concatenate([self._lengths, np.zeros_like(self._lengths)])
        self._at[place], self._lengths[place] = node, len(sizes)
        self.nodes.append(node)
        self.columns.append(columns)
        self.sizes.append(sizes)
        self.used += columns.nbytes + sizes.nbytes

    def count(self, node: Node, most: int) -> tuple[IntArray | None, IntArray]:
        """Return the classes at a node as `_Coded.roll_up` does, from the fewest tuples at hand."""
        known = len(self.nodes)
        below = np.flatnonzero((self._at[:known] <= np.array(node, dtype=np.int16)).all(axis=1))
        source = int(below[self._lengths[below].argmin()])
        return self.coded.roll_up(self.columns[source], self.sizes[source], node, most)

    def keep(self, node: Node, cells: IntArray | None, sizes: IntArray) -> None:
        """Keep the classes at a node to roll others up from, while there is room."""
        if cells is not None and 4 * len(sizes) <= 3 * self.coded.weights.size and self.used < _MEMORY:
            self._add(node, self.coded.tuples_of(cells, node), sizes)


@dataclass(frozen=True)
class _Kept:
    """The classes at a node that are not suppressed, in figures."""

    n_classes: int
    n_records: int
    squares: float

    @staticmethod
    def of(sizes: IntArray, k: int) -> _Kept:
        kept = sizes[sizes >= k]
        return _Kept(kept.size, int(kept.sum()), float((kept.astype(np.float64) ** 2).sum()))


@dataclass(frozen=True)
class _Classes:
    """The classes at one node: of each tuple (and of each tuple with sensitive value), and which are suppressed."""

    group: IntArray  # of each distinct tuple
    sizes: IntArray
    kept: BoolArray

    @property
    def n_suppressed(self) -> int:
        return int(self.sizes[~self.kept].sum())


class _Judge:
    """Counts nodes and tells whether they satisfy the criteria."""

    def __init__(self, coded: _Coded, criteria: Criteria, limit: float) -> None:
        self.coded, self.criteria = coded, criteria
        self.most = int(np.floor(limit * coded.n + 1e-9))
        self.pool = _Pool(coded)
        self.checked: set[Node] = set()
        self.kept: dict[Node, _Kept] = {}
        self.is_plain = criteria.rules.size == 0
        if not self.is_plain:
            pairs, n_pairs = class_ids([coded.tuple_of, criteria.codes])
            first = np.empty(n_pairs, dtype=np.int64)
            first[pairs[::-1]] = np.arange(coded.n - 1, -1, -1)
            self.pair_tuple, self.pair_value = coded.tuple_of[first], criteria.codes[first]
            self.pair_count = np.bincount(pairs)

    def big_enough(self, node: Node) -> bool:
        """Tell whether classes below k hold no more records than may be suppressed."""
        self.checked.add(node)
        # Classes of at least k and suppressed records: more classes than this there cannot be at a node that passes.
        most = self.coded.n // self.criteria.k + self.most
        cells, sizes = self.pool.count(node, most)
        if len(sizes) > most:
            return False
        kept = _Kept.of(sizes, self.criteria.k)
        if self._few(self.coded.n - kept.n_records):
            self.kept[node] = kept
            return True
        self.pool.keep(node, cells, sizes)  # nodes above it are still to be settled
        return False

    def grouped(self, node: Node) -> bool:
        """Tell the same as `satisfies`, counting the classes of all records anew."""
        self.checked.add(node)
        columns = zip(self.coded.columns, node, strict=True)
        labels = [self.coded.maps[j, level][codes[self.coded.tuple_of]] for j, (codes, level) in enumerate(columns)]
        sizes = np.bincount(class_ids(labels)[0])
        if not self._few(int(sizes[sizes < self.criteria.k].sum())):
            return False
        self.kept[node] = _Kept.of(sizes, self.criteria.k)
        return self.is_plain or self._few(self.classes(node).n_suppressed)

    def kept_at(self, node: Node) -> _Kept:
        """Return what is kept at a node if only the size of a class counts."""
        if node not in self.kept:
            cells, sizes = self.pool.count(node, self.coded.n)
            self.pool.keep(node, cells, sizes)
            self.kept[node] = _Kept.of(sizes, self.criteria.k)
        return self.kept[node]

    def _few(self, n_suppressed: int) -> bool:
        return n_suppressed <= self.most and n_suppressed < self.coded.n

    def satisfies(self, node: Node) -> bool:
        """Tell whether a node satisfies all criteria."""
        return self.big_enough(node) and (self.is_plain or self._few(self.classes(node).n_suppressed))

    def classes(self, node: Node) -> _Classes:
        """Return the classes at a node, those that fail marked as suppressed."""
        group, sizes = self.coded.group(node)
        kept = sizes >= self.criteria.k
        if self.is_plain:
            return _Classes(group, sizes, kept)
        pair_class = group[self.pair_tuple]
        while kept.any():
            pairs = kept[pair_class]
            ids = np.cumsum(kept) - 1
            # Values that are no longer there count in no distance, as in a measurement of the release.
            values = np.unique(self.pair_value[pairs], return_inverse=True)[1]
            runs = sensitive_runs(ids[pair_class[pairs]], values, self.pair_count[pairs])
            failing = np.flatnonzero(kept)[~self.criteria.passing(runs)]
            kept[failing] = False
            if not failing.size or not self.criteria.depends_on_others:
                break
        return _Classes(group, sizes, kept)


def _above(tags: np.ndarray, node: Node) -> np.ndarray:
    return tags[tuple(slice(level, None) for level in node)]


def _below(tags: np.ndarray, node: Node) -> np.ndarray:
    return tags[tuple(slice(None, level + 1) for level in node)]


def _settle(satisfies: Callable[[Node], bool], fineness: FloatArray) -> np.ndarray:
    """Return 1 for every node that satisfies monotone criteria, -1 for the others.

    Nodes of few cells satisfy, those of many do not. Bisection finds about how many is too many; from there the nodes
    are settled towards fewer cells, then towards more: where their number decides, only the border is looked at.
    """
    tags = np.zeros(fineness.shape, dtype=np.int8)
    flat = tags.reshape(-1)
    order = np.argsort(-fineness.ravel(), kind="stable")

    def settle(place: int) -> bool:
        if not flat[place]:
            node = _node(np.unravel_index(place, tags.shape))
            if satisfies(node):
                _above(tags, node)[...] = 1
            else:
                _below(tags, node)[...] = -1
        return bool(flat[place] == 1)

    border, high = 0, len(order) - 1
    while border <= high:
        middle = (border + high) // 2
        if settle(order[middle]):
            high = middle - 1
        else:
            border = middle + 1
    for place in (*order[border:], *order[:border][::-1]):
        settle(place)
    return tags


def _settle_each(judge: _Judge, fineness: FloatArray) -> np.ndarray:
    """As `_settle`, for criteria that are not monotone: k prunes, every other node is judged for itself."""
    tags = _settle(judge.big_enough, fineness)
    for node in np.argwhere(tags == 1):
        at = _node(node)
        tags[at] = 1 if judge.satisfies(at) else -1
    return tags


def _minimal(tags: np.ndarray) -> np.ndarray:
    """Mark the nodes that satisfy while no node below them does."""
    reached = np.zeros(tags.shape, dtype=bool)  # a node strictly below satisfies
    satisfied = tags == 1
    for axis in range(tags.ndim):
        upto = np.logical_or.accumulate(satisfied | reached, axis=axis)
        ahead = [slice(None)] * tags.ndim
        behind = [slice(None)] * tags.ndim
        ahead[axis], behind[axis] = slice(1, None), slice(None, -1)
        reached[tuple(ahead)] |= upto[tuple(behind)]
    return satisfied & ~reached


def search(
    table: pd.DataFrame,
    quasi: list[str],
    hierarchies: Mapping[str, Hierarchy],
    criteria: Criteria,
    *,
    limit: float,
    loss: str,
    charge_suppressed: bool,
    exact: bool,
    published: bool,
) -> Found:
    """Search the lattice; `exact`: for the best of all nodes, not only of the minimal ones.

    `published`: by the textbook's binary search of sublattices, which needs monotone criteria.
    """
    coded = _Coded(table, quasi, hierarchies)
    shape = tuple(int(levels) for levels in coded.levels)
    if reason := too_large(shape):
        raise ParameterError(reason)
    judge = _Judge(coded, criteria, limit)
    monotone = criteria.monotone_with_suppression or judge.most == 0
    if published and not monotone:
        raise ParameterError(
            "`method` = 'published' tags nodes by others, got criteria that are not monotone where records are "
            "suppressed: use 'ola', or `suppression_limit` 0"
        )
    fineness = coded.fineness()
    if published:
        tags = settle_by_sublattices(judge.grouped, shape)
    else:
        tags = _settle(judge.satisfies, fineness) if monotone else _settle_each(judge, fineness)
    minimal = _minimal(tags)
    if not minimal.any():
        raise DataError(_why_none(judge, shape, limit))
    losses = LevelLosses(coded.maps, coded.levels, coded.counts, coded.values, coded.n)
    scorer = _Scorer(judge, losses, loss, charge_suppressed)
    solutions = sorted(scorer.score(_node(node)) for node in np.argwhere(minimal))
    best = _exact(scorer, tags, min(solutions)) if exact else solutions[0]
    classes = judge.classes(best.node)
    ids = np.where(classes.kept, np.cumsum(classes.kept) - 1, -1)[classes.group]
    return Found(
        node=best.node,
        losses=scorer.losses_of(best.node, classes),
        classes=ids[coded.tuple_of],
        solutions=_solutions_frame(quasi, solutions),
        lattice=_lattice_frame(quasi, tags, minimal),
        n_checked=len(judge.checked),
    )


def _node(levels: Iterable[int | np.integer]) -> Node:
    return tuple(int(level) for level in levels)


@dataclass(frozen=True, order=True)
class _Solution:
    """A node with its loss; the order settles ties: loss (to 12 digits), suppressed records, total level, node."""

    rounded: float
    n_suppressed: int
    total_level: int
    node: Node
    loss: float
    n_classes: int


class _Scorer:
    def __init__(self, judge: _Judge, losses: LevelLosses, loss: str, charged: bool) -> None:
        self.judge, self.losses, self.loss, self.charged = judge, losses, loss, charged

    def losses_of(self, node: Node, classes: _Classes) -> dict[str, float]:
        coded = self.judge.coded
        gone = ~classes.kept[classes.group]
        weights = coded.weights[gone]
        suppressed = [
            np.bincount(codes[gone], weights=weights, minlength=len(counts)).astype(np.int64)
            for codes, counts in zip(coded.columns, coded.counts, strict=True)
        ]
        kept = _Kept.of(classes.sizes[classes.kept], 0)
        return self.losses.at(node, kept.n_records, kept.squares, suppressed, charged=self.charged)

    def score(self, node: Node) -> _Solution:
        if self.judge.is_plain and self.loss in ("precision", "discernibility"):
            # These need the sizes of the classes only.
            kept = self.judge.kept_at(node)
            none = [np.zeros_like(counts) for counts in self.judge.coded.counts]
            value = self.losses.at(node, kept.n_records, kept.squares, none, charged=self.charged)[self.loss]
        else:
            classes = self.judge.classes(node)
            kept = _Kept.of(classes.sizes[classes.kept], 0)
            value = self.losses_of(node, classes)[self.loss]
        n_suppressed = self.judge.coded.n - kept.n_records
        return _Solution(round(value, 12), n_suppressed, sum(node), node, value, kept.n_classes)


def _exact(scorer: _Scorer, tags: np.ndarray, best: _Solution) -> _Solution:
    """Return the best of all nodes that satisfy, from the least bound of the loss upwards until it exceeds the best."""
    bounds = scorer.losses.bound(scorer.loss, charged=scorer.charged, most=scorer.judge.most)
    candidates = np.argwhere(tags == 1)
    least = bounds[tuple(candidates.T)]
    for place in np.argsort(least, kind="stable"):
        if least[place] > best.loss + 1e-9:
            break
        best = min(best, scorer.score(_node(candidates[place])))
    return best


def _why_none(judge: _Judge, shape: Node, limit: float) -> str:
    """Say how close the most general node comes."""
    top = tuple(size - 1 for size in shape)
    n, n_suppressed = judge.coded.n, judge.classes(top).n_suppressed
    return (
        f"no generalisation satisfies the criteria while suppressing at most {judge.most} of {n} records "
        f"(`suppression_limit` {limit:g}): the most general node {top} would suppress {n_suppressed}"
        + (", and a release may not be empty" if n_suppressed == n else "")
    )


def _solutions_frame(quasi: list[str], solutions: list[_Solution]) -> pd.DataFrame:
    rows = [[*s.node, s.total_level, s.loss, s.n_suppressed, s.n_classes] for s in solutions]
    return pd.DataFrame(rows, columns=[*quasi, *SOLUTION_COLUMNS])


def _lattice_frame(quasi: list[str], tags: np.ndarray, minimal: np.ndarray) -> pd.DataFrame:
    levels = np.indices(tags.shape).reshape(tags.ndim, -1)
    frame = pd.DataFrame(dict(zip(quasi, levels, strict=True)))
    return frame.assign(total_level=levels.sum(axis=0), satisfies=tags.ravel() == 1, k_minimal=minimal.ravel())
