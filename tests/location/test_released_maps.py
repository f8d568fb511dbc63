import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks._map_trials import FAILING

from reident.data.datasets import embedded_file
from reident.experiments.released_maps import LEVELS, WRONG_KM

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks._protection import CANDIDATES, Candidate, protect

from reident import great_circle_km
from reident.experiments.released_maps import load_country, people


def test_candidates_do_to_distances_what_they_say():
    rng = np.random.default_rng(0)
    places, area = load_country("germany")
    homes = people(places, area, 60, rng)
    true = great_circle_km(homes["lat_deg"], homes["lon_deg"])
    for name, made in CANDIDATES.items():
        released = protect(homes, area, made, np.random.default_rng(1))
        given = released[~np.isnan(released)]
        np.testing.assert_array_equal(released, released.T)
        assert (np.diag(released) == 0).all(), name
        if made.step_km:
            assert np.abs(given / made.step_km - np.round(given / made.step_km)).max() < 1e-9
        if made.block:
            assert (~np.isnan(released)).sum(axis=1).max() == made.block
        assert given.max() <= made.longest_km
        assert (
            np.isnan(released).mean() == pytest.approx(made.left_out, abs=0.06) or made.block or made.longest_km < 100
        )
        if made == Candidate():
            assert (released <= true + 1e-6).all()


def test_the_certificate_keeps_its_level_on_failing_runs():
    runs = pd.read_csv(embedded_file("measured/certificate_level.csv"))
    failing = runs[runs["median_km"] > WRONG_KM]
    assert len(failing) >= 200
    assert set(failing["kind"]) == set(FAILING)
    for level in LEVELS:
        assert failing[f"wrong_{level:g}"].sum() <= level * failing["n_wrong"].sum()
