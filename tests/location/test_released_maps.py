import numpy as np
import pandas as pd
import pytest
from benchmarks._calibration import calibrate_distances
from benchmarks._map_trials import FAILING

from reident import embed_distances
from reident.data.datasets import embedded_file
from reident.experiments.released_maps import LEVELS, WRONG_KM, load_country, people
from reident.location.spherical_mds import fit_shape, gaps_km, procrustes
from reident.places.points import unit_vectors


def test_the_certificate_keeps_its_level_on_failing_runs():
    runs = pd.read_csv(embedded_file("measured/certificate_level.csv"))
    failing = runs[runs["median_km"] > WRONG_KM]
    assert len(failing) >= 200
    assert set(failing["kind"]) == set(FAILING)
    for level in LEVELS:
        assert failing[f"wrong_{level:g}"].sum() <= level * failing["n_wrong"].sum()


@pytest.mark.parametrize("seed", range(2))
def test_calibration_never_costs_what_the_release_itself_gives(seed):
    # Lipschitz (300, 1): nearly exact as released. Chains of sure distances once stood in for better ones.
    places, area = load_country("england")
    homes, own = (people(places, area, 120, np.random.default_rng([seed, part])) for part in range(2))
    shape = {"n_reference_sets": 300, "reference_set_size": 1, "area": area}
    release = embed_distances(homes["lat_deg"], homes["lon_deg"], **shape, rng=seed)
    known = calibrate_distances(
        release, own["lat_deg"], own["lon_deg"], **shape, n_simulations=4, rng=np.random.default_rng(seed)
    )
    truth = unit_vectors(homes["lat_deg"], homes["lon_deg"])

    def error_km(x):
        return np.median(gaps_km(x @ procrustes(x, truth).T, truth))

    guarded = fit_shape(*known)
    assert error_km(guarded.x) < max(1.5 * error_km(fit_shape(release).x), 0.5)
