"""Reading the codes of a release: which of the original's values a code stands for.

By how often both occur, or by the records that the other columns pair.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from reident.base import FloatArray
from reident.tables.labels import LabelReader, text_of, texts_of
from reident.workbench.rewriting import plain_cells

__all__ = ["bare", "with_decoded", "with_grouped", "with_respelt"]

#: Letters that are written as two where a program knows no signs.
_TWO = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
#: Values of a column that is decoded, and of one whose values tell codes apart, at most.
_MOST, _BESIDE = 50, 200
#: How much the shares of codes and values may differ together, and the share of codes that can be read as they are.
_APART, _READ = 0.05, 0.05
#: Values and codes that are read by paired records, at most; pairs of values that occur twice or more, at least; the
#: share of these whose code is that of their value, and the share up to which chance may reach it.
_VALUES, _PAIRED, _SAME, _CHANCE = 2000, 20, 0.95, 0.8


def with_decoded(release: pd.DataFrame, original: pd.DataFrame, columns: Sequence[str]) -> tuple[Any, list[str]]:
    """Return a release whose coded columns hold the original's values, and a sentence each.

    A column is decoded where none of its labels can be read, there are as many as values, and they are as frequent: the
    likeliest pairing by how often each occurs, by itself and with the values of other columns.
    """
    shared = _in_both(release, original, columns)
    coded = {name: pair for name in shared if (pair := _coded(release, original, name)) is not None}
    beside = [
        name for name in original.columns
        if name in release.columns and name not in coded and _shares_values(release[name], original[name])
    ]  # fmt: skip
    told, found = [], release
    for name, (values, codes) in coded.items():
        meaning = _pairing(release, original, name, values, codes, beside)
        found = found.assign(**{name: release[name].map(meaning)})
        pairs = ", ".join(f"{text_of(code)} as {text_of(value)}" for code, value in list(meaning.items())[:5])
        told.append(f"{name}: the release has codes, which were read by how often they occur: {pairs}.")
    for name in shared:
        if name in coded or _is_read(release, original, name):
            continue
        meaning, n_pairs = _by_pairs(found, original, name)
        if meaning:
            found = found.assign(**{name: release[name].map(meaning)})
            told.append(
                f"{name}: the release has {len(meaning)} codes, which were read by {n_pairs} records that the other "
                "columns pair: who has the same value has the same code."
            )
    return found, told


def _in_both(release: pd.DataFrame, original: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    return [name for name in dict.fromkeys(columns) if name in release.columns and name in original.columns]


def with_respelt(release: pd.DataFrame, original: pd.DataFrame, columns: Sequence[str]) -> tuple[Any, list[str]]:
    """Return a release in which labels are spelt as the values that they are but for case, signs and blanks."""
    told = []
    for name in _in_both(release, original, columns):
        said, own = texts_of(release[name]), pd.unique(texts_of(original[name]).dropna())
        if len(own) > _VALUES or said.dropna().isin(own).mean() > _READ:
            continue
        for spell in (str.casefold, _folded, bare):
            value_of = pd.Series(own, index=[spell(text) for text in own])
            anew = said.dropna().map(spell).map(value_of) if value_of.index.is_unique else said.iloc[:0]
            if len(anew) and anew.notna().mean() >= _SAME:
                release = release.assign(**{name: anew.reindex(said.index).fillna(said)})
                told.append(f"{name}: labels of the release were read as the values that they spell otherwise.")
                break
    return release, told


def _folded(text: str) -> str:
    """Write letters with signs as two, as where a program knows none."""
    return bare(text.lower().translate(_TWO))


def bare(text: str) -> str:
    """Leave out what is no letter or digit, and the signs above letters."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in parts if sign.isalnum())


def with_grouped(
    release: pd.DataFrame, original: pd.DataFrame, missing: Sequence[Any], left: Sequence[Any]
) -> tuple[Any, dict[Any, str]]:
    """Return a release in which a column under a new name, that follows the values of a missing one, is called so.

    Regions follow from postcodes, whatever they are called: the records that the other columns pair show it.
    The sentences stand for the names of both.
    """
    found, told = release, {}
    for other in left:
        for name in missing:
            if name in told or not 2 <= release[other].nunique() <= original[name].nunique() <= _VALUES:
                continue
            meaning, n_pairs = _by_pairs(found.rename(columns={other: name}), original, name)
            if meaning:
                found = found.rename(columns={other: name})
                told[name] = told[other] = (
                    f"{other!r} of the release was read as {name!r}: in {n_pairs} records that the other columns pair, "
                    "it follows its values."
                )
                break
    return found, told


def _is_read(release: pd.DataFrame, original: pd.DataFrame, name: str) -> bool:
    """Whether labels of a column can be read as they are, or are too many or too few to be codes."""
    own = plain_cells(original[name]).dropna().unique()
    other = plain_cells(release[name]).dropna().value_counts(normalize=True)
    if not (2 <= len(own) <= _VALUES and 2 <= len(other) <= len(own)):
        return True
    readable = LabelReader(pd.Index(own), pd.Index(other.index, dtype=object)).cover().any(axis=0)
    return bool(other.to_numpy()[readable].sum() > _READ)


