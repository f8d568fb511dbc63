"""Read texts and whole numbers that are days or moments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

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
    (r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}", None, "YYYY-MM-DD hh:mm:ss"),
    (r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}\.\d{1,9}", None, "YYYY-MM-DD hh:mm:ss.f"),
    (r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}", None, "YYYY-MM-DD hh:mm"),
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
    if _are(known, _ZONE):
        return _without_zone(cells, absent)
    for pattern, form, form_name in _DATES:
        if not _are(known, pattern) or (pattern == _WHOLE_DAY and len({*known}) < _FEW_DAYS):
            continue
        try:
            parsed = pd.to_datetime(pd.Series(known), format=form or "ISO8601")
        except (ValueError, OverflowError):
            continue
        read = dict(zip(known, parsed.dt.floor("s"), strict=True))
        back = "YYYY-MM-DD hh:mm:ss" if "hh" in form_name else "YYYY-MM-DD"
        receipts = [] if form_name == back else [f"dates written {form_name} are written back {back}"]
        notes = []
        if form_name == "DD/MM/YYYY" and all(int(cell.split("/")[0]) <= 12 for cell in known):
            notes.append("read as day/month/year; month/day/year would fit as well")
        return np.array([read.get(cell, pd.NaT) for cell in cells], object), "date", absent, receipts, notes
    return None


def _without_zone(cells: list[str], absent: set[str]) -> Values | None:
    """Read moments by the clock of their zone."""
    parted = {cell: match for cell in cells if cell not in absent and (match := re.fullmatch(_ZONE, cell))}
    typed = read_dates([parted[cell].group(1) if cell in parted else cell for cell in cells], absent)
    if typed is None:
        return None
    values, kind, used, receipts, notes = typed
    zones = sorted({match.group(2) for match in parted.values()})
    more = ", ..." if len(zones) > 3 else ""
    receipts = [
        *receipts,
        f"zones are not written back ({', '.join(zones[:3])}{more}): the time is that of the clock there",
    ]
    return values, kind, used, receipts, notes


def impossible_days(cells: list[str]) -> list[str]:
    """Return a note about texts that are days but for a few, which no calendar has: 31.02.2020."""
    for pattern, form, _ in _DATES:
        if form and cells and matches(cells, pattern).all():
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
