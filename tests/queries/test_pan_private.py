import math

import numpy as np
import pytest
from scipy import stats

from privacy_loss import seeded
from reident import ParameterError, PrivacyWarning
from reident.queries import Budget, PanPrivateDensity
from reident.queries.pan_private import pan_privacy_loss

LEVEL = 1e-4


def test_exact_loss_is_within_two_epsilon_and_the_printed_one_is_not():
    for epsilon in (0.01, 0.1, 0.5, 1, 1.25, 1.5):
        assert pan_privacy_loss(epsilon) <= 2 * epsilon
        assert pan_privacy_loss(epsilon, variant="printed") > 3.32
    assert pan_privacy_loss(1e-6, variant="printed") == pytest.approx(math.log((1 + math.exp(4)) / 2), abs=1e-4)


@pytest.mark.parametrize("epsilon", [0.4, 1.3])
@pytest.mark.parametrize("variant", ["corrected", "printed"])
def test_exact_loss_equals_a_direct_enumeration(epsilon, variant):
    one = 0.5 + epsilon / 4
    rate = epsilon if variant == "corrected" else 4
    answers = range(-40, 42)

    def joint(before, after):
        table = {}
        for look in (0, 1):
            p_look = (one if look else 1 - one) if before else 0.5
            for last in (0, 1):
                p_last = (one if last else 1 - one) if after else float(last == look)
                for answer in answers:
                    key = (look, answer)
                    table[key] = table.get(key, 0) + p_look * p_last * math.exp(-rate * abs(answer - last))
        return table

    tables = [joint(before, after) for before in (False, True) for after in (False, True)]
    ref = max(abs(math.log(a[key] / b[key])) for a in tables for b in tables for key in a)
    assert pan_privacy_loss(epsilon, variant=variant) == pytest.approx(ref, rel=1e-9)


def test_the_memory_alone_has_the_stated_bias_however_often_an_item_appears():
    bits = seeded(PanPrivateDensity, 60_000, epsilon=0.8, rng=1)
    bits.update(np.arange(20_000))
    bits.update(np.repeat(np.arange(20_000, 40_000), 5))
    state = bits.memory()
    for part, probability in ((state[:20_000], 0.7), (state[20_000:40_000], 0.7), (state[40_000:], 0.5)):
        assert stats.binomtest(int(part.sum()), part.size, probability).pvalue > LEVEL


def test_estimate_is_unbiased_and_its_interval_covers():
    n, size, true = 400, 500, 0.3
    answers = []
    for seed in range(n):
        density = seeded(PanPrivateDensity, size, epsilon=1, rng=seed)
        density.update(np.arange(150))
        answers.append(density.result())
    values = np.array([answer.value for answer in answers])
    bits = (true * 0.75 * 0.25 + (1 - true) * 0.25) / size
    noise = 2 * math.exp(-1) / (1 - math.exp(-1)) ** 2 / size**2
    deviation = 4 * math.sqrt(bits + noise)
    assert abs(values.mean() - true) < stats.norm.isf(LEVEL / 2) * deviation / math.sqrt(n)
    assert values.std(ddof=1) == pytest.approx(deviation, rel=0.15)
    covered = sum(low <= true <= high for low, high in (answer.interval(0.9) for answer in answers))
    assert stats.binomtest(covered, n, 0.9, alternative="less").pvalue > LEVEL


def test_nothing_is_remembered_but_bits_and_public_facts():
    """Streams of very different length leave memories of the same form: there is no counter to compare."""
    densities = []
    for events in ([], [3] * 10_000):
        density = seeded(PanPrivateDensity, 50, epsilon=1, rng=4)
        density.update(events)
        densities.append(density)
    first, second = ({k: v for k, v in vars(density).items() if k not in ("_bits", "_source")} for density in densities)
    assert first == second
    assert (densities[0].memory() != densities[1].memory()).sum() <= 1


def test_a_budget_stops_construction_and_answers():
    with pytest.raises(ParameterError, match="memory of a density"):
        PanPrivateDensity(3, epsilon=1, budget=Budget(0.5))
    density = PanPrivateDensity(3, epsilon=1, budget=Budget(1.5))
    with pytest.raises(ParameterError, match="for density"):
        density.result()


def test_seeds_warn_and_mark_the_answer():
    with pytest.warns(PrivacyWarning):
        density = PanPrivateDensity(3, epsilon=1, rng=1)
    assert not density.result().private
    assert not PanPrivateDensity(3, epsilon=1, variant="printed").result().private
    assert PanPrivateDensity(3, epsilon=1).result().private
