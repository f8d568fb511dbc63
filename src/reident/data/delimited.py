"""Read delimited text: find encoding, separator, quotes and header; keep every cell as the text it was."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pandas as pd

from reident.base import DataError, ParameterError
from reident.base.cost import afford

__all__ = ["read_delimited", "rows_of_text", "table_of_rows", "text_of"]

_SEPARATORS = (";", ",", "\t", "|")
_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
#: Tried in this order where the bytes are no UTF-8; of those that decode, the one that gives most letters.
_OLD_ENCODINGS = ("cp1252", "latin-1", "cp850", "mac_roman")
#: Rows from which the separator is told.
_SAMPLE = 500
#: Records that are looked at to tell a line of names from a record.
_ROWS = 5000
#: Bytes of memory for a byte of text: a cell of five letters is an object of 54 bytes in two lists.
_MEMORY = 12
# A cell may be long (the outline of a country), and a wrong separator makes a cell of a whole line.
csv.field_size_limit(2**31 - 1)


def read_delimited(
    path: Path, *, separator: str | None = None, encoding: str | None = None, names: Sequence[str] = ()
) -> tuple[pd.DataFrame, dict[str, Any], list[str]]:
    """Read a text file as a table of texts, an empty cell as ``""``.

    Every line of the file is in the table, named among the sentences returned, or an error: a quote that is never
    closed is read as a letter, it does not swallow the records below it.

    Returns
    -------
    tuple of DataFrame, dict, list of str
        The cells; the dialect (``separator``, ``encoding``, ``quote``); what was done besides splitting, a sentence
        each.

    Raises
    ------
    DataError, ParameterError
        If the file is no text or does not fit into memory, quotes do not pair, a line has more fields than the
        header, two columns have one name, or none has one.
    """
    text, encoding, receipts = text_of(path, encoding)
    rows, dialect, comments = rows_of_text(text, path.name, separator)
    del text
    table, added = table_of_rows(rows, path.name, names=names)
    return table, {**dialect, "encoding": encoding}, [*receipts, *comments, *added]


def text_of(path: Path, encoding: str | None = None) -> tuple[str, str, list[str]]:
    """Return the text of a file, plain or compressed by gzip or bzip2, its encoding, and receipts of guesses.

    Raises
    ------
    DataError, ParameterError
        If the file is no text, or not of that encoding.
    """
    return _decode(_bytes_of(path), encoding, path.name)


def rows_of_text(
    text: str, name: str, separator: str | None = None
) -> tuple[list[list[str]], dict[str, Any], list[str]]:
    """Split text into rows of cells, without the comments above them.

    Returns
    -------
    tuple of list, dict, list of str
        The rows; ``separator`` (a blank: any run of blanks and tabs) and ``quote``; receipts.
    """
    n_lines = text.count("\n")
    first, _, rest = text.partition("\n")
    if first.lower().startswith("sep=") and len(first.strip()) == 5:
        separator, text = separator or first[4], rest
    if separator is not None and len(separator) != 1:
        raise ParameterError(f"`separator` must be one character, got {separator!r}")
    head = _HEAD.match(text)
    above, below = text[: head.end()].splitlines() if head else [], text[head.end() :] if head else text
    if not below.strip():
        above, below = [], text
    quote = _quote(below)
    separator = separator or _separator(below, quote)
    try:
        rows, quotes = _records(below, separator, quote, name, n_lines - below.count("\n"))
        width = Counter(len(row) for row in rows[:_SAMPLE]).most_common(1)[0][0] if rows else 0
        head_rows = [(line, _alone(line, separator, quote)) for line in above if line.strip()]
    except csv.Error as error:
        raise DataError(f"{name!r} could not be read as text separated by {separator!r}: {error}") from None
    top = [row for line, row in head_rows if not _is_comment(line, row, width, separator)]
    if head_rows and not top:
        top = _names_in_comment(*head_rows[-1], rows, width, separator)
    n_comments = len(head_rows) - len(top)
    receipts = [f"{n_comments} comment line(s) above the header were left out"] if n_comments else []
    return top + rows, {"separator": separator, "quote": quote}, receipts + quotes


def _bytes_of(path: Path) -> bytes:
    """Return the bytes of a file, unpacked, if its text fits into memory."""
    advice = "take fewer records"
    with path.open("rb") as file:
        magic = file.read(3)
    unpack = gzip.open if magic.startswith(b"\x1f\x8b") else bz2.open if magic == b"BZh" else None
    if unpack is None:
        afford(_MEMORY * path.stat().st_size, "file", repr(path.name), advice)
        return path.read_bytes()
    parts, size = [], 0
    with unpack(path) as unpacked:
        while part := unpacked.read(1 << 24):
            size += len(part)
            afford(_MEMORY * size, "file", f"{path.name!r} of more than {size:,} bytes, unpacked", advice)
            parts.append(part)
    return b"".join(parts)


def _records(text: str, separator: str, quote: str, name: str, n_above: int) -> tuple[list[list[str]], list[str]]:
    """Split a text into records; the number of lines is the control.

    Where a quote is not closed, or closes in the middle of a cell, each line with as many fields as the others is a
    record, and the quote a letter.

    Raises
    ------
    DataError
        If such a line has another number of fields, or a quote opens on one line and closes on another while each of
        these lines has as many fields as a record.
    """
    if separator == " ":  # any run of blanks and tabs
        text = "\n".join(line.replace("\t", " ").strip() for line in text.split("\n"))
    dialect: Any = {"delimiter": separator, "quotechar": quote, "skipinitialspace": separator == " ", "strict": True}
    reader = csv.reader(io.StringIO(text, newline=""), **dialect)
    try:
        rows = list(reader)
    except csv.Error:
        rows = []
    if rows and len(rows) == reader.line_num:
        return [row for row in rows if row], []
    lines = list(io.StringIO(text, newline=""))
    alone = [len(_alone(line, separator, quote)) for line in lines[:_SAMPLE]]
    width = Counter(filter(None, alone)).most_common(1)[0][0] if any(alone) else 0
    rows, odd, several, at = [], [], [], 0
    while at < len(lines):
        reader = csv.reader(islice(lines, at, None), **dialect)
        start = last = at
        try:
            for row in reader:
                last, at = at, start + reader.line_num
                if at - last > 1:
                    several.append((last, at))
                rows.append(row)
        except csv.Error:
            row = _alone(lines[at], separator, quote)
            if len(row) != width:
                raise DataError(
                    f"{name!r} must have quotes in pairs, got one without a partner in line {n_above + at + 1}: "
                    "take it out, or double it inside a value"
                ) from None
            rows.append(row)
            odd.append(n_above + at + 1)
            at += 1
    swallowed = [
        (a, b) for a, b in several if width > 1 and all(len(_alone(x, separator, quote)) == width for x in lines[a:b])
    ]
    if swallowed:
        first, last = swallowed[0]
        raise DataError(
            f"{name!r} must have each record in a line where it can be one, got a quote in line "
            f"{n_above + first + 1} that closes in line {n_above + last}, while each of these lines has {width} "
            f"fields: take out the quotes or line breaks"
        )
    receipts = []
    if odd:
        lines_listed = ", ".join(map(str, odd[:3])) + (", ..." if len(odd) > 3 else "")
        receipts.append(
            f"{len(odd)} line(s) have a quote without a partner, which was read as a letter: line {lines_listed}"
        )
    if several:
        n_lines = sum(b - a for a, b in several)
        receipts.append(f"{len(several)} record(s) have line breaks in their cells and fill {n_lines} lines")
    return [row for row in rows if row], receipts


def _alone(line: str, separator: str, quote: str) -> list[str]:
    """Split a line by itself; where its quotes do not pair they are letters."""
    options: Any = {"delimiter": separator, "quotechar": quote, "skipinitialspace": separator == " "}
    if separator == " ":
        line = line.replace("\t", " ").strip()
    try:
        return next(csv.reader([line], **options, strict=True), [])
    except csv.Error:
        return line.rstrip("\r\n").split(separator)


#: Lines above a table that begin as comments do in SNAP (#), KONECT and networkrepository (%).
_HEAD = re.compile(r"(?:[ \t\r]*(?:[#%][^\n]*)?(?:\n|$))+")


def _is_comment(line: str, row: list[str], width: int, separator: str) -> bool:
    """Decide whether a line above the header that begins with # or % is a comment, not cells such as "#7,#8"."""
    after = line.lstrip()[1:2]
    if len(row) != width or after in ("", " ", "#") or (after == "\t" and width == 1):
        return True
    return line.lstrip().startswith("%") and separator in " \t"


