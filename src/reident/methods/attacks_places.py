"""Attack. The attacks on places by name: each takes a release and the intruder's knowledge."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np
import pandas as pd
from numpy.random import Generator

from reident.base import EARTH_RADIUS_KM, FloatArray, ratio
from reident.methods.nearest import Near, near_places, posterior
from reident.methods.outcome import NotApplicable, Outcome, record_outcome
from reident.methods.registry import entries
from reident.methods.release import LAT, LON, Knowledge, Release, own_numbers, places_of, value_ids
from reident.places.points import unit_vectors
from reident.tables.classes import class_rows


def place_known(knowledge: Knowledge) -> str:
    """Describe the intruder's knowledge: the places, and the labels that are not perturbed."""
    labels = ", ".join(map(str, knowledge.unperturbed))
    return f"the intruder knows the place{f' and {labels}' if labels else ''} of each person exactly"


def nearest_place(knowledge: Knowledge, *, rng: Generator) -> Outcome:
    """Take the released place nearest to the person's home among the records with agreeing labels; method unknown.

    Notes
    -----
    How sure the claim is follows from the gaps themselves: the size of normal noise that makes the release likeliest.
    """
    near = near_places(knowledge, rng)
    return near.outcome(
        posterior(near, 2), f"{place_known(knowledge)}, not the method, and takes the nearest place of the same labels"
    )


def place_assignment(knowledge: Knowledge, *, rng: Generator) -> Outcome:
    """Give every known person another released place of the same labels, all together as near as possible."""
    near = near_places(knowledge, rng)
    weights = law(near) if law_of(knowledge) else posterior(near, 2)
    return near.outcome(
        weights, f"{place_known(knowledge)} of all persons, and assigns the places one to one", one_to_one=True
    )


def known_mask(knowledge: Knowledge, *, rng: Generator) -> Outcome:
    """Weigh the released places of the same labels by the law of the mask; method known (Kerckhoffs' principle)."""
    if not law_of(knowledge):
        raise NotApplicable(f"the law by which {knowledge.release.method!r} moves places is not known")
    near = near_places(knowledge, rng, k=256)
    return near.outcome(law(near), f"{place_known(knowledge)}, and the method with its parameters")


#: Places closer than this are one, km.
_SAME_KM = 1e-3


def law_of(knowledge: Knowledge) -> str:
    """Return the public law by which the release was made, see `Entry.law`; "" for none, or an unknown method."""
    method = knowledge.release.method
    if method == "original":
        return "ring"  # of no width
    return next((entry.law for entry in entries("anonymiser") if entry.name == method), "")


def law(near: Near) -> FloatArray:
    """Return the probabilities of the candidates under the law of the release's method."""
    weights = _LAWS[law_of(near.knowledge)](near)
    return ratio(weights, weights.sum(axis=1, keepdims=True))


def _normal_degrees(near: Near) -> FloatArray:
    """Return the densities of normal noise on latitude and longitude.

    Degrees of longitude are shorter than degrees of latitude: the law is no function of the distance alone.
    """
    knowledge = near.knowledge
    sigma = max(knowledge.release.options["sigma_deg"], 1e-9)
    apart = np.zeros(near.gaps.shape)
    for column in (LAT, LON):
        known_degrees = knowledge.known[column].to_numpy(float)[near.persons][:, None]
        differ = knowledge.release.table[column].to_numpy(float)[near.rows] - known_degrees
        apart += ((differ + 180) % 360 - 180) ** 2
    exponent = np.where(near.rows >= 0, -0.5 * (apart / sigma**2), -np.inf)
    exponent -= exponent.max(axis=1, keepdims=True, initial=-1e300)
    return np.exp(exponent)


def _ring(near: Near) -> FloatArray:
    """Return 1 for the candidates between two radii."""
    options = near.knowledge.release.options
    inner = options.get("inner_m", 0.0) / 1000
    outer = options.get("outer_m", options.get("radius_m", 0.0)) / 1000
    return ((near.gaps >= inner - _SAME_KM) & (near.gaps <= outer + _SAME_KM)).astype(float)


def _cell(near: Near) -> FloatArray:
    """Return 1 for the candidates at the nearest centre of a cell, if the home may lie in that cell."""
    nearest = near.gaps.min(axis=1, keepdims=True)
    reach = near.knowledge.release.options["cell_m"] / 1000 * 2**-0.5 * 1.01
    return ((near.gaps <= nearest + _SAME_KM) & (nearest <= reach)).astype(float)


