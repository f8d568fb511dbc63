"""Great-circle distance matrices against filling a matrix and against scikit-learn."""

import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from reident import great_circle_km


@numba.njit(parallel=True)
def _fill_rows(out):
    for i in numba.prange(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = i


def _fill(n: int) -> np.ndarray:
    out = np.empty((n, n))
    _fill_rows(out)
    return out


def _seconds(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def rows() -> list[dict[str, Any]]:
    """Time matrices of 20,000 points in one country and worldwide, and of 5,000 against scikit-learn."""
    from sklearn.metrics.pairwise import haversine_distances

    rng = np.random.default_rng(1)
    country = rng.uniform(47, 55, 20_000), rng.uniform(6, 15, 20_000)
    world = np.degrees(np.arcsin(rng.uniform(-1, 1, 20_000))), rng.uniform(-180, 180, 20_000)
    small = world[0][:5000], world[1][:5000]
    radians = np.radians(np.column_stack(small))
    tasks = [
        ("20,000 x 20,000 km, one country", lambda: great_circle_km(*country), "filling", lambda: _fill(20_000)),
        ("20,000 x 20,000 km, worldwide", lambda: great_circle_km(*world), "filling", lambda: _fill(20_000)),
        ("5,000 x 5,000 km", lambda: great_circle_km(*small), "scikit-learn", lambda: haversine_distances(radians)),
    ]
    out = []
    for task, ours, rival, theirs in tasks:
        ours(), theirs()
        pairs = [(_seconds(ours), _seconds(theirs)) for _ in range(5)]
        ours_s, rival_s = np.median(pairs, axis=0)
        ratio = float(np.median([b / a for a, b in pairs]))
        out.append({"task": task, "ours_s": ours_s, "rival": rival, "rival_s": rival_s, "ratio": ratio, "note": ""})
    return out
