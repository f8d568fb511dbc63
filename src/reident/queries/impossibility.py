"""Attack. The impossibility proof of vanhoef2012, chapter 4, enumerated: useful answers breach someone's privacy."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from reident.base import BoolArray, DataError, IntArray, check_array, check_integer
from reident.queries.information import min_entropy

__all__ = ["ImpossibilityGame", "impossibility_game"]

#: 2 ** (seed bits + utility bits + breach bits + sketch bits) cells are enumerated.
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
    sketch_baseline : float
        Guessing the breach from the sketch alone; `baseline` without a sketch.
    distance : float
        Statistical distance of the extracted bits from uniform ones, given the seed, the sketch and the breach:
        `without` is at most `sketch_baseline` plus this.
    utility_entropy : float
        Smallest min-entropy of the utility vector given a breach, bits.
    """

    with_sanitiser: float
    without: float
    baseline: float
    sketch_baseline: float
    distance: float
    utility_entropy: float


def impossibility_game(joint: Any, *, parity_check: Any = None, n_errors: int = 0) -> ImpossibilityGame:
    """Play the impossibility proof by enumeration.

    The sanitiser's answer determines the utility vector w, but for up to `n_errors` wrong bits. Side information is
    z = (s, p, y xor r): the breach y, hidden by bits r that a hash of seed s extracts from w, and a sketch p of w that
    corrects the wrong bits. With the sanitiser's answer an adversary recovers w and removes r; without it z is nearly
    noise.

    Parameters
    ----------
    joint : array-like of float, shape (2 ** n, 2 ** m), m <= n
        Probability of each pair of a utility vector (n bits) and a breach (m bits). It may sum to less than 1: the rest
        are databases without a breach (the thesis's gamma), in which no adversary wins.
    parity_check : array-like of 0 and 1, shape (q, n), optional
        Parity-check matrix of a linear code that corrects `n_errors` errors; the sketch is the syndrome of w, q bits.
        Column i belongs to bit i of w (of value 2 ** i). Default: no sketch.
    n_errors : int, default 0
        Largest number of wrong bits in the learned utility vector; 0 is section 4.4, more section 4.5.

    Returns
    -------
    ImpossibilityGame

    Raises
    ------
    DataError
        If the shape is not one of powers of two, probabilities are negative or exceed 1, there are too many bits, or
        the code does not correct `n_errors` errors.

    Notes
    -----
    Vanhoef (2012), sections 4.4 (the utility vector is learned completely) and 4.5 (in part). The extractor is a
    Toeplitz hash, a pairwise independent family (Lemma 4.3); with the syndrome as sketch it is a fuzzy extractor
    (Dodis et al., 2008), at the price of q bits of entropy.

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
    syndromes = _syndromes(parity_check, n, check_integer(n_errors, "n_errors", low=0, high=n))
    q = int(syndromes.max()).bit_length()
    if 2 * n + 2 * m + q - 1 > _MAX_BITS:
        raise DataError(
            f"`joint` must have 2 n + 2 m + q - 1 <= {_MAX_BITS} bits to be enumerated, got n = {n}, m = {m}, q = {q}"
        )
    sketches, breaches = np.eye(2**q)[syndromes], np.arange(2**m)
    joint_bits = np.einsum("swr,wy,wp->spyr", np.eye(2**m)[toeplitz_bits(n, m)], p, sketches)  # P(p, y, r | s)
    by_sketch = sketches.T @ p
    # A* sees s, p and c = y xor r, and names the likeliest y.
    likelihoods = joint_bits[:, :, breaches[:, None], breaches[:, None] ^ breaches[None, :]]
    columns = p[:, p.sum(axis=0) > 0]
    return ImpossibilityGame(
        with_sanitiser=float(p.sum()),  # the code corrects the errors, so w, r and y are recovered
        without=float(likelihoods.max(axis=2).sum(axis=(1, 2)).mean()),
        baseline=float(p.sum(axis=0).max()),
        sketch_baseline=float(by_sketch.max(axis=1).sum()),
        distance=float(np.abs(joint_bits - by_sketch[:, :, None] / 2**m).sum(axis=(1, 2, 3)).mean() / 2),
        utility_entropy=min(min_entropy(column / column.sum()) for column in columns.T),
    )


def _syndromes(parity_check: Any, n: int, n_errors: int) -> IntArray:
    """Return the syndrome of each word as a number, and refuse a code that does not correct the errors."""
    matrix = np.zeros((0, n), np.int64) if parity_check is None else check_array(parity_check, "parity_check")
    if matrix.ndim != 2 or matrix.shape[1] != n or not np.isin(matrix, (0, 1)).all():
        raise DataError(f"`parity_check` must hold 0 or 1 in {n} columns, one for each bit, got shape {matrix.shape}")
    bits = _bits(n).astype(np.int64) @ matrix.astype(np.int64).T % 2
    syndromes: IntArray = bits @ (1 << np.arange(len(matrix)))
    sets = (chosen for size in range(n_errors + 1) for chosen in itertools.combinations(range(n), size))
    patterns = [sum(1 << i for i in chosen) for chosen in sets]
    if len({int(syndromes[pattern]) for pattern in patterns}) < len(patterns):
        raise DataError(f"`parity_check` must give each pattern of at most {n_errors} errors its own syndrome")
    return syndromes


def toeplitz_bits(n: int, m: int) -> IntArray:
    """Return the m bits, as a number, that each Toeplitz matrix extracts from each word of n bits: seeds by words."""
    seeds = _bits(n + m - 1)
    words = _bits(n).astype(np.int64)
    bits = [(seeds[:, row : row + n].astype(np.int64) @ words.T) % 2 for row in range(m)]
    numbers: IntArray = sum((bit << row for row, bit in enumerate(bits)), np.zeros((len(seeds), len(words)), np.int64))
    return numbers


def _bits(n: int) -> BoolArray:
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.bool_)
