"""Attack. The minimality attack: a cut that an anonymiser refused discloses sensitive values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reident.base import (
    BoolArray,
    FloatArray,
    IntArray,
    ParameterError,
    RNGLike,
    Whole,
    check_columns,
    check_rng,
    check_table,
    checked,
)
from reident.kernels.tables.mondrian import best_cut, by_width
from reident.tables.classes import check_classes, class_rows, encode_column
from reident.tables.order import code_matrix, order_column

__all__ = ["MinimalityBreach", "minimality_attack"]

#: Values that are drawn at once.
_BATCH = 2_000_000


@dataclass(frozen=True)
class MinimalityBreach:
    """The disclosure by the refused cuts beyond that by the classes alone.

    Attributes
    ----------
    prior : ndarray of float64, shape (n,)
        The probability of each record's true value from its class alone: the value's share in the class.
    posterior : ndarray of float64, shape (n,)
        The same, given that every cut of the class was refused; equal to `prior` where nothing was refused or too
        few draws fitted.
    surest : ndarray of float64, shape (n,)
        The probability of the value that the intruder holds most likely, right or wrong.
    attacked : ndarray of bool, shape (n,)
        The records in classes where refused cuts tell something.
    n_classes, n_attacked, n_unresolved : int
        Classes; those with refused cuts and enough draws; those with refused cuts but too few draws that fit.
    """

    prior: FloatArray
    posterior: FloatArray
    surest: FloatArray
    attacked: np.ndarray
    n_classes: int
    n_attacked: int
    n_unresolved: int

    @property
    def mean_gain(self) -> float:
        """The mean rise of the probability of the true value over all records."""
        return float((self.posterior - self.prior).mean())

    @property
    def largest_gain(self) -> float:
        """The largest rise of the probability of a true value."""
        return float((self.posterior - self.prior).max())


@checked
def minimality_attack(
    known: pd.DataFrame,
    classes: ArrayLike,
    *,
    quasi: str | Sequence[str],
    sensitive: str,
    k: Annotated[int, Whole(1, unit="records")],
    ell: Annotated[int, Whole(1, unit="values")],
    n_draws: Annotated[int, Whole(1, unit="draws")] = 2000,
    least_fitting: Annotated[int, Whole(1, unit="draws")] = 30,
    rng: RNGLike = None,
) -> MinimalityBreach:
    """Attack an l-diverse Mondrian release (distinct l, strict cuts) by knowing how it was made.

    The intruder has the quasi-identifiers of everybody and the release: the classes and, for each, its sensitive
    values without knowing whose they are. They know that Mondrian cuts as long as it may. So every cut of a released
    class that k alone would allow was refused because a side would have had fewer than l values, and assignments of
    values to records under which it would not have been refused are ruled out. This is a lower bound of what can be
    inferred: refusals at larger parts, before, would rule out more.

    Parameters
    ----------
    known : DataFrame
        The records with their original quasi-identifiers, in the order of `classes`. The sensitive column serves for
        the multiset of each class, which the release shows, and to score the attack; its alignment is not used.
    classes : array_like of int, shape (n,)
        The class of each record, of a release by ``method="mondrian"``.
    quasi : str or sequence of str
        In the order that the anonymiser was given.
    sensitive : str
    k, ell : int
        What the anonymiser was asked for.
    n_draws : int
        Random assignments a class.
    least_fitting : int
        The draws that must fit for a class to be attacked.
    rng : Generator, int or None

    Returns
    -------
    MinimalityBreach

    Raises
    ------
    DataError, ParameterError
        If a column is absent, classes do not fit the table, or an option breaks its rule.

    Notes
    -----
    The idea is that of Wong et al. (2007), for local recoding by Mondrian. All assignments of a class's values to its
    records are taken for equally likely before.

    Examples
    --------
    >>> known = pd.DataFrame({"age": [20, 21, 40, 41], "ill": ["flu", "flu", "hiv", "flu"]})
    >>> breach = minimality_attack(known, [0, 0, 0, 0], quasi="age", sensitive="ill", k=2, ell=2, rng=0)
    >>> breach.n_attacked, breach.prior.tolist()
    (1, [0.75, 0.75, 0.25, 0.75])
    """
    quasi = check_columns(check_table(known, "known"), quasi, "quasi", table_name="known")
    check_columns(known, sensitive, "sensitive", table_name="known")
    if sensitive in quasi:
        raise ParameterError(f"`sensitive` must not be a quasi-identifier too, got {sensitive!r} in both roles")
    rng = check_rng(rng)
    ids = check_classes(classes, len(known))
    codes, places, n_codes = code_matrix([order_column(known[name]) for name in quasi])
    values, labels = encode_column(known[sensitive])
    n = len(known)
    prior, posterior, surest = np.ones(n), np.ones(n), np.ones(n)
    attacked = np.zeros(n, dtype=bool)
    n_classes, n_attacked, n_unresolved = int(ids.max()) + 1, 0, 0
    for rows in class_rows(ids, n_classes):
        class_values = values[rows]
        shares = np.bincount(class_values, minlength=len(labels)) / rows.size
        prior[rows] = posterior[rows] = shares[class_values]
        surest[rows] = shares.max()
        sides = _refused_cuts(codes[rows], places, n_codes, k)
        if not sides.size:
            continue
        tally, n_kept = _refused_posterior(sides, np.sort(class_values), len(labels), ell, n_draws, rng)
        if n_kept < least_fitting:
            n_unresolved += 1
            continue
        n_attacked += 1
        attacked[rows] = True
        posterior[rows] = tally[np.arange(rows.size), class_values] / n_kept
        surest[rows] = tally.max(axis=1) / n_kept
    return MinimalityBreach(prior, posterior, surest, attacked, n_classes, n_attacked, n_unresolved)


def _refused_cuts(codes: IntArray, places: FloatArray, n_codes: IntArray, k: int) -> BoolArray:
    """Return which records of a part would have gone left in each cut that the size k allows, one row a cut."""
    sides = []
    for attribute in by_width(codes, 0, len(codes), places, n_codes):
        column = np.ascontiguousarray(codes[:, attribute])
        code, _ = best_cut(column, k, False)
        if code >= 0:
            sides.append(column <= code)
    return np.array(sides, dtype=np.bool_).reshape(-1, len(codes))


def _refused_posterior(
    sides: BoolArray, values: IntArray, m: int, ell: int, n_draws: int, rng: np.random.Generator
) -> tuple[IntArray, int]:
    """Estimate each record's distribution of the m sensitive values, given that every cut was refused.

    Draws assignments of the class's values to its records, all equally likely, and keeps those under which every cut
    would have left one side with fewer than `ell` distinct values. Returns how often each record had each value in the
    draws kept, and their number.
    """
    tally, n_kept = np.zeros((values.size, m), dtype=np.int64), 0
    batch = max(1, _BATCH // values.size)
    for first in range(0, n_draws, batch):
        draws = np.arange(min(batch, n_draws - first))
        order = np.tile(np.arange(values.size), (draws.size, 1))
        uniforms = rng.random((draws.size, values.size - 1))
        for i in range(values.size - 1, 0, -1):  # Fisher and Yates
            other = (uniforms[:, values.size - 1 - i] * (i + 1)).astype(np.int64)
            order[draws, i], order[draws, other] = order[draws, other], order[draws, i].copy()
        picked = np.empty_like(order)
        for draw in draws:
            values = picked[draw] = values[order[draw]]
        for side in sides:
            few = [_n_distinct(picked[:, chosen], m) < ell for chosen in (side, ~side)]
            picked = picked[few[0] | few[1]]
        n_kept += len(picked)
        tally += np.bincount((picked + m * np.arange(values.size)).ravel(), minlength=tally.size).reshape(tally.shape)
    return tally, n_kept


def _n_distinct(rows: IntArray, m: int) -> IntArray:
    return np.sum([(rows == value).any(axis=1) for value in range(m)], axis=0)
