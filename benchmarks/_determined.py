"""Count the records that recovered coordinates determine, by any search: a rank, not a search.

At the truth, the equations |x - r| = value + shift of all recovered values are linear in small moves of records, secret
places and shifts. Records that no such move takes apart are determined (up to one motion of them all).
"""

from __future__ import annotations

import numpy as np

from reident.base import FloatArray, IntArray
from reident.location.spherical_mds import gaps_km

# Eigenvalues of the equations below this are moves that change nothing, km^2; a record that then moves less is fixed.
_FREE, _STILL = 1e-9, 1e-6
# Records from which, with one of their neighbours, a rigid part is begun.
_STARTS, _NEIGHBOURS = 60, 20


def determined(true: FloatArray, sets: FloatArray, values: FloatArray) -> int:
    """Return how many records the values fix against one another.

    Parameters
    ----------
    true : ndarray, shape (n, 3)
        Records as unit vectors.
    sets : ndarray, shape (d, k, 3)
        The secret places.
    values : ndarray, shape (m, n)
        Recovered coordinates, km, a row a column; nan where unknown.
    """
    column, record, secret = _equations(true, sets, values)
    n = len(true)
    used, reference = np.unique(secret, return_inverse=True)
    places = sets.reshape(-1, 3)[used]
    equations = np.zeros((len(column), 2 * (n + len(used)) + len(values)))
    rows = np.arange(len(column))
    p, r = true[record], places[reference]
    for first, points, others, which in ((0, p, r, record), (2 * n, r, p, reference)):
        away = points * (points * others).sum(axis=1, keepdims=True) - others
        away /= np.linalg.norm(away, axis=1, keepdims=True)
        for axis, tangent in enumerate(_tangents(points)):
            equations[rows, first + 2 * which + axis] = (away * tangent).sum(axis=1)
    equations[rows, 2 * (n + len(used)) + column] = -1
    size, moves = np.linalg.eigh(equations.T @ equations)
    free = moves[: 2 * n, size < _FREE].reshape(n, 2, -1)
    return _rigid(true, np.einsum("ank,naq->nkq", _tangents(true), free), np.bincount(record, minlength=n))


def _equations(true: FloatArray, sets: FloatArray, values: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return column, record and secret place of every value; the set of a column is the one that it fits."""
    km = np.stack([gaps_km(true[:, None], places[None]) for places in sets])
    f, nearest = km.min(axis=2), km.argmin(axis=2)
    found = []
    for column, row in enumerate(values):
        known = np.flatnonzero(np.isfinite(row))
        off = np.stack([f[:, known] - row[known], f[:, known] + row[known]])
        spread = np.ptp(off, axis=2)
        which = int(spread.min(axis=0).argmin())
        assert spread.min() < 1e-5, "a column is no coordinate"
        secret = which * sets.shape[1] + nearest[which, known]
        found.append(np.stack([np.full(known.size, column), known, secret]))
    column, record, secret = np.concatenate(found, axis=1)
    return column, record, secret


def _tangents(points: FloatArray) -> FloatArray:
    east = np.cross([0.0, 0.0, 1.0], points)
    east /= np.linalg.norm(east, axis=1, keepdims=True)
    return np.stack([east, np.cross(points, east)])


def _rigid(true: FloatArray, moves: FloatArray, degree: IntArray) -> int:
    """Return the largest number of records that every free move (n, 3, q) turns as one body."""
    turn = -np.cross(true[:, None], np.eye(3)[None], axisb=-1)
    turn = np.swapaxes(turn, 1, 2)
    rng = np.random.default_rng(0)
    best = 0
    for a in rng.choice(len(true), _STARTS, p=degree**2 / (degree**2).sum()):
        b = np.argsort(-true @ true[a])[rng.integers(1, _NEIGHBOURS)]
        turned = np.linalg.lstsq(np.vstack([turn[a], turn[b]]), np.vstack([moves[a], moves[b]]))[0]
        left = np.abs(moves - turn @ turned).max(axis=(1, 2))
        best = max(best, int((left < _STILL).sum()))
    return best
