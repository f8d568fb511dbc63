"""Measure `estimate_step` on rounded and noisy embeddings: `python -m benchmarks._noise_size SEED ...`.

A row a release. Seeds below 23000 were looked at while the estimate was built, or belong to another table, and are
refused.
"""

from __future__ import annotations

from benchmarks._reference_level import RELEASES, append_rows, parser_of
from benchmarks._reference_sets import release
from reident.location import estimate_step

FRESH_FROM = 23000


def measure(seed: int, n: int, d: int, k: int, what: str) -> dict[str, object]:
    """Draw one data set, release it, and estimate rounding and noise."""
    rounding, noise, _ = RELEASES[what]
    found = estimate_step(release(seed, n, d, k, rounding, noise, 0.0)[1])
    return {
        "seed": seed, "n": n, "d": d, "k": k, "release": what, "rounding_km": rounding, "noise_km": noise,
        "estimated_rounding_km": found.rounding_km, "estimated_noise_km": found.noise_km,
    }  # fmt: skip


if __name__ == "__main__":
    append_rows(parser_of(__doc__, "data/measured/noise_size.csv"), measure, FRESH_FROM)
