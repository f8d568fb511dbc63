"""Reading the columns of a release that were computed from what is known: an age from a date of birth, other units.

What anybody can compute from the original is no protection, so it is computed of everybody known, and joined.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from reident.base import FloatArray, IntArray
from reident.tables.agreement import step_of
from reident.tables.labels import LabelReader, interval_of, text_of, texts_of
from reident.workbench.rewriting import plain_cells, ways_of, ways_of_two

__all__ = ["Computed", "computed_columns", "is_read", "overlap", "with_parts"]

#: The share of released cells that a rule must give, or that a column's own values must.
_ALIKE = 0.95
#: The share of a column's cells that must stand for a person of the original each, for the column to be as it was.
_OFTEN = 0.9
#: Released values by which a rule is tried first, and values and labels by which a column is.
_TRIED, _LABELS, _VALUES = 500, 100, 2000
#: Distinct values, and cells, from which on agreement is no accident, and the part of it that chance may reach.
_MANY, _CHANCE = 20, 0.5
#: Parts of a cell at most.
_PARTS = 12


@dataclass(frozen=True, eq=False)
class Computed:
    """A column of a release that is computed from columns of the original.

    Attributes
    ----------
    name : str
        What it is called from now on, in the release and among what is known.
    released : str
        What the release calls it.
    sources : tuple of str
        The columns it is computed from.
    told : str
        A sentence.
    values : callable
        Takes a table with the sources, returns the column.
    """

    name: Any
    released: Any
    sources: tuple[Any, ...]
    told: str
    values: Callable[[pd.DataFrame], pd.Series]


def with_parts(release: pd.DataFrame, original: pd.DataFrame, columns: Sequence[Any]) -> tuple[Any, list[str]]:
    """Return a release with what one cell holds of several columns, or several columns of one, apart and together.

    Cells that a sign separates, or that are JSON objects, stand beside their parts; columns of zeros and ones named
    after the values of one of `columns` stand together as it.
    """
    found, told = release, []
    free = [name for name in release.columns if name not in original.columns]
    for name in columns:
        if name in original.columns and name not in release.columns:
            marked = _marked(release[free], original[name])
            if marked is not None:
                found = found.assign(**{name: marked})
                told.append(f"{name}: columns of zeros and ones, one for each value, were read as one.")
    for name in free:
        parts = _parts(release[name])
        if parts is not None and not set(parts) & set(found.columns):
            found = found.join(parts)
    return found, told


def _marked(table: pd.DataFrame, own: pd.Series) -> pd.Series | None:
    values = own.dropna().unique()
    if not 2 <= len(values) <= _VALUES:
        return None
    named = {"".join(map(str, (own.name, sign, text_of(value)))): value for value in values for sign in "_=.:- "}
    columns = {name: named[str(name)] for name in table.columns if str(name) in named}
    if len(columns) < max(1, len(values) - 1):
        return None
    ones = table[list(columns)].astype("str").isin(["1", "1.0", "True", "true"])
    if (ones.sum(axis=1) > 1).any():
        return None
    found = ones.idxmax(axis=1).map(columns).astype(object)
    rest = sorted(set(values) - set(columns.values()), key=str)
    return found.where(ones.any(axis=1), rest[0] if len(rest) == 1 else None)


def _parts(column: pd.Series) -> pd.DataFrame | None:
    cells = plain_cells(column).dropna()
    if not len(cells) or not cells.map(type).eq(str).all():
        return None
    first = cells.iloc[:_LABELS]
    if first.map(interval_of).notna().mean() >= _OFTEN:
        return None
    if first.str.startswith("{").all():
        try:
            read = [json.loads(cell) for cell in cells]
        except ValueError:
            return None
        flat = [{part: _flat(cell) for part, cell in one.items()} if isinstance(one, dict) else {} for one in read]
        table = pd.DataFrame(flat, index=cells.index)
        return table.iloc[:, :_PARTS].rename(columns=lambda part: f"{column.name}.{part}").reindex(column.index)
    for sign in "|;/,_- ":
        counts = cells.map(lambda cell, sign=sign: cell.count(sign))
        if counts.iloc[0] and (counts == counts.iloc[0]).all() and counts.iloc[0] < _PARTS:
            return _named(cells.str.split(sign, expand=True, regex=False), column)
    return None


def _flat(cell: Any) -> Any:
    """Return a part of a JSON object that has parts itself as a text."""
    return json.dumps(cell) if isinstance(cell, dict | list) else cell


def _named(parts: pd.DataFrame, column: pd.Series) -> pd.DataFrame:
    """Return parts of cells under names of their own, and the words at either end of those that have more than one."""
    for part in list(parts):
        words = parts[part].str.strip().str.split()
        if (words.str.len() > 1).all():
            ends = {f"{part + 1} first": words.str[0], f"{part + 1} last": words.str[-1]}
            rests = {
                f"{part + 1} after it": words.str[1:].str.join(" "),
                f"{part + 1} before it": words.str[:-1].str.join(" "),
            }
            parts = parts.assign(**ends, **rests)
    typed = parts.apply(lambda part: _typed(part.str.strip()))
    return typed.rename(
        columns=lambda part: f"{column.name}, part {part + 1 if isinstance(part, int) else part}"
    ).reindex(column.index)


def _typed(cells: pd.Series) -> pd.Series:
    """Return numbers as numbers, but codes, which may begin with zeros, as texts."""
    return pd.to_numeric(cells) if cells.str.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?").all() else cells


def computed_columns(release: pd.DataFrame, original: pd.DataFrame, known: Sequence[Any]) -> tuple[Any, list[Computed]]:
    """Return a release, and which of its columns are computed from columns of the original that are `known`.

    Columns that the original lacks, and those whose values are none of the original's: of dates ages, parts and other
    ways to write them, of numbers other units, scales, logarithms and ranks, of texts their beginnings, of two numbers
    their sum, difference, product and ratios. A way is taken where nearly all released cells lie on it, and more do
    than by chance: by themselves, or together with the columns that are released as they were.
    """
    known = [name for name in dict.fromkeys(known) if name in original.columns]
    kept = [name for name in original.columns if name in release.columns and _is_kept(release[name], original[name])]
    sources = [name for name in known if name not in kept]
    strange = [
        name for name in release.columns
        if name not in original.columns or (name in sources and not is_read(release[name], original[name]))
    ]  # fmt: skip
    found: list[Computed] = []
    if not (strange and sources and len(release) and len(original)):
        return release, found
    evidence = _Evidence(release, original, kept)
    for name in strange:
        shown = _Shown(release[name])
        if len(shown.distinct) < 2 or len(shown.known) < _MANY:
            continue
        own = [name] if name in sources else sources
        ways = [*_ways(shown, original, own), *_ways_of_two(shown, original, known, own)]
        weights = np.array([evidence.weight(values, shown) for _, values in ways])
        likeliest = [ways[place][0] for place in np.flatnonzero((weights == weights.max(initial=0.0)) & (weights > 0))]
        if len({frozenset(one.sources) for one in likeliest}) == 1:  # else nobody can tell which
            found.append(likeliest[0])
    return release.rename(columns={one.released: one.name for one in found}), found


def _is_kept(said: pd.Series, own: pd.Series) -> bool:
    """Whether the values of a released column are the original's, about as often: rounded ones are too often some."""
    return overlap(texts_of(said), texts_of(own)) >= _OFTEN


