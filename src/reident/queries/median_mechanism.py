"""Mechanism. The median mechanism on a small universe: answers that follow from earlier ones cost no budget."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from reident.base import MOST, DataError, IntArray, ParameterError, RNGLike, check_array, check_epsilon, check_integer
from reident.queries.budget import Budget, spend
from reident.queries.domain import check_counts
from reident.queries.entropy import Entropy, entropy_source
from reident.queries.laplace import grid_noise


def small_databases(n_items: int, n_records: int) -> IntArray:
    """Return every table of at most `n_records` records over `n_items` kinds of record, as counts of the kinds.

    Returns
    -------
    ndarray of int64, shape (tables, n_items)
        For 8 kinds and 6 records 3,003 tables.
    """
    n_items = check_integer(n_items, "n_items", low=1, high=20, why="their number grows like a power of it")
    n_records = check_integer(n_records, "n_records", low=0, high=20, why="their number grows like a power of it")
    bars = itertools.combinations(range(n_records + n_items), n_items)
    ends = np.array(list(bars), np.int64).reshape(-1, n_items)
    return np.diff(ends, axis=1, prepend=-1) - 1


@dataclass(frozen=True)
class MedianAnswer:
    """An answer: its value, whether the query was hard (a noisy look at the data), and how many tables are left."""

    value: int
    is_hard: bool
    n_left: int


class MedianMechanism:
    """Answer counting queries from the tables that agree with the answers so far; look at the data only where it pays.

    A query's first guess is its median over the tables left. A private comparison tells whether the truth is near: then
    the guess is the answer (the user could have computed it), else the query is hard, gets a noisy answer, and the
    tables that disagree are dropped. Only hard queries use up the declared number.

    Parameters
    ----------
    data : array-like of int, shape (n_items,)
        The true table, as counts of the kinds of record.
    databases : ndarray of int64, shape (tables, n_items)
        The tables to choose from: declared, for example by `small_databases`.
    epsilon : number
        Privacy loss of everything together, for one record more or less.
    max_hard : int
        How many hard queries are answered.
    tolerance : int
        How far from the truth an answer may lie before the query counts as hard, and by how much a table may differ
        from a noisy answer and stay.
    unit : int
        How many people a record of `databases` stands for: small tables describe a large one roughly, and noise that is
        large for a few people is small for many.
    budget : Budget, optional
        Spent at once.
    rng : optional
        None for real answers. A seed or generator is for simulations.

    Notes
    -----
    vanhoef2012, 5.7 gives the idea only (Roth and Roughgarden 2010). Differs: hard is what lies farther off than the
    tolerance by the sparse vector technique, not what would shrink the set by a constant factor; half of epsilon pays
    for the comparisons (a quarter for the threshold), half for the noisy answers. If no table is left, the noise was
    larger than the tolerance, and all come back.
    """

    def __init__(
        self,
        data: Any,
        databases: Any,
        *,
        epsilon: Any,
        max_hard: int,
        tolerance: int,
        unit: int = 1,
        budget: Budget | None = None,
        rng: RNGLike = None,
    ) -> None:
        tables: IntArray = check_array(databases, "databases", np.int64)
        largest = max(1, int(tables.max(initial=0)), -int(tables.min(initial=0)))
        why = f"counts are held in 64 bits, and `databases` go up to {largest}"
        self._databases = tables * check_integer(unit, "unit", low=1, high=MOST // largest, why=why)
        self._data: IntArray = check_counts(data, "data")
        if self._databases.ndim != 2 or self._data.shape != self._databases.shape[1:]:
            raise DataError(
                f"`data` must have a count for each column of `databases`, got shapes {self._data.shape} and "
                f"{self._databases.shape}"
            )
        exact = check_epsilon(epsilon)
        #: Hard queries that are still answered.
        self.hard_left = check_integer(max_hard, "max_hard", low=1)
        self._tolerance = check_integer(tolerance, "tolerance", low=0)
        self._source: Entropy = entropy_source(rng)
        spend(budget, exact, f"{max_hard} hard queries")
        self._compare: Fraction = exact / 4 / (2 * max_hard)
        self._answer: Fraction = exact / 2 / max_hard
        self._threshold = self._tolerance + int(grid_noise(exact / 4, 1, self._source)[0])
        self._alive = np.ones(len(self._databases), np.bool_)

    def answer(self, query: Any) -> MedianAnswer:
        """Answer how many records are of the kinds that `query` marks (0 or 1 for each kind).

        Raises
        ------
        ParameterError
            If the hard queries are used up: nothing more may be asked, as even an easy answer is a comparison.
        """
        selection = np.asarray(query, np.int64)
        if selection.shape != self._data.shape or not np.isin(selection, (0, 1)).all():
            raise DataError(
                f"`query` must hold 0 or 1 for each of the {self._data.size} kinds of record, got {query!r}"
            )
        if not self.hard_left:
            raise ParameterError("`max_hard` queries were hard: the privacy loss is used up")
        values = self._databases @ selection
        alive = np.sort(values[self._alive])
        guess = int(alive[(len(alive) - 1) // 2])
        truth = int(self._data @ selection)
        if abs(truth - guess) + int(grid_noise(self._compare, 1, self._source)[0]) < self._threshold + 1:
            return MedianAnswer(guess, False, int(self._alive.sum()))
        self.hard_left -= 1
        value = truth + int(grid_noise(self._answer, 1, self._source)[0])
        near = np.abs(values - value) <= self._tolerance
        self._alive = self._alive & near if (self._alive & near).any() else np.ones_like(near)
        return MedianAnswer(value, True, int(self._alive.sum()))
