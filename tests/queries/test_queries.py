import os
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from privacy_loss import assert_loss_at_most, seeded
from reident import PrivacyWarning, laplace_histogram
from reident.base import system_rng
from reident.queries import Budget, laplace_count, laplace_sum, private_kmeans, randomised_response

LEVEL = 1e-4


def repeat(query, n, **kws):
    generator = np.random.default_rng(17)
    return seeded(lambda: [query(rng=generator, **kws) for _ in range(n)])


def test_count_of_a_table_a_mask_a_predicate_and_a_number_agree():
    table = pd.DataFrame({"age": [10, 20, 30, 40]})
    answers = [
        seeded(laplace_count, *data, epsilon=2, rng=3).value
        for data in (
            (table[table["age"] > 15],),
            (table["age"] > 15,),
            (table, lambda row: row["age"] > 15),
            (table["age"], lambda age: age > 15),
            (3,),
        )
    ]
    assert len(set(answers)) == 1
    assert answers[0] == int(answers[0])


@pytest.mark.parametrize(("adjacency", "sensitivity"), [("add-remove", 7), ("replace", 10)])
def test_sensitivity_of_a_sum(adjacency, sensitivity):
    answer = laplace_sum([1.0], bounds=(-3, 7), epsilon=0.5, adjacency=adjacency)
    assert answer.sensitivity == pytest.approx(sensitivity, rel=2e-6)
    assert answer.scale == pytest.approx(2 * sensitivity, rel=2e-6)


@given(
    st.lists(st.floats(-3, 7), max_size=6),
    st.floats(-3, 7),
    st.floats(0.3, 3),
    st.sampled_from(["add-remove", "replace"]),
)
def test_stated_sensitivity_bounds_the_change_of_the_snapped_sum(values, more, step, adjacency):
    """With a seed the noise is the same, so that the difference of two answers is that of the snapped sums."""

    def answer(listed):
        return seeded(laplace_sum, listed, bounds=(-3, 7), epsilon=1, adjacency=adjacency, granularity=step, rng=5)

    base = [0.0, *values]
    neighbour = [*base, more] if adjacency == "add-remove" else [more, *values]
    one, other = answer(base), answer(neighbour)
    assert abs(one.value - other.value) <= one.sensitivity * (1 + 1e-12)
    assert abs(one.value / step - round(one.value / step)) < 1e-9


@pytest.mark.slow
def test_privacy_loss_of_a_histogram_is_that_of_one_count():
    """The pair (count of a, count of b) of neighbours; events on the first and on the sum of both."""
    n = 2000
    answers = [
        [a.counts.to_numpy() for a in repeat(laplace_histogram, n, values=values, bins=[0, 1, 2], epsilon=1)]
        for values in ([0, 1], [0, 1, 0])
    ]
    for combine in ([1, 0], [1, 1], [1, -1]):
        one, other = (np.array(sample) @ combine for sample in answers)
        assert_loss_at_most(one, other, 1, level=LEVEL)


def test_intervals_cover_as_often_as_they_say():
    n = 1000
    for query, truth, kws in (
        (laplace_count, 40, {"data": 40, "epsilon": 0.3}),
        (laplace_sum, 6, {"values": [1.0, 2.0, 3.0], "bounds": (0, 4), "epsilon": 0.7, "granularity": 2.0**-6}),
    ):
        answers = repeat(query, n, **kws)
        for level in (0.5, 0.95, 0.99):
            covered = sum(low <= truth <= high for low, high in (a.interval(level) for a in answers))
            # On a grid the interval covers at least with its level, and not much more.
            assert stats.binomtest(covered, n, level, alternative="less").pvalue > LEVEL
            assert covered / n < level + 0.6 * (1 - level) + 0.05


def test_histogram_counts_bins_and_categories_like_numpy():
    values = [0, 0.5, 1, 3, 10]
    near = laplace_histogram(values, bins=[0, 1, 5, 10], epsilon=1000)
    assert near.counts.tolist() == np.histogram(values, [0, 1, 5, 10])[0].tolist() == [2, 2, 1]
    named = laplace_histogram(["x", "y", "x"], categories=["x", "y", "z"], epsilon=1000)
    assert named.counts.to_dict() == {"x": 2, "y": 1, "z": 0}


#: Nearly no noise: what remains is the answer.
SURE = 1e6

STRANGE = [[0.5, None, 0.5], [0.5, float("nan"), 0.5], [0.5, float("inf")], [-float("inf")], [0.5, "RareCanary"], []]


