"""Attack. The attacks on places and on distances by name: each takes a release and what the intruder knows."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
import pandas as pd

from reident._types import BoolArray, FloatArray, IntArray
from reident.errors import DataError, ParameterError, SearchLimitWarning
from reident.methods.forms import law_of
from reident.methods.nearest import Near, assign, near_places, posterior
from reident.methods.outcome import Knowledge, NotApplicable, Outcome, claims_about
from reident.methods.release import LAT, LON, Release
from reident.options import Choice, PublicPlaces, Real, Whole
from reident.places.distances import great_circle_km
from reident.places.tolerance import RULES

__all__ = [
    "common_subgraph",
    "known_mask",
    "label_linkage",
    "multilateration",
    "nearest_place",
    "place_assignment",
    "population",
    "quasi_clique",
    "reference_sets",
    "registration",
    "repeated_masks",
    "spatial_k",
]

_SHARE = Real(0, 1, unit="share of deviations tolerated", open_low=True, open_high=True)


def _needs_places(release: Release, knowledge: Knowledge) -> None:
    if not release.has_places:
        raise NotApplicable("no places are released")
    if not knowledge.has_places:
        raise NotApplicable("the intruder is not said to know places")


def _said(knowledge: Knowledge, release: Release) -> str:
    labels = ", ".join(map(str, knowledge.kept(release)))
    return f"the intruder knows the place{f' and {labels}' if labels else ''} of each person exactly"


def _about(
    release: Release, knowledge: Knowledge, persons: IntArray, rows: IntArray, confidence: Any, right: Any
) -> pd.DataFrame:
    """Build claims of records by their row, -1 for none; `right` None compares with the truth."""
    if right is None:
        right = np.nan if knowledge.truth is None else (rows == knowledge.truth[persons]) & (rows >= 0)
    labels = [release.table.index[row] if row >= 0 else None for row in rows]
    base = 1 / max(1, len(release.table))
    made = np.where(rows >= 0, confidence, 0.0)
    return claims_about(knowledge, persons, labels, made, np.broadcast_to(right, len(persons)), base)


def nearest_place(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Take the released place nearest to the person's home among the records whose labels agree; method unknown.

    Notes
    -----
    How sure the claim is follows from the gaps themselves: the size of normal noise that makes the release likeliest.
    """
    _needs_places(release, knowledge)
    near = near_places(release, knowledge, knowledge.sample(rng))
    claim, confidence, right = near.judged(posterior(near, 2), knowledge.truth)
    said = f"{_said(knowledge, release)}, not the method, and takes the nearest place of the same labels"
    return Outcome(_about(release, knowledge, near.persons, claim, confidence, right), "identity", said)


