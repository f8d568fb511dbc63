"""Lipschitz embedding, tolerance intervals and the attacks that locate, against their goals or plain numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from shapely import box

from benchmarks._rows import Row, seconds, within
from benchmarks.great_circle import filled
from reident import embed_distances, great_circle_km, perturb_distances, registration_attack, tolerance_intervals
from reident.kernels.places.lipschitz import chebyshev_matrix

_AREA = box(6, 47.3, 15, 55)


def _places(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.uniform(47.3, 55, n), rng.uniform(6, 15, n)


def _small() -> list[Row]:
    return [_embedding(), _against_numpy()]


def _embedding() -> Row:
    lat, lon = _places(500)
    options: dict[str, Any] = {"n_reference_sets": 500, "reference_set_size": 30, "area": _AREA, "rng": 1}
    return within("embed 500 places, d=500, k=30", seconds(lambda: embed_distances(lat, lon, **options)), 0.1)


def _against_numpy() -> Row:
    coordinates = np.random.default_rng(0).random((100, 500))

    def plain() -> np.ndarray:
        out = np.zeros((500, 500))
        for row in coordinates:
            np.maximum(out, np.abs(row[:, None] - row[None, :]), out=out)
        return out

    ours = seconds(lambda: chebyshev_matrix(coordinates, np.empty((500, 500))))
    return Row("largest differences, 500 places, d=100", ours, "numpy, set by set", seconds(plain))


def _intervals() -> list[Row]:
    lat, lon = _places(500)
    found = []
    for d, allowed_s in ((20, 3.0), (500, 10.0)):
        options: dict[str, Any] = {"n_reference_sets": d, "reference_set_size": 10, "area": _AREA, "alpha": 0.5}
        ours = seconds(lambda o=options: tolerance_intervals(lat, lon, **o, n_simulations=100, rng=1), 1)
        found.append(within(f"intervals of 124,750 pairs, d={d}, 100 simulations", ours, allowed_s))
    return found


def _large() -> list[Row]:
    lat, lon = _places(20_000)
    options: dict[str, Any] = {"n_reference_sets": 20, "reference_set_size": 30, "area": _AREA, "rng": 1}
    ours = seconds(lambda: embed_distances(lat, lon, **options))
    return [Row("embed 20,000 places, d=20, k=30", ours, "filling a matrix", seconds(lambda: filled(20_000)), 1 / 3)]


def _registration() -> list[Row]:
    lat, lon = _places(950)
    labels = np.random.default_rng(1).integers(0, 22, 950)
    people = pd.DataFrame({"label": labels, "lat_deg": lat, "lon_deg": lon})
    original, known = people.iloc[:500], people.iloc[450:]
    released = perturb_distances(great_circle_km(original["lat_deg"], original["lon_deg"]), sigma_km=5.0, rng=1)
    ours = seconds(lambda: registration_attack((original[["label"]], released), known, quasi="label", rng=1), 1)
    return [within("registration, 500 + 500 records, 50 in common", ours, 5.0)]


GROUPS = {"small": _small, "intervals": _intervals, "large": _large, "registration": _registration}
