"""Every place in a file where a value can lie: cells, dictionaries, metadata, statistics, free pages, plain bytes."""

from __future__ import annotations

import base64
import gzip
import re
import sqlite3
import struct
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd

__all__ = ["NAME", "Part", "parts_of", "tables_of"]

NAME = "name of the file"

#: Bytes of a gzip or zip member beyond which it is not unpacked: nobody's release, somebody's bomb.
_MOST_BYTES = 4_000_000_000
#: How the tables begin that a GeoPackage has of its own.
_OWN_TABLES = ("gpkg_", "rtree_", "sqlite_")
#: What says in a sheet where a cell stands, and where ranges end: E11, $B$2:$C$9, 17, 1:6. E11 is a diagnosis, too.
_ADDRESSES = {"r", "ref", "sqref", "spans", "activeCell", "topLeftCell"}
_CELL = r"[$]?[A-Z]{0,3}[$]?\d+"
_ADDRESS = re.compile(f"{_CELL}(?:[: ]{_CELL})*")
_TEXT = (".csv", ".tsv", ".txt", ".json", ".geojson", ".yaml", ".xml", ".prj", ".cpg", ".md", ".html")


@dataclass(frozen=True)
class Part:
    """One place of a file.

    Attributes
    ----------
    where : str
        Such as ``"dictionary of column 'ill'"``.
    values : list
        The values that stand there, each whole; empty for a part of text or bytes.
    text : str
        What can be read there.
    raw : bytes
        Bytes in which numbers of eight bytes may lie.
    """

    where: str
    values: tuple[Any, ...] = ()
    text: str = ""
    raw: bytes = b""


def parts_of(path: Path) -> Iterator[Part]:
    """Yield every place of a file, as its kind has them, and last the bytes as they are."""
    raw = path.read_bytes()
    yield Part(NAME, text=path.name)
    if raw[:2] == b"\x1f\x8b":
        yield Part("header of the gzip file", text=_readable(raw[:1024]))
        raw = gzip.decompress(raw)
    if raw[:4] == b"PAR1":
        yield from _parquet(raw)
    elif raw[:2] == b"PK":
        yield from _zipped(raw)
    elif raw[:15] == b"SQLite format 3":
        yield from _sqlite(path)
    is_text = path.suffix.lower() in _TEXT or path.name.lower().endswith(".csv.gz")
    yield Part("text" if is_text else "bytes", text=_readable(raw), raw=b"" if is_text else raw)
    if not is_text and b"\0" in raw[:100_000]:
        yield Part("bytes as wide characters", text=raw.decode("utf-16-le", errors="ignore"))


def tables_of(path: Path) -> dict[str, Callable[[], Iterator[set[str]]]]:
    """Return the sheets of an Excel file, hidden ones too, or the tables of a GeoPackage, in which anything stands.

    With each what yields the texts of its lines, the names of columns among them.
    """
    if path.suffix.lower() in (".xlsx", ".xlsm", ".xls"):
        with pd.ExcelFile(path) as book:
            names = [str(name) for name in book.sheet_names]
            sheets = pd.read_excel(book, sheet_name=None, header=None) if len(names) > 1 else {}
        filled = [name for name in names if name not in sheets or sheets[name].notna().any(axis=None)]
        return {name: partial(_lines, sheets.get(name, pd.DataFrame())) for name in filled}
    if path.suffix.lower() != ".gpkg":
        return {}
    with sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True) as connection:
        names = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
        names = [name for name in names if not name.lower().startswith(_OWN_TABLES)]
        quoted = {name: name.replace('"', '""') for name in names}
        first = {name: connection.execute(f'select * from "{quoted[name]}" limit 1') for name in names}
        heads = {name: pd.DataFrame([[column[0] for column in one.description]]) for name, one in first.items()}
        filled = [name for name, one in first.items() if one.fetchone()]
    connection.close()
    return {name: partial(_lines, heads[name]) for name in filled}


def _lines(table: pd.DataFrame) -> Iterator[set[str]]:
    for row in table.itertuples(index=False):
        yield {str(cell).strip() for cell in row}


