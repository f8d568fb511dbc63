"""What the cells of a column are: whole numbers, numbers, dates or text; nothing is converted without a receipt."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from reident.tables.classes import look_of
from reident.tables.labels import interval_of
from reident.workbench.vocabulary import MEANING, words

__all__ = ["Typed", "decimals_of", "file_decimal", "round_up", "type_text", "type_values"]

#: Cells that mean "missing" wherever they stand, and those that do so among numbers.
_NO_ANSWER = {
    "#N/A", "#NV", "#NUM!", "#VALUE!", "#WERT!", "NULL", "null", "NaN", "nan", "N/A", "n/a", "<NA>", "?", "k.A.",
    "k. A.",
}  # fmt: skip
_AMONG_NUMBERS = _NO_ANSWER | {
    "NA", "na", "None", "none", ".", "..", "-", "--", "x", "X", "*", "unbekannt", "unknown", "missing", "fehlt",
    "keine Angabe", "not known", "inconnu",
}  # fmt: skip
_NEGATIVE_CODES = (-9, -99, -999, -9999, -1, -8, -7)
_HIGH_CODES = (999, 9999, 99999)
_NO_DAY = {"00.00.0000", "0000-00-00", "00/00/0000", "00000000"}
#: Units before or behind the numbers of a column.
_UNIT = re.compile(
    r"(€|\$|£|EUR|USD|GBP|CHF)?[ \u00a0]?[+-]?[\d.,]+[ \u00a0]?(€|\$|£|%|EUR|USD|GBP|CHF|kg|cm|mm|km|mmHg)?"
)
_INTEGER = re.compile(r"[+-]?\d+")
_LEADING_ZERO = re.compile(r"[+-]?0\d.*")
_NUMBER = {
    ".": re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)?(\.\d+)?([eE][+-]?\d+)?"),
    ",": re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)?(,\d+)?([eE][+-]?\d+)?"),
}
#: A day as one whole number; that many different ones are no chance.
_WHOLE_DAY, _FEW_DAYS = re.compile(r"(1[89]|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])"), 3
_DAYS = (18000101, 20991231)
#: Different values above which texts of digits are rather numbers than codes.
_MANY = 50
_DATES = (
    (re.compile(r"\d{4}-\d{2}-\d{2}"), "%Y-%m-%d", "YYYY-MM-DD"),
    (re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}"), None, "YYYY-MM-DD hh:mm:ss"),
    (re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}\.\d{1,9}"), None, "YYYY-MM-DD hh:mm:ss.f"),
    (re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}"), None, "YYYY-MM-DD hh:mm"),
    (_WHOLE_DAY, "%Y%m%d", "YYYYMMDD"),
    (re.compile(r"\d{1,2}\.\d{1,2}\.\d{4}"), "%d.%m.%Y", "DD.MM.YYYY"),
    (re.compile(r"\d{1,2}\.\d{1,2}\.\d{4} \d{1,2}:\d{2}"), "%d.%m.%Y %H:%M", "DD.MM.YYYY hh:mm"),
    (re.compile(r"\d{1,2}\.\d{1,2}\.\d{4} \d{1,2}:\d{2}:\d{2}"), "%d.%m.%Y %H:%M:%S", "DD.MM.YYYY hh:mm:ss"),
    (re.compile(r"\d{1,2}/\d{1,2}/\d{4}"), "%d/%m/%Y", "DD/MM/YYYY"),
    (re.compile(r"\d{1,2}/\d{1,2}/\d{4}"), "%m/%d/%Y", "MM/DD/YYYY"),
    (re.compile(r"\d{4}/\d{2}/\d{2}"), "%Y/%m/%d", "YYYY/MM/DD"),
    (re.compile(r"\d{1,2}[A-Za-z]{3}\d{4}"), "%d%b%Y", "DDMonYYYY"),
    (re.compile(r"\d{1,2}-[A-Za-z]{3}-\d{4}"), "%d-%b-%Y", "DD-Mon-YYYY"),
)
#: What a text ends with that is a moment of a zone: 13:45Z, 13:45+02:00.
_ZONE = re.compile(r"(.*\d:\d{2}(?:[\d:.]*)) ?(Z|UTC|[+-]\d{2}:?\d{2})")
#: Days whose century nobody wrote: 45 may be 1945 or 2045, and nothing decides it.
_NO_CENTURY = re.compile(r"\d{1,2}([./-])\d{1,2}\1\d{2}|\d{1,2}-[A-Za-z]{3}-\d{2}")


@dataclass
class Typed:
    """A column with its type and what reading it changed.

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