def _names_in_comment(line: str, row: list[str], rows: list[list[str]], width: int, separator: str) -> list[list[str]]:
    """Return the names of the columns that the last comment gives, as in SNAP: "# FromNodeId ToNodeId"."""
    if not line.startswith("#") or width < 2:
        return []
    if separator in " \t":
        names = [name for name in re.split(r"\t" if separator == "\t" else r"\s+", line.strip("# \r")) if name]
        return [names] if len(names) == width and not all(map(_NUMBER.fullmatch, names)) else []
    return [row] if len(row) == width and _like_a_record(rows[0], rows[1:_ROWS]) else []


def _decode(raw: bytes, encoding: str | None, name: str) -> tuple[str, str, list[str]]:
    if encoding is None:
        encoding = next((marked for mark, marked in _BYTE_ORDER_MARKS if raw.startswith(mark)), None)
        if encoding is None and b"\0" in raw:
            raise DataError(f"{name!r} must be a text file, it holds zero bytes: is it of another kind?")
        if encoding is None and _decodes(raw, "utf-8"):
            encoding = "utf-8"
        if encoding is None:
            fitting = [candidate for candidate in _OLD_ENCODINGS if _decodes(raw, candidate)]
            encoding = max(fitting, key=lambda candidate: _share_of_letters(raw, candidate))
            receipt = (
                f"the bytes are no UTF-8 and were read as {encoding}; `encoding` says otherwise where that is wrong"
            )
            return raw.decode(encoding), encoding, [receipt]
    try:
        return raw.decode(encoding), encoding, []
    except LookupError:
        raise ParameterError(
            f"`encoding` must be one that Python knows, such as utf-8 or latin-1, got {encoding!r}"
        ) from None
    except UnicodeDecodeError as error:
        raise DataError(f"{name!r} could not be read with the encoding {encoding!r}: {error}") from None


