"""Identifiers of the original that a release holds: as they are, or rewritten as anybody can without a key."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from reident.base import IntArray
from reident.tables.labels import text_of, texts_of
from reident.workbench.cell_audit import Finding
from reident.workbench.released_codes import bare
from reident.workbench.rewriting import plain_cells
from reident.workbench.roles import says_identifier, says_name

__all__ = ["identifiers_kept", "identifiers_of"]

#: A column in which at least this share of the values is distinct tells who a record is.
_DISTINCT = 0.98
#: Fewer values than these may agree by chance.
_LEAST = 5
#: The share of a released column's values that must be rewritten identifiers, and how many of them are looked at.
_SHARE, _LOOKED_AT = 0.5, 200
#: Digits from which on a cut sum is told from a number or a word.
_DIGITS = 8
#: Letters beside the digits of a number; the share of identifiers that must stay apart when they are written plainly.
_LETTERS, _OFTEN = 3, 0.9
#: Signs from which on an identifier is sought inside of texts, how many lengths are, and what chance may do there.
_LONG, _LENGTHS, _BY_CHANCE = 4, 30, 0.1
#: Groups that a column is seen in, the association of two columns that is none of masked ones, and what chance may do.
_GROUPS, _LARGEST, _TOGETHER, _CHANCE = 10, 20, 0.5, 1e-6

_Texts = set[str]
#: Of which identifier each rewritten one comes.
_Rewritten = dict[str, str]


def identifiers_of(original: pd.DataFrame, known: Collection[Any]) -> list[Any]:
    """Return the columns that tell who a record is, beside those that are `known` to have another role.

    Nearly all their values are distinct, and they are texts, or whole numbers whose name says so; names of persons are
    identifiers, however often they occur.
    """
    found = []
    for name in _cells(original):
        column = original[name].dropna()
        if name in known or len(column) < _LEAST:
            continue
        text = isinstance(column.dtype, pd.StringDtype) or column.map(type).eq(str).all()
        if column.nunique() < (_LEAST if text and says_name(name) else _DISTINCT * len(column)):
            continue
        if text or (column.dtype.kind in "iu" and says_identifier(name)):
            found.append(name)
    return found


def identifiers_kept(original: pd.DataFrame, released: pd.DataFrame, names: Collection[Any]) -> list[dict[str, Any]]:
    """Return a finding for each of these columns of the original that a column of the release gives away.

    Sums without a key (MD5, SHA), whole or cut, protect nobody: whoever can list the identifiers lists their sums.
    Numbers from 0 or 1 on under another name may be new ones: they are identifiers where the other columns say of them
    what the original says. What a key was used for cannot be told, and is not found.
    """
    if not names:
        return []
    columns = {name: released[name].dropna().unique() for name in _cells(released)}
    shown = {name: sorted({text_of(value) for value in values}) for name, values in columns.items()}
    found = []
    for name in names:
        own = {text_of(value) for value in original[name].dropna()}
        holding: list[Any] = []
        for other, values in shown.items():
            if any(str(other).startswith(f"{one}, part ") for one in holding):
                continue
            how, of = _how(own, values)
            counted = own if how != _BY_DIGITS else {_digits(text) or "0" for text in own}
            doubtful = _new_numbers(counted) or (how == _BY_DIGITS and _dense(counted))  # postcodes are digits, too
            if doubtful and not (bare(str(other)) == bare(str(name)) and set(values) & own == set(values)):
                how = how if _says_the_same(original, released, name, other, of) else ""
            how = how or _moved(own, values, partial(_says_the_same, original, released, name, other))
            if how:
                holding.append(other)
                told = f"{other!r} of the release holds the identifier {name!r} of the original, {how}"
                where = f"column {other!r}"
                finding = Finding("release", where, "identifier", (str(name),), len(values), f"release: {told}")
                found.append(finding.as_dict())
    return found


def _cells(table: pd.DataFrame) -> list[Any]:
    """Return the columns that may hold identifiers: no shapes, and no numbers with a fraction."""
    return [
        name for name in table
        if table[name].dtype.name != "geometry" and (table[name].dtype.kind != "f" or not (table[name] % 1).any())
    ]  # fmt: skip


def _how(own: _Texts, values: list[str]) -> tuple[str, _Rewritten]:
    """Return how released values come from identifiers, and from which; empty if they do not."""
    if len(values) < _LEAST:
        return "", {}
    step = -(-len(values) // _LOOKED_AT)
    looked_at = values[::step]
    for told, rewritten in _rewritings(own, looked_at):
        if sum(value in rewritten for value in looked_at) >= max(_LEAST, _SHARE * len(looked_at)):
            return told, rewritten
    for told, normal in _NORMAL.items():
        known = {form: text for text in own if (form := normal(text))}
        rewritten = {value: known[form] for value in values if (form := normal(value)) in known}
        of = {rewritten[value] for value in looked_at if value in rewritten}
        if len(known) >= _OFTEN * len(own) and len(of) >= max(_LEAST, _SHARE * len(looked_at)):
            return told, rewritten
    inside = _inside(own, looked_at)
    if len(set(inside.values())) >= max(_LEAST, _SHARE * len(looked_at)):
        return "inside a text", _inside(own, values)
    return "", {}


def _digits(text: str) -> str:
    """Return the digits of a text of digits mainly: a number, with signs or a letter or two around them."""
    found = re.sub(r"\D", "", re.sub(r"\.0+$", "", text))
    return found.lstrip("0") if sum(sign.isalpha() for sign in text) <= _LETTERS else ""


def _words(text: str) -> str:
    return " ".join(sorted(re.findall(r"\w+", text.casefold())))


#: Digits alone may be any other number, such as an age.
_BY_DIGITS = "by its digits"

_NORMAL: dict[str, Callable[[str], str]] = {
    "with other signs": lambda text: bare(text),
    _BY_DIGITS: _digits,
    "by its words": _words,
}


def _inside(own: _Texts, values: list[str]) -> _Rewritten:
    """Return which identifiers stand inside released texts: long ones, which hardly stand there by chance."""
    known = {form: text for text in own if len(form := bare(text)) >= _LONG}
    found: _Rewritten = {}
    for length in sorted({len(form) for form in known}, reverse=True)[:_LENGTHS]:
        for value in values:
            spelt = bare(value)
            starts = range(len(spelt) - length + 1)
            chance = len(known) * len(starts) / 10.0**length
            form = next((spelt[at : at + length] for at in starts if spelt[at : at + length] in known), "")
            if form and chance < _BY_CHANCE:
                found.setdefault(value, known[form])
    return found


def _spellings(own: _Texts) -> _Rewritten:
    """Return identifiers as programs write them before they sum: in small or large letters, padded, without signs."""
    ways: list[Callable[[str], str]] = [str, str.casefold, str.upper, lambda text: bare(text), _words, _digits]
    spelt = {form: text for way in ways for text in own if (form := way(text))}
    if all(text.isdecimal() for text in own):
        spelt |= {text.lstrip("0").zfill(length): text for length in range(4, 13) for text in own}
    return spelt


def _new_numbers(own: _Texts) -> bool:
    """Whether identifiers are numbers from 0 or 1 on without large gaps: any other numbering holds the same ones."""
    numbers = [int(text) for text in own if text.isdecimal()]
    return len(numbers) == len(own) and max(numbers, default=0) <= 2 * len(numbers)


def _dense(own: _Texts) -> bool:
    """Whether identifiers are numbers without large gaps."""
    numbers = [int(text) for text in own if text.isdecimal() and len(text) < 19]
    return len(numbers) == len(own) >= _LEAST and max(numbers) - min(numbers) < 10 * len(numbers)


def _says_the_same(original: pd.DataFrame, released: pd.DataFrame, name: Any, other: Any, of: _Rewritten) -> bool:
    """Whether released numbers, joined to the identifiers, have beside them what the original has, masked or not.

    Half of the columns must show it: one alone may be what both files were numbered along.
    """
    from scipy.stats import chi2

    rows = pd.Series(np.arange(len(original)), index=texts_of(original[name]))
    rows = rows[rows.index.notna() & ~rows.index.duplicated()]
    at = texts_of(released[other]).map(of).map(rows)
    shown, known = released[at.notna().to_numpy()], original.iloc[at.dropna().astype(int)]
    told = []
    for column in released.columns.intersection(original.columns):
        if column in (name, other) or "geometry" in (original[column].dtype.name, released[column].dtype.name):
            continue
        pairs = pd.crosstab(_groups(known[column]), _groups(shown[column])).to_numpy(float)
        if min(pairs.shape) < 2:
            continue
        chance = pairs.sum(axis=1, keepdims=True) * pairs.sum(axis=0) / pairs.sum()
        gain, free = float(((pairs - chance) ** 2 / chance).sum()), (pairs.shape[0] - 1) * (pairs.shape[1] - 1)
        size = gain / pairs.sum() / (min(pairs.shape) - 1)
        told.append(size >= _TOGETHER**2 and chi2.sf(gain, free) <= _CHANCE)
    return bool(told) and float(np.mean(told)) >= 0.5


def _groups(column: pd.Series) -> IntArray:
    """Return the groups of a column's values: each its own, or tenths of many in their order."""
    cells = plain_cells(column)
    cells = cells if pd.api.types.is_numeric_dtype(cells) else texts_of(column)
    if cells.nunique(dropna=False) <= _LARGEST:
        return pd.factorize(cells, use_na_sentinel=False)[0]
    ranks = cells.rank(na_option="bottom").to_numpy(float)
    return ((ranks - 1) * _GROUPS // len(ranks)).astype(np.int64)


def _rewritings(own: _Texts, values: list[str]) -> Iterator[tuple[str, _Rewritten]]:
    """Yield what can be done to identifiers without a key, and what comes of them."""
    yield "as it is", {text: text for text in own}
    yield "in other letters", {spelt: text for text in own for spelt in (text.casefold(), text.upper())}
    yield "without leading zeros", {text.lstrip("0"): text for text in own}
    yield "in reverse", {text[::-1]: text for text in own}
    if all(text.isdecimal() and len(text) < 19 for text in own):
        yield "in hexadecimal digits", {form: text for text in own for form in _hexadecimal(int(text))}
    yield "in base64", {base64.b64encode(text.encode()).decode(): text for text in own}
    lengths = {len(value) for value in values}
    if len(lengths) == 1 and (length := lengths.pop()) >= _DIGITS:
        spelt = _spellings(own)
        for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512"):
            yield (
                f"as its {name.upper()} sum without a key, which anybody can compute",
                _sums(name, spelt, length, values),
            )
    yield from _shifted(own, values)


def _hexadecimal(number: int) -> list[str]:
    return [f"{number:{spelt}}" for spelt in ("x", "X", "#x", "08x", "08X")]


def _sums(name: str, own: _Rewritten, length: int, values: list[str]) -> _Rewritten:
    sums = {form: hashlib.new(name, form.encode(), usedforsecurity=False) for form in own}
    if all(value.casefold().strip("0123456789abcdef") == "" for value in values):
        upper: Callable[[str], str] = str.upper if any(value != value.lower() for value in values) else str
        return {upper(one.hexdigest()[:length]): own[form] for form, one in sums.items()}
    return {base64.b64encode(one.digest()).decode()[:length]: own[form] for form, one in sums.items()}


def _moved(own: _Texts, values: list[str], same: Callable[[_Rewritten], bool]) -> str:
    """Return how dense numbers were moved where the other columns say so; no gap tells by how much."""
    if not values or not _dense(own) or not all(text.isdecimal() and len(text) < 19 for text in values):
        return ""
    numbers, shown = ([int(text) for text in texts] for texts in (own, values))
    shifts = {min(shown) - min(numbers), max(shown) - max(numbers)} - {0}
    moved = ({str(number + shift): str(number) for number in numbers} for shift in sorted(shifts))
    return "moved by one number" if any(same(of) for of in moved) else ""


def _shifted(own: _Texts, values: list[str]) -> Iterator[tuple[str, _Rewritten]]:
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
        yield "moved by one number", {str(number + shift): str(number) for number in numbers.tolist()}
