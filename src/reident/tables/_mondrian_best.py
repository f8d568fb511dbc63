"""Anonymiser. Partitioning by the cut that loses least, where Mondrian cuts the widest attribute."""

from __future__ import annotations

import numpy as np

from reident.base import FloatArray, IntArray

__all__ = ["mondrian_best"]


def mondrian_best(codes: IntArray, places: FloatArray, n_codes: IntArray, k: int) -> tuple[IntArray, IntArray]:
    """Partition records into parts of at least k; return the records part by part, and where each part starts.

    Every cut between two values that leaves at least k records on both sides is weighed by the sum over both sides of
    their records times their widths: the normalised certainty penalty. The first of equally good ones is taken. Time
    O(q^2 n log n) a level of cuts.
    """
    n, q = codes.shape
    scale = places[np.arange(q), n_codes - 1] - places[:, 0]
    waiting, parts = [np.arange(n)], []
    while waiting:
        part = waiting.pop()
        cut = _best_cut(codes[part], k, places, scale) if part.size >= 2 * k else None
        if cut is None:
            parts.append(part)
        else:
            order, n_left = cut
            waiting += [part[order[n_left:]], part[order[:n_left]]]
    return np.concatenate(parts), np.append(0, np.cumsum([part.size for part in parts])).astype(np.int64)


def _best_cut(codes: IntArray, k: int, places: FloatArray, scale: FloatArray) -> tuple[IntArray, int] | None:
    """Return the order of the records in the best cut and the number that go left, None if there is no cut."""
    m, q = codes.shape
    best, least = None, np.inf
    n_left = np.arange(k, m - k + 1)
    for attribute in range(q):
        order = np.argsort(codes[:, attribute], kind="stable")
        ordered = codes[order]
        allowed = n_left[ordered[n_left - 1, attribute] != ordered[n_left, attribute]]
        if allowed.size:
            left, right = _widths(ordered, places, scale), _widths(ordered[::-1], places, scale)
            losses = allowed * left[allowed - 1] + (m - allowed) * right[m - allowed - 1]
            at = int(losses.argmin())
            if losses[at] < least:
                best, least = (order, int(allowed[at])), losses[at]
    return best


def _widths(ordered: IntArray, places: FloatArray, scale: FloatArray) -> FloatArray:
    """Return the sum of the widths, in shares of the table's, of the first 1, 2, ... records."""
    low, high = np.minimum.accumulate(ordered), np.maximum.accumulate(ordered)
    widths = np.zeros(len(ordered))
    for attribute in np.flatnonzero(scale > 0):
        at = places[attribute]
        widths += (at[high[:, attribute]] - at[low[:, attribute]]) / scale[attribute]
    return widths
