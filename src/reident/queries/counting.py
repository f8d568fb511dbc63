"""Mechanism. Many counts of one table of cells at once: with noise, by each person's own coin, or refused.

A query is a row of 0 and 1 that says which cells it counts; every record lies in one cell.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from reident.base import DataError, FloatArray, IntArray, Real, RNGLike, Whole, check_epsilon
from reident.queries.domain import check_counts
from reident.queries.entropy import entropy_source
from reident.queries.laplace import grid_noise
from reident.queries.randomised_response import randomised_response

__all__ = ["laplace_cells", "laplace_queries", "randomised_cells", "restricted_queries"]

Epsilon = Annotated[float, Real(0, open_low=True)]


def _read(counts: ArrayLike, queries: ArrayLike) -> tuple[IntArray, IntArray]:
    true, selections = check_counts(counts, "counts"), check_counts(queries, "queries")
    if true.ndim != 1 or selections.ndim != 2 or selections.shape[1] != true.size or not len(selections):
        raise DataError(
            f"`queries` must have a row a query and a column a cell, got {selections.shape} for {true.shape}"
        )
    if selections.max(initial=0) > 1:
        raise DataError("`queries` must hold 0 or 1")
    return true, selections


def laplace_queries(
    counts: ArrayLike, queries: ArrayLike, *, epsilon: Epsilon = 1.0, rng: RNGLike = None
) -> FloatArray:
    """Answer each query with Laplace noise of its own.

    Guarantees epsilon-differential privacy of all answers together, for one record more or less.

    Parameters
    ----------
    counts : array_like of int, shape (n_cells,)
        The true table.
    queries : array_like of 0 and 1, shape (n_queries, n_cells)
    epsilon : float, default 1
        Privacy loss of all answers together.
    rng : optional
        None for real answers. A seed or generator is for simulations.

    Returns
    -------
    ndarray of float64, shape (n_queries,)
        Whole numbers; they may be negative and contradict one another.

    Notes
    -----
    Vanhoef (2012), Property 5.1: the sensitivity is the largest number of queries that count one cell.
    """
    true, selections = _read(counts, queries)
    sensitivity = int(selections.sum(axis=0).max(initial=1))
    noise = grid_noise(check_epsilon(epsilon) / max(1, sensitivity), len(selections), entropy_source(rng))
    return np.asarray(selections @ true + noise, np.float64)


def laplace_cells(counts: ArrayLike, queries: ArrayLike, *, epsilon: Epsilon = 1.0, rng: RNGLike = None) -> FloatArray:
    """Add Laplace noise to each cell once, and answer every query from the noisy cells.

    Guarantee, arguments and return value as for `laplace_queries`; the noise of a query grows with its cells, and
    the answers agree with one another (Vanhoef 2012, section 5.5.4).
    """
    true, selections = _read(counts, queries)
    noise = grid_noise(check_epsilon(epsilon), true.size, entropy_source(rng))
    return np.asarray(selections @ (true + noise), np.float64)


def randomised_cells(
    counts: ArrayLike, queries: ArrayLike, *, epsilon: Epsilon = 1.0, rng: RNGLike = None
) -> FloatArray:
    """Answer all queries from cells that each person randomises; see `randomised_response`.

    Guarantees epsilon-differential privacy of each person even against who collects the answers; the number of
    persons is public. Arguments and return value as for `laplace_queries`.
    """
    true, selections = _read(counts, queries)
    cells = np.repeat(np.arange(true.size), true)
    if true.size < 2 or not cells.size:
        return np.asarray(selections @ true, np.float64)
    responses = randomised_response(cells, epsilon=epsilon, categories=list(range(true.size)), rng=rng)
    share = responses.estimate()["share"].to_numpy(np.float64)
    return np.asarray(selections @ (share * cells.size), np.float64)


def restricted_queries(
    counts: ArrayLike, queries: ArrayLike, *, least: Annotated[int, Whole(1, unit="records")] = 5, rng: Any = None
) -> FloatArray:
    """Answer exactly, but refuse every query about fewer than `least` records and more than none.

    Guarantees nothing: the difference of two large queries says what a small one would (Vanhoef 2012, section 3.2).

    Parameters
    ----------
    counts, queries
        As for `laplace_queries`.
    least : int, default 5
        The smallest number of records about which the system answers.
    rng : None
        Nothing here is random.

    Returns
    -------
    ndarray of float64, shape (n_queries,)
        nan for a query that is refused.
    """
    del rng
    true, selections = _read(counts, queries)
    answers = np.asarray(selections @ true, np.float64)
    return np.where((answers > 0) & (answers < least), np.nan, answers)
