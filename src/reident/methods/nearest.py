"""Attack. The released records nearest to each person, and how sure the nearest one is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from reident.base import EARTH_RADIUS_KM, BoolArray, FloatArray, IntArray, ratio
from reident.methods.outcome import Outcome, record_outcome
from reident.methods.release import Knowledge, places_of
from reident.places.points import unit_vectors
from reident.tables.classes import class_ids, class_rows, first_rows
from reident.tables.labels import interval_of

#: Candidates looked at for each person.
MOST_NEAR = 64
_CELLS = 4_000_000
#: Into so many cells a radius of the globe is cut where places are sorted; one is some 6 km wide.
_CELLS_A_RADIUS = 1000
#: Records of one kind that a person may be assigned to.
_COPIES = 8
#: Share of persons that are allowed not to be in the release when the size of the noise is estimated.
_ABSENT = 0.1
#: Persons from whose gaps the size of the noise is estimated.
_FROM = 20_000


@dataclass(frozen=True, eq=False)
class Near:
    """The nearest released records of some persons.

    Attributes
    ----------
    knowledge : Knowledge
    persons : ndarray of int64, shape (m,)
        Rows of the known file.
    rows : ndarray of int64, shape (m, k)
        Rows of the release, one of `sizes` equal records; -1 where there are fewer than k.
    gaps : ndarray of float64, shape (m, k)
        How far each is; infinite for -1.
    sizes : ndarray of int64, shape (m, k)
        How many released records are equal to it, with it.
    classes : ndarray of int64, shape (n_release,)
        Records that are equal here have one number.
    cut : ndarray of bool, shape (m,)
        Whether there are further candidates beyond these.
    """

    knowledge: Knowledge
    persons: IntArray
    rows: IntArray
    gaps: FloatArray
    sizes: IntArray
    classes: IntArray
    cut: BoolArray

    def part(self, which: Any) -> Near:
        """Return the same of some of the persons, by a slice or their places."""
        return replace(
            self, **{name: getattr(self, name)[which] for name in ("persons", "rows", "gaps", "sizes", "cut")}
        )

    def outcome(self, weights: FloatArray, assumption: str, *, one_to_one: bool = False) -> Outcome:
        """Claim for each person the likeliest candidate, or that of the likeliest assignment of all one to one.

        Weights are of all the records that a candidate stands for together. Ties share.
        """
        each = weights / np.maximum(self.sizes, 1)
        best = each.max(axis=1)
        if one_to_one:
            top = assign(self, weights)
            confidence = (each * top).max(axis=1)
        else:
            top = (each >= best[:, None] * (1 - 1e-9)) & (each > 0)
            confidence = ratio(best, weights.sum(axis=1))
        truth = self.knowledge.truth[self.persons][:, None]
        is_true = top & (truth >= 0) & (self.classes[self.rows] == self.classes[truth])
        right = is_true.sum(axis=1) / np.maximum((top * self.sizes).sum(axis=1), 1)
        rows = np.where(top.any(axis=1), self.rows[np.arange(len(top)), (each * top).argmax(axis=1)], -1)
        return record_outcome(self.knowledge, self.persons, rows, confidence, right, assumption)


def nearest_among(
    points: FloatArray, homes: FloatArray, kinds: IntArray, fits: Sequence[IntArray], k: int = MOST_NEAR
) -> tuple[IntArray, FloatArray, BoolArray]:
    """Return the nearest points of those that fit the kind of each home, how far they are, km, and if there are more.

    `points` and `homes` are unit vectors, NaN without a place; -1 where there are fewer than `k`, or a kind is -1.
    """
    from scipy.spatial import cKDTree

    shape = len(homes), min(k, len(points))
    near, gaps, cut = np.full(shape, -1), np.full(shape, np.inf), np.zeros(len(homes), dtype=bool)
    is_located = np.asarray(np.isfinite(points).all(axis=1))
    kinds = np.where(np.isfinite(homes).all(axis=1), kinds, -1)
    for rows, fitting in zip(class_rows(kinds, len(fits)), fits, strict=True):
        fitting = fitting[is_located[fitting]]
        n = min(k, len(fitting))
        if not (rows.size and n):
            continue
        # Neighbours one after another: the tree's branches are still at hand.
        rows = rows[np.lexsort(np.floor(_CELLS_A_RADIUS * homes[rows]).T)]
        chords, found = cKDTree(points[fitting]).query(homes[rows], k=np.arange(1, n + 1))
        near[rows, :n] = fitting[found]
        gaps[rows, :n] = 2 * EARTH_RADIUS_KM * np.arcsin(np.clip(chords / 2, 0, 1))
        cut[rows] = len(fitting) > k
    return near, gaps, cut


def near_places(knowledge: Knowledge, rng: Generator, k: int = MOST_NEAR) -> Near:
    """Return the released places nearest to those of sampled persons among the records with agreeing labels, in km."""
    released, homes = (unit_vectors(*places_of(table)) for table in (knowledge.release.table, knowledge.known))
    agree, persons = knowledge.agreement, knowledge.sample(rng)
    rows, gaps, cut = nearest_among(released, homes[persons], agree.groups[persons], agree.candidates(), k)
    return Near(knowledge, persons, rows, gaps, (rows >= 0).astype(np.int64), np.arange(len(released)), cut)


def near_records(knowledge: Knowledge, rng: Generator) -> tuple[Near, int]:
    """Return the records nearest to sampled persons in all quasi-identifiers, and how many columns are numbers.

    Numbers differ by the share of the column's range, labels by nothing if they agree and else by 1; an interval is as
    far as its nearer end. The distance is the mean over the columns (Gower 1971).
    """
    persons = knowledge.sample(rng)
    measures = knowledge.once("measures", lambda: [_measure(knowledge, column) for column in knowledge.compared])
    classes, n_classes = class_ids([labels for labels, _, _ in measures])
    row_of = first_rows(classes, n_classes)
    sizes = np.bincount(classes, minlength=n_classes)
    k = min(MOST_NEAR, n_classes)
    nearest_rows, gaps = np.empty((len(persons), k), dtype=np.int64), np.empty((len(persons), k))
    step = max(1, _CELLS // n_classes)
    for start in range(0, len(persons), step):
        chunk = slice(start, start + step)
        total = np.mean([gaps_of(persons[chunk], row_of) for _, gaps_of, _ in measures], axis=0)
        nearest = (
            np.argpartition(total, k - 1, axis=1)[:, :k] if k < n_classes else np.tile(np.arange(k), (len(total), 1))
        )
        nearest_rows[chunk], gaps[chunk] = nearest, np.take_along_axis(total, nearest, axis=1)
    cut = np.full(len(persons), n_classes > k)
    near = Near(knowledge, persons, row_of[nearest_rows], np.round(gaps, 12), sizes[nearest_rows], classes, cut)
    return near, sum(is_number for _, _, is_number in measures)


#: The labels of the records of a column, the gaps between some persons and records, and whether they are of numbers.
_Measure = tuple[IntArray, Callable[[IntArray, IntArray], FloatArray], bool]


def _measure(knowledge: Knowledge, column: str) -> _Measure:
    """Return how far persons and records are apart in a column."""
    compared = knowledge.compared[column]
    numbers = pd.to_numeric(knowledge.known[column].astype(object), errors="coerce").to_numpy(float)
    if pd.api.types.is_numeric_dtype(knowledge.known[column]) and np.isfinite(numbers).any():
        codes, labels = pd.factorize(knowledge.release.table[column].astype(object), use_na_sentinel=False)
        ends = np.array([_ends(label) for label in labels], dtype=float).reshape(-1, 2)
        if not np.isnan(ends).any():
            scale = np.ptp(numbers[np.isfinite(numbers)]) or 1.0
            known, (low, high) = numbers / scale, ends[codes].T / scale

            def beyond(persons: IntArray, rows: IntArray) -> FloatArray:
                x = known[persons][:, None]
                return np.nan_to_num(np.clip(np.maximum(low[rows] - x, x - high[rows]), 0, 1))

            return codes, beyond, True

    def differ(persons: IntArray, rows: IntArray) -> FloatArray:
        return (~compared.agree(persons[:, None], rows)).astype(float)

    return compared.record_codes, differ, False


def _ends(label: Any) -> tuple[float, float]:
    """Return the lowest and highest number that a label stands for; NaN if it is none."""
    if (interval := interval_of(label)) is not None:
        return interval[:2]
    if pd.isna(label) or label == "*":
        return -np.inf, np.inf
    try:
        return float(label), float(label)
    except (TypeError, ValueError):
        return np.nan, np.nan


def posterior(near: Near, dimensions: int, power: int = 2) -> FloatArray:
    """Return the probability of each candidate under noise with a size estimated from the gaps themselves.

    The intruder needs no knowledge of the method: the size at which the release is likeliest is found by trying, one
    person in ten being allowed to have no record. `power` 2 is normal noise, 1 double exponential. Candidates beyond
    those at hand are taken to lie as densely as these.
    """
    chosen = _size_of_noise(near.part(slice(None, None, 1 + len(near.persons) // _FROM)), dimensions, power)
    lowest = near.gaps.min(axis=1, keepdims=True)
    lowest = (np.where(np.isfinite(lowest), lowest, 0.0) / chosen) ** power
    # Relative to the nearest, so that a person far from all still has a nearest one.
    weights = near.sizes * np.exp(-0.5 * ((near.gaps / chosen) ** power - lowest))
    beyond = _beyond(near, chosen, dimensions, power)[:, None] + 0.5 * np.minimum(lowest, 700)
    beyond = np.exp(np.minimum(beyond, 700))
    return ratio(weights, weights.sum(axis=1, keepdims=True) + beyond)


def _size_of_noise(near: Near, dimensions: int, power: int) -> float:
    """Return the size of the noise, in the gaps' unit, at which they are likeliest."""
    finite = near.gaps[np.isfinite(near.gaps)]
    smallest, largest = (finite[finite > 0].min(), finite.max()) if (finite > 0).any() else (1.0, 1.0)
    best, chosen = -np.inf, smallest / 10
    for scale in np.geomspace(smallest / 10, max(largest, smallest), 48) if dimensions else ():
        density = near.sizes * np.exp(-0.5 * (near.gaps / scale) ** power)
        with np.errstate(divide="ignore"):
            likelihoods = np.log(density.sum(axis=1))
        # Beyond the last candidate the sum would grow with the scale: without it small scales would look likelier.
        likelihoods = np.logaddexp(likelihoods, _beyond(near, scale, dimensions, power)) - dimensions * np.log(scale)
        absent = np.log(_ABSENT) - dimensions * np.log(largest)
        total = np.logaddexp(np.log(1 - _ABSENT) + likelihoods, absent).sum()
        if total > best:
            best, chosen = total, scale
    return chosen


