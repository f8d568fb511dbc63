"""The bound on a privacy loss: coverage, a naive twin, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from reident.queries import privacy_loss_bound


def naive(left, right, level):
    """Return the bound by plain loops over events and exact binomial intervals of scipy's own test."""
    outcomes = sorted({*left, *right})
    events = [lambda x, o=o: x == o for o in outcomes]
    events += [lambda x, o=o: x <= o for o in outcomes] + [lambda x, o=o: x >= o for o in outcomes]
    inner = 1 - 2 * (1 - level) / (2 * len(events))
    worst = -math.inf
    for event in events:
        for one, other in ((left, right), (right, left)):
            low, high = (
                stats.binomtest(sum(map(event, sample)), len(sample)).proportion_ci(inner, "exact")[side]
                for sample, side in ((one, 0), (other, 1))
            )
            if low > 0:
                worst = max(worst, math.log(low / high))
    return worst


@pytest.mark.parametrize("seed", range(3))
def test_equals_plain_loops(seed):
    generator = np.random.default_rng(seed)
    left, right = generator.integers(0, 4, 60).tolist(), (generator.integers(0, 4, 50) // 2).tolist()
    assert privacy_loss_bound(left, right, level=0.9) == pytest.approx(naive(left, right, 0.9))
    assert privacy_loss_bound(right, left, level=0.9) == pytest.approx(naive(left, right, 0.9))


def test_seldom_exceeds_the_true_loss_and_comes_near_it():
    """Coins with 3/4 and 1/4: a loss of log 3. Of 200 bounds at .9 far fewer than 20 may lie above."""
    generator = np.random.default_rng(1)
    bounds = [
        privacy_loss_bound(generator.random(2000) < 0.75, generator.random(2000) < 0.25, level=0.9) for _ in range(200)
    ]
    assert sum(bound > math.log(3) for bound in bounds) <= 20
    assert np.median(bounds) > 0.8 * math.log(3)


def test_equal_samples_show_nothing():
    assert privacy_loss_bound([1, 2, 3] * 20, [1, 2, 3] * 20) < 0
