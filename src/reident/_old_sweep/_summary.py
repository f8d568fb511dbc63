"""Repetitions of a sweep, summarised."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from reident.base import DataError, check_columns, check_real, check_table

__all__ = ["summarise"]


def summarise(
    frame: pd.DataFrame, by: str | Iterable[str], *, level: float = 0.95, measures: Iterable[str] | None = None
) -> pd.DataFrame:
    """Summarise the repetitions of a sweep: mean, standard error and interval of every measure.

    Parameters
    ----------
    frame : DataFrame
        As `run` returns it.
    by : str or iterable of str
        Columns that make the groups; trials that agree in them count as repetitions of one another.
    level : float, default .95
        The coverage of the interval, by Student's t over the repetitions; it says how far the mean may be off by
        the number of repetitions, not how far a single release may lie from it.
    measures : iterable of str, optional
        Default: the numeric and boolean columns after `seed_key`, or all such columns outside `by` if there is none.

    Returns
    -------
    DataFrame
        `by`, ``measure``, ``n`` (values that are not missing), ``mean``, ``se``, ``low``, ``high``, in the order of
        first appearance. A single value has no standard error and no interval (NaN).
    """
    from scipy.special import stdtrit

    check_table(frame, "frame")
    level = check_real(level, "level", low=0, high=1, open_low=True, open_high=True)
    groups = check_columns(frame, by, "by", table_name="frame")
    names = _measure_columns(frame, groups) if measures is None else check_columns(frame, measures, "measures")
    if not names:
        raise DataError("`frame` must have at least one numeric measure, got none")
    long = frame[groups].assign(**{name: frame[name].astype(float) for name in names})
    long = long.melt(id_vars=groups, value_vars=names, var_name="measure", value_name="_value")
    grouped = long.groupby([*groups, "measure"], sort=False, dropna=False, observed=True)["_value"]
    tidy = grouped.agg(n="count", mean="mean", se="sem").reset_index()
    order = frame[groups].drop_duplicates().reset_index(drop=True)
    order["_order"] = np.arange(len(order))
    tidy = tidy.merge(order, on=groups, how="left").sort_values("_order", kind="stable").drop(columns="_order")
    freedom = np.maximum(tidy["n"].to_numpy() - 1, 1)
    half = stdtrit(freedom, 0.5 + level / 2) * tidy["se"]
    return tidy.assign(low=tidy["mean"] - half, high=tidy["mean"] + half).reset_index(drop=True)


def _measure_columns(frame: pd.DataFrame, groups: list[str]) -> list[str]:
    columns = list(frame.columns)
    if "seed_key" in columns:
        columns = columns[columns.index("seed_key") + 1 :]
    return [name for name in columns if name not in groups and pd.api.types.is_numeric_dtype(frame[name].dtype)]