def is_read(said: pd.Series, own: pd.Series) -> bool:
    """Whether labels of a released column, some of them tried, stand for values of the original's, or are near them.

    Numbers are near where their quartiles lie within a tenth of the range, as noise and means of groups leave them.
    """
    mine, theirs = plain_cells(own), plain_cells(said)
    if not mine.notna().any() or not theirs.notna().any():
        return True
    if pd.api.types.is_numeric_dtype(theirs) and pd.api.types.is_numeric_dtype(mine):
        quartiles = [one.quantile([0.25, 0.5, 0.75]).to_numpy(float) for one in (mine, theirs)]
        return bool(np.abs(quartiles[0] - quartiles[1]).max() <= 0.1 * (mine.max() - mine.min()))
    draw = np.random.default_rng(0)
    labels, values = (
        pd.Index(draw.permutation(one.dropna().unique().astype(object))[:most], dtype=object)
        for one, most in ((said, _LABELS), (own, _VALUES))
    )
    if texts_of(said.dropna()).isin(set(texts_of(own).dropna())).mean() >= 0.5:
        return True
    return bool(LabelReader(values, labels).cover().any(axis=0).mean() >= 0.5)


_Ways = Iterator[tuple[Computed, pd.Series]]


def _ways(shown: _Shown, original: pd.DataFrame, sources: Sequence[Any]) -> _Ways:
    """Yield the ways to write one column on which some of the released cells lie, with the values of everybody."""
    for source in sources:
        own = plain_cells(original[source])
        if not own.notna().any():
            continue
        tried = own.dropna().sample(min(_TRIED, own.notna().sum()), random_state=0)
        for way in ways_of(own, shown.cells):
            if not shown.hit(way.of(tried)):
                continue
            anew = shown.name if shown.name != source else f"{source}: {way.how}"
            told = f"{shown.name!r} of the release was read as computed from {source!r}: {way.how}."

            def values(table: pd.DataFrame, way: Any = way, source: Any = source) -> pd.Series:
                return shown.laid(way.of(plain_cells(table[source])))

            yield Computed(anew, shown.name, (source,), told, values), values(original)


