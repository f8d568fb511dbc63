"""Mechanism. The exponential mechanism: a private choice among finitely many candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reident.base import (
    DataError,
    FloatArray,
    ParameterError,
    RNGLike,
    call_given,
    check_epsilon,
    check_flag,
    check_in_order,
    check_positive,
    check_vector,
)
from reident.queries.budget import Budget, spend
from reident.queries.entropy import (
    Entropy,
    bernoulli_each,
    entropy_source,
    exponential_probability,
    random_below,
)


@dataclass(frozen=True)
class PrivateChoice:
    """A candidate chosen privately. Holds neither scores nor probabilities.

    Attributes
    ----------
    chosen : object
        The candidate.
    position : int
        Its position among the candidates.
    epsilon, sensitivity : float
        The privacy loss, and by how much one record changes a score at most.
    private : bool
        False if the choice was seeded.
    """

    chosen: Any
    position: int
    epsilon: float
    sensitivity: float
    private: bool


def exponential_mechanism(
    candidates: Sequence[Any],
    scores: Callable[[Any], float] | ArrayLike,
    *,
    epsilon: Any,
    sensitivity: float = 1.0,
    monotone: bool = False,
    budget: Budget | None = None,
    rng: RNGLike = None,
) -> PrivateChoice:
    """Choose a candidate with a high score under epsilon-differential privacy.

    For answers to which noise cannot be added, or where noise on the answer would spoil it although the score would
    hardly change: a category, a tree, the direction of a hyperplane.

    Parameters
    ----------
    candidates : sequence
        The possible answers: declared, not taken from the data.
    scores : callable or array_like of float, shape (n_candidates,)
        The score of each candidate on the data; higher is better.
    epsilon : number
        Privacy loss, positive.
    sensitivity : float
        By how much one record changes any candidate's score at most. Not checked: it is a property of the score
        function, not of these scores.
    monotone : bool
        True if one more record changes all scores in the same direction (a count of correct records does): then the
        factor 2 in the exponent is not needed and the choice is better at the same epsilon.
    budget : Budget, optional
        Spent before the choice is made.
    rng : optional
        None for a real choice. A seed or generator is for simulations.

    Returns
    -------
    PrivateChoice
        The candidate, and what was spent.

    Raises
    ------
    ParameterError, DataError
        If there is no candidate, epsilon or the sensitivity is not positive, or a score is not finite.

    Notes
    -----
    Vanhoef (2012), Definition 6.3 and Theorem 6.1, for finite candidates. Exact: a candidate drawn evenly is taken
    with probability exp(-epsilon (best - score) / (2 sensitivity)), by an exact coin, until one is taken. The number
    of attempts, unlike the choice, depends on the scores: do not let an observer time it. At most about
    n_candidates attempts are needed on average.
    """
    exact = check_epsilon(epsilon)
    check_positive(sensitivity, "sensitivity")
    candidates = check_in_order(candidates, "candidates")
    values = _scores(candidates, scores)
    rate = exact / Fraction(float(sensitivity)) / (1 if check_flag(monotone, "monotone") else 2)
    source = entropy_source(rng)
    spend(budget, exact, "exponential mechanism")
    position = draw_choice(values, rate, source)
    return PrivateChoice(candidates[position], position, float(exact), float(sensitivity), rng is None)


def choice_probabilities(
    scores: ArrayLike, *, epsilon: Any, sensitivity: float = 1.0, monotone: bool = False
) -> FloatArray:
    """Return with which probability `exponential_mechanism` chooses each candidate, computed in log space.

    For study, not for release: the probabilities depend on the data without any protection.

    Parameters
    ----------
    scores : array_like of float, shape (n,)
        The score of each candidate.
    epsilon : float
        Privacy loss of one choice.
    sensitivity : float, default 1
        How much one record changes a score at most.
    monotone : bool, default False
        Whether a further record can only raise scores, or only lower them.

    Returns
    -------
    ndarray of float64, shape (n,)
        They add up to 1.

    Raises
    ------
    DataError, ParameterError
        If an option breaks its rule, or a score is not finite.
    """
    check_positive(sensitivity, "sensitivity")
    values = check_vector(scores, "scores")
    if not values.size:
        raise DataError("`scores` must have at least one score, got none")
    factor = 1 if check_flag(monotone, "monotone") else 2
    weights = float(check_epsilon(epsilon)) / (sensitivity * factor) * (values - values.max())
    probabilities: FloatArray = np.exp(weights - np.log(np.exp(weights).sum()))
    return probabilities


def _scores(candidates: Sequence[Any], scores: Callable[[Any], float] | ArrayLike) -> FloatArray:
    if not len(candidates):
        raise ParameterError("`candidates` must have at least one candidate, got none")
    listed = (
        call_given(lambda: [scores(candidate) for candidate in candidates], "scores") if callable(scores) else scores
    )
    return check_vector(listed, "scores", length=len(candidates))


def draw_choice(scores: FloatArray, rate: Fraction, source: Entropy) -> int:
    """Draw a position with probability proportional to exp(rate score), exactly."""
    best = float(scores.max())
    acceptance = np.exp(float(rate) * (scores - best))

    def gap(position: int) -> Fraction:
        return rate * (Fraction(best) - Fraction(float(scores[position])))

    while True:
        tried = random_below(scores.size, min(4096, 2 * scores.size), source)
        accepted = scores[tried] == best
        uncertain = np.flatnonzero(~accepted)
        accepted[uncertain] = bernoulli_each(
            acceptance[tried[uncertain]],
            lambda place, at=tried[uncertain]: exponential_probability(gap(int(at[place]))),  # type: ignore[misc]
            source,
        )
        if accepted.any():
            return int(tried[accepted.argmax()])
