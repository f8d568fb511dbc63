"""Differencing against sums over every record, and what differential privacy bounds."""

import math

import numpy as np
import pytest

from reident.tables import differencing_attack
from reident.tables.k_epsilon import class_noise_scales, simulate_class_noise


def naive_log_likelihood(value, original, release, members, target, epsilon, width):
    """Add the log-densities of all noise that would have been drawn had the target this value."""
    values = {i: value if i == target else original[i] for i in members}
    scale = (width or max(values.values()) - min(values.values())) / epsilon
    return sum(-math.log(2 * scale) - abs(release[i] - values[i]) / scale for i in members)


@pytest.mark.parametrize("width", [None, 100.0])
def test_evidence_is_that_of_all_densities(width):
    rng = np.random.default_rng(3)
    original, classes = rng.uniform(140, 200, 14), np.repeat([0, 1], [5, 9])
    scales = class_noise_scales(original, classes, epsilon=2, width=width)
    release = simulate_class_noise(original, classes, scales, rng=rng)
    attack = differencing_attack(original, release, classes, [1, 8], epsilon=2, bounds=(120, 220), width=width)
    for row in attack.table.itertuples():
        members = np.flatnonzero(classes == classes[row.record])
        values = np.unique([*np.linspace(120, 220, 401), original[row.record]])
        ref = np.array(
            [naive_log_likelihood(v, original, release, members, row.record, 2, width) for v in values.tolist()]
        )
        assert row.evidence == pytest.approx(ref.max() - ref.min())
        share = np.cumsum(np.exp(ref - ref.max()))
        assert row.guess == values[np.searchsorted(share / share[-1], 0.5)]
        assert row.low <= row.guess <= row.high


def test_public_bounds_keep_the_promise_and_the_range_of_a_class_does_not():
    rng = np.random.default_rng(0)
    original, classes = rng.normal(170, 8, 400), np.repeat(np.arange(4), 100)
    tallest = [int(np.flatnonzero(classes == c)[original[classes == c].argmax()]) for c in range(4)]
    found = {}
    for width in (None, 100.0):
        scales = class_noise_scales(original, classes, epsilon=0.05, width=width)
        release = simulate_class_noise(original, classes, scales, rng=rng)
        found[width] = differencing_attack(
            original, release, classes, tallest, epsilon=0.05, bounds=(170, 220), width=width
        )
    assert found[100.0].broken == 0
    assert found[100.0].table["evidence"].max() <= 0.05 + 1e-12
    # At epsilon .05 a single noisy height is worth nothing; the noise of the other 99 tells the range to a tenth.
    assert found[None].broken == 1
    told, prior = (found[width].table.eval("high - low").mean() for width in (None, 100.0))
    assert told < 25
    assert prior == pytest.approx(45, abs=2)


def test_a_class_of_one_value_is_certain():
    attack = differencing_attack([5.0, 5, 5], [5.0, 5, 5], [0, 0, 0], [0], epsilon=1, bounds=(0, 10))
    row = attack.table.iloc[0]
    assert (row["guess"], row["low"], row["high"], row["evidence"]) == (5, 5, 5, np.inf)
