"""Attack. The attacks on tables by name: each takes a release and the intruder's knowledge, and returns its claims."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from reident.base import Choice, Whole, is_numeric, quiet, ratio
from reident.methods.nearest import near_records, posterior
from reident.methods.outcome import NotApplicable, Outcome, claims_about, knows, record_outcome, refused
from reident.methods.release import Knowledge, Release
from reident.methods.utilities import covered
from reident.tables.agreement import agreement, compare_columns
from reident.tables.classes import class_ids, first_rows
from reident.tables.record_linkage import link_records


def exact_join(knowledge: Knowledge) -> Outcome:
    """Join by everything left as it was, generalised or rounded: one of the records that agree is the person's.

    Notes
    -----
    The simplest intruder. All values count, none is too rare; a suppressed record is in no class. Columns in which true
    pairs do not agree (noise, swapping) are left out: an intruder who knows the method knows them.
    """
    columns = knowledge.unperturbed
    agreement = knowledge.agreement
    counts = agreement.counts()
    persons = np.arange(len(counts))
    confidence = ratio(1.0, counts)
    right = confidence * agreement.holds(persons, knowledge.truth)
    some = np.diff(agreement.starts) > 0  # of each group the first record of the first class that agrees with it
    rows = np.full(len(some), -1)
    row_of = first_rows(agreement.classes, len(agreement.sizes) + 1)  # one more for suppressed records
    rows[some] = row_of[agreement.members[agreement.starts[:-1][some]]]
    description = f"{knows(columns)}, and joins by equality"
    return record_outcome(knowledge, persons, rows[agreement.groups], confidence, right, description, proven=True)


def class_risk(knowledge: Knowledge) -> Outcome:
    """Pick one of the records that have the labels of the person's own record: the prosecutor's risk.

    Notes
    -----
    El Emam and Dankar (2008). It takes the released labels as known and so is about persons who are in the release.
    """
    columns = knowledge.unperturbed
    ids, n = class_ids([knowledge.compared[column].record_codes for column in columns])
    persons, rows = knowledge.pairs()
    sure = 1 / np.bincount(ids, minlength=n)[ids[rows]]
    description = (
        f"the intruder knows the labels that {', '.join(map(str, columns))} have in the person's released record"
    )
    return record_outcome(knowledge, persons, rows, sure, sure, description, proven=True)


def register_join(release: Release, knowledge: Knowledge) -> Outcome:
    """Look up each released record in a public register of the population: the journalist's risk.

    Notes
    -----
    A record is as safe as the number of persons of the register who agree with it; no person needs to be known to be in
    the file. A register that lacks persons overstates the risk.
    """
    register = knowledge.register
    assert register is not None
    shared = [column for column in knowledge.unperturbed if column in register.columns]
    if not shared:
        raise NotApplicable("the register has none of the columns that were left as they were")
    compared = compare_columns(register, release.table, shared, knowledge.hierarchies)
    agree = agreement(compared, list(compared), release.table, len(register))
    patterns, of = agree.patterns()
    rows = np.flatnonzero(agree.classes >= 0)
    sure = ratio(1.0, (patterns.T @ np.bincount(of, minlength=patterns.shape[0]))[agree.classes[rows]])
    claims = pd.DataFrame(
        {"claim": None, "confidence": sure, "right": sure, "base": 1 / len(register), "present": True},
        index=release.table.index[rows],
    )
    description = f"the intruder has a register of {len(register)} persons with {', '.join(map(str, shared))}"
    return Outcome(claims, "identity", description, proven=True)


def nearest_record(knowledge: Knowledge, *, rng: Generator) -> Outcome:
    """Take the released record that is nearest in all quasi-identifiers, numbers and categories alike (Gower)."""
    return _nearest(knowledge, rng, "takes the nearest record")


def record_assignment(knowledge: Knowledge, *, rng: Generator) -> Outcome:
    """Give every known person another record, all together as near as possible: global linkage.

    Notes
    -----
    Herranz et al. (2015). It needs most persons of the file to be known; absent ones stay without a record.
    """
    return _nearest(knowledge, rng, "assigns the records one to one", one_to_one=True)


def _nearest(knowledge: Knowledge, rng: Generator, description: str, *, one_to_one: bool = False) -> Outcome:
    columns = list(knowledge.compared)
    near, n_numbers = near_records(knowledge, rng)
    return near.outcome(
        posterior(near, n_numbers, power=1), f"{knows(columns)}, and {description}", one_to_one=one_to_one
    )


#: Columns of 0 and 1 that a linkage by numbers can bear.
_MOST_COLUMNS = 60


def _as_numbers(knowledge: Knowledge) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return known persons and released records as numbers: labels as the mean of the covered values, all categories.

    A category becomes one column for each of its values; with too many of them this is refused, never cut short.
    """
    columns = list(knowledge.compared)
    n = sum(1 if is_numeric(column) else column.nunique() for _, column in knowledge.known[columns].items())
    if n > _MOST_COLUMNS:
        raise NotApplicable(
            f"the quasi-identifiers have {n} numbers and categories, above {_MOST_COLUMNS}: nearest_record "
            "compares them all"
        )
    numbers, released_numbers = {}, {}
    for column in columns:
        known, released = knowledge.known[column], knowledge.release.table[column].astype(object)
        tree, values = knowledge.hierarchies.get(column), pd.Index(known.dropna().unique())
        if is_numeric(known):
            read = pd.to_numeric(released, errors="coerce").to_numpy(float, copy=True)
            is_label = ~np.isfinite(read)
            shares, codes = covered(values, released[is_label], tree, missing=True)
            read[is_label] = (values.to_numpy(float) @ shares)[codes]
            numbers[column], released_numbers[column] = known.to_numpy(float), read
            continue
        shares, codes = covered(values, released, tree, missing=True)
        numbers |= {f"{column}={value}": (known == value).to_numpy(float) for value in values}
        released_numbers |= {f"{column}={value}": share[codes] for value, share in zip(values, shares, strict=True)}
    return pd.DataFrame(numbers, knowledge.known.index), pd.DataFrame(released_numbers, knowledge.release.table.index)