def _readable(raw: bytes) -> str:
    """Return the text in some bytes; what is no UTF-8 is read as Latin-1, so that nothing is lost."""
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"", "utf-8")):
        if raw.startswith(mark):
            try:
                return raw.decode(encoding)
            except UnicodeDecodeError:
                continue
    # Binary: each run that can be read, in UTF-8 and in Latin-1.
    runs = re.findall(rb"[\x20-\x7e\x80-\xff]{3,}", raw)
    return "\n".join(run.decode(encoding, errors="replace") for run in runs for encoding in ("utf-8", "latin-1"))


# -- zip: Excel and its like -----------------------------------------------------------------------------------------


def _zipped(raw: bytes) -> Iterator[Part]:
    with zipfile.ZipFile(BytesIO(raw)) as archive:
        if archive.comment:
            yield Part("comment of the zip file", text=_readable(archive.comment))
        for member in archive.infolist():
            yield Part("names in the zip file", text=f"{member.filename} {_readable(member.comment + member.extra)}")
            if member.file_size > _MOST_BYTES:
                continue
            content = archive.read(member)
            if member.filename.endswith((".xml", ".rels", ".vml")):
                yield from _markup(content, member.filename)
            else:
                yield Part(member.filename, text=_readable(content), raw=content)


def _markup(content: bytes, where: str) -> Iterator[Part]:
    values: list[str] = []
    try:
        for _, element in ElementTree.iterparse(BytesIO(content)):
            told = (text for name, text in element.attrib.items() if not _is_address(name, text))
            values += [text for text in (element.text, element.tail, *told) if text]
    except ElementTree.ParseError:
        yield Part(where, text=_readable(content))
        return
    # In headers and footers &L, &C and &R say where a text stands.
    yield Part(where, text="\n".join(re.sub(r"&[LCR]", "\n", value) for value in values))
    if not re.search(r"worksheets/sheet\d+\.xml$", where):
        # Numbers of rows and styles are no values; in a sheet they would be taken for some.
        yield Part(where, values=tuple(value for value in values if not value.strip().isdigit()))
    comments = re.findall(rb"<!--(.*?)-->", content, flags=re.DOTALL)
    if comments:
        yield Part(f"comment in {where}", text="\n".join(map(_readable, comments)))


def _is_address(attribute: str, text: str) -> bool:
    return attribute in _ADDRESSES and _ADDRESS.fullmatch(text) is not None


# -- SQLite: GeoPackage ----------------------------------------------------------------------------------------------


def _sqlite(path: Path) -> Iterator[Part]:
    with sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True) as connection:
        connection.text_factory = lambda raw: raw.decode("utf-8", errors="replace")
        names = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
        for name in names:
            quoted = name.replace('"', '""')
            try:
                rows = connection.execute(f'select * from "{quoted}"').fetchall()
            except sqlite3.Error:
                continue
            cells = [cell for row in rows for cell in row if cell is not None]
            yield Part(
                f"table {name!r}",
                values=tuple(cell for cell in cells if isinstance(cell, str | float)),
                text="\n".join(str(cell) for cell in cells if isinstance(cell, str)),
                raw=b"".join(cell for cell in cells if isinstance(cell, bytes)),
            )
    connection.close()


# -- Parquet ---------------------------------------------------------------------------------------------------------


def _parquet(raw: bytes) -> Iterator[Part]:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(BytesIO(raw))
    told = file.metadata
    for key, value in (told.metadata or {}).items():
        yield Part(f"metadata {_readable(key)!r}", text=_readable(value))
        if key == b"ARROW:schema":
            yield Part("metadata 'ARROW:schema'", text=_readable(base64.b64decode(value)))
    for name, field in zip(file.schema_arrow.names, file.schema_arrow, strict=True):
        for key, value in (field.metadata or {}).items():
            yield Part(f"metadata {_readable(key)!r} of column {name!r}", text=_readable(value))
    for group in range(told.num_row_groups):
        for j in range(told.num_columns):
            column = told.row_group(group).column(j)
            if not column.num_values:
                continue
            name = column.path_in_schema
            statistics = column.statistics
            if statistics is not None and statistics.has_min_max:
                ends = tuple(_plain(end) for end in (statistics.min, statistics.max))
                yield Part(f"statistics of column {name!r}", values=ends)
            if column.dictionary_page_offset is not None:
                values = _dictionary(raw, column)
                yield Part(f"dictionary of column {name!r}", values=values)
            yield Part(f"pages of column {name!r}", raw=_pages(raw, column))


