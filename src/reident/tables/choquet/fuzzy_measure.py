"""Attack. Fuzzy measures (capacities): the weights that the Choquet integral gives to sets of variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reident.base import (
    FloatArray,
    IntArray,
    ParameterError,
    check_array,
    check_integer,
    check_listed,
    check_mapping,
    check_vector,
    is_key,
)

_TOLERANCE = 1e-9
_MOST_VARIABLES = 20


@dataclass(frozen=True, eq=False)
class FuzzyMeasure:
    """A monotone set function with measure 0 for the empty set and 1 for all variables.

    Parameters
    ----------
    values : array_like of float, shape (2**n,)
        Measure of each set of variables; set s holds variable v (counted from 0) if bit v of s is 1.
    variables : sequence of str
        Names of the n variables, n from 1 to 20.

    Raises
    ------
    ParameterError
        If the number of values does not fit, the ends are not 0 and 1, or the measure is not monotone (tolerance 1e-9).

    Notes
    -----
    Abril et al. (2012), definition 1. Their section 3.3 counts the bits of a set's code from the right; their tables 3
    to 5 print the first variable leftmost, and so does `table` (erratum 5).

    Examples
    --------
    >>> measure = FuzzyMeasure([0, 0.2, 0.5, 1], ["pay", "tax"])
    >>> measure[["tax"]]
    0.5
    >>> measure.choquet([[3.0, 1.0]]).round(3)
    array([1.4])
    >>> measure.shapley().round(3).to_dict()
    {'pay': 0.35, 'tax': 0.65}
    """

    values: FloatArray
    variables: tuple[str, ...]

    def __init__(self, values: ArrayLike, variables: Sequence[str]) -> None:
        names = _check_variables(variables)
        vector = check_vector(values, "values", length=2 ** len(names)).copy()
        if abs(vector[0]) > _TOLERANCE or abs(vector[-1] - 1.0) > _TOLERANCE:
            raise ParameterError(
                f"`values` must be 0 for the empty set and 1 for all variables, got {vector[0]:g} and {vector[-1]:g}"
            )
        vector[0], vector[-1] = 0.0, 1.0
        for bit in range(len(names)):
            pairs = vector.reshape(-1, 2, 2**bit)
            drop = pairs[:, 0, :] - pairs[:, 1, :]
            if drop.max() > _TOLERANCE:
                high, low = np.unravel_index(int(drop.argmax()), drop.shape)
                smaller = _names_of(int(high) * 2 ** (bit + 1) + int(low), names)
                raise ParameterError(
                    f"`values` must be monotone, got a measure that falls by {drop.max():g} when {names[bit]!r} joins "
                    f"{set(smaller) or '{}'}"
                )
        vector.setflags(write=False)
        object.__setattr__(self, "values", vector)
        object.__setattr__(self, "variables", names)

    @classmethod
    def from_weights(cls, weights: Mapping[str, float] | pd.Series) -> FuzzyMeasure:
        """Return the additive measure of non-negative weights (scaled to sum 1): its Choquet integral is their mean."""
        if not isinstance(weights, pd.Series):
            check_mapping(weights, "weights")
        series = pd.Series(weights)
        vector = check_vector(series.to_numpy(), "weights")
        if (vector < 0).any() or vector.sum() <= 0:
            raise ParameterError(f"`weights` must not be negative and not all 0, got {vector.tolist()}")
        moebius = np.zeros(2**vector.size)
        moebius[1 << np.arange(vector.size)] = vector / vector.sum()
        return cls(zeta_transform(moebius, 1.0), list(series.index))

    def __getitem__(self, subset: str | Iterable[str]) -> float:
        """Return the measure of a set of variables, given by name."""
        return float(self.values[_mask_of([subset] if isinstance(subset, str) else subset, self.variables)])

    def __eq__(self, other: object) -> bool:
        """Compare variables and values."""
        if not isinstance(other, FuzzyMeasure):
            return NotImplemented
        return self.variables == other.variables and bool(np.array_equal(self.values, other.values))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lead = ", ".join(f"{name}: {value:.3g}" for name, value in self.shapley().items())
        return f"FuzzyMeasure({len(self.variables)} variables; Shapley {lead})"

    def moebius(self) -> FloatArray:
        """Return the Moebius transform, indexed like `values`: the surplus of each set over its subsets."""
        return zeta_transform(self.values, -1.0)

    def choquet(self, matrix: ArrayLike) -> FloatArray:
        """Return the Choquet integral of each row of non-negative values, shape (m, n), as an array of shape (m,)."""
        rows = np.ascontiguousarray(check_array(matrix, "matrix"))
        if rows.ndim == 1:
            rows = rows[None, :]
        n = len(self.variables)
        if rows.ndim != 2 or rows.shape[1] != n or not np.isfinite(rows).all() or (rows < 0).any():
            raise ParameterError(
                f"`matrix` must have {n} columns of finite, non-negative values, got shape {rows.shape}: "
                "the Choquet integral here aggregates distances"
            )
        return choquet_integral(rows, self.values)

    def shapley(self) -> pd.Series:
        """Return each variable's Shapley value: its average contribution over all orders of joining; sums to 1."""
        return pd.Series(shapley_values(self.values), pd.Index(self.variables, name="variable"), name="shapley")

    def interaction(self) -> pd.DataFrame:
        """Return the interaction index of each pair: positive if their joint measure exceeds the sum of both.

        Between -1 (either will do) and 1 (only both together count); 0 for an additive measure. Murofushi and
        Soneda's index. The diagonal is NaN.
        """
        n = len(self.variables)
        table = np.full((n, n), np.nan)
        for (i, j), value in zip(combinations(range(n), 2), interactions(self.values), strict=True):
            table[i, j] = table[j, i] = value
        return pd.DataFrame(table, index=list(self.variables), columns=list(self.variables))

    def table(self) -> pd.DataFrame:
        """Return one row a set: its code (the first variable leftmost), its names, size, measure, Moebius value."""
        n = len(self.variables)
        codes = ["".join("1" if mask >> bit & 1 else "0" for bit in range(n)) for mask in range(2**n)]
        frame = pd.DataFrame(
            {
                "code": codes,
                "variables": [" ".join(_names_of(mask, self.variables)) for mask in range(2**n)],
                "size": [mask.bit_count() for mask in range(2**n)],
                "measure": self.values,
                "moebius": self.moebius(),
            }
        )
        return frame.sort_values("code", ignore_index=True)


