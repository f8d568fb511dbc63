"""Embeddings of 500 persons of Germany, located by their equal differences: ``data/measured/equalities.csv``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from reident import embed_distances, sweep
from reident.experiments.kroll2016 import draw_files
from reident.location import locate_by_reference_sets
from reident.places import great_circle_pairs_km

__all__ = ["EMBEDDINGS", "equalities", "equalities_trial"]

#: Sets and places in a set; those of 20 sets are also rounded.
EMBEDDINGS = ((500, 1), (100, 10), (100, 30), (20, 10), (20, 30))


def equalities(n_datasets: int = 10, n_rounded: int = 3, *, first_dataset: int = 2016, **options: Any) -> pd.DataFrame:
    """Locate the records of each embedding, exact and rounded to 1 km: a row a data set."""
    settings = [
        {"dataset": dataset, "n_reference_sets": d, "reference_set_size": k, "rounding_km": step}
        for step, n in ((0.0, n_datasets), (1.0, n_rounded))
        for d, k in EMBEDDINGS
        if step == 0 or d == 20
        for dataset in range(first_dataset, first_dataset + n)
    ]
    return sweep(equalities_trial, settings, **options)


def equalities_trial(
    rng: np.random.Generator, *, dataset: int, n_reference_sets: int, reference_set_size: int, rounding_km: float
) -> dict[str, Any]:
    """Embed, round or not, and locate all records by the released numbers alone.

    The intruder's file only lays the finished map on the country. A record without a place counts as lost.
    """
    files, step = draw_files("germany", dataset), rounding_km or None
    shape = {"n_reference_sets": n_reference_sets, "reference_set_size": reference_set_size}
    distances = embed_distances(files.original["lat_deg"], files.original["lon_deg"], **shape, area=files.area, rng=rng)
    if step is not None:
        distances = (distances / step).round() * step
    found = locate_by_reference_sets(
        (files.original[files.quasi], distances), known=files.known, quasi=files.quasi, step_km=step, rng=rng
    )
    placed = found.positions["lat_deg"].notna().to_numpy() & (found.linkage is not None)
    there, truth = found.positions[placed], files.original[placed]
    error = np.full(len(placed), np.inf)
    error[placed] = great_circle_pairs_km(there["lat_deg"], there["lon_deg"], truth["lat_deg"], truth["lon_deg"])
    error = error.round(6)  # to the millimetre: what is below it is of floating point
    return {
        "within_1m": float((error <= 1e-3).mean()),
        "within_1km": float((error <= 1).mean()),
        "wrong": float((placed & (error > 1)).mean()),
        "certified": found.is_certified(),
    }