def decimals_of(values: pd.Series, most: int = 12) -> int | None:
    """Return with how many digits after the point a column of numbers is written, None for more than `most`.

    Examples
    --------
    >>> decimals_of(pd.Series([1.5, 2.25])), decimals_of(pd.Series([1, 2])), decimals_of(pd.Series([1 / 3]))
    (2, 0, None)
    """
    if pd.api.types.is_integer_dtype(values):
        return 0
    numbers = values.dropna().to_numpy(np.float64)
    numbers = numbers[np.isfinite(numbers)]
    for digits in range(most + 1):
        if np.array_equal(np.round(numbers, digits), numbers):
            return digits
    return None


def round_up(value: float) -> float:
    """Return the next 1, 2 or 5 times a power of ten."""
    if value <= 0:
        return 0.0
    power = 10.0 ** np.floor(np.log10(value))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= value * (1 - 1e-9)))


def file_decimal(table: pd.DataFrame, separator: str) -> str:
    """Tell whether a file of texts writes 1.5 or 1,5: by its columns, else by its separator."""
    votes = {".": 0, ",": 0}
    for name in table.columns:
        cells = [cell.strip() for cell in pd.unique(table[name])[:2000] if cell.strip() not in _AMONG_NUMBERS | {""}]
        fits = {sign: bool(cells) and _share(cells, _NUMBER[sign]) > 0.95 for sign in votes}
        for sign, other in ((".", ","), (",", ".")):
            votes[sign] += fits[sign] and not fits[other] and any(sign in cell for cell in cells)
    if votes["."] == votes[","]:
        return "," if separator == ";" else "."
    return max(votes, key=lambda sign: votes[sign])


def _share(cells: Sequence[str], pattern: re.Pattern[str]) -> float:
    return float(_matches(cells, pattern).mean())


