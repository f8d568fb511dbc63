"""Mechanism. Randomised response: every answer is deniable, the shares are still estimable."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from reident.base import (
    DataError,
    ParameterError,
    RNGLike,
    check_column,
    check_epsilon,
    check_level,
    check_names,
    check_real,
)
from reident.queries.budget import Budget, spend
from reident.queries.domain import category_positions, warn_replaced
from reident.queries.entropy import (
    Probability,
    bernoulli,
    computed,
    entropy_source,
    random_below,
    ratio,
    rational,
)


@dataclass(frozen=True)
class RandomisedResponse:
    """Randomised answers, and estimates of shares from them.

    Attributes
    ----------
    responses : Series
        The randomised answers, with the index of the true ones if they had one.
    categories : tuple
        All possible answers.
    truth_probability : float
        Probability of answering truthfully; otherwise the answer is drawn evenly from all categories.
    epsilon : float
        Local privacy loss of one respondent; infinite if everyone answers truthfully.
    private : bool
        False if the coins were seeded.
    """

    responses: pd.Series
    categories: tuple[Hashable, ...]
    truth_probability: float
    epsilon: float
    private: bool

    @property
    def report_probabilities(self) -> tuple[float, float]:
        """Probability of reporting one's own category, and of reporting a given other one."""
        other = (1 - self.truth_probability) / len(self.categories)
        return self.truth_probability + other, other

    def estimate(self, level: float = 0.95) -> pd.DataFrame:
        """Estimate the share of each category among the respondents.

        Returns
        -------
        DataFrame, one row a category
            ``reported`` (its share among the responses), ``share`` (unbiased; may leave [0, 1]), ``variance``
            (unbiased estimate of the variance that the coins cause, the respondents' true answers being fixed),
            ``variance_with_sampling`` (if the respondents are themselves a random sample), ``low``, ``high`` (normal
            interval at `level` from ``variance``).
        """
        if self.truth_probability == 0:
            raise ParameterError("`truth_probability` must be greater than 0 to estimate: the answers are pure chance")
        z = -ndtri((1 - check_level(level, "level")) / 2)
        n = len(self.responses)
        p_own, p_other = self.report_probabilities
        counts = self.responses.value_counts().reindex(list(self.categories), fill_value=0)
        reported = counts.to_numpy(np.float64) / n
        share = (reported - p_other) / (p_own - p_other)
        variance = response_variance(share, n, self.truth_probability, len(self.categories))
        sampling = reported * (1 - reported) / max(1, n - 1) / (p_own - p_other) ** 2
        # The estimate of a variance may come out negative for a share estimated below 0; an interval needs at least 0.
        reach = z * np.sqrt(np.clip(variance, 0, None))
        return pd.DataFrame(
            {
                "reported": reported,
                "share": share,
                "variance": variance,
                "variance_with_sampling": sampling,
                "low": share - reach,
                "high": share + reach,
            },
            index=pd.Index(list(self.categories), name="category"),
        )


def response_variance(share: Any, n: int, truth_probability: float, n_categories: int) -> Any:
    """Return the variance of the estimated share when `share` of `n` respondents hold the category.

    Each holder's report is a coin with success probability p, each other's one with q:
    (share p (1 - p) + (1 - share) q (1 - q)) / (n (p - q)^2), linear in the share.
    """
    q = (1 - truth_probability) / n_categories
    p = truth_probability + q
    return (share * p * (1 - p) + (1 - share) * q * (1 - q)) / (n * (p - q) ** 2)