def _telling(known: pd.DataFrame, released: pd.DataFrame) -> tuple[list[str], bool]:
    """Return the columns of numbers that differ among persons and among records, and whether no number is missing."""
    columns = [c for c in known if np.ptp(known[c].to_numpy()) > 0 and np.ptp(released[c].to_numpy()) > 0]
    return columns, all(bool(np.isfinite(table[columns]).all(axis=None)) for table in (known, released))


def record_linkage(
    knowledge: Knowledge,
    *,
    distance: Annotated[str, Choice("dbrl2", "dbrl1", "mahalanobis", "probabilistic")] = "dbrl2",
    rng: Generator,
) -> Outcome:
    """Link by a distance on standardised numbers, or by match weights; see `reident.link_records`.

    Notes
    -----
    Match weights of Fellegi and Sunter are estimated without true pairs; persons are drawn to keep it short.
    """
    if distance == "probabilistic":
        n = max(20, _MOST_PAIRS // max(1, len(knowledge.release.table)))
        knowledge = knowledge.of(np.sort(rng.permutation(len(knowledge.known))[:n]))
    return _link(knowledge, rng, distance)


def _link(knowledge: Knowledge, rng: Generator, distance: Any) -> Outcome:
    persons = knowledge.sample(rng)
    known, released = _as_numbers(knowledge)
    known = known.iloc[persons]
    columns, complete = _telling(known, released)
    if (spread := getattr(distance, "spread", None)) is not None:  # columns that varied while learning
        columns = [c for c in columns if c in spread.index]
    if not (columns and complete):
        raise NotApplicable("no column of numbers tells released records apart, or numbers are missing")
    true_rows = knowledge.truth[persons]
    truth = pd.Series(released.index[true_rows[true_rows >= 0]], index=known.index[true_rows >= 0])
    if not len(truth):
        raise NotApplicable("none of the known persons is in the release")
    with refused():
        links = link_records(known, released, columns=columns, distance=distance, truth=truth, ties="share").links
    sure, right = 1 / links["n_nearest"], links["credit"].fillna(0.0)
    claims = claims_about(knowledge, persons, links["known"], sure, right, 1 / len(released))
    by = distance if isinstance(distance, str) else "a learned distance"
    return Outcome(claims, "identity", f"{knows(knowledge.compared)}, and takes the record nearest by {by}")


#: Pairs of records whose match weights are computed.
_MOST_PAIRS = 200_000
#: Steps of learning after which it ends with the best measure so far, times the unknowns: each step costs as many.
_STEPS = 60_000
#: Released records, besides those of the training pairs, among which these are to be found while learning.
_MOST_RIVALS = 2_000


def learned_linkage(
    knowledge: Knowledge,
    *,
    model: Annotated[str, Choice("weighted_mean", "choquet", "bilinear")] = "weighted_mean",
    n_training: Annotated[int, Whole(4, unit="pairs")] = 100,
    rng: Generator,
) -> Outcome:
    """Learn a distance of the columns on some true pairs and link all others: the worst case of Abril et al. (2012).

    The persons of the training pairs are not judged.

    Notes
    -----
    "bilinear" is that of Abril, Torra and Navarro-Arribas (2015), learned by lines (`method="climb"`), since a proof
    takes long.
    """
    from reident.tables.choquet.choquet_linkage import learn_linkage

    persons, rows = knowledge.pairs()
    known, released = _as_numbers(knowledge)
    columns, complete = _telling(known, released)
    if not complete:
        raise NotApplicable("numbers are missing")
    if not 2 <= len(columns) <= 8 or len(persons) < 2 * n_training:
        raise NotApplicable(
            f"it needs 2 to 8 columns of numbers and {2 * n_training} true pairs (twice `n_training`), got "
            f"{len(columns)} and {len(persons)}"
        )
    order = rng.permutation(len(persons))
    taught, judged = order[:n_training], np.sort(persons[order[n_training:]])
    # Equal records are one: an intruder who finds one of them has found all. Nearly any weights tell the training pairs
    # alone apart: the other records are there for the weights to rule out.
    _, first, same = np.unique(released[columns].to_numpy(), axis=0, return_index=True, return_inverse=True)
    partners, one_each = np.unique(same.ravel()[rows[taught]], return_index=True)
    among = np.union1d(partners, rng.permutation(len(first))[:_MOST_RIVALS])
    unknowns = 2 ** len(columns) if model == "choquet" else len(columns)
    with quiet():
        learned = learn_linkage(
            known.iloc[persons[taught[one_each]]].set_axis(partners),
            released.iloc[first[among]].set_axis(among),
            columns=columns, model=model, method="climb" if model == "bilinear" else "benders",
            step_limit=_STEPS // unknowns, scaling="dbrl2", rng=rng,
        )  # fmt: skip
    return _link(knowledge.of(judged), rng, learned)


def nearest_in_class(knowledge: Knowledge, *, rng: Generator) -> Outcome:
    """Take the released value nearest to the person's among the records of their class.

    Notes
    -----
    Holohan et al. (2017), section V-B, with every noisy column taken together.
    """
    columns = list(knowledge.compared)
    noisy = [column for column in columns if column not in knowledge.unperturbed]
    if not noisy or len(noisy) == len(columns):
        raise NotApplicable("it needs columns that form classes and others with noise inside them")
    near, _ = near_records(knowledge, rng)
    persons = np.repeat(near.persons, near.rows.shape[1])
    agrees = knowledge.agreement.holds(persons, near.rows.ravel()).reshape(near.rows.shape)
    rows, gaps = np.where(agrees, near.rows, -1), np.where(agrees, near.gaps, np.inf)
    inside = replace(near, rows=rows, gaps=gaps, sizes=near.sizes * agrees, cut=np.zeros_like(near.cut))
    return inside.outcome(
        posterior(inside, len(noisy), power=1), f"{knows(columns)}, and takes the nearest value of the class"
    )
