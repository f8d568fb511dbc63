"""Metric. The risk of each record of a sample, from survey weights, and its special uniqueness (SUDA)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from reident.base import (
    BoolArray,
    FloatArray,
    IntArray,
    ParameterError,
    check_choice,
    check_columns,
    check_integer,
    check_table,
    check_vector,
    check_work,
)
from reident.tables.classes import class_ids, encode_column, missing_rows, wildcard_counts

__all__ = ["individual_risk", "special_uniques"]

# From which sizes of a class on a series is summed, and how many of its terms: all others are below rounding.
_LARGE, _TERMS = 50, 25

#: What grouping by one set of columns costs beside its records, in records.
_SET_COST = 2_000

#: Scores add up to less than twice the factorial of the number of columns: below this they fit 64 bits.
_LARGEST_SCORE = 2**62


def individual_risk(
    table: pd.DataFrame, quasi: str | Sequence[str], weights: str | None = None, *, missing: str = "value"
) -> pd.DataFrame:
    """Return the risk that each record of a sample is rightly found in the population, by its class and weights.

    The number of people in the population who share a record's class is unknown; the survey weights of the class say
    how many they are on average, and the risk is the mean of one over that number given the class in the sample. It
    is a model's: a class that the weights misjudge is misjudged here too.

    Parameters
    ----------
    table : DataFrame
    quasi : str or sequence of str
        The quasi-identifiers.
    weights : str, optional
        The column of survey weights: how many people of the population a record stands for, at least 1 each. None:
        the sample is the population, and the risk is one over the size of the class.
    missing : {"value", "drop", "raise", "wildcard"}
        What a missing quasi-identifier means: a value of its own, a record to leave out, an error, any value.

    Returns
    -------
    DataFrame
        By the table's index: ``sample`` (records that share the class), ``population`` (the sum of their weights),
        ``risk`` in (0, 1]; missing for a record left out.

    Raises
    ------
    DataError, ParameterError
        If a column is absent, weights are missing or below 1, or `missing` is none of the four.

    Notes
    -----
    Benedetti and Franconi (1998), Polettini (2003): the population frequency is negative binomial given the sample's,
    with p = sample / population; the risk is p^f / f * 2F1(f, f; f + 1; 1 - p), evaluated exactly.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [30, 30, 41], "weight": [10.0, 30, 17]})
    >>> individual_risk(table, "age", "weight")["risk"].round(4).tolist()
    [0.0443, 0.0443, 0.1771]
    """
    quasi = check_columns(check_table(table, "table"), quasi, "quasi")
    check_choice(missing, "missing", ("value", "drop", "raise", "wildcard"))
    stood_for: FloatArray = np.ones(len(table))
    if weights is not None:
        check_columns(table, weights, "weights")
        stood_for = check_vector(table[weights], "weights")
        if stood_for.min() < 1:
            raise ParameterError(f"`weights` must be at least 1, got {stood_for.min():g}: a record stands for itself")
    is_counted = np.ones(len(table), dtype=bool)
    if missing == "wildcard":
        sample, population = wildcard_counts(table, quasi, stood_for)
    else:
        is_counted = ~missing_rows(table, quasi, missing)
        ids = class_ids([encode_column(table[column])[0] for column in quasi])[0]
        sample = np.bincount(ids, weights=is_counted.astype(np.float64))[ids].astype(np.float64)
        population = np.bincount(ids, weights=is_counted * stood_for)[ids].astype(np.float64)
    share = np.divide(sample, population, out=np.ones(len(table)), where=is_counted)
    f = np.where(is_counted, sample, 1.0)
    risk = share / f * _series(f, 1 - share)  # by Euler's transformation: no power underflows
    frame = pd.DataFrame({"sample": sample, "population": population, "risk": risk}, index=table.index)
    return frame.where(pd.Series(is_counted, index=table.index))


def _series(f: FloatArray, z: FloatArray) -> FloatArray:
    """Return the hypergeometric function of (1, 1; f + 1; z); scipy's has no number where f is large."""
    from scipy.special import hyp2f1

    large = np.maximum(f, _LARGE)
    term, total = np.ones(len(f)), np.ones(len(f))
    for k in range(_TERMS):  # the k-th is at most one over the binomial coefficient of f + k and k
        term = term * z * (k + 1) / (large + k + 1)
        total += term
    return np.where(f < _LARGE, hyp2f1(1, 1, np.minimum(f, _LARGE) + 1, z), total)


