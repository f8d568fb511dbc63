"""Read texts that are numbers, days or moments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from reident.tables.labels import interval_of
from reident.workbench.roles import MEANING, words

#: Values of cells, their type, the cells that mean "missing", receipts and notes.
Values = tuple[Any, str, set[str], list[str], list[str]]
NO_DAY = {"00.00.0000", "0000-00-00", "00/00/0000", "00000000"}
#: A day as one whole number; that many different ones are no chance.
_WHOLE_DAY, _FEW_DAYS = r"(1[89]|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])", 3
#: Texts are days with errors where fewer are impossible.
_FEW_WRONG = 0.1
DAYS = (18000101, 20991231)
_DATES = (
    (r"\d{4}-\d{2}-\d{2}", "%Y-%m-%d", "YYYY-MM-DD"),
    (r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}", "ISO8601", "YYYY-MM-DD hh:mm:ss"),
    (r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}\.\d{1,9}", "ISO8601", "YYYY-MM-DD hh:mm:ss.f"),
    (r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}", "ISO8601", "YYYY-MM-DD hh:mm"),
    (_WHOLE_DAY, "%Y%m%d", "YYYYMMDD"),
    (r"\d{1,2}\.\d{1,2}\.\d{4}", "%d.%m.%Y", "DD.MM.YYYY"),
    (r"\d{1,2}\.\d{1,2}\.\d{4} \d{1,2}:\d{2}", "%d.%m.%Y %H:%M", "DD.MM.YYYY hh:mm"),
    (r"\d{1,2}\.\d{1,2}\.\d{4} \d{1,2}:\d{2}:\d{2}", "%d.%m.%Y %H:%M:%S", "DD.MM.YYYY hh:mm:ss"),
    (r"\d{1,2}/\d{1,2}/\d{4}", "%d/%m/%Y", "DD/MM/YYYY"),
    (r"\d{1,2}/\d{1,2}/\d{4}", "%m/%d/%Y", "MM/DD/YYYY"),
    (r"\d{4}/\d{2}/\d{2}", "%Y/%m/%d", "YYYY/MM/DD"),
    (r"\d{1,2}[A-Za-z]{3}\d{4}", "%d%b%Y", "DDMonYYYY"),
    (r"\d{1,2}-[A-Za-z]{3}-\d{4}", "%d-%b-%Y", "DD-Mon-YYYY"),
)
#: What a text ends with that is a moment of a zone: 13:45Z, 13:45+02:00.
_ZONE = r"(.*\d:\d{2}(?:[\d:.]*)) ?(Z|UTC|[+-]\d{2}:?\d{2})"
#: Days without a century: 45 may be 1945 or 2045.
_NO_CENTURY = re.compile(r"\d{1,2}([./-])\d{1,2}\1\d{2}|\d{1,2}-[A-Za-z]{3}-\d{2}")


def matches(cells: Sequence[str], pattern: str) -> np.ndarray:
    """Return which cells match a pattern as a whole."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return np.asarray(pc.match_substring_regex(pa.array(cells, pa.string()), f"^(?:{pattern})$"))


def _are(cells: Sequence[str], pattern: str) -> bool:
    return all(re.fullmatch(pattern, cell) for cell in cells[:100]) and bool(matches(cells, pattern).all())


def read_dates(cells: list[str], absent: set[str]) -> Values | None:
    """Read texts that are days or moments of one form, all of them; None for others, and for few whole numbers."""
    known = [cell for cell in cells if cell not in absent]
    if not known:
        return None
    zones: list[str] = []
    if _are(known, _ZONE):  # moments, read by the clock of their zone
        zones = sorted({re.sub(_ZONE, r"\2", cell) for cell in known})
        cells, known = ([re.sub(_ZONE, r"\1", cell) for cell in texts] for texts in (cells, known))
    for pattern, form, form_name in _DATES:
        if not _are(known, pattern) or (pattern == _WHOLE_DAY and len({*known}) < _FEW_DAYS):
            continue
        try:
            parsed = pd.to_datetime(pd.Series(known), format=form)
        except (ValueError, OverflowError):
            continue
        read = dict(zip(known, parsed.dt.floor("s"), strict=True))
        back = "YYYY-MM-DD hh:mm:ss" if "hh" in form_name else "YYYY-MM-DD"
        receipts = [] if form_name == back else [f"dates written {form_name} are written back {back}"]
        if zones:
            listed = ", ".join(zones[:3]) + (", ..." if len(zones) > 3 else "")
            receipts.append(f"zones are not written back ({listed}): the time is that of the clock there")
        notes = []
        if form_name == "DD/MM/YYYY" and all(int(cell.split("/")[0]) <= 12 for cell in known):
            notes.append("read as day/month/year; month/day/year would fit as well")
        return np.array([read.get(cell, pd.NaT) for cell in cells], object), "date", absent, receipts, notes
    return None


