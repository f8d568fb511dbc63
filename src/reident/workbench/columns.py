"""Type the cells of a column as whole numbers, numbers, dates or text; each conversion has a receipt."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from reident.tables.classes import look_of
from reident.workbench.cells import (
    AMONG_NUMBERS,
    DAYS,
    NO_ANSWER,
    NO_DAY,
    NUMBER,
    count_cells,
    impossible_days,
    matches,
    read_dates,
    read_numbers,
    unit_of,
    without_century,
)

_NEGATIVE_CODES = (-9, -99, -999, -9999, -1, -8, -7)


@dataclass
class Typed:
    """A column with its type and the changes of reading it.

    Attributes
    ----------
    cells : Series
    type : {"integer", "number", "date", "text", "geometry"}
    receipts : list of str
        Each conversion that does not write back what was read.
    notes : list of str
        What a custodian should look at; nothing was changed.
    """

    cells: pd.Series
    type: str
    receipts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def file_decimal(table: pd.DataFrame, separator: str) -> str:
    """Tell whether a file of texts writes 1.5 or 1,5: by its columns, else by its separator."""
    commas = 0
    for name in table.columns:
        cells = [cell.strip() for cell in pd.unique(table[name])[:2000] if cell.strip() not in AMONG_NUMBERS | {""}]
        signs = [sign for sign, form in NUMBER.items() if cells and matches(cells, form).mean() > 0.95]
        if len(signs) == 1 and any(signs[0] in cell for cell in cells):
            commas += 1 if signs == [","] else -1
    return "," if commas > 0 or (commas == 0 and separator == ";") else "."


def type_text(
    column: pd.Series, decimal: str, *, missing: Sequence[str] | None = None, text: bool = False, numbers: bool = True
) -> Typed:
    """Type a column of texts. A column becomes numbers or dates only where nearly all of its cells are such.

    Parameters
    ----------
    column : Series of str
    decimal : {".", ","}
    missing : sequence of str, optional
        Cells that mean "missing", beside the empty one and those that a custodian would read so; an empty list: none
        but the empty one. Each but the empty one gets a receipt.
    text : bool
        Leave it as text.
    numbers : bool
        Whether texts may be numbers.
    """
    codes, distinct = pd.factorize(column.astype(object), use_na_sentinel=False)
    cells = ["" if is_gap(cell) else str(cell) for cell in distinct]
    counts, wide = np.bincount(codes, minlength=len(cells)), [cell.strip() for cell in cells]
    guess = missing is None or len(missing) > 0
    absent = {"", *(NO_ANSWER if guess else ()), *(missing or ())}
    known = [cell for cell in wide if cell not in absent]
    typed = None
    if known and not text:
        no_day = absent | (AMONG_NUMBERS | NO_DAY if guess else set())
        typed = read_dates(wide, no_day)
        if typed is None and numbers:
            unit = unit_of(known)
            bare = [cell.removeprefix(unit).removesuffix(unit).strip() for cell in wide]
            typed = read_numbers(column.name, bare, wide, counts, decimal, absent, guess)
    if typed is None:
        texts = [None if cell in absent else whole for cell, whole in zip(wide, cells, strict=True)]
        notes = _written_twice([cell for cell, bare in zip(cells, wide, strict=True) if bare not in absent])
        doubtful = sorted((AMONG_NUMBERS - absent) & set(wide) & {"NA", "na", "None", "none", ".", "-", "--"})
        notes += [f"{cell!r} is kept as a value ({count_cells(wide, counts, {cell})} records)" for cell in doubtful]
        typed = np.array(texts, object), "text", absent, [], [*notes, *without_century(known), *impossible_days(known)]
    values, kind, used, receipts, notes = typed
    for cell in sorted((used - {""}) & set(wide)):
        receipts.append(f"{cell!r} read as missing ({count_cells(wide, counts, {cell})} records)")
    typed_cells = pd.Series(values[codes], column.index, name=column.name)
    if kind == "date":
        return Typed(pd.to_datetime(typed_cells), kind, receipts, notes)
    whole = "Int64" if typed_cells.isna().any() else "int64"
    typed_cells = typed_cells.astype({"integer": whole, "number": "float64", "text": "str"}[kind])
    return Typed(typed_cells, kind, receipts, notes + ([] if kind == "text" else _codes_among(typed_cells)))


def _written_twice(cells: Sequence[str]) -> list[str]:
    """Tell of values that look the same and are not: other Unicode forms, other blanks or more, signs not shown."""
    spellings = Counter(look_of(cell).strip() for cell in dict.fromkeys(cells))
    twice = [look for look, n in spellings.items() if n > 1]
    if not twice:
        return []
    listed = ", ".join(map(repr, twice[:3])) + (", ..." if len(twice) > 3 else "")
    return [f"{listed} is written in several ways that look the same (Unicode forms, kinds of blanks): make them one"]


def _codes_among(values: pd.Series) -> list[str]:
    """Tell which numbers look like codes for missing values: the only negative one, or one far above the others."""
    counts = values.value_counts()
    if len(counts) < 3:
        return []
    numbers = np.sort(counts.index.to_numpy(float))
    codes = [code for code in _NEGATIVE_CODES if numbers[0] == code and numbers[1] >= 0]
    top = numbers[-1]
    codes += [int(top)] if re.fullmatch(r"9{3,}\.0", str(top)) and numbers[-2] < top / 4 else []
    return [f"{code} may mean missing ({counts[code]} records)" for code in codes]


def type_values(
    column: pd.Series, decimal: str | None = None, *, text: bool = False, missing: Sequence[str] | None = None
) -> Typed:
    """Type a column that its file has typed already: plain values, no categories that no record has.

    Texts may be dates, numbers only where their `decimal` sign is known; cells of several kinds are read as the texts
    of a text file are.
    """
    types, receipts = pd.api.types, []
    if isinstance(column.dtype, pd.CategoricalDtype):
        unused = len(column.cat.categories) - column.nunique()
        column = column.astype(column.cat.categories.dtype)
        receipts.append(
            f"categories were made plain values{f', {unused} that no record has left out' if unused else ''}"
        )
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        receipts.append(f"zones are not written back ({column.dtype.tz}): the time is that of the clock there")
        column = column.dt.tz_localize(None)
    kinds = {type(value) for value in column.dropna()} if column.dtype == object else {str}
    mixed = str in kinds and len(kinds) > 1
    if column.dtype == object and not (text or str in kinds):
        column = _plain_objects(column, kinds)
    is_plain = types.is_numeric_dtype(column) or types.is_datetime64_any_dtype(column)  # of which booleans are
    days = types.is_integer_dtype(column) and column.dropna().between(*DAYS).all()
    if is_plain and text and not types.is_bool_dtype(column):
        typed = Typed(column.astype("str").where(column.notna(), None), "text", ["read as text, as asked"])
    elif types.is_bool_dtype(column) or types.is_datetime64_any_dtype(column):
        typed = Typed(column, "text" if types.is_bool_dtype(column) else "date")
    elif is_plain and not days:
        typed = _without_codes(column, missing)
    else:
        texts = _as_texts(column) if mixed else column
        numbers = bool(mixed or days or decimal)
        typed = type_text(texts, decimal or ".", missing=missing, text=text, numbers=numbers)
        if typed.type == "date" and not days:
            typed.receipts.insert(0, "texts become dates")
        elif typed.type != "text" and decimal:
            typed.receipts.insert(0, "texts become numbers")
    typed.receipts[:0] = receipts
    return typed


def _without_codes(column: pd.Series, missing: Sequence[str] | None) -> Typed:
    """Return numbers, those that mean "missing" as gaps."""
    kind, receipts = "integer" if pd.api.types.is_integer_dtype(column) else "number", []
    absent = column.astype(str).isin(set(missing or ())) & column.notna()
    if absent.any():
        column = (column.astype("Int64") if kind == "integer" else column).mask(absent)
        receipts.append(f"{', '.join(map(repr, missing or ()))} read as missing ({absent.sum()} records)")
    return Typed(column, kind, receipts, _codes_among(column.dropna()))


def _as_texts(column: pd.Series) -> pd.Series:
    """Return cells of several kinds as texts; days in texts are written as the other days are."""
    texts = column.map(lambda cell: "" if is_gap(cell) else _cell_text(cell))
    days = column.map(lambda cell: isinstance(cell, dt.date) and not is_gap(cell)).astype(bool)
    if not days.any():
        return texts
    if any(len(text) > len("1999-12-31") for text in texts[days]):  # moments: all of them are written as such
        texts = texts.mask(days, column.map(str))
    typed = [cell.strip() for cell in texts[~days].unique()]
    read = read_dates(typed, {"", *AMONG_NUMBERS, *NO_DAY})
    if read is None:
        return texts
    known = {cell: _cell_text(day) for cell, day in zip(typed, read[0], strict=True) if not is_gap(day)}
    return texts.map(lambda cell: known.get(cell.strip(), cell))


def _cell_text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return str(value.date())  # a day, as it was typed
    return str(value)


def _plain_objects(column: pd.Series, kinds: set[Any]) -> pd.Series:
    known = column.dropna()
    if kinds and kinds <= {int, float, Decimal}:
        if not all(float(value).is_integer() for value in known):
            return column.astype("float64")
        return column.astype("int64" if len(known) == len(column) else "Int64")
    if kinds and all(issubclass(kind, dt.date | np.datetime64) for kind in kinds):
        return pd.to_datetime(column)
    texts = [None if is_gap(value) else _cell_text(value) for value in column]
    return pd.Series(texts, column.index, dtype="str", name=column.name)


def is_gap(cell: Any) -> bool:
    """Return whether a cell is None, NaN, NaT or NA."""
    return cell is None or (pd.api.types.is_scalar(cell) and bool(pd.isna(cell)))
