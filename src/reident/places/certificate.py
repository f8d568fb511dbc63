"""Attack. A certificate for each record of a map, by parts of the file that share no region and agree on its place.

A wrong map is often a stable one: halves drawn at random, or a bootstrap, keep the outline of the cloud and find the
same wrong place twice. Halves on either side of a line share nothing but the map itself.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from reident._types import FloatArray, IntArray
from reident.places.shape import gaps_km

__all__ = ["MIN_HALF", "agreement_km", "chance_of_agreement", "regional_halves"]

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


def agreement_km(x: FloatArray, lay: Callable[[IntArray], FloatArray | None]) -> FloatArray:
    """Return, for each record, how far apart the maps that either half of the records gives put it, km.

    `lay(rows)` returns the positions of all records on the map found by the records `rows` alone, or None. The larger
    gap of the two cuts counts. inf where a half is too small or finds nothing.
    """
    worst = np.zeros(len(x))
    for halves in regional_halves(x):
        if min(map(len, halves)) < MIN_HALF:
            return np.full(len(x), np.inf)
        maps = [lay(rows) for rows in halves]
        if maps[0] is None or maps[1] is None:
            return np.full(len(x), np.inf)
        worst = np.maximum(worst, gaps_km(maps[0], maps[1]))
    return worst


def chance_of_agreement(agreement_km: FloatArray, surface_km2: float, n_tries: ArrayLike = 1) -> FloatArray:
    """Return the chance that two wrong maps put a record so near to one another.

    A wrong map puts it anywhere on the surface: the second place falls within g of the first with probability pi g^2 /
    surface. Only one of the two cuts is counted, since wrong maps of both may have the same cause; `n_tries` maps among
    which the best was taken multiply it.
    """
    return np.asarray(np.minimum(1.0, np.asarray(n_tries) * (np.pi / surface_km2) * agreement_km**2))
