"""Mechanism. Random bits for a real release, and exact coin tosses made from them.

A floating-point uniform has gaps, and what is computed from it has gaps that depend on the secret. The draws here use
whole random words only: a coin with any computable probability is tossed by comparing random digits with the digits
of the probability until they differ, which is exact.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from reident.base import BoolArray, FloatArray, IntArray, PrivacyWarning, RNGLike, check_rng

#: Returns this many random bytes.
Entropy = Callable[[int], bytes]

_WORD_BITS = 16


def entropy_source(rng: RNGLike) -> Entropy:
    """Return the operating system's entropy for None; a generator's bytes, with a `PrivacyWarning`, for anything else.

    Warns
    -----
    PrivacyWarning
        If `rng` is not None: with the seed or the generator's state the noise can be repeated and subtracted.
    """
    if rng is None:
        return os.urandom
    generator = check_rng(rng)
    warnings.warn(
        "`rng` was given: noise that can be repeated carries no privacy guarantee, use it for tests and "
        "simulations only; for a release leave `rng` None, which draws from the operating system",
        PrivacyWarning,
        stacklevel=3,
    )
    return generator.bytes


class Probability:
    """A probability as an endless sequence of 16-bit digits, computed as far as they are needed.

    `floor` returns the whole part of the probability times 2 ** n_bits.
    """

    def __init__(self, floor: Callable[[int], int]) -> None:
        self._floor = floor
        self._digits: list[int] = []

    def digit(self, level: int) -> int:
        """Return the digit with weight 2 ** (-16 (level + 1))."""
        if level >= len(self._digits):
            n_digits = max(4, 2 * (level + 1))
            whole = self._floor(n_digits * _WORD_BITS)
            places = reversed(range(n_digits))
            self._digits = [(whole >> (_WORD_BITS * place)) & ((1 << _WORD_BITS) - 1) for place in places]
        return self._digits[level]


def rational(value: Fraction) -> Probability:
    """Return a rational probability in [0, 1)."""
    return Probability(lambda n_bits: math.floor(value * (1 << n_bits)))


def computed(evaluate: Callable[[Context], Decimal]) -> Probability:
    """Return an irrational probability from a formula with an absolute error below 10 ** (4 - precision)."""

    def floor(n_bits: int) -> int:
        precision = 16 + n_bits // 3
        while True:
            context = Context(prec=precision, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
            value, error = evaluate(context), Fraction(1, 10 ** (precision - 4))
            if value.adjusted() < 4 - precision:  # as a fraction it could have as many digits as epsilon is large
                value, error = Decimal(0), 2 * error
            # Inside (0, 1), whose ends an irrational number may lie nearer to than any digit tells.
            low, high = (
                min(math.floor(max(Fraction(value) + error * sign, Fraction(0)) * (1 << n_bits)), (1 << n_bits) - 1)
                for sign in (-1, 1)
            )
            if low == high:
                return low
            precision *= 2

    return Probability(floor)


def ratio(value: Fraction, context: Context) -> Decimal:
    """Return a fraction to the digits of a context."""
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


@lru_cache(maxsize=4096)
def exponential_probability(exponent: Fraction) -> Probability:
    """Return exp(-`exponent`), `exponent` > 0 and rational."""
    return computed(lambda context: context.exp(ratio(-exponent, context)))


@lru_cache(maxsize=4096)
def logistic_probability(exponent: Fraction) -> Probability:
    """Return 1 / (1 + exp(`exponent`)), `exponent` rational."""

    def evaluate(context: Context) -> Decimal:
        # exp of a negative number stays below 1: the absolute error is that of the last digit.
        small = context.exp(ratio(-abs(exponent), context))
        top = small if exponent > 0 else Decimal(1)
        return context.divide(top, context.add(Decimal(1), small))

    return computed(evaluate)


def bernoulli(probability: Probability, size: int, source: Entropy) -> BoolArray:
    """Toss `size` independent coins that show True with exactly this probability.

    Notes
    -----
    A uniform number is below the probability exactly if, at the first digit where they differ, its digit is the
    smaller. Random digits are drawn only as far as needed: 16 bits a coin, and further ones for one coin in 65,536.
    """
    words = random_words(size, source)
    result: BoolArray = words < probability.digit(0)
    undecided = np.flatnonzero(words == probability.digit(0))
    level = 1
    while undecided.size:
        words = random_words(undecided.size, source)
        result[undecided] = words < probability.digit(level)
        undecided = undecided[words == probability.digit(level)]
        level += 1
    return result


def bernoulli_each(approximate: FloatArray, exact: Callable[[int], Probability], source: Entropy) -> BoolArray:
    """Toss one coin for each probability, exactly, although most are known in double precision only.

    Parameters
    ----------
    approximate : ndarray of float64, shape (n,)
        The probabilities, positive, with an absolute error below 1e-15.
    exact : callable
        Takes a position and returns the exact probability there. Asked where double precision does not settle the
        first 16-bit digit, and for the one coin in 65,536 whose random digit equals it.
    source : callable
        Random bytes.
    """
    scaled = approximate * (1 << _WORD_BITS)
    first = np.floor(scaled).astype(np.int64)
    nearest = np.rint(scaled)
    for position in np.flatnonzero((np.abs(scaled - nearest) < 1e-9) & (nearest > 0)):
        first[position] = exact(int(position)).digit(0)
    words = random_words(approximate.size, source)
    result: BoolArray = words < first
    for position in np.flatnonzero(words == first):
        probability, level, word, digit = exact(int(position)), 0, 0, 0
        while word == digit:
            level += 1
            word, digit = int(random_words(1, source)[0]), probability.digit(level)
        result[position] = word < digit
    return result


def random_words(size: int, source: Entropy) -> NDArray[np.uint16]:
    """Return `size` uniform 16-bit words."""
    return np.frombuffer(source(2 * size), dtype=np.uint16)


def random_below(bound: int, size: int, source: Entropy) -> IntArray:
    """Return `size` uniform whole numbers in [0, bound), without the bias of a remainder."""
    limit = (1 << 64) - (1 << 64) % bound
    result = np.empty(size, dtype=np.uint64)
    missing = np.arange(size)
    while missing.size:
        words = np.frombuffer(source(8 * missing.size), dtype=np.uint64)
        fits = words <= limit - 1
        result[missing[fits]] = words[fits] % np.uint64(bound)
        missing = missing[~fits]
    return result.astype(np.int64)
