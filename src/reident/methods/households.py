"""Attack. Households, as an intruder knows them and as a release shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise

import numpy as np
import pandas as pd

from reident.base import IntArray
from reident.methods.release import LAT, LON, Knowledge, Release, own_numbers
from reident.tables.classes import class_ids

#: How much the shares of sizes may differ, together, of households and of records released together.
_ALIKE = 0.1


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
    fits : list of ndarray of int64
        For each kind of household the groups that could be one: a record that agrees with each member, and as many
        records as members where households and groups are alike in size.
    copies : list of ndarray of int64
        How many such households each of these groups could hold: more than one where groups are larger, as cells are.
    by_place : bool
        Whether records belong together by their place, not by a column.
    """

    homes: IntArray
    groups: IntArray
    kinds: IntArray
    fits: Sequence[IntArray]
    copies: Sequence[IntArray]
    by_place: bool

    def homes_of_group(self, group: int) -> IntArray:
        """Return the households that a group of records could be."""
        kinds, starts = self._kinds_by_group
        return np.flatnonzero(np.isin(self.kinds, kinds[starts[group] : starts[group + 1]]))

    @cached_property
    def _kinds_by_group(self) -> tuple[IntArray, IntArray]:
        kind = np.repeat(np.arange(len(self.fits)), [len(fitting) for fitting in self.fits])
        group = np.concatenate([*self.fits, np.empty(0, dtype=np.int64)])
        order = np.argsort(group, kind="stable")
        return kind[order], np.searchsorted(group[order], np.arange(int(self.groups.max(initial=-1)) + 2))


def together(release: Release, knowledge: Knowledge) -> Together | None:
    """Return the households of persons and of records; None where either is unknown."""
    if knowledge.households is None:
        return None
    return knowledge.once(release, "together", lambda: _together(release, knowledge))


def _together(release: Release, knowledge: Knowledge) -> Together | None:
    assert knowledge.households is not None
    homes, key = own_numbers(knowledge.households), knowledge.households.name
    by_place = key not in release.table.columns
    if by_place:
        is_placed = release.has_places and knowledge.has_places
        groups = _at_one_place(release.table) if is_placed else np.arange(0)
        if not is_placed or (len(groups) and np.bincount(groups[groups >= 0], minlength=1).max() < 2):
            return None
        places = _at_one_place(knowledge.known)  # a household may live at two places, and is released at two
        homes = np.where(places < 0, -1, class_ids([homes, np.maximum(places, 0)])[0])
        homes[homes >= 0] = np.unique(homes[homes >= 0], return_inverse=True)[1]
    else:
        groups = own_numbers(release.table[key])
    agree = knowledge.agreement(release)
    kinds, members = _kinds_of(homes, agree.groups)
    fits, copies = _fits(release, knowledge, homes, groups, members)
    return Together(homes, groups, kinds, fits, copies, by_place)


def _at_one_place(table: pd.DataFrame) -> IntArray:
    places = table[[LAT, LON]].to_numpy(float)
    is_located = np.isfinite(places).all(axis=1)
    numbers = np.full(len(table), -1)
    numbers[is_located] = np.unique(places[is_located], axis=0, return_inverse=True)[1].ravel()
    return numbers


def _kinds_of(homes: IntArray, labels: IntArray) -> tuple[IntArray, list[tuple[IntArray, IntArray]]]:
    """Return the kind of each household, and of each kind the labels of its members and how many have each."""
    in_household = np.flatnonzero(homes >= 0)
    order = in_household[np.lexsort((labels[in_household], homes[in_household]))]
    starts = np.searchsorted(homes[order], np.arange(int(homes.max(initial=-1)) + 2))
    numbers: dict[bytes, int] = {}
    kinds = np.empty(len(starts) - 1, dtype=np.int64)
    members: list[tuple[IntArray, IntArray]] = []
    for home, (a, b) in enumerate(pairwise(starts)):
        member_labels = labels[order[a:b]]
        kinds[home] = numbers.setdefault(member_labels.tobytes(), len(numbers))
        if len(numbers) > len(members):
            members.append(np.unique(member_labels, return_counts=True))
    return kinds, members


def _fits(
    release: Release, knowledge: Knowledge, homes: IntArray, groups: IntArray, members: list[tuple[IntArray, IntArray]]
) -> tuple[list[IntArray], list[IntArray]]:
    """Return for each kind of household the groups that could be one, and how many of it each could hold."""
    agree = knowledge.agreement(release)
    sizes = np.bincount(groups[groups >= 0])
    alike = _sizes_alike(np.bincount(homes[homes >= 0]), sizes)
    candidates, suppressed = agree.candidates(), np.flatnonzero(agree.classes < 0)
    by_label: dict[int, tuple[IntArray, IntArray]] = {}
    fits, copies = [], []
    for labels, counts in members:
        for label in labels[[label not in by_label for label in labels]]:
            where = groups[np.concatenate([candidates[label], suppressed])]
            by_label[label] = np.unique(where[where >= 0], return_counts=True)
        parts = [by_label[label][0][by_label[label][1] >= n] for label, n in zip(labels, counts, strict=True)]
        fitting = reduce(lambda a, b: np.intersect1d(a, b, assume_unique=True), parts)
        if alike:
            fitting = fitting[sizes[fitting] == counts.sum()]
        group_counts = [by_label[label][1][np.searchsorted(by_label[label][0], fitting)] for label in labels]
        fits.append(fitting)
        copies.append(
            np.ones_like(fitting)
            if alike
            else np.min([n // m for n, m in zip(group_counts, counts, strict=True)], axis=0)
        )
    return fits, copies


def _sizes_alike(homes: IntArray, groups: IntArray) -> bool:
    length = max(homes.max(initial=0), groups.max(initial=0)) + 1
    shares = [np.bincount(sizes, minlength=length) / max(1, len(sizes)) for sizes in (homes, groups)]
    return bool(np.abs(shares[0] - shares[1]).sum() / 2 <= _ALIKE)
