"""Anonymiser. One node of the generalisation lattice: its classes, and whether they satisfy the criteria.

Nodes are counted on distinct tuples, not on records, and each node's classes are rolled up from the smallest set of
classes counted before at a node below it.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from reident.base import BoolArray, FloatArray, IntArray
from reident.tables._criteria import Criteria, sensitive_runs
from reident.tables.classes import class_ids, encode_column, first_rows
from reident.tables.hierarchy import Hierarchy

Node = tuple[int, ...]

#: Bytes that the classes of counted nodes may take up.
_MEMORY = 256 * 2**20

#: Cells for each tuple up to which an array of all cells is counted.
_DENSE = 4

#: Cells up to which they are numbered; a node with more is counted by sorting.
_MAX_CELLS = 2**62


class Coded:
    """The table as distinct tuples of codes, and the hierarchies as maps from codes to labels."""

    def __init__(self, table: pd.DataFrame, quasi: list[str], hierarchies: Mapping[str, Hierarchy]) -> None:
        self.n = len(table)
        columns, values = zip(*(encode_column(table[name]) for name in quasi), strict=True)
        self.levels = np.array([hierarchies[name].n_levels for name in quasi], dtype=np.int64)
        q, n_values = len(quasi), [len(index) for index in values]
        self.maps = np.zeros((q, int(self.levels.max()), max(n_values)), dtype=np.int32)
        #: A value of each label, the inverse of `maps`.
        self.value_of: list[list[IntArray]] = []
        for j, name in enumerate(quasi):
            rows = hierarchies[name].rows_of(values[j], name)
            labels = [pd.factorize(hierarchies[name].codes_at(level)[rows])[0] for level in range(self.levels[j])]
            self.maps[j, : self.levels[j], : n_values[j]] = labels
            self.value_of.append([np.unique(each, return_index=True)[1] for each in labels])
        self.tuple_of, n_tuples = class_ids(columns)
        first = first_rows(self.tuple_of, n_tuples)
        self.columns = np.stack([codes[first].astype(np.intp) for codes in columns])
        self.weights = np.bincount(self.tuple_of, minlength=n_tuples)
        self.counts = [np.bincount(codes) for codes in columns]
        self.values = values

    def fineness(self) -> FloatArray:
        """Return the logarithm of the number of cells at every node."""
        logs = [np.log([len(values) for values in levels]) for levels in self.value_of]
        return np.asarray(functools.reduce(np.add.outer, logs))

    def group(self, node: Node) -> tuple[IntArray, IntArray]:
        """Return the class of each distinct tuple at a node, and the records of each class."""
        labels = [self.maps[j, level][codes] for j, (level, codes) in enumerate(zip(node, self.columns, strict=True))]
        group, n_groups = class_ids(labels)
        return group, np.bincount(group, weights=self.weights, minlength=n_groups).astype(np.int64)

    def roll_up(self, columns: np.ndarray, weights: IntArray, node: Node) -> tuple[IntArray | None, IntArray]:
        """Merge the classes of a node below.

        Returns the cell of each class, None where there are too many to number, and the records of each class.
        """
        cells, n_cells = np.zeros(columns.shape[1], dtype=np.int64), 1
        for j, level in enumerate(node):
            count = len(self.value_of[j][level])
            if count > 1:
                cells += (self.maps[j, level] * np.int64(n_cells))[columns[j]]
                n_cells *= count
            if n_cells >= _MAX_CELLS:
                return None, self.group(node)[1]
        if n_cells <= _DENSE * weights.size:
            sizes = np.bincount(cells, weights=weights, minlength=n_cells)
            present = np.flatnonzero(sizes)
            return present, sizes[present].astype(np.int64)
        group, distinct = pd.factorize(cells)
        return distinct, np.bincount(group, weights=weights, minlength=distinct.size).astype(np.int64)

    def tuples_of(self, cells: IntArray, node: Node) -> np.ndarray:
        """Return a tuple in each cell at a node, an attribute a row."""
        tuples = np.zeros((len(node), len(cells)), dtype=self.columns.dtype)
        for j, level in enumerate(node):
            values = self.value_of[j][level]
            if len(values) > 1:
                cells, labels = np.divmod(cells, len(values))
                tuples[j] = values[labels]
        return tuples


class _Pool:
    """The classes of nodes counted before, for others above them to be rolled up from."""

    def __init__(self, coded: Coded) -> None:
        self.coded, self.used = coded, 0
        self.nodes, self.lengths = np.zeros((1, coded.levels.size), dtype=np.int16), [coded.weights.size]
        self.classes = [(coded.columns, coded.weights)]

    def count(self, node: Node) -> tuple[IntArray | None, IntArray]:
        """Return the classes at a node as `Coded.roll_up` does, from the fewest tuples at hand."""
        below = np.flatnonzero((self.nodes <= np.array(node, dtype=np.int16)).all(axis=1))
        return self.coded.roll_up(*self.classes[min(below, key=self.lengths.__getitem__)], node)

    def keep(self, node: Node, cells: IntArray | None, sizes: IntArray) -> None:
        """Keep the classes at a node to roll others up from, while there is room."""
        if cells is None or 4 * len(sizes) > 3 * self.coded.weights.size or self.used >= _MEMORY:
            return
        columns = self.coded.tuples_of(cells, node)
        self.nodes = np.vstack([self.nodes, np.array(node, dtype=np.int16)])
        self.lengths.append(len(sizes))
        self.classes.append((columns, sizes))
        self.used += columns.nbytes + sizes.nbytes


@dataclass(frozen=True)
class Kept:
    """The classes at a node that are not suppressed, in figures."""

    n_classes: int
    n_records: int
    squares: float

    @staticmethod
    def of(sizes: IntArray, k: int) -> Kept:
        retained = sizes[sizes >= k]
        return Kept(retained.size, int(retained.sum()), float((retained.astype(np.float64) ** 2).sum()))


@dataclass(frozen=True)
class Classes:
    """The classes at one node: of each tuple (and of each tuple with sensitive value), and which are suppressed."""

    group: IntArray  # of each distinct tuple
    sizes: IntArray
    is_retained: BoolArray

    @property
    def n_suppressed(self) -> int:
        return int(self.sizes[~self.is_retained].sum())


class NodeTester:
    """Counts nodes and decides whether they satisfy the criteria."""

    def __init__(self, coded: Coded, criteria: Criteria, limit: float) -> None:
        self.coded, self.criteria = coded, criteria
        self.most = int(np.floor(limit * coded.n + 1e-9))
        self.pool = _Pool(coded)
        self.checked: set[Node] = set()
        self.retained: dict[Node, Kept] = {}
        self.is_plain = criteria.rules.size == 0
        if not self.is_plain:
            pairs, n_pairs = class_ids([coded.tuple_of, criteria.codes])
            first = first_rows(pairs, n_pairs)
            self.pair_tuple, self.pair_value = coded.tuple_of[first], criteria.codes[first]
            self.pair_count = np.bincount(pairs)

    def big_enough(self, node: Node) -> bool:
        """Return whether classes below k hold no more records than may be suppressed."""
        self.checked.add(node)
        # Classes of at least k and suppressed records: more classes than this there cannot be at a node that passes.
        largest_count = self.coded.n // self.criteria.k + self.most
        cells, sizes = self.pool.count(node)
        if len(sizes) > largest_count:
            return False
        retained = Kept.of(sizes, self.criteria.k)
        if self._few(self.coded.n - retained.n_records):
            self.retained[node] = retained
            return True
        self.pool.keep(node, cells, sizes)  # nodes above it are still to be settled
        return False

    def grouped(self, node: Node) -> bool:
        """Return the same as `satisfies`, counting the classes of all records anew."""
        self.checked.add(node)
        columns = zip(self.coded.columns, node, strict=True)
        labels = [self.coded.maps[j, level][codes[self.coded.tuple_of]] for j, (codes, level) in enumerate(columns)]
        sizes = np.bincount(class_ids(labels)[0])
        if not self._few(int(sizes[sizes < self.criteria.k].sum())):
            return False
        self.retained[node] = Kept.of(sizes, self.criteria.k)
        return self.is_plain or self._few(self.classes(node).n_suppressed)

    def kept_at(self, node: Node) -> Kept:
        """Return the retained records at a node if only the size of a class counts."""
        if node not in self.retained:
            cells, sizes = self.pool.count(node)
            self.pool.keep(node, cells, sizes)
            self.retained[node] = Kept.of(sizes, self.criteria.k)
        return self.retained[node]

    def _few(self, n_suppressed: int) -> bool:
        return n_suppressed <= self.most and n_suppressed < self.coded.n

    def satisfies(self, node: Node) -> bool:
        """Return whether a node satisfies all criteria."""
        return self.big_enough(node) and (self.is_plain or self._few(self.classes(node).n_suppressed))

    def classes(self, node: Node) -> Classes:
        """Return the classes at a node, those that fail marked as suppressed."""
        group, sizes = self.coded.group(node)
        is_retained = sizes >= self.criteria.k
        if self.is_plain:
            return Classes(group, sizes, is_retained)
        pair_class = group[self.pair_tuple]
        while is_retained.any():
            pairs = is_retained[pair_class]
            ids = np.cumsum(is_retained) - 1
            # Values that are suppressed throughout count in no distance, as in a measurement of the release.
            values = np.unique(self.pair_value[pairs], return_inverse=True)[1]
            runs = sensitive_runs(ids[pair_class[pairs]], values, self.pair_count[pairs])
            failing = np.flatnonzero(is_retained)[~self.criteria.passing(runs)]
            is_retained[failing] = False
            if not failing.size or not self.criteria.depends_on_others:
                break
        return Classes(group, sizes, is_retained)
