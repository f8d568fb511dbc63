"""Metric. How hard something is to guess: entropies and statistical distance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reident.base import DataError, FloatArray, check_real, check_vector

__all__ = ["min_entropy", "self_information", "statistical_distance"]


def self_information(probability: float) -> float:
    """Return the information of an event of the given probability, bits: 1 for a coin, 2.585 for a face of a die.

    Parameters
    ----------
    probability : float
        In (0, 1].

    Returns
    -------
    float
        Bits.

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
        Bits.

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
        Two distributions over the same outcomes.

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
