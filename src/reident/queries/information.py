"""Metric. Measures of information (vanhoef2012, 2.2) and a lower bound of a mechanism's privacy loss from samples."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from reident.base import DataError, FloatArray, Real, check_real, check_vector, checked


def self_information(probability: float) -> float:
    """Return the information of an event of the given probability, bits: 1 for a coin, 2.585 for a face of a die.

    Parameters
    ----------
    probability : float
        In (0, 1].

    Returns
    -------
    float

    Raises
    ------
    ParameterError
        If the probability is not in (0, 1].

    Notes
    -----
    vanhoef2012, 2.2.1.
    """
    return -math.log2(check_real(probability, "probability", low=0, high=1, open_low=True)) + 0.0


def min_entropy(probabilities: Any) -> float:
    """Return the self-information of the likeliest outcome, bits: the best guess is right with 2 to the minus it.

    Parameters
    ----------
    probabilities : array_like of float
        Of all outcomes; they add up to 1.

    Returns
    -------
    float

    Notes
    -----
    vanhoef2012, Definition 2.12.
    """
    return -math.log2(_distribution(probabilities, "probabilities").max()) + 0.0


def statistical_distance(first: Any, second: Any) -> float:
    """Return half the L1 distance of two distributions over the same outcomes: the best test's edge over guessing.

    Parameters
    ----------
    first, second : array_like of float, shape (n,)

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    DataError
        If the two differ in length, or are no distributions.

    Notes
    -----
    vanhoef2012, 2.6; Lemma 2.11: it is the largest difference of the probabilities of one event.
    """
    p, q = _distribution(first, "first"), _distribution(second, "second")
    if p.shape != q.shape:
        raise DataError(f"`first` and `second` must have the same outcomes, got {p.size} and {q.size}")
    return float(np.abs(p - q).sum() / 2)


def _distribution(values: Any, name: str) -> FloatArray:
    p = check_vector(values, name)
    if p.size == 0 or (p < 0).any() or not math.isclose(float(p.sum()), 1, abs_tol=1e-9):
        raise DataError(
            f"`{name}` must be at least one probability and sum to 1, got {p.size} with the sum {p.sum():g}"
        )
    return p


@checked
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
