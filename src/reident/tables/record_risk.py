"""Metric. Risk of each record of a sample, by its class and survey weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
import pandas as pd

from reident.base import (
    Choice,
    FloatArray,
    ParameterError,
    check_columns,
    check_table,
    check_vector,
    checked,
)
from reident.tables.classes import class_ids, encode_column, missing_rows, wildcard_counts

__all__ = ["individual_risk"]

# From which sizes of a class on a series is summed, and how many of its terms: all others are below rounding.
_LARGE, _TERMS = 50, 25


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
