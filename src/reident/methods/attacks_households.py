"""Attack. Releases that show households are joined by all members of a household at once."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reident.base import BoolArray, FloatArray, IntArray
from reident.methods.attacks_places import law, law_of, place_known
from reident.methods.households import Together, together
from reident.methods.nearest import Near, nearest_among, posterior
from reident.methods.outcome import NotApplicable, Outcome, record_outcome
from reident.methods.release import Knowledge, places_of
from reident.places.points import unit_vectors
from reident.tables.classes import first_rows


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
        everyone = Near(persons, near.rows[of_head], near.gaps[of_head], near.sizes[of_head], near.classes, near.cut)
        description = f"{place_known(knowledge)}, and the members of each household"
        return everyone.outcome(knowledge, weights[of_head], description)
    columns = ", ".join(map(str, knowledge.unperturbed)) or "who"
    kinds, first = households.kinds[households.homes[persons]], _first_rows(households.groups)
    fits = households.fits()
    rows = np.array([first[groups[0]] if groups.size else -1 for groups in fits])[kinds]
    sure = 1 / households.copies.groupby(level=0).sum().reindex(kinds, fill_value=1).to_numpy()
    truth = knowledge.truth[persons]
    right = sure * (households.copies_in(kinds, np.where(truth >= 0, households.groups[truth], -2)) > 0)
    description = f"the intruder knows {columns} of all members of a household"
    return record_outcome(knowledge, persons, rows, sure, right, description)


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
    near = Near(heads, rows, gaps, sizes, classes, cut)
    if households.by_place and law_of(knowledge):
        return near, law(near, knowledge) * sizes
    return near, posterior(near, 2)


def _middle(table: pd.DataFrame, numbers: IntArray) -> FloatArray:
    """Return the mean direction of the places that share each number; NaN without any."""
    vectors = unit_vectors(*places_of(table))
    is_located: BoolArray = np.isfinite(vectors).all(axis=1) & (numbers >= 0)
    n = int(numbers.max(initial=-1)) + 1
    sums = np.column_stack([np.bincount(numbers[is_located], vectors[is_located, j], minlength=n) for j in range(3)])
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.divide(sums, length, out=np.full_like(sums, np.nan), where=length > 0)