def _decodes(raw: bytes, encoding: str) -> bool:
    try:
        raw.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _share_of_letters(raw: bytes, encoding: str) -> float:
    """Return the share of the non-ASCII characters that are letters of western Europe, as in names and towns."""
    text = bytes(byte for byte in raw if byte > 127).decode(encoding)
    return sum(letter in "äöüßÄÖÜéèêëáàâãåçñíìîïóòôõøúùûýæœÉÈÁÀÅÇÑÍÓØÚÆ€°–" for letter in text) / max(1, len(text))


def _quote(text: str) -> str:
    """Return the quote: single ones where they open fields and close as many ('s-Gravenhage and '=1 close none)."""
    sample, signs = text[:200_000], re.escape("".join(_SEPARATORS))
    opened = len(re.findall(rf"(?:^|[{signs}])'", sample, re.MULTILINE))
    closed = len(re.findall(rf"'(?:[{signs}]|\r?$)", sample, re.MULTILINE))
    return "'" if opened > 3 and opened > 2 * sample.count('"') and closed > 0.9 * opened else '"'


def _separator(text: str, quote: str) -> str:
    """Return the separator by which most lines have as many fields as the header, at least two; a blank for numbers."""
    lines = text.splitlines(keepends=True)[:_SAMPLE]
    # Lists of public collections have blanks between numbers.
    words = [line.split() for line in lines if line.strip() and "\t" not in line]
    numbers = [row for row in words if len(row) == len(words[0]) > 1 and all(map(_NUMBER.fullmatch, row))]
    if words and len(numbers) >= 0.9 * len(lines):
        return " "
    best, reached = ",", (0.0, 1)
    for separator in _SEPARATORS:
        counts = [len(row) for row in csv.reader(lines, delimiter=separator, quotechar=quote) if row]
        width, often = Counter(counts).most_common(1)[0] if counts else (1, 0)
        if width < 2 or width not in counts[:20]:
            continue
        # The header has no decimal commas: it tells the separator better than any other line.
        headed = counts[0] == width
        score = (often / len(counts) + headed, width)
        if score > reached:
            best, reached = separator, score
    return best


