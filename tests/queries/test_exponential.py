"""The exponential mechanism: exact probabilities, privacy loss, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from privacy_loss import seeded
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