def _by_pairs(release: pd.DataFrame, original: pd.DataFrame, name: str) -> tuple[dict[Any, str], int]:
    """Return the values that each code stands for, as a label that lists them; none where no code follows the value.

    Persons and records that are alone with what the other columns say, and say the same, are pairs. A value without one
    may have any code.
    """
    shared = [other for other in original.columns if other != name and _kept(release, original, other)]
    values = texts_of(original[name])
    if not shared or values.dropna().str.contains("[,{}]").any():
        return {}, 0
    keys = [_joined([texts_of(table[other]) for other in shared]) for table in (original, release)]
    mine, theirs = (
        pd.Series(cells.to_numpy(object), index=key).loc[~key.duplicated(keep=False).to_numpy()]
        for cells, key in ((values, keys[0]), (release[name], keys[1]))
    )
    pairs = pd.DataFrame({"value": mine, "code": theirs.reindex(mine.index)}).dropna()
    again = pairs[pairs.duplicated("value", keep=False)]
    if len(again) < _PAIRED or _same(again["value"], again["code"]) < _SAME:
        return {}, 0
    if _same(again["value"], again["code"].iloc[np.random.default_rng(0).permutation(len(again))]) > _CHANCE:
        return {}, 0
    code_of = pairs.groupby("value")["code"].agg(lambda own: own.mode().iloc[0])
    unpaired = sorted(set(values.dropna()) - set(code_of.index))
    codes = release[name].dropna().unique()
    held = {code: [*code_of.index[code_of == code], *unpaired] for code in codes}
    return {code: "{" + ", ".join(map(str, own)) + "}" for code, own in held.items() if own}, len(pairs)


def _joined(columns: Sequence[pd.Series]) -> pd.Series:
    return columns[0].astype("str").str.cat([one.astype("str") for one in columns[1:]], sep="\x1f", na_rep="")


def _kept(release: pd.DataFrame, original: pd.DataFrame, name: Any) -> bool:
    """Whether nearly all cells of a released column are values of the original's."""
    if name not in release.columns:
        return False
    known = set(texts_of(original[name]).dropna())
    return bool(texts_of(release[name].dropna()).isin(known).mean() >= 0.9)


def _same(values: pd.Series, codes: pd.Series) -> float:
    """Return the share of records whose code is the commonest of their value."""
    return float(pd.crosstab(values.to_numpy(), codes.to_numpy()).max(axis=1).sum() / len(values))


def _coded(release: pd.DataFrame, original: pd.DataFrame, name: str) -> tuple[pd.Index, pd.Index] | None:
    """Return values and codes of a column, the most frequent first; None if it can be read, or not be decoded."""
    own, other = (table[name].value_counts(normalize=True) for table in (original, release))
    if not 2 <= len(own) == len(other) <= _MOST or np.abs(own.to_numpy() - other.to_numpy()).sum() > 2 * _APART:
        return None
    readable = LabelReader(own.index, pd.Index(other.index, dtype=object)).cover().any(axis=0)
    return None if other.to_numpy()[readable].sum() > _READ else (own.index, other.index)


def _shares_values(column: pd.Series, own: pd.Series) -> bool:
    texts, others = (set(texts_of(one).dropna()) for one in (own, column))
    return 2 <= len(texts) <= _BESIDE and len(texts & others) >= 0.9 * max(len(texts), len(others))


def _pairing(
    release: pd.DataFrame, original: pd.DataFrame, name: str, values: pd.Index, codes: pd.Index, beside: list[Any]
) -> dict[Any, Any]:
    from scipy.optimize import linear_sum_assignment

    cost = np.abs(_shares(original[name], values)[:, None] - _shares(release[name], codes)[None, :])
    for other in beside:
        theirs = pd.Index(texts_of(original[other]).dropna().unique())
        mine, said = (
            _together(table[name], texts_of(table[other]), rows, theirs)
            for table, rows in ((original, values), (release, codes))
        )
        cost += np.abs(mine[:, None, :] - said[None, :, :]).sum(axis=2)
    rows, places = linear_sum_assignment(cost)
    return {codes[place]: values[row] for row, place in zip(rows, places, strict=True)}


def _shares(column: pd.Series, index: pd.Index) -> FloatArray:
    return column.value_counts(normalize=True).reindex(index).to_numpy(float)


def _together(column: pd.Series, other: pd.Series, rows: pd.Index, columns: pd.Index) -> FloatArray:
    """Return the share of the records with each pair of values."""
    counted = pd.crosstab(column, other).reindex(index=rows, columns=columns, fill_value=0).to_numpy(float)
    shares: FloatArray = counted / max(1.0, counted.sum())
    return shares