def table_of_rows(
    rows: list[list[Any]], name: str, gap: Any = "", names: Sequence[str] = ()
) -> tuple[pd.DataFrame, list[str]]:
    """Find the header among rows of cells, and make a table of the rows below it; `gap` is an empty cell.

    With `names` there is none, unless it says the same.

    Raises
    ------
    DataError
        If the first line looks like a record: nobody's values become names of columns.
    """
    receipts: list[str] = []
    filled = [sum(_text(cell) != "" for cell in row) for row in rows[:_SAMPLE]]
    if not filled:
        return pd.DataFrame(), receipts
    width = Counter(len(row) for row in rows[:_SAMPLE]).most_common(1)[0][0]
    usual = Counter(filled[1:] or filled).most_common(1)[0][0]
    # Titles and remarks above a table fill a cell or two; the header fills about as many as the records do.
    header = next((i for i, count in enumerate(filled[:50]) if count >= max(1, 0.6 * min(width, usual))), 0)
    if header:
        receipts.append(f"{header} line(s) above the header were left out")
    has_names = bool(names)
    if has_names:
        if len(names) != width:
            raise ParameterError(f"`names` must give {name!r} {width} names, one a column, got {len(names)}")
        receipts.append(f"the {width} columns were named as told: the file has no line of names")
        rows = [list(names), *rows[header + (list(map(_text, rows[header])) == list(names)) :]]
        header = 0
    names = [_text(cell).strip() for cell in rows[header]]
    body = [row for row in rows[header + 1 :] if any(_text(cell) != "" for cell in row)]
    if not has_names and _like_a_record(names, body[:_ROWS]):
        raise DataError(
            f"{name!r} must have a line with the names of its columns, its first line looks like a record: `names` "
            f"(--names) gives the {len(names)} names, separated by commas"
        )
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
    columns = zip(*body, strict=True) if body else ([] for _ in names)
    return pd.DataFrame(dict(zip(names, map(list, columns), strict=True)), columns=names, dtype=object), receipts


_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)*")
_DATE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}(?:[ T][\d:.]+)?")
#: Values of a column up to which a name that is none of them is a name.
_FEW = 20


def _like_a_record(names: list[str], body: list[list[Any]]) -> bool:
    """Return whether the cells of the first line have the kinds of the cells below, column by column."""
    if len(body) < 3 or (len(names) > 2 and _counted(names)):
        return False
    alike, open_ones = 0, 0
    for j, name in enumerate(names):
        cells = [text for row in body if j < len(row) and (text := _text(row[j]).strip())]
        if not name or not cells:
            continue
        kind = next((pattern for pattern in (_NUMBER, _DATE) if _share(pattern, cells) >= 0.9), None)
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
    return sum(pattern.fullmatch(cell) is not None for cell in cells[:_SAMPLE]) / len(cells[:_SAMPLE])


def _counted(names: list[str]) -> bool:
    """Whether names are numbers one after another, such as years."""
    whole = [int(name) for name in names if re.fullmatch(r"\d{1,4}", name)]
    return len(whole) == len(names) and all(b - a == 1 for a, b in pairwise(whole))


def _text(cell: Any) -> str:
    return "" if cell is None or cell != cell else str(cell)


def _check_names(names: list[str], name: str) -> None:
    if "" in names:
        raise DataError(f"{name!r} must have a name for each column, column {names.index('') + 1} has none")
    twice = [column for column, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(
            f"{name!r} must have unique column names, got {', '.join(map(repr, twice))} more than once: which of them "
            "a name means, nobody could tell"
        )
