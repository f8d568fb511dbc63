"""Shares of successes: Wilson's interval, and the gain of an attack over its control."""

from __future__ import annotations

import math
from typing import NamedTuple

from reident.base.check_values import check_integer, check_real
from reident.base.errors import ParameterError


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
    level = check_real(level, "level", low=0, high=1, open_low=True, open_high=True)
    share, z = successes / trials, float(ndtri((1 + level) / 2))
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    # At 0 and at 1 an end is the share itself, which rounding would move past it.
    return Rate(share, min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half)))


def residual_risk(attack: Rate, control: Rate) -> Rate:
    """Return the gain of an attack as a share of the possible gain: (attack - control) / (1 - control).

    The control is the same attack on persons outside the release: what it gets, anybody gets, from what holds for
    everyone. A risk near 0 says that the release adds nothing to it, one below 0 that the control did better.

    Parameters
    ----------
    attack, control : Rate
        As `wilson_interval` returns them, from different persons.

    Returns
    -------
    Rate
        Missing, between 0 and 1, if the control always succeeds: then nothing is left to be gained.

    Raises
    ------
    ParameterError
        If a rate does not satisfy 0 <= low <= value <= high <= 1.

    Notes
    -----
    Giomi et al. (2023), Proc. Priv. Enhancing Technol. 2023(2), equation (4). The interval adds the squares of both
    rates' own deviations on the side in question, times the derivatives: with symmetric intervals this is theirs.

    Examples
    --------
    >>> risk = residual_risk(Rate(0.9, 0.88, 0.92), Rate(0.85, 0.83, 0.87))
    >>> print(f"{risk.value:.3f} {risk.low:.3f} {risk.high:.3f}")
    0.333 0.173 0.494
    """
    for name, rate in (("attack", attack), ("control", control)):
        if not isinstance(rate, tuple) or len(rate) != 3:
            raise ParameterError(f"`{name}` must be a Rate (value, low, high), got {rate!r}")
        if not 0 <= rate[1] <= rate[0] <= rate[2] <= 1:
            raise ParameterError(f"`{name}` must satisfy 0 <= low <= value <= high <= 1, got {tuple(rate)}")
    if control[0] == 1:
        return Rate(math.nan, 0.0, 1.0)
    room = 1 - control[0]
    by_control = (1 - attack[0]) / room**2
    value = (attack[0] - control[0]) / room
    below = math.hypot((attack[0] - attack[1]) / room, (control[2] - control[0]) * by_control)
    above = math.hypot((attack[2] - attack[0]) / room, (control[0] - control[1]) * by_control)
    return Rate(value, value - below, min(1.0, value + above))