def impossible_days(cells: list[str]) -> list[str]:
    """Return a note about texts that are days but for a few, which no calendar has: 31.02.2020."""
    for pattern, form, _ in _DATES:
        if cells and matches(cells, pattern).all():
            wrong = pd.to_datetime(pd.Series(cells), format=form, errors="coerce").isna()
            if 0 < wrong.mean() < _FEW_WRONG:
                shown = ", ".join(repr(cell) for cell in np.array(cells, object)[wrong][:3])
                return [f"would be dates but for {shown}, which no calendar has: correct them"]
    return []


def without_century(cells: Sequence[Any]) -> list[str]:
    """Return a note about days without a century: 08.05.45."""
    if not len(cells) or not all(_NO_CENTURY.fullmatch(str(cell).strip()) for cell in cells[:200]):
        return []
    return ["days without a century stay text: written with four digits of the year they would be dates"]


#: Cells that mean "missing" wherever they stand, and those that do so among numbers.
NO_ANSWER = {
    "#N/A", "#NV", "#NUM!", "#VALUE!", "#WERT!", "NULL", "null", "NaN", "nan", "N/A", "n/a", "<NA>", "?", "k.A.",
    "k. A.",
}  # fmt: skip
AMONG_NUMBERS = NO_ANSWER | {
    "NA", "na", "None", "none", ".", "..", "-", "--", "x", "X", "*", "unbekannt", "unknown", "missing", "fehlt",
    "keine Angabe", "not known",
}  # fmt: skip
#: Units before or behind the numbers of a column.
_UNIT = re.compile(
    r"(€|\$|£|EUR|USD|GBP|CHF)?[ \u00a0]?[+-]?[\d.,]+[ \u00a0]?(€|\$|£|%|EUR|USD|GBP|CHF|kg|cm|mm|km|mmHg|°)?"
)
_INTEGER = r"[+-]?\d+"
#: Numbers of batches, which are no powers of ten: 12E3.
_BATCH = r"\d+[eE]\d+"
#: Thousands by 1'234 or blanks; a minus behind a number, or brackets around it, that make it negative.
_THOUSANDS = re.compile("(?<=\\d)['\u2019\u00a0\u202f ](?=\\d{3}(?!\\d))")
_NEGATIVE = re.compile(r"^(?:\((\d[\d.,]*)\)|(\d[\d.,]*)-)$")
_LEADING_ZERO = r"[+-]?0\d.*"
NUMBER = {
    ".": r"[+-]?(\d{1,3}(,\d{3})+|\d+)?(\.\d+)?([eE][+-]?\d+)?",
    ",": r"[+-]?(\d{1,3}(\.\d{3})+|\d+)?(,\d+)?([eE][+-]?\d+)?",
}


def count_cells(cells: list[str], counts: np.ndarray, wanted: set[str]) -> int:
    """Return the number of records with some cells; `counts` are those of the distinct cells."""
    return int(sum(n for cell, n in zip(cells, counts, strict=True) if cell in wanted))


