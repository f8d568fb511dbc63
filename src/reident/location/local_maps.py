"""Attack. Grow connected local maps from hidden coordinates: records, secret points, column signs and shifts."""

from __future__ import annotations

import numpy as np

from reident.base import BoolArray, FloatArray, IntArray
from reident.kernels.location import trilateration, trilateration_columns
from reident.location.joint_fit import Equations, fit_all
from reident.location.spherical_mds import fit_shape, gaps_km

# Records of a seed, columns that it uses at most, and equations beyond its unknowns that it needs.
_SEED, _SEED_COLUMNS, _SEED_SURPLUS = 14, 30, 20
# Tolerances, km, up to which the values are taken for exact, and up to which so exact that two circles and a third that
# passes their crossing are no accident: such records stay where a fourth value confirms them later.
EXACT_KM, _SUREST_KM = 1e-3, 1e-5
# Values that must agree before a record and a reference is accepted, and located neighbours from which a record is
# tried: strict rules first, the others where these place no more. The wider the tolerance, km, the more values agree by
# chance, and the more are required.
_EXACT = ((5, 4, 1), (4, 4, 4), (4, 3, 8))
LEVELS = {_SUREST_KM: (*_EXACT, (3, 3, 12)), EXACT_KM: _EXACT, 0.05: ((6, 4, 1), (5, 4, 4), (5, 3, 8))}
_WIDEST = ((8, 6, 1), (7, 5, 4), (6, 4, 8))
# An island of so many records is no accident: up to a tolerance, km, further points need fewer values.
_LARGE, _FURTHER_KM, _FURTHER = 40, 0.3, ((6, 4, 1), (5, 4, 4), (5, 3, 8), (4, 3, 12))
# Required ratio of values that support a place to those that contradict it: of rough values every tenth errs, and the
# first places of a map agree by chance more easily under wide tolerances.
_SURE, _ROUGH = 10, 3
# Room for references a set; an embedding that has more of them is found in part.
_MOST = 256