def asked(values):
    """Return one call a query, on the same values."""
    return {
        "count": lambda budget: laplace_count(values, lambda value: value > 0, epsilon=1, budget=budget),
        "sum": lambda budget: laplace_sum(values, bounds=(0, 1), epsilon=1, budget=budget),
        "bins": lambda budget: laplace_histogram(values, [0, 1, 2], epsilon=1, budget=budget),
        "categories": lambda budget: laplace_histogram(values, categories=[0.5, 1.5], epsilon=1, budget=budget),
        "centres": lambda budget: private_kmeans(values, 1, bounds=(0, 1), epsilon=1, budget=budget),
        "coins": lambda budget: randomised_response([*values, 1], epsilon=1, categories=[0.5, 1], budget=budget),
    }


@pytest.mark.parametrize("values", STRANGE, ids=str)
@pytest.mark.parametrize("query", asked([]))
def test_every_table_is_answered_and_paid_for(query, values):
    """A table with a missing, infinite, undeclared or wrongly typed value is answered as any other is."""
    budget = Budget(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        asked(values)[query](budget)
    assert budget.remaining == 0


@pytest.mark.parametrize("query", asked([]))
def test_a_warning_of_the_data_names_no_value_and_comes_after_the_budget_is_spent(query):
    budget = Budget(1)
    with pytest.raises(PrivacyWarning) as caught:  # warnings are errors here
        asked([0.5, "RareCanary"])[query](budget)
    assert budget.remaining == 0
    assert "RareCanary" not in str(caught.value)
    assert "position" not in str(caught.value)


def test_values_outside_the_domain_are_replaced_as_documented():
    with pytest.warns(PrivacyWarning, match="3 of `values`"):
        found = laplace_sum([1, np.nan, np.inf, -9], bounds=(-2, 3), epsilon=SURE, adjacency="replace")
    assert found.value == pytest.approx(1 + 0 + 3 - 2, abs=1e-3)
    with pytest.warns(PrivacyWarning):
        assert laplace_sum([np.nan] * 4, bounds=(2, 3), epsilon=SURE).value == pytest.approx(8, abs=1e-3)
    with pytest.warns(PrivacyWarning):
        counts = laplace_histogram(["a", "z", None, "a", "b"], categories=["a", "b"], epsilon=SURE).counts
    assert counts.tolist() == [2, 1]
    with pytest.warns(PrivacyWarning):
        assert laplace_histogram([0, 9, np.nan, 1], [0, 1, 2], epsilon=SURE).counts.tolist() == [2, 2]


def test_an_answer_outside_the_categories_is_reported_by_chance_alone():
    with pytest.warns(PrivacyWarning):
        found = randomised_response(["z"] * 4000, epsilon=SURE, categories=list("abcd"))
    assert found.responses.value_counts().between(850, 1150).all()  # 5.5 standard deviations


@pytest.mark.parametrize(
    ("column", "true"),
    [
        (pd.Series([True, None, False, True]), 2),
        (pd.Series([True, None, False], dtype="boolean"), 1),
        (pd.Series([True, False]), 1),
        (pd.Series([1.0, None, 2.0]), 3),
        (pd.Series(["a", None]), 2),
        ([True, float("nan")], 1),
    ],
)
def test_a_gap_in_a_column_of_truth_values_is_not_counted(column, true):
    assert laplace_count(column, epsilon=SURE).value == true


@pytest.mark.parametrize(("n", "granularity"), [(92, 1e-12), (93, 1e-12), (93, 1e-200), (2000, 0.1), (3, None)])
def test_a_sum_is_exact_on_every_grid(n, granularity):
    """92 and 93 records of 1e5 in steps of 1e-12 are more than 64 bits hold."""
    found = laplace_sum([1e5] * n, bounds=(0, 1e5), granularity=granularity, epsilon=SURE)
    assert found.value == pytest.approx(n * 1e5, abs=50 * found.scale + 1e-6)
    assert found.scale == pytest.approx(1e5 / SURE)
    low, high = found.interval(1 - 1e-12)
    assert low - 1e-6 <= n * 1e5 <= high + 1e-6


def test_large_totals_on_a_fine_grid_have_noise_of_the_stated_scale():
    totals = np.random.default_rng(0).integers(10**11, 10**12, 2000).astype(float)
    off = [laplace_sum(totals, bounds=(0, 1e12), epsilon=1, granularity=1e-8).value - totals.sum() for _ in range(300)]
    assert np.abs(off).mean() == pytest.approx(1e12, rel=0.35)  # 6 standard errors
    assert abs(np.mean(off)) < 6 * np.sqrt(2 / 300) * 1e12


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_does_not_repeat_the_noise_of_its_parent():
    rng = system_rng()
    rng.random()
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads that numba has started
        child = os.fork()
    if child == 0:
        os.write(write, rng.random(8).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = np.frombuffer(os.read(read, 64))
    os.close(read)
    os.close(write)
    assert not np.isin(rng.random(8), theirs).any()