def special_uniques(
    table: pd.DataFrame, quasi: str | Sequence[str] | None = None, *, max_size: int | None = None
) -> tuple[pd.Series, pd.Series]:
    """Return each record's SUDA score, and the contribution of each column to all scores.

    A record is special if few of its values already make it unique in the sample: the fewer, and the more such sets,
    the higher the score. Scores rank records; they are no probabilities, and a record without a unique set scores 0.

    Parameters
    ----------
    table : DataFrame
    quasi : str or sequence of str, optional
        The columns to look at; all for None. A missing value is a value of its own.
    max_size : int, optional
        Sets with more columns are not looked at. None: all.

    Returns
    -------
    scores : Series of int
        By the table's index: the sum over the record's minimal unique sets, of k columns each, of (m - k)!, m columns
        in all. From about 21 columns on they may exceed 64 bits; the Series then holds Python integers.
    contributions : Series
        By column: the share of the sum of all scores, in per cent, that comes from sets with the column. A set counts
        for each of its columns, so that they add up to more than 100. Missing where no record is unique.

    Raises
    ------
    DataError, ParameterError
        If a column is absent, `max_size` is less than 1 or greater than the number of columns, or there are so many
        sets of columns that the search would take more than minutes.

    Notes
    -----
    Elliot, Manning and Ford (2002), the score as sdcMicro has it. A set of columns is minimal for a record if it makes
    the record unique and no set of one column less does. Time O(2^m n), less the sets whose uniques smaller sets
    explain; `max_size` bounds it.

    Examples
    --------
    >>> import pandas as pd
    >>> scores, contributions = special_uniques(pd.DataFrame({"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]}))
    >>> scores.tolist(), contributions.tolist()
    ([2, 4, 2], [50.0, 37.5, 37.5])
    """
    check_table(table, "table")
    quasi = check_columns(table, list(table.columns) if quasi is None else quasi, "quasi")
    m = len(quasi)
    largest = m if max_size is None else check_integer(max_size, "max_size", low=1, high=m)
    n_sets = sum(math.comb(m, size) for size in range(1, largest + 1))
    check_work(n_sets * (len(table) + _SET_COST), "quasi", f"{n_sets:,} sets of columns", "give a smaller `max_size`")
    codes = [encode_column(table[column])[0] for column in quasi]
    everyone = _bits(_uniques(codes))
    scores = np.zeros(len(table), dtype=object if math.factorial(m) > _LARGEST_SCORE else np.int64)
    by_column = dict.fromkeys(range(m), 0)
    below: dict[tuple[int, ...], int] = {(): 0}
    for size in range(1, largest + 1):
        points, unique_on = math.factorial(m - size), {}
        for columns in combinations(range(m), size):
            explained = 0
            for place in range(size):
                explained |= below[columns[:place] + columns[place + 1 :]]
            if explained == everyone:  # unique on a smaller set already, all that ever will be
                unique_on[columns] = everyone
                continue
            unique_on[columns] = unique = _bits(_uniques([codes[column] for column in columns]))
            minimal = _places(unique & ~explained, len(table))
            scores[minimal] += points
            for column in columns:
                by_column[column] += points * len(minimal)
        below = unique_on
    total = sum(scores.tolist())
    contributions = [100 * points / total if total else np.nan for points in by_column.values()]
    return pd.Series(scores, index=table.index, name="score"), pd.Series(contributions, index=quasi, dtype=np.float64)


def _uniques(codes: list[IntArray]) -> BoolArray:
    ids = class_ids(codes)[0]
    unique: BoolArray = np.bincount(ids)[ids] == 1
    return unique


def _bits(mask: BoolArray) -> int:
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def _places(bits: int, n: int) -> IntArray:
    packed = np.frombuffer(bits.to_bytes(-(-n // 8), "little"), dtype=np.uint8)
    return np.flatnonzero(np.unpackbits(packed, bitorder="little", count=n))
