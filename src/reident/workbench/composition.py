"""Attack. Find records, persons and households by all cells that their released records show together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from reident.base import FloatArray, IntArray
from reident.methods.outcome import NotApplicable, Outcome
from reident.methods.release import Knowledge, Release
from reident.tables.classes import class_ids, suppressed_rows
from reident.tables.labels import texts_of
from reident.tables.writing import as_numbers

#: The name of the attack on single records.
ALONE = "class_of_record"
#: A shift of a person's dates or numbers is constant if it is so in this share of the persons with several records.
_CONSTANT = 0.99


def compositions(keys: Mapping[str, IntArray]) -> dict[str, IntArray | None]:
    """Return the attacks by name, with the numbers that hold records together; None for single records."""
    return {ALONE: None, **{f"records_of_{key}": numbers for key, numbers in keys.items()}}


def composition(release: Release, knowledge: Knowledge, numbers: IntArray | None, name: str) -> Outcome:
    """Find groups of released records by their lists of cells.

    A class is a set of groups with equal lists of records: the size of a class as a stranger counts it. Columns that
    were left as they were, generalised or recoded are compared as texts; of columns that a constant of each group
    shifted, the gaps inside the group are. `numbers` holds the group of each released record; None: each is a group.
    """
    persons, rows = knowledge.pairs()
    if not persons.size:
        raise NotApplicable("none of the known persons is in the release")
    alone = numbers is None
    group = np.arange(len(release.table)) if numbers is None else pd.factorize(np.asarray(numbers))[0]
    cells = [codes_of(release.table[name]) for name in knowledge.unperturbed(release)]
    cells += [] if alone else _gaps(release, knowledge, group)
    if not cells:
        raise NotApplicable("no quasi-identifier was left as it was, generalised or recoded")
    record = class_ids(cells)[0]
    order = np.lexsort((record, group))
    ends = np.flatnonzero(np.diff(group[order], append=-1) != 0) + 1
    lists = pd.factorize(np.array([part.tobytes() for part in np.split(record[order], ends[:-1])], dtype=object))[0]
    own = np.empty(len(order), dtype=np.int64)
    own[order] = np.repeat(lists, np.diff(ends, prepend=0))
    sure = 1 / _persons_of_lists(own, group, rows, knowledge.who[persons])[own[rows]]
    if alone:  # a record that is suppressed whole agrees with all
        sure = np.where(suppressed_rows(release.table, knowledge.unperturbed(release), "*")[rows], 1 / len(order), sure)
    claims = pd.DataFrame(
        {"claim": release.labels(rows), "confidence": sure, "right": sure, "base": 1 / len(ends), "present": True},
        index=knowledge.who[persons],
    )
    claims = claims.sort_values("confidence", ascending=False, kind="stable")
    claims = claims[~claims.index.duplicated()]
    known = ", ".join(map(str, knowledge.unperturbed(release)))
    said = "the person's record" if alone else f"all records of a {name.removeprefix('records_of_')}"
    return Outcome(claims, "identity", f"the intruder knows the released {known} of {said}", proven=True)


def _persons_of_lists(own: IntArray, group: IntArray, rows: IntArray, who: pd.Index) -> FloatArray:
    """Return how many groups have each list of records, groups of one person counted once."""
    owner = np.full(int(group.max(initial=-1)) + 1, -1)
    owner[group[rows]] = pd.factorize(who)[0]
    strangers = owner < 0
    owner[strangers] = owner.max(initial=-1) + 1 + np.arange(strangers.sum())
    pairs = pd.DataFrame({"list": own, "owner": owner[group]}).drop_duplicates()
    counts: FloatArray = np.bincount(pairs["list"], minlength=int(own.max(initial=-1)) + 1).astype(float)
    return counts


def codes_of(column: pd.Series) -> IntArray:
    """Return the cells of a column as a stranger reads them: equal texts are equal, a missing cell is a value."""
    codes: IntArray = pd.factorize(texts_of(column).fillna(""))[0].astype(np.int64)
    return codes


def _gaps(release: Release, knowledge: Knowledge, group: IntArray) -> list[IntArray]:
    """Return codes of the gaps inside groups, for columns that a constant of each group shifted."""
    persons, rows = knowledge.pairs()
    made = []
    for name in set(knowledge.compared(release)) - set(knowledge.unperturbed(release)):
        shown, true = (as_numbers(column) for column in (release.table[name], knowledge.known[name]))
        if shown is None or true is None:
            continue
        frame = pd.DataFrame({"key": group[rows], "shift": np.round(shown[rows] - true[persons], 6)})
        several = frame[frame.duplicated("key", keep=False)].groupby("key")["shift"].nunique()
        if len(several) and (several == 1).mean() >= _CONSTANT:
            start = pd.Series(shown).groupby(group).transform("min").to_numpy()
            made.append(pd.factorize(np.round(shown - start, 6))[0].astype(np.int64))
    return made
