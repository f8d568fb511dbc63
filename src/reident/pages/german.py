"""The texts of figures, captions and tables in German: each whole, or as it was.

``german.csv`` has a text a row and its German; a row without German is a name, or a formula, that stays. A `{}` in it
stands for a number, a sign or another text of the table, which are told in turn; separators are rows of this kind.
"""

from __future__ import annotations

import csv
import re
import textwrap
from collections.abc import Collection
from functools import cache, lru_cache
from pathlib import Path

__all__ = ["fill", "in_german", "translated"]

_NARROW, _HELD = "\u202f", "\u00a0"
_NUMBER = re.compile(r"([-−+]?)((?:\d{1,3}(?:,\d{3})+|\d+)?)((?:\.\d+)?)((?:e[-+]?\d+)?)(°|\s?%)?")

#: What no language tells differently: a formula, a letter.
_SIGN = re.compile(r"\$[^$]*\$|[A-Za-z∞]")

#: What a gap may hold: no bracket without its other one.
_INSIDE = r"((?:[^()]|\([^()]*\))+?)"


def in_german(text: str, names: Collection[str] = ()) -> str:
    """Return a text in German, or as it was if any part of it has no German; `names` stay as they are."""
    told = translated(text, names)
    return text if told is None else told


def translated(text: str, names: Collection[str] = ()) -> str | None:
    """Return a text in German, its numbers too; None if any part of it is neither known nor one of `names`.

    A known text may be broken over lines; its German is broken at the same width.
    """
    return _lines(tuple(text.split("\n")), frozenset(names))


def fill(text: str, chars: int) -> str:
    """Break a line at spaces, but not at those inside a formula."""
    # One that no line ends at stands for a space of a formula meanwhile.
    held = "$".join(part.replace(" ", _HELD) if k % 2 else part for k, part in enumerate(text.split("$")))
    return textwrap.fill(held, chars, break_long_words=False).replace(_HELD, " ")


@lru_cache(10_000)
def _lines(lines: tuple[str, ...], names: frozenset[str]) -> str | None:
    """Tell the fewest lines that are a text, then the others."""
    for count in range(1, len(lines) + 1):
        joined = re.sub(r"(?<=\w-)\n", "", "\n".join(lines[:count]))  # a word may be broken at its hyphen
        told = _line(" ".join(joined.split()), names)
        rest = _lines(lines[count:], names) if count < len(lines) else ""
        if told is not None and rest is not None:
            indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
            told = fill(told, max(map(len, lines[:count]))) if count > 1 else indent + told
            return f"{told}\n{rest}" if count < len(lines) else told
    return None


@lru_cache(10_000)
def _line(text: str, names: frozenset[str]) -> str | None:
    """Tell a text by the row that says most of it and whose gaps can be told."""
    known, rules = _table()
    if not text or text in names or _SIGN.fullmatch(text):
        return text
    if text in known:
        return known[text]
    if (number := _NUMBER.fullmatch(text)) and (number[2] or number[3]):
        sign, whole, part, power, unit = number.groups()
        unit = f"{_NARROW}%" if unit and "%" in unit else unit or ""
        return sign + (whole.replace(",", _NARROW) or "0") + part.replace(".", ",") + power + unit
    if text[-1] in ",;:.":
        told_before = _line(text[:-1], names)
        return None if told_before is None else told_before + text[-1]
    for pattern, german in rules:
        if found := pattern.fullmatch(text):
            told = [_line(gap, names) for gap in found.groups()]
            if None not in told:
                left = iter(told)
                return "".join(f"{words}{next(left, '')}" for words in german.split("{}"))
    return None


@cache
def _table() -> tuple[dict[str, str], list[tuple[re.Pattern[str], str]]]:
    """Return the texts, and the patterns of those with gaps, the longest first."""
    with Path(__file__).with_name("german.csv").open(encoding="utf-8", newline="") as file:
        rows = {row[0]: row[-1] for row in csv.reader(file)}
    gapped = sorted((text for text in rows if "{}" in text), key=lambda text: len(text.replace("{}", "")), reverse=True)
    patterns = [(re.compile(_INSIDE.join(map(re.escape, text.split("{}")))), rows[text]) for text in gapped]
    return {text: german for text, german in rows.items() if "{}" not in text}, patterns