def place_assignment(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Give every known person another released place of the same labels, all together as near as possible."""
    _needs_places(release, knowledge)
    near = near_places(release, knowledge, knowledge.sample(rng))
    weights = _law(release, near, knowledge) if _has_law(release) else posterior(near, 2)
    taken = assign(near, weights)
    chosen = np.arange(len(taken)), np.maximum(taken, 0)
    rows = np.where(taken >= 0, near.rows[chosen], -1)
    said = f"{_said(knowledge, release)} of everybody, and assigns the places one to one"
    return Outcome(_about(release, knowledge, near.persons, rows, weights[chosen], None), "identity", said)


def known_mask(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Weigh the released places of the same labels by the law of the mask; method known (Kerckhoffs' principle)."""
    _needs_places(release, knowledge)
    if not _has_law(release):
        raise NotApplicable(f"the law by which {release.method!r} moves places is not known")
    near = near_places(release, knowledge, knowledge.sample(rng), k=256)
    claim, confidence, right = near.judged(_law(release, near, knowledge), knowledge.truth)
    said = f"{_said(knowledge, release)}, and the method with its parameters"
    return Outcome(_about(release, knowledge, near.persons, claim, confidence, right), "identity", said)


#: Places closer than this are one, km.
_SAME_KM = 1e-3


def _has_law(release: Release) -> bool:
    return law_of(release) in _LAWS


def _law(release: Release, near: Near, knowledge: Knowledge) -> FloatArray:
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


_LAWS = {"normal degrees": _normal_degrees, "ring": _ring}


def _degrees_apart(release: Release, near: Near, knowledge: Knowledge) -> FloatArray:
    """Return squared differences of latitude and longitude, in degrees."""
    apart = np.zeros(near.gaps.shape)
    for column in (LAT, LON):
        mine = knowledge.known[column].to_numpy(float)[near.persons][:, None]
        differ = release.table[column].to_numpy(float)[near.rows] - mine
        apart += ((differ + 180) % 360 - 180) ** 2
    return np.where(near.rows >= 0, apart, 1e12)


def spatial_k(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Count the persons of the same labels who live as near to the released place as its own person (spatial k).

    Notes
    -----
    Who finds a released place and knows the register of homes is left with k persons. The displacement is taken from
    the true pairs, so that this is the protection as it is, not as an intruder sees it.
    """
    from scipy.spatial import cKDTree

    from reident.places.shape import RADIUS_KM, unit_vectors

    _needs_places(release, knowledge)
    persons, rows = knowledge.pairs()
    if persons is None or rows is None:
        raise NotApplicable("displacements can be told only where the true pairs are known")
    drawn = np.isin(persons, knowledge.sample(rng))
    persons, rows = persons[drawn], rows[drawn]
    homes = unit_vectors(knowledge.known[LAT].to_numpy(float), knowledge.known[LON].to_numpy(float))
    theirs = unit_vectors(release.table[LAT].to_numpy(float), release.table[LON].to_numpy(float))
    chord = np.linalg.norm(homes[persons] - theirs[rows], axis=1) * (1 + 1e-9) + _SAME_KM / RADIUS_KM / 1000
    groups = knowledge.agreement(release).groups
    counts = np.ones(len(persons))
    for group in np.unique(groups[persons]):
        own = np.flatnonzero(groups[persons] == group)
        tree = cKDTree(homes[groups == group])
        counts[own] = tree.query_ball_point(theirs[rows[own]], chord[own], return_length=True)
    confidence = 1 / np.maximum(counts, 1)
    said = f"{_said(knowledge, release)}, and is left with all who live as near to a released place as its own person"
    claims = _about(release, knowledge, persons, rows, confidence, confidence)
    return Outcome(claims, "identity", said, proven=True)


def repeated_masks(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Average the places of records that carry the same label in several releases, and take the nearest person's.

    Notes
    -----
    Cassa (2008). Only releases whose records can be followed from one to the next can be averaged: pseudonyms do that.
    """
    _needs_places(release, knowledge)
    others = [one for one in knowledge.earlier if one.has_places]
    if not others and knowledge.again is not None:
        others = [knowledge.again(rng) for _ in range(3)]
    if not others:
        raise NotApplicable("no other release of the same places is given, and the method is not known")
    tables = [release.table, *(one.table for one in others)]
    common = tables[0].index
    for table in tables[1:]:
        common = common.intersection(table.index)
    if len(common) < 3:
        raise NotApplicable("fewer than 3 records can be followed from one release to the next")
    mean = sum(table.loc[common, [LAT, LON]].to_numpy(float) for table in tables) / len(tables)
    found = _placed(release, knowledge, common, mean, rng)
    said = f"{_said(knowledge, release)}, and follows records through {len(tables)} releases"
    return Outcome(found.claims, "identity", said)


def _placed(
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


def label_linkage(
    release: Release,
    knowledge: Knowledge,
    *,
    ties: Annotated[str, Choice("all", "unique", "random")] = "random",
    rng: np.random.Generator,
) -> Outcome:
    """Link by labels alone; see `reident.classical_linkage`."""
    if not release.has_distances:
        raise NotApplicable("no places are released: exact_join links tables by labels")
    kept = _labels(release, knowledge)
    if not kept:
        raise NotApplicable("no label is released as it was")
    from reident.places.common_subgraph import classical_linkage

    links = classical_linkage(release.table, knowledge.known, quasi=kept, ties=ties, rng=rng).links
    # Which of the records that agree is linked is a draw: it is as sure as they are few.
    alike = knowledge.agreement(release).counts()[knowledge.known.index.get_indexer(links["known"])]
    links = links.assign(confidence=1.0 if ties == "all" else 1 / np.maximum(alike, 1))
    return _linked(release, knowledge, links, "and links by labels alone", confidence="confidence")


def _labels(release: Release, knowledge: Knowledge) -> list[str]:
    """Return the kept columns that are the same in both files: what the attacks by distances compare."""
    return [c for c in knowledge.kept(release) if knowledge.compared(release)[c].label_of is not None]


def _linked(
    release: Release, knowledge: Knowledge, links: pd.DataFrame, said: str, *, complete: bool = True,
    confidence: str | None = None,
) -> Outcome:  # fmt: skip
    """Turn links into claims: everybody else is without one; several claims about a person share."""
    if confidence is None and knowledge.truth is None:
        raise NotApplicable("how often such links are right cannot be told without true pairs")
    persons = np.arange(len(knowledge.known))
    rows = np.full(len(persons), -1)
    sure, right = np.zeros(len(persons)), np.full(len(persons), np.nan if knowledge.truth is None else 0.0)
    who = knowledge.known.index.get_indexer(links["known"])
    what = release.table.index.get_indexer(links["release"])
    count = np.bincount(who, minlength=len(persons))
    rows[who[::-1]] = what[::-1]
    sure[who] = (links[confidence].to_numpy(float) if confidence else 1.0) / count[who]
    if knowledge.truth is not None:
        np.add.at(right, who, (knowledge.truth[who] == what) / count[who])
    claims = _about(release, knowledge, persons, rows, sure, right)
    return Outcome(claims, "identity", f"{_said(knowledge, release)}, {said}", complete=complete)


#: Pairs of a person and a record with the same labels, records, and persons that attacks by all distances can bear.
_PAIRS, _RECORDS, _PERSONS = 5000, 3000, 500


def _distances(
    release: Release, knowledge: Knowledge, rng: np.random.Generator, pairs: float = np.inf
) -> tuple[list[str], tuple[Any, Any], tuple[Any, Any], Knowledge]:
    """Return labels and both files as the attacks by distances take them, and whom they are about.

    Where the files are larger than such an attack can bear, persons are drawn.
    """
    if not release.has_distances or not knowledge.has_places:
        raise NotApplicable("no distances are released, or the intruder knows no places")
    kept = _labels(release, knowledge)
    drawn = rng.permutation(len(knowledge.known))
    partners = knowledge.agreement(release).counts() if kept else np.full(len(drawn), len(release.table))
    several = np.searchsorted(np.cumsum(partners[drawn]), pairs, side="right")
    persons = np.sort(drawn[: min(int(several), _PERSONS)])
    fewer = knowledge.of(persons)
    rows = np.flatnonzero(_shared(release, fewer, kept))
    if len(rows) < 4 or len(persons) < 4 or len(rows) > _RECORDS:
        raise NotApplicable(
            f"attacks by all distances compare at least 4 persons with 4 to {_RECORDS} records of their labels, here "
            f"{len(persons)} with {len(rows)}"
        )
    table = release.table.iloc[rows]
    between = release.between(rows)
    mine = great_circle_km(fewer.known[LAT].to_numpy(float), fewer.known[LON].to_numpy(float))
    return kept, (table[kept], between), (fewer.known[kept], mine), fewer


def _shared(release: Release, knowledge: Knowledge, kept: list[str]) -> BoolArray:
    if not kept:
        return np.ones(len(release.table), dtype=bool)
    mine = pd.MultiIndex.from_frame(knowledge.known[kept])
    return np.asarray(pd.MultiIndex.from_frame(release.table[kept]).isin(mine))


def common_subgraph(
    release: Release,
    knowledge: Knowledge,
    *,
    alpha: Annotated[float, _SHARE] = 0.5,
    n_simulations: Annotated[int, Whole(2, unit="releases the intruder simulates")] = 100,
    window: Annotated[str | None, Choice(None, *RULES)] = None,
    ties: Annotated[str, Choice("first", "random", "all")] = "first",
    gamma: Annotated[float, Real(0, 1, open_low=True)] = 1.0,
    search: Annotated[str, Choice("strong", "published")] = "strong",
    limit: Annotated[int, Whole(1, unit="cliques")] = 100_000,
    time_limit_s: Annotated[float | None, Real(0, unit="s", open_low=True)] = None,
    node_limit: Annotated[int | None, Whole(1, unit="nodes")] = 200_000,
    rng: np.random.Generator,
) -> Outcome:
    """Link by the largest set of pairs whose distances agree; see `reident.common_subgraph_attack`."""
    from reident.places.common_subgraph import common_subgraph_attack

    kept, theirs, mine, knowledge = _distances(release, knowledge, rng, _PAIRS)
    if knowledge.windows is None:
        raise NotApplicable("how far released distances deviate is not known: neither the method nor true pairs are")
    tolerated = knowledge.windows(alpha, n_simulations, rng, window)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchLimitWarning)
        found = common_subgraph_attack(
            theirs, mine, quasi=kept, rng=rng, ties=ties, gamma=gamma, search=search, limit=limit,
            time_limit_s=time_limit_s, node_limit=node_limit, progress=False, **tolerated,
        )  # fmt: skip
    said = "and how far released distances deviate, and takes the largest consistent match"
    return _linked(release, knowledge, found.links, said, complete=found.is_optimal)


def quasi_clique(
    release: Release,
    knowledge: Knowledge,
    *,
    alpha: Annotated[float, _SHARE] = 0.5,
    gamma: Annotated[float, Real(0, 1, open_low=True)] = 0.9,
    rng: np.random.Generator,
) -> Outcome:
    """Link by a large set of pairs most of whose distances agree."""
    return common_subgraph(release, knowledge, alpha=alpha, gamma=gamma, rng=rng)


def registration(
    release: Release,
    knowledge: Knowledge,
    *,
    n_pairs: Annotated[int, Whole(1, unit="pairs")] = 4000,
    rng: np.random.Generator,
) -> Outcome:
    """Lay the shape of the released distances on the known places; see `reident.registration_attack`."""
    from reident.places.registration import registration_attack

    kept, theirs, _, knowledge = _distances(release, knowledge, rng)
    try:
        found = registration_attack(theirs, knowledge.known, quasi=kept, n_pairs=n_pairs, rng=rng)
    except (DataError, ParameterError) as error:
        raise NotApplicable(str(error)) from error
    said = "and lays the shape of the released distances on the map"
    return _linked(release, knowledge, found.links, said, confidence="probability")


#: Share of equal differences from which a matrix is made of differences of hidden coordinates; share of the distances
#: that differences of the coordinates recovered from rounded ones explain; records up to which these are attacked here.
_EQUAL, _EXPLAINED, _ROUNDED = 0.01, 0.5, 600


def reference_sets(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Read hidden coordinates off the equalities of a matrix, rounded or not; see `reident.locate_by_reference_sets`.

    Notes
    -----
    The step of rounding is read off the matrix. Whoever adds noise tells nobody its size: that is not guessed here.
    """
    from reident.places.reference_map import locate_by_reference_sets
    from reident.places.reference_sets import rounding_step

    if release.matrix_km is None:
        raise NotApplicable("no distances are released")
    kept, theirs, _, knowledge = _distances(release, knowledge, rng)
    step = rounding_step(theirs[1])
    counted = _differences(theirs[1], step)
    found = locate_by_reference_sets(theirs, known=knowledge.known, quasi=kept, step_km=step, rng=rng)
    if found.linkage is None:
        raise NotApplicable(f"{counted}, but they place nobody")
    said = f"and reads places off the released numbers, of which {counted}"
    return _linked(release, knowledge, found.linkage.links, said, confidence="probability")


def _differences(distances: FloatArray, step: float | None) -> str:
    """Say how many distances are differences of hidden coordinates; refuse where too few are."""
    from reident.places.reference_sets import exact_equalities, recover_coordinates

    if step is None:
        equal = exact_equalities(distances)
        share, enough = equal.share, _EQUAL
        counted = f"{equal.n_equal} of {equal.n_compared} differences between rows come back exactly"
    else:
        if len(distances) > _ROUNDED:
            raise NotApplicable(
                f"the distances are rounded to {step:g} km, and {len(distances)} records, more than {_ROUNDED}, take "
                "minutes: see locate_by_reference_sets"
            )
        share, enough = recover_coordinates(distances, step_km=step).explained, _EXPLAINED
        counted = f"{share:.0%}, rounded to {step:g} km, are differences of coordinates that were found"
    if not share > enough:
        raise NotApplicable(f"{counted}: the distances are not made of differences of coordinates")
    return counted


def multilateration(release: Release, knowledge: Knowledge, *, rng: np.random.Generator) -> Outcome:
    """Locate all records from matches of unique labels; see `reident.multilateration_attack`."""
    from reident.places.common_subgraph import classical_linkage
    from reident.places.multilateration import multilateration_attack

    kept, theirs, _, knowledge = _distances(release, knowledge, rng)
    if not kept:
        raise NotApplicable("without labels there is no first match")
    links = classical_linkage(theirs[0], knowledge.known, quasi=kept, ties="unique", rng=rng).links
    if len(links) < 3:
        links = classical_linkage(theirs[0], knowledge.known, quasi=kept, ties="random", rng=rng).links
    if len(links) < 3:
        raise NotApplicable("fewer than 3 labels are alike in both files")
    try:
        found = multilateration_attack(theirs, links, knowledge.known, quasi=kept, rng=rng)
    except (DataError, ParameterError) as error:
        raise NotApplicable(str(error)) from error
    said = "starts from matches of labels, and places everybody by distances"
    return _linked(release, knowledge, found.links, said, confidence="probability")


def population(
    release: Release,
    knowledge: Knowledge,
    towns: Annotated[Any, PublicPlaces("a list of towns and how many live there", ("population",))] = None,
    *,
    coverage: Annotated[str, Choice("whole", "part")] = "whole",
    scatter_km: Annotated[float, Real(0, unit="km", open_low=True)] = 11.0,
    rng: np.random.Generator,
) -> Outcome:
    """Lay the shape of the released distances on a map of where people live, and take the nearest person's record.

    Notes
    -----
    See `reident.locate_by_population`. The map is laid without any known person. Where no list of towns is given, the
    places of the intruder's own file tell where people live, without their labels.
    """
    from reident.places.population_location import locate_by_population

    _, theirs, _, fewer = _distances(release, knowledge, rng)
    lived = knowledge.known[[LAT, LON]] if towns is None else towns
    try:
        found = locate_by_population(theirs, lived, coverage=coverage, scatter_km=scatter_km)
    except (DataError, ParameterError) as error:
        raise NotApplicable(str(error)) from error
    places = found.positions[[LAT, LON]].to_numpy(float)
    there = np.isfinite(places).all(axis=1)
    if not there.any():
        raise NotApplicable("no record could be placed")
    made = _placed(release, fewer, theirs[0].index[there], places[there], rng)
    said = "lays the shape of the released distances on where people live"
    source = "the places of that file" if towns is None else "a list of towns"
    return Outcome(made.claims, "identity", f"{_said(knowledge, release)}, and {said}: {source}")