def randomised_response(
    answers: Any,
    *,
    truth_probability: float | None = None,
    epsilon: Any = None,
    categories: Sequence[Hashable] | None = None,
    budget: Budget | None = None,
    rng: RNGLike = None,
) -> RandomisedResponse:
    """Randomise each answer on its own: the truth with some probability, else any category evenly.

    Protects each respondent from the collector too: whatever is reported, the likelihood of any true answer changes
    by at most exp(epsilon). It does not protect someone who is asked again and again with new coins.

    Parameters
    ----------
    answers : sequence, shape (n,)
        The true answers, one a respondent, at least one.
    truth_probability : float in [0, 1], optional
        Probability of answering truthfully. One coin a respondent: .5.
    epsilon : number, optional
        Instead: the local privacy loss, from which the probability follows.
    categories : sequence, optional
        All possible answers, declared. Default: False and True if the answers are Boolean. Another or a missing
        answer is reported as any category, by chance alone.
    budget : Budget, optional
        That of the respondents, each of whom loses epsilon; it is spent before a coin is thrown.
    rng : optional
        None for real coins. A seed or generator is for simulations.

    Returns
    -------
    RandomisedResponse
        The reports, and the estimate of each category's share.

    Raises
    ------
    ParameterError
        If neither or both of `truth_probability` and `epsilon` are given or out of range, there are fewer than two
        categories, or the loss is more than remains of the budget: the truth alone is an infinite one.
    DataError
        If there is no answer.

    Warns
    -----
    PrivacyWarning
        If answers are missing or outside the categories, after the budget was spent: for the keeper of the data only.

    Notes
    -----
    Vanhoef (2012), section 3.2. With m categories and truth probability t, a report is m t / (1 - t) + 1 times as
    likely from a holder of the category as from another: epsilon is the logarithm of that.

    Examples
    --------
    >>> response = randomised_response([True] * 300 + [False] * 700, truth_probability=.5)
    >>> round(response.epsilon, 3)
    1.099
    """
    values = answers if isinstance(answers, pd.Series) else check_column(answers, "answers")
    if not len(values):
        raise DataError("`answers` must have at least one answer, got none")
    listed = _categories(values, categories)
    positions, n_unknown = category_positions(values, listed)
    truth, coin, loss = _truth(truth_probability, epsilon, len(listed))
    if budget is not None:
        if math.isinf(loss):
            raise ParameterError(
                "`truth_probability` must be below 1 where a `budget` is spent, got 1: it has no bound"
            )
        # Of a probability the loss is a logarithm: what is spent is not below it.
        spend(
            budget, epsilon if epsilon is not None else Fraction(math.nextafter(loss, math.inf)), "randomised response"
        )
    source = entropy_source(rng)
    warn_replaced(n_unknown, "of `answers` belong to no category and were answered by chance alone")
    honest = bernoulli(coin, len(values), source) if coin is not None else np.ones(len(values), dtype=np.bool_)
    honest &= positions >= 0
    random = random_below(len(listed), len(values), source)
    reported = pd.Series(listed[np.where(honest, positions, random)], index=values.index, name=values.name)
    return RandomisedResponse(reported, tuple(listed), truth, loss, rng is None)


def _categories(values: pd.Series, categories: Sequence[Hashable] | None) -> pd.Index:
    if categories is None:
        if values.dtype != np.bool_:
            raise ParameterError("`categories` must be declared unless the answers are Boolean, got None")
        return pd.Index([False, True])
    listed = pd.Index(check_names(categories, "categories"))
    if len(listed) < 2 or not listed.is_unique or listed.hasnans:
        raise ParameterError(f"`categories` must be at least two distinct answers, got {list(categories)!r}")
    return listed


def _truth(probability: float | None, epsilon: Any, m: int) -> tuple[float, Probability | None, float]:
    """Return the probability of the truth, its coin (None if it always shows), and the loss."""
    if (probability is None) == (epsilon is None):
        raise ParameterError("`truth_probability` or `epsilon` must be given, and not both")
    if epsilon is not None:
        exact = check_epsilon(epsilon)
        small = math.exp(-float(exact))
        return (1 - small) / (1 + (m - 1) * small), _truth_coin(exact, m), float(exact)
    truth = check_real(probability, "truth_probability", low=0, high=1)
    if truth == 1:
        return 1.0, None, math.inf
    return truth, rational(Fraction(str(truth))), math.log1p(m * truth / (1 - truth))


def _truth_coin(epsilon: Fraction, m: int) -> Probability:
    def evaluate(context: Context) -> Decimal:
        small = context.exp(ratio(-epsilon, context))
        top = context.subtract(Decimal(1), small)
        return context.divide(top, context.add(Decimal(1), context.multiply(Decimal(m - 1), small)))

    return computed(evaluate)
