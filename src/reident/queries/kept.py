"""Metric. How near answers are to the true ones, from 0 to 1; a query that is refused counts as all wrong."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reident.base import BoolArray, DataError, FloatArray, Real, checked

__all__ = ["answers_kept", "largest_answer_kept", "order_of_answers_kept", "relative_answers_kept"]


def _both(original: ArrayLike, release: ArrayLike) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return both answers, and which of the released ones are there."""
    true, told = np.asarray(original, np.float64), np.asarray(release, np.float64)
    if true.ndim != 1 or true.shape != told.shape or not true.size:
        raise DataError(f"`original` and `release` must be answers to the same queries, got {true.shape}, {told.shape}")
    return true, told, np.isfinite(told)


def _errors(original: ArrayLike, release: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the true answers, and how far the released ones lie from them."""
    true, told, there = _both(original, release)
    return true, np.where(there, np.abs(np.where(there, told, 0.0) - true), true)


def answers_kept(original: ArrayLike, release: ArrayLike) -> float:
    """Return one less the sum of the absolute errors as a share of all that is counted, at least 0.

    Parameters
    ----------
    original, release : array_like of float, shape (n_queries,)
        The true counts, and the answers; nan for a query that is refused.

    Returns
    -------
    float
        In [0, 1].
    """
    true, error = _errors(original, release)
    return max(0.0, 1 - float(error.sum()) / float(true.sum())) if true.sum() > 0 else float(not error.any())


@checked
def relative_answers_kept(
    original: ArrayLike, release: ArrayLike, *, floor: Annotated[float, Real(0, unit="records", open_low=True)] = 5.0
) -> float:
    """Return one less the mean relative error, each at most 1.

    Parameters
    ----------
    original, release
        As for `answers_kept`.
    floor : float, default 5
        Counts below it are divided by it: an error of a small count is not that grave.

    Returns
    -------
    float
        In [0, 1].
    """
    true, told, there = _both(original, release)
    error = np.minimum(np.abs(np.where(there, told, np.inf) - true) / np.maximum(true, floor), 1.0)
    return float(1 - error.mean())


def largest_answer_kept(original: ArrayLike, release: ArrayLike) -> float:
    """Return one less the largest absolute error as a share of the largest count, at least 0; as `answers_kept`."""
    true, error = _errors(original, release)
    return max(0.0, 1 - float(error.max()) / float(true.max())) if true.max() > 0 else float(not error.any())


def order_of_answers_kept(original: ArrayLike, release: ArrayLike) -> float:
    """Return the rank correlation of the answers with the true counts, at least 0; as `answers_kept`.

    A query that is refused counts as an answer of 0; 0 where all answers are alike and the counts are not.
    """
    true, told, there = _both(original, release)
    ranks = [pd.Series(one).rank().to_numpy() for one in (true, np.where(there, told, 0.0))]
    if np.ptp(ranks[0]) == 0 or np.ptp(ranks[1]) == 0:
        return float(np.ptp(ranks[0]) == 0)
    return max(0.0, float(np.corrcoef(*ranks)[0, 1]))