def monotone_closure(values: FloatArray) -> FloatArray:
    """Return the smallest monotone set function above `values`: each set gets the maximum over its subsets."""
    out = values.copy()
    for bit in range(out.size.bit_length() - 1):
        pairs = out.reshape(-1, 2, 2**bit)
        pairs[:, 1, :] = np.maximum(pairs[:, 0, :], pairs[:, 1, :])
    return out


def _check_variables(variables: Sequence[str]) -> tuple[str, ...]:
    names = tuple(check_listed(variables, "variables"))
    if not all(is_key(name) for name in names):
        raise ParameterError(f"`variables` must hold names, got {list(names)!r}")
    check_integer(len(names), "the number of variables", low=1, high=_MOST_VARIABLES, why="there are 2**n sets")
    if len(set(names)) != len(names):
        raise ParameterError(f"`variables` must be distinct, got {list(names)!r}")
    return names


def _mask_of(subset: Iterable[str], variables: tuple[str, ...]) -> int:
    mask = 0
    for name in subset:
        if name not in variables:
            raise ParameterError(f"a set must hold variables of the measure {list(variables)!r}, got {name!r}")
        mask |= 1 << variables.index(name)
    return mask


def _names_of(mask: int, variables: tuple[str, ...]) -> list[str]:
    return [str(name) for bit, name in enumerate(variables) if mask >> bit & 1]


def choquet_integral(matrix: FloatArray, mu: FloatArray) -> FloatArray:
    """Return the Choquet integral of each row of non-negative values, for a measure by bit mask.

    Abril et al. (2012), definition 1: the sum over the sorted values of (c_(i) - c_(i-1)) mu(A_(i)), where A_(i)
    holds the variables from the i-th smallest value up.
    """
    order = np.argsort(matrix, axis=1, kind="stable")
    values = np.take_along_axis(matrix, order, axis=1)
    totals, below = np.zeros((2, len(matrix)))
    mask = np.full(len(matrix), mu.size - 1)
    for place in range(matrix.shape[1]):
        totals += (values[:, place] - below) * mu[mask]
        below, mask = values[:, place], mask - (1 << order[:, place])
    return totals


def zeta_transform(values: FloatArray, sign: float) -> FloatArray:
    """Sum over subsets (sign 1, Moebius to measure) or invert the sum (sign -1), in O(n 2^n)."""
    out = np.array(values, dtype=np.float64)
    bit = 1
    while bit < out.size:
        halves = out.reshape(-1, 2, bit)
        halves[:, 1] += sign * halves[:, 0]
        bit <<= 1
    return out


def shapley_values(values: FloatArray) -> FloatArray:
    """Return the Shapley value of each variable (last axis) for set functions by bit mask (last axis)."""
    n = values.shape[-1].bit_length() - 1
    masks, sizes = _sets(n)
    weight = np.array([factorial(n - s - 1) * factorial(s) / factorial(n) for s in range(n)])
    shares = []
    for bit in range(n):
        without = masks[masks & (1 << bit) == 0]
        gains = values[..., without | (1 << bit)] - values[..., without]
        shares.append((weight[sizes[without]] * gains).sum(axis=-1))
    return np.stack(shares, axis=-1)


def interactions(values: FloatArray) -> FloatArray:
    """Return the interaction index of each pair of variables (last axis, in order) for set functions by bit mask."""
    n = values.shape[-1].bit_length() - 1
    masks, sizes = _sets(n)
    weight = np.array([factorial(n - s - 2) * factorial(s) / factorial(n - 1) for s in range(n - 1)])
    indices = []
    for i, j in combinations(range(n), 2):
        a, b = 1 << i, 1 << j
        rest = masks[masks & (a | b) == 0]
        gains = values[..., rest | a | b] - values[..., rest | a] - values[..., rest | b] + values[..., rest]
        indices.append((weight[sizes[rest]] * gains).sum(axis=-1))
    return np.stack(indices, axis=-1) if indices else np.zeros((*values.shape[:-1], 0))


def _sets(n: int) -> tuple[IntArray, IntArray]:
    masks = np.arange(2**n)
    return masks, np.array([mask.bit_count() for mask in range(2**n)])
