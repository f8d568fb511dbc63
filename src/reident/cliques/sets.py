"""Sets of vertices as rows of 64-bit words, by numpy: vertex v is bit v % 64 of word v // 64."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reident.base import IntArray


def set_of(members: IntArray, words: int) -> NDArray[np.uint64]:
    """Return a set of vertices as a row of bits."""
    is_member = np.zeros(64 * words, dtype=np.bool_)
    is_member[members] = True
    return np.packbits(is_member, bitorder="little").view(np.uint64)


def members_of(row: NDArray[np.uint64]) -> IntArray:
    """Return the members of a row of bits, ascending."""
    return np.flatnonzero(np.unpackbits(np.ascontiguousarray(row).view(np.uint8), bitorder="little"))


def pack_rows(dense: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Pack the rows of a boolean matrix."""
    n, m = dense.shape
    wide = np.zeros((n, (m + 63) // 64 * 8), dtype=np.uint8)
    wide[:, : (m + 7) // 8] = np.packbits(dense, axis=1, bitorder="little")
    return wide.view(np.uint64)


def count_rows(bits: NDArray[np.uint64]) -> IntArray:
    """Return the number of ones of each row."""
    return np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
