"""Metric. The privacy loss that samples of a mechanism's answers prove."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from reident.base import DataError, Real, check_real, check_vector

__all__ = ["privacy_loss_bound"]


def privacy_loss_bound(
    left: ArrayLike, right: ArrayLike, *, level: Annotated[float, Real(0, 1, open_low=True, open_high=True)] = 0.95
) -> float:
    """Return a privacy loss that a mechanism has at least, judged by its answers to two neighbouring inputs.

    A test of the promise itself and not of the noise's mean: a value above epsilon shows, at `level`, that the
    mechanism is not epsilon-differentially private. A value below epsilon shows nothing of the sort: other inputs,
    other events or more answers may still break the promise.

    Parameters
    ----------
    left, right : array_like of float, shapes (n,) and (m,)
        Independent answers to the one and to the other input, rounded to few distinct values (a grid, or whole
        numbers): each distinct value is an event.
    level : float in (0, 1)
        Confidence of the bound, for all events together.

    Returns
    -------
    float
        Lower confidence bound of the largest log-ratio of an event's probabilities, in either direction; minus
        infinity if there is none.

    Raises
    ------
    DataError, ParameterError
        If a sample is empty or `level` is not between 0 and 1.

    Notes
    -----
    Vanhoef (2012), Definition 5.4, events S = {x}, {at most x}, {at least x}. Clopper-Pearson intervals, Bonferroni
    over all events.

    Examples
    --------
    >>> privacy_loss_bound([0] * 900 + [1] * 100, [0] * 500 + [1] * 500) > 1
    True
    """
    from scipy.stats import beta  # takes longer to import than the rest of the package

    first, second = (np.sort(check_vector(sample, name)) for sample, name in ((left, "left"), (right, "right")))
    check_real(level, "level", low=0, high=1, open_low=True, open_high=True)
    if not first.size or not second.size:
        raise DataError(f"`left` and `right` must have answers, got {first.size} and {second.size}")
    outcomes = np.unique(np.concatenate([first, second]))
    ends = np.append(outcomes, np.inf)
    below = [np.searchsorted(sample, ends, side="left").astype(np.float64) for sample in (first, second)]
    share = (1 - level) / (6 * outcomes.size)
    worst = -math.inf
    for (hits, tries), (misses, others) in (
        ((below[0], first.size), (below[1], second.size)),
        ((below[1], second.size), (below[0], first.size)),
    ):
        for a, b in (
            (np.diff(hits), np.diff(misses)),
            (hits[1:], misses[1:]),
            (tries - hits[:-1], others - misses[:-1]),
        ):
            low = np.where(a > 0, beta.ppf(share, np.maximum(a, 1e-9), tries - a + 1), 0)
            high = np.where(b < others, beta.isf(share, b + 1, np.maximum(others - b, 1e-9)), 1)
            with np.errstate(divide="ignore"):
                worst = max(worst, float(np.log(low / high).max()))
    return worst
