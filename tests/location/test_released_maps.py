import pandas as pd
from benchmarks._map_trials import FAILING

from reident.data.datasets import embedded_file
from reident.experiments.released_maps import LEVELS, WRONG_KM


def test_the_certificate_keeps_its_level_on_failing_runs():
    runs = pd.read_csv(embedded_file("measured/certificate_level.csv"))
    failing = runs[runs["median_km"] > WRONG_KM]
    assert len(failing) >= 200
    assert set(failing["kind"]) == set(FAILING)
    for level in LEVELS:
        assert failing[f"wrong_{level:g}"].sum() <= level * failing["n_wrong"].sum()
