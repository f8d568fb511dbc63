"""Metric. Risks of records of a sample: by survey weights, by special uniqueness (SUDA), unique in the population."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Annotated

import numpy as np
import pandas as pd

from reident.base import (
    BoolArray,
    Choice,
    DataError,
    FloatArray,
    IntArray,
    ParameterError,
    Real,
    check_columns,
    check_integer,
    check_table,
    check_vector,
    check_work,
    checked,
)
from reident.tables.classes import class_ids, encode_column, missing_rows, table_classes, wildcard_counts
from reident.tables.disclosure import equivalence_classes

# From which sizes of a class on a series is summed, and how many of its terms: all others are below rounding.
_LARGE, _TERMS = 50, 25

#: Cost of grouping by one set of columns beside its records, in records.
_SET_COST = 2_000

#: Scores add up to less than twice the factorial of the number of columns: below this they fit 64 bits.
_LARGEST_SCORE = 2**62


@checked
def individual_risk(
    table: pd.DataFrame,
    quasi: str | Sequence[str],
    weights: str | None = None,
    *,
    missing: Annotated[str, Choice("value", "drop", "raise", "wildcard")] = "value",
) -> pd.DataFrame:
    """Return the risk that each record of a sample is rightly found in the population, by its class and weights.

    The number of people in the population who share a record's class is unknown; the survey weights of the class give
    its mean, and the risk is the mean of one over that number given the class in the sample. It is a model's risk: no
    better than the weights.

    Parameters
    ----------
    table : DataFrame
    quasi : str or sequence of str
        The quasi-identifiers.
    weights : str, optional
        The column of survey weights: how many people of the population a record stands for, at least 1 each. None:
        the sample is the population, and the risk is one over the size of the class.
    missing : {"value", "drop", "raise", "wildcard"}
        A missing quasi-identifier is a value of its own, a record to leave out, an error, or any value.

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
        ids = table_classes(table, quasi)[0]
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
        The columns compared; all for None. A missing value is a value of its own.
    max_size : int, optional
        Sets with more columns are left out. None: all.

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
    all_unique = _bits(_uniques(codes))
    scores = np.zeros(len(table), dtype=object if math.factorial(m) > _LARGEST_SCORE else np.int64)
    by_column = dict.fromkeys(range(m), 0)
    below: dict[tuple[int, ...], int] = {(): 0}
    for size in range(1, largest + 1):
        points, unique_on = math.factorial(m - size), {}
        for columns in combinations(range(m), size):
            explained = 0
            for place in range(size):
                explained |= below[columns[:place] + columns[place + 1 :]]
            if explained == all_unique:  # unique on a smaller set already, all that ever will be
                unique_on[columns] = all_unique
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


@checked
def population_uniques(
    table: pd.DataFrame,
    quasi: str | Sequence[str],
    *,
    sampling_fraction: Annotated[float, Real(0, 1, open_low=True)],
    model: Annotated[str, Choice("pitman", "zayatz")] = "pitman",
    missing: Annotated[str, Choice("value", "drop", "raise")] = "value",
) -> float:
    """Return the estimated share of the population that is unique in its quasi-identifiers.

    Only these of the sample's uniques are certain finds for an intruder who does not know the persons sampled. The
    models guess the classes that the sample missed, and may be off by a factor of two: compare both.

    Parameters
    ----------
    table : DataFrame
        A simple random sample of the population.
    quasi : str or sequence of str
        The quasi-identifiers.
    sampling_fraction : float
        Records over people, in (0, 1].
    model : {"pitman", "zayatz"}
        Pitman's sampling formula with two parameters, fitted by maximum likelihood: good for small fractions.
        Zayatz's estimate, which takes the sample's class sizes for the population's: good for large ones.
    missing : {"value", "drop", "raise"}
        As for `equivalence_classes`.

    Returns
    -------
    float
        A share of the population, in [0, 1].

    Raises
    ------
    DataError
        If every record is left out, or the Pitman model does not fit: all records unique, or none.
    ParameterError
        If `sampling_fraction` lies outside (0, 1], or the model is unknown.

    Notes
    -----
    Hoshino (2001), J. Official Stat. 17, 499-520: uniques are Gamma(theta + 1) / Gamma(theta + alpha) N^alpha.
    Zayatz (1991): a sample unique is one of the population with the chance that a class of size 1 is met once, against
    that of all sizes in the sample's proportions (hypergeometric). Dankar et al. (2012) compare them.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [30, 30, 31, 32, 33, 33, 33, 34]})
    >>> round(population_uniques(table, "age", sampling_fraction=0.5, model="zayatz"), 4)
    0.2312
    """
    ids = equivalence_classes(table, quasi, missing=missing)
    if not (ids >= 0).any():
        raise DataError("`table` must have at least one record in a class: all are suppressed or left out")
    sizes, classes = np.unique(np.bincount(ids[ids >= 0]), return_counts=True)
    n = int(sizes @ classes)
    population = n / sampling_fraction
    share = _pitman(sizes, classes, population) if model == "pitman" else _zayatz(sizes, classes, round(population))
    return float(np.clip(share, 0.0, 1.0))


def _pitman(sizes: IntArray, classes: IntArray, population: float) -> float:
    from scipy.optimize import minimize
    from scipy.special import gammaln

    n, u = int(sizes @ classes), int(classes.sum())
    if u in (1, n) or sizes[0] > 1:
        raise DataError(f"the Pitman model needs some unique records and some that are not, got {u} classes of {n}")
    rising = np.arange(1, u)

    def unlikely(at: FloatArray) -> float:
        """Return minus the log-likelihood, up to a constant; theta = exp(at[0]), alpha = expit(at[1])."""
        theta, alpha = np.exp(at[0]), 1 / (1 + np.exp(-at[1]))
        within = classes @ (gammaln(sizes - alpha) - gammaln(1 - alpha))
        return float(-np.log(theta + rising * alpha).sum() + gammaln(theta + n) - gammaln(theta + 1) - within)

    best = minimize(unlikely, [np.log(n / 10), 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-9})
    theta, alpha = np.exp(best.x[0]), 1 / (1 + np.exp(-best.x[1]))
    return float(np.exp(gammaln(theta + 1) - gammaln(theta + alpha) + (alpha - 1) * np.log(population)))


def _zayatz(sizes: IntArray, classes: IntArray, population: int) -> float:
    from scipy.stats import hypergeom

    if sizes[0] > 1:
        return 0.0
    n = int(sizes @ classes)
    once = hypergeom.pmf(1, population, sizes, n)
    return float(classes[0] ** 2 * once[0] / (classes @ once) / n)
