"""Columns of a release that nobody can explain, and that may hold what it no longer shows of the persons."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from reident.tables.labels import texts_of
from reident.workbench.cell_audit import Finding

__all__ = ["unjudged"]

#: Values from which on a column may tell persons apart, as a number and as a share of the records.
_LEAST, _SHARE = 10, 0.1
#: How much the shares of codes and of the values for which they may stand differ together.
_APART = 0.1
#: The largest share of distinct values at which how often they occur tells something.
_REPEATED = 0.5


def unjudged(
    release: pd.DataFrame,
    original: pd.DataFrame,
    left: Sequence[Any],
    missing: Sequence[Any],
    read: Collection[Any],
    coarser: Sequence[Any] = (),
) -> list[Finding]:
    """Return a finding for each column `left` over that has many values, where known columns are `missing`.

    Or `coarser` than they were: then for one that has as many values as such a column had, as often.

    A sum, a number or a text without signs may hold what these say, under a key that is not told or not found. New
    running numbers hold nothing; of cells some parts of which were `read` the others are asked.
    """
    known, whole = (
        {name: texts_of(original[name]) for name in names if name in original.columns} for names in (missing, coarser)
    )
    found = []
    for name in left if missing or coarser else ():
        part = re.compile(rf"{re.escape(str(name))}(, part \d+|\..*)")
        parts = [one for one in release.columns if part.fullmatch(str(one))]
        columns = parts if any(part.match(str(one)) for one in read) else [name]
        cells = texts_of(release[name]).dropna()
        asked = [texts_of(release[one]).dropna() for one in columns]
        of = list(missing) if missing and any(_tells_apart(one, known.values()) for one in asked) else []
        of += [one for one, own in whole.items() if any(_as_often(key, own) for key in asked)]
        if not of:
            continue
        told = (
            f"{name}: nobody has judged what this column of the release, which the original lacks, says of "
            f"{', '.join(map(str, of))}: --called {of[0]}={name} says what it holds, --new {name} that it "
            "says nothing of what is known (in Python `called`, `new`)."
        )
        found.append(Finding("release", "cells", "unread column", (str(name),), int(cells.nunique()), told))
    return found


def _is_running(cells: pd.Series) -> bool:
    """Whether cells are numbers without large gaps, one a record, perhaps with the same letters before them."""
    parts = cells.str.extract(r"^(\D*)(\d{1,15})(?:\.0)?$")
    if not len(cells) or parts[1].isna().any() or len(set(parts[0])) > 1 or not cells.is_unique:
        return False
    numbers = parts[1].astype("int64")
    return bool(numbers.max() - numbers.min() <= 2 * len(numbers))


def _as_often(cells: pd.Series, column: pd.Series) -> bool:
    """Whether cells have as many values as a column, as often, and enough that repeat to tell."""
    own, shares = (one.value_counts(normalize=True).to_numpy() for one in (column, cells))
    if len(own) != len(shares) or len(own) < _LEAST or len(own) > _REPEATED * len(cells):
        return False
    return bool(np.abs(own - shares).sum() <= _APART)


def _tells_apart(cells: pd.Series, known: Iterable[pd.Series]) -> bool:
    """Whether cells have many values, or some that are as frequent as those of a known column."""
    shares = cells.value_counts(normalize=True).to_numpy()
    if len(shares) < _LEAST or _is_running(cells):
        return False
    if len(shares) > _SHARE * len(cells):
        return True
    for column in known:
        own = column.value_counts(normalize=True).to_numpy()
        if len(own) == len(shares) and np.abs(own - shares).sum() <= _APART:
            return True
    return False
