"""Shares, and Wilson's interval of a share of successes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from reident.base.check_values import check_integer, check_level, check_real
from reident.base.types import FloatArray


class Rate(NamedTuple):
    """A share and the interval around it.

    Attributes
    ----------
    value : float
        The share as counted.
    low, high : float
        The interval; it need not lie symmetrically around `value`.
    """

    value: float
    low: float
    high: float


def ratio(part: Any, whole: Any) -> FloatArray:
    """Return `part` over `whole`, element by element, 0 where `whole` is 0."""
    part, whole = np.broadcast_arrays(part, whole)
    return np.divide(part, whole, out=np.zeros(whole.shape), where=whole > 0)


def wilson_interval(successes: float, trials: int, *, level: float = 0.95) -> Rate:
    """Return the share of successes with Wilson's interval, as if the trials were independent.

    Unlike the share plus and minus its standard error, the interval keeps its level for few trials and never shrinks
    to a point where all trials, or none, succeed. Trials that are not independent (records linked in one optimal
    assignment, attacks on one release) make it too short.

    Parameters
    ----------
    successes : float
        From 0 to `trials`; a fraction where a tie counts in part.
    trials : int
    level : float, default .95

    Returns
    -------
    Rate

    Raises
    ------
    ParameterError
        If there is no trial, or `successes` lies outside 0 to `trials`.

    Notes
    -----
    Wilson (1927), J. Am. Stat. Assoc. 22, 209-212, without correction for continuity.

    Examples
    --------
    >>> rate = wilson_interval(850, 1000)
    >>> print(f"{rate.value:.3f} {rate.low:.3f} {rate.high:.3f}")
    0.850 0.827 0.871
    """
    from scipy.special import ndtri

    trials = check_integer(trials, "trials", low=1)
    successes = check_real(successes, "successes", low=0, high=trials)
    level = check_level(level, "level")
    share, z = successes / trials, float(ndtri((1 + level) / 2))
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    # At 0 and at 1 an end is the share itself, which rounding would move past it.
    return Rate(share, min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half)))
