"""Anonymiser. Maskings of numeric columns: additive noise, rank swapping, rounding."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated

import numpy as np
import pandas as pd

from reident.base import (
    Choice,
    Flag,
    FloatArray,
    IntArray,
    ParameterError,
    PrivacyWarning,
    Real,
    RNGLike,
    check_rng,
    checked,
)
from reident.tables._masked import MaskedTable, masked_table, numeric_columns, per_column


@checked
def add_noise(
    table: pd.DataFrame,
    columns: str | list[str] | None = None,
    *,
    relative: Annotated[float, Real(0, unit="standard deviations")] | Mapping[str, float],
    correlated: Annotated[bool, Flag()] = False,
    rng: RNGLike = None,
) -> MaskedTable:
    """Add normal noise to numeric columns, its size relative to each column's standard deviation.

    Masking by noise in the sense of statistical disclosure control. It gives no formal guarantee such as differential
    privacy: outliers stay outliers, and averaging several releases removes the noise.

    Parameters
    ----------
    table : DataFrame
        The original. Not modified.
    columns : str or list of str, optional
        The numeric columns to mask; all columns for None.
    relative : float or mapping of str to float
        Standard deviation of the noise divided by that of the column; at least 0.
    correlated : bool
        Noise with the correlations of the columns (Kim 1986), which keeps the correlations of the release unbiased,
        instead of independent noise.
    rng : Generator, int or None
        Source of randomness; None draws fresh entropy.

    Returns
    -------
    MaskedTable

    Raises
    ------
    ParameterError, DataError
        If a column is absent, not numeric or incomplete, or `relative` is negative.

    Examples
    --------
    >>> import pandas as pd
    >>> add_noise(pd.DataFrame({"pay": [1, 2, 3]}), relative=0, rng=0).table["pay"].tolist()
    [1.0, 2.0, 3.0]
    """
    listed, original = numeric_columns(table, columns)
    shares = per_column(relative, listed, "relative", low=0.0)
    noise = check_rng(rng).standard_normal(original.shape)
    if correlated and len(listed) > 1:
        spread = original.std(axis=0)
        scaled = (original - original.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        values, vectors = np.linalg.eigh(scaled.T @ scaled / len(scaled))
        noise = noise @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return masked_table(table, listed, original + noise * shares * original.std(axis=0))


@checked
def swap_ranks(
    table: pd.DataFrame,
    columns: str | list[str] | None = None,
    *,
    percent: Annotated[float, Real(0, 100, unit="% of the records")],
    rng: RNGLike = None,
) -> MaskedTable:
    """Swap each value with one at most a percentage of the records away in rank.

    Each column keeps its exact distribution; the columns are swapped independently, so relations between columns are
    weakened. There is no formal guarantee: a value never moves further than the window, which an intruder can use.

    Parameters
    ----------
    table : DataFrame
        The original. Not modified.
    columns : str or list of str, optional
        The numeric columns to mask; all columns for None.
    percent : float
        Largest difference of ranks, per cent of the records, in [0, 100].
    rng : Generator, int or None
        Source of randomness; None draws fresh entropy.

    Returns
    -------
    MaskedTable

    Raises
    ------
    ParameterError, DataError
        If a column is absent, not numeric or incomplete, or `percent` lies outside [0, 100].

    Warns
    -----
    PrivacyWarning
        If `percent` is above 0 and less than one record, so that no value moves.

    Notes
    -----
    Moore (1996). Equal values are ranked in the table's order. Time O(n^2 percent / 100) a column.

    Examples
    --------
    >>> import pandas as pd
    >>> swapped = swap_ranks(pd.DataFrame({"pay": [1, 2, 3, 4]}), percent=50, rng=1)
    >>> sorted(swapped.table["pay"].tolist())
    [1.0, 2.0, 3.0, 4.0]
    """
    listed, original = numeric_columns(table, columns)
    n = len(original)
    window = math.floor(Fraction(str(percent)) * n / 100)
    if percent > 0 and window < 1 < n:
        warnings.warn(
            f"no value moves: {percent:g} % of {n} records is less than one rank; give at least "
            f"{math.ceil(10_000 / n) / 100:g}",
            PrivacyWarning,
            stacklevel=3,
        )
    generator = check_rng(rng)
    masked = np.empty_like(original)
    for place in range(len(listed)):
        order = np.argsort(original[:, place], kind="stable")
        partners = _swap_partners(n, window, generator.random(n))
        masked[order, place] = original[order[partners], place]
    return masked_table(table, listed, masked)


def _swap_partners(n: int, window: int, uniforms: FloatArray) -> IntArray:
    """Pair ranks at most `window` apart at random; return the source rank of each rank.

    Going up the ranks, each one that is still free is swapped with a partner drawn evenly from the free ranks at most
    `window` above it; a rank without one keeps its value.
    """
    partner, draws = list(range(n)), uniforms.tolist()
    free: list[int] = []  # the free ranks up to `window` above, ascending
    for rank in range(n):
        free.extend(range(rank + window if rank else 0, min(rank + window + 1, n)))
        if free and free[0] == rank:
            del free[0]
            if free:
                other = free.pop(int(draws[rank] * len(free)))
                partner[rank], partner[other] = other, rank
    return np.array(partner)


@checked
def round_values(
    table: pd.DataFrame,
    columns: str | list[str] | None = None,
    *,
    base: Annotated[float, Real(0, unit="the column's unit", open_low=True)] | Mapping[str, float],
    method: Annotated[str, Choice("nearest", "random")] = "nearest",
    rng: RNGLike = None,
) -> MaskedTable:
    """Round numeric columns to multiples of a base.

    Rounding hides small differences only: large values and rare combinations stay recognisable.

    Parameters
    ----------
    table : DataFrame
        The original. Not modified.
    columns : str or list of str, optional
        The numeric columns to mask; all columns for None.
    base : float or mapping of str to float
        Rounding base in the column's unit; above 0.
    method : {"nearest", "random"}
        To the nearest multiple (halves to the even one), or up or down at random so that the expectation is the
        original value.
    rng : Generator, int or None
        Source of randomness for ``method="random"``; not used otherwise.

    Returns
    -------
    MaskedTable

    Raises
    ------
    ParameterError, DataError
        If a column is absent, not numeric or incomplete, or a base is not above 0.

    Examples
    --------
    >>> import pandas as pd
    >>> round_values(pd.DataFrame({"pay": [14, 16, 23]}), base=10).table["pay"].tolist()
    [10.0, 20.0, 20.0]
    """
    listed, original = numeric_columns(table, columns)
    bases = per_column(base, listed, "base", low=0.0, open_low=True)
    steps = original / bases
    if not np.isfinite(steps).all():
        raise ParameterError(f"`base` must not be so small that values / base overflow, got {base!r}")
    if method == "nearest":
        rounded = np.rint(steps)
    else:
        down = np.floor(steps)
        rounded = down + (check_rng(rng).random(steps.shape) < steps - down)
    return masked_table(table, listed, rounded * bases)