def type_text(column: pd.Series, decimal: str, *, missing: Sequence[str] | None = None, text: bool = False) -> Typed:
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
    """
    codes, cells = pd.factorize(column.astype(object), use_na_sentinel=False)
    cells = ["" if is_gap(cell) else str(cell) for cell in cells]
    counts = np.bincount(codes, minlength=len(cells))
    wide = [cell.strip() for cell in cells]
    guess = missing is None or len(missing) > 0
    absent = {"", *(_NO_ANSWER if guess else ()), *(missing or ())}
    known = [cell for cell in wide if cell not in absent]
    no_day = absent | (_AMONG_NUMBERS | _NO_DAY if guess else set())
    typed = None if text else _as_whole_days(wide, no_day)
    if typed is None and known and not text:
        typed = _as_numbers(column.name, wide, counts, decimal, absent, guess)
    unit = "" if typed is not None or text else _unit(known)
    if unit:
        bare = [cell.removeprefix(unit).removesuffix(unit).strip() for cell in wide]
        typed = _as_numbers(column.name, bare, counts, decimal, absent, guess)
        if typed is not None:
            typed[3].append(f"the unit {unit!r} is not written back")
    if typed is None and known and not text:
        typed = _as_dates(wide, no_day)
    receipts: list[str] = []
    notes: list[str] = []
    if typed is None:
        values: Any = np.array(
            [None if cell in absent else whole for cell, whole in zip(wide, cells, strict=True)], object
        )
        kind, used = "text", absent
        stripped = {cell for cell, whole in zip(wide, cells, strict=True) if cell != whole} & set(cells)
        if stripped:
            notes.append(f"{len(stripped)} value(s) occur with and without blanks around them, and are told apart")
        notes += _written_twice(wide)
        doubtful = sorted((_AMONG_NUMBERS - absent) & set(wide) & {"NA", "na", "None", "none", ".", "-", "--"})
        notes += [f"{cell!r} is kept as a value ({_count(wide, counts, {cell})} records)" for cell in doubtful]
        notes += _without_century(known)
    else:
        values, kind, used, receipts, notes = typed
    for cell in sorted(used - {""}):
        if cell in wide:
            receipts.append(f"{cell!r} read as missing ({_count(wide, counts, {cell})} records)")
    made = pd.Series(values[codes], column.index, name=column.name)
    if kind == "integer":
        made = made.astype("Int64" if made.isna().any() else "int64")
    elif kind == "number":
        made = made.astype("float64")
    elif kind == "date":
        made = pd.to_datetime(made)
    else:
        made = made.astype("str")
    return Typed(made, kind, receipts, notes + (_codes_among(made) if kind in ("integer", "number") else []))


def _count(cells: list[str], counts: np.ndarray, wanted: set[str]) -> int:
    return int(sum(count for cell, count in zip(cells, counts, strict=True) if cell in wanted))


def _as_numbers(
    name: Any, cells: list[str], counts: np.ndarray, decimal: str, absent: set[str], guess: bool
) -> tuple[Any, str, set[str], list[str], list[str]] | None:
    """Return values, type, missing codes, receipts and notes, or None where the column holds no numbers."""
    used = absent | (_AMONG_NUMBERS if guess else set())
    known = [cell for cell in cells if cell not in used]
    if not known or not any(_NUMBER[sign].fullmatch(cell) for sign in _NUMBER for cell in known[:200]):
        return None
    fits = _matches(known, _NUMBER[decimal])
    if fits.mean() < 0.95:
        decimal = "," if decimal == "." else "."
        fits = _matches(known, _NUMBER[decimal])
    odd = {cell for cell, fit in zip(known, fits, strict=True) if not fit or not any(map(str.isdigit, cell))}
    if len(odd) > 20 or _count(cells, counts, odd) > 0.05 * _count(cells, counts, set(known)):
        return None
    regular = [cell for cell in known if cell not in odd] if odd else known
    whole = bool(_matches(regular, _INTEGER).all())
    if _matches(regular, _LEADING_ZERO).any():
        return None  # a code
    if whole and (words(name) & MEANING["code"] or max(map(len, regular)) > 18):
        return None
    plain = dict(zip(regular, _plain(regular, decimal), strict=True))
    receipts: list[str] = []
    for cell in sorted(odd):
        ends = [end for end in (interval_of(cell) or ())[:2] if np.isfinite(end)]
        if len(ends) == 1 and float(ends[0]).is_integer():  # an interval that is open at one end
            plain[cell] = str(int(ends[0]))
            n = _count(cells, counts, {cell})
            receipts.append(f"{cell!r} read as the number {plain[cell]} ({n} records)")
        elif guess:
            used = used | {cell}
        else:
            return None
    numbers = np.array(list(plain.values()))
    read = dict(zip(plain, (numbers.astype(np.int64) if whole else numbers.astype(np.float64)).tolist(), strict=True))
    receipts += _not_written_back({cell: plain[cell] for cell in regular}, decimal, whole=whole)
    return np.array([read.get(cell) for cell in cells], object), "integer" if whole else "number", used, receipts, []


def _unit(known: list[str]) -> str:
    """Return the unit that all cells have, before or behind a number."""
    found = _UNIT.fullmatch(known[0]) if known else None
    unit = found and (found.group(1) or found.group(2))
    if not unit or not all(_UNIT.fullmatch(cell) and (cell.startswith(unit) or cell.endswith(unit)) for cell in known):
        return ""
    return str(unit)


def _matches(cells: Sequence[str], pattern: re.Pattern[str]) -> np.ndarray:
    """Tell which cells match a pattern as a whole."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return np.asarray(pc.match_substring_regex(pa.array(cells, pa.string()), f"^(?:{pattern.pattern})$"))


def _plain(cells: list[str], decimal: str) -> list[str]:
    """Return numbers as Python writes them."""
    thousands = "," if decimal == "." else "."
    joined = "\n".join(cells).replace(thousands, "").replace(decimal, ".").replace("+", "")
    return joined.split("\n")


def _not_written_back(plain: dict[str, str], decimal: str, *, whole: bool) -> list[str]:
    """Return receipts for what of numbers is not written back."""
    receipts = []
    pairs = zip("\n".join(plain).replace(decimal, ".").split("\n"), plain.values(), strict=True)
    grouped = sum(cell != number for cell, number in pairs)
    if grouped:
        receipts.append(f"separators of thousands or signs are not written back ({grouped} distinct values)")
    if whole:
        return receipts
    longer = [number for number in plain.values() if len(number) > 15]
    longer = [number for number in longer if Decimal(repr(float(number))) != Decimal(number)]
    zeros = sum(number[-1] == "0" and "." in number for number in plain.values())
    if longer:
        receipts.append(f"{len(longer)} distinct values have more digits than a number holds: the last are rounded")
    if zeros:
        receipts.append(f"zeros at the end of decimals are not written back ({zeros} distinct values)")
    return receipts


