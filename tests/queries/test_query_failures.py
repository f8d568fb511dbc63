import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reident import ParameterError, queries


@given(st.lists(st.booleans(), min_size=2, max_size=12), st.data())
def test_two_large_queries_give_one_person_away(property_, data):
    target = data.draw(st.integers(0, len(property_) - 1))
    table = pd.DataFrame({"hiv": property_})
    attack = queries.query_set_attack(table, target, lambda row: row["hiv"], min_set_size=len(table) - 1)
    assert attack.learned == int(property_[target])
    assert (attack.queries["n_in_set"] >= len(table) - 1).all()


@given(st.integers(0, 1000))
def test_the_auditor_gives_no_value_away_by_its_answers(seed):
    """By brute force over all orders of 4 distinct values: after its answers no record's value is determined."""
    generator = np.random.default_rng(seed)
    values = generator.permutation(4)
    auditor = queries.MaxAuditor(values)
    answered = []
    for _ in range(6):
        asked = np.flatnonzero(generator.random(4) < 0.6).tolist() or [0]
        answer = auditor.ask(asked)
        if answer is not None:
            assert answer == values[asked].max()
            answered.append((asked, answer))
    # The values may be any distinct reals below the maxima, not just 0..3: half steps make room.
    grid = np.arange(-6, 7) / 2
    fitting = [
        choice
        for choice in itertools.permutations(grid, 4)
        if all(max(choice[record] for record in asked) == answer for asked, answer in answered)
    ]
    assert fitting
    for record in range(4):
        assert len({choice[record] for choice in fitting}) > 1


def test_refusals_give_values_away():
    generator = np.random.default_rng(3)
    values = generator.random(3000)
    auditor = queries.MaxAuditor(values)
    attack = queries.auditing_attack(auditor, rng=1)
    assert all(values[record] == value for record, value in attack.learned.items())
    assert attack.n_refused == len(attack.learned)
    assert attack.n_asked == 2000
    # A third of the groups; binomial standard deviation .015.
    assert len(attack.learned) / 1000 == pytest.approx(1 / 3, abs=0.06)


def test_a_refused_question_leaves_no_trace():
    auditor = queries.MaxAuditor([1.0, 2.0, 3.0])
    assert auditor.ask([0]) is None
    assert auditor.ask([0, 1, 2]) == 3
    assert auditor.ask([0, 1]) is None
    assert auditor.ask([1, 2]) == 3
    assert (auditor.n_asked, auditor.n_refused) == (4, 2)


def test_sampling_exposes_a_few_wholly():
    table = pd.DataFrame({"zip": list(range(50)) + [99] * 50})
    everyone = queries.sampling_exposure(table, quasi="zip", rate=1, rng=0)
    assert (everyone.n_sampled, everyone.unique_in_table, everyone.exposed_share) == (100, 0.5, 0.5)
    some = [queries.sampling_exposure(table, quasi="zip", rate=0.2, rng=seed) for seed in range(300)]
    assert np.mean([exposure.exposed_share for exposure in some]) == pytest.approx(0.1, abs=0.01)
    assert all(exposure.unique_in_sample >= exposure.unique_in_table for exposure in some)
    tiny = queries.sampling_exposure(table.iloc[:1], quasi="zip", rate=1e-9, rng=0)
    assert (tiny.n_sampled, tiny.unique_in_sample) == (0, 0)


def test_averaging_undoes_independent_noise_until_a_budget_stops_it():
    attack = queries.averaging_attack(lambda: queries.laplace_count(1000, epsilon=0.5), 2000)
    assert abs(attack.learned - 1000) < 0.5
    assert attack.epsilon_spent == 1000
    assert attack.estimates.shape == (2000,)
    budget = queries.Budget(1)
    with pytest.raises(ParameterError, match="what remains of the budget"):
        queries.averaging_attack(lambda: queries.laplace_count(1000, epsilon=0.5, budget=budget), 2000)
    assert len(budget.ledger) == 2
