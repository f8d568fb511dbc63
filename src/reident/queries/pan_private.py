"""Mechanism. Density of a stream with a state that may be seen: pan-privacy."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reident.base import (
    FloatArray,
    IntArray,
    ParameterError,
    RNGLike,
    afford,
    check_array,
    check_choice,
    check_epsilon,
    check_integer,
    check_level,
    check_names,
)
from reident.queries.budget import Budget, spend
from reident.queries.domain import category_positions, warn_replaced
from reident.queries.entropy import Entropy, bernoulli, entropy_source, rational
from reident.queries.laplace import grid_noise

#: Claim 6.2 holds for epsilon up to 3/2 (exactly: 1.593...).
LARGEST_EPSILON = Fraction(3, 2)
VARIANTS = ("corrected", "printed")


@dataclass(frozen=True)
class DensityAnswer:
    """The estimated share of the universe that appeared in the stream.

    Attributes
    ----------
    value : float
        The estimate, unbiased; it may leave [0, 1].
    epsilon : float
        The parameter of the algorithm. The guarantee for the state seen once and this answer together is 2 epsilon.
    universe_size : int
        Number of declared items.
    variant : str
        ``"printed"`` carries no guarantee.
    private : bool
        False if the randomness was seeded or the variant is the printed one.
    """

    value: float
    epsilon: float
    universe_size: int
    variant: str
    private: bool

    def __float__(self) -> float:
        return self.value

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval for the true density by Hoeffding's bound and the Laplace tail, within [0, 1]."""
        check_level(level, "level")
        reach = density_error_bound(self.universe_size, epsilon=self.epsilon, failure=1 - level, variant=self.variant)
        return max(0.0, self.value - reach), min(1.0, self.value + reach)


class PanPrivateDensity:
    """Estimate which share of a declared universe appears in a stream, while the memory itself stays private.

    Protects each item (a user) with all its occurrences: an observer of the memory once, between two updates, and of
    the answer at the end learns at most 2 epsilon about whether the item ever appeared. It does not protect against a
    second look at the memory, nor against seeing an update while it runs (an update is taken to be one atomic step).

    Parameters
    ----------
    universe : int or sequence
        The items that may appear: their number (items 0, 1, ...) or the items themselves. Declared, not observed.
    epsilon : number
        In (0, 3/2]. Loss of the memory, and again of each answer.
    variant : {"corrected", "printed"}
        ``"printed"`` is Algorithm 6.1 as it stands, for study only: its answer leaks.
    budget : Budget, optional
        Charged epsilon here for the memory and epsilon for each answer.
    rng : optional
        None for real use. A seed or generator is for simulations.

    Raises
    ------
    ParameterError
        If epsilon is not in (0, 3/2], the universe is empty or repeats an item.

    Notes
    -----
    Vanhoef (2012), Algorithm 6.1. Each item has a bit, first a fair coin; whenever the item appears, its bit is drawn
    anew with probability 1/2 + epsilon / 4 of a one. The density is 4 (share of ones - 1/2) / epsilon.

    Erratum 10: the document adds Lap(1 / (epsilon n)) to the density, n the universe's size, but one bit changes the
    density by 4 / (epsilon n), so that the loss of the pair (memory, answer) reaches 3.33 however small epsilon is
    (`pan_privacy_loss`). Corrected: Lap(4 / (epsilon**2 n)), here as discrete noise of scale 1 / epsilon on the number
    of ones. Cases b = 0 and 1 of (6.13)-(6.17) are exchanged in the document; the claim holds. Erratum 11:
    Definition 6.6 must say that the streams agree after removing some item, not every item.

    No number of events is kept anywhere: streams of very different length are neighbours, and a counter would tell
    them apart. A batch is one atomic step; drawing an item's bit once for all its occurrences in the batch has the same
    distribution as drawing it for each.

    Examples
    --------
    >>> density = PanPrivateDensity(10_000, epsilon=1)
    >>> density.update(range(5_000))
    >>> low, high = density.result().interval(.99)
    >>> low <= .5 <= high
    True
    """

    def __init__(
        self,
        universe: int | Sequence[Hashable],
        *,
        epsilon: Any,
        variant: str = "corrected",
        budget: Budget | None = None,
        rng: RNGLike = None,
    ) -> None:
        self._index, size = _universe(universe)
        self._epsilon = _check_epsilon(epsilon)
        self._variant = check_choice(variant, "variant", VARIANTS)
        self._source: Entropy = entropy_source(rng)
        self._budget = budget
        spend(budget, self._epsilon, "memory of a density")
        self._private = rng is None
        self._bits = bernoulli(rational(Fraction(1, 2)), size, self._source).view(np.uint8)

    def update(self, items: Any) -> None:
        """Take in one item or a batch of items, as one atomic step.

        Items outside the universe are left out with a `PrivacyWarning`: their number is for the keeper of the data
        only.
        """
        positions = self._positions(items)
        known = (positions >= 0) & (positions < self._bits.size)
        warn_replaced(int((~known).sum()), "of `items` do not belong to the declared `universe` and were left out")
        positions = positions[known]
        if positions.size > self._bits.size:
            flags = np.zeros(self._bits.size, dtype=np.bool_)
            flags[positions] = True
            positions = np.flatnonzero(flags)
        # An item that occurs twice in the batch gets one of two draws alike: no need to look for repetitions.
        self._bits[positions] = bernoulli(rational(_one(self._epsilon)), positions.size, self._source)

    def _positions(self, items: Any) -> IntArray:
        if isinstance(items, str) or not hasattr(items, "__len__"):
            items = list(items) if hasattr(items, "__next__") else [items]
        if self._index is not None:
            return category_positions(items, self._index)[0]
        listed = check_array(items, "items", None)
        if listed.size and listed.dtype.kind not in "iu":
            raise ParameterError(
                f"`items` must be whole numbers below {self._bits.size}, as the universe was declared by its size, "
                f"got {listed.dtype}"
            )
        return np.minimum(listed.reshape(-1), self._bits.size).astype(np.int64)

    def memory(self) -> NDArray[np.uint8]:
        """Return a copy of the memory: a random bit an item, in the order of the universe.

        One look at it is covered by the guarantee; a copy kept from another moment is another look.
        """
        return self._bits.copy()

    def result(self) -> DensityAnswer:
        """Return an estimate of the density so far, with fresh noise. Every answer costs another epsilon."""
        spend(self._budget, self._epsilon, "density")
        size = self._bits.size
        ones = int(self._bits.sum())
        exponent = self._epsilon if self._variant == "corrected" else Fraction(4)
        noisy = ones + int(grid_noise(exponent, 1, self._source)[0])
        value = 4 * (noisy / size - 0.5) / float(self._epsilon)
        return DensityAnswer(
            value, float(self._epsilon), size, self._variant, self._private and self._variant == "corrected"
        )