def _plain(value: Any) -> Any:
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else value


def _dictionary(raw: bytes, column: Any) -> tuple[Any, ...]:
    """Return all values of the dictionary page of a column, used or not."""
    header, content = _page(raw, column.dictionary_page_offset, column)
    count = header.get(7, {}).get(1, 0)
    kinds = {"INT32": "<i4", "INT64": "<i8", "FLOAT": "<f4", "DOUBLE": "<f8"}
    if column.physical_type in kinds:
        return tuple(np.frombuffer(content, kinds[column.physical_type], count=count).tolist())
    values, at = [], 0
    if column.physical_type == "BYTE_ARRAY":
        for _ in range(count):
            (size,) = struct.unpack_from("<i", content, at)
            values.append(_plain(content[at + 4 : at + 4 + size]))
            at += 4 + size
    return tuple(values)


def _pages(raw: bytes, column: Any) -> bytes:
    """Return the unpacked pages of a column one after another."""
    start = min(at for at in (column.dictionary_page_offset, column.data_page_offset) if at is not None)
    at, end, found = start, start + column.total_compressed_size, []
    while at < end:
        header, content = _page(raw, at, column)
        found.append(content)
        at = header["end"]
    return b"".join(found)


def _page(raw: bytes, at: int, column: Any) -> tuple[dict[Any, Any], bytes]:
    import pyarrow as pa

    header, start = _thrift(raw, at)
    content = raw[start : start + header[3]]
    header["end"] = start + header[3]
    levels = header.get(8, {})
    # In pages of the second version the levels lie unpacked before the values.
    plain = levels.get(5, 0) + levels.get(6, 0)
    if column.compression != "UNCOMPRESSED" and levels.get(7, True):
        size = header[2] - plain
        name = {"LZ4": "lz4_raw"}.get(column.compression, column.compression.lower())
        unpacked = pa.decompress(content[plain:], size, codec=name, asbytes=True) if size else b""
        content = content[:plain] + unpacked
    return header, content


def _thrift(raw: bytes, at: int) -> tuple[dict[Any, Any], int]:
    """Read a struct of Thrift's compact protocol: field number -> value; return it and where it ends."""
    found: dict[Any, Any] = {}
    number = 0
    while raw[at]:
        head, at = raw[at], at + 1
        kind = head & 15
        if head >> 4:
            number += head >> 4
        else:
            number, at = _zigzag(raw, at)
        found[number], at = _thrift_value(raw, at, kind)
    return found, at + 1


def _thrift_value(raw: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind in (1, 2):
        return kind == 1, at
    if kind == 3:
        return raw[at], at + 1
    if kind in (4, 5, 6):
        return _zigzag(raw, at)
    if kind == 7:
        return struct.unpack_from("<d", raw, at)[0], at + 8
    if kind == 8:
        size, at = _varint(raw, at)
        return raw[at : at + size], at + size
    if kind in (9, 10):
        size, inner, at = raw[at] >> 4, raw[at] & 15, at + 1
        if size == 15:
            size, at = _varint(raw, at)
        items = []
        for _ in range(size):
            item, at = _thrift_value(raw, at, inner)
            items.append(item)
        return items, at
    return _thrift(raw, at)


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte, at = raw[at], at + 1
        value |= (byte & 127) << shift
        shift += 7
        if not byte & 128:
            return value, at


def _zigzag(raw: bytes, at: int) -> tuple[int, int]:
    value, at = _varint(raw, at)
    return (value >> 1) ^ -(value & 1), at
