"""Anonymiser. Search of the generalisation lattice: which nodes satisfy the criteria, and which of them loses least.

A node that satisfies monotone criteria settles all above it, one that does not settles all below it, so that few nodes
beside those at the border are counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from reident.base import DataError, FloatArray, IntArray, ParameterError
from reident.tables._criteria import Criteria
from reident.tables._lattice_nodes import Classes, Coded, Kept, Node, NodeTester
from reident.tables._losses import LevelLosses
from reident.tables._published import settle_by_sublattices
from reident.tables.hierarchy import Hierarchy

SOLUTION_COLUMNS = ["total_level", "loss", "n_suppressed", "n_classes"]

_MAX_NODES = 2_000_000


def too_large(levels: Iterable[int]) -> str:
    """Return why a lattice over so many levels of each attribute is not searched, "" if it is."""
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


def _settle_each(tester: NodeTester, fineness: FloatArray) -> np.ndarray:
    """As `_settle`, for criteria that are not monotone: k prunes, every other node is judged for itself."""
    tags = _settle(tester.big_enough, fineness)
    for node in np.argwhere(tags == 1):
        at = _node(node)
        tags[at] = 1 if tester.satisfies(at) else -1
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
    coded = Coded(table, quasi, hierarchies)
    shape = tuple(int(levels) for levels in coded.levels)
    if reason := too_large(shape):
        raise ParameterError(reason)
    tester = NodeTester(coded, criteria, limit)
    monotone = criteria.monotone_with_suppression or tester.most == 0
    if published and not monotone:
        raise ParameterError(
            "`method` = 'published' tags nodes by others, got criteria that are not monotone where records are "
            "suppressed: use 'ola', or `suppression_limit` 0"
        )
    fineness = coded.fineness()
    if published:
        tags = settle_by_sublattices(tester.grouped, shape)
    else:
        tags = _settle(tester.satisfies, fineness) if monotone else _settle_each(tester, fineness)
    minimal = _minimal(tags)
    if not minimal.any():
        raise DataError(_why_none(tester, shape, limit))
    losses = LevelLosses(coded.maps, coded.levels, coded.counts, coded.values, coded.n)
    scorer = _Scorer(tester, losses, loss, charge_suppressed)
    solutions = sorted(scorer.score(_node(node)) for node in np.argwhere(minimal))
    best = _exact(scorer, tags, min(solutions)) if exact else solutions[0]
    classes = tester.classes(best.node)
    ids = np.where(classes.is_retained, np.cumsum(classes.is_retained) - 1, -1)[classes.group]
    return Found(
        node=best.node,
        losses=scorer.losses_of(best.node, classes),
        classes=ids[coded.tuple_of],
        solutions=_solutions_frame(quasi, solutions),
        lattice=_lattice_frame(quasi, tags, minimal),
        n_checked=len(tester.checked),
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
    def __init__(self, tester: NodeTester, losses: LevelLosses, loss: str, charged: bool) -> None:
        self.tester, self.losses, self.loss, self.charged = tester, losses, loss, charged

    def losses_of(self, node: Node, classes: Classes) -> dict[str, float]:
        coded = self.tester.coded
        gone = ~classes.is_retained[classes.group]
        weights = coded.weights[gone]
        suppressed = [
            np.bincount(codes[gone], weights=weights, minlength=len(counts)).astype(np.int64)
            for codes, counts in zip(coded.columns, coded.counts, strict=True)
        ]
        retained = Kept.of(classes.sizes[classes.is_retained], 0)
        return self.losses.at(node, retained.n_records, retained.squares, suppressed, charged=self.charged)

    def score(self, node: Node) -> _Solution:
        if self.tester.is_plain and self.loss in ("precision", "discernibility"):
            # These need the sizes of the classes only.
            retained = self.tester.kept_at(node)
            none = [np.zeros_like(counts) for counts in self.tester.coded.counts]
            value = self.losses.at(node, retained.n_records, retained.squares, none, charged=self.charged)[self.loss]
        else:
            classes = self.tester.classes(node)
            retained = Kept.of(classes.sizes[classes.is_retained], 0)
            value = self.losses_of(node, classes)[self.loss]
        n_suppressed = self.tester.coded.n - retained.n_records
        return _Solution(round(value, 12), n_suppressed, sum(node), node, value, retained.n_classes)


def _exact(scorer: _Scorer, tags: np.ndarray, best: _Solution) -> _Solution:
    """Return the best of all nodes that satisfy, from the least bound of the loss upwards until it exceeds the best."""
    bounds = scorer.losses.bound(scorer.loss, charged=scorer.charged, budget=scorer.tester.most)
    candidates = np.argwhere(tags == 1)
    lower_bounds = bounds[tuple(candidates.T)]
    for place in np.argsort(lower_bounds, kind="stable"):
        if lower_bounds[place] > best.loss + 1e-9:
            break
        best = min(best, scorer.score(_node(candidates[place])))
    return best


def _why_none(tester: NodeTester, shape: Node, limit: float) -> str:
    """Say how close the most general node comes."""
    top = tuple(size - 1 for size in shape)
    n, n_suppressed = tester.coded.n, tester.classes(top).n_suppressed
    return (
        f"no generalisation satisfies the criteria while suppressing at most {tester.most} of {n} records "
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
