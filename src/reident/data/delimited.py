"""Read delimited text: find encoding, separator, quotes and header; keep every cell as the text it was."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from statistics import mode
from typing import Any

import pandas as pd

from reident.base import DataError, ParameterError
from reident.base.cost import afford
from reident.data.header import NUMBER, RECORDS, SAMPLE, is_record, table_of_rows

_SEPARATORS = (";", ",", "\t", "|")
#: Separators of some databases, tried where none of the usual ones parts the lines.
_RARE_SEPARATORS = ("^", "~", "¦", "\x1f", "\x01")
#: The first bytes of a packed file, and the function that opens it.
_PACKED = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
_BYTE_ORDER_MARKS = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
#: Tried in this order where the bytes are no UTF-8; of those that decode, the one that gives most letters.
_OLD_ENCODINGS = ("cp1252", "latin-1", "cp850", "mac_roman")
#: Bytes of memory for a byte of text: a cell of five letters is an object of 54 bytes in two lists.
_MEMORY = 12
# A cell may be long (the outline of a country), and a wrong separator makes a cell of a whole line.
csv.field_size_limit(2**31 - 1)


def read_delimited(
    path: Path, *, separator: str | None = None, encoding: str | None = None, names: Sequence[str] = ()
) -> tuple[pd.DataFrame, dict[str, Any], list[str]]:
    """Read a text file as a table of texts; return it, the dialect, and a sentence for each step beyond splitting.

    Every line of the file is in the table, named among the sentences, or an error: a quote that is never closed is read
    as a letter, it does not swallow the records below it.

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
    """Return the text of a file, plain or compressed by gzip or bzip2, its encoding, and receipts of guesses."""
    raw, name = bytes_of(path), path.name
    if encoding is None:
        encoding = next((known for mark, known in _BYTE_ORDER_MARKS if raw.startswith(mark)), None)
        if encoding is None and b"\0" in raw:
            # Of UTF-16 without a mark, every other byte of Latin letters is a zero.
            halves = {"utf-16-le": raw[1::2], "utf-16-be": raw[::2]}
            encoding = next((known for known, half in halves.items() if half.count(0) > 0.5 * len(half)), None)
            if encoding is None or raw.count(0) > 0.5 * len(raw):
                raise DataError(f"{name!r} must be a text file, it holds zero bytes: is it of another kind?")
        if encoding is None and _decodes(raw, "utf-8"):
            encoding = "utf-8"
        if encoding is None:
            fitting = [candidate for candidate in _OLD_ENCODINGS if _decodes(raw, candidate)]
            encoding = max(fitting, key=lambda candidate: _share_of_letters(raw, candidate))
            receipt = f"the bytes are no UTF-8 and were read as {encoding}; if that is wrong, give `encoding`"
            return raw.decode(encoding), encoding, [receipt]
    try:
        return raw.decode(encoding), encoding, []
    except LookupError:
        raise ParameterError(
            f"`encoding` must be one that Python knows, such as utf-8 or latin-1, got {encoding!r}"
        ) from None
    except UnicodeDecodeError as error:
        raise DataError(f"{name!r} could not be read with the encoding {encoding!r}: {error}") from None


def rows_of_text(
    text: str, name: str, separator: str | None = None
) -> tuple[list[list[str]], dict[str, Any], list[str]]:
    """Split text into rows of cells without the comments above them; return rows, dialect and receipts.

    The dialect is ``separator`` (a blank: any run of blanks and tabs) and ``quote``.
    """
    text = text.rstrip("\x1a")  # the end of a file under DOS
    n_lines = text.count("\n")
    first, _, rest = text.partition("\n")
    if first.lower().startswith("sep=") and len(first.strip()) == 5:
        separator, text = separator or first[4], rest
    separator = "\t" if separator == "\\t" else separator
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
        width = mode(len(row) for row in rows[:SAMPLE]) if rows else 0
        head_rows = [(line, _alone(line, separator, quote)) for line in above if line.strip()]
    except csv.Error as error:
        raise DataError(f"{name!r} could not be read as text separated by {separator!r}: {error}") from None
    # What stands above a comment is one, too.
    last = max((i for i, head_row in enumerate(head_rows) if _is_comment(*head_row, width, separator)), default=-1)
    data_rows = [row for _, row in head_rows[last + 1 :]]
    if head_rows and not data_rows:
        data_rows = _names_in_comment(*head_rows[-1], rows, width, separator)
    n_comments = len(head_rows) - len(data_rows)
    receipts = [f"{n_comments} comment line(s) above the header were left out"] if n_comments else []
    return data_rows + rows, {"separator": separator, "quote": quote}, receipts + quotes


