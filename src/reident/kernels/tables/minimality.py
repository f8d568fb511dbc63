"""What refused cuts say about a Mondrian class."""

from __future__ import annotations

import numpy as np

from reident.kernels._numba import jit
from reident.kernels.tables.mondrian import best_cut, by_width

__all__ = ["refused_cuts", "refused_posterior"]


@jit
def refused_cuts(codes, places, n_codes, k):
    """Return which records of a part would have gone left in each cut that the size k allows, one row a cut.

    Parameters
    ----------
    codes : int32 array, shape (size, q)
    places, n_codes
        As for `reident.kernels.tables.mondrian.mondrian`.
    k : int
    """
    size, q = codes.shape
    sides = np.zeros((q, size), dtype=np.bool_)
    n_cuts = 0
    for attribute in by_width(codes, 0, size, places, n_codes):
        code, _ = best_cut(codes[:, attribute], k, False)
        if code >= 0:
            for i in range(size):
                sides[n_cuts, i] = codes[i, attribute] <= code
            n_cuts += 1
    return sides[:n_cuts]


@jit
def _side_is_poor(side, values, m, ell, wanted):
    seen = np.zeros(m, dtype=np.bool_)
    distinct = 0
    for i in range(values.size):
        if side[i] == wanted and not seen[values[i]]:
            seen[values[i]] = True
            distinct += 1
            if distinct >= ell:
                return False
    return True


@jit
def refused_posterior(sides, values, m, ell, n_draws, rng):
    """Estimate each record's distribution of the sensitive value, given that every cut was refused.

    Draws assignments of the class's values to its records, all equally likely, and keeps those under which every cut
    would have left one side with fewer than `ell` distinct values.

    Parameters
    ----------
    sides : bool array, shape (n_cuts, size)
    values : int64 array, shape (size,)
        The sensitive values of the class, in any order. Not modified.
    m : int
        The number of different values in the table.
    ell, n_draws : int
    rng : Generator

    Returns
    -------
    tally : int64 array, shape (size, m)
        How often each record had each value in the draws kept.
    n_kept : int
    """
    size = values.size
    drawn = values.copy()
    tally = np.zeros((size, m), dtype=np.int64)
    n_kept = 0
    for _ in range(n_draws):
        for i in range(size - 1, 0, -1):
            other = int(rng.random() * (i + 1))
            drawn[i], drawn[other] = drawn[other], drawn[i]
        fits = True
        for cut in range(sides.shape[0]):
            if not (_side_is_poor(sides[cut], drawn, m, ell, True) or _side_is_poor(sides[cut], drawn, m, ell, False)):
                fits = False
                break
        if fits:
            n_kept += 1
            for i in range(size):
                tally[i, drawn[i]] += 1
    return tally, n_kept
