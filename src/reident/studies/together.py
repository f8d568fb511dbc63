"""The cells of a table judged together: its level, slopes and contrasts, each with an interval over draws of the data.

Cells of one draw depend on one another, so that no interval over cells means anything; a number made of all cells of
a draw is one observation, and the draws are independent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from reident.studies.comparison import Reading

__all__ = ["STATISTICS", "confidence", "prediction", "together"]


def _slope(table: pd.DataFrame) -> float:
    """Return the least-squares slope of the row means, per row."""
    means = table.mean(axis=1).to_numpy(float)
    place = np.arange(len(means)) - (len(means) - 1) / 2
    return float(place @ means / (place @ place))


def _ends(table: pd.DataFrame) -> float:
    return float(table.iloc[-1].mean() - table.iloc[0].mean())


#: What is made of a table: name in the claim, and how.
STATISTICS: dict[str, Callable[[pd.DataFrame], float]] = {
    "mean of all cells": lambda table: float(table.to_numpy(float).mean()),
    "slope from row to row": _slope,
    "slope from column to column": lambda table: _slope(table.T),
    "last row against first": _ends,
    "last column against first": lambda table: _ends(table.T),
}


def together(claim: str, cells: pd.DataFrame, printed: pd.Series, **reading: Any) -> list[Reading]:
    """Return one reading for each statistic of a table.

    Parameters
    ----------
    claim : str
        The table's claim; those of the statistics are ``"<claim>: <statistic>"``.
    cells : DataFrame
        Columns ``draw``, ``row``, ``column`` and ``value``: one line a cell and independent draw of the data.
    printed : Series
        The printed cells, by row and column; those that were not computed are left out.
    **reading
        What else goes into each reading.
    """
    cells = cells[[cell in printed.index for cell in zip(cells["row"], cells["column"], strict=True)]]
    drawn = {draw: _table(part.set_index(["row", "column"])["value"]) for draw, part in cells.groupby("draw")}
    if not drawn:
        return []
    shape = next(iter(drawn.values()))
    print_ = _table(printed).loc[shape.index, shape.columns]
    found = []
    for name, statistic in STATISTICS.items():
        if name.endswith(("row to row", "row against first")) and len(shape) < 2:
            continue
        if name.endswith(("column to column", "column against first")) and shape.shape[1] < 2:
            continue
        values = np.array([statistic(table) for table in drawn.values()])
        low, high = prediction(values)
        found.append(
            Reading(
                f"{claim}: {name}", values.mean(), low, high, published=statistic(print_), draws=values.size, **reading
            )
        )
    return found


def _table(cells: pd.Series) -> pd.DataFrame:
    frame = cells.rename("value").reset_index()
    return frame.pivot_table(index="row", columns="column", values="value")


def prediction(values: Any, level: float = 0.95) -> tuple[float, float]:
    """Return Student's interval for one further draw; missing for fewer than two."""
    return _student(values, level, further=1)


def confidence(values: Any, level: float = 0.95) -> tuple[float, float]:
    """Return Student's interval for the mean over draws; missing for fewer than two."""
    return _student(values, level, further=0)


def _student(values: Any, level: float, *, further: int) -> tuple[float, float]:
    from scipy.special import stdtrit

    values = np.asarray(values, dtype=float)
    if values.size < 2:
        return float("nan"), float("nan")
    half = stdtrit(values.size - 1, (1 + level) / 2) * values.std(ddof=1) * np.sqrt(further + 1 / values.size)
    return float(values.mean() - half), float(values.mean() + half)
