"""Great-circle distance matrices against filling a matrix and against scikit-learn; the nearest of many places."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pandas as pd

from benchmarks._rows import Row, peak_gib, seconds, timed, within
from reident import great_circle_km


@numba.njit(parallel=True)
def _fill_rows(out):
    for i in numba.prange(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = i


def filled(n: int) -> np.ndarray:
    """Return a new matrix, every number written once: the least that a distance matrix can take."""
    out = np.empty((n, n))
    _fill_rows(out)
    return out


def _world(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return np.degrees(np.arcsin(rng.uniform(-1, 1, n))), rng.uniform(-180, 180, n)


def _small() -> list[Row]:
    from sklearn.metrics.pairwise import haversine_distances

    points = _world(5000)
    radians = np.radians(np.column_stack(points))
    ours, theirs = seconds(lambda: great_circle_km(*points), 5), seconds(lambda: haversine_distances(radians), 5)
    return [Row("5,000 x 5,000 km", ours, "scikit-learn", theirs, 25)]


def _large() -> list[Row]:
    n = 20_000
    rng = np.random.default_rng(1)
    areas: list[tuple[str, Any, float]] = [
        ("one country", (rng.uniform(47, 55, n), rng.uniform(6, 15, n)), 1 / 2),
        ("worldwide", _world(n), 1 / 10),
    ]
    least = seconds(lambda: filled(n), 5)
    return [
        Row(f"20,000 x 20,000 km, {area}", seconds(lambda p=points: great_circle_km(*p), 5), "filling a matrix", least,
            goal)
        for area, points, goal in areas
    ]  # fmt: skip


def _nearest() -> list[Row]:
    """Claim, for every person, the nearest of as many released places, and say how sure that is."""
    from reident.methods.attacks import run_attack
    from reident.methods.release import Knowledge, Release

    def attack(n: int) -> None:
        rng = np.random.default_rng(1)
        known = pd.DataFrame({"lat_deg": rng.uniform(47, 55, n), "lon_deg": rng.uniform(6, 15, n)})
        release = Release("points", known + rng.normal(0, 0.01, (n, 2)), "coordinate_noise", {"sigma_deg": 0.01}, n)
        run_attack("nearest_place", Knowledge(known, [], np.arange(n), n_persons=n, release=release))

    attack(1000)
    n = 1_000_000
    spent, _ = timed(lambda: attack(n))
    return [within(f"nearest of {n:,} released places, {n:,} persons", spent, 30, f"peak {peak_gib():.1f} GiB")]


GROUPS = {"small": _small, "large": _large, "nearest": _nearest}
