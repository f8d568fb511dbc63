"""Every table of measurements comes from its seeds: a row of each is drawn, attacked and counted once more."""

import inspect
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks import (
    _hidden_coordinates,
    _map_trials,
    _noise_size,
    _reference_sets,
    _towns,
)

from reident.data.datasets import embedded_file
from reident.experiments import released_maps

#: Not a result of the seed.
CLOCKS = {"seconds", "cpu_seconds", "commit"}
RNG = np.random.default_rng(0)


def by_seed(measure, *given):
    return lambda row: measure(*(row[name] for name in given))


def by_trial(trial):
    names = inspect.signature(trial).parameters
    return lambda row: trial(RNG, **{name: value for name, value in row.items() if name in names})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "chosen", "measure"),
    [
        (
            "reference_sets", {"seed": 9222, "n": 100, "k": 10},
            by_seed(_reference_sets.measure, "seed", "n", "d", "k", "rounding_km", "noise_km", "missing"),
        ),
        (
            "hidden_coordinates", {"seed": 21101, "n": 100, "k": 10, "release": "rounded to 1 mm"},
            by_seed(_hidden_coordinates.measure, "seed", "n", "d", "k", "release"),
        ),
        (
            "noise_size", {"seed": 23001, "n": 100, "k": 10, "release": "noise of 0.1 km"},
            by_seed(_noise_size.measure, "seed", "n", "d", "k", "release"),
        ),
        ("towns", {"dataset": 101, "release": "exact"}, by_seed(_towns.measure, "dataset", "release")),
        (
            "km_against_n", {"dataset": 103, "n": 50, "knowledge": "file", "n_common": 5},
            by_trial(released_maps.locating_trial),
        ),
        ("certificate_level", {"kind": "one county", "n": 100, "dataset": 501}, by_trial(_map_trials.level_trial)),
        (
            "overlap",
            {"pattern": "towns with gaps", "release": "20 km of noise", "n_common": 20, "dataset": 203},
            by_trial(_map_trials.overlap_trial),
        ),
    ],
)  # fmt: skip
def test_a_row_comes_again_from_its_seed(table, chosen, measure):
    rows = pd.read_csv(embedded_file(f"measured/{table}.csv")).to_dict("records")
    row = next(row for row in rows if all(row[name] == value for name, value in chosen.items()))
    made = measure(row)
    counted = [name for name in made if name in row and name not in CLOCKS and not pd.isna(row[name])]
    assert len(counted) >= 2
    for name in counted:
        if isinstance(row[name], float):
            assert made[name] == pytest.approx(row[name], rel=1e-3, abs=1e-9), name
        else:
            assert made[name] == row[name], name
