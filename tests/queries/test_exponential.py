"""The exponential mechanism: exact probabilities, privacy loss, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from privacy_loss import assert_loss_at_most, loss_bounds, seeded
from reident.queries import choice_probabilities, exponential_mechanism

LEVEL = 1e-4


def positions(scores, n, seed, **kws):
    generator = np.random.default_rng(seed)
    candidates = range(len(scores))
    return seeded(lambda: [exponential_mechanism(candidates, scores, rng=generator, **kws).position for _ in range(n)])


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=8), st.floats(0.05, 3), st.booleans())
def test_probabilities_are_those_of_the_definition(scores, epsilon, monotone):
    rate = epsilon / (1 if monotone else 2)
    weights = [math.exp(rate * score) for score in scores]
    ref = np.array(weights) / math.fsum(weights)
    assert choice_probabilities(scores, epsilon=epsilon, monotone=monotone) == pytest.approx(ref, rel=1e-9)


def test_huge_scores_do_not_overflow():
    assert choice_probabilities([1e6, 1e6 - 2, -1e6], epsilon=1) == pytest.approx(
        np.array([1, math.exp(-1), 0]) / (1 + math.exp(-1))
    )
    assert exponential_mechanism("ab", [1e9, -1e9], epsilon=1).chosen == "a"


@pytest.mark.parametrize("scores", [[3, 1, 0, 3], [0.0, 0.3, 0.9], [5.0]])
def test_choices_follow_the_probabilities(scores):
    n = 1500
    observed = np.bincount(positions(scores, n, 4, epsilon=1.5), minlength=len(scores))
    expected = n * choice_probabilities(scores, epsilon=1.5)
    if len(scores) > 1:
        assert stats.chisquare(observed, expected).pvalue > LEVEL
    assert observed.sum() == n


@pytest.mark.slow
def test_privacy_loss():
    """Scores of neighbours differ by 1 in opposite directions: the worst case of Theorem 6.1."""
    one, other = ([2, 1], [1, 2])
    n = 3000
    assert_loss_at_most(positions(one, n, 1, epsilon=1), positions(other, n, 2, epsilon=1), 1, level=LEVEL)
    # Without the factor 2 such scores leak: "monotone" is a promise about the score.
    leaky = [positions(scores, n, seed, epsilon=1, monotone=True) for seed, scores in ((1, one), (2, other))]
    exact = math.log(
        choice_probabilities(one, epsilon=1, monotone=True)[0]
        / choice_probabilities(other, epsilon=1, monotone=True)[0]
    )
    assert exact == pytest.approx(1), "two candidates: the normaliser is the same, the loss is exactly epsilon"
    assert loss_bounds(*leaky, level=LEVEL) < 1.1
