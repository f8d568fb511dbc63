import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from privacy_loss import assert_loss_at_most, seeded
from reident import laplace_histogram
from reident.queries import laplace_count, laplace_sum

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
