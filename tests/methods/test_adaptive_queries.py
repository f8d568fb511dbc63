"""The tree counter and the median mechanism: exactness without noise, losses, and error."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import reident.queries.continual as continual
from privacy_loss import assert_loss_at_most
from reident import Budget, DataError, MedianMechanism, ParameterError, TreeCounter
from reident.queries.median_mechanism import small_databases

pytestmark = pytest.mark.filterwarnings("ignore::reident.PrivacyWarning")


def test_without_noise_the_tree_counts(monkeypatch):
    monkeypatch.setattr(continual, "grid_noise", lambda rate, size, source: np.zeros(size, np.int64))
    values = np.random.default_rng(1).integers(0, 2, 37)
    counter = TreeCounter(37, epsilon=1)
    assert [counter.update(int(value)) for value in values] == np.cumsum(values).tolist()
    with pytest.raises(ParameterError, match="at most `horizon` = 37 times"):
        counter.update(1)


def test_a_step_enters_as_many_sums_as_there_are_levels(monkeypatch):
    """The privacy of the tree: a change in one step changes at most `levels` of the noisy sums, each by 1."""

    def sums(stream):
        drawn = []
        monkeypatch.setattr(continual, "grid_noise", lambda rate, size, source: np.zeros(size, np.int64))
        counter = TreeCounter(16, epsilon=1)
        for value in stream:
            counter.update(value)
            drawn.append(counter._noisy.copy())
        # A sum is drawn where a level's value is made: the level of the step's lowest one-bit.
        return [int(noisy[(t & -t).bit_length() - 1]) for t, noisy in enumerate(drawn, 1)]

    base = [0] * 16
    for step in range(16):
        changed = base.copy()
        changed[step] = 1
        gap = np.abs(np.array(sums(changed)) - sums(base))
        assert gap.max() == 1
        assert gap.sum() <= 5  # levels of a horizon of 16


def test_tree_counter_beats_asking_anew_and_its_error_is_as_told():
    horizon, epsilon = 128, 1.0
    errors = []
    for seed in range(25):
        counter = TreeCounter(horizon, epsilon=epsilon, rng=seed)
        errors.append([counter.update(1) - t for t in range(1, horizon + 1)])
    deviation = np.std(errors, axis=0)
    # 25 runs a step: the largest of 128 estimated deviations stays within 1.7 of the true one.
    assert deviation.max() <= 1.7 * counter.error_bound
    assert counter.error_bound < 0.2 * np.sqrt(2) * horizon / epsilon  # a fresh count a step, each with epsilon / T


@pytest.mark.slow
def test_tree_counter_keeps_its_promise():
    def seen(stream, first):
        readings = []
        for seed in range(1500):
            counter = TreeCounter(2, epsilon=1, rng=first + seed)
            one, two = (counter.update(value) for value in stream)
            readings.append(3 * (one > 0) + min(max(two, 0), 2))
        return np.array(readings, float)

    assert_loss_at_most(seen([0, 0], 0), seen([1, 0], 10_000), 1.0)


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


def test_budget_is_charged_exactly():
    budget = Budget(Fraction(3, 2))
    TreeCounter(100, epsilon=Fraction(1, 2), budget=budget, rng=1)
    assert budget.remaining == 1


def test_bad_input_is_refused():
    with pytest.raises(DataError, match="`data` must have a count for each column"):
        MedianMechanism([1, 2], small_databases(3, 2), epsilon=1, max_hard=1, tolerance=1)
    with pytest.raises(DataError, match="`query` must hold 0 or 1"):
        MedianMechanism([1, 1, 0], small_databases(3, 2), epsilon=1, max_hard=1, tolerance=1).answer([2, 0, 0])
    with pytest.raises(ParameterError, match="`value` must be at most 1"):
        TreeCounter(5, epsilon=1).update(2)