def bytes_of(path: Path) -> bytes:
    """Return the bytes of a file, unpacked, if its text fits into memory."""
    advice = "take fewer records"
    with path.open("rb") as file:
        beginning = file.read(6)
    unpack: Any = next((opener for magic, opener in _PACKED.items() if beginning.startswith(magic)), None)
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
    record, and the quote a letter; a line with another number of fields is an error. So is a quote that opens on one
    line and closes on another while each of these lines has as many fields as a record.
    """
    if separator == " ":  # any run of blanks and tabs
        text = "\n".join(line.replace("\t", " ").strip() for line in text.split("\n"))
    skips = _skips_blanks(text, separator)
    dialect: Any = {"delimiter": separator, "quotechar": quote, "skipinitialspace": skips, "strict": True}
    lines = list(io.StringIO(text, newline=""))
    alone = [len(_alone(line, separator, quote)) for line in lines[:SAMPLE]]
    width = mode(filter(None, alone)) if any(alone) else 0
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
    receipts = [_BLANKS] if skips and separator != " " else []
    if odd:
        listed = ", ".join(map(str, odd[:3])) + (", ..." if len(odd) > 3 else "")
        receipts.append(f"{len(odd)} line(s) have a quote without a partner, which was read as a letter: line {listed}")
    if several:
        n_lines = sum(b - a for a, b in several)
        receipts.append(f"{len(several)} record(s) have line breaks in their cells and fill {n_lines} lines")
    return [row for row in rows if row], receipts


#: The share of separators with a blank behind them above which the blanks are no part of the cells.
_FOLLOWED = 0.9
_BLANKS = "blanks behind the separators are not written back"


def _skips_blanks(text: str, separator: str) -> bool:
    """Return whether a blank follows the separators of a file, as in "a, b, c"."""
    sample = text[:200_000]
    return separator == " " or sample.count(f"{separator} ") > _FOLLOWED * max(1, sample.count(separator))


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
        return [names] if len(names) == width and not all(map(NUMBER.fullmatch, names)) else []
    return [row] if len(row) == width and is_record(rows[0], rows[1:RECORDS]) else []


def _decodes(raw: bytes, encoding: str) -> bool:
    try:
        raw.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _share_of_letters(raw: bytes, encoding: str) -> float:
    """Return the share of bytes beyond ASCII that become letters of western Europe."""
    text = bytes(byte for byte in raw if byte > 127).decode(encoding)
    return sum(letter in "äöüßÄÖÜéèêëáàâãåçñíìîïóòôõøúùûýæœÉÈÁÀÅÇÑÍÓØÚÆ€°–" for letter in text) / max(1, len(text))


def _quote(text: str) -> str:
    """Return the quote: single ones where they open fields and close as many ('s-Gravenhage and '=1 close none)."""
    sample, signs = text[:200_000], re.escape("".join(_SEPARATORS))
    opened = len(re.findall(rf"(?:^|[{signs}])'", sample, re.MULTILINE))
    closed = len(re.findall(rf"'(?:[{signs}]|\r?$)", sample, re.MULTILINE))
    return "'" if opened > 3 and opened > 2 * sample.count('"') and closed > 0.9 * opened else '"'


def _separator(text: str, quote: str) -> str:
    """Return the separator by which most lines have as many fields as the header, at least two.

    A blank parts numbers, and fields of which no other sign parts any and each line has as many, at least three.
    """
    lines = text.splitlines(keepends=True)[:SAMPLE]
    # Lists of public collections have blanks between numbers.
    words = [line.split() for line in lines if line.strip() and "\t" not in line]
    numbers = [row for row in words if len(row) == len(words[0]) > 1 and all(map(NUMBER.fullmatch, row))]
    if words and len(numbers) >= 0.9 * len(lines):
        return " "
    best, reached = ",", (0.0, 1)
    for separator in (*_SEPARATORS, *_RARE_SEPARATORS):
        if separator in _RARE_SEPARATORS and reached[1] > 1:
            break
        counts = [len(row) for row in csv.reader(lines, delimiter=separator, quotechar=quote) if row]
        width, often = Counter(counts).most_common(1)[0] if counts else (1, 0)
        if width < 2 or width not in counts[:20]:
            continue
        # The header has no decimal commas: it tells the separator better than any other line.
        headed = counts[0] == width
        score = (often / len(counts) + headed, width)
        if score > reached:
            best, reached = separator, score
    if reached[1] == 1:
        counts = [len(_alone(line, " ", quote)) for line in lines if line.strip()]
        # R writes no name above the names of rows.
        if len(counts) > 3 and min(counts[1:]) == max(counts) > 2 and counts[0] >= counts[1] - 1:
            return " "
    return best
