"""Groups that no few edges take apart: the maximal k-edge-connected subgraphs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reident.base import IntArray

__all__ = ["edge_connected_groups"]


def edge_connected_groups(u: NDArray[np.int32], v: NDArray[np.int32], n: int, k: int) -> IntArray:
    """Return a label for each of n nodes: equal labels where a maximal k-edge-connected subgraph holds both.

    The edges (u, v) are given once each. Those at nodes with fewer than k are peeled off. Then nodes are scanned in the
    order of most edges to those scanned (Nagamochi and Ibaraki, 1992): a node that k edges join to them is
    k-edge-connected to the one scanned when it reached k, and both are merged. A merged node with fewer than k edges to
    others is cut off, and all begins anew, as what held together by edges that are gone may not any more. Time
    O(edges + n k) a scan; a few scans a cut.
    """
    from reident.kernels.networks.edge_groups import peel, scan

    a, b = (np.asarray(ends, dtype=np.int64) for ends in (u, v))
    while True:
        in_core = peel(*_rows(a, b, n), k)
        inside = in_core[a] & in_core[b]
        a, b = a[inside], b[inside]
        group = np.arange(n)
        while True:
            group_a, group_b = group[a], group[b]
            crossing = group_a != group_b
            group_a, group_b = group_a[crossing], group_b[crossing]
            root, has_merged = scan(*_rows(group_a, group_b, n), k)
            if not has_merged:
                break
            group = root[group]
        n_crossing = np.bincount(group_a, minlength=n) + np.bincount(group_b, minlength=n)
        few = n_crossing < k
        cut = (group[a] != group[b]) & (few[group[a]] | few[group[b]])
        if not cut.any():
            return group
        a, b = a[~cut], b[~cut]


def _rows(u: IntArray, v: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """Return pointers and neighbours, an edge as often as it is there."""
    from_, to = np.concatenate([u, v]), np.concatenate([v, u])
    order = np.argsort(from_, kind="stable")
    return np.append(0, np.cumsum(np.bincount(from_, minlength=n))).astype(np.int64), to[order]
