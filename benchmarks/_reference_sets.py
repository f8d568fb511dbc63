"""Measure the attack on reference sets on drawn data: `python -m benchmarks._reference_sets [--out FILE] SEED ...`.

A row a data set: people of Germany around its towns, embedded by reference sets drawn in the country. A seed names the
people and the sets; seeds that were looked at while the attack was built (below 9100) are refused. The rows of seeds
9001 to 9003 belong to the code that joined islands by common records only; they led to what joins them now.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

from reident import embed_distances, locate_by_reference_sets
from reident.data.datasets import load_boundary, load_census_shares, load_places
from reident.data.simulate import population
from reident.places.shape import gaps_km, procrustes, unit_vectors

FRESH_FROM = 9100
#: Records, sets, size of a set: the paper's recommendation first.
SETTINGS = ((500, 20, 30), (500, 20, 10), (500, 100, 30), (50, 20, 30), (100, 20, 30), (200, 20, 30), (200, 20, 10))


def measure(seed: int, n: int, d: int, k: int) -> dict[str, float]:
    """Draw one data set, release it, attack it, and compare with the truth up to one motion."""
    area = load_boundary("germany")
    people = population(
        load_places("germany"), n, jitter_km=11.0, shares=load_census_shares(), area=area, rng=seed
    )  # fmt: skip
    lat, lon = people["lat_deg"], people["lon_deg"]
    released = embed_distances(lat, lon, n_reference_sets=d, reference_set_size=k, area=area, rng=seed)
    began, busy = time.perf_counter(), time.process_time()
    found = locate_by_reference_sets(released, rng=seed)
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - busy
    wrong, error = 0, [np.nan]
    true = unit_vectors(lat, lon)
    for island in range(found.positions["island"].max() + 1):
        rows = (found.positions["island"] == island).to_numpy()
        placed = unit_vectors(*found.positions.loc[rows, ["lat_deg", "lon_deg"]].to_numpy().T)
        away = gaps_km(placed @ procrustes(placed, true[rows]).T, true[rows])
        wrong += int((away > 1e-3).sum())
        error = away if island == 0 else error
    return {
        "seed": seed, "n": n, "d": d, "k": k, "rounding_km": 0.0, "noise_km": 0.0,
        "coordinates_known": np.isfinite(found.coordinates.values_km).sum() / (n * d),
        "located_1m": len(found) - int((np.asarray(error) > 1e-3).sum()), "wrong": wrong,
        "islands": found.positions["island"].max() + 1, "in_other_islands": int((found.positions["island"] > 0).sum()),
        "largest_error_km": np.max(error), "held_out": found.held_out, "p_value": found.p_value,
        "seconds": round(seconds, 1), "cpu_seconds": round(cpu_seconds, 1),
    }  # fmt: skip


def main() -> None:
    """Append the rows of the seeds asked for to the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", type=int, nargs="+")
    parser.add_argument("--out", type=Path, default=Path("data/measured/reference_sets.csv"))
    parser.add_argument("--settings", type=int, nargs="*", default=[0], help=f"numbers of {SETTINGS}")
    given = parser.parse_args()
    for seed in given.seeds:
        if seed < FRESH_FROM:
            parser.error(f"seeds below {FRESH_FROM} were looked at, got {seed}")
        for which in given.settings:
            row = pd.DataFrame([measure(seed, *SETTINGS[which])])
            given.out.parent.mkdir(parents=True, exist_ok=True)
            row.to_csv(given.out, mode="a", header=not given.out.exists(), index=False, float_format="%.6g")
            print(row.to_string(index=False), flush=True)


if __name__ == "__main__":
    main()