def _ways_of_two(shown: _Shown, original: pd.DataFrame, known: Sequence[Any], sources: Sequence[Any]) -> _Ways:
    numbers = [name for name in known if pd.api.types.is_numeric_dtype(plain_cells(original[name]))]
    if not shown.numeric or shown.name in original.columns or len(shown.distinct) < _MANY:
        return
    for one, two in permutations(numbers, 2):
        if not {one, two} & set(sources):
            continue
        for how, of in ways_of_two():

            def values(table: pd.DataFrame, of: Any = of, pair: Any = (one, two)) -> pd.Series:
                with np.errstate(all="ignore"):
                    both = of(*(plain_cells(table[name]).to_numpy() for name in pair))
                return shown.laid(pd.Series(both, table.index))

            tried = original.sample(min(_TRIED, len(original)), random_state=0)
            if shown.hit(values(tried)):
                told = f"{shown.name!r} of the release was read as computed: {how.format(one, two)}."
                yield Computed(shown.name, shown.name, (one, two), told, values), values(original)


class _Shown:
    """The cells of a released column, and what is asked about them again and again."""

    def __init__(self, column: pd.Series) -> None:
        self.cells, self.name = plain_cells(column), column.name
        self.numeric = pd.api.types.is_numeric_dtype(self.cells)
        self.known = self.cells.dropna()
        #: The step in which numbers are written, 0 for as many digits as a program gives.
        self.step = step_of(self.known.to_numpy(float)) if self.numeric else 0.0
        self.distinct: Any = np.unique(self.known.to_numpy(float)) if self.numeric else set(self.known)

    def hit(self, values: pd.Series) -> bool:
        """Whether some of these values, laid on what is released, are released."""
        laid = self.laid(values)
        told = np.isin(laid, self.distinct) if self.numeric else [one in self.distinct for one in laid]
        return bool(np.sum(told) >= 2)

    def laid(self, values: pd.Series) -> pd.Series:
        """Return computed numbers as the released number that they are when rounded as it is; texts as they are."""
        if not self.numeric:
            return values.astype(object)
        numbers = values.to_numpy(float, na_value=np.nan)
        return pd.Series(_nearest(numbers, self.distinct, self.step), values.index)


def _nearest(numbers: FloatArray, shown: FloatArray, step: float) -> FloatArray:
    """Return the number shown that is equal to each when rounded to a step; others as they are."""
    place = np.searchsorted(shown, numbers)
    after, before = (shown[np.clip(one, 0, len(shown) - 1)] for one in (place, place - 1))
    nearest = np.where(np.abs(before - numbers) < np.abs(after - numbers), before, after)
    close = np.abs(nearest - numbers) <= step * (0.5 + 1e-9) + 1e-7 * np.abs(numbers)
    found: FloatArray = np.where(close, nearest, numbers)
    return found


