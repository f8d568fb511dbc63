"""Anonymiser. Generalisation hierarchies: the label of each value of an attribute on every level."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident.base import (
    DataError,
    FloatArray,
    IntArray,
    ParameterError,
    check_integer,
    check_listed,
    check_mapping,
    check_names,
    check_real,
    check_vector,
)
from reident.tables.classes import look_of, text_of

_SHOWN = 10


def _shown(values: Sequence[Any]) -> str:
    listed = ", ".join(repr(value) for value in values[:_SHOWN])
    return f"{listed}, ... ({len(values)} in all)" if len(values) > _SHOWN else listed


class Hierarchy:
    """Labels of an attribute's values on each level of generalisation.

    Level 0 is the value itself; the last level is usually one label for all (``"*"``).

    Parameters
    ----------
    rows : DataFrame or sequence of sequences
        One row a value, one column a level: the value, then its label on level 1, 2, ...

    Raises
    ------
    DataError
        If there is no row, a label is missing, a value stands in two rows, or the hierarchy is not monotone: two
        values that share a label on one level must share their labels on all higher levels. The message names the
        values.

    Examples
    --------
    >>> sex = Hierarchy([["female", "*"], ["male", "*"]])
    >>> sex.n_levels
    2
    >>> zips = Hierarchy.from_prefixes(["13053", "13068", "14850"])
    >>> zips.labels_of("13053")
    ['13053', '1305*', '130**', '13***', '1****', '*****']
    """

    def __init__(self, rows: pd.DataFrame | Sequence[Sequence[Any]]) -> None:
        frame = rows if isinstance(rows, pd.DataFrame) else _frame(rows)
        if not frame.shape[0] or not frame.shape[1]:
            raise DataError(f"`rows` must hold at least one value and one level, got shape {frame.shape}")
        self._labels: list[pd.Index] = []
        codes = []
        for level in range(frame.shape[1]):
            column = frame.iloc[:, level]
            if column.isna().any():
                values = frame.iloc[:, 0][column.isna()].tolist()
                raise DataError(f"`rows` must have a label on every level, none on level {level} for {_shown(values)}")
            try:
                level_codes, labels = pd.factorize(column)
            except TypeError:
                raise DataError(f"`rows` must hold labels, got lists or mappings on level {level}") from None
            codes.append(level_codes)
            self._labels.append(pd.Index(labels))
        self._codes: IntArray = np.asarray(codes, dtype=np.int64)
        counts = np.bincount(self._codes[0])
        if counts.max() > 1:
            twice = self._labels[0][counts > 1].tolist()
            raise DataError(f"`rows` must have one row a value, got more than one for {_shown(twice)}")
        self._check_monotone()
        self._row_of = {value: row for row, value in enumerate(self._labels[0])}
        self._row_of_text = {look_of(text_of(value)): row for row, value in enumerate(self._labels[0])}

    def _check_monotone(self) -> None:
        for level in range(1, self.n_levels):
            below, above = self._codes[level - 1], self._codes[level]
            parent = np.full(len(self._labels[level - 1]), -1, dtype=np.int64)
            parent[below[::-1]] = above[::-1]  # the first row of a label decides
            torn = np.flatnonzero(parent[below] != above)
            if torn.size:
                row = int(torn[0])
                other = int(np.flatnonzero(below == below[row])[0])
                raise DataError(
                    f"`rows` must be monotone: {self._labels[0][other]!r} and {self._labels[0][row]!r} are both "
                    f"{self._labels[level - 1][below[row]]!r} on level {level - 1} but "
                    f"{self._labels[level][above[other]]!r} and {self._labels[level][above[row]]!r} on level {level}"
                )

    @property
    def n_levels(self) -> int:
        """The number of levels, the value itself included."""
        return len(self._labels)

    def __repr__(self) -> str:
        sizes = " > ".join(str(len(labels)) for labels in self._labels)
        return f"Hierarchy({len(self._labels[0])} values, {self.n_levels} levels of {sizes} labels)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hierarchy) and self.to_frame().map(text_of).equals(other.to_frame().map(text_of))

    __hash__ = None  # type: ignore[assignment]

    def labels_of(self, value: Hashable) -> list[Any]:
        """Return the labels of one value on all levels."""
        row = self.rows_of(pd.Index([value]), "value")[0]
        return [labels[codes[row]] for labels, codes in zip(self._labels, self._codes, strict=True)]

    def rows_of(self, values: pd.Index, name: str) -> IntArray:
        """Return the row of each of some distinct values.

        A value is matched as it is and, failing that, by its text as it looks, so that the number 39 meets the text
        "39" of a CSV file, and "Köln" that of another Unicode form.

        Raises
        ------
        DataError
            If values are missing from the hierarchy; the message names them.
        """
        rows = np.array([self._row_of.get(value, -1) for value in values], dtype=np.int64)
        for place in np.flatnonzero(rows < 0):
            rows[place] = self._row_of_text.get(look_of(text_of(values[place])), -1)
        if (rows < 0).any():
            missing = [value for value, row in zip(values, rows, strict=True) if row < 0]
            raise DataError(f"the hierarchy of `{name}` must know every value, it lacks {_shown(missing)}")
        return rows

    def codes_at(self, level: int) -> IntArray:
        """Return the label code of each row on a level."""
        return self._codes[level]

    def generalise(self, column: pd.Series, level: int) -> pd.Series:
        """Return a column generalised to a level. Level 0 returns it as it is, in one spelling a value."""
        if not isinstance(column, pd.Series):
            raise DataError(f"`column` must be a pandas Series, got {type(column).__name__}")
        check_integer(level, "level", low=0, high=self.n_levels - 1)
        codes, values = pd.factorize(column, use_na_sentinel=False)
        rows = self.rows_of(pd.Index(values), str(column.name))
        if level == 0 and len(np.unique(rows)) == len(values):
            return column.copy()
        labels = self._labels[level].take(self._codes[level][rows])
        return pd.Series(labels.take(codes), index=column.index, name=column.name)

    def to_frame(self) -> pd.DataFrame:
        """Return the hierarchy as a table, one row a value, one column a level."""
        return pd.DataFrame(
            {
                level: labels.take(codes)
                for level, (labels, codes) in enumerate(zip(self._labels, self._codes, strict=True))
            }
        )

    @classmethod
    def from_csv(cls, path: str | Path, sep: str = ";") -> Hierarchy:
        """Read the form that ARX uses: one row a value, one column a level, no header, all of it text.

        Parameters
        ----------
        path : str or Path
        sep : str
            The separator of the levels.

        Raises
        ------
        DataError
            If the file cannot be read, rows have different numbers of levels, and whatever the constructor refuses.
        """
        try:
            with Path(path).open(newline="", encoding="utf-8-sig") as file:
                rows = [row for row in csv.reader(file, delimiter=sep) if row]
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"`path` must be a text file that can be read, got {str(path)!r}: {error}") from error
        return cls(_frame(rows, Path(path).name))

    # -- ways to make one ----------------------------------------------------------------------------------------

    @classmethod
    def from_mapping(cls, *mappings: Mapping[Any, Any], top: str | None = "*") -> Hierarchy:
        """Make a hierarchy from mappings: the first from values to labels, the next from labels to labels.

        Parameters
        ----------
        *mappings : mapping
        top : str or None
            The label of an added last level, None for no such level.

        Examples
        --------
        >>> marital = {"married": "in marriage", "single": "alone", "widowed": "alone"}
        >>> Hierarchy.from_mapping(marital).labels_of("widowed")
        ['widowed', 'alone', '*']
        """
        if not mappings:
            raise ParameterError("`mappings` must hold at least one mapping, got none")
        for place, mapping in enumerate(mappings):
            check_mapping(mapping, f"mappings[{place}]")
        rows = [[value] for value in mappings[0]]
        for level, mapping in enumerate(mappings, start=1):
            missing = list(dict.fromkeys(row[-1] for row in rows if row[-1] not in mapping))
            if missing:
                raise DataError(
                    f"mapping {level} of `mappings` must know every label below, it lacks {_shown(missing)}"
                )
            rows = [[*row, mapping[row[-1]]] for row in rows]
        return cls([[*row, top] for row in rows] if top is not None else rows)

    @classmethod
    def from_prefixes(cls, values: Iterable[Any]) -> Hierarchy:
        """Make a hierarchy that masks one more character from the right on every level (postcodes).

        Parameters
        ----------
        values : iterable
            Texts of one length; a number is padded with zeros on the left to that of the longest.
        """
        known = _distinct(values)
        texts = [text_of(value) for value in known]
        width = max(map(len, texts))
        rows = []
        for value, text in zip(known, texts, strict=True):
            padded = text.zfill(width) if not isinstance(value, str) else text
            if len(padded) != width:
                raise DataError(f"`values` must all have {width} characters, got {value!r}: pad them first")
            rows.append([value, *(padded[: width - hidden] + "*" * hidden for hidden in range(1, width + 1))])
        return cls(rows)

    @classmethod
    def from_dates(cls, values: Iterable[Any]) -> Hierarchy:
        """Make a hierarchy from days to months, years, decades and ``"*"``; from times to days first.

        Parameters
        ----------
        values : iterable of dates or times, or of text ``YYYY-MM-DD``

        Examples
        --------
        >>> Hierarchy.from_dates(["2020-02-29", "1999-12-31"]).labels_of("2020-02-29")
        ['2020-02-29', '2020-02', '2020', '202*', '*']
        """
        known = sorted(_distinct(values), key=text_of)
        days = [text_of(value)[:10] for value in known]
        bad = [value for value, day in zip(known, days, strict=True) if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", day)]
        if bad:
            raise DataError(f"`values` must be dates or texts such as 2020-02-29, got {_shown(bad)}")
        timed = any(text_of(value)[10:] not in ("", " 00:00:00") for value in known)
        pairs = zip(known, days, strict=True)
        return cls([[value, *([day] if timed else []), day[:7], day[:4], f"{day[:3]}*", "*"] for value, day in pairs])

    @classmethod
    def from_intervals(cls, values: Iterable[Any], widths: Sequence[float], *, origin: float = 0) -> Hierarchy:
        """Make a hierarchy of intervals of growing width, and ``"*"``.

        Parameters
        ----------
        values : iterable of numbers
        widths : sequence of float
            The width on level 1, 2, ...; each a multiple of the one before, or the intervals would not nest.
        origin : float
            Where an interval starts on every level.

        Examples
        --------
        >>> Hierarchy.from_intervals([17, 18, 25, 90], [5, 10], origin=0).labels_of(18)
        [18, '[15, 20)', '[10, 20)', '*']
        """
        known = _distinct(values)
        numbers = check_vector(known, "values")
        check_real(origin, "origin")
        widths = check_listed(widths, "widths")
        for narrow, wide in zip([None, *widths], widths, strict=False):
            if not (isinstance(wide, int | float) and math.isfinite(wide) and wide > 0):
                raise ParameterError(f"`widths` must be numbers above 0, got {wide!r}")
            if narrow is not None and not math.isclose(wide / narrow, round(wide / narrow), rel_tol=1e-9):
                raise ParameterError(f"`widths` must each be a multiple of the one before, got {narrow} and {wide}")
        exact = [Fraction(str(widths[-1]))] if widths else []
        for narrow, wide in zip(widths[-2::-1], widths[:0:-1], strict=True):
            exact.insert(0, exact[0] / round(wide / narrow))
        columns: list[list[Any]] = [_interval_labels(numbers, Fraction(str(origin)), width) for width in exact]
        return cls([[*row, "*"] for row in zip(known, *columns, strict=True)])


def _interval_labels(numbers: FloatArray, origin: Fraction, width: Fraction) -> list[str]:
    """Return the interval of each number; the ends as they are printed decide, not a quotient in floating point."""
    steps = np.floor((numbers - float(origin)) / float(width))
    if not (np.abs(steps) < 2**52).all():
        raise ParameterError(f"`widths` must not be so small that intervals cannot be counted, got {float(width):g}")

    def ends(shift: int) -> FloatArray:
        distinct, place = np.unique(steps, return_inverse=True)
        return np.array([float(origin + width * (int(step) + shift)) for step in distinct])[place]

    for _ in range(2):
        steps += (numbers >= ends(1)).astype(float) - (numbers < ends(0))
    low, high = ends(0), ends(1)
    if not ((low <= numbers) & (numbers < high)).all():
        raise ParameterError(f"`widths` must separate neighbouring doubles of `values`, got {float(width):g}")
    return [f"[{text_of(a)}, {text_of(b)})" for a, b in zip(low.tolist(), high.tolist(), strict=True)]


def _distinct(values: Iterable[Any]) -> list[Any]:
    listed = check_names(values, "values")
    if not listed:
        raise DataError("`values` must have at least one value, got none")
    index = pd.Index(pd.unique(pd.Series(listed)))
    if index.hasnans:
        raise DataError(f"`values` must not be missing, got {int(index.isna().sum())} missing")
    return index.tolist()


def _frame(rows: Sequence[Sequence[Any]], name: str = "rows") -> pd.DataFrame:
    """Make a table of rows that must be equally long; only None and NaN count as missing."""
    if any(isinstance(row, str) or not isinstance(row, Sequence) for row in check_listed(rows, name)):
        raise DataError(f"`{name}` must be rows of a value and its labels, got {rows!r}")
    short = next((row for row in rows if len(row) != len(rows[0])), None)
    if short is not None:
        raise DataError(
            f"`{name}` must have the same number of levels in every row, got {len(rows[0])} for {rows[0][0]!r} "
            f"and {len(short)} for {short[0] if short else ''!r}"
        )
    return pd.DataFrame([list(row) for row in rows], dtype=object)
