import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from privacy_loss import seeded
from reident import ParameterError, queries
from reident.queries.impossibility import toeplitz_bits
from reident.queries.median_mechanism import small_databases

pytestmark = pytest.mark.filterwarnings("ignore::reident.PrivacyWarning")

LEVEL = 1e-4


def positions(scores, n, seed, **kws):
    generator = np.random.default_rng(seed)
    candidates = range(len(scores))
    return seeded(
        lambda: [queries.exponential_mechanism(candidates, scores, rng=generator, **kws).position for _ in range(n)]
    )


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=8), st.floats(0.05, 3), st.booleans())
def test_probabilities_are_those_of_the_definition(scores, epsilon, monotone):
    rate = epsilon / (1 if monotone else 2)
    weights = [math.exp(rate * score) for score in scores]
    ref = np.array(weights) / math.fsum(weights)
    assert queries.choice_probabilities(scores, epsilon=epsilon, monotone=monotone) == pytest.approx(ref, rel=1e-9)


def test_huge_scores_do_not_overflow():
    assert queries.choice_probabilities([1e6, 1e6 - 2, -1e6], epsilon=1) == pytest.approx(
        np.array([1, math.exp(-1), 0]) / (1 + math.exp(-1))
    )
    assert queries.exponential_mechanism("ab", [1e9, -1e9], epsilon=1).chosen == "a"


@pytest.mark.parametrize("scores", [[3, 1, 0, 3], [0.0, 0.3, 0.9], [5.0]])
def test_choices_follow_the_probabilities(scores):
    n = 1500
    observed = np.bincount(positions(scores, n, 4, epsilon=1.5), minlength=len(scores))
    expected = n * queries.choice_probabilities(scores, epsilon=1.5)
    if len(scores) > 1:
        assert stats.chisquare(observed, expected).pvalue > LEVEL
    assert observed.sum() == n


def test_numbers_of_chapter_2():
    assert queries.self_information(1 / 2) == 1
    assert round(queries.self_information(1 / 6), 3) == 2.585
    # 2.2.3: one event of .99 and countless others: much entropy, and yet easy to guess.
    rare = [0.99, *[0.01 / 2**20] * 2**20]
    assert queries.min_entropy(rare) == pytest.approx(-math.log2(0.99))


def test_distance_is_the_largest_difference_of_an_event():
    """Lemma 2.11, by all events."""
    p, q = [0.5, 0.3, 0.2, 0.0], [0.1, 0.3, 0.35, 0.25]
    events = itertools.chain.from_iterable(itertools.combinations(range(4), r) for r in range(5))
    largest = max(abs(sum(p[i] for i in event) - sum(q[i] for i in event)) for event in events)
    assert queries.statistical_distance(p, q) == pytest.approx(largest)


def extract(seed, word, n, m):
    return [sum(seed[row + i] * word[i] for i in range(n)) % 2 for row in range(m)]


def test_toeplitz_bits_equal_a_loop_and_are_pairwise_independent():
    n, m = 3, 2
    found = toeplitz_bits(n, m)
    for s, w in itertools.product(range(2 ** (n + m - 1)), range(2**n)):
        bits = extract([s >> i & 1 for i in range(n + m - 1)], [w >> i & 1 for i in range(n)], n, m)
        assert found[s, w] == sum(bit << row for row, bit in enumerate(bits))
    # Any two different words that are not 0 take all pairs of values equally often.
    for a, b in itertools.combinations(range(1, 2**n), 2):
        differ = found[:, a] ^ found[:, b]
        assert (np.bincount(differ, minlength=2**m) == len(found) / 2**m).all()


def best_without(joint):
    """For each piece of side information name the likeliest breach, by a loop over all that can happen."""
    size_w, size_y = joint.shape
    n, m = size_w.bit_length() - 1, size_y.bit_length() - 1
    r = toeplitz_bits(n, m)
    wins = 0.0
    for s, c in itertools.product(range(len(r)), range(size_y)):
        wins += max(sum(joint[w, y] for w in range(size_w) if y ^ r[s, w] == c) for y in range(size_y))
    return wins / len(r)


@pytest.mark.parametrize("seed", range(3))
def test_the_game_equals_enumeration_and_the_leftover_hash_lemma_holds(seed):
    joint = np.random.default_rng(seed).dirichlet([0.5] * 64).reshape(16, 4) * 0.9
    game = queries.impossibility_game(joint)
    assert game.with_sanitiser == pytest.approx(0.9)
    assert game.without == pytest.approx(best_without(joint))
    assert game.baseline - 1e-12 <= game.without <= game.baseline + game.distance + 1e-12
    # Lemma 4.3 in the form "distance at most half the root of 2 ** (bits - entropy)", given the worst breach.
    assert game.distance <= 0.5 * math.sqrt(2 ** (2 - game.utility_entropy)) + 1e-12


def test_small_databases_are_all_of_them():
    found = small_databases(8, 6)
    assert len(found) == 3003
    naive = {counts for counts in itertools.product(range(4), repeat=3) if sum(counts) <= 3}
    assert set(map(tuple, small_databases(3, 3).tolist())) == naive


def queries_of(n_items, n, seed):
    return np.random.default_rng(seed).integers(0, 2, (n, n_items))


def test_easy_queries_cost_nothing_and_hard_ones_are_counted():
    databases = small_databases(8, 6)
    budget = queries.Budget(5)
    data = 300 * np.array([3, 0, 0, 1, 0, 0, 2, 0])
    mechanism = queries.MedianMechanism(
        data, databases, epsilon=5, max_hard=10, tolerance=140, unit=300, budget=budget, rng=1
    )
    assert budget.remaining == 0
    asked = queries_of(8, 300, 2)
    answers = [mechanism.answer(query) for query in asked]
    hard = sum(answer.is_hard for answer in answers)
    assert mechanism.hard_left == 10 - hard
    assert 1 <= hard < 10
    # An easy answer lies farther off than the tolerance only by the noise of the comparison, of scale 16.
    assert max(abs(answer.value - query @ data) for answer, query in zip(answers, asked, strict=True)) <= 140 + 200


def test_hard_queries_run_out():
    databases = small_databases(4, 3)
    mechanism = queries.MedianMechanism([3, 0, 0, 0], databases, epsilon=1000, max_hard=1, tolerance=0, rng=1)
    assert mechanism.answer([1, 0, 0, 0]).is_hard
    with pytest.raises(ParameterError, match="were hard"):
        mechanism.answer([1, 0, 0, 0])
