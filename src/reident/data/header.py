"""Find the names of columns among rows of cells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import mode
from typing import Any

import pandas as pd

from reident.base import DataError, ParameterError

#: Rows from which the width of a table and its header are found.
SAMPLE = 500
#: Records that are compared with a line to tell names from a record.
RECORDS = 5000


def table_of_rows(
    rows: list[list[Any]], name: str, gap: Any = "", names: Sequence[str] = ()
) -> tuple[pd.DataFrame, list[str]]:
    """Find the header among rows of cells, and return the rows below it as a table; `gap` is an empty cell.

    With `names` there is none, unless it says the same. A first line that looks like a record is an error.
    """
    receipts: list[str] = []
    filled = [sum(_text(cell) != "" for cell in row) for row in rows[:SAMPLE]]
    if not filled:
        return pd.DataFrame(), receipts
    width = mode(len(row) for row in rows[:SAMPLE])
    usual = mode(filled[1:] or filled)
    # Titles and remarks above a table fill a cell or two; the header fills about as many as the records do.
    header = next((i for i, count in enumerate(filled[:50]) if count >= max(1, 0.6 * min(width, usual))), 0)
    if header:
        receipts.append(f"{header} line(s) above the header were left out")
    has_names = bool(names)
    if has_names:
        if len(names) != width:
            raise ParameterError(f"`names` must give {name!r} {width} names, one a column, got {len(names)}")
        receipts.append(f"the {width} columns were named by `names`: the file has no line of names")
        rows = [list(names), *rows[header + (list(map(_text, rows[header])) == list(names)) :]]
        header = 0
    names = [_text(cell).strip() for cell in rows[header]]
    body = [row for row in rows[header + 1 :] if any(_text(cell) != "" for cell in row)]
    if not has_names and is_record(names, body[:RECORDS]):
        raise DataError(
            f"{name!r} must have a line with the names of its columns, its first line looks like a record: `names` "
            f"(--names) gives the {len(names)} names, separated by commas"
        )
    names = _with_row_names(names, body, receipts)
    blank = len(rows) - header - 1 - len(body)
    if blank:
        receipts.append(f"{blank} empty line(s) were left out")
    while names and not names[-1] and all(len(row) < len(names) or _text(row[len(names) - 1]) == "" for row in body):
        names.pop()
        body = [row[: len(names)] for row in body]
    long = next((i for i, row in enumerate(body) if len(row) > len(names)), None)
    if long is not None:
        raise DataError(
            f"{name!r} must have as many fields in each line as the header ({len(names)}), got {len(body[long])} in "
            f"record {long + 1}: is a separator inside a value that has no quotes?"
        )
    short = sum(len(row) < len(names) for row in body)
    if short:
        receipts.append(f"{short} line(s) had fewer fields than the header and were filled with gaps")
        body = [row + [gap] * (len(names) - len(row)) for row in body]
    _check_names(names, name)
    return pd.DataFrame(body, columns=names, dtype=object), receipts


def _with_row_names(names: list[str], body: list[list[Any]], receipts: list[str]) -> list[str]:
    """Return names with one for the first column, where R or pandas wrote the numbers of rows without a name."""
    if "row" in names or not body:
        return names
    if len(names) > 1 and all(len(row) == len(names) + 1 for row in body):
        names = ["", *names]
    if len(names) < 3 or names[0] or "" in names[1:]:
        return names
    receipts.append("the first column has no name and is called row")
    return ["row", *names[1:]]


NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)*")
_DATE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}(?:[ T][\d:.]+)?")
#: Values of a column up to which a name that is none of them is a name.
_FEW = 20


def is_record(names: list[str], body: list[list[Any]]) -> bool:
    """Return whether the cells in the place of names are of the kind of the cells below, column by column."""
    if len(body) < 3 or (len(names) > 2 and _counted(names)):
        return False
    alike, open_ones = 0, 0
    for j, name in enumerate(names):
        cells = [text for row in body if j < len(row) and (text := _text(row[j]).strip())]
        if not name or not cells:
            continue
        kind = next((pattern for pattern in (NUMBER, _DATE) if _share(pattern, cells) >= 0.9), None)
        values = set(cells)
        if kind is not None:
            if not kind.fullmatch(name):
                return False
            alike += 1
        elif name in values:
            alike += 1
        elif len(values) <= _FEW or (_share(re.compile(r".*\d.*"), cells) >= 0.9 and not re.search(r"\d", name)):
            return False
        else:
            open_ones += 1
    return alike >= (2 if open_ones else 1)


def _share(pattern: re.Pattern[str], cells: list[str]) -> float:
    return sum(pattern.fullmatch(cell) is not None for cell in cells[:SAMPLE]) / len(cells[:SAMPLE])


def _counted(names: list[str]) -> bool:
    """Whether names are numbers one after another, such as years."""
    whole = [int(name) for name in names if re.fullmatch(r"\d{1,4}", name)]
    return len(whole) == len(names) and all(b - a == 1 for a, b in pairwise(whole))


def _text(cell: Any) -> str:
    return "" if cell is None or cell != cell else str(cell)


def _check_names(names: list[str], name: str) -> None:
    if "" in names:
        raise DataError(
            f"{name!r} must have a name for each column, column {names.index('') + 1} has none: add it, or take out "
            "lines above the names"
        )
    twice = [column for column, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(
            f"{name!r} must have unique column names, got {', '.join(map(repr, twice))} more than once: "
            "give each its own"
        )
