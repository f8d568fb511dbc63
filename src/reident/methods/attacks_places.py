"""Attack. The attacks on places by name: each takes a release and the intruder's knowledge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from reident.base import FloatArray, IntArray
from reident.methods.forms import law_of
from reident.methods.households import homes_of, together
from reident.methods.nearest import Near, assign, near_places, posterior
from reident.methods.outcome import Knowledge, NotApplicable, Outcome, claims_by_row
from reident.methods.release import LAT, LON, Release
from reident.tables.agreement import Agreement

__all__ = [
    "has_law",
    "known_mask",
    "law",
    "nearest_place",
    "nearest_to",
    "place_assignment",
    "repeated_masks",
    "spatial_k",
    "told",
]


def _needs_places(release: Release, knowledge: Knowledge) -> None:
    if not release.has_places:
        raise NotApplicable("no places are released")
    if not knowledge.has_places:
        raise NotApplicable("the intruder is not said to know places")


def told(knowledge: Knowledge, release: Release) -> str:
    """Describe the intruder's knowledge: the places, and the labels that the release kept."""
    labels = ", ".join(map(str, knowledge.kept(release)))
    return f"the intruder knows the place{f' and {labels}' if labels else ''} of each person exactly"


def nearest_place(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Take the released place nearest to the person's home among the records with agreeing labels; method unknown.

    Notes
    -----
    How sure the claim is follows from the gaps themselves: the size of normal noise that makes the release likeliest.
    """
    _needs_places(release, knowledge)
    near = near_places(release, knowledge, knowledge.sample(rng))
    claim, confidence, right = near.judged(posterior(near, 2), knowledge.truth)
    description = f"{told(knowledge, release)}, not the method, and takes the nearest place of the same labels"
    return Outcome(claims_by_row(release, knowledge, near.persons, claim, confidence, right), "identity", description)


def place_assignment(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Give every known person another released place of the same labels, all together as near as possible."""
    _needs_places(release, knowledge)
    near = near_places(release, knowledge, knowledge.sample(rng))
    weights = law(release, near, knowledge) if has_law(release) else posterior(near, 2)
    assigned = assign(near, weights)
    chosen = np.arange(len(assigned)), np.maximum(assigned, 0)
    rows = np.where(assigned >= 0, near.rows[chosen], -1)
    description = f"{told(knowledge, release)} of everybody, and assigns the places one to one"
    return Outcome(
        claims_by_row(release, knowledge, near.persons, rows, weights[chosen], None), "identity", description
    )


def known_mask(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Weigh the released places of the same labels by the law of the mask; method known (Kerckhoffs' principle)."""
    _needs_places(release, knowledge)
    if not has_law(release):
        raise NotApplicable(f"the law by which {release.method!r} moves places is not known")
    near = near_places(release, knowledge, knowledge.sample(rng), k=256)
    claim, confidence, right = near.judged(law(release, near, knowledge), knowledge.truth)
    description = f"{told(knowledge, release)}, and the method with its parameters"
    return Outcome(claims_by_row(release, knowledge, near.persons, claim, confidence, right), "identity", description)


#: Places closer than this are one, km.
_SAME_KM = 1e-3


def has_law(release: Release) -> bool:
    """Whether the law by which a method moves places is known."""
    return law_of(release) in _LAWS


def law(release: Release, near: Near, knowledge: Knowledge) -> FloatArray:
    """Return the probabilities of the candidates under the law of the release's method."""
    weights = _LAWS[law_of(release)](release, near, knowledge)
    total = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)


def _normal_degrees(release: Release, near: Near, knowledge: Knowledge) -> FloatArray:
    """Return the densities of normal noise on latitude and longitude.

    Degrees of longitude are shorter than degrees of latitude: the law is no function of the distance alone.
    """
    sigma = max(float(release.options["sigma_deg"]), 1e-9)
    exponent = -0.5 * (_degrees_apart(release, near, knowledge) / sigma**2)
    exponent -= exponent.max(axis=1, keepdims=True, initial=-1e300)
    return np.where(near.rows >= 0, np.exp(exponent), 0.0)


def _ring(release: Release, near: Near, _: Knowledge) -> FloatArray:
    """Return 1 for the candidates between two radii."""
    inner = float(release.options.get("inner_m", 0.0)) / 1000
    outer = float(release.options.get("outer_m", release.options.get("radius_m", 0.0))) / 1000
    return ((near.gaps >= inner - _SAME_KM) & (near.gaps <= outer + _SAME_KM)).astype(float)


def _cell(release: Release, near: Near, _: Knowledge) -> FloatArray:
    """Return 1 for the candidates at the nearest centre of a cell, if the home may lie in that cell."""
    nearest = near.gaps.min(axis=1, keepdims=True)
    reach = float(release.options["cell_m"]) / 1000 * 2**-0.5 * 1.01
    return ((near.gaps <= nearest + _SAME_KM) & (nearest <= reach)).astype(float)


_LAWS = {"normal degrees": _normal_degrees, "ring": _ring, "cell": _cell}


def _degrees_apart(release: Release, near: Near, knowledge: Knowledge) -> FloatArray:
    """Return squared differences of latitude and longitude, in degrees."""
    apart = np.zeros(near.gaps.shape)
    for column in (LAT, LON):
        known_degrees = knowledge.known[column].to_numpy(float)[near.persons][:, None]
        differ = release.table[column].to_numpy(float)[near.rows] - known_degrees
        apart += ((differ + 180) % 360 - 180) ** 2
    return np.where(near.rows >= 0, apart, 1e12)


def spatial_k(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Count the persons that agree with a record's labels and live as near to its place as its own person (spatial k).

    Notes
    -----
    Who finds a released place and knows the register of homes is left with k persons. The displacement is taken from
    the true pairs, so that this is the protection as it is, not as an intruder sees it. Where households are known,
    they are counted instead of persons, and where they were moved together those with as many and such members.
    """
    from reident.base import EARTH_RADIUS_KM
    from reident.places.distances import unit_vectors

    _needs_places(release, knowledge)
    persons, rows = knowledge.pairs()
    if persons is None or rows is None:
        raise NotApplicable("displacements can be told only where the true pairs are known")
    homes = unit_vectors(knowledge.known[LAT].to_numpy(float), knowledge.known[LON].to_numpy(float))
    released = unit_vectors(release.table[LAT].to_numpy(float), release.table[LON].to_numpy(float))
    alike = np.column_stack([knowledge.agreement(release).classes[rows], released[rows]])
    chord = pd.Series(np.linalg.norm(homes[persons] - released[rows], axis=1))
    # Of records that are alike at one place, as in the cell of a grid, nobody tells which moved how far.
    chord = chord.groupby(np.unique(alike, axis=0, return_inverse=True)[1].ravel()).transform("max").to_numpy()
    chord = chord * (1 + 1e-9) + _SAME_KM / EARTH_RADIUS_KM / 1000
    is_sampled = np.isin(persons, knowledge.sample(rng))
    persons, rows, chord = persons[is_sampled], rows[is_sampled], chord[is_sampled]
    counts = _as_near(release, knowledge, persons, rows, homes, released, chord)
    confidence = 1 / np.maximum(counts, 1)
    description = (
        f"{told(knowledge, release)}, and is left with all who live as near to a released place as its own person"
    )
    claims = claims_by_row(release, knowledge, persons, rows, confidence, confidence)
    return Outcome(claims, "identity", description, proven=True)


def _as_near(
    release: Release,
    knowledge: Knowledge,
    persons: IntArray,
    rows: IntArray,
    homes: FloatArray,
    released: FloatArray,
    chord: FloatArray,
) -> FloatArray:
    """Count the persons that agree with each record and live as near to it as its own; households where known."""
    from scipy.spatial import cKDTree

    counts = np.ones(len(persons))
    if (lives := together(release, knowledge)) is not None and lives.by_place:
        first = np.unique(lives.homes, return_index=True)
        at = homes[first[1][first[0] >= 0]]
        for i, row in enumerate(rows):
            apart = np.linalg.norm(at[lives.could_be(lives.groups[row])] - released[row], axis=1)
            counts[i] = (apart <= chord[i]).sum()
        return counts
    agreement = knowledge.agreement(release)
    agreeing = _persons_of_classes(agreement)
    unit = None if knowledge.households is None else homes_of(knowledge)
    for class_id in np.unique(agreement.classes[rows]):
        of_class = np.flatnonzero(agreement.classes[rows] == class_id)
        some = (
            np.arange(len(homes)) if class_id < 0 else agreeing(int(class_id))
        )  # a suppressed record agrees with everybody
        if not len(some):
            continue
        tree = cKDTree(homes[some])
        if unit is None:
            counts[of_class] = tree.query_ball_point(released[rows[of_class]], chord[of_class], return_length=True)
        else:
            near = tree.query_ball_point(released[rows[of_class]], chord[of_class])
            counts[of_class] = [len(np.unique(unit[some[class_id]])) for class_id in near]
    return counts


def _persons_of_classes(agreement: Agreement) -> Callable[[int], IntArray]:
    """Return a function that tells which persons agree with the records of a class."""
    of_member = np.repeat(np.arange(len(agreement.starts) - 1), np.diff(agreement.starts))
    by_class, by_group = np.argsort(agreement.members, kind="stable"), np.argsort(agreement.groups, kind="stable")
    classes, groups = agreement.members[by_class], agreement.groups[by_group]

    def persons(class_id: int) -> IntArray:
        first, last = np.searchsorted(classes, [class_id, class_id + 1])
        member_groups = of_member[by_class[first:last]]
        starts, ends = np.searchsorted(groups, member_groups), np.searchsorted(groups, member_groups, side="right")
        parts = [by_group[a:b] for a, b in zip(starts, ends, strict=True)]
        return np.concatenate(parts) if parts else by_group[:0]

    return persons


def repeated_masks(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Average the places of records that carry the same label in several releases, and take the nearest person's.

    Notes
    -----
    Cassa (2008). Only releases whose records can be followed from one to the next can be averaged: pseudonyms do that.
    """
    _needs_places(release, knowledge)
    others = [earlier for earlier in knowledge.earlier if earlier.has_places]
    if not others and knowledge.again is not None:
        others = [knowledge.again(rng) for _ in range(3)]
    if not others:
        raise NotApplicable("no other release of the same places is given, and the method is not known")
    tables = [release.table, *(earlier.table for earlier in others)]
    common = tables[0].index
    for table in tables[1:]:
        common = common.intersection(table.index)
    if len(common) < 3:
        raise NotApplicable("fewer than 3 records can be followed from one release to the next")
    mean = sum(table.loc[common, [LAT, LON]].to_numpy(float) for table in tables) / len(tables)
    outcome = nearest_to(release, knowledge, common, mean, rng)
    description = f"{told(knowledge, release)}, and follows records through {len(tables)} releases"
    return Outcome(outcome.claims, "identity", description)


def nearest_to(
    release: Release, knowledge: Knowledge, labels: pd.Index, places: FloatArray, rng: np.random.Generator
) -> Outcome:
    """Take the person nearest to where records, told by their labels, were found to be: latitudes and longitudes."""
    table = release.table.loc[labels].assign(**{LAT: places[:, 0], LON: places[:, 1]})
    truth = knowledge.truth
    if truth is not None:
        row = np.full(len(release.table) + 1, -1)
        row[release.table.index.get_indexer(labels)] = np.arange(len(labels))
        truth = row[truth]
    return nearest_place(
        Release("points", table, "unknown", {}, release.n_original), replace(knowledge, truth=truth), rng=rng
    )
