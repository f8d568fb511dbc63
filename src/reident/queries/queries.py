"""Mechanism. Counts, sums and means with Laplace noise of stated sensitivity."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reident.base import (
    DataError,
    RNGLike,
    check_array,
    check_bounds,
    check_callable,
    check_choice,
    check_epsilon,
    check_integer,
    check_level,
    check_real,
)
from reident.queries.budget import Budget, spend
from reident.queries.domain import clipped, count_true, warn_replaced
from reident.queries.entropy import entropy_source
from reident.queries.laplace import grid_noise, grid_noise_reach

#: "add-remove": a table and the table with one record more or less (Vanhoef 2012, Definition 5.2). "replace": two
#: tables of the same, public number of records that differ in one of them.
ADJACENCIES = ("add-remove", "replace")

#: Finest grid, as a share of the sensitivity.
_FINEST = 2.0**-900


@dataclass(frozen=True)
class Answer:
    """A number with Laplace noise and its accuracy, without the true value.

    Attributes
    ----------
    value : float
        The noisy answer, in the query's units. ``float(answer)`` gives it too.
    epsilon : float
        The privacy loss that was spent.
    sensitivity : float
        By how much one person changes the true answer at most, in the query's units.
    scale : float
        Scale of the Laplace noise, in the query's units: sensitivity / epsilon.
    granularity : float
        The noise is a multiple of this, in the query's units.
    adjacency : str
        Which tables count as neighbours.
    private : bool
        False if the noise was seeded: then nothing is guaranteed.
    n_clipped : int
        How many values lay outside the declared bounds. For the keeper of the data only: it is not covered by
        epsilon and does not belong in a publication.
    """

    value: float
    epsilon: float
    sensitivity: float
    scale: float
    granularity: float
    adjacency: str
    private: bool
    n_clipped: int = field(default=0, repr=False)

    def __float__(self) -> float:
        return self.value

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the exact confidence interval for the answer without noise (after clipping and snapping)."""
        reach = answer_reach(self.granularity, self.scale, level)
        return self.value - reach, self.value + reach


def answer_reach(granularity: float, scale: float, level: float) -> float:
    """Return how far an answer may lie from the true value with probability `level`."""
    check_level(level, "level")
    return float(grid_noise_reach(Fraction(granularity) / Fraction(scale), level) * Fraction(granularity))


def laplace_count(
    data: Any,
    predicate: Callable[[Any], Any] | None = None,
    *,
    epsilon: Any,
    budget: Budget | None = None,
    rng: RNGLike = None,
) -> Answer:
    """Count records with Laplace noise.

    Guarantees epsilon-differential privacy for the presence of one record and, as the count changes by at most 1 then
    too, for the replacement of one. It does not hide a person with several records, and asking again costs again.

    Parameters
    ----------
    data : DataFrame, Series, array_like or int
        The records. Without a predicate: True values are counted if the data are Boolean, all records otherwise; a
        whole number is taken as the true count. A missing value is not True.
    predicate : callable, optional
        Takes one record (a row of a table, an element of anything else) and says whether it counts. A record on
        which it fails does not count.
    epsilon : number
        Privacy loss, positive.
    budget : Budget, optional
        Spent before the answer is computed.
    rng : optional
        None for a real answer. A seed or generator is for simulations.

    Returns
    -------
    Answer
        A whole number as ``value``; it may be negative. An empty table is answered like any other: a refusal would
        tell it from a table with one record.

    Raises
    ------
    ParameterError
        If epsilon is not positive or more than remains of the budget.

    Warns
    -----
    PrivacyWarning
        If the predicate failed on records, after the budget was spent: for the keeper of the data only.

    Notes
    -----
    Vanhoef (2012), Property 5.1: noise of scale 1 / epsilon, here on the whole numbers and exact.
    """
    exact = check_epsilon(epsilon)
    source = entropy_source(rng)
    _check_countable(data, predicate)
    spend(budget, exact, "count")
    count, n_failed = _count(data, predicate)
    warn_replaced(n_failed, "records were not counted, as `predicate` failed on them")
    noisy = count + int(grid_noise(exact, 1, source)[0])
    return Answer(float(noisy), float(exact), 1.0, float(1 / exact), 1.0, "add-remove", rng is None)


