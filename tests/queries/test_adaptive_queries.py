"""The tree counter and the median mechanism: exactness without noise, losses, and error."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from reident import ParameterError
from reident.queries import Budget, MedianMechanism
from reident.queries.median_mechanism import small_databases

pytestmark = pytest.mark.filterwarnings("ignore::reident.PrivacyWarning")


def test_small_databases_are_all_of_them():
    found = small_databases(8, 6)
    assert len(found) == 3003
    naive = {counts for counts in itertools.product(range(4), repeat=3) if sum(counts) <= 3}
    assert set(map(tuple, small_databases(3, 3).tolist())) == naive


def queries_of(n_items, n, seed):
    return np.random.default_rng(seed).integers(0, 2, (n, n_items))


def test_easy_queries_cost_nothing_and_hard_ones_are_counted():
    databases = small_databases(8, 6)
    budget = Budget(5)
    data = 300 * np.array([3, 0, 0, 1, 0, 0, 2, 0])
    mechanism = MedianMechanism(data, databases, epsilon=5, max_hard=10, tolerance=140, unit=300, budget=budget, rng=1)
    assert budget.remaining == 0
    asked = queries_of(8, 300, 2)
    answers = [mechanism.answer(query) for query in asked]
    hard = sum(answer.is_hard for answer in answers)
    assert mechanism.hard_left == 10 - hard
    assert 1 <= hard < 10
    # An easy answer lies farther off than the tolerance only by the noise of the comparison, of scale 16.
    assert max(abs(answer.value - query @ data) for answer, query in zip(answers, asked, strict=True)) <= 140 + 200


def test_hard_queries_run_out():
    databases = small_databases(4, 3)
    mechanism = MedianMechanism([3, 0, 0, 0], databases, epsilon=1000, max_hard=1, tolerance=0, rng=1)
    assert mechanism.answer([1, 0, 0, 0]).is_hard
    with pytest.raises(ParameterError, match="were hard"):
        mechanism.answer([1, 0, 0, 0])


def test_median_mechanism_beats_independent_noise_at_equal_budget():
    """1,000 queries: independent Laplace noise at epsilon / 1,000 each against ten hard answers, twice."""
    databases, epsilon = small_databases(8, 6), 5.0
    rng = np.random.default_rng(3)
    median, independent = [], []
    for seed in range(2):
        data = 300 * databases[rng.integers(len(databases))]
        mechanism = MedianMechanism(data, databases, epsilon=epsilon, max_hard=10, tolerance=140, unit=300, rng=seed)
        for query in queries_of(8, 1000, seed):
            if mechanism.hard_left:
                median.append(abs(mechanism.answer(query).value - query @ data))
            independent.append(abs(rng.laplace(0, 1000 / epsilon)))
    assert len(median) > 1500
    assert np.mean(median) < 0.5 * np.mean(independent)
