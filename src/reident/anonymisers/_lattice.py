"""Search of the generalisation lattice: which nodes satisfy the criteria, and which of them loses least.

Nodes are counted on distinct tuples, not on records, and each node's classes are rolled up from the smallest set of
classes counted before at a node below it. A node that satisfies monotone criteria settles all above it, one that does
not settles all below it, so that chains of nodes are searched by bisection.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from reident._classes import class_ids, encode_column
from reident._typing import BoolArray, IntArray
from reident.anonymisers._criteria import Criteria
from reident.anonymisers._losses import LevelLosses
from reident.anonymisers.hierarchy import Hierarchy
from reident.errors import DataError, ParameterError
from reident.kernels.classes import group_tuples
from reident.metrics._runs import sensitive_runs

__all__ = ["SOLUTION_COLUMNS", "Found", "search"]

SOLUTION_COLUMNS = ["total_level", "loss", "n_suppressed", "n_classes"]

Node = tuple[int, ...]

#: Bytes that the classes of counted nodes may take up.
_MEMORY = 256 * 2**20

_MAX_NODES = 2_000_000


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
        self.n_labels = np.ones((q, int(self.levels.max())), dtype=np.int64)
        for j, name in enumerate(quasi):
            rows = hierarchies[name].rows_of(values[j], name)
            for level in range(self.levels[j]):
                labels, present = pd.factorize(hierarchies[name].codes_at(level)[rows])
                self.maps[j, level, : n_values[j]] = labels
                self.n_labels[j, level] = len(present)
        self.tuple_of, n_tuples = class_ids(columns)
        first = np.empty(n_tuples, dtype=np.int64)
        first[self.tuple_of[::-1]] = np.arange(self.n - 1, -1, -1)
        self.tuples = np.column_stack([codes[first] for codes in columns]).astype(np.int32)
        self.weights = np.bincount(self.tuple_of, minlength=n_tuples)
        self.counts = [np.bincount(codes) for codes in columns]
        self.values = values

    def group(
        self, tuples: np.ndarray, weights: IntArray, node: Node, most: int | None = None
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Merge tuples at a node, however many labels there are; give up beyond `most` groups."""
        labels = [int(self.n_labels[j, level]) for j, level in enumerate(node)]
        strides, product = [], 1
        for count in labels:
            strides.append(product)
            product *= count
        if product < 2**62:
            at = np.array(node, dtype=np.int64)
            steps = np.array(strides, dtype=np.int64)
            limit = len(weights) if most is None else most
            return group_tuples(tuples, weights, self.maps, at, steps, limit)  # type: ignore[no-any-return]
        ids, n_groups = class_ids([self.maps[j, level][tuples[:, j]].astype(np.int64) for j, level in enumerate(node)])
        first = np.empty(n_groups, dtype=np.int64)
        first[ids[::-1]] = np.arange(len(ids) - 1, -1, -1)
        return ids, first, np.bincount(ids, weights=weights, minlength=n_groups).astype(np.int64)


@dataclass
class _Pool:
    """The classes of nodes counted before, for others above them to be rolled up from."""

    coded: _Coded
    nodes: list[Node] = field(default_factory=list)
    tuples: list[np.ndarray] = field(default_factory=list)
    sizes: list[IntArray] = field(default_factory=list)
    used: int = 0

    def __post_init__(self) -> None:
        self._at = np.zeros((64, self.coded.levels.size), dtype=np.int16)
        self._lengths = np.zeros(64, dtype=np.int64)
        self._add((0,) * self.coded.levels.size, self.coded.tuples, self.coded.weights)
        self.used = 0

    def _add(self, node: Node, tuples: np.ndarray, sizes: IntArray) -> None:
        place = len(self.nodes)
        if place == len(self._lengths):
            self._at = np.concatenate([self._at, np.zeros_like(self._at)])
            self._lengths = np.concatenate([self._lengths, np.zeros_like(self._lengths)])
        self._at[place], self._lengths[place] = node, len(sizes)
        self.nodes.append(node)
        self.tuples.append(tuples)
        self.sizes.append(sizes)
        self.used += tuples.nbytes + sizes.nbytes

    def sizes_at(self, node: Node, most: int | None = None) -> IntArray:
        """Return the class sizes at a node; if there are more than `most`, any more than `most` sizes will do."""
        known = len(self.nodes)
        below = np.flatnonzero((self._at[:known] <= np.array(node, dtype=np.int16)).all(axis=1))
        source = int(below[self._lengths[below].argmin()])
        if self.nodes[source] == node:
            return self.sizes[source]
        tuples = self.tuples[source]
        _, first, sizes = self.coded.group(tuples, self.sizes[source], node, most)
        if most is not None and len(sizes) > most:
            return sizes
        if 4 * len(sizes) <= 3 * len(tuples) and self.used < _MEMORY:
            self._add(node, tuples[first], sizes)
        return sizes


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
        sizes = self.pool.sizes_at(node, most)
        return len(sizes) <= most and self._few(int(sizes[sizes < self.criteria.k].sum()))

    def _few(self, n_suppressed: int) -> bool:
        return n_suppressed <= self.most and n_suppressed < self.coded.n

    def satisfies(self, node: Node) -> bool:
        """Tell whether a node satisfies all criteria."""
        return self.big_enough(node) and (self.is_plain or self._few(self.classes(node).n_suppressed))

    def classes(self, node: Node) -> _Classes:
        """Return the classes at a node, those that fail marked as suppressed."""
        group, _, sizes = self.coded.group(self.coded.tuples, self.coded.weights, node)
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


