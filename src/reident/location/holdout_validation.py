"""Attack. Validate a map from hidden coordinates by values withheld while it is built."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import bdtrc

from reident.base import BoolArray, FloatArray, Generator
from reident.kernels.location import trilateration_columns
from reident.location.joint_fit import linearised
from reident.location.local_maps import EXACT_KM, LocalMap
from reident.location.spherical_mds import gaps_km

# Share of the recovered values that the map does not see.
_SHARE = 0.05
# Columns are alike, perhaps parts of one, where more than half of so many common values agree to so many tolerances.
_SHARED, _ALIKE = 6, 10.0
# Chance is counted within a kilometre at least, and among so many neighbours of each record.
_WITHIN_KM, _NEIGHBOURS = 1.0, 5
# A place is wrong from so many tolerances off, and from so many km.
_OFF_TOLERANCES, _OFF_KM = 5.0, 1e-3
# Equations that deviate by so many tolerances count for standard errors; a ridge for what no equation fixes, per km^2;
# the factor by which errors that values share exceed those of independent values.
_FITTED, _RIDGE, _SHARED_ERRORS = 3.0, 1e-8, 2.0


class HeldOut(NamedTuple):
    """Share of withheld values that a map explains, their number, and the p-value."""

    share: float = np.nan
    n: int = 0
    p_value: float = 1.0


def hide(values: FloatArray, tol: float, rng: Generator) -> tuple[BoolArray, BoolArray]:
    """Draw values (d, n) for the certificate; return them, and all values to be withheld from the map.

    A record's values in columns that are alike are one piece of evidence: the first is drawn, all are withheld.
    """
    alike = _alike(values, tol)
    chosen_values = np.isfinite(values) & (rng.random(values.shape) < _SHARE)
    withheld = _first_of_each(chosen_values, alike)
    unseen = (alike.astype(float) @ withheld) > 0
    return withheld, unseen & np.isfinite(values)


def _first_of_each(chosen: BoolArray, alike: BoolArray) -> BoolArray:
    """Return the values (d, n) chosen, of those of a record in columns that are alike the first alone."""
    return chosen & ((np.tril(alike, -1).astype(float) @ chosen) == 0)


def _alike(values: FloatArray, tol: float) -> BoolArray:
    """Return the pairs of columns (d, d) that agree, up to shift and sign, on most common records; chains are one."""
    d = len(values)
    alike = np.eye(d, dtype=np.bool_)
    for i in range(d):
        for j in range(i):
            both = np.isfinite(values[i]) & np.isfinite(values[j])
            if both.sum() < _SHARED:
                continue
            for apart in (values[i, both] - values[j, both], values[i, both] + values[j, both]):
                if (np.abs(apart - np.median(apart)) < _ALIKE * tol).mean() > 0.5:
                    alike[i, j] = True
    group = connected_components(alike, directed=False)[1]
    return np.asarray(group[:, None] == group)


def by_record(island: LocalMap) -> FloatArray:
    """Return, for each record, the probability of its values at a wrong place; nan where not located.

    Wrong is off by more than a metre and more than five tolerances: a value agrees there where it looks across the way
    to the true place, by chance of any direction. Two values agree since their circles cross at the place; each pair of
    circles is a try, of which those among the values that agree are one. With a step, the noise of all values must not
    move the place so far either, where it counts twice: values share their errors, and secret points bend.
    """
    deviation, _ = island.deviations()
    compared = _first_of_each(np.isfinite(deviation), _alike(island.values, island.tol))
    n_compared = compared.sum(axis=0)
    n_right = (compared & (np.abs(deviation) < island.tol)).sum(axis=0)
    off_km = max(_OFF_TOLERANCES * island.tol, _OFF_KM)
    agrees = 2 / np.pi * np.arcsin(island.tol / off_km)
    beyond = bdtrc(np.maximum(n_right - 3, 0), np.maximum(n_compared - 2, 1), agrees)
    tries = n_compared * (n_compared - 1) / np.maximum(n_right * (n_right - 1) / 2, 1)
    p_value = np.where(n_right > 2, np.minimum(tries * beyond, 1.0), 1.0)
    if island.tol > EXACT_KM:
        p_value = np.maximum(p_value, np.exp(-((off_km / (_SHARED_ERRORS * standard_errors_km(island))) ** 2) / 2))
    return np.where(island.located, p_value, np.nan)


def standard_errors_km(island: LocalMap) -> FloatArray:
    """Return the standard error of each record's place, km, after one motion of all; nan where not located.

    From the equations of the whole map at once: a record whose secret points rest on few others moves with them.
    """
    _, (record, reference, column, value) = island.equations(_FITTED)
    rows = np.flatnonzero(island.located)
    n, points = rows.size, np.concatenate([island.x[rows], island.flat_references()])
    equations = np.searchsorted(rows, record), n + reference, column, value
    off, slopes, at = linearised(points, island.shift, equations)
    shape = len(off), 2 * len(points) + len(island.shift)
    matrix = sparse.csr_array((slopes.ravel(), (np.repeat(np.arange(len(off)), 5), at.ravel())), shape)
    surplus = len(off) - np.unique(at).size
    normal = (matrix.T @ matrix).toarray()
    normal[np.diag_indices(len(normal))] += _RIDGE
    spread = np.linalg.inv(normal)[: 2 * n, : 2 * n] * (off @ off) / max(surplus, 1)
    # A motion of all records is no error.
    motions = _motions(island.x[rows])
    spread -= motions @ (motions.T @ spread)
    spread -= (spread @ motions) @ motions.T
    by_record = spread.reshape(n, 2, n, 2)[np.arange(n), :, np.arange(n)]
    errors = np.full(len(island.x), np.nan)
    errors[rows] = np.sqrt(np.maximum(np.linalg.eigvalsh(by_record)[:, 1], 0))
    return errors


def _motions(x: FloatArray) -> FloatArray:
    """Return orthonormal moves (2 n, 3) along east and north that are motions of the sphere."""
    sides = [trilateration_columns.shifted(x, np.tile(side, (len(x), 1))) - x for side in ((1.0, 0.0), (0.0, 1.0))]
    moves = np.stack([np.cross(x, side) for side in sides], axis=1)
    return np.asarray(np.linalg.qr(moves.reshape(-1, 3))[0])


def certify(island: LocalMap, values: FloatArray, withheld: BoolArray, rng: Generator) -> HeldOut:
    """Return the share of the withheld values that an island explains, and its p-value.

    By chance, values fit as often as other values of the same set, of any record or of the nearest ones, whichever fit
    better: the share of these within the tolerance, or, where that is below a kilometre, within a kilometre, scaled
    down. A map that is right but roughly explains its neighbours' values as well as its own.
    """
    deviation, _ = island.deviations(np.where(withheld, values, np.nan))
    deviation = deviation[np.isfinite(deviation)]
    if not deviation.size:
        return HeldOut()
    right = int((np.abs(deviation) < island.tol).sum())
    shuffled = [np.array([rng.permutation(row) for row in values])]
    chance = max(_share_by_chance(island, shuffled), _share_by_chance(island, _of_neighbours(island, values)))
    p_value = float(bdtrc(right - 1, deviation.size, min(chance, 1.0))) if right else 1.0
    return HeldOut(right / deviation.size, deviation.size, p_value)


def _of_neighbours(island: LocalMap, values: FloatArray) -> list[FloatArray]:
    """Return the values with, in the place of each located record's, those of one of its neighbours on the map."""
    rows = np.flatnonzero(island.located)
    km = gaps_km(island.x[rows, None], island.x[None, rows])
    np.fill_diagonal(km, np.inf)
    order = np.argsort(km, axis=1)[:, : min(_NEIGHBOURS, rows.size - 1)]
    mixed = []
    for neighbours in order.T:
        other = np.full(values.shape, np.nan)
        other[:, rows] = values[:, rows[neighbours]]
        mixed.append(other)
    return mixed


def _share_by_chance(island: LocalMap, mixed: list[FloatArray]) -> float:
    """Return the share of misplaced values that agree to the tolerance, scaled down from a kilometre."""
    off = np.concatenate([island.deviations(values)[0].ravel() for values in mixed])
    off = off[np.isfinite(off)]
    if not off.size:
        return 1.0
    within_km = max(island.tol, _WITHIN_KM)
    return max(float((np.abs(off) < within_km).mean()), 1 / off.size) * island.tol / within_km
