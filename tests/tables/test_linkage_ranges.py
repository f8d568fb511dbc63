import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from naive_linkage import corner_rows, zero_one_measures
from naive_linkage import squares as gaps
from reident import learn_linkage, link_records
from reident.tables import FuzzyMeasure

pytestmark = pytest.mark.whole


def files(seed, n=24, columns=3, noise=0.45):
    rng = np.random.default_rng(seed)
    original = pd.DataFrame(rng.normal(size=(n, columns)), columns=list("ABCDEFGH")[:columns])
    return original + rng.normal(scale=noise, size=original.shape), original


def linked(gap, weights):
    own = np.einsum("iic,wc->wi", gap, weights)
    distance = np.einsum("ijc,wc->wij", gap, weights)
    distance[:, np.arange(len(gap)), np.arange(len(gap))] = np.inf
    return own < distance.min(axis=2)


def extremes(gap, chosen, column):
    """Return the least and the greatest weight of a column among those that link the chosen records."""
    rows = [gap[i, i] - gap[i, j] for i in np.flatnonzero(chosen) for j in range(len(gap)) if i != j]
    unit = np.eye(gap.shape[2])[column]
    solved = [
        linprog(side * unit, np.array(rows), np.full(len(rows), -1e-7), np.ones((1, gap.shape[2])), [1], method="highs")
        for side in (1, -1)
    ]
    return solved[0].fun, -solved[1].fun


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ranges_of_weights_are_those_of_a_grid(seed):
    release, original = files(seed)
    learned = learn_linkage(release, original)
    ranges = learned.ranges(max_sets=2000)
    assert learned.is_optimal
    assert ranges.is_complete
    steps = 100
    grid = np.array([(i, j, steps - i - j) for i in range(steps + 1) for j in range(steps + 1 - i)]) / steps
    found = np.concatenate([linked(gaps(release, original), part) for part in np.array_split(grid, 20)])
    optimal = found.sum(axis=1) >= round(learned.ratio * len(release))
    best, sets = grid[optimal], np.unique(found[optimal], axis=0)
    low, high = ranges.shapley["low"].to_numpy(), ranges.shapley["high"].to_numpy()
    assert (best >= low - 1e-6).all()
    assert (best <= high + 1e-6).all()
    ends = np.array([[extremes(gaps(release, original), chosen, column) for column in range(3)] for chosen in sets])
    assert (ends[..., 0].min(axis=0) >= low - 1e-6).all()
    assert (ends[..., 1].max(axis=0) <= high + 1e-6).all()
    assert len(sets) <= ranges.n_sets
    if len(sets) == ranges.n_sets:  # the grid meets every set that matters: the ends are theirs
        assert ends[..., 0].min(axis=0) == pytest.approx(low, abs=1e-4)
        assert ends[..., 1].max(axis=0) == pytest.approx(high, abs=1e-4)
    for i, j in itertools.permutations(range(3), 2):
        if ranges.ahead.iloc[i, j]:
            assert (best[:, i] > best[:, j]).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_ranges_of_measures_are_those_of_full_programmes(seed):
    release, original = files(seed, n=14)
    learned = learn_linkage(release, original, model="choquet")
    ranges = learned.ranges(max_sets=1)
    names = list(original.columns)
    made = link_records(release, original, columns=names, distance=learned.measure).links
    linked = [original.index.get_loc(label) for label in made.loc[made["credit"] == 1, "release"]]
    rows = np.vstack([corner_rows(release, original, "choquet")[i] for i in linked])
    corners = [FuzzyMeasure(values, names) for values in zero_one_measures(3)]

    def least(objective):
        """Return the least value over mixtures of the extreme measures, of their own values."""
        solved = linprog(objective, -rows, np.full(len(rows), -1e-7), np.ones((1, len(corners))), [1], method="highs")
        assert solved.success
        return solved.fun

    def assert_range(found, objective):
        assert tuple(found) == pytest.approx((least(objective), -least(-objective)), abs=1e-4)

    for name in names:
        assert_range(ranges.shapley.loc[name], np.array([corner.shapley()[name] for corner in corners]))
    for chosen in itertools.chain.from_iterable(itertools.combinations(names, size) for size in (1, 2)):
        assert_range(ranges.measure.loc[[chosen]].iloc[0], np.array([corner[chosen] for corner in corners]))
