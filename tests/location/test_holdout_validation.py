import copy

import numpy as np
import pytest
from shapely import box

from reident import embed_distances
from reident.data import points_in_area
from reident.location import holdout_validation, locate_by_reference_sets, recover_coordinates
from reident.location import reference_map as module
from reident.location.spherical_mds import gaps_km, procrustes

AREA = box(8, 50, 11, 52)
pytestmark = [pytest.mark.whole, pytest.mark.filterwarnings("ignore::RuntimeWarning")]


@pytest.fixture(scope="module")
def opened():
    lat, lon = points_in_area(AREA, 80, rng=1)
    released = embed_distances(lat, lon, n_reference_sets=15, reference_set_size=3, area=AREA, rng=2)
    values = np.ascontiguousarray(recover_coordinates(released).values_km[:, :15].T)
    return released, values, module._grown(values, released)[0]


def everything(island, values, seed=0):
    return holdout_validation.certify(island, values, np.isfinite(values), np.random.default_rng(seed))


def test_the_certificate_refuses_values_that_have_nothing_to_do_with_the_map(opened):
    _, values, island = opened
    share, n, p_value = everything(island, values)
    assert share > 0.9
    assert p_value < 1e-9 < n
    for turn in range(1, 21):
        # Every value goes to another record.
        share, _, p_value = everything(island, np.roll(values, turn, axis=1))
        assert share < 0.01
        assert p_value > 0.01


def test_chance_is_counted_within_the_tolerance_and_no_map_is_begun_with_a_wide_one(opened):
    released, values, island = opened
    island = copy.deepcopy(island)
    island.tol = 20.0  # most values of other records agree within 20 km: the certificate must not count them for 1 km
    for turn in range(1, 6):
        share, _, p_value = everything(island, np.roll(values, turn, axis=1))
        assert share > 0.2
        assert p_value > 1e-3
    found = locate_by_reference_sets(np.round(released / 6) * 6, step_km=6.0, rng=0)
    assert len(found) == 0
    assert not found.is_certified()


def test_a_map_that_is_right_but_roughly_is_not_certified(opened):
    # Against values of any record in the country, those of a place 8 km off look like evidence for the place.
    _, values, island = opened
    rough = copy.deepcopy(island)
    rough.tol = 1.0
    p_values, neighbours_fit_better = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        rough.x = island.x + rng.normal(0, 8 / 6371, island.x.shape)
        rough.x /= np.linalg.norm(rough.x, axis=1, keepdims=True)
        asked = np.isfinite(values) & (rng.random(values.shape) < 0.1)
        p_values.append(holdout_validation.certify(rough, values, asked, rng).p_value)
        anyone = holdout_validation._share_by_chance(rough, [np.array([rng.permutation(row) for row in values])])
        neighbours = holdout_validation._share_by_chance(rough, holdout_validation._of_neighbours(rough, values))
        neighbours_fit_better.append(neighbours > anyone)
    assert np.mean(neighbours_fit_better) == 1
    assert np.median(p_values) > 0.01


def test_located_records_alone_have_a_p_value(opened):
    released, _, _ = opened
    found = locate_by_reference_sets(released, rng=0)
    island, p_value = found.positions["island"], found.positions["p_value"]
    assert (p_value[island == 0] >= found.p_value).all()
    assert p_value.max() < 1e-3
    assert p_value.notna().equals(island >= 0)
    empty = locate_by_reference_sets(released[:20, :20], rng=0)
    assert len(empty) == empty.n_held_out == 0
    assert empty.p_value == 1
    assert empty.positions["p_value"].isna().all()


def test_standard_errors_are_those_of_maps_drawn_again(opened):
    island, rng = copy.deepcopy(opened[2]), np.random.default_rng(0)
    island.tol = 0.05
    deviation, _ = island.deviations()
    at = np.isfinite(deviation)
    island.values = np.where(at, island.sign[:, None] * (deviation + island.f - island.shift[:, None]), np.nan)
    exact, true, drawn = island.values, island.x.copy(), []
    for _ in range(60):
        again = copy.deepcopy(island)
        again.values = exact + rng.normal(0, 0.01, exact.shape)
        again._fitted = 0
        again.adjust()
        drawn.append(gaps_km(again.x @ procrustes(again.x, true).T, true))
    error, rms = holdout_validation.standard_errors_km(again), np.sqrt(np.mean(np.square(drawn), axis=0))
    # The longer axis of each record's ellipse: between the root mean square of its errors and that of one direction.
    assert 0.8 < np.median(rms / error) < 1.5
    # The logarithms of the standard errors scatter by .17 to .23 from record to record, and those of the root mean
    # square of m redraws by about .7 / sqrt(m) around them: the correlation of 15 redraws is .57 to .85 by the draw,
    # that of 60 redraws was .85 to .94 on five embeddings with three draws each.
    assert np.corrcoef(np.log(error), np.log(rms))[0, 1] > 0.7
