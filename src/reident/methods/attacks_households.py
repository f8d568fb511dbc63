"""Attack. Releases that show households are joined by all members of a household at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from reident.base import FloatArray, IntArray
from reident.methods.attacks_places import law, law_of, place_known
from reident.methods.nearest import Near, nearest_among, posterior
from reident.methods.outcome import NotApplicable, Outcome, record_outcome
from reident.methods.release import Knowledge, have_places, own_numbers, places_of, value_ids
from reident.places.points import unit_vectors
from reident.tables.classes import class_rows, first_rows, kinds_of

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
        groups = np.where(have_places(release.table), value_ids(places_of(release.table)), -1)
        if np.bincount(groups[groups >= 0], minlength=1).max() < 2:
            return None
        homes = value_ids([homes, *places_of(knowledge.known)])  # one that lives at two places is released at two
        homes = pd.factorize(np.where(have_places(knowledge.known), homes, np.nan))[0]
        if homes.max(initial=-1) < 0:
            return None
    else:
        groups = own_numbers(release.table[key])
    kinds = kinds_of(homes, knowledge.agreement.groups)
    return Together(homes, groups, kinds, _copies(knowledge, homes, groups, kinds), by_place)


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
    return np.abs(shares[0] - shares[1]).sum() / 2 <= _ALIKE


def household_join(knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Find whole households: as many records released together as members, agreeing, at the nearest place.

    Records are released together at one place, or by a column with the household. An intruder who finds the household
    has found its members.

    Notes
    -----
    Where a household's members were moved apart but share the value of a column, the mean of their places is taken.
    """
    households = together(knowledge)
    if households is None:
        raise NotApplicable("the release does not show who lives together")
    sample = np.unique(households.homes[knowledge.sample(rng)])
    persons = np.flatnonzero(np.isin(households.homes, sample[sample >= 0]))
    if not persons.size:
        raise NotApplicable("no person has a place")
    if knowledge.release.has_places and knowledge.has_places:
        heads, of_head = np.unique(households.homes[persons], return_index=True, return_inverse=True)[1:]
        near, weights = _nearest(knowledge, households, persons[heads])
        everyone = replace(near.part(of_head), persons=persons)
        return everyone.outcome(weights[of_head], f"{place_known(knowledge)}, and the members of each household")
    columns = ", ".join(map(str, knowledge.unperturbed)) or "who"
    kinds, first = households.kinds[households.homes[persons]], _first_rows(households.groups)
    fits = households.fits()
    rows = np.array([first[groups[0]] if groups.size else -1 for groups in fits])[kinds]
    sure = 1 / households.copies.groupby(level=0).sum().reindex(kinds, fill_value=1).to_numpy()
    own = np.append(households.groups, -2)[knowledge.truth[persons]]
    right = sure * (households.copies_in(kinds, own) > 0)
    return record_outcome(
        knowledge, persons, rows, sure, right, f"the intruder knows {columns} of all members of a household"
    )


def _first_rows(groups: IntArray) -> IntArray:
    """Return the first record of each group."""
    return first_rows(groups, int(groups.max(initial=-1)) + 2)  # -1 is the last


def _nearest(knowledge: Knowledge, households: Together, heads: IntArray) -> tuple[Near, FloatArray]:
    """Return the nearest groups that each household could be, by their first records, and how probable each is."""
    homes, kinds = households.homes[heads], households.kinds[households.homes[heads]]
    places = _middle(knowledge.release.table, households.groups)
    groups, gaps, cut = nearest_among(
        places, _middle(knowledge.known, households.homes)[homes], kinds, households.fits()
    )
    sizes = households.copies_in(np.repeat(kinds, groups.shape[1]), groups.ravel()).reshape(groups.shape)
    rows = np.where(groups >= 0, _first_rows(households.groups)[groups], -1)
    classes = np.where(
        households.groups < 0, len(households.groups) + np.arange(len(households.groups)), households.groups
    )
    near = Near(knowledge, heads, rows, gaps, sizes, classes, cut)
    if households.by_place and law_of(knowledge):
        return near, law(near) * sizes
    return near, posterior(near, 2)


def _middle(table: pd.DataFrame, numbers: IntArray) -> FloatArray:
    """Return the mean direction of the places that share each number; NaN without any."""
    vectors = pd.DataFrame(unit_vectors(*places_of(table)))
    middle = vectors.groupby(numbers).mean().reindex(range(int(numbers.max(initial=-1)) + 1)).to_numpy()
    length = np.linalg.norm(middle, axis=1, keepdims=True)
    return np.divide(middle, length, out=np.full_like(middle, np.nan), where=length > 0)
