"""Read texts that are numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from reident.tables.labels import interval_of
from reident.workbench.dates import Values, matches
from reident.workbench.vocabulary import MEANING, words

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
    numbers = values.dropna().to_numpy(np.float64)
    numbers = numbers[np.isfinite(numbers)]
    for digits in range(13):
        if np.array_equal(np.round(numbers, digits), numbers):
            return digits
    return None


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
    numbers = np.array(joined.split("\n")).astype(np.int64 if whole else np.float64).tolist()
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
