"""Metric. How well a score separates two groups: the area under the ROC curve, with an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import ndtri

from reident.base import DataError, FloatArray, check_real, check_vector

__all__ = ["AUC", "auc"]


@dataclass(frozen=True)
class AUC:
    """The probability that a random positive scores above a random negative (ties count half), with its interval."""

    value: float
    low: float
    high: float
    n_positive: int
    n_negative: int

    @property
    def either_way(self) -> float:
        """The area of the better direction, at least .5: a score that always points the wrong way separates as well."""
        return max(self.value, 1 - self.value)


def auc(positive: ArrayLike, negative: ArrayLike, *, level: float = 0.95) -> AUC:
    """Return the area under the ROC curve and DeLong's interval.

    Parameters
    ----------
    positive, negative : array-like of float
        Scores of the two groups, at least one each.
    level : float
        Coverage of the interval. It rests on a normal approximation: with fewer than about ten scores in a group it is
        too short, and it is a point where the groups are separated completely.

    Returns
    -------
    AUC
        Value and interval, inside [0, 1].

    Raises
    ------
    DataError
        If a group is empty or a score is not finite.

    Examples
    --------
    >>> auc([3.0, 2.0], [1.0, 2.0]).value
    0.875
    """
    above = check_vector(positive, "positive")
    below = check_vector(negative, "negative")
    level = check_real(level, "level", low=0, high=1, open_low=True, open_high=True)
    for name, scores in (("positive", above), ("negative", below)):
        if scores.size == 0:
            raise DataError(f"`{name}` must have at least one score, got none")
    ranks = _ranks(np.concatenate([above, below]))
    m, n = above.size, below.size
    share_above = (ranks[:m] - _ranks(above)) / n
    share_below = 1 - (ranks[m:] - _ranks(below)) / m
    value = float(share_above.mean())
    variance = sum(float(share.var(ddof=1)) / share.size for share in (share_above, share_below) if share.size > 1)
    reach = float(ndtri((1 + level) / 2)) * math.sqrt(variance)
    return AUC(value, max(0.0, value - reach), min(1.0, value + reach), m, n)


def _ranks(scores: FloatArray) -> FloatArray:
    """Return the mean rank of each score among those equal to it."""
    return pd.Series(scores).rank().to_numpy()
