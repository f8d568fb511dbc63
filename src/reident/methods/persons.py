"""Attack. Several records of one person: of each class one counts, and each person's surest claim.

A class of k records protects nobody where they are all one person's. Both files are reduced before an attack: the
release to one record a person and class (what was left as it was, generalised or rounded, and where values or places
are sought these too), the known file to one row of what is known of a person. Without the true pairs nobody can tell
whose a released record is: a class keeps as many records as the persons of the original who agree with it have, on
average, one each.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from reident.base import FloatArray, IntArray
from reident.methods.outcome import Knowledge, Outcome
from reident.methods.release import LAT, LON, Release
from reident.tables.agreement import Agreement
from reident.tables.classes import class_ids, first_rows
from reident.tables.labels import common_texts

__all__ = ["in_persons", "once_each"]


def in_persons(
    release: Release, knowledge: Knowledge, *, value: bool = False, place: bool = False
) -> tuple[Release, Knowledge]:
    """Return both files with one record a person and class; as they are where each record is a person's.

    Parameters
    ----------
    release : Release
    knowledge : Knowledge
    value, place : bool
        Whether the attack is about the sensitive value, or about the place: records that differ in it then stay apart.
    """
    if knowledge.persons is None:
        return release, knowledge
    name = f"in persons, {knowledge.sensitive if value else None}, {place}"
    reduced: tuple[Release, Knowledge] = knowledge.once(
        release, name, lambda: _reduced(release, knowledge, value=value, place=place)
    )
    return reduced


def _reduced(release: Release, knowledge: Knowledge, *, value: bool, place: bool) -> tuple[Release, Knowledge]:
    alike = [knowledge.compared(release)[name].record_codes for name in knowledge.kept(release)]
    has_value = value and knowledge.sensitive in release.table
    alike += _codes(release.table, [str(knowledge.sensitive)] if has_value else [])
    if place:
        alike += _codes(release.table, [LAT, LON]) if release.has_places else [np.arange(len(release.table))]
    classes = class_ids(alike or [np.zeros(len(release.table), dtype=np.int64)])[0]
    who, truth = pd.factorize(knowledge.who)[0], knowledge.truth
    if truth is None:
        rows = _thinned(classes, release, knowledge, who, value=has_value)
    else:
        owner = pd.factorize(knowledge.who_of(release.table.index))[0]
        ids, n = class_ids([classes, owner])
        first = first_rows(ids, n)  # in order: the classes are numbered as they appear
        rows, truth = first, np.where(truth >= 0, ids[truth], -1)
    keys = [who, *_codes(knowledge.known, list(knowledge.known))]
    keys += [] if truth is None else [truth + 1]
    if value and knowledge.secrets is not None:
        keys += _codes(knowledge.secrets.to_frame(), [knowledge.secrets.name])
    ids, n = class_ids(keys)
    present = knowledge.present
    somewhere = np.isin(who, who[present])
    persons = first_rows(ids, n)
    persons = persons[present[persons] | ~somewhere[persons]]
    matrix = None if release.matrix_km is None else release.matrix_km[np.ix_(rows, rows)]
    known = replace(knowledge, truth=truth).of(persons)
    return replace(release, table=release.table.iloc[rows], matrix_km=matrix), known


def _codes(table: pd.DataFrame, names: list[str]) -> list[IntArray]:
    return [pd.factorize(table[name].astype(object), use_na_sentinel=False)[0].astype(np.int64) for name in names]


def _thinned(classes: IntArray, release: Release, knowledge: Knowledge, who: IntArray, *, value: bool) -> IntArray:
    """Return rows of each class, evenly apart: as many as there would be with one record a person."""
    agreement = knowledge.agreement(release)
    person_values, class_values = np.zeros(len(who), dtype=np.int64), np.zeros(len(classes), dtype=np.int64)
    if value and knowledge.secrets is not None:  # a record with another value is none of the person's
        both = pd.concat(common_texts(knowledge.secrets, release.table[knowledge.sensitive]))
        codes = _codes(pd.DataFrame({"value": both}), ["value"])[0]
        person_values, class_values = codes[: len(who)], codes[len(who) :]
    n_values = 1 + int(max(person_values.max(initial=0), class_values.max(initial=0)))
    share = _persons_a_record(agreement, person_values, who, n_values)
    keys = np.where(agreement.classes >= 0, agreement.classes * n_values + class_values, 0)
    rate = np.where(agreement.classes >= 0, share[keys], 1.0)
    order = np.argsort(classes, kind="stable")
    starts = np.searchsorted(classes[order], classes[order])
    sizes, turn = np.bincount(classes)[classes[order]], np.arange(len(order)) - starts
    n = np.clip(np.floor(sizes * rate[order] + 1e-9), 1, sizes).astype(np.int64)
    is_retained = (turn + 1) * n // sizes > turn * n // sizes
    rows: IntArray = np.sort(order[is_retained])
    return rows


def _persons_a_record(agreement: Agreement, values: IntArray, who: IntArray, n_values: int) -> FloatArray:
    """Return for each class and value how many persons agree with it for each record that does, 1 where none does."""
    from scipy.sparse import csr_array

    keys, key = np.unique(agreement.groups * n_values + values, return_inverse=True)
    groups = keys // n_values
    lengths = np.diff(agreement.starts)[groups]
    at = np.repeat(agreement.starts[groups] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
    shape = len(agreement.sizes) * n_values, len(keys)
    places = agreement.members[at] * n_values + np.repeat(keys % n_values, lengths)
    agree = csr_array((np.ones(len(at)), (places, np.repeat(np.arange(len(keys)), lengths))), shape=shape)
    persons = csr_array((np.ones(len(who)), (key, who)), shape=(len(keys), 1 + int(who.max(initial=-1))))
    records = agree @ np.bincount(key, minlength=len(keys))
    share: FloatArray = np.divide(
        np.diff((agree @ persons).indptr), records, out=np.ones(len(records)), where=records > 0
    )
    return share


def once_each(outcome: Outcome, knowledge: Knowledge) -> Outcome:
    """Return one claim a person, the surest; a claim of a record is right if it is any of the person's.

    What is known of a person in the same words may be sought in several records: these exclude one another, so that
    chances add up.
    """
    if knowledge.persons is None or (outcome.of_records and knowledge.truth is None):
        return outcome
    claims, rows = outcome.claims, knowledge.known.index.get_indexer(outcome.claims.index)
    person = knowledge.who_of(claims.index)
    alone = rows < 0  # claims of released records
    words = [np.where(alone, 0, codes[rows] + 1) for codes in _codes(knowledge.known, list(knowledge.known))]
    same = class_ids([pd.factorize(person)[0], np.where(alone, np.arange(len(claims)) + 1, 0), *words])[0]
    numbers = [name for name in ("confidence", "right", "base", "control") if name in claims]
    summed = claims[numbers].groupby(same).sum(min_count=1).clip(upper=1).loc[same].set_axis(claims.index)
    order = np.lexsort((-summed["confidence"].to_numpy(), ~claims["present"].to_numpy(bool)))
    order = np.sort(order[~pd.Index(person[order]).duplicated()])
    each = claims.assign(**{name: summed[name] for name in numbers}).iloc[order]
    return replace(outcome, claims=each.set_axis(pd.Index(person[order])))
