"""Measure `recover_coordinates` on rounded and noisy embeddings: `python -m benchmarks._hidden_coordinates SEED ...`.

A row a release: how many values are claimed, and how many of these are wrong by more than a step. Seeds below 21000
were looked at while the search for coordinates was built, or belong to another table, and are refused.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks._reference_level import RELEASES, append_rows, parser_of
from benchmarks._reference_sets import release, secret_sets
from reident.base import FloatArray
from reident.kernels.places.lipschitz import lipschitz_coordinates
from reident.location import recover_coordinates

FRESH_FROM = 21000
#: Exact values are right to so much, km.
EXACT_KM = 1e-6


def errors_km(values: FloatArray, true: FloatArray) -> FloatArray:
    """Return how far values (n, m) lie from the coordinates (d, n) of the set that fits their column best, km.

    A column is known up to a shift, here the median, and a sign.
    """
    errors = np.full(values.shape, np.nan)
    for column, out in zip(values.T, errors.T, strict=True):
        known = np.isfinite(column)
        off = np.concatenate([true[:, known] - column[known], true[:, known] + column[known]])
        off = np.abs(off - np.median(off, axis=1, keepdims=True))
        out[known] = off[np.median(off, axis=1).argmin()]
    return errors


def measure(seed: int, n: int, d: int, k: int, what: str) -> dict[str, object]:
    """Draw one data set, release it, recover its coordinates, and compare them with the truth."""
    rounding, noise, step_km = RELEASES[what]
    places, released = release(seed, n, d, k, rounding, noise, 0.0)
    busy = time.process_time()
    found = recover_coordinates(released, step_km)
    seconds = time.process_time() - busy
    off = errors_km(found.values_km, lipschitz_coordinates(places, secret_sets(seed, d, k)))
    wrong = off > (step_km or EXACT_KM)
    return {
        "seed": seed, "n": n, "d": d, "k": k, "release": what, "columns": off.shape[1],
        "values": int(np.isfinite(off).sum()), "wrong": int(wrong.sum()),
        "columns_mostly_wrong": int((wrong.sum(axis=0) > np.isfinite(off).sum(axis=0) / 2).sum()),
        "median_error_km": np.nanmedian(off) if off.size else np.nan, "explained": found.explained,
        "refused": found.n_contradictions, "cpu_seconds": round(seconds, 1),
    }  # fmt: skip


if __name__ == "__main__":
    append_rows(parser_of(__doc__, "data/measured/hidden_coordinates.csv"), measure, FRESH_FROM)
