"""Shares with their intervals, and residual risk, against their definitions and a coverage count."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from reident.base import wilson_interval


@pytest.mark.parametrize(
    ("successes", "centre", "half"), [(850, 0.849, 0.022), (0, 0.002, 0.002), (1000, 0.998, 0.002)]
)
def test_wilson_is_as_anonymeter_computes_it(successes, centre, half):
    """Its own test of `success_rate` gives the middle and the half-width to three decimals."""
    rate = wilson_interval(successes, 1000)
    assert round((rate.low + rate.high) / 2, 3) == centre
    assert round((rate.high - rate.low) / 2, 3) == half
    assert rate.value == successes / 1000


@pytest.mark.parametrize(("successes", "trials", "level"), [(3, 17, 0.95), (0, 5, 0.9), (40, 40, 0.99), (2.5, 8, 0.8)])
def test_wilson_holds_the_shares_that_a_score_test_keeps(successes, trials, level):
    rate, z = wilson_interval(successes, trials, level=level), norm.ppf((1 + level) / 2)
    shares = np.linspace(1e-6, 1 - 1e-6, 20001)
    kept = shares[np.abs(successes / trials - shares) <= z * np.sqrt(shares * (1 - shares) / trials)]
    assert rate.low == pytest.approx(kept.min(), abs=1e-4)
    assert rate.high == pytest.approx(kept.max(), abs=1e-4)


def test_wilson_covers_the_true_share():
    """Averaged over shares, the exact coverage at n = 30 is close to the level (it oscillates around it)."""
    counts = np.arange(31)
    rates = [wilson_interval(int(count), 30) for count in counts]
    covered = [
        sum(binom.pmf(count, 30, p) for count in counts if rates[count].low <= p <= rates[count].high)
        for p in np.linspace(0.02, 0.98, 97)
    ]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize("trials", [1, 2, 3, 7, 30, 40, 99, 200, 1234])
def test_no_share_lies_beyond_its_interval(trials):
    for successes in range(trials + 1):
        rate = wilson_interval(successes, trials)
        assert 0 <= rate.low <= rate.value <= rate.high <= 1
