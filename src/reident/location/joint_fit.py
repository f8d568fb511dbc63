"""Attack. Fit the places of records, secret points and column shifts to all distances together."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

from reident.base import FloatArray, IntArray
from reident.kernels.location import trilateration_columns

#: Two points, the column of the shift, and the value, km, of each equation.
Equations = tuple[IntArray, IntArray, IntArray, FloatArray]
_DENSE = 400  # unknowns up to which equations are solved as a full matrix


def fit_all(
    points: FloatArray, shift: FloatArray, equations: Equations, scale: float, steps: int, *, damp: float = 1e-3
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Fit |points[first] - points[second]| = value + shift[column] by Levenberg steps.

    An equation that is `scale` km off loses its weight. Returns the points, the shifts and the residuals.
    """
    n = len(points)

    def linear(points: FloatArray, shift: FloatArray) -> tuple[FloatArray, FloatArray, IntArray, float]:
        e, slopes, at = linearised(points, shift, equations)
        return e, slopes, at, float((e**2 / (scale**2 + e**2)).sum())

    e, slopes, at, cost = linear(points, shift)
    unknowns, at = np.unique(at, return_inverse=True)
    shape, rows, at = (len(e), unknowns.size), np.repeat(np.arange(len(e)), 5), at.ravel()
    for _ in range(steps):
        weight = scale**2 / (scale**2 + e**2)
        matrix = sparse.csr_array(((slopes * weight[:, None]).ravel(), (rows, at)), shape)
        normal, pull = matrix.T @ matrix, matrix.T @ (e * weight)
        normal = normal.toarray() if unknowns.size <= _DENSE else normal.tocsc()
        for _ in range(8):
            more = normal.diagonal() * damp + 1e-9
            step = np.zeros(2 * n + len(shift))
            if unknowns.size <= _DENSE:
                step[unknowns] = np.linalg.solve(normal + np.diag(more), -pull)
            else:
                step[unknowns] = spsolve(normal + sparse.diags_array(more).tocsc(), -pull)
            moved = trilateration_columns.shifted(points, step[: 2 * n].reshape(n, 2))
            new_e, new_slopes, _, new_cost = linear(moved, shift + step[2 * n :])
            if new_cost < cost * (1 + 1e-14):
                break
            damp *= 8
        else:
            break
        is_settled = np.abs(step).max() < 1e-10 or new_cost > cost * (1 - 1e-10)
        points, shift, e, slopes, cost = moved, shift + step[2 * n :], new_e, new_slopes, new_cost
        damp = max(damp / 6, 1e-12)
        if is_settled:
            break
    return points, shift, e


def linearised(points: FloatArray, shift: FloatArray, equations: Equations) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the residuals (q,) of the equations, km, their slopes (q, 5), and the unknowns of these (q, 5).

    The unknowns are east and north of each point, km, then the shifts.
    """
    first, second, column, _ = equations
    e, slopes = np.empty(len(first)), np.empty((len(first), 5))
    trilateration_columns.linearise(points, shift, *equations, e, slopes)
    at = np.column_stack([2 * first, 2 * first + 1, 2 * second, 2 * second + 1, 2 * len(points) + column])
    return e, slopes, at