def _as_whole_days(cells: list[str], absent: set[str]) -> tuple[Any, str, set[str], list[str], list[str]] | None:
    """Read whole numbers that are days, all of them: 19450508."""
    known = {cell for cell in cells if cell not in absent}
    if len(known) < _FEW_DAYS or not all(map(_WHOLE_DAY.fullmatch, known)):
        return None
    return _as_dates(cells, absent)


def _written_twice(cells: Sequence[Any]) -> list[str]:
    """Tell of values that look the same and are not: other Unicode forms, other kinds of blanks, signs not shown."""
    spellings: dict[str, set[str]] = {}
    for cell in map(str, cells):
        spellings.setdefault(look_of(cell), set()).add(cell)
    twice = [look for look, found in spellings.items() if len(found) > 1]
    if not twice:
        return []
    shown = ", ".join(map(repr, twice[:3])) + (", ..." if len(twice) > 3 else "")
    return [f"{shown} is written in several ways that look the same (Unicode forms, kinds of blanks): make them one"]


def _without_century(cells: Sequence[Any]) -> list[str]:
    """Tell of days that nobody can read: 08.05.45."""
    if not len(cells) or not all(_NO_CENTURY.fullmatch(str(cell).strip()) for cell in cells[:200]):
        return []
    return ["days without a century stay text: written with four digits of the year they would be dates"]


def _as_dates(cells: list[str], absent: set[str]) -> tuple[Any, str, set[str], list[str], list[str]] | None:
    known = [cell for cell in cells if cell not in absent]
    if not known:
        return None
    if all(map(_ZONE.fullmatch, known[:100])) and _matches(known, _ZONE).all():
        return _without_zone(cells, absent)
    for pattern, form, shown in _DATES:
        if any(pattern.fullmatch(cell) is None for cell in known[:100]) or not _matches(known, pattern).all():
            continue
        try:
            parsed = pd.to_datetime(pd.Series(known), format=form or "ISO8601")
        except (ValueError, OverflowError):
            continue
        read = dict(zip(known, parsed.dt.floor("s"), strict=True))
        back = "YYYY-MM-DD hh:mm:ss" if "hh" in shown else "YYYY-MM-DD"
        receipts = [] if shown == back else [f"dates written {shown} are written back {back}"]
        notes = []
        if shown == "DD/MM/YYYY" and all(int(cell.split("/")[0]) <= 12 for cell in known):
            notes.append("read as day/month/year; month/day/year would fit as well")
        return np.array([read.get(cell, pd.NaT) for cell in cells], object), "date", absent, receipts, notes
    return None


def _without_zone(cells: list[str], absent: set[str]) -> tuple[Any, str, set[str], list[str], list[str]] | None:
    """Read moments by the clock of their zone."""
    parted = {cell: found for cell in cells if cell not in absent and (found := _ZONE.fullmatch(cell))}
    typed = _as_dates([parted[cell].group(1) if cell in parted else cell for cell in cells], absent)
    if typed is None:
        return None
    values, kind, used, receipts, notes = typed
    zones = sorted({found.group(2) for found in parted.values()})
    more = ", ..." if len(zones) > 3 else ""
    receipts = [
        *receipts,
        f"zones are not written back ({', '.join(zones[:3])}{more}): the time is that of the clock there",
    ]
    return values, kind, used, receipts, notes


def _codes_among(values: pd.Series) -> list[str]:
    """Tell which numbers look like codes for missing values: the only negative one, or one far above the others."""
    counts = values.value_counts()
    if len(counts) < 3:
        return []
    numbers = np.sort(counts.index.to_numpy(np.float64))
    found = [code for code in _NEGATIVE_CODES if numbers[0] == code and numbers[1] >= 0]
    found += [code for code in _HIGH_CODES if numbers[-1] == code and numbers[-2] < code / 4]
    return [f"{code} may mean missing ({counts[code]} records)" for code in found]


