"""Measure where opened embeddings lie on the map: `python -m benchmarks._reference_frames [--out FILE] SEED ...`.

A row a data set of `benchmarks._reference_sets`, exact: the map laid inside the country's border alone, and
by a file without labels that shares some of the people.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks._reference_sets import FRESH_FROM, add_row, commit, release
from reident.base import FloatArray
from reident.data.datasets import load_boundary
from reident.location import locate_by_reference_sets
from reident.location.reference_map import ReferenceMap
from reident.location.spherical_mds import gaps_km
from reident.places.points import degrees, unit_vectors

#: Records of the release and of the file, those that both hold, sets and places a set; seeds of strangers follow later.
RECORDS, COMMON, SETS, PLACES, STRANGERS = 500, 50, 20, 30, 50_000


def measure(seed: int) -> dict[str, object]:
    """Open one embedding with the border, and with a file, and say how far records lie from home."""
    true, released = release(seed, RECORDS, SETS, PLACES, 0.0, 0.0, 0.0)
    by_border = locate_by_reference_sets(released, load_boundary("germany"), rng=seed)
    common = np.random.default_rng(seed).choice(RECORDS, COMMON, replace=False)
    others, _ = release(seed + STRANGERS, RECORDS - COMMON, SETS, PLACES, 0.0, 0.0, 0.0)
    lat, lon = degrees(np.concatenate([true[common], others]))
    by_file = locate_by_reference_sets(released, known=pd.DataFrame({"lat_deg": lat, "lon_deg": lon}), rng=seed)
    assert by_file.linkage is not None
    links = by_file.linkage.links
    shared = links["known"].to_numpy() < COMMON
    right = common[links["known"].to_numpy()[shared]] == links["release"].to_numpy()[shared]
    border_km = _errors_km(by_border, true)
    return {
        "seed": seed, "located": len(border_km), "border_median_km": np.median(border_km),
        "border_largest_km": border_km.max(),
        "file_median_km": np.median(_errors_km(by_file, true)),
        "common": int(np.isin(common, np.flatnonzero(by_file.positions["lat_deg"].notna())).sum()),
        "links": len(links), "right": int(right.sum()),
    }  # fmt: skip


def _errors_km(found: ReferenceMap, true: FloatArray) -> FloatArray:
    rows = found.positions["lat_deg"].notna().to_numpy()
    return gaps_km(unit_vectors(*found.positions.loc[rows, ["lat_deg", "lon_deg"]].to_numpy().T), true[rows])


def main() -> None:
    """Append the rows of the seeds asked for to the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", type=int, nargs="+")
    parser.add_argument("--out", type=Path, default=Path("data/measured/reference_frames.csv"))
    given = parser.parse_args()
    if min(given.seeds) < FRESH_FROM:
        parser.error(f"seeds below {FRESH_FROM} were looked at, got {min(given.seeds)}")
    code = commit()
    for seed in given.seeds:
        add_row(given.out, measure(seed), code)


if __name__ == "__main__":
    main()