def _beyond(near: Near, scale: float, dimensions: int, power: int) -> FloatArray:
    """Return the logarithm of the weight of the candidates not at hand, if they go on as densely: incomplete gamma."""
    from scipy.special import gammaincc, gammaln

    if not dimensions or not near.cut.any():
        return np.full(len(near.gaps), -np.inf)
    reach = np.where(near.cut, near.gaps.max(axis=1), 1.0)
    reach = np.maximum(reach, 1e-12)
    shape = dimensions / power
    with np.errstate(divide="ignore"):
        mass = np.log(near.sizes.sum(axis=1)) + np.log(gammaincc(shape, 0.5 * (reach / scale) ** power))
    wide = dimensions * (np.log(2) / power + np.log(scale) - np.log(reach))
    return np.where(near.cut, mass + wide + gammaln(shape) + np.log(shape), -np.inf)


def assign(near: Near, weights: FloatArray) -> BoolArray:
    """Mark for each person the candidate, if any, of the likeliest 1:1 assignment."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    m = len(near.rows)
    each = weights / np.maximum(near.sizes, 1)
    people, places = np.nonzero(each > 1e-12)
    cost = 1.0 - np.log(each[people, places])
    # A candidate stands for several records: some of them, others for every person, so that there are enough.
    order = np.argsort(near.classes, kind="stable")
    first = np.searchsorted(near.classes[order], near.classes[near.rows[people, places]])
    size = near.sizes[people, places]
    turns = [(np.flatnonzero(size > turn), turn) for turn in range(min(_COPIES, int(size.max(initial=1))))]
    edges = [(people[e], order[first[e] + (people[e] + turn) % size[e]], cost[e]) for e, turn in turns]
    # Any person may stay without a record, at a price above that of any.
    n_records = len(near.classes)
    edges.append((np.arange(m), n_records + np.arange(m), np.full(m, cost.max(initial=1.0) + 10.0)))
    rows, columns, prices = (np.concatenate(part) for part in zip(*edges, strict=True))
    record = min_weight_full_bipartite_matching(csr_array((prices, (rows, columns)), (m, n_records + m)))[1]
    assigned = np.append(near.classes, np.full(m, -1))[record]
    return (near.classes[near.rows] == assigned[:, None]) & (each > 1e-12)
