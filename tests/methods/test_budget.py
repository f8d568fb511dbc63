"""The privacy budget: exact, adaptive, and refusing before an answer exists."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reident
from reident import Budget, ParameterError


def test_a_hundred_hundredths_are_one():
    budget = Budget(1)
    for _ in range(100):
        budget.spend(0.01)
    assert budget.remaining == 0
    assert budget.spent == 1
    with pytest.raises(ParameterError, match=r"at most what remains of the budget \(0 of 1\), got 0.01"):
        budget.spend(0.01)
    assert len(budget.ledger) == 100


@settings(max_examples=25)
@given(st.lists(st.fractions(min_value=Fraction(1, 100), max_value=1), min_size=1, max_size=20))
def test_remaining_is_the_total_less_the_sum(parts):
    budget = Budget(sum(parts))
    for position, part in enumerate(parts):
        assert budget.remaining == sum(parts[position:])
        budget.spend(part, f"query {position}")
    assert budget.remaining == 0
    assert budget.statement()["remaining"].iloc[-1] == 0


@pytest.mark.parametrize("half", [0.5, "0.5", "1/2", Decimal("0.5"), Fraction(1, 2), np.float64(0.5), np.float32(0.5)])
def test_forms_of_a_number(half):
    assert Budget(half).total == Fraction(1, 2)
    assert Budget(1).spend(half) == Fraction(1, 2)


def test_halving_never_exceeds_the_total():
    budget = Budget(1)
    assert [budget.spend_half() for _ in range(4)] == [Fraction(1, 2**i) for i in range(1, 5)]
    assert budget.remaining == Fraction(1, 16)
    budget.spend(budget.remaining)
    with pytest.raises(ParameterError, match="what remains"):
        budget.spend_half()
    with pytest.raises(ParameterError, match="shares"):
        budget.shares(2)


def test_shares():
    budget = Budget(1)
    budget.spend("1/10")
    shares = budget.shares(3)
    for share in shares:
        budget.spend(share)
    assert budget.remaining == 0


@pytest.mark.parametrize("bad", [0, -1, -0.5, float("nan"), float("inf"), "much", None, True, "0", [1]])
def test_bad_amounts(bad):
    with pytest.raises(ParameterError, match="`total`"):
        Budget(bad)
    budget = Budget(1)
    with pytest.raises(ParameterError, match="`epsilon`"):
        budget.spend(bad)
    assert budget.remaining == 1


QUERIES = {
    "count": lambda **kws: reident.laplace_count([True, False], **kws),
    "sum": lambda **kws: reident.laplace_sum([1, 2], bounds=(0, 2), **kws),
    "mean": lambda **kws: reident.laplace_mean([1, 2], bounds=(0, 2), **kws),
    "histogram": lambda **kws: reident.laplace_histogram(["a"], categories=["a", "b"], **kws),
    "k-means": lambda **kws: reident.private_kmeans([[0.5, 0.5]], 1, bounds=(0, 1), **kws),
    "exponential mechanism": lambda **kws: reident.exponential_mechanism("ab", [1, 2], **kws),
    "degree sequence": lambda **kws: reident.private_degree_sequence([1, 1], **kws),
}


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_spends_and_stops_before_it_answers(name):
    budget = Budget(1)
    answer = QUERIES[name](epsilon=0.75, budget=budget)
    assert budget.spent == Fraction(3, 4)
    assert budget.ledger[0].purpose == name
    assert answer.epsilon == 0.75
    assert answer.private
    with pytest.raises(ParameterError, match=f"no answer was computed for {name}"):
        QUERIES[name](epsilon=0.5, budget=budget)
    assert budget.remaining == Fraction(1, 4)


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), None])
def test_every_query_refuses_a_bad_epsilon(name, epsilon):
    budget = Budget(1)
    with pytest.raises(ParameterError, match="`epsilon`"):
        QUERIES[name](epsilon=epsilon, budget=budget)
    assert budget.remaining == 1


def test_a_query_with_bad_input_spends_nothing():
    budget = Budget(1)
    with pytest.raises(ParameterError, match="`bounds`"):
        reident.laplace_sum([1], bounds=(2, 1), epsilon=1, budget=budget)
    with pytest.raises(reident.DataError, match="categories"):
        reident.laplace_histogram(["c"], categories=["a"], epsilon=1, budget=budget)
    assert budget.remaining == 1