_LAWS = {"normal degrees": _normal_degrees, "ring": _ring, "cell": _cell}


def spatial_k(knowledge: Knowledge, *, rng: Generator) -> Outcome:
    """Count the persons that agree with a record's labels and live as near to its place as its own person (spatial k).

    Notes
    -----
    An intruder who finds a released place and knows the register of homes is left with k persons. The displacement is
    taken from the true pairs, so that this is the protection as it is, not as an intruder sees it. Where households are
    known, those with a person who agrees are counted; `household_join` looks for all members at once.
    """
    from scipy.spatial import cKDTree

    persons, rows = knowledge.pairs()
    homes, released = (unit_vectors(*places_of(table)) for table in (knowledge.known, knowledge.release.table))
    agreement = knowledge.agreement
    classes = agreement.classes[rows]
    chord = pd.Series(np.linalg.norm(homes[persons] - released[rows], axis=1))
    # Records that are alike at one place, as in the cell of a grid, have no displacement of their own.
    chord = (
        chord.groupby(value_ids([classes, *released[rows].T])).transform("max").to_numpy() * (1 + 1e-9)
        + _SAME_KM / EARTH_RADIUS_KM / 1000
    )
    is_sampled = np.isin(persons, knowledge.sample(rng))
    persons, rows, chord, classes = (values[is_sampled] for values in (persons, rows, chord, classes))
    counts = np.ones(len(persons))
    unit = np.arange(len(homes)) if knowledge.households is None else own_numbers(knowledge.households)
    patterns, pattern = agreement.patterns()
    persons_of, patterns_of = class_rows(pattern, patterns.shape[0]), patterns.tocsc()
    for class_id in np.unique(classes):
        of_class, fits = np.flatnonzero(classes == class_id), np.arange(len(homes))
        if class_id >= 0:  # a suppressed record agrees with all
            fits = np.concatenate([fits[:0], *(persons_of[p] for p in patterns_of[:, [class_id]].indices)])
        if len(fits):
            near = cKDTree(homes[fits]).query_ball_point(released[rows[of_class]], chord[of_class])
            counts[of_class] = [len(np.unique(unit[fits[close]])) for close in near]
    sure = 1 / np.maximum(counts, 1)
    assumption = (
        f"{place_known(knowledge)}, and is left with all who live as near to a released place as its own person"
    )
    return record_outcome(knowledge, persons, rows, sure, sure, assumption, proven=True)


def repeated_masks(knowledge: Knowledge, *, rng: Generator) -> Outcome:
    """Average the places of records that carry the same label in several releases, and take the nearest person's.

    Notes
    -----
    Cassa (2008). Only releases whose records can be followed from one to the next can be averaged: pseudonyms do that.
    """
    others = [earlier for earlier in knowledge.earlier if earlier.has_places]
    if not others and knowledge.repeat is not None:
        others = [knowledge.repeat(rng) for _ in range(3)]
    if not others:
        raise NotApplicable("no other release of the same places is given, and the method is not known")
    tables = [each.table for each in (knowledge.release, *others)]
    common = reduce(pd.Index.intersection, (table.index for table in tables))
    if len(common) < 3:
        raise NotApplicable("fewer than 3 records can be followed from one release to the next")
    mean = sum(table.loc[common, [LAT, LON]].to_numpy(float) for table in tables) / len(tables)
    return nearest_to(knowledge, common, mean, rng, f"follows records through {len(tables)} releases")


def nearest_to(
    knowledge: Knowledge, labels: pd.Index, places: FloatArray, rng: Generator,
    description: str,
) -> Outcome:  # fmt: skip
    """Claim the persons nearest to where records, by their labels, were located: latitudes, longitudes."""
    release = knowledge.release
    table = release.table.loc[labels].assign(**{LAT: places[:, 0], LON: places[:, 1]})
    row = np.full(len(release.table) + 1, -1)
    row[release.table.index.get_indexer(labels)] = np.arange(len(labels))
    located = Release("points", table, "unknown", {}, release.n_original)
    outcome = nearest_place(knowledge.on(located, truth=row[knowledge.truth]), rng=rng)
    return replace(outcome, assumption=f"{place_known(knowledge)}, and {description}")
