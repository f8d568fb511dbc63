"""Measure the certificate of `locate_by_reference_sets`: `python -m benchmarks._reference_level [--out FILE] SEED ...`.

A row a release: embeddings, rounded or with noise, and releases that no map can be right about. A seed names people,
sets and noise; seeds below 20000 were looked at while the certificate was built and are refused.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks._reference_sets import add_row, commit, release, secret_sets
from reident.base import FloatArray
from reident.kernels.places.lipschitz import lipschitz_coordinates
from reident.location import locate_by_reference_sets
from reident.location.spherical_mds import gaps_km, procrustes
from reident.places.points import unit_vectors

FRESH_FROM = 20000
#: What is released: rounding and noise, km, and the step that the attack is given.
RELEASES: dict[str, tuple[float, float, float | None]] = {
    "exact": (0.0, 0.0, None),
    "rounded to 1 mm": (1e-6, 0.0, 1e-6), "rounded to 1 m": (1e-3, 0.0, 1e-3), "rounded to 0.1 km": (0.1, 0.0, 0.1),
    "rounded to 0.5 km": (0.5, 0.0, 0.5), "rounded to 1 km": (1.0, 0.0, 1.0), "rounded to 3 km": (3.0, 0.0, 3.0),
    "noise of 0.1 km": (0.0, 0.1, 0.3), "noise of 1 km": (0.0, 1.0, 3.0), "noise of 5 km": (0.0, 5.0, 15.0),
    "noise of 5 km, told 5": (0.0, 5.0, 5.0), "noise of 1 km, told 1": (0.0, 1.0, 1.0),
}  # fmt: skip
#: Whose coordinates are released: the people's; each set's given to others at random; of points in space.
KINDS = ("people", "shuffled", "in space")
#: Levels at which records are certified.
LEVELS = (0.05, 0.01, 0.003, 0.001, 0.0001)


def measure(seed: int, n: int, d: int, k: int, kind: str, what: str) -> dict[str, object]:
    """Draw one data set, release it, attack it, and count what the map places wrong."""
    rounding, noise, step_km = RELEASES[what]
    true, released = made(seed, n, d, k, kind, rounding, noise)
    busy = time.process_time()
    found = locate_by_reference_sets(released, step_km=step_km, rng=seed)
    seconds = time.process_time() - busy
    rows = found.positions["lat_deg"].notna().to_numpy()
    right_km, away, wrong = max(rounding, 3 * noise, 1e-3), np.array([np.nan]), np.zeros(n, dtype=np.bool_)
    if rows.any():
        placed = unit_vectors(*found.positions.loc[rows, ["lat_deg", "lon_deg"]].to_numpy().T)
        away = gaps_km(placed @ procrustes(placed, true[rows]).T, true[rows])
        wrong[rows] = away > right_km if kind == "people" else True
    p_value = found.positions["p_value"].fillna(1.0).to_numpy()
    return {
        "seed": seed, "n": n, "d": d, "k": k, "kind": kind, "release": what, "placed": len(found),
        "wrong": int(wrong.sum()), "placed_elsewhere": 0, "wrong_elsewhere": 0,
        **{f"certified_{level:g}": int((p_value <= level).sum()) for level in LEVELS},
        **{f"wrong_{level:g}": int((wrong & (p_value <= level)).sum()) for level in LEVELS},
        "median_error_km": np.median(away), "largest_error_km": np.max(away),
        "held_out": found.held_out, "n_held_out": found.n_held_out, "p_value": found.p_value,
        "cpu_seconds": round(seconds, 1),
    }  # fmt: skip


def made(seed: int, n: int, d: int, k: int, kind: str, rounding: float, noise: float) -> tuple[FloatArray, FloatArray]:
    """Return true places and released distances of a kind."""
    if kind == "people":
        return release(seed, n, d, k, rounding, noise, 0.0)
    true, _ = release(seed, n, d, k, 0.0, 0.0, 0.0)
    rng = np.random.default_rng([seed, 8])
    if kind == "shuffled":
        f = np.array([rng.permutation(row) for row in lipschitz_coordinates(true, secret_sets(seed, d, k))])
    else:
        points, sets = rng.uniform(0, 500, (n, 3)), rng.uniform(0, 500, (d, k, 3))
        f = np.linalg.norm(points - sets[:, :, None], axis=-1).min(axis=1)
    released = np.abs(f[:, :, None] - f[:, None]).max(axis=0)
    if noise:
        upper = np.triu(rng.normal(0, noise, released.shape), 1)
        released = np.abs(released + upper + upper.T)
    return true, np.round(released / rounding) * rounding if rounding else released


def parser_of(description: str | None, out: str) -> argparse.ArgumentParser:
    """Return what the tables over `RELEASES` are asked for: seeds, sizes, releases, and where the rows go."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("seeds", type=int, nargs="+")
    parser.add_argument("--out", type=Path, default=Path(out))
    for name, usual in {"n": 200, "d": 20, "k": 10}.items():
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--release", choices=tuple(RELEASES), nargs="*", default=tuple(RELEASES), dest="what")
    return parser


def append_rows(parser: argparse.ArgumentParser, measured: Callable[..., dict[str, object]], fresh_from: int) -> None:
    """Append the rows of the seeds and releases asked for to the table."""
    given = vars(parser.parse_args())
    seeds, out, several = given.pop("seeds"), given.pop("out"), given.pop("what")
    if min(seeds) < fresh_from:
        parser.error(f"seeds below {fresh_from} were looked at, got {min(seeds)}")
    code = commit()
    for what in several:
        for seed in seeds:
            add_row(out, measured(seed, what=what, **given), code)


if __name__ == "__main__":
    asked = parser_of(__doc__, "data/measured/reference_level.csv")
    asked.add_argument("--kind", choices=KINDS, default=KINDS[0])
    append_rows(asked, measure, FRESH_FROM)