def _settle(satisfies: Callable[[Node], bool], shape: Node) -> np.ndarray:
    """Return 1 for every node that satisfies monotone criteria, -1 for the others."""
    tags = np.zeros(shape, dtype=np.int8)
    by_level = sorted(itertools.product(*(range(size) for size in shape)), key=sum)
    for node in by_level:
        if tags[node]:
            continue
        chain = _chain(tags, node)
        low, high = 0, len(chain) - 1
        while low <= high:
            middle = (low + high) // 2
            if satisfies(chain[middle]):
                _above(tags, chain[middle])[...] = 1
                high = middle - 1
            else:
                _below(tags, chain[middle])[...] = -1
                low = middle + 1
    return tags


def _chain(tags: np.ndarray, node: Node) -> list[Node]:
    """Return a path upwards through nodes not yet settled."""
    chain = [node]
    while True:
        for j, level in enumerate(node):
            if level + 1 < tags.shape[j]:
                following = (*node[:j], level + 1, *node[j + 1 :])
                if tags[following] == 0:
                    node = following
                    chain.append(node)
                    break
        else:
            return chain


def _settle_each(judge: _Judge, shape: Node) -> np.ndarray:
    """As `_settle`, for criteria that are not monotone: k prunes, every other node is judged for itself."""
    tags = _settle(judge.big_enough, shape)
    for node in np.argwhere(tags == 1):
        at = tuple(int(level) for level in node)
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
) -> Found:
    """Search the lattice; `exact`: for the best of all nodes, not only of the minimal ones."""
    coded = _Coded(table, quasi, hierarchies)
    shape = tuple(int(levels) for levels in coded.levels)
    if np.prod(coded.levels, dtype=np.float64) > _MAX_NODES:
        raise ParameterError(
            f"`hierarchies` must span at most {_MAX_NODES:,} nodes, got {np.prod(coded.levels):,}: use fewer levels "
            "or attributes, or method='mondrian'"
        )
    judge = _Judge(coded, criteria, limit)
    monotone = criteria.monotone_with_suppression or judge.most == 0
    tags = _settle(judge.satisfies, shape) if monotone else _settle_each(judge, shape)
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


def _node(levels: np.ndarray) -> Node:
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
            np.bincount(coded.tuples[gone, j], weights=weights, minlength=len(counts)).astype(np.int64)
            for j, counts in enumerate(coded.counts)
        ]
        return self.losses.at(node, classes.sizes[classes.kept], suppressed, charged=self.charged)

    def score(self, node: Node) -> _Solution:
        if self.judge.is_plain and self.loss in ("precision", "discernibility"):
            # These need the sizes of the classes only, which are known already.
            sizes = self.judge.pool.sizes_at(node)
            kept = sizes[sizes >= self.judge.criteria.k]
            none = [np.zeros_like(counts) for counts in self.judge.coded.counts]
            value = self.losses.at(node, kept, none, charged=self.charged)[self.loss]
        else:
            classes = self.judge.classes(node)
            kept = classes.sizes[classes.kept]
            value = self.losses_of(node, classes)[self.loss]
        n_suppressed = self.judge.coded.n - int(kept.sum())
        return _Solution(round(value, 12), n_suppressed, sum(node), node, value, int(kept.size))


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
