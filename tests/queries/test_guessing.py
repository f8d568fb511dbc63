"""Entropies with the printed numbers, and chapter 4 executed: by enumeration against loops over words and seeds."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from reident.queries import impossibility_game, min_entropy, self_information, statistical_distance
from reident.queries.impossibility import toeplitz_bits


def test_numbers_of_chapter_2():
    assert self_information(1 / 2) == 1
    assert round(self_information(1 / 6), 3) == 2.585
    # 2.2.3: one event of .99 and countless others: much entropy, and yet easy to guess.
    rare = [0.99, *[0.01 / 2**20] * 2**20]
    assert min_entropy(rare) == pytest.approx(-math.log2(0.99))


def test_distance_is_the_largest_difference_of_an_event():
    """Lemma 2.11, by all events."""
    p, q = [0.5, 0.3, 0.2, 0.0], [0.1, 0.3, 0.35, 0.25]
    events = itertools.chain.from_iterable(itertools.combinations(range(4), r) for r in range(5))
    largest = max(abs(sum(p[i] for i in event) - sum(q[i] for i in event)) for event in events)
    assert statistical_distance(p, q) == pytest.approx(largest)


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
    game = impossibility_game(joint)
    assert game.with_sanitiser == pytest.approx(0.9)
    assert game.without == pytest.approx(best_without(joint))
    assert game.baseline - 1e-12 <= game.without <= game.baseline + game.distance + 1e-12
    # Lemma 4.3 in the form "distance at most half the root of 2 ** (bits - entropy)", given the worst breach.
    assert game.distance <= 0.5 * math.sqrt(2 ** (2 - game.utility_entropy)) + 1e-12