def decimals_of(values: pd.Series) -> int | None:
    """Return with how many digits after the point a column of numbers is written, None for more than 12.

    Examples
    --------
    >>> decimals_of(pd.Series([1.5, 2.25])), decimals_of(pd.Series([1, 2])), decimals_of(pd.Series([1 / 3]))
    (2, 0, None)
    """
    if pd.api.types.is_integer_dtype(values):
        return 0
    numbers = values.dropna().to_numpy(float)
    numbers = numbers[np.isfinite(numbers)]
    return next((digits for digits in range(13) if np.array_equal(np.round(numbers, digits), numbers)), None)


def round_up(value: float) -> float:
    """Return the next 1, 2 or 5 times a power of ten."""
    if value <= 0:
        return 0.0
    power = 10.0 ** np.floor(np.log10(value))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= value * (1 - 1e-9)))


def read_numbers(
    name: Any, cells: list[str], written: list[str], counts: np.ndarray, decimal: str, absent: set[str], guess: bool
) -> Values | None:
    """Return values, type, missing codes, receipts and notes, or None where the column holds no numbers.

    `written` holds the cells as the file has them, with units.
    """
    used = absent | (AMONG_NUMBERS if guess else set())
    cells = _plain_signs(cells)
    known = [cell for cell in cells if cell not in used]
    if not known or not any(map(_number, known[:200])):
        return None
    fits = matches(known, NUMBER[decimal])
    if fits.mean() < 0.95:
        decimal = "," if decimal == "." else "."
        fits = matches(known, NUMBER[decimal])
    odd = {cell for cell, fit in zip(known, fits, strict=True) if not fit or not any(map(str.isdigit, cell))}
    if len(odd) > 20 or count_cells(cells, counts, odd) > 0.05 * count_cells(cells, counts, set(known)):
        return None
    regular = [cell for cell in known if cell not in odd] if odd else known
    whole = bool(matches(regular, _INTEGER).all())
    if matches(regular, _LEADING_ZERO).any() or matches(regular, _BATCH).all():
        return None  # a code
    if whole and (words(name) & MEANING["code"] or max(map(len, regular)) > 18):
        return None
    thousands = "," if decimal == "." else "."
    joined = "\n".join(regular).replace(thousands, "").replace(decimal, ".").replace("+", "")
    numbers = np.array(joined.split("\n")).astype(np.int64 if whole else float).tolist()
    read, receipts = dict(zip(regular, numbers, strict=True)), []
    form = str if whole else "{:.15g}".format
    back = {cell: form(number).replace(".", decimal) for cell, number in read.items()}
    if n_lost := sum(back.get(cell, text) != text for cell, text in zip(cells, written, strict=True)):
        receipts.append(f"{n_lost} distinct values are not written back as they were: signs, units, zeros or digits")
    for cell in sorted(odd):
        ends = [end for end in (interval_of(cell) or ())[:2] if np.isfinite(end)]
        if len(ends) == 1 and float(ends[0]).is_integer():  # an interval that is open at one end
            read[cell] = int(ends[0])
            n = count_cells(cells, counts, {cell})
            receipts.append(f"{cell!r} read as the number {read[cell]} ({n} records)")
        elif guess:
            used = used | {cell}
        else:
            return None
    return np.array([read.get(cell) for cell in cells], object), "integer" if whole else "number", used, receipts, []


def _number(cell: str) -> bool:
    return any(re.fullmatch(form, cell) for form in NUMBER.values())


def _plain_signs(cells: list[str]) -> list[str]:
    """Return cells with numbers in one spelling; others stay."""
    if not re.search("[\u2212()'\u2019\u00a0\u202f ]|\\d-(\n|$)", "\n".join(cells)):
        return cells
    plain = (_NEGATIVE.sub(r"-\1\2", _THOUSANDS.sub("", cell.replace("\u2212", "-"))) for cell in cells)
    return [text if _number(text) else cell for cell, text in zip(cells, plain, strict=True)]


def unit_of(known: list[str]) -> str:
    """Return the unit that all cells have, before or behind a number."""
    match = _UNIT.fullmatch(known[0]) if known else None
    unit = match and (match.group(1) or match.group(2))
    if not unit or not all(_UNIT.fullmatch(cell) and (cell.startswith(unit) or cell.endswith(unit)) for cell in known):
        return ""
    return str(unit)
