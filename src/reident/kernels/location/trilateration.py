"""Trilateration of records and secret points from distances to the nearest secret point of each set.

Points are unit vectors. `f` (d, n) holds distances, km, of records to the nearest place of each set (nan: not known),
`references` (d, most, 3) the places found, `counts` (d,) how many of them.
"""

import numpy as np

from reident.base import EARTH_RADIUS_KM
from reident.kernels._argsort import argsort
from reident.kernels._numba import jit
from reident.kernels.location.tangents import (
    chord2,
    copy_point,
    cross_circles,
    dot,
    km_between,
    lead_away,
    move,
    tangents,
)

_FAILED = 500  # starts of a record without a place that are remembered


@jit
def nearest_reference(p, references, count):
    """Return the nearest of the first `count` references, and its distance, km."""
    best, which = np.inf, -1
    for j in range(count):
        square = chord2(p, references[j])
        if square < best:
            best, which = square, j
    if which < 0:
        return which, np.inf
    return which, km_between(p, references[which])


@jit
def fit_to(p, anchors, km, m, scale, steps):
    """Move p, in place, so that its distances to the first m anchors are `km`; those `scale` km off lose weight."""
    east, north, away = np.empty(3), np.empty(3), np.empty(3)
    for _ in range(steps):
        tangents(p, east, north)
        h11 = h22 = 1e-12
        h12 = g1 = g2 = 0.0
        for i in range(m):
            e = lead_away(p, anchors[i], away) - km[i]
            w = (scale * scale / (scale * scale + e * e)) ** 2
            a, b = dot(away, east), dot(away, north)
            h11, h12, h22 = h11 + w * a * a, h12 + w * a * b, h22 + w * b * b
            g1, g2 = g1 + w * a * e, g2 + w * b * e
        det = h11 * h22 - h12 * h12
        if det < 1e-14:
            return
        u, v = (h22 * g1 - h12 * g2) / det, (h11 * g2 - h12 * g1) / det
        move(p, east, north, -u, -v)
        if abs(u) + abs(v) < 1e-4 * scale:
            return


@jit
def _fit_record(p, f, references, counts, tol, needed, anchors, km):
    """Move p, in place, to where its distances to the nearest references are `f` (d,); stop where few come near."""
    for scale in (20.0, 5.0, 2.0):
        m = close = 0
        for i in range(f.shape[0]):
            if not np.isnan(f[i]) and counts[i] > 0:
                which, away_km = nearest_reference(p, references[i], counts[i])
                copy_point(anchors[m], references[i, which])
                km[m] = f[i]
                close += abs(away_km - f[i]) < scale * tol
                m += 1
        if close < needed and scale < 20:
            return
        fit_to(p, anchors, km, m, scale * tol, 6)


@jit
def judge_place(p, f, references, counts, tol):
    """Return the coordinates that a place explains to `tol`, those that it contradicts, and those it was required for.

    A reference nearer than the coordinate contradicts it; one farther away may be one that is not found yet.
    """
    right = wrong = required = 0
    for i in range(f.shape[0]):
        if np.isnan(f[i]) or counts[i] == 0:
            continue
        required += 1
        e = nearest_reference(p, references[i], counts[i])[1] - f[i]
        right += abs(e) < tol
        wrong += e < -5 * tol
    return right, wrong, required


@jit
def place_record(z, near, distances, f, x, references, counts, tol, needed, support_ratio, best):
    """Find the place of record z from located records near it; write it into `best` (3,) and return whether it holds.

    It must explain `needed` values, and `support_ratio` times as many as it contradicts. Candidates are the crossings
    of two circles round references that are nearest to a neighbour; one within four tolerances of a failed one is
    skipped.
    """
    d, capacity = f.shape[0], 24
    failed, n_failed = np.empty((_FAILED, 3)), 0
    some, n_some = np.empty((d, references.shape[1], 3)), np.empty(d, dtype=np.int64)
    circles = np.empty((2 * capacity, 3))
    radii = np.empty(2 * capacity)
    crossing = np.empty((2, 3))
    fz = np.ascontiguousarray(f[:, z])
    p = np.empty(3)
    anchors, km = np.empty((d, 3)), np.empty(d)
    n_known = 0
    for i in range(d):
        n_known += not np.isnan(fz[i]) and counts[i] > 0
    if n_known < needed:
        return False
    for y in near:
        reach = 1.6 * distances[z, y] + 4.0
        # The references that may be nearest to a place up to `reach` km from the neighbour alone decide there.
        for i in range(d):
            n_some[i] = 0
            _, nearest_km = nearest_reference(x[y], references[i], counts[i])
            for j in range(counts[i]):
                if km_between(x[y], references[i, j]) <= nearest_km + 2.001 * reach:
                    copy_point(some[i, n_some[i]], references[i, j])
                    n_some[i] += 1
        m = 0
        for step in range(d):
            i = (step + z) % d
            if np.isnan(fz[i]) or counts[i] == 0 or m >= capacity:
                continue
            which, away_km = nearest_reference(x[y], references[i], counts[i])
            if abs(away_km - fz[i]) <= reach:
                copy_point(circles[m], references[i, which])
                radii[m] = fz[i]
                m += 1
        top = 0
        for a in range(m):
            for b in range(a):
                if not cross_circles(circles[a], radii[a], circles[b], radii[b], crossing):
                    continue
                for side in range(2):
                    if km_between(crossing[side], x[y]) > reach:
                        continue
                    near_failed = False
                    for j in range(n_failed):
                        near_failed |= chord2(crossing[side], failed[j]) < (4 * tol / EARTH_RADIUS_KM) ** 2
                    if near_failed:
                        continue
                    right, wrong, _ = judge_place(crossing[side], fz, some, n_some, 20 * tol)
                    if right - wrong <= max(top, 2):
                        continue
                    copy_point(p, crossing[side])
                    _fit_record(p, fz, references, counts, tol, needed, anchors, km)
                    right, wrong, required = judge_place(p, fz, references, counts, tol)
                    if right < needed and n_failed < _FAILED:
                        copy_point(failed[n_failed], crossing[side])
                        n_failed += 1
                    if right >= needed and wrong * support_ratio <= right and right - wrong > top:
                        top = right - wrong
                        copy_point(best, p)
                        if 2 * right > required and wrong == 0:
                            return True
        if top > 0:
            return True
    return False


