"""Attack. The attacks on released distances by name: each takes a release and the intruder's knowledge."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from reident.base import Choice, FloatArray, IntArray, PublicPlaces, Real, Whole, quiet
from reident.methods.attacks_places import nearest_to, place_known
from reident.methods.outcome import NotApplicable, Outcome, record_outcome, refused
from reident.methods.release import LAT, LON, Knowledge, have_places, places_of, value_ids
from reident.places.distances import great_circle_km
from reident.tables.classes import class_ids

_SHARE = Real(0, 1, unit="share of deviations tolerated", open_low=True, open_high=True)


def label_linkage(knowledge: Knowledge, *, rng: Generator) -> Outcome:
    """Link by labels alone; see `reident.places.classical_linkage`."""
    shared, released, background = _labels(knowledge)
    if not shared:
        raise NotApplicable("no label is released as it was")
    from reident.places.common_subgraph import classical_linkage

    links = classical_linkage(released, background, quasi=shared, ties="random", rng=rng).links
    # Which of the records that agree is linked is a draw: it is as sure as they are few.
    alike = knowledge.agreement.counts()[knowledge.known.index.get_indexer(links["known"])]
    links = links.assign(probability=1 / np.maximum(alike, 1))
    return _linked(knowledge, links, "and links by labels alone")


def _labels(knowledge: Knowledge) -> tuple[list[str], pd.DataFrame, pd.DataFrame]:
    """Return the column that attacks by distances compare, if any: a number for the labels of a record or a person.

    In both tables, of the release and of the known persons, whose places stand beside. Only columns in which a single
    released label agrees with each value count.
    """
    release = knowledge.release
    compared = knowledge.compared
    codes = [
        np.concatenate([column.record_codes, column.label_of[column.person_codes]]) + 1
        for column in map(compared.get, knowledge.unperturbed)
        if column is not None and column.label_of is not None
    ]
    labels = class_ids(codes)[0] if codes else np.zeros(len(release.table) + len(knowledge.known), dtype=np.int64)
    released, background = np.split(labels, [len(release.table)])
    return (
        ["labels"] if codes else [], pd.DataFrame({"labels": released}, index=release.table.index),
        knowledge.known[[LAT, LON]].assign(labels=background),
    )  # fmt: skip


def _linked(knowledge: Knowledge, links: pd.DataFrame, description: str, *, complete: bool = True) -> Outcome:
    """Turn links into claims: the other persons are without one; several claims about a person share."""
    persons = np.arange(len(knowledge.known))
    rows = np.full(len(persons), -1)
    sure, right = np.zeros((2, len(persons)))
    who = knowledge.known.index.get_indexer(links["known"])
    record = knowledge.release.table.index.get_indexer(links["release"])
    count = np.bincount(who, minlength=len(persons))
    rows[who[::-1]] = record[::-1]
    sure[who] = links.get("probability", 1.0) / count[who] / _alike(knowledge)[record]
    np.add.at(right, who, (knowledge.truth[who] == record) / count[who])
    return record_outcome(
        knowledge, persons, rows, sure, right, f"{place_known(knowledge)}, {description}", complete=complete
    )


def _alike(knowledge: Knowledge) -> IntArray:
    """Return the number of records with the labels and place of each, as in the cell of a grid."""
    release = knowledge.release
    if not release.has_places:
        return np.ones(len(release.table), dtype=np.int64)
    ids = value_ids([knowledge.agreement.classes, *places_of(release.table)])
    return np.bincount(ids)[ids]


#: Pairs of a person and a record with the same labels, records, and persons that attacks by all distances can bear.
_PAIRS, _RECORDS, _PERSONS = 5000, 3000, 500


def _distances(
    knowledge: Knowledge, rng: Generator, pairs: float = np.inf
) -> tuple[list[str], tuple[Any, Any], tuple[Any, Any], Knowledge]:
    """Return labels and both files as the attacks by distances take them, and the persons attacked.

    Where the files are larger than such an attack can bear, persons are drawn.
    """
    shared, released, background = _labels(knowledge)
    order = rng.permutation(len(knowledge.known))
    partners = knowledge.agreement.counts() if shared else np.full(len(order), len(knowledge.release.table))
    several = np.searchsorted(np.cumsum(partners[order]), pairs, side="right")
    persons = np.sort(order[: min(several, _PERSONS)])
    fewer, background = knowledge.of(persons), background.iloc[persons]
    rows = np.flatnonzero(released["labels"].isin(background["labels"]))
    if len(rows) < 4 or len(persons) < 4 or len(rows) > _RECORDS:
        raise NotApplicable(
            f"attacks by all distances compare at least 4 persons with 4 to {_RECORDS} records of their labels, here "
            f"{len(persons)} with {len(rows)}"
        )
    apart = great_circle_km(*places_of(background))
    return shared, (released.iloc[rows], knowledge.release.between(rows)), (background, apart), fewer


def common_subgraph(
    knowledge: Knowledge,
    *,
    alpha: Annotated[float, _SHARE] = 0.5,
    n_simulations: Annotated[int, Whole(2, unit="releases the intruder simulates")] = 100,
    ties: Annotated[str, Choice("first", "random", "all", "published")] = "first",
    gamma: Annotated[float, Real(0, 1, open_low=True)] = 1.0,
    node_limit: Annotated[int | None, Whole(1, unit="nodes")] = 20_000,
    rng: Generator,
) -> Outcome:
    """Link by the largest set of pairs with agreeing distances; see `reident.common_subgraph_attack`."""
    from reident.places.common_subgraph import common_subgraph_attack

    shared, released, background, knowledge = _distances(knowledge, rng, _PAIRS)
    if knowledge.windows is None:
        raise NotApplicable("how far released distances deviate is not known")
    tolerated = knowledge.windows(alpha, n_simulations, rng)
    with quiet():
        attack = common_subgraph_attack(
            released, background, quasi=shared, rng=rng, ties=ties, gamma=gamma, time_limit_s=None,
            node_limit=node_limit, progress=False, **tolerated,
        )  # fmt: skip
    description = "and how far released distances deviate, and takes the largest consistent match"
    return _linked(knowledge, attack.links, description, complete=attack.is_optimal)


def registration(knowledge: Knowledge, *, rng: Generator) -> Outcome:
    """Lay the shape of the released distances on the known places; see `reident.location.registration_attack`."""
    from reident.location.registration import registration_attack

    shared, released, background, knowledge = _distances(knowledge, rng)
    with refused():
        attack = registration_attack(released, background[0], quasi=shared, rng=rng)
    return _linked(knowledge, attack.links, "and lays the shape of the released distances on the map")


#: Share of equal differences from which a matrix is made of differences of hidden coordinates; share of the distances
#: that differences of the coordinates recovered from rounded ones explain; records up to which these are attacked here,
#: where the steps are coarse and fine.
_EQUAL, _EXPLAINED, _ROUNDED, _FINE = 0.01, 0.5, 600, 1500


def reference_sets(knowledge: Knowledge, *, rng: Generator) -> Outcome:
    """Read hidden coordinates off the equalities of a matrix, rounded, noisy or not.

    Notes
    -----
    See `reident.location.locate_by_reference_sets`. Step of rounding and size of noise are read off the matrix: see
    `reident.location.estimate_step`.
    """
    from reident.location.reference_map import locate_by_reference_sets

    if knowledge.release.matrix_km is None:
        raise NotApplicable("no distances are released")
    shared, released, background, knowledge = _distances(knowledge, rng)
    step, counted = _step(released[1])
    located = locate_by_reference_sets(released, known=background[0], quasi=shared, step_km=step, rng=rng)
    if step is not None:
        counted = f"{located.coordinates.explained:.0%}, {counted}, are differences of coordinates that were found"
        if located.coordinates.explained <= _EXPLAINED:
            raise NotApplicable(f"{counted}: the distances are not made of differences of coordinates")
    if located.linkage is None:
        raise NotApplicable(f"{counted}, but they place no record")
    return _linked(knowledge, located.linkage.links, f"and reads places off the released numbers, of which {counted}")


def _step(distances: FloatArray) -> tuple[float | None, str]:
    """Return the step for the attack by reference sets, None for exact numbers, and the basis of the estimate."""
    from reident.location.reference_map import COARSEST_STEP_KM
    from reident.location.reference_sets import exact_equalities
    from reident.location.released_step import estimate_step
    from reident.location.rounded_coordinates import is_fine

    released = estimate_step(distances)
    counted = ""
    if not released.rounding_km:
        equal = exact_equalities(distances)
        counted = f"{equal.n_equal} of {equal.n_compared} differences between rows come back exactly"
        # Numbers of half the digits come back exactly now and then, but do not add up.
        if equal.share > _EQUAL and released.step_km is None:
            return None, counted
    step = released.step_km
    if step is None or max(step, released.rounding_km) > COARSEST_STEP_KM:
        raise NotApplicable(
            f"{counted or released.describe()}: the distances are not made of differences of coordinates, or carry "
            f"more noise than this attack bears ({COARSEST_STEP_KM / 3:.1f} km on each)"
        )
    n = len(distances)
    limit = _FINE if is_fine(step, n) else _ROUNDED
    if n > limit:
        raise NotApplicable(
            f"the distances are {released.describe()}; {n} records take minutes, more than {limit}: "
            "locate_by_reference_sets"
        )
    return step, released.describe()


def multilateration(knowledge: Knowledge, *, rng: Generator) -> Outcome:
    """Locate all records from matches of unique labels; see `reident.location.multilateration_attack`."""
    from reident.location.multilateration import multilateration_attack
    from reident.places.common_subgraph import classical_linkage

    shared, released, background, knowledge = _distances(knowledge, rng)
    if not shared:
        raise NotApplicable("without labels there is no first match")
    for ties in ("unique", "random"):
        links = classical_linkage(released[0], background[0], quasi=shared, ties=ties, rng=rng).links
        if len(links) >= 3:
            break
    else:
        raise NotApplicable("fewer than 3 labels are alike in both files")
    with refused():
        attack = multilateration_attack(released, links, background[0], quasi=shared, rng=rng)
    return _linked(knowledge, attack.links, "starts from matches of labels, and places all records by distances")


def population(
    knowledge: Knowledge,
    towns: Annotated[Any, PublicPlaces("a list of towns and how many live there", ("population",))] = None,
    *,
    rng: Generator,
) -> Outcome:
    """Lay the shape of the released distances on a map of where people live, and take the nearest person's record.

    Notes
    -----
    See `reident.location.locate_by_population`. No known person fixes the map. Without a list of towns the places of
    the intruder's own file say where people live, without their labels.
    """
    from reident.location.population_location import locate_by_population

    _, released, _, fewer = _distances(knowledge, rng)
    lived = knowledge.known[[LAT, LON]] if towns is None else towns
    with refused():
        located = locate_by_population(released, lived)
    places, is_located = np.column_stack(places_of(located.positions)), have_places(located.positions)
    if not is_located.any():
        raise NotApplicable("no record could be placed")
    source = "the places of that file" if towns is None else "a list of towns"
    description = f"lays the shape of the released distances on where people live: {source}"
    return nearest_to(fewer, released[0].index[is_located], places[is_located], rng, description)