def _check_countable(data: Any, predicate: Callable[[Any], Any] | None) -> None:
    if isinstance(data, int | np.integer) and not isinstance(data, bool):
        check_integer(data, "data", low=0)
    elif predicate is not None:
        check_callable(predicate, "predicate")
        if not isinstance(data, Iterable):
            raise DataError(f"`data` must be a table, a list or a count, got {data!r}")
    elif not isinstance(data, pd.DataFrame) and np.ndim(check_array(data, "data", None)) != 1:
        raise DataError(f"`data` must be a table or one-dimensional, got shape {np.shape(data)}")


def _count(data: Any, predicate: Callable[[Any], Any] | None) -> tuple[int, int]:
    """Return the true count, and on how many records the predicate failed."""
    if isinstance(data, int | np.integer) and not isinstance(data, bool):
        return int(data), 0
    if predicate is not None:
        return count_true(predicate, data)
    if isinstance(data, pd.DataFrame):
        return len(data), 0
    column = pd.Series(data)
    if pd.api.types.infer_dtype(column, skipna=True) == "boolean":  # a gap is not True
        return int(column.eq(True).fillna(False).sum()), 0
    return len(column), 0


def laplace_sum(
    values: ArrayLike,
    *,
    bounds: tuple[float, float],
    epsilon: Any,
    adjacency: str = "add-remove",
    granularity: float | None = None,
    budget: Budget | None = None,
    rng: RNGLike = None,
) -> Answer:
    """Sum numbers with Laplace noise.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        One number a person.
    bounds : (float, float)
        Declared lowest and highest value. Values outside are clipped; a missing one counts as the value of least
        amount within the bounds.
    epsilon : number
        Privacy loss, positive.
    adjacency : {"add-remove", "replace"}
        One record more or less: sensitivity max(abs(low), abs(high)). One record replaced: high - low.
    granularity : float, optional
        Grid to which each value is rounded before summing, in the values' units: 1 for whole numbers. Default: a
        power of two about a millionth of the sensitivity. Whatever the grid, sum and noise are exact.
    budget, rng : optional
        As in `laplace_count`.

    Returns
    -------
    Answer
        ``interval`` covers the sum of the clipped and rounded values.

    Raises
    ------
    ParameterError, DataError
        If epsilon, the bounds, the adjacency or the granularity break their rule, or the data are of another type. No
        error depends on the values.

    Warns
    -----
    PrivacyWarning
        If values were clipped or missing, after the budget was spent: the answer is then biased, and their number is
        not for publication.

    Notes
    -----
    Vanhoef (2012), Theorem 5.2. Whole grid steps are summed and noised, so that no digit of the sum escapes the
    noise; the sensitivity is rounded up to whole steps.
    """
    low, high = check_bounds(bounds)
    exact = check_epsilon(epsilon)
    check_choice(adjacency, "adjacency", ADJACENCIES)
    reach = high - low if adjacency == "replace" else max(abs(low), abs(high))
    step = _step(reach, exact, granularity)
    inside, n_clipped = clipped(values, low, high, min(max(0.0, low), high), "values")
    if inside.ndim != 1:
        raise DataError(f"`values` must be one-dimensional, got shape {inside.shape}")
    source = entropy_source(rng)
    spend(budget, exact, "sum")
    warn_replaced(n_clipped, "of `values` lay outside `bounds` or were missing, and were replaced by values inside")
    # Rounding is monotone, so extremes round to the extremes.
    bottom, top, largest = (int(np.rint(bound / step)) for bound in (low, high, max(abs(low), abs(high))))
    steps = np.rint(inside / step)
    total = int(steps.astype(np.int64).sum()) if largest * len(steps) < 2**62 else sum(map(int, steps.tolist()))
    n_reach = max(1, top - bottom if adjacency == "replace" else largest)
    noisy = total + int(grid_noise(exact / n_reach, 1, source)[0])
    width = Fraction(step)
    value, sensitivity, scale = (float(part * width) for part in (noisy, n_reach, n_reach / exact))
    return Answer(value, float(exact), sensitivity, scale, step, adjacency, rng is None, n_clipped)


def _step(reach: float, epsilon: Fraction, granularity: float | None) -> float:
    if granularity is not None:
        step = check_real(granularity, "granularity", low=0, high=reach, open_low=True, why="coarser than any value")
        return check_real(step, "granularity", low=reach * _FINEST, why="values in its steps must be doubles")
    finest = max(reach * 2.0**-20, reach / float(epsilon) * 2.0**-36)
    return float(2.0 ** math.ceil(math.log2(finest)))
