"""Attack. Validate the place of each record by split halves: parts of the file without a common region must agree.

A wrong map is often a stable one: halves drawn at random, or a bootstrap, keep the outline of the cloud and give the
same wrong place twice. Halves on either side of a line have only the map in common.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from reident.base import FloatArray, IntArray
from reident.location.spherical_mds import RADIUS_KM, gaps_km

#: Records below which a half is too small to be laid by itself.
MIN_HALF = 12


def regional_halves(x: FloatArray) -> list[tuple[IntArray, IntArray]]:
    """Return the records on either side of a line through the cloud's middle, and of the line perpendicular to it.

    The first line cuts the cloud across its longest direction.
    """
    centred = x - x.mean(axis=0)
    directions = np.linalg.svd(centred, full_matrices=False)[2][:2]
    halves = []
    for direction in directions:
        along = np.argsort(centred @ direction, kind="stable")
        halves.append((np.sort(along[: len(x) // 2]), np.sort(along[len(x) // 2 :])))
    return halves


def agreement_km(x: FloatArray, align: Callable[[IntArray], FloatArray]) -> FloatArray:
    """Return, for each record, the distance between its places by either half of the records, km.

    `align(rows)` returns the places of all records by the records `rows` alone. The larger distance of the two cuts
    counts; inf where a half is too small.
    """
    worst = np.zeros(len(x))
    for halves in regional_halves(x):
        if min(map(len, halves)) < MIN_HALF:
            return np.full(len(x), np.inf)
        first, second = (align(rows) for rows in halves)
        worst = np.maximum(worst, gaps_km(first, second))
    return worst


def chance_by_others(x: FloatArray, others: Sequence[FloatArray], agreement_km: FloatArray) -> FloatArray:
    """Return the share of pairs of wrong maps that put each record as near to one another as two right ones should.

    `others` are motions, shape (k, 3, 3), that align the first half of a cut in wrong headings, then the second half,
    then those of the next cut. A cloud that is small against its map finds the densest town in any heading: the maps of
    its halves agree whether they are right or not, and their agreement is no evidence.
    """
    near = np.cos(np.minimum(agreement_km / RADIUS_KM, np.pi)) - 1e-15
    agreeing, n_pairs = np.zeros(len(x)), 0
    for first, second in zip(others[::2], others[1::2], strict=True):
        other_places = x @ second.swapaxes(1, 2)
        for motion in first:
            agreeing += ((other_places * (x @ motion.T)).sum(axis=2) >= near).sum(axis=0)
        n_pairs += len(first) * len(second)
    return agreeing / n_pairs if n_pairs else np.ones(len(x))


def chance_of_agreement(agreement_km: FloatArray, surface_km2: float, n_tries: ArrayLike = 1) -> FloatArray:
    """Return the chance that two wrong maps put a record so near to one another.

    A wrong map puts it anywhere on the surface: the second place falls within g of the first with probability pi g^2 /
    surface. Only one of the two cuts is counted, since wrong maps of both may have the same cause; `n_tries` maps among
    which the best was taken multiply it.
    """
    return np.asarray(np.minimum(1.0, np.asarray(n_tries) * (np.pi / surface_km2) * agreement_km**2))