class _Evidence:
    """How far released cells are those of a way, beyond what chance gives."""

    def __init__(self, release: pd.DataFrame, original: pd.DataFrame, kept: Collection[Any]) -> None:
        self._draw = np.random.default_rng(0).permutation(len(release))
        pairs = [_codes(*(texts_of(table[name]) for table in (release, original))) for name in kept]
        if len(pairs) > 1:  # all that is kept, together
            both = np.unique(np.concatenate([np.stack(one, axis=1) for one in zip(*pairs, strict=True)]), axis=0)
            index = pd.MultiIndex.from_arrays(both.T)
            pairs.append(tuple(index.get_indexer(pd.MultiIndex.from_arrays(one)) for one in zip(*pairs, strict=True)))
        self._beside = pairs

    def weight(self, values: pd.Series, shown: _Shown) -> float:
        """Return the share of the released cells that a way explains, 0 where chance may do it."""
        said, own = _codes(shown.cells, values)
        there = said >= 0
        if np.isin(said[there], own).mean() < _ALIKE:
            return 0.0
        alone, best, informed = _overlap(said, own), 0.0, False
        for theirs, known in self._beside:
            by_chance = _overlap(*_joined(said[self._draw], own, theirs, known))
            if alone - by_chance < max(0.02, 4 / np.sqrt(len(said))):
                continue
            informed = True
            best = max(best, (_overlap(*_joined(said, own, theirs, known)) - by_chance) / (alone - by_chance))
        if informed and best >= 0.5:
            return 1 + best + alone
        if not informed and _as_often(said[there], own[own >= 0], alone):
            return alone
        return alone if _by_itself(shown, values, alone if not informed else 0.0) else 0.0


def _as_often(said: IntArray, own: IntArray, alone: float) -> bool:
    """Whether a release of everybody has each value just as often as expected, which drawn values hardly have."""
    n_values = len(np.unique(said))
    if len(said) != len(own) or not 3 <= n_values < 0.9 * len(said):
        return False
    return alone >= 1 - 0.02 * np.sqrt(n_values / len(said))


def _by_itself(shown: _Shown, values: pd.Series, alone: float) -> bool:
    """Whether the values tell without others: many of them, and none of those beside them; or as often as expected."""
    if len(shown.distinct) < _MANY:
        return False
    if not shown.numeric:
        return True
    step = shown.step or 1e-6 * float(np.ptp(shown.distinct))
    there, cells = np.unique(values.dropna().to_numpy(float)), shown.known.to_numpy(float)
    near = [_nearest(cells + shift * step, there, shown.step) for shift in (-2, -1, 1, 2)]
    if np.mean([np.isin(one, there).mean() for one in near]) <= _CHANCE:
        return True
    # Neighbouring numbers all occur, as ages do: then by how often.
    beside = max(_overlap(*_codes(pd.Series(one), values)) for one in near)
    often = len(shown.distinct) < 0.9 * len(cells)
    return often and alone >= 0.98 and beside <= 0.995 and 1 - alone <= (1 - beside) / 2


def _codes(said: pd.Series, own: pd.Series) -> tuple[IntArray, IntArray]:
    """Return a number for each value of two columns, the same in both; -1 where there is none."""
    codes = pd.factorize(np.concatenate([said.to_numpy(object), own.to_numpy(object)]))[0]
    return codes[: len(said)], codes[len(said) :]


def _joined(said: IntArray, own: IntArray, theirs: IntArray, known: IntArray) -> tuple[IntArray, IntArray]:
    width = 1 + max(theirs.max(initial=0), known.max(initial=0))
    return tuple(np.where(a < 0, -1, a * width + b) for a, b in ((said, theirs), (own, known)))  # type: ignore[return-value]


def overlap(said: pd.Series, own: pd.Series) -> float:
    """Return the share of the cells of one column that stand in another, as often."""
    return _overlap(*_codes(said, own))


def _overlap(said: IntArray, own: IntArray) -> float:
    """Return the share of the released cells, or pairs of cells, that stand for a person each."""
    told, counts = np.unique(said[said >= 0], return_counts=True)
    known, there = np.unique(own[own >= 0], return_counts=True)
    if not len(known):
        return 0.0
    place = np.clip(np.searchsorted(known, told), 0, len(known) - 1)
    least = np.where(known[place] == told, np.minimum(counts, there[place]), 0)
    return float(least.sum() / max(1, counts.sum()))
