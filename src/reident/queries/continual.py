"""Mechanism. Counting a stream and telling the count after every step: a tree of noisy partial sums."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from reident.base import IntArray, ParameterError, RNGLike, check_epsilon, check_integer
from reident.queries.budget import Budget, spend
from reident.queries.entropy import Entropy, entropy_source
from reident.queries.laplace import grid_noise

__all__ = ["TreeCounter"]


class TreeCounter:
    """A private counter that is read after every step, for as many steps as were declared.

    Asking a private count anew after each of T steps divides the budget by T. Here each step enters log2(T) + 1 partial
    sums, one of every length that is a power of two, and each reading adds up at most that many of them: the error
    grows with log(T) ** 1.5 and not with T.

    Parameters
    ----------
    horizon : int
        The largest number of steps: declared, not taken from the data.
    epsilon : number
        Privacy loss of all readings together, for one step's change by 1.
    budget : Budget, optional
        Spent at once.
    rng : optional
        None for real answers. A seed or generator is for simulations.

    Notes
    -----
    vanhoef2012, 6.2 asks for pan-privacy under continual observation; this is the counter of Dwork et al. (2010) and
    Chan et al. (2011). The readings are private, the memory is not: it holds exact sums (compare `PanPrivateDensity`).

    Examples
    --------
    >>> counter = TreeCounter(8, epsilon=1)
    >>> readings = [counter.update(1) for _ in range(8)]
    """

    def __init__(self, horizon: int, *, epsilon: Any, budget: Budget | None = None, rng: RNGLike = None) -> None:
        self._horizon = check_integer(horizon, "horizon", low=1)
        exact = check_epsilon(epsilon)
        self._levels = self._horizon.bit_length()
        self._rate: Fraction = exact / self._levels
        self._source: Entropy = entropy_source(rng)
        spend(budget, exact, f"{horizon} readings of a counter")
        self._step = 0
        self._sums: IntArray = np.zeros(self._levels, np.int64)
        self._noisy = np.zeros(self._levels, dtype=object)  # Python integers: noise may exceed 64 bits

    @property
    def error_bound(self) -> float:
        """The standard deviation of a reading is at most this: a noisy sum a level."""
        each = 2 * math.exp(-float(self._rate)) / math.expm1(-float(self._rate)) ** 2
        return math.sqrt(self._levels * each)

    def update(self, value: int) -> int:
        """Take in one step's value and return the noisy count so far.

        Raises
        ------
        ParameterError
            If the value is not 0 or 1, or the horizon is passed: further readings are not covered by epsilon. An
            error about a value discloses it: check the stream before, or clip it to 0 and 1.
        """
        value = check_integer(value, "value", low=0, high=1, why="one person changes one step by 1")
        if self._step == self._horizon:
            raise ParameterError(
                f"`update` must come at most `horizon` = {self._horizon} times: epsilon covers no more"
            )
        self._step += 1
        # The step closes the partial sum of the length of its lowest one-bit, and all shorter ones go into it.
        level = (self._step & -self._step).bit_length() - 1
        self._sums[level] = self._sums[:level].sum() + value
        self._sums[:level] = 0
        self._noisy[:level] = 0
        self._noisy[level] = self._sums[level] + int(grid_noise(self._rate, 1, self._source)[0])
        return int(self._noisy.sum())
