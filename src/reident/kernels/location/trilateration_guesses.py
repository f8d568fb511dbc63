"""Trilateration of records by hypothetical secret points: crossings of circles round two located records.

Two records fix a secret point up to its mirror image, unconfirmed. A record that lies on circles round
several points, known or guessed, of as many sets, confirms itself and them. Arguments as in `circles`.
"""

from __future__ import annotations

import numpy as np

from reident.kernels._argsort import argsort
from reident.kernels._numba import jit
from reident.kernels.location.tangents import copy_point, cross_circles, km_between
from reident.kernels.location.trilateration import fit_to, nearest_located, nearest_reference

# Open records with which each open record is paired; circles that are crossed for one record.
_PARTNERS, _CROSSED = 6, 40


@jit
def guess_references(f, x, located, references, counts, tol, out, sets):
    """Write the points where circles round two unexplained records cross, and their sets; return how many there are.

    A point that lies nearer to a located record than its coordinate allows is none.
    """
    m = 0
    crossing = np.empty((2, 3))
    for i in range(f.shape[0]):
        records = np.flatnonzero(located & ~np.isnan(f[i]))
        unexplained = np.array(
            [y for y in records if nearest_reference(x[y], references[i], counts[i])[1] - f[i, y] > 5 * tol] + [0]
        )[:-1]
        for at in range(unexplained.size):
            a = unexplained[at]
            others = unexplained[at + 1 :]
            km = np.array([km_between(x[a], x[y]) for y in others])
            for which in argsort(km)[:_PARTNERS]:
                b = others[which]
                if not cross_circles(x[a], f[i, a], x[b], f[i, b], crossing):
                    continue
                for side in range(2):
                    if m == out.shape[0]:
                        return m
                    near = False
                    for y in records:
                        near |= km_between(crossing[side], x[y]) < f[i, y] - 5 * tol
                    if not near:
                        copy_point(out[m], crossing[side])
                        sets[m] = i
                        m += 1
    return m


@jit
def _agreeing(p, fz, centres, sets, m, tol, anchors, km):
    """Return in how many sets a circle passes the point, its centres and radii written."""
    hits = 0
    last, best = -1, np.inf
    for j in range(m):
        e = km_between(p, centres[j]) - fz[sets[j]]
        if sets[j] != last:
            last, best = sets[j], np.inf
        if abs(e) < min(tol, best):
            if best == np.inf:
                hits += 1
            best = abs(e)
            anchors[hits - 1], km[hits - 1] = centres[j], fz[sets[j]]
    return hits


@jit
def add_by_guesses(distances, f, x, located, references, counts, tol, needed, guessed, guessed_sets):
    """Place the records that lie on circles of `needed` sets round known or guessed points, in place; return how many.

    `guessed` (m, 3) and `guessed_sets` (m,) are what `guess_references` found, a set after the other.
    """
    d, n = f.shape
    room = guessed.shape[0]
    for i in range(d):
        room += counts[i]
    centres, sets = np.empty((room, 3)), np.empty(room, dtype=np.int64)
    known = np.empty(room, dtype=np.bool_)
    anchors, km = np.empty((d, 3)), np.empty(d)
    crossing, p = np.empty((2, 3)), np.empty(3)
    added = 0
    for z in range(n):
        if located[z]:
            continue
        near = nearest_located(z, distances, located, 1)
        if near.size == 0:
            continue
        y = near[0]
        fz = np.ascontiguousarray(f[:, z])
        reach = 1.6 * distances[z, y] + 4.0
        m = g = 0
        for i in range(d):
            while g < guessed_sets.shape[0] and guessed_sets[g] < i:
                g += 1
            if np.isnan(fz[i]):
                continue
            for j in range(counts[i]):
                if abs(km_between(x[y], references[i, j]) - fz[i]) <= reach:
                    centres[m], sets[m], known[m] = references[i, j], i, True
                    m += 1
            for j in range(g, guessed_sets.shape[0]):
                if guessed_sets[j] != i:
                    break
                if abs(km_between(x[y], guessed[j]) - fz[i]) <= reach:
                    centres[m], sets[m], known[m] = guessed[j], i, False
                    m += 1
        sure = np.flatnonzero(known[:m])[:_CROSSED]
        is_found = False
        for a in sure:
            for b in sure:
                if b >= a or sets[a] == sets[b] or is_found:
                    continue
                if not cross_circles(centres[a], fz[sets[a]], centres[b], fz[sets[b]], crossing):
                    continue
                for side in range(2):
                    if is_found or km_between(crossing[side], x[y]) > reach:
                        continue
                    hits = _agreeing(crossing[side], fz, centres, sets, m, 20 * tol, anchors, km)
                    forbidden = hits < needed
                    for i in range(d):
                        if not forbidden and not np.isnan(fz[i]) and counts[i] > 0:
                            nearest_km = nearest_reference(crossing[side], references[i], counts[i])[1]
                            forbidden = nearest_km < fz[i] - 20 * tol
                    if forbidden:
                        continue
                    copy_point(p, crossing[side])
                    fit_to(p, anchors, km, hits, 5 * tol, 6)
                    if _agreeing(p, fz, centres, sets, m, tol, anchors, km) >= needed:
                        is_found = True
                        x[z] = p
                        located[z] = True
                        added += 1
    return added
