import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from privacy_loss import assert_loss_at_most, loss_bounds, seeded
from reident import PrivacyWarning
from reident.queries import discrete_laplace, privacy_loss_bound, simulation_laplace
from reident.queries.entropy import bernoulli, bernoulli_each, exponential_probability, logistic_probability, rational
from reident.queries.laplace import grid_granularity, snap_to_grid

LEVEL = 1e-4  # of every statistical test below; the seeds are fixed


def noise(scale, granularity, size=None, *, seed=1):
    return seeded(discrete_laplace, scale, granularity, size, rng=seed)


def mass(scale, granularity, steps):
    """Return the probability of `steps` grid steps, summed directly instead of from a closed form."""
    a = granularity / scale
    total = math.fsum(math.exp(-abs(k) * a) for k in range(-int(60 / a) - 2, int(60 / a) + 3))
    return np.exp(-np.abs(steps) * a) / total


def series_exp(x: Fraction, terms: int = 120) -> Fraction:
    """Return exp(x) by its series in rational arithmetic."""
    return sum((x**n / math.factorial(n) for n in range(terms)), Fraction(0))


def bits(source_bytes: list[int]):
    """Return an entropy source that hands out the given 16-bit words in turn."""
    stream = iter(source_bytes)
    return lambda n: np.array(list(itertools.islice(stream, n // 2)), dtype=np.uint16).tobytes()


@given(st.fractions(min_value=Fraction(1, 1000), max_value=12, max_denominator=1000))
def test_digits_of_a_probability_are_those_of_the_series(exponent):
    for made, ref in (
        (exponential_probability(exponent), 1 / series_exp(exponent)),
        (logistic_probability(exponent), 1 / (1 + series_exp(exponent))),
        (rational(exponent / 13), exponent / 13),
    ):
        comp = [made.digit(level) for level in range(6)]
        assert comp == [math.floor(ref * 2 ** (16 * (level + 1))) % 2**16 for level in range(6)]


def test_an_undecided_coin_goes_on_to_further_digits():
    third = rational(Fraction(1, 3))  # every digit is 0x5555
    assert bernoulli(third, 2, bits([0x5555, 0x5556, 0x5555, 0x5554])).tolist() == [True, False]
    assert bernoulli_each(np.array([1 / 3]), lambda _: third, bits([0x5555, 0x5555, 0x5556])).tolist() == [False]
    half = rational(Fraction(1, 2))
    asked = []
    tossed = bernoulli_each(np.array([0.5]), lambda position: asked.append(position) or half, bits([0x7FFF]))
    assert tossed.tolist() == [True]
    assert asked == [0], "a probability on a digit's border is settled exactly"


@pytest.mark.parametrize(("scale", "granularity"), [(1 / math.log(2), 1), (3.0, 0.25), (0.2, 1.0), (50.0, 1.0)])
@pytest.mark.parametrize("form", ["one scale", "an array of scales"])
def test_distribution_is_the_discrete_laplace(scale, granularity, form):
    n = 20_000
    drawn = noise(scale if form == "one scale" else np.full(n, scale), granularity, n, seed=7) / granularity
    assert (drawn == np.rint(drawn)).all()
    reach = int(stats.laplace.ppf(1 - 20 / n, scale=scale) / granularity) + 1
    inside = np.arange(-reach, reach + 1)
    probability = mass(scale, granularity, inside)
    expected = np.append(probability, max(1 - probability.sum(), 1e-12)) * n
    observed = np.append([(drawn == k).sum() for k in inside], (np.abs(drawn) > reach).sum())
    keep = expected >= 5
    expected, observed = (
        np.append(part[keep], part[~keep].sum()) if (~keep).any() else part for part in (expected, observed)
    )
    expected *= observed.sum() / expected.sum()
    assert stats.chisquare(observed[expected > 0], expected[expected > 0]).pvalue > LEVEL


def test_privacy_loss_of_a_count_is_at_most_epsilon():
    epsilon, n = 0.5, 100_000
    one = 100 + noise(1 / epsilon, 1, n, seed=11)
    other = 101 + noise(1 / epsilon, 1, n, seed=12)
    assert_loss_at_most(one, other, epsilon, level=LEVEL)
    # The test has teeth: it shows that half of epsilon is exceeded, and that noise of half the scale leaks.
    assert loss_bounds(one, other, level=LEVEL) > epsilon / 2
    halved = [value + noise(0.5 / epsilon, 1, n, seed=13 + value) for value in (100, 101)]
    assert loss_bounds(*halved, level=LEVEL) > epsilon


def test_support_gives_nothing_away_while_that_of_float_noise_does():
    values = (0.1, 0.3)
    granularity = 2.0**-6
    released = [set(snap_to_grid(value, granularity) + noise(0.05, granularity, 5000)) for value in values]
    common = released[0] & released[1]
    assert all(point % granularity == 0 for point in released[0] | released[1])
    assert len(common) > 0.7 * len(released[0])
    # The doubles that 0.1 plus floating-point noise reaches tell it from 0.3 plus such noise.
    naive = [set(value + simulation_laplace(0.05, 5000, rng=3)) for value in values]
    assert not naive[0] & naive[1]


def test_secure_by_default_and_different_every_time():
    assert not np.array_equal(discrete_laplace(5, 2.0**-10, 50), discrete_laplace(5, 2.0**-10, 50))
    with pytest.warns(PrivacyWarning, match="carries no privacy guarantee"):
        first = discrete_laplace(5, 1, 50, rng=0)
    assert np.array_equal(first, noise(5, 1, 50, seed=0)), "seed 0 is a seed"


@given(st.floats(1e-6, 1e6), st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=5))
def test_snapping_keeps_the_sensitivity(sensitivity, values):
    step = grid_granularity(sensitivity)
    assert sensitivity / 2048 <= step <= sensitivity / 1024
    reach = math.ceil(sensitivity / step) * step
    values = np.asarray(values)
    moved = snap_to_grid(values + sensitivity, step) - snap_to_grid(values, step)
    slack = 4 * np.spacing(np.abs(values).max() + sensitivity) // step * step + step
    assert (moved <= reach + (slack if np.spacing(np.abs(values).max()) > step / 8 else 0)).all()


def naive_loss_bound(left, right, level):
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
    assert privacy_loss_bound(left, right, level=0.9) == pytest.approx(naive_loss_bound(left, right, 0.9))
    assert privacy_loss_bound(right, left, level=0.9) == pytest.approx(naive_loss_bound(left, right, 0.9))
