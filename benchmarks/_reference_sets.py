"""Measure the attack on reference sets on drawn data: `python -m benchmarks._reference_sets [--out FILE] SEED ...`.

A row a data set: people of Germany around its towns, embedded by reference sets drawn in the country. A seed names the
people and the sets; seeds that were looked at while the attack was built (below 9100) are refused. Rows of code that
reported several maps of one release count what the others placed as `in_other_islands`.
"""

from __future__ import annotations

import argparse
import subprocess
import time
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks._determined import determined
from reident import embed_distances
from reident.base import FloatArray
from reident.data.datasets import load_boundary, load_census_shares, load_places
from reident.data.simulate import population
from reident.location import locate_by_reference_sets
from reident.location.spherical_mds import gaps_km, procrustes
from reident.places.areas import AreaSampler
from reident.places.points import unit_vectors

FRESH_FROM = 9100
#: A place of an unrounded release is right within so much, km, after the best motion; of a rounded one within a step,
#: of one with noise within three standard deviations.
RIGHT_KM = 1e-3


#: What decides which records are placed; rows are of the commit that changed it last.
CODE = ("src/reident/location", "src/reident/kernels/location")


def commit() -> str:
    """Return the commit of the code that is measured; refuse code that was changed since."""
    root = Path(__file__).resolve().parents[1]

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments, "--", *CODE], cwd=root, check=True, capture_output=True, text=True
        ).stdout

    if changed := git("status", "--porcelain"):
        raise SystemExit(f"measure what is committed; changed: {changed}")
    return git("log", "-1", "--format=%h").strip()


def add_row(out: Path, row: Mapping[str, object], code: str) -> None:
    """Append a row to a table, with the commit of the code; what the table holds stays as it is, to the letter."""
    new = pd.read_csv(
        StringIO(pd.DataFrame([{**row, "commit": code}]).to_csv(index=False, float_format="%.6g")), dtype=str
    )
    before = [pd.read_csv(out, dtype=str, keep_default_na=False)] if out.exists() else []
    out.parent.mkdir(parents=True, exist_ok=True)
    pd.concat([*before, new]).to_csv(out, index=False)


def release(seed: int, n: int, d: int, k: int, rounding: float, noise: float, missing: float) -> tuple[FloatArray, ...]:
    """Return the true places of drawn people, as unit vectors, and their released distances."""
    area = load_boundary("germany")
    people = population(
        load_places("germany"), n, jitter_km=11.0, shares=load_census_shares(), area=area, rng=seed
    )  # fmt: skip
    lat, lon = people["lat_deg"], people["lon_deg"]
    released = embed_distances(lat, lon, n_reference_sets=d, reference_set_size=k, area=area, rng=seed)
    rng = np.random.default_rng([seed, 7])
    if noise:
        upper = np.triu(rng.normal(0, noise, released.shape), 1)
        released = np.abs(released + upper + upper.T)
    if rounding:
        released = np.round(released / rounding) * rounding
    if missing:
        gaps = np.triu(rng.random(released.shape) < missing, 1)
        released = np.where(gaps | gaps.T, np.nan, released)
    return unit_vectors(lat, lon), released


def secret_sets(seed: int, d: int, k: int) -> FloatArray:
    """Return the secret places of `release`, as unit vectors, shape (d, k, 3)."""
    return AreaSampler(load_boundary("germany")).draw_vectors((d, k), np.random.default_rng(seed))


def measure(seed: int, n: int, d: int, k: int, rounding: float, noise: float, missing: float) -> dict[str, float]:
    """Draw one data set, release it, attack it, and compare with the truth up to one motion."""
    true, released = release(seed, n, d, k, rounding, noise, missing)
    began, busy = time.perf_counter(), time.process_time()
    found = locate_by_reference_sets(released, step_km=rounding or 3 * noise or None, rng=seed)
    values = found.coordinates.values_km.T
    values = values[np.isfinite(values).sum(axis=1) >= max(8, n // 40)]
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - busy
    error, right_km, rows = np.array([np.nan]), max(RIGHT_KM, rounding, 3 * noise), found.positions["lat_deg"].notna()
    if rows.any():
        placed = unit_vectors(*found.positions.loc[rows, ["lat_deg", "lon_deg"]].to_numpy().T)
        error = gaps_km(placed @ procrustes(placed, true[rows]).T, true[rows])
    return {
        "seed": seed, "n": n, "d": d, "k": k, "rounding_km": rounding, "noise_km": noise, "missing": missing,
        "coordinates_known": np.isfinite(found.coordinates.values_km).sum() / (n * d),
        "located": int((error <= right_km).sum()), "wrong": int((error > right_km).sum()),
        "certified": found.is_certified(),
        "islands": int(rows.any()), "in_other_islands": 0,
        "median_error_km": np.median(error), "largest_error_km": np.max(error),
        "held_out": found.held_out, "p_value": found.p_value,
        "seconds": round(seconds, 1), "cpu_seconds": round(cpu_seconds, 1),
        # Records that the recovered values fix by any search; only of small exact files, and nan elsewhere.
        "determined": np.nan if rounding or noise or n > 300 else determined(true, secret_sets(seed, d, k), values),
    }  # fmt: skip


def main() -> None:
    """Append the rows of the seeds asked for to the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", type=int, nargs="+")
    parser.add_argument("--out", type=Path, default=Path("data/measured/reference_sets.csv"))
    for name, usual in {"n": 500, "d": 20, "k": 30}.items():
        parser.add_argument(f"--{name}", type=int, default=usual)
    for name in ("rounding", "noise", "missing"):
        parser.add_argument(f"--{name}", type=float, default=0.0)
    given = vars(parser.parse_args())
    seeds, out = given.pop("seeds"), given.pop("out")
    code = commit()
    for seed in seeds:
        if seed < FRESH_FROM:
            parser.error(f"seeds below {FRESH_FROM} were looked at, got {seed}")
        row = measure(seed, **given)
        add_row(out, row, code)
        print(row, flush=True)


if __name__ == "__main__":
    main()
