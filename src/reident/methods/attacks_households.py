"""Attack. Releases that show who lives together are joined by all members of a household at once."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reident.base import EARTH_RADIUS_KM, BoolArray, FloatArray, IntArray
from reident.methods.attacks_places import has_law, law, told
from reident.methods.households import Together, together
from reident.methods.nearest import MOST_NEAR, Near, posterior
from reident.methods.outcome import Knowledge, NotApplicable, Outcome, claims_by_row
from reident.methods.release import LAT, LON, Release
from reident.places.distances import unit_vectors

__all__ = ["household_join"]


def household_join(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Find whole households: as many records released together as members, who agree with them, at the nearest place.

    Records are released together at one place, or by a column that tells the household. Who finds the household has
    found its members.

    Notes
    -----
    Where a household's members were moved apart but can be told by a column, the mean of their places is taken.
    """
    if knowledge.households is None:
        raise NotApplicable("nobody is said to live together")
    found = together(release, knowledge)
    if found is None:
        raise NotApplicable("the release does not show who lives together")
    drawn = np.unique(found.homes[knowledge.sample(rng)])
    persons = np.flatnonzero(np.isin(found.homes, drawn[drawn >= 0]))
    if not persons.size:
        raise NotApplicable("nobody has a place")
    if release.has_places and knowledge.has_places:
        heads, of_head = np.unique(found.homes[persons], return_index=True, return_inverse=True)[1:]
        near, weights = _nearest(release, knowledge, found, persons[heads])
        everyone = Near(persons, near.rows[of_head], near.gaps[of_head], near.sizes[of_head], near.classes, near.cut)
        rows, confidence, right = everyone.judged(weights[of_head], knowledge.truth)
        said = f"{told(knowledge, release)}, and the members of each household"
    else:
        rows, confidence, right = _by_members(found, knowledge, persons)
        said = (
            f"the intruder knows {', '.join(map(str, knowledge.kept(release))) or 'who'} of all members of a household"
        )
    return Outcome(claims_by_row(release, knowledge, persons, rows, confidence, right), "identity", said)


def _by_members(found: Together, knowledge: Knowledge, persons: IntArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the record claimed for each person, how sure that is and whether it is right: any group that fits."""
    kinds, first = found.kinds[found.homes[persons]], _first_rows(found.groups)
    fits = [found.fits[kind] for kind in kinds]
    rows = np.array([first[own[0]] if own.size else -1 for own in fits])
    confidence = np.array([1 / max(1, found.copies[kind].sum()) for kind in kinds])
    right = np.full(len(persons), np.nan)
    if knowledge.truth is not None:
        mine = knowledge.truth[persons]
        group = np.where(mine >= 0, found.groups[mine], -2)
        right = np.array([g in own for g, own in zip(group, fits, strict=True)]) * confidence
    return rows, confidence, right


def _first_rows(groups: IntArray) -> IntArray:
    """Return the first record of each group."""
    first = np.full(int(groups.max(initial=-1)) + 2, -1)
    first[groups[::-1]] = np.arange(len(groups))[::-1]
    return first


def _nearest(release: Release, knowledge: Knowledge, found: Together, heads: IntArray) -> tuple[Near, FloatArray]:
    """Return the nearest groups that each household could be, told by their first records, and how probable each is."""
    from scipy.spatial import cKDTree

    k = max(1, min(MOST_NEAR, max(len(one) for one in found.fits)))
    rows, gaps = np.full((len(heads), k), -1), np.full((len(heads), k), np.inf)
    sizes = np.zeros((len(heads), k), dtype=np.int64)
    cut, first = np.zeros(len(heads), dtype=bool), _first_rows(found.groups)
    homes = _middle(knowledge.known, found.homes)[found.homes[heads]]
    places, kinds = _middle(release.table, found.groups), found.kinds[found.homes[heads]]
    for kind in np.unique(kinds):
        own = np.flatnonzero((kinds == kind) & np.isfinite(homes).all(axis=1))
        there = np.isfinite(places[found.fits[kind]]).all(axis=1)
        fits, copies = found.fits[kind][there], found.copies[kind][there]
        if not (fits.size and own.size):
            continue
        shape = len(own), min(k, len(fits))
        chords, nearest = cKDTree(places[fits]).query(homes[own], k=shape[1])
        nearest = nearest.reshape(shape)
        rows[own, : shape[1]], sizes[own, : shape[1]] = first[fits[nearest]], copies[nearest]
        gaps[own, : shape[1]] = 2 * EARTH_RADIUS_KM * np.arcsin(np.clip(chords.reshape(shape) / 2, 0, 1))
        cut[own] = len(fits) > k
    classes = np.where(found.groups < 0, len(found.groups) + np.arange(len(found.groups)), found.groups)
    near = Near(heads, rows, gaps, sizes, classes, cut)
    if found.by_place and has_law(release):
        return near, law(release, near, knowledge) * sizes
    return near, posterior(near, 2)


def _middle(table: pd.DataFrame, numbers: IntArray) -> FloatArray:
    """Return the mean direction of the places that share each number; NaN without any."""
    vectors = unit_vectors(table[LAT].to_numpy(float), table[LON].to_numpy(float))
    there: BoolArray = np.isfinite(vectors).all(axis=1) & (numbers >= 0)
    n = int(numbers.max(initial=-1)) + 1
    sums = np.column_stack([np.bincount(numbers[there], vectors[there, j], minlength=n) for j in range(3)])
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.divide(sums, length, out=np.full_like(sums, np.nan), where=length > 0)
