"""Mechanism. A table that answers many queries at once, learned from few noisy answers by multiplicative weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reident.base import DataError, FloatArray, RNGLike, check_array, check_epsilon, check_integer
from reident.queries.budget import Budget, spend
from reident.queries.domain import check_counts
from reident.queries.entropy import entropy_source
from reident.queries.exponential import draw_choice
from reident.queries.laplace import grid_noise

__all__ = ["WeightedTable", "multiplicative_weights"]

_MOST_SWEEPS = 10_000


@dataclass(frozen=True)
class WeightedTable:
    """A synthetic table of cells.

    Attributes
    ----------
    cells : ndarray of float64, shape (n_cells,)
        Estimated counts; they sum to the public total.
    chosen : tuple of int
        The query measured in each round.
    epsilon : float
    private : bool
        False if the noise was seeded.
    """

    cells: FloatArray
    chosen: tuple[int, ...]
    epsilon: float
    private: bool


def multiplicative_weights(
    counts: Any,
    queries: Any,
    *,
    epsilon: Any,
    rounds: int = 10,
    sweeps: int = 20,
    budget: Budget | None = None,
    rng: RNGLike = None,
) -> WeightedTable:
    """Learn a table of cells whose answers to counting queries are near the true ones, under differential privacy.

    Each round chooses the query that the table answers worst (exponential mechanism), measures it with noise, and
    reweights the cells by all measurements so far. The practical heir of the median mechanism: it needs memory for the
    cells, not for all tables.

    Parameters
    ----------
    counts : array-like of int, shape (n_cells,)
        The true table. Its total is taken as public.
    queries : array-like of 0 and 1, shape (n_queries, n_cells)
        Which cells a query counts: declared.
    epsilon : number
        Privacy loss of everything together, for one record replaced by another.
    rounds : int
        How many queries are measured, at most one round a query. A data-independent choice: few at small epsilon.
    sweeps : int
        How often the measurements are gone through in each round, 10,000 times at most.
    budget : Budget, optional
        Spent at once.
    rng : optional
        None for a real release. A seed or generator is for simulations.

    Returns
    -------
    WeightedTable
        The cells, the queries chosen, and what was spent.

    Raises
    ------
    DataError, ParameterError
        If the shapes do not fit, a count is negative, the table is empty, or epsilon is not positive.

    Notes
    -----
    MWEM (Hardt, Ligett, McSherry 2012), for vanhoef2012, 5.7. A replaced record changes a query's count by 1 and the
    error of a fixed table by 1. Differs: the last table is returned, not the mean over the rounds.
    """
    true, asked = check_counts(counts, "counts"), check_array(queries, "queries")
    if true.ndim != 1 or asked.ndim != 2 or asked.shape[1] != true.size or not len(asked):
        raise DataError(f"`queries` must have a row a query and a column a cell, got {asked.shape} for {true.shape}")
    if not true.sum() or not np.isin(asked, (0.0, 1.0)).all():
        raise DataError("`counts` must be counts with a positive sum, and `queries` must hold 0 or 1")
    exact = check_epsilon(epsilon)
    rounds = check_integer(rounds, "rounds", low=1, high=len(asked), why="each round measures another query")
    check_integer(sweeps, "sweeps", low=1, high=_MOST_SWEEPS, why="each goes through all measurements so far")
    source = entropy_source(rng)
    spend(budget, exact, f"{rounds} rounds of multiplicative weights")
    total = float(true.sum())
    share = exact / (2 * rounds)
    answers = asked @ true
    cells, logs = np.full(true.size, total / true.size), np.zeros(true.size)
    measured: dict[int, float] = {}
    for _ in range(rounds):
        left = [row for row in range(len(asked)) if row not in measured]
        errors = np.abs(answers[left] - asked[left] @ cells)
        row = left[draw_choice(errors, share / 2, source)]
        measured[row] = float(answers[row] + int(grid_noise(share, 1, source)[0]))
        for _ in range(sweeps):
            for place, value in measured.items():
                gap = value - float(asked[place] @ cells)
                logs += asked[place] * gap / (2 * total)  # in logarithms: at small epsilon a gap may be huge
                logs -= logs.max()
                cells = np.exp(logs)
                cells *= total / cells.sum()
    return WeightedTable(cells, tuple(measured), float(exact), rng is None)