@jit
def nearest_located(z, distances, located, m):
    """Return the (at most m) located records with the smallest distances to z."""
    out = np.empty(m, dtype=np.int64)
    key = np.full(m, np.inf)
    n_near = 0
    for y in range(located.shape[0]):
        if not located[y] or y == z or not distances[z, y] < key[m - 1]:
            continue
        at = m - 1
        while at > 0 and key[at - 1] > distances[z, y]:
            key[at], out[at] = key[at - 1], out[at - 1]
            at -= 1
        key[at], out[at] = distances[z, y], y
        n_near = min(n_near + 1, m)
    return out[:n_near]


@jit
def add_records(distances, f, x, located, references, counts, tol, needed, support_ratio, n_near, tried):
    """Place every record that can be placed, the ones near located records first, in place; returns how many.

    A record is not tried again before four more references are known (`tried`).
    """
    n = located.shape[0]
    total = counts.sum()
    gap = np.full(n, np.inf)
    for z in range(n):
        if not located[z]:
            for y in range(n):
                if located[y] and distances[z, y] < gap[z]:
                    gap[z] = distances[z, y]
    place = np.empty(3)
    added = 0
    for z in argsort(gap):
        if located[z] or not gap[z] < np.inf or tried[z] > total - 4:
            continue
        near = nearest_located(z, distances, located, n_near)
        if place_record(z, near, distances, f, x, references, counts, tol, needed, support_ratio, place):
            copy_point(x[z], place)
            located[z] = True
            added += 1
        else:
            tried[z] = total
    return added


@jit
def _judge_reference(r, x, f, records, open_, tol):
    """Return how many unexplained records a reference explains, and how many it lies too near to."""
    right = wrong = 0
    for y in records:
        e = km_between(r, x[y]) - f[y]
        right += open_[y] and abs(e) < tol
        wrong += e < -5 * tol
    return right, wrong


@jit
def add_references(f, x, located, references, counts, tol, needed, support_ratio, tried):
    """Find references where circles round unexplained records cross, in place; returns how many."""
    d, n = f.shape
    added = 0
    crossing = np.empty((2, 3))
    r = np.empty(3)
    for i in range(d):
        records = np.flatnonzero(located & ~np.isnan(f[i]))
        if records.size < needed:
            continue
        fi = f[i]
        open_ = np.zeros(n, dtype=np.bool_)
        for y in records:
            open_[y] = nearest_reference(x[y], references[i], counts[i])[1] - fi[y] > 5 * tol
        for a in records[argsort(fi[records])]:
            if not open_[a] or tried[i, a] > records.size - 3 or counts[i] >= references.shape[1]:
                continue
            tried[i, a] = records.size
            unexplained = np.array([y for y in records if open_[y] and y != a] + [0])[:-1]
            km = np.array([km_between(x[a], x[y]) for y in unexplained])
            is_found = False
            for which in argsort(km)[:12]:
                b = unexplained[which]
                if not cross_circles(x[a], fi[a], x[b], fi[b], crossing):
                    continue
                for side in range(2):
                    right, wrong = _judge_reference(crossing[side], x, fi, records, open_, 20 * tol)
                    if right < needed or wrong * support_ratio > right:
                        continue
                    copy_point(r, crossing[side])
                    near = records[np.array([abs(km_between(r, x[y]) - fi[y]) < 60 * tol for y in records])]
                    for scale in (20.0, 5.0, 2.0):
                        fit_to(r, x[near], fi[near], near.size, scale * tol, 6)
                    right, wrong = _judge_reference(r, x, fi, records, open_, tol)
                    if right >= needed and wrong * support_ratio <= right:
                        is_found = True
                        break
                if is_found:
                    break
            if is_found:
                copy_point(references[i, counts[i]], r)
                counts[i] += 1
                added += 1
                for y in records:
                    open_[y] = open_[y] and abs(km_between(r, x[y]) - fi[y]) > 5 * tol
                tried[i, a] = 0
    return added


@jit
def deviations(f, x, located, references, counts, which):
    """Return (d, n) distances to the nearest reference less `f`, nan where not asked, and the references in `which`."""
    d, n = f.shape
    out = np.full((d, n), np.nan)
    for i in range(d):
        if counts[i] == 0:
            continue
        for y in range(n):
            if located[y] and not np.isnan(f[i, y]):
                j, km = nearest_reference(x[y], references[i], counts[i])
                which[i, y] = j
                out[i, y] = km - f[i, y]
    return out
