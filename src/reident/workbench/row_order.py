"""Whether the rows of a release stand in the order of the original, by which whoever has that links them all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from reident.base import IntArray, is_numeric
from reident.tables.agreement import compare_columns
from reident.tables.classes import class_ids
from reident.tables.labels import texts_of

__all__ = ["told_of_order"]

#: Rows from which the order is told.
_ROWS = 5000
#: The fewest rows that tell an order, turns of them to compare it with, and spreads beyond which it is none by chance.
_FEWEST, _TURNS, _SPREADS = 30, 40, 6


def told_of_order(before: pd.DataFrame, after: pd.DataFrame) -> tuple[tuple[str, ...], int, str] | None:
    """Return the columns that both have, how many rows were looked at, and what tells the order; None if nothing does.

    Those that can be told rise, or row by row the files agree beyond chance. Rows that are sorted by what they say
    themselves tell nothing by that; those that are tied there may.
    """
    after = after.loc[:, [kind.name != "geometry" for kind in after.dtypes]]
    common = [name for name in after.columns if name in before.columns]
    few = slice(None, None, max(1, len(after) // _ROWS))  # every second or third row tells the order as well
    tied = _tied(after)[few]
    if len(tied) < _FEWEST or tied[0] == tied[-1] == -1:
        return None
    same = [name for name in common if before[name].dtype == after[name].dtype]
    rows = _positions(before, after.iloc[few], same)
    told = np.flatnonzero(np.isfinite(rows))
    steps = np.diff(rows[told])[np.diff(tied[told]) == 0]
    steps = steps[steps != 0]
    rising = float((steps > 0).mean()) if len(steps) >= _FEWEST else 0.5
    # In a random order each step rises or falls alike; neighbouring steps are dependent, which narrows the spread.
    if abs(rising - 0.5) * np.sqrt(12 * len(steps)) >= _SPREADS:
        found = f"{rising:.0%} of the steps between rows that can be told rise"
    elif len(before) == len(after) and _aligned(before.iloc[few], after.iloc[few], common, tied):
        found = "row by row they agree with it beyond chance"
    else:
        return None
    return tuple(map(str, common)), len(tied), f"the rows stand in the original's order, shuffle them: {found}"


def _tied(table: pd.DataFrame) -> IntArray:
    """Return the numbers of rows that are tied in the columns by which a table is sorted; -1 where none are left.

    One group for a table that is not sorted.
    """
    codes = [column for name in table for column in _sortings(table[name])]
    tied, sorting = np.zeros(len(table), dtype=np.int64), True
    while sorting:
        sorting = False
        for column in codes:
            steps = np.diff(column)[np.diff(tied) == 0]
            if steps.any() and ((steps >= 0).all() or (steps <= 0).all()):
                tied = np.concatenate([[0], np.cumsum((np.diff(tied) != 0) | (np.diff(column) != 0))])
                sorting = True
    same = [np.diff(column)[np.diff(tied) == 0] for column in codes]
    return tied if any(steps.any() for steps in same) else np.full(len(table), -1)


def _sortings(column: pd.Series) -> list[IntArray]:
    """Return the codes of a column as it may be sorted: by the values, and by their texts."""
    texts = pd.factorize(texts_of(column).fillna(""), sort=True)[0].astype(np.int64)
    if not pd.api.types.is_numeric_dtype(column):
        return [texts]
    return [pd.factorize(column, sort=True, use_na_sentinel=False)[0].astype(np.int64), texts]


def _aligned(before: pd.DataFrame, after: pd.DataFrame, common: list[Any], tied: IntArray) -> bool:
    """Tell whether rows at the same place agree more than after each turn of the rows that are tied."""
    rows = np.arange(len(after))
    first, size = np.searchsorted(tied, tied), np.bincount(tied)[tied]
    shifts: list[IntArray] = [0 * size, *(1 + turn * (size - 1) // _TURNS for turn in range(_TURNS))]
    turned = [(first + (rows - first + shift) % size)[size > 1] for shift in shifts]
    rows = rows[size > 1]
    if len(rows) < _FEWEST:
        return False
    before, after = (table.reset_index(drop=True) for table in (before, after))
    for name in common:
        if all(is_numeric(table[name]) for table in (before, after)):
            mine, theirs = (table[name].rank().fillna(0).to_numpy(float) for table in (before, after))
            agree = np.array([-np.abs(mine[rows] - theirs[order]) for order in turned])
        else:
            column = compare_columns(before, after, [name])[name]
            agree = np.array([column.agree(rows, order) for order in turned], float)
        own, others = float(agree[0].mean()), agree[1:].mean(axis=1)
        spread = max(float(others.std()), float(agree[1:].std()) / len(rows) ** 0.5)
        if own > others.mean() + _SPREADS * spread + 1e-9:
            return True
    return False


def _positions(before: pd.DataFrame, after: pd.DataFrame, common: list[Any]) -> np.ndarray:
    """Return the original's position of each released row, NaN if the columns that were not changed tell none."""
    same = [
        name for name in common
        if not isinstance(before[name].iloc[:1].tolist()[0] if len(before) else None, list)
        and after[name].isin(before[name]).mean() > 0.99
    ]  # fmt: skip
    if not same:
        return np.full(len(after), np.nan)
    codes = [pd.factorize(pd.concat([before[name], after[name]]), use_na_sentinel=False)[0] for name in same]
    both = class_ids(codes)[0]
    place = pd.Series(np.arange(len(before)), index=both[: len(before)])
    return place[~place.index.duplicated(keep=False)].reindex(both[len(before) :]).to_numpy(np.float64)
