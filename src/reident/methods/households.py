"""Attack. Households, as an intruder knows them and as a release shows them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from reident.base import IntArray
from reident.methods.release import Knowledge, have_places, own_numbers, places_of, value_ids
from reident.tables.classes import class_ids, class_rows, first_rows, kinds_of

#: How much the shares of sizes may differ, together, of households and of records released together.
_ALIKE = 0.1
#: Rows of a table of members and records of the same labels that are looked at at once.
_ROWS = 5_000_000


@dataclass(frozen=True, eq=False)
class Together:
    """Households, groups of records released together, and the possible matches between them.

    Attributes
    ----------
    homes : ndarray of int64, shape (n_known,)
        The household of each person; -1 for a person without a place where places are released.
    groups : ndarray of int64, shape (n_release,)
        The number that records released together share; -1 without a place where places number them.
    kinds : ndarray of int64, shape (n_homes,)
        Households whose members are alike have one number.
    copies : Series of int64
        By kind of household and group: how many such households the group could hold, where it could be one: it has a
        record that agrees with each member, and as many records as members where households and groups are alike in
        size. Above 1 where groups are larger, as cells are.
    by_place : bool
        Whether records belong together by their place, not by a column.
    """

    homes: IntArray
    groups: IntArray
    kinds: IntArray
    copies: pd.Series
    by_place: bool

    def fits(self) -> list[IntArray]:
        """Return for each kind of household the groups that could be one."""
        kind, group = self.copies.index.to_frame().to_numpy(np.int64).T
        return [group[rows] for rows in class_rows(kind, int(self.kinds.max(initial=-1)) + 1)]

    def copies_in(self, kinds: IntArray, groups: IntArray) -> IntArray:
        """Return how many households of each kind each group could hold, pair by pair."""
        return self.copies.reindex(pd.MultiIndex.from_arrays([kinds, groups]), fill_value=0).to_numpy(np.int64)


def together(knowledge: Knowledge) -> Together | None:
    """Return the households of persons and of records; None where the release shows no households."""
    release = knowledge.release
    assert knowledge.households is not None
    homes, key = own_numbers(knowledge.households), knowledge.households.name
    by_place = key not in release.table.columns
    if by_place:
        if not (release.has_places and knowledge.has_places):
            return None
        groups = _at_one_place(release.table)
        if np.bincount(groups[groups >= 0], minlength=1).max() < 2:
            return None
        places = _at_one_place(knowledge.known)  # a household may live at two places, and is released at two
        homes = np.where(places < 0, -1, class_ids([homes, np.maximum(places, 0)])[0])
        homes[homes >= 0] = np.unique(homes[homes >= 0], return_inverse=True)[1]
        if homes.max(initial=-1) < 0:
            return None
    else:
        groups = own_numbers(release.table[key])
    kinds = kinds_of(homes, knowledge.agreement.groups)
    return Together(homes, groups, kinds, _copies(knowledge, homes, groups, kinds), by_place)


def _at_one_place(table: pd.DataFrame) -> IntArray:
    return np.where(have_places(table), value_ids(places_of(table)), -1)


def _copies(
    knowledge: Knowledge, homes: IntArray, groups: IntArray, kinds: IntArray
) -> pd.Series:  # fmt: skip
    """Return how many households of each kind each group could hold, where it could be one."""
    agree = knowledge.agreement
    suppressed = np.flatnonzero(agree.classes < 0)
    rows = [np.append(candidates, suppressed) for candidates in agree.candidates()]
    label = np.repeat(np.arange(len(rows)), [len(candidates) for candidates in rows])
    held = pd.DataFrame({"label": label, "group": groups[np.concatenate(rows)]})
    held = held[held["group"] >= 0].value_counts().rename("held").reset_index()
    home_of_kind = first_rows(kinds, int(kinds.max(initial=-1)) + 1)
    members = pd.DataFrame({"kind": kinds[homes], "label": agree.groups})[np.isin(homes, home_of_kind)]
    members = members.value_counts(sort=False).rename("members").reset_index()
    of_kind = members.groupby("kind")["members"].agg(["size", "sum"])
    sizes = np.bincount(groups[groups >= 0])
    alike = _sizes_alike(np.bincount(homes[homes >= 0]), sizes)
    length = members["label"].map(held["label"].value_counts()).fillna(0).cumsum()
    parts = []
    for _, part in members.groupby(length.groupby(members["kind"]).transform("first") // _ROWS):
        both = part.merge(held, on="label")
        both["copies"] = both["held"] // both["members"]
        fitting = both[both["copies"] > 0].groupby(["kind", "group"])["copies"].agg(["size", "min"])
        kind, group = (fitting.index.get_level_values(level) for level in (0, 1))
        fits = fitting["size"].to_numpy() == of_kind["size"][kind].to_numpy()
        if alike:
            fits &= sizes[group] == of_kind["sum"][kind].to_numpy()
        parts.append(fitting.loc[fits, "min"].clip(upper=1 if alike else None))
    return pd.concat(parts)


def _sizes_alike(homes: IntArray, groups: IntArray) -> bool:
    length = max(homes.max(initial=0), groups.max(initial=0)) + 1
    shares = [np.bincount(sizes, minlength=length) / max(1, len(sizes)) for sizes in (homes, groups)]
    return bool(np.abs(shares[0] - shares[1]).sum() / 2 <= _ALIKE)
