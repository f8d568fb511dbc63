"""Search the bytes of a release for what no cell should hold: hidden values, true places, exact ends, order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident.base import (
    DataError,
    FloatArray,
    check_choice,
    check_columns,
    check_path,
    check_several,
    check_table,
    check_text,
    is_numeric,
    scratch,
)
from reident.workbench.cell_audit import Finding, cell_findings, coordinates_of
from reident.workbench.columns import decimals_of
from reident.workbench.containers import NAME, Part, parts_of, tables_of
from reident.workbench.files import WRITTEN, read_like, write_file
from reident.workbench.readers import file_kind

__all__ = ["Finding", "audit_bytes"]

_TOKEN = re.compile(r"[\w.+\-@]+")
_PIECE = re.compile(r"\w+")
_POINT = re.compile(r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_COMMA = re.compile(r"\d+,\d+")
#: Significant digits from which a number is nobody's but the person's: by chance such numbers do not meet.
_DIGITS = 6
#: Letters from which a text counts where a container's own words stand too, and in the release's own text.
_LONG, _SHORT = 5, 3


def audit_bytes(
    path: str | Path,
    original: Any,
    released: Any = None,
    *,
    unchanged: Sequence[str] = (),
    lat: str | None = None,
    lon: str | None = None,
    aside: Sequence[str] = (),
) -> list[Finding]:
    """Search every place in the files of a release for values of the original that no released cell holds.

    Opened are Parquet (dictionaries, metadata, statistics, pages), SQLite and GeoPackage (all tables, free pages),
    Excel and other zip files (all parts), CRS texts, gzip headers, and every file's bytes as they are. A value counts
    as hidden if it is one of the original's and stands in no released cell. Beside hidden values: places of the
    release that are exactly true ones, interval ends that are persons' values more often than chance allows, rows in
    the original's order, and sheets or layers beside the one that is read.

    What it does not find: values that were encrypted or encoded in some other way than these formats do, values too
    short to be told from a format's own words outside tables, and what the released cells themselves say (`check`
    judges that).

    Parameters
    ----------
    path : str or Path
        A file, or a folder with all files of a release.
    original : DataFrame or GeoDataFrame
        The data that the release was made of, all columns, suppressed records too.
    released : DataFrame or GeoDataFrame, optional
        The cells that are meant to be released; default: what the file ``release.*`` of the folder shows.
    unchanged : sequence of str
        Columns that are released as they are, on purpose.
    lat, lon : str, optional
        The columns with places in both tables; default ``lat_deg`` and ``lon_deg``, or the geometry.
    aside : sequence of str
        Further sheets or layers that hold no records, such as a legend: they are searched, and are no finding unless
        a line of them has two names of the original's columns, as a table of records has.

    Returns
    -------
    list of Finding
        Empty if nothing was found.

    Raises
    ------
    DataError, ParameterError
        If there is no such file, or it cannot be read.

    Examples
    --------
    >>> people = pd.DataFrame({"age": [30, 30, 90], "ill": pd.Categorical(["flu", "flu", "HIV"])})
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     people.head(2).to_parquet(f"{folder}/release.parquet")
    ...     [finding.where for finding in audit_bytes(folder, people)]
    ["dictionary of column 'ill'"]
    """
    path = check_path(path, "path")
    if not path.exists():
        raise DataError(f"`path` must name a file or folder that exists, got {str(path)!r}")
    check_table(original, "original")
    check_text(lat, "lat")
    check_text(lon, "lon")
    check_columns(original, unchanged, "unchanged", table_name="original", min_columns=0)
    aside = check_several(aside, "aside")
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
    main = next((one for one in files if one.name.startswith("release.")), files[0] if files else None)
    if main is None:
        raise DataError(f"`path` must hold at least one file, {str(path)!r} is empty")
    if released is None:
        released = read_like(main, original)
    check_table(released, "released", min_records=0)
    secrets = _Secrets(original)
    shown = secrets.in_cells(released)
    found = _further_tables(main, aside, {str(name) for name in original.columns})
    for file in files:
        # The words that a container of this kind has of its own are no secrets, nor are the columns' names.
        base = shown | secrets.found_in(_neutral(released, file), _SHORT) if file == main else shown
        least = _SHORT if file == main else _LONG + 1
        for part in parts_of(file):
            held = _without(secrets.found_in([part], least), base)
            if held and part.text and file == main:  # two cells side by side, 50,2412, are no number with a comma
                beside = set(_COMMA.findall(pd.DataFrame(released).to_csv(index=False)))
                held = _without(secrets.found_in([part], least, beside), base)
            if held:
                # A name that is itself what was found is not repeated.
                name = f"*{file.suffix}" if part.where == NAME else file.name
                found.append(_finding(name, part.where, held))
                base = base | held
    return found + cell_findings(main.name, original, released, list(unchanged), lat, lon)


def _further_tables(file: Path, aside: Sequence[str], columns: Set[str]) -> list[Finding]:
    """Find sheets or layers beside the one that is read: nobody judges their rows."""
    tables = tables_of(file)
    for name in aside:
        check_choice(name, "aside", tuple(tables))
    records = [name for name in aside if any(len(columns & line) > 1 for line in tables[name]())]
    names = [name for name in tables if name not in aside or name in records]
    if len(names) < 2:
        return []
    told = f"it holds {len(names)} tables, {', '.join(map(repr, names))}, of which one was judged: leave the others out"
    told += ", or say which is meant (--release-table) and which hold no records (--aside)"
    told += (
        f"; {', '.join(map(repr, records))}: has names of the original's columns, as records have" if records else ""
    )
    return [Finding(file.name, "tables", "further table", (), len(names) - 1, f"{file.name}: {told}")]


#: Values of the original that were found, texts and numbers, each with its column.
_Held = dict[Any, str]


def _without(held: _Held, others: _Held) -> _Held:
    return {value: column for value, column in held.items() if value not in others}


def _finding(file: str, where: str, held: _Held) -> Finding:
    values = sorted(held, key=lambda value: isinstance(value, float))  # texts come first
    columns = tuple(dict.fromkeys(held[value] for value in values))
    named, n = ", ".join(map(repr, columns)), len(held)
    return Finding(
        file, where, "hidden value", columns, n,
        f"{file}: the {where} holds {n} value(s) of {named} that no released cell has", values[0],
    )  # fmt: skip


class _Secrets:
    """Every value of the original, in the forms in which files hold it."""

    def __init__(self, original: Any) -> None:
        self.texts: dict[str, str] = {}
        numbers: dict[str, FloatArray] = {}
        table = pd.DataFrame(original)
        for name in table.columns:
            column = table[name]
            if hasattr(original, "to_crs") and name == original.geometry.name:
                continue
            if is_numeric(column):
                numbers[str(name)] = np.unique(np.abs(column.dropna().to_numpy(np.float64)))
            else:
                for value in pd.unique(column.dropna()):
                    for text in _forms(value):
                        self.texts.setdefault(text, str(name))
        for axis, values in coordinates_of(original).items():
            numbers[f"place ({axis})"] = np.unique(np.abs(values))
        self.names = list(numbers)
        self.values = np.concatenate([*numbers.values(), np.empty(0)])
        self.column = np.repeat(np.arange(len(numbers)), [len(one) for one in numbers.values()])

    @cached_property
    def _several(self) -> list[tuple[str, tuple[str, ...]]]:
        """Texts of more than one token, with their tokens."""
        parted = ((text, tuple(_TOKEN.findall(text))) for text in self.texts)
        return [(text, tokens) for text, tokens in parted if tokens != (text,)]

    @cached_property
    def _sorted(self) -> tuple[FloatArray, np.ndarray]:
        order = np.argsort(self.values, kind="stable")
        return self.values[order], self.column[order]

    def in_cells(self, released: Any) -> _Held:
        """Return which values released cells hold, in whatever column, and inside of labels too."""
        table = pd.DataFrame(released)
        cells: list[str] = [str(name) for name in table.columns]
        numbers: list[FloatArray] = list(coordinates_of(released).values())
        for name in table.columns:
            column = table[name].dropna()
            if name in _geometry(released):
                continue
            if is_numeric(column):
                numbers.append(column.to_numpy(np.float64))
            else:
                cells += [text for value in pd.unique(column) for text in _forms(value)]
        held = self.found_in([Part("cells", tuple(cells), "\n".join(cells))], 0)
        for column in numbers:
            shown = np.unique(np.abs(column))
            # A code of digits is no secret where a released number has the same digits before or behind its point.
            pieces = {piece for value in shown.tolist() for piece in repr(value).split(".")}
            held |= {piece: self.texts[piece] for piece in pieces if piece in self.texts}
            digits = decimals_of(pd.Series(shown), 9)
            # As it is, as it is written with its digits, and, before a decimal comma, its whole part by itself.
            held |= self._equal(shown)
            forms = [] if digits is None else [(shown[np.round(shown, d) == shown], d) for d in range(digits + 1)]
            for written, decimals in [*forms, (np.floor(shown), 0)]:
                long = written[written * 10.0**decimals >= 10.0 ** (_DIGITS - 1)]
                held |= self._rounded(long, decimals)
        return held

    def found_in(self, parts: Iterable[Part], least: int, beside: Set[str] = frozenset()) -> _Held:
        """Return which values stand in some parts of a file; texts shorter than `least` count only as whole values.

        `beside`: what looks like numbers with a comma and is none.
        """
        found: _Held = {}
        for part in parts:
            found |= self._whole_texts(part.values) | self._whole_numbers(part.values)
            if part.text:
                found |= self._texts_in(part.text, least) | self._numbers_in(part.text, beside)
            if part.raw:
                found |= self._doubles_in(part.raw)
        return found

    def _whole_texts(self, values: Iterable[Any]) -> _Held:
        forms = {form for value in values if not isinstance(value, float | int) for form in _forms(value)}
        return {form: self.texts[form] for form in forms if form in self.texts}

    def _whole_numbers(self, values: Iterable[Any]) -> _Held:
        plain = [float(value) for value in values if isinstance(value, float | int | np.number)]
        return self._equal(np.abs(np.array(plain, np.float64)))

    def _texts_in(self, text: str, least: int) -> _Held:
        tokens = set(_TOKEN.findall(text))
        tokens |= {token.strip(".+-") for token in tokens}
        tokens |= {piece for token in tokens for piece in _PIECE.findall(token)}
        found = {token: self.texts[token] for token in tokens if len(token) >= least and token in self.texts}
        for secret, parts in self._several:
            if len(secret) >= least and all(part in tokens for part in parts) and secret in text:
                found[secret] = self.texts[secret]
        return found

    def _numbers_in(self, text: str, beside: Set[str]) -> _Held:
        tokens = set(_POINT.findall(text))
        if "," in text:
            tokens |= {token.replace(",", ".") for token in set(_COMMA.findall(text)) - beside}
        found: _Held = {}
        groups: dict[int, list[str]] = {}
        for token in tokens:
            if len(token.replace(".", "").strip("0")) >= _DIGITS and len(token) < 40:
                groups.setdefault(len(token.partition(".")[2].split("e")[0]), []).append(token)
        for decimals, listed in groups.items():
            read = np.array(listed, np.float64)
            found |= self._equal(read) if decimals > 9 else self._rounded(read, decimals)
        return found

    def _rounded(self, read: FloatArray, decimals: int) -> _Held:
        """Return the values that are, rounded to so many decimals, among some numbers."""
        values, column = self._sorted
        scale = 10.0**decimals
        inside = np.isin(np.rint(values * scale), np.rint(read * scale))
        return {float(values[i]): self.names[column[i]] for i in np.flatnonzero(inside)}

    def _equal(self, read: FloatArray) -> _Held:
        values, column = self._sorted
        inside = np.isin(values, read)
        return {float(values[i]): self.names[column[i]] for i in np.flatnonzero(inside)}

    def _doubles_in(self, raw: bytes) -> _Held:
        """Return distinctive numbers that stand in some bytes as eight-byte floats, at whatever offset."""
        values, column = self._sorted
        distinct = np.array([len(f"{value:.15g}".replace(".", "").strip("0")) >= _DIGITS for value in values], bool)
        values, column = values[distinct], column[distinct]
        found: _Held = {}
        if not len(values):
            return found
        for order in ("<u8", ">u8"):
            wanted = np.sort(values.astype(order.replace("u", "f")).view(order).astype(np.uint64))
            for offset in range(8):
                count = (len(raw) - offset) // 8
                if count <= 0:
                    continue
                read = np.frombuffer(raw, order, count=count, offset=offset).astype(np.uint64) & np.uint64(2**63 - 1)
                at = np.minimum(np.searchsorted(wanted, read), len(wanted) - 1)
                hits = np.unique(read[wanted[at] == read]).view(np.float64)
                found |= {float(v): self.names[column[np.searchsorted(values, v)]] for v in hits}
        return found


def _forms(value: Any) -> set[str]:
    """Return how a value may be written."""
    if isinstance(value, pd.Timestamp | np.datetime64):
        moment = pd.Timestamp(value)
        return {str(moment), moment.strftime("%Y-%m-%d"), moment.strftime("%d.%m.%Y"), moment.strftime("%Y%m%d")}
    return {str(value)} if str(value) else set()


def _geometry(table: Any) -> list[Any]:
    return [table.geometry.name] if hasattr(table, "to_crs") else []


def _neutral(released: Any, file: Path) -> list[Part]:
    """Return the parts of a file of the same kind and columns without records: what the format says by itself."""
    kind = file_kind(file)
    if kind not in WRITTEN or kind in (".csv", ".geojson", ".shp", ".fgb"):
        return []
    with scratch() as folder:
        empty = folder / f"release{kind}"
        write_file(released.iloc[:0], empty)
        return list(parts_of(empty))
