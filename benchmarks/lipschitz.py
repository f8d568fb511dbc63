"""Lipschitz embedding, tolerance intervals and the attacks that locate, against their goals or plain numpy."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from shapely import box

from benchmarks._rows import Row, seconds, timed, within
from benchmarks.great_circle import filled
from reident import embed_distances, great_circle_km
from reident.data.datasets import load_census_shares, load_places
from reident.data.simulate import population
from reident.kernels.places.lipschitz import chebyshev_matrix
from reident.location import locate_by_population, locate_by_reference_sets, recover_coordinates, registration_attack
from reident.places import perturb_distances, tolerance_intervals

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

    ours = seconds(lambda: chebyshev_matrix(coordinates, 0, 500, np.empty((500, 500))))
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


def drawn_people(n: int) -> pd.DataFrame:
    lat, lon = _places(n)
    return pd.DataFrame({"label": np.random.default_rng(1).integers(0, 22, n), "lat_deg": lat, "lon_deg": lon})


def people_km(people: pd.DataFrame) -> np.ndarray:
    return great_circle_km(people["lat_deg"], people["lon_deg"])


def _cpu(task: str, call: Callable[[], Any], allowed_s: float, note: str = "") -> Row:
    """Time one run by the processor's clock: these take long, and a busy machine distorts the clock on the wall."""
    ours, _ = timed(call, time.process_time)
    return within(task, ours, allowed_s, f"processor's seconds, one run{note}")


def _registration() -> list[Row]:
    found = []
    for n, common, sigma_km, allowed_s in ((500, 50, 5.0, 5.0), (1000, 100, 5.0, 10.0)):
        people = drawn_people(2 * n - common)
        original, known = people.iloc[:n], people.iloc[n - common :]
        released = original[["label"]], perturb_distances(people_km(original), sigma_km=sigma_km, rng=1)
        registration_attack((original[["label"]].iloc[:50], released[1][:50, :50]), known, quasi="label", rng=1)
        task = f"registration, {n:,} + {n:,} records, {common} in common"
        found.append(_cpu(task, lambda r=released, k=known: registration_attack(r, k, quasi="label", rng=1), allowed_s))
    return found


#: Located by a process of its own, which tells its seconds and the most memory, bytes, that it ever held.
_LOCATE = """
import time
import pandas as pd
from benchmarks._rows import peak_gib
from benchmarks.lipschitz import drawn_people, people_km
from reident.location import multilateration_attack
everybody = drawn_people(10_000)
released = everybody[["label"]], people_km(everybody)
links = pd.DataFrame({"release": everybody.index[::200], "known": everybody.index[::200]})
few = everybody.iloc[:1000]
multilateration_attack((few[["label"]], released[1][:1000, :1000]), links[links["release"] < 1000], few, rng=1)
began = time.process_time()
multilateration_attack(released, links, everybody, rng=1)
print(time.process_time() - began, peak_gib() * 2**30)
"""
#: Bytes that it may hold, the matrix of 0.8 GB among them.
_ALLOWED_BYTES = 4e9


def _matches() -> list[Row]:
    done = subprocess.run(
        [sys.executable, "-c", _LOCATE], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1]
    )
    ours, most = map(float, done.stdout.split())
    note = f"processor's seconds, one run, at most {most / 1e9:.1f} of {_ALLOWED_BYTES / 1e9:.0f} GB held"
    stopped = "ours" if most > _ALLOWED_BYTES else ""
    return [within("10,000 records located from 50 matches", ours, 30.0, note, stopped=stopped)]


def _opened() -> list[Row]:
    lat, lon = _places(2000)
    released = embed_distances(lat, lon, n_reference_sets=20, reference_set_size=30, area=_AREA, rng=1)
    few = released[:500, :500]
    people = drawn_people(2000).iloc[:500]
    recover_coordinates(few[:60, :60])
    return [
        _cpu("coordinates of 500 records, d=20, k=30", lambda: recover_coordinates(few), 5.0),
        _cpu("coordinates of 2,000 records, d=20, k=30", lambda: recover_coordinates(released), 300.0),
        _cpu("500 records located, a file without labels", lambda: locate_by_reference_sets(few, known=people), 120.0),
    ]


def _towns() -> list[Row]:
    towns = load_places("germany")
    found = []
    for n, allowed_s in ((500, 2.0), (2000, 20.0), (10_000, 30.0)):
        distances = people_km(population(towns, n, jitter_km=11.0, shares=load_census_shares(), rng=1))
        locate_by_population(distances[:60, :60], towns)
        found.append(
            _cpu(f"{n:,} records on a list of towns", lambda d=distances: locate_by_population(d, towns), allowed_s)
        )
    return found


GROUPS = {
    "small": _small,
    "intervals": _intervals,
    "large": _large,
    "registration": _registration,
    "matches": _matches,
    "opened": _opened,
    "towns": _towns,
}
