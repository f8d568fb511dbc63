"""Attack. Match weights of Fellegi and Sunter for numeric columns, estimated without any true pair."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import isotonic_regression

from reident.base import FloatArray, IntArray
from reident.tables.classes import class_ids, first_rows

#: Pairs of records from which the weights are estimated at most; of more, evenly spaced released records are taken.
_PAIRS = 4_000_000

#: Pairs whose weights are held in memory at once.
_AT_ONCE = 1_000_000

#: Bits that the plain distance of the farthest records counts.
_TIE = 1e-7

#: Estimation ends where no m changes by more than this, or after so many rounds.
_CONVERGED, _ROUNDS = 1e-4, 100


@dataclass(frozen=True)
class MatchWeights:
    """Weights of the levels of agreement.

    Attributes
    ----------
    limits : list of ndarray of float64
        For each column the greatest difference of each level but the last, ascending.
    m, u : list of ndarray of float64
        Share of true pairs, and of all pairs, in each level.
    """

    limits: list[FloatArray]
    m: list[FloatArray]
    u: list[FloatArray]

    def bits(self, column: int) -> FloatArray:
        """Return log2(m / u) of each level; an m below 1e-12 counts as that."""
        return np.asarray(np.log2(np.maximum(self.m[column], 1e-12) / self.u[column]))

    def table(self, names: list[str]) -> pd.DataFrame:
        """Return one row a column and level, closest first."""
        frames = [
            pd.DataFrame(
                {
                    "variable": name,
                    "level": np.arange(1, self.m[column].size + 1),
                    "at_most": np.append(self.limits[column], np.inf),
                    "m": self.m[column],
                    "u": self.u[column],
                    "bits": self.bits(column),
                }
            )
            for column, name in enumerate(names)
        ]
        return pd.concat(frames, ignore_index=True)


def estimate_weights(a: FloatArray, b: FloatArray) -> MatchWeights:
    """Estimate m by expectation maximisation and u from all pairs; a are released records, b the known ones.

    Levels halve: the closest holds the share 1 / 2**k of all pairs, about one known record a released one, the next as
    many again, and so on to the farthest, which holds half. The chance that two records match is fixed at one in the
    number of known records.
    """
    step = -(-len(a) * len(b) // _PAIRS)
    a = a[::step]
    shares = 0.5 ** np.arange(int(np.log2(len(b))), 0, -1)
    limits = []
    for column in range(a.shape[1]):
        gaps = np.abs(a[:, [column]] - b[:, column]).ravel()
        cuts = np.unique(np.quantile(gaps, shares, method="inverted_cdf"))
        limits.append(cuts[cuts < gaps.max()])
    levels = [_levels(a, b, column, cuts).ravel() for column, cuts in enumerate(limits)]
    patterns, n_patterns = class_ids(levels)
    first, counts = first_rows(patterns, n_patterns), np.bincount(patterns, minlength=n_patterns).astype(np.float64)
    levels = [column[first] for column in levels]
    u = [np.bincount(column, weights=counts) / counts.sum() for column in levels]
    return MatchWeights(limits, _maximise(levels, counts, u, 1.0 / max(len(b), 2)), u)


def _levels(a: FloatArray, b: FloatArray, column: int, cuts: FloatArray) -> IntArray:
    return np.searchsorted(cuts, np.abs(a[:, [column]] - b[:, column]))


def _maximise(levels: list[IntArray], counts: FloatArray, u: list[FloatArray], prior: float) -> list[FloatArray]:
    """Estimate m of each level by expectation maximisation, under the condition that m / u falls from level to level.

    Without it the likelihood may be greatest for a class of pairs that disagree, such as those of two records with
    rare large values.
    """
    m = [_start(column, prior) for column in u]
    for _ in range(_ROUNDS):
        odds = np.full(counts.size, prior / (1 - prior))
        for column, level in enumerate(levels):
            odds *= (m[column] / u[column])[level]
        match = counts * odds / (1 + odds)
        shares = [np.bincount(level, weights=match, minlength=m[column].size) for column, level in enumerate(levels)]
        new = [_falling(share / match.sum(), u[column]) for column, share in enumerate(shares)]
        change = max(np.abs(before - other).max() for before, other in zip(m, new, strict=True))
        m = new
        if change < _CONVERGED:
            break
    return m


def _start(u: FloatArray, prior: float) -> FloatArray:
    """Return an m with a falling ratio to u: about 1 - c / U of the matches are in the closest share U of the pairs.

    With c half of the share that the closest level of halving ones has, that is a half, a quarter, and so on.
    """
    half = 0.5 ** (1 + math.floor(math.log2(1 / prior)))
    within = (1 - half / np.cumsum(u)) / (1 - half)
    return np.diff(within, prepend=0.0)


def _falling(m: FloatArray, u: FloatArray) -> FloatArray:
    """Return the most likely m with a ratio to u that does not rise: neighbouring levels are pooled where it would."""
    if (np.diff(m / u) <= 0).all():
        return m
    return np.asarray(isotonic_regression(m / u, weights=u, increasing=False).x * u)


def heaviest_records(
    a: FloatArray, b: FloatArray, weights: MatchWeights, pairs: IntArray
) -> tuple[IntArray, FloatArray, IntArray, FloatArray]:
    """Return each released record's heaviest known record, its missing weight, its ties, the partner's weight.

    A weight is given by the bits that it lacks of the greatest possible one. Records of one weight are ordered by
    their Euclidean distance, which adds less than `_TIE` bits.
    """
    reach = ((np.maximum(a.max(axis=0), b.max(axis=0)) - np.minimum(a.min(axis=0), b.min(axis=0))) ** 2).sum() or 1.0
    lacking = [weights.bits(column).max() - weights.bits(column) for column in range(a.shape[1])]
    nearest, tied = np.empty(len(a), np.int64), np.empty(len(a), np.int64)
    smallest, true_weight = np.empty(len(a)), np.full(len(a), np.nan)
    rows = max(1, _AT_ONCE // len(b))
    for start in range(0, len(a), rows):
        part = slice(start, start + rows)
        total = np.zeros((len(a[part]), len(b)))
        for column, bits in enumerate(lacking):
            gaps = np.abs(a[part, [column]].reshape(-1, 1) - b[:, column])
            total += bits[np.searchsorted(weights.limits[column], gaps)] + _TIE / reach * gaps**2
        nearest[part] = total.argmin(axis=1)
        smallest[part] = total.min(axis=1)
        tied[part] = (total == smallest[part, None]).sum(axis=1)
        paired = np.flatnonzero(pairs[part] >= 0)
        true_weight[start + paired] = total[paired, pairs[part][paired]]
    return nearest, smallest, tied, true_weight
