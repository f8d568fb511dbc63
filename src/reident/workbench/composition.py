"""Attack. Find records, persons and households by all cells that they show together; count classes so, too."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd

from reident.base import DataError, IntArray
from reident.methods import Entry
from reident.methods.forms import guarantee
from reident.methods.outcome import NotApplicable, Outcome, claims_about
from reident.methods.release import Knowledge
from reident.tables.classes import class_ids, kinds_of, suppressed_rows, wildcard_counts
from reident.tables.disclosure import l_diversity, t_closeness
from reident.tables.labels import texts_of, with_gaps
from reident.tables.writing import as_numbers

#: A shift of a person's dates or numbers is constant if it is so in this share of the persons with several records.
_CONSTANT = 0.99


def composition(knowledge: Knowledge, numbers: IntArray | None = None, kind: str = "") -> Outcome:
    """Find groups of released records by their lists of cells.

    A class is a set of groups with equal lists of records: the size of a class as a stranger counts it. Columns that
    were left as they were, generalised or recoded are compared as texts; of columns that a constant of each group
    shifted, the gaps inside the group are. `numbers` holds the group of each released record, `kind` says what groups
    are; None: each record is a group.
    """
    release = knowledge.release
    persons, rows = knowledge.pairs()
    if not persons.size:
        raise NotApplicable("none of the known persons is in the release")
    alone = numbers is None
    group = np.arange(len(release.table)) if numbers is None else pd.factorize(numbers)[0]
    cells = [codes_of(release.table[name]) for name in knowledge.unperturbed]
    cells += [] if alone else _gaps(knowledge, group)
    if not cells:
        raise NotApplicable("no quasi-identifier was left as it was, generalised or recoded")
    record = class_ids(cells)[0]
    kinds = kinds_of(group, record)
    owner = -1 - np.arange(len(kinds))  # groups of one person are counted once
    owner[group[rows]] = pd.factorize(knowledge.who[persons])[0]
    sure = 1 / pd.Series(owner).groupby(kinds).transform("nunique").to_numpy()[group[rows]]
    if alone:  # a record that is suppressed whole agrees with all
        sure = np.where(suppressed_rows(release.table, knowledge.unperturbed, "*")[rows], 1 / len(group), sure)
    claims = claims_about(knowledge, persons, release.labels(rows), sure, sure, 1 / len(kinds))
    claims = claims.set_axis(knowledge.who[persons])
    claims = claims.sort_values("confidence", ascending=False, kind="stable")
    claims = claims[~claims.index.duplicated()]
    known = ", ".join(map(str, knowledge.unperturbed))
    said = f"all records of a {kind}" if kind else "the person's record"
    return Outcome(claims, "identity", f"the intruder knows the released {known} of {said}", proven=True)


def codes_of(column: pd.Series) -> IntArray:
    """Return the cells of a column as a stranger reads them: equal texts are equal, a missing cell is a value."""
    return pd.factorize(texts_of(column).fillna(""))[0]


def _gaps(knowledge: Knowledge, group: IntArray) -> list[IntArray]:
    """Return codes of the gaps inside groups, for columns that a constant of each group shifted."""
    persons, rows = knowledge.pairs()
    made = []
    for name in set(knowledge.compared) - set(knowledge.unperturbed):
        shown, true = (as_numbers(column) for column in (knowledge.release.table[name], knowledge.known[name]))
        if shown is None or true is None:
            continue
        shifts = pd.Series(np.round(shown[rows] - true[persons], 6)).groupby(group[rows])
        several = shifts.nunique()[shifts.size() > 1]
        if (several == 1).mean() >= _CONSTANT:
            start = pd.Series(shown).groupby(group).transform("min").to_numpy()
            made.append(pd.factorize(np.round(shown - start, 6))[0])
    return made


# -- guarantees, as a stranger counts them -----------------------------------------------------------------------


def class_sizes(cells: pd.DataFrame, *, wildcards: bool = False) -> IntArray:
    """Return the size of each record's class, equal cells as a stranger reads them.

    With `wildcards` a missing cell agrees with every value; else it is a value of its own.
    """
    if not len(cells.columns):
        return np.full(len(cells), len(cells), dtype=np.int64)
    if wildcards:
        texts = pd.DataFrame({name: texts_of(cells[name]) for name in cells})
        return wildcard_counts(texts, list(texts), np.ones(len(texts)))[0].astype(np.int64)
    ids = class_ids([codes_of(cells[name]) for name in cells])[0]
    return np.bincount(ids)[ids]


def counted_guarantee(
    entry: Entry,
    settings: Mapping[str, Any],
    columns: list[str],
    table: pd.DataFrame,
    *,
    sensitive: str | None = None,
    missing: str = "label",
    later: Collection[str] = (),
    left_out: bool = False,
) -> str:
    """Return the guarantee of the released cells, in a sentence; the method's own where none can be counted.

    `columns` are those of which the method makes classes, `later` those that later steps change: the promise does not
    cover them. `left_out`: later steps left records out, so that classes are smaller.

    Raises
    ------
    DataError
        If the release does not keep what was asked for.
    """
    k = int(settings.get("k") or 1)
    ell, t = settings.get("ell"), settings.get("t")
    if not columns or not len(table) or (k == 1 and not (ell or t)):
        return guarantee(entry, settings)
    cells, is_promised = table[columns], not left_out and not {*columns} & {*later}
    blank = suppressed_rows(cells, columns, "*")
    if blank.all():
        return guarantee(entry, settings)
    smallest = class_sizes(cells)[~blank].min()
    listed = ", ".join(map(str, columns))
    sentence = (
        f"every released record shares {listed} with at least {smallest - 1} others, counted on the released cells"
    )
    sentence += f"; {blank.sum()} records are suppressed whole and aside" if blank.any() else ""
    sentence += f"; fewer than k = {k}, since a later step left records out" if left_out and smallest < k else ""
    if is_promised and smallest < k:
        loose = class_sizes(cells, wildcards=True).min() if missing == "wildcard" else smallest
        if loose < k:
            raise DataError(_broken(entry, f"k = {k}", f"the smallest class of {listed} has {loose}"))
        sentence += (
            f"; this is less than k = {k}, since a missing cell is a value of its own to a stranger: if it may be any "
            f"value, at least {loose - 1} others agree"
        )
    if sensitive is None or sensitive not in table or sensitive in columns or not (ell or t):
        return sentence
    whole = pd.DataFrame({name: texts_of(cells[name]) for name in cells})
    label = None if missing == "suppress" else "*"  # there the records with missing values are a class
    whole[sensitive] = with_gaps(table[sensitive]).to_numpy()
    if ell:
        kind = settings.get("diversity") or "distinct"
        real = l_diversity(whole, columns, sensitive, kind=kind, c=settings.get("c") or 3.0, suppressed_label=label)
        if is_promised and real < ell - 1e-9:
            raise DataError(_broken(entry, f"ell = {ell:g}", f"a class has {real:g} of {sensitive!r}"))
        sentence += f"; each class has at least {real:g} values of {sensitive}"
        sentence += "" if kind == "distinct" else f" ({kind})"
    if t:
        distance = settings.get("distance") or "equal"
        if distance == "hierarchical":
            return sentence
        real = t_closeness(whole, columns, sensitive, distance=distance, suppressed_label=label)
        if is_promised and real > t + 1e-9:
            raise DataError(_broken(entry, f"t = {t:g}", f"a class lies {real:.2f} from all values of {sensitive!r}"))
        sentence += f"; the values of {sensitive} in a class lie at most {real:.3g} from those of all"
    return sentence


def _broken(entry: Entry, promise: str, real: str) -> str:
    return (
        f"`{entry.name}` must keep {promise} in the released cells, but {real}. Leave out records with missing values "
        "(missing values: drop), or ask for less"
    )
