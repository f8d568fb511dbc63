"""Identifiers of the original that a release holds: as they are, or rewritten as anybody can without a key."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np
import pandas as pd

from reident.tables.labels import text_of
from reident.workbench.cell_audit import Finding
from reident.workbench.roles import says_identifier

__all__ = ["identifiers_kept", "identifiers_of"]

#: A column in which at least this share of the values is distinct tells who a record is.
_DISTINCT = 0.98
#: Fewer values than these may agree by chance.
_LEAST = 5
#: The share of a released column's values that must be rewritten identifiers, and how many of them are looked at.
_SHARE, _LOOKED_AT = 0.5, 200
#: Digits from which on a cut sum is told from a number or a word.
_DIGITS = 8

_Texts = set[str]


def identifiers_of(original: pd.DataFrame, known: Collection[Any]) -> list[Any]:
    """Return the columns that tell who a record is, beside those that are `known` to have another role.

    Nearly all their values are distinct, and they are texts, or whole numbers whose name says so.
    """
    found = []
    for name in _cells(original):
        column = original[name].dropna()
        if name in known or len(column) < _LEAST or column.nunique() < _DISTINCT * len(column):
            continue
        text = isinstance(column.dtype, pd.StringDtype) or column.map(type).eq(str).all()
        if text or (column.dtype.kind in "iu" and says_identifier(name)):
            found.append(name)
    return found


def identifiers_kept(original: pd.DataFrame, released: pd.DataFrame, names: Collection[Any]) -> list[dict[str, Any]]:
    """Return a finding for each of these columns of the original that a column of the release gives away.

    Sums without a key (MD5, SHA), whole or cut, protect nobody: whoever can list the identifiers lists their sums. New
    numbers from 0 or 1 on say nothing. What a key was used for cannot be told, and is not found.
    """
    if not names:
        return []
    columns = {name: released[name].dropna().unique() for name in _cells(released)}
    shown = {name: sorted({text_of(value) for value in values}) for name, values in columns.items()}
    found = []
    for name in names:
        own = {text_of(value) for value in original[name].dropna()}
        for other, values in shown.items():
            how = _how(own, values)
            if how:
                told = f"{other!r} of the release holds the identifier {name!r} of the original, {how}"
                where = f"column {other!r}"
                finding = Finding("release", where, "identifier", (str(name),), len(values), f"release: {told}")
                found.append(finding.as_dict())
    return found


def _cells(table: pd.DataFrame) -> list[Any]:
    """Return the columns that may hold identifiers: no shapes, and no numbers with a fraction."""
    return [name for name in table if table[name].dtype.kind != "f" and table[name].dtype.name != "geometry"]


def _how(own: _Texts, values: list[str]) -> str:
    """Return how released values come from identifiers; empty if they do not."""
    if len(values) < _LEAST or _new_numbers(own):
        return ""
    step = -(-len(values) // _LOOKED_AT)
    looked_at = values[::step]
    for told, rewritten in _rewritings(own, looked_at):
        if sum(value in rewritten for value in looked_at) >= max(_LEAST, _SHARE * len(looked_at)):
            return told
    return ""


def _new_numbers(own: _Texts) -> bool:
    """Whether identifiers are numbers from 0 or 1 on without large gaps: any other numbering holds the same ones."""
    numbers = [int(text) for text in own if text.isdecimal()]
    return len(numbers) == len(own) and max(numbers) <= 2 * len(numbers)


def _rewritings(own: _Texts, values: list[str]) -> Iterator[tuple[str, _Texts]]:
    """Yield what can be done to identifiers without a key, and what comes of them."""
    yield "as it is", own
    yield "in other letters", {text.casefold() for text in own} | {text.upper() for text in own}
    yield "without leading zeros", {text.lstrip("0") for text in own}
    yield "in reverse", {text[::-1] for text in own}
    coded = [text.encode() for text in own]
    yield "in base64", {base64.b64encode(code).decode() for code in coded}
    lengths = {len(value) for value in values}
    if len(lengths) == 1 and (length := lengths.pop()) >= _DIGITS:
        for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512"):
            yield (
                f"as its {name.upper()} sum without a key, which anybody can compute",
                _sums(name, coded, length, values),
            )
    yield from _shifted(own, values)


def _sums(name: str, coded: list[bytes], length: int, values: list[str]) -> _Texts:
    sums = [hashlib.new(name, code, usedforsecurity=False) for code in coded]
    if all(value.casefold().strip("0123456789abcdef") == "" for value in values):
        upper: Callable[[str], str] = str.upper if any(value != value.lower() for value in values) else str
        return {upper(one.hexdigest()[:length]) for one in sums}
    return {base64.b64encode(one.digest()).decode()[:length] for one in sums}


def _shifted(own: _Texts, values: list[str]) -> Iterator[tuple[str, _Texts]]:
    """Yield the identifiers moved by one number, where numbers with gaps tell which."""
    if not all(text.isdecimal() for text in [*own, *values]):
        return
    numbers = np.unique(np.array([int(text) for text in own if len(text) < 19], np.int64))
    if len(numbers) < _LEAST or numbers[-1] - numbers[0] < 10 * len(numbers):
        return
    shown = np.array([int(value) for value in values if len(value) < 19], np.int64)[:_LOOKED_AT]
    shifts = shown[0] - numbers if len(shown) else shown
    for one in shown[1:_LEAST]:
        shifts = shifts[np.isin(one - shifts, numbers)]
    for shift in shifts[shifts != 0][:_LEAST]:
        yield "moved by one number", {str(number) for number in (numbers + shift).tolist()}
