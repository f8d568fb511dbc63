"""Fit the places of records, secret points and column shifts to all distances together."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

from reident.base import FloatArray, IntArray
from reident.kernels.location import trilateration_columns

__all__ = ["fit_all"]

# Unknowns up to which equations are solved as a full matrix.
_DENSE = 400


def fit_all(
    x: FloatArray,
    r: FloatArray,
    shift: FloatArray,
    record: IntArray,
    reference: IntArray,
    column: IntArray,
    value: FloatArray,
    scale: float,
    steps: int,
    *,
    damp: float = 1e-3,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Fit |x[record] - r[reference]| = value + shift[column] by Levenberg steps; returns x, r, shift and residuals.

    An equation that is `scale` km off loses its weight.
    """
    n, m, q = len(x), len(r), len(record)
    unknowns, at = np.unique(slope_columns(n, m, record, reference, column), return_inverse=True)
    at, rows, is_small = at.reshape(-1), np.repeat(np.arange(q), 5), unknowns.size <= _DENSE

    def linear(x: FloatArray, r: FloatArray, shift: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        e, slopes = linearised(x, r, shift, record, reference, column, value)
        return e, slopes, float((e**2 / (scale**2 + e**2)).sum())

    e, slopes, cost = linear(x, r, shift)
    for _ in range(steps):
        weight = scale**2 / (scale**2 + e**2)
        matrix = sparse.csr_array(((slopes * weight[:, None]).ravel(), (rows, at)), shape=(q, unknowns.size))
        normal, pull = matrix.T @ matrix, matrix.T @ (e * weight)
        normal = normal.toarray() if is_small else normal.tocsc()
        for _ in range(8):
            more = normal.diagonal() * damp + 1e-9
            step = np.zeros(2 * (n + m) + len(shift))
            if is_small:
                step[unknowns] = np.linalg.solve(normal + np.diag(more), -pull)
            else:
                step[unknowns] = spsolve(normal + sparse.diags_array(more).tocsc(), -pull)
            tried = (
                trilateration_columns.shifted(x, step[: 2 * n].reshape(n, 2)),
                trilateration_columns.shifted(r, step[2 * n : 2 * (n + m)].reshape(m, 2)),
                shift + step[2 * (n + m) :],
            )
            new_e, new_slopes, new_cost = linear(*tried)
            if new_cost < cost * (1 + 1e-14):
                break
            damp *= 8
        else:
            break
        settled = np.abs(step).max() < 1e-10 or new_cost > cost * (1 - 1e-10)
        (x, r, shift), e, slopes, cost = tried, new_e, new_slopes, new_cost
        damp = max(damp / 6, 1e-12)
        if settled:
            break
    return x, r, shift, e


def linearised(
    x: FloatArray,
    r: FloatArray,
    shift: FloatArray,
    record: IntArray,
    reference: IntArray,
    column: IntArray,
    value: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the residuals (q,) of all equations, km, and their slopes (q, 5)."""
    e, slopes = np.empty(len(record)), np.empty((len(record), 5))
    trilateration_columns.linearise(x, r, shift, record, reference, column, value, e, slopes)
    return e, slopes


def slope_columns(n: int, m: int, record: IntArray, reference: IntArray, column: IntArray) -> IntArray:
    """Return the unknowns (q, 5) of each equation: east and north of n records, then of m references, then shifts."""
    first = 2 * (n + reference)
    return np.column_stack([2 * record, 2 * record + 1, first, first + 1, 2 * (n + m) + column])
