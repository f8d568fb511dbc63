"""Lipschitz embedding, tolerance intervals and the attacks that locate, against their goals or plain numpy."""

from __future__ import annotations

import time
from typing import Any

import numba
import numpy as np
from shapely import box

from reident import embed_distances, great_circle_km, perturb_distances, registration_attack, tolerance_intervals
from reident.kernels._jit import parallel_jit
from reident.kernels.lipschitz import chebyshev_matrix, lipschitz_coordinates

_AREA = box(6, 47.3, 15, 55)


def _places(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.uniform(47.3, 55, n), rng.uniform(6, 15, n)


def _best(task: Any, repeats: int = 3) -> float:
    task()
    spent = []
    for _ in range(repeats):
        began = time.perf_counter()
        task()
        spent.append(time.perf_counter() - began)
    return float(np.median(spent))


@parallel_jit
def _filled(n):  # type: ignore[no-untyped-def]
    out = np.empty((n, n))
    for i in numba.prange(n):
        for j in range(n):
            out[i, j] = i + j
    return out


def _row(task: str, ours: float, rival: str, rival_s: float | None, note: str = "") -> dict[str, Any]:
    ratio = None if rival_s is None else rival_s / ours
    return {"task": task, "ours_s": ours, "rival": rival, "rival_s": rival_s, "ratio": ratio, "note": note}


def rows() -> list[dict[str, Any]]:
    """Return one row a task."""
    return [_embedding(), _against_numpy(), *_intervals(), _large(), _registration()]


def _embedding() -> dict[str, Any]:
    lat, lon = _places(500)
    options: dict[str, Any] = {"n_reference_sets": 500, "reference_set_size": 30, "area": _AREA, "rng": 1}
    ours = _best(lambda: embed_distances(lat, lon, **options))
    return _row("embed 500 places, d=500, k=30", ours, "goal", 0.1)


def _against_numpy() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    coordinates = rng.random((100, 500))

    def plain() -> np.ndarray:
        out = np.zeros((500, 500))
        for row in coordinates:
            np.maximum(out, np.abs(row[:, None] - row[None, :]), out=out)
        return out

    ours = _best(lambda: chebyshev_matrix(coordinates))
    return _row("largest differences, 500 places, d=100", ours, "numpy, set by set", _best(plain))


def _intervals() -> list[dict[str, Any]]:
    lat, lon = _places(500)
    found = []
    for d, goal in ((20, 3.0), (500, 10.0)):
        options: dict[str, Any] = {"n_reference_sets": d, "reference_set_size": 10, "area": _AREA, "alpha": 0.5}
        ours = _best(lambda o=options: tolerance_intervals(lat, lon, **o, n_simulations=100, rng=1), 1)
        found.append(_row(f"intervals of 124,750 pairs, d={d}, 100 simulations", ours, "goal", goal))
    return found


def _large() -> dict[str, Any]:
    n = 20_000
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    sets = points[:600].reshape(20, 30, 3).copy()
    ours = _best(lambda: chebyshev_matrix(lipschitz_coordinates(points, sets)), 2)
    filled = _best(lambda: _filled(n), 2)
    return _row("embed 20,000 places, d=20, k=30", ours, "filling a new matrix", filled, "goal: at most 3 times")


def _registration() -> dict[str, Any]:
    import pandas as pd

    lat, lon = _places(950)
    labels = np.random.default_rng(1).integers(0, 22, 950)
    people = pd.DataFrame({"label": labels, "lat_deg": lat, "lon_deg": lon})
    original, known = people.iloc[:500], people.iloc[450:]
    released = perturb_distances(great_circle_km(original["lat_deg"], original["lon_deg"]), sigma_km=5.0, rng=1)
    ours = _best(lambda: registration_attack((original[["label"]], released), known, quasi="label", rng=1), 1)
    return _row("registration, 500 + 500 records, 50 in common", ours, "goal", 5.0)
