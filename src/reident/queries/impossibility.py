"""Attack. The impossibility proof of vanhoef2012, chapter 4, enumerated: useful answers breach someone's privacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reident.base import BoolArray, DataError, IntArray, check_array
from reident.queries.information import min_entropy

#: 2 ** (seed bits + utility bits + breach bits) cells are enumerated.
_MAX_BITS = 22


@dataclass(frozen=True)
class ImpossibilityGame:
    """Exact probabilities of learning the breach, each by the best strategy.

    Attributes
    ----------
    with_sanitiser : float
        The adversary A, with the side information and the sanitiser's answer.
    without : float
        The best A*, with the side information alone.
    baseline : float
        Guessing the breach without any information.
    distance : float
        Statistical distance of the extracted bits from uniform ones, given the seed and the breach: `without` is at
        most `baseline` plus this.
    utility_entropy : float
        Smallest min-entropy of the utility vector given a breach, bits.
    """

    with_sanitiser: float
    without: float
    baseline: float
    distance: float
    utility_entropy: float


def impossibility_game(joint: Any) -> ImpossibilityGame:
    """Play the impossibility proof by enumeration.

    The sanitiser's answer determines the utility vector w. Side information is z = (s, y xor r): the breach y, hidden
    by bits r that a hash of seed s extracts from w. With the sanitiser's answer an adversary knows w and removes r;
    without it z is nearly noise.

    Parameters
    ----------
    joint : array-like of float, shape (2 ** n, 2 ** m), m <= n
        Probability of each pair of a utility vector (n bits) and a breach (m bits). It may sum to less than 1: the rest
        are databases without a breach (the thesis's gamma), in which no adversary wins.

    Returns
    -------
    ImpossibilityGame

    Raises
    ------
    DataError
        If the shape is not one of powers of two, probabilities are negative or exceed 1, or there are too many bits.

    Notes
    -----
    Vanhoef (2012), section 4.4: the utility vector is learned completely. The extractor is a Toeplitz hash, a pairwise
    independent family (Lemma 4.3).

    Examples
    --------
    >>> import numpy as np
    >>> game = impossibility_game(np.full((64, 4), 1 / 256))
    >>> game.with_sanitiser, round(game.without, 2), game.baseline
    (1.0, 0.26, 0.25)
    """
    p = check_array(joint, "joint")
    if p.ndim != 2 or not (p >= 0).all() or p.sum() > 1 + 1e-9 or p.sum() <= 0:
        raise DataError("`joint` must be a table of probabilities, utility vectors by breaches, that sum to at most 1")
    n, m = (int(size).bit_length() - 1 for size in p.shape)
    if p.shape != (2**n, 2**m) or not 1 <= m <= n:
        raise DataError(f"`joint` must have shape (2 ** n, 2 ** m) with 1 <= m <= n, got {p.shape}")
    if 2 * n + 2 * m - 1 > _MAX_BITS:
        raise DataError(f"`joint` must have 2 n + 2 m - 1 <= {_MAX_BITS} bits to be enumerated, got n = {n}, m = {m}")
    breaches = np.arange(2**m)
    joint_bits = np.einsum("swr,wy->syr", np.eye(2**m)[toeplitz_bits(n, m)], p)  # P(y, r | s)
    # A* sees s and c = y xor r, and names the likeliest y.
    likelihoods = joint_bits[:, breaches[:, None], breaches[:, None] ^ breaches[None, :]]
    columns = p[:, p.sum(axis=0) > 0]
    return ImpossibilityGame(
        with_sanitiser=float(p.sum()),
        without=float(likelihoods.max(axis=1).sum(axis=1).mean()),
        baseline=float(p.sum(axis=0).max()),
        distance=float(np.abs(joint_bits - p.sum(axis=0)[:, None] / 2**m).sum(axis=(1, 2)).mean() / 2),
        utility_entropy=min(min_entropy(column / column.sum()) for column in columns.T),
    )


def toeplitz_bits(n: int, m: int) -> IntArray:
    """Return the m bits, as a number, that each Toeplitz matrix extracts from each word of n bits: seeds by words."""
    seeds = _bits(n + m - 1)
    words = _bits(n).astype(np.int64)
    bits = [(seeds[:, row : row + n].astype(np.int64) @ words.T) % 2 for row in range(m)]
    numbers: IntArray = sum((bit << row for row, bit in enumerate(bits)), np.zeros((len(seeds), len(words)), np.int64))
    return numbers


def _bits(n: int) -> BoolArray:
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.bool_)
