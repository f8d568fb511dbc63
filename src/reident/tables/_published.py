"""Anonymiser. The textbook algorithms, as published, for comparison with the package's own.

Every node and every part is counted over all of its records, and only the verdicts on nodes are kept.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reident.base import FloatArray, IntArray
from reident.tables._lattice_nodes import Node


def settle_by_sublattices(satisfies: Callable[[Node], bool], shape: Node) -> np.ndarray:
    """Return 1 for every node that satisfies monotone criteria, -1 for the others.

    El Emam et al. (2009), Kmin: the nodes half way up a sublattice split it in two; a node that passes tags all above
    it, one that fails all below it, and tagged nodes are not counted. Each sublattice is gone through once.
    """
    tags = np.zeros(shape, dtype=np.int8)
    bottom, top = (0,) * len(shape), tuple(size - 1 for size in shape)
    stack, visited = [(bottom, top)], {(bottom, top)}

    def passes(node: Node) -> bool:
        if not tags[node]:
            if satisfies(node):
                tags[tuple(slice(level, None) for level in node)] = 1
            else:
                tags[tuple(slice(None, level + 1) for level in node)] = -1
        return bool(tags[node] == 1)

    passes(top)
    while stack:
        low, high = stack.pop()
        if tags[low] == 1:
            continue
        height = sum(high) - sum(low)
        if height <= 1:
            passes(low)
            continue
        for node in _at_height(low, high, height // 2):
            half = (low, node) if passes(node) else (node, high)
            if half not in visited:
                visited.add(half)
                stack.append(half)
    return tags


def _at_height(low: Node, high: Node, height: int) -> list[Node]:
    """Return the nodes of a sublattice that many steps above its bottom."""
    nodes: list[tuple[Node, int]] = [((), height)]
    for place, (bottom, top) in enumerate(zip(low, high, strict=True)):
        room = sum(high[place + 1 :]) - sum(low[place + 1 :])
        nodes = [
            ((*node, bottom + step), remaining - step)
            for node, remaining in nodes
            for step in range(max(remaining - room, 0), min(remaining, top - bottom) + 1)
        ]
    return [node for node, _ in nodes]


def textbook_mondrian(
    codes: IntArray, places: FloatArray, n_codes: IntArray, k: int, allowed: Callable[[IntArray], bool]
) -> tuple[IntArray, IntArray]:
    """Partition records by strict cuts at the median: LeFevre et al. (2006), with `allowed` asked of both sides.

    Records of the median's value go left; right if no value is above it.
    Arguments and results as for `reident.kernels.tables.mondrian.mondrian`, whose cut need not be at the median.
    """
    scale = np.array([places[j, count - 1] - places[j, 0] for j, count in enumerate(n_codes)])
    columns = np.arange(codes.shape[1])

    def cut(part: IntArray) -> tuple[IntArray, IntArray] | None:
        part_codes = codes[part]
        low, high = part_codes.min(axis=0), part_codes.max(axis=0)
        widths = np.where(high > low, (places[columns, high] - places[columns, low]) / np.where(scale > 0, scale, 1), 0)
        for j in np.argsort(-widths, kind="stable"):
            if widths[j] <= 0:
                return None
            median = np.sort(part_codes[:, j])[(part.size - 1) // 2]
            goes_left = part_codes[:, j] <= median if median < high[j] else part_codes[:, j] < median
            lower, right = part[goes_left], part[~goes_left]
            if min(lower.size, right.size) >= k and allowed(lower) and allowed(right):
                return lower, right
        return None

    stack, parts = [np.arange(len(codes))], []
    while stack:
        part = stack.pop()
        halves = cut(part) if part.size >= 2 * k else None
        if halves is None:
            parts.append(part)
        else:
            stack += [halves[1], halves[0]]
    return np.concatenate(parts), np.concatenate([[0], np.cumsum([part.size for part in parts])])