def type_values(column: pd.Series, *, text: bool = False, missing: Sequence[str] | None = None) -> Typed:
    """Type a column that its file has typed already: plain values, no categories that no record has.

    Cells of several kinds are read as texts are, with the same words for `missing`; dates are so written first.
    """
    name = column.name
    receipts: list[str] = []
    if isinstance(column.dtype, pd.CategoricalDtype):
        unused = len(column.cat.categories) - column.nunique()
        column = column.astype(column.cat.categories.dtype)
        receipts.append(
            f"categories were made plain values{f', {unused} that no record has left out' if unused else ''}"
        )
    if column.dtype == object and not text:
        kinds = {type(value) for value in column.dropna()}
        if str in kinds and kinds - {str}:
            return type_text(_as_texts(column), ".", missing=missing)
        column = _plain_objects(column, kinds)
    if text and not isinstance(column.dtype, pd.StringDtype):
        return Typed(
            column.astype("str").where(column.notna(), None).rename(name), "text", [*receipts, "read as text, as asked"]
        )
    if pd.api.types.is_bool_dtype(column):
        return Typed(column, "text", receipts)
    if pd.api.types.is_datetime64_any_dtype(column):
        return Typed(column, "date", receipts)
    if pd.api.types.is_integer_dtype(column):
        plain = Typed(column, "integer", receipts, _codes_among(column))
        days = column.dropna().between(*_DAYS).all() and _texts_or_dates(column, receipts, whole=True)
        return days if days and days.type == "date" else plain
    if pd.api.types.is_numeric_dtype(column):
        return Typed(column, "number", receipts, _codes_among(column))
    if text:
        return Typed(column, "text", receipts, _written_twice(column.dropna().unique()))
    return _texts_or_dates(column, receipts)


def _as_texts(column: pd.Series) -> pd.Series:
    """Return cells of several kinds as texts; days that somebody typed as texts are written as the others are."""
    texts = column.map(lambda cell: "" if is_gap(cell) else _cell_text(cell))
    days = column.map(lambda cell: isinstance(cell, dt.date) and not is_gap(cell)).astype(bool)
    if not days.any():
        return texts
    if any(len(text) > len("1999-12-31") for text in texts[days]):  # moments: all of them are written as such
        texts = texts.mask(days, column.map(str))
    typed = [cell.strip() for cell in texts[~days].unique()]
    read = _as_dates(typed, {"", *_AMONG_NUMBERS, *_NO_DAY})
    if read is None:
        return texts
    known = {cell: _cell_text(day) for cell, day in zip(typed, read[0], strict=True) if not is_gap(day)}
    return texts.map(lambda cell: known.get(cell.strip(), cell))


def _texts_or_dates(column: pd.Series, receipts: list[str], *, whole: bool = False) -> Typed:
    """Read the dates that somebody typed as texts, or as `whole` numbers; what else is digits stays what it is."""
    codes, cells = pd.factorize(column)
    found = (_as_whole_days if whole else _as_dates)([str(cell).strip() for cell in cells], set(_NO_DAY))
    if found is None:
        return Typed(
            column,
            "text",
            receipts,
            [*_without_century(cells), *_digits_among(column.name, cells), *_written_twice(cells)],
        )
    values, _, absent, told, notes = found
    told = told or ["texts that are dates become dates"]
    gone = [f"{cell!r} read as missing ({int((column == cell).sum())} records)" for cell in sorted(absent & set(cells))]
    days = pd.to_datetime(pd.Series([*values, pd.NaT]))  # a gap has the code -1: the last
    made = pd.Series(days.to_numpy()[codes], column.index, name=column.name)
    return Typed(made, "date", [*receipts, *told, *gone], notes)


def _digits_among(name: Any, cells: Sequence[Any]) -> list[str]:
    """Tell of texts that are all numbers, too many to be codes: the file says that they are texts."""
    known = [str(cell).strip() for cell in cells]
    if len(known) <= _MANY or _as_numbers(name, known, np.ones(len(known), int), ".", {""}, guess=False) is None:
        return []
    return ["numbers that the file says are texts stay text: written as numbers they would be such"]


def _cell_text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return str(value.date())  # a day, as it was typed
    return str(value)


def _plain_objects(column: pd.Series, kinds: set[type]) -> pd.Series:
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
    """Whether a cell says nothing, in whatever type its column has: None, NaN, NaT or NA."""
    return cell is None or (pd.api.types.is_scalar(cell) and bool(pd.isna(cell)))