class LocalMap:
    """Records and secret points located in one frame of their own.

    Attributes
    ----------
    values (d, n), distances (n, n)
        Hidden coordinates, km, up to sign and shift, and released distances, nan where missing.
    x (n, 3), located (n,)
        Records as unit vectors.
    sign, shift (d,)
        Distance to the nearest reference = sign value + shift; sign 0 where unknown.
    references (d, most, 3), counts (d,)
        Secret points found.
    """

    def __init__(self, values: FloatArray, distances: FloatArray, tol: float) -> None:
        self.values, self.distances, self.tol = values, distances, tol
        d, n = values.shape
        self.x, self.located = np.zeros((n, 3)), np.zeros(n, dtype=np.bool_)
        self.sign, self.shift = np.zeros(d), np.zeros(d)
        self.references, self.counts = np.zeros((d, _MOST, 3)), np.zeros(d, dtype=np.int64)
        self._fitted = 0
        self._forget()

    def _forget(self) -> None:
        """Allow each search to be tried again."""
        d, n = self.values.shape
        self._record_tried = np.full(n, -(10**6))
        self._reference_tried = np.full((d, n), -(10**6))
        self._column_tried = np.full(d, -(10**6))

    def __len__(self) -> int:
        return int(self.located.sum())

    @property
    def rules(self) -> tuple[tuple[int, int, int], ...]:
        """Values required for a record and a reference, and neighbours tried, the strict rules first."""
        if EXACT_KM < self.tol <= _FURTHER_KM and len(self) >= _LARGE:
            return _FURTHER
        return next((rules for most, rules in LEVELS.items() if self.tol <= most), _WIDEST)

    @property
    def support_ratio(self) -> int:
        """Required ratio of values that support a place to those that contradict it."""
        rough = self.tol > EXACT_KM and (self.tol <= _FURTHER_KM or len(self) >= _LARGE)
        return _ROUGH if rough else _SURE

    @property
    def f(self) -> FloatArray:
        """Distances to the nearest reference, km; nan where unknown."""
        return np.where((self.sign != 0)[:, None], self.sign[:, None] * self.values + self.shift[:, None], np.nan)

    def deviations(self, values: FloatArray | None = None) -> tuple[FloatArray, IntArray]:
        """Return map distances less values (d, n), km, nan where either is missing, and the nearest references."""
        f = self.f if values is None else self.sign[:, None] * values + self.shift[:, None]
        which = np.zeros(f.shape, dtype=np.int64)
        return trilateration.deviations(f, self.x, self.located, self.references, self.counts, which), which

    def seed(self, centre: int) -> bool:
        """Solve for the places of one record and its neighbours at once; return whether they are located."""
        members = np.argsort(np.where(np.isnan(self.distances[centre]), np.inf, self.distances[centre]))[:_SEED]
        between, values = self.distances[np.ix_(members, members)], self.values[:, members]
        filled = np.isfinite(values).sum(axis=1)
        columns = np.argsort(-filled, kind="stable")[:_SEED_COLUMNS]
        columns = columns[filled[columns] >= 6]
        if columns.size < 4:
            return False
        # Short released distances of many sets are nearly the true ones: some set looks along almost every line.
        is_missing = np.isnan(between)
        between = np.where(is_missing, 0.0, between)
        rough = fit_shape(between, np.where(is_missing, np.inf, np.maximum(0.05 * between, 0.3)))
        x, references, sign, shift, is_right = _fit_seed(values[columns], rough.x, self.tol)
        by_column, by_record = is_right.sum(axis=1), is_right.sum(axis=0)
        if np.maximum(by_column - 3, 0).sum() - 2 * members.size <= _SEED_SURPLUS:
            return False
        sure, good = by_column >= 5, by_record >= 5
        self.sign[columns[sure]], self.shift[columns[sure]] = sign[sure], shift[sure]
        self.references[columns[sure], 0], self.counts[columns[sure]] = references[sure], 1
        self.x[members[good]], self.located[members[good]] = x[good], True
        return True

    def grow(self) -> None:
        """Add records, references and columns as long as any can be added."""
        level = 0
        while not self.located.all() and level < len(levels := self.rules):
            records, references, near = levels[level]
            known = (self.x, self.located, self.references, self.counts, self.tol)
            added = trilateration.add_records(
                self.distances, self.f, *known, records, self.support_ratio, near, self._record_tried
            )
            self.adjust()
            added += trilateration.add_references(self.f, *known, references, self.support_ratio, self._reference_tried)
            added += self._orient_columns()
            self.adjust()
            if added == 0:
                level += 1
                self._forget()
            elif level and (added > 5 or level == len(levels) - 1):
                level = 0

    def forget_contradicted(self, slack_km: float) -> None:
        """Drop the records with places nearer together than released distances allow, the worst first."""
        rows = np.flatnonzero(self.located)
        short = self.distances[np.ix_(rows, rows)] - gaps_km(self.x[rows, None], self.x[None, rows]) > slack_km
        while short.any():
            worst = short.sum(axis=1).argmax()
            self.located[rows[worst]] = False
            short[worst], short[:, worst] = False, False

    def forget_unconfirmed(self) -> None:
        """Drop the records, those of the seed too, with fewer agreeing values than any record needs."""
        deviation, _ = self.deviations()
        needed = max(4, min(records for records, _, _ in self.rules))
        self.located &= (np.abs(deviation) < self.tol).sum(axis=0) >= needed

    def _orient_columns(self) -> int:
        """Find sign, shift and a first reference of columns that the seed left open; returns how many."""
        added = 0
        for i in np.flatnonzero(self.sign == 0):
            records = np.flatnonzero(self.located & np.isfinite(self.values[i]))
            if records.size < 8 or self._column_tried[i] > records.size - 5:
                continue
            self._column_tried[i] = records.size
            places = self.x[records]
            starts = np.unique(np.linspace(0, records.size - 1, 25).astype(np.int64))
            near = np.argsort(-places[starts] @ places.T, axis=1)[:, :10].copy()
            first = np.empty(3)
            sign, shift = trilateration_columns.orient_column(places, self.values[i, records], near, self.tol, 6, first)
            if sign:
                self.sign[i], self.shift[i] = sign, shift
                self.references[i, 0], self.counts[i] = first, 1
                added += 1
        return added

    def adjust(self) -> None:
        """Fit places, references and shifts to all equations at once, where they have drifted."""
        size = len(self) + int(self.counts.sum())
        # Rounded values never fit: all is fitted anew when a tenth of it is new.
        if self.tol > EXACT_KM and abs(size - self._fitted) <= size // 10:
            return
        self._fitted = size
        deviation, (record, reference, column, value) = self.equations(40)
        if deviation.size == 0 or np.median(np.abs(deviation)) < 0.01 * self.tol:
            return
        n, points = len(self.x), np.concatenate([self.x, self.flat_references()])
        equations = record, n + reference, column, value
        points, self.shift, _ = fit_all(points, self.shift, equations, 3 * self.tol, 4, damp=1e-6)
        self.x[self.located] = points[:n][self.located]
        self.references[np.arange(_MOST) < self.counts[:, None]] = points[n:]

    def flat_references(self) -> FloatArray:
        """Return the references of all sets, one set after the other."""
        return self.references[np.arange(_MOST) < self.counts[:, None]]

    def turn(self, motion: FloatArray) -> None:
        """Move all points by an orthogonal matrix."""
        self.x, self.references = self.x @ motion.T, self.references @ motion.T

    def equations(self, tolerances: float) -> tuple[FloatArray, Equations]:
        """Return the deviations below so many tolerances, and their record, reference, column and signed value."""
        deviation, which = self.deviations()
        column, record = np.nonzero(np.abs(deviation) < tolerances * self.tol)
        first = np.concatenate([[0], np.cumsum(self.counts)])
        reference, value = first[column] + which[column, record], self.sign[column] * self.values[column, record]
        return deviation[column, record], (record, reference, column, value)


def _fit_seed(
    values: FloatArray, x: FloatArray, tol: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, BoolArray]:
    """Fit the places of a few records, and one reference, sign and shift a column, to values (c, m), from rough places.

    Returns the places, the references, signs, shifts, and which of the values they explain.
    """
    is_known = np.isfinite(values)
    column, record = np.nonzero(is_known)
    sign, shift, references = np.ones(len(values)), np.zeros(len(values)), np.zeros((len(values), 3))
    for i, known in enumerate(is_known):
        lowest, places, shifts = np.inf, np.empty((1, 3)), np.empty(1)
        for side in (1.0, -1.0):
            (cost,) = trilateration_columns.search_cone(x[known], values[i, known], side, 2.0, 1, places, shifts)
            if cost < lowest:
                lowest, sign[i], references[i], shift[i] = cost, side, places[0], shifts[0]
    points = np.concatenate([x, references])
    equations = record, len(x) + column, column, sign[column] * values[is_known]
    for scale in (2.0, 1.0, 0.5, 0.2, 0.1, *(s for s in (0.5, 0.2, 0.1, 0.03, 0.01, 1e-3) if s >= 0.6 * tol)):
        points, shift, residual = fit_all(points, shift, equations, scale, 40)
    is_right = np.zeros_like(is_known)
    is_right[is_known] = np.abs(residual) < tol
    return points[: len(x)], points[len(x) :], sign, shift, is_right