def _check_epsilon(epsilon: Any) -> Fraction:
    exact = check_epsilon(epsilon)
    if exact > LARGEST_EPSILON:
        raise ParameterError(f"`epsilon` must be at most 3/2, got {epsilon}: Claim 6.2 does not hold beyond")
    return exact


def _one(epsilon: Fraction) -> Fraction:
    return Fraction(1, 2) + epsilon / 4


def _universe(universe: Any) -> tuple[pd.Index | None, int]:
    """Return the declared items, None if they are 0, 1, 2, ..., and their number."""
    if isinstance(universe, int | np.integer):
        size = check_integer(universe, "universe", low=1)
        afford(9 * size, "universe", f"a memory of {size:,} bits", "hash the items into fewer")
        return None, size
    index = pd.Index(tuple(check_names(universe, "universe")))
    if not len(index) or not index.is_unique:
        raise ParameterError(f"`universe` must be at least one item, each once, got {len(index)} with repetitions")
    return index, len(index)


def pan_privacy_loss(epsilon: Any, *, variant: str = "corrected") -> float:
    """Return the exact largest loss of one look at the memory together with the answer.

    Neighbouring streams differ in one item: it appears before the look, after it, on both sides or not at all. All
    other bits are alike, so that the answer is this item's bit plus the noise, up to a known shift. The printed
    answer's noise, of scale 1/4 on the number of ones, is taken on the grid of whole numbers.
    """
    exact = _check_epsilon(epsilon)
    rate = float(exact) if check_choice(variant, "variant", VARIANTS) == "corrected" else 4.0
    p_one = float(_one(exact))
    # The noise's probabilities at r and r - 1 have one ratio for all r <= 0 and one for all r >= 1: two points suffice.
    noise = np.exp(-rate * np.abs(np.array([[0.0, 1.0], [1.0, 0.0]])))  # [bit at the end, answer]
    drawn_anew = (1 - p_one) * noise[0] + p_one * noise[1]
    logs = [
        np.log(np.array([1 - p_one, p_one] if before else [0.5, 0.5])[:, None] * (drawn_anew if after else noise))
        for before in (False, True)
        for after in (False, True)
    ]
    return max(float(np.abs(first - second).max()) for first in logs for second in logs)


def density_error_bound(
    universe_size: int, *, epsilon: Any, failure: float = 0.05, variant: str = "corrected"
) -> float:
    """Return t with P(abs(answer - density) >= t) <= `failure`: Hoeffding's bound and the Laplace tail together.

    Notes
    -----
    Vanhoef (2012), Claim 6.4, ignores the Laplace noise (erratum 10). Here the failure is divided between
    2 exp(-n s**2 epsilon**2 / 8) for the bits and the tail of the noise so that the sum of both deviations is least.
    """
    size = check_integer(universe_size, "universe_size", low=1)
    rate = float(check_epsilon(epsilon))
    check_level(failure, "failure")
    noise_rate = rate if check_choice(variant, "variant", VARIANTS) == "corrected" else 4.0
    shares: FloatArray = np.linspace(0.001, 0.999, 999) * failure
    bits = np.sqrt(8 * np.log(2 / shares) / size) / rate
    # P(|k| >= m) = 2 exp(-rate m) / (1 + exp(-rate)) for whole m; a noisy count off by m moves the answer by 4 m / n.
    tail = np.log(2 / ((failure - shares) * (1 + math.exp(-noise_rate)))) / noise_rate
    noise = 4 * np.maximum(tail, 0) / (rate * size)
    return float((bits + noise).min())
