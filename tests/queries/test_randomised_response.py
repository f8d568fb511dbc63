import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from privacy_loss import assert_loss_at_most, loss_bounds, seeded
from reident import ParameterError
from reident.queries import Budget, randomised_response
from reident.queries.randomisation import response_variance

LEVEL = 1e-4


def test_one_coin_is_log_three():
    response = randomised_response([True, False], truth_probability=0.5)
    assert response.epsilon == pytest.approx(math.log(3))
    assert response.report_probabilities == (0.75, 0.25)
    assert response.private


@pytest.mark.parametrize("m", [2, 5])
def test_epsilon_and_truth_probability_agree(m):
    categories = list(range(m))
    by_epsilon = randomised_response([0], epsilon=0.7, categories=categories)
    by_truth = randomised_response([0], truth_probability=by_epsilon.truth_probability, categories=categories)
    assert by_truth.epsilon == pytest.approx(0.7)
    own, other = by_epsilon.report_probabilities
    assert own / other == pytest.approx(math.exp(0.7))
    assert own + (m - 1) * other == pytest.approx(1)


@pytest.mark.parametrize("kws", [{"epsilon": 0.8}, {"truth_probability": 0.4}])
def test_reports_have_the_stated_probabilities_and_loss(kws):
    n, categories = 40_000, ["a", "b", "c"]
    reports = {
        true: seeded(randomised_response, [true] * n, categories=categories, rng=place, **kws)
        for place, true in enumerate(categories)
    }
    for true, response in reports.items():
        own, other = response.report_probabilities
        observed = [(response.responses == value).sum() for value in categories]
        expected = [n * (own if value == true else other) for value in categories]
        assert stats.chisquare(observed, expected).pvalue > LEVEL
    codes = [pd.Categorical(reports[true].responses, categories).codes for true in "ab"]
    assert_loss_at_most(*codes, reports["a"].epsilon, level=LEVEL)
    assert loss_bounds(*codes, level=LEVEL) > reports["a"].epsilon * 0.85


@pytest.mark.slow
def test_estimate_is_unbiased_with_the_stated_variance():
    answers = np.repeat(["a", "b", "c"], [120, 60, 20])
    share, repetitions = np.array([0.6, 0.3, 0.1]), 600
    generator = np.random.default_rng(8)

    def once():
        return randomised_response(answers, truth_probability=0.5, categories=list("abc"), rng=generator).estimate()

    frames = seeded(lambda: [once() for _ in range(repetitions)])
    estimates = np.array([frame["share"] for frame in frames])
    variance = response_variance(share, 200, 0.5, 3)
    z = (estimates.mean(axis=0) - share) / np.sqrt(variance / repetitions)
    assert (np.abs(z) < stats.norm.isf(LEVEL / 6)).all()
    ratio = estimates.var(axis=0, ddof=1) / variance
    low, high = (stats.chi2.ppf(q, repetitions - 1) / (repetitions - 1) for q in (LEVEL / 6, 1 - LEVEL / 6))
    assert ((low < ratio) & (ratio < high)).all()
    estimated = np.array([frame["variance"] for frame in frames]).mean(axis=0)
    assert estimated == pytest.approx(variance, rel=0.05)
    covered = np.mean([((frame["low"] <= share) & (share <= frame["high"])).mean() for frame in frames])
    assert 0.92 < covered < 0.98
    assert estimates.sum(axis=1) == pytest.approx(np.ones(repetitions))


def test_truth_alone_is_no_protection_and_chance_alone_no_estimate():
    honest = randomised_response([True, False, True], truth_probability=1)
    assert honest.epsilon == math.inf
    assert honest.responses.tolist() == [True, False, True]
    assert honest.estimate()["share"].tolist() == pytest.approx([1 / 3, 2 / 3])
    with pytest.raises(ParameterError, match="pure chance"):
        randomised_response([True], truth_probability=0).estimate()


def test_a_budget_is_spent_before_a_coin_is_thrown():
    budget = Budget(2)
    randomised_response([True, False], epsilon="0.5", budget=budget)
    assert budget.spent == Fraction(1, 2)
    response = randomised_response([True, False], truth_probability=0.5, budget=budget)
    assert 0 <= budget.spent - Fraction(1, 2) - Fraction(response.epsilon) < 1e-12
    for more, message in (({"epsilon": 1}, "remain"), ({"truth_probability": 1}, "it has no bound")):
        spent = budget.spent
        with pytest.raises(ParameterError, match=message):
            randomised_response([True], budget=budget, **more)
        assert budget.spent == spent
