"""Attack. The rows of the learning problem: one linear inequality for each block and rival, in the values of a model.

Each function takes the records, and a block and a rival for each row, and returns the columns (`index`) and
coefficients (`value`) of each row, and the least and greatest value that the row takes over all x of the model
(`low`, `high`). Rows are divided by their largest absolute value.
"""

from __future__ import annotations

import numpy as np

from reident.base import FloatArray, IntArray
from reident.kernels.tables import linkage_rows as kernels

__all__ = ["Rows", "bilinear_rows", "choquet_rows", "mean_rows"]

Rows = tuple[IntArray, FloatArray, FloatArray, FloatArray]


def mean_rows(release: FloatArray, known: FloatArray, block: IntArray, rival: IntArray) -> Rows:
    """Return the rows for a weighted mean, in its weights."""
    value = (release[block] - known[rival]) ** 2 - (release[block] - known[block]) ** 2
    return _scaled(_every_column(value), value, value.min(axis=1), value.max(axis=1))


def choquet_rows(release: FloatArray, known: FloatArray, block: IntArray, rival: IntArray) -> Rows:
    """Return the rows for the Choquet integral, in the values of the measure by bit mask; padding has mask 0."""
    return _scaled(*kernels.choquet_rows(release, known, block, rival))


def bilinear_rows(release: FloatArray, known: FloatArray, block: IntArray, rival: IntArray) -> Rows:
    """Return the rows for a bilinear form d' M d, in the upper triangle of M, row by row.

    With the differences u to the rival and v to the true partner a row is the inner product of M and u u' - v v', so
    that its ends are the least and greatest eigenvalue of that matrix, which has rank 2.
    """
    p = release.shape[1]
    u, v = release[block] - known[rival], release[block] - known[block]
    i, j = np.triu_indices(p)
    value = (u[:, i] * u[:, j] - v[:, i] * v[:, j]) * np.where(i == j, 1.0, 2.0)
    uu, vv, uv = (u * u).sum(axis=1), (v * v).sum(axis=1), (u * v).sum(axis=1)
    if p == 1:
        return _scaled(_every_column(value), value, uu - vv, uu - vv)
    root = np.sqrt(np.maximum(0.0, (uu + vv) ** 2 - 4.0 * uv * uv))
    return _scaled(_every_column(value), value, (uu - vv - root) / 2.0, (uu - vv + root) / 2.0)


def _every_column(value: FloatArray) -> IntArray:
    return np.tile(np.arange(value.shape[1]), (len(value), 1))


def _scaled(index: IntArray, value: FloatArray, low: FloatArray, high: FloatArray) -> Rows:
    scale = np.maximum(-low, high)
    scale = np.where(scale > 0.0, scale, 1.0)
    return index, value / scale[:, None], low / scale, high / scale
