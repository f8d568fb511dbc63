import copy

import numpy as np
import pandas as pd
import pytest
from shapely import box

from judged import attacked
from reident import embed_distances, great_circle_km
from reident.data import points_in_area
from reident.location import holdout_validation, locate_by_reference_sets, recover_coordinates
from reident.location import reference_map as module
from reident.location.released_step import estimate_step
from reident.location.spherical_mds import gaps_km, procrustes
from reident.places.areas import AreaSampler
from reident.places.points import degrees, unit_vectors

AREA = box(8, 50, 11, 52)

# Points that are not located yet are 0 or NaN: compiled code says nothing about what is computed of them.
pytestmark = [pytest.mark.whole, pytest.mark.filterwarnings("ignore::RuntimeWarning")]


def draw(n, d, k, seed, area=AREA):
    lat, lon = points_in_area(area, n, rng=seed)
    released = embed_distances(lat, lon, n_reference_sets=d, reference_set_size=k, area=area, rng=seed + 1)
    return released, unit_vectors(lat, lon)


def errors_km(found, true):
    rows = found.positions["lat_deg"].notna().to_numpy()
    placed = unit_vectors(*found.positions.loc[rows, ["lat_deg", "lon_deg"]].to_numpy().T)
    return gaps_km(placed @ procrustes(placed, true[rows]).T, true[rows])


@pytest.mark.parametrize(("d", "k", "seed"), [(15, 2, 1), (15, 3, 2), (12, 2, 3)])
def test_what_is_located_is_right_up_to_one_motion(d, k, seed):
    released, true = draw(80, d, k, seed)
    found = locate_by_reference_sets(released, rng=0)
    assert errors_km(found, true).max() < 1e-5
    assert found.frame == "own"
    assert (len(found) == 80) is (k == 2)
    assert found.is_certified(1e-6)


def test_a_file_fixes_the_motion_links_and_shows_the_secret_points():
    released, true = draw(80, 15, 3, 1)
    lat, lon = points_in_area(AREA, 80, rng=1)
    known = pd.DataFrame({"lat_deg": lat[20:50], "lon_deg": lon[20:50], "age": np.arange(30)}, index=range(100, 130))
    table = pd.DataFrame({"age": np.arange(80) - 20})
    found = locate_by_reference_sets((table, released), known=known, quasi="age", rng=0)
    assert found.frame == "known"
    at = unit_vectors(found.positions["lat_deg"], found.positions["lon_deg"])
    assert gaps_km(at, true).max() < 1e-3
    assert (found.linkage.links["known"] - found.linkage.links["release"] == 80).all()
    assert len(found.linkage.links) == 30
    secret = AreaSampler(AREA).draw_vectors((15, 3), np.random.default_rng(2)).reshape(-1, 3)
    at = unit_vectors(found.references["lat_deg"], found.references["lon_deg"])
    assert gaps_km(at[:, None], secret[None]).min(axis=1).max() < 1e-3


def test_a_file_without_labels_links_the_places_that_both_share():
    released, true = draw(80, 15, 3, 1)
    lat, lon = points_in_area(AREA, 80, rng=1)
    more = points_in_area(AREA, 40, rng=5)
    known = pd.DataFrame({"lat_deg": [*lat[20:35], *more[0]], "lon_deg": [*lon[20:35], *more[1]]})
    found = locate_by_reference_sets(released, known=known, rng=0)
    assert gaps_km(unit_vectors(found.positions["lat_deg"], found.positions["lon_deg"]), true).max() < 1e-3
    links = found.linkage.links
    assert (links["release"] - links["known"] == 20).all()
    assert len(links) == 15
    assert found.linkage.p_value == 1


def test_the_border_alone_fixes_the_motion():
    released, true = draw(80, 15, 3, 1)
    found = locate_by_reference_sets(released, AREA, rng=0)
    assert found.frame == "area"
    placed = unit_vectors(found.positions["lat_deg"], found.positions["lon_deg"])
    assert (found.positions["lat_deg"].between(49.9, 52.1)).all()
    assert gaps_km(placed @ procrustes(placed, true).T, true).max() < 1e-5


def test_missing_distances_and_records_at_one_place_make_nothing_wrong():
    released, true = draw(80, 15, 3, 1)
    twice = np.append(np.arange(80), [5, 5])
    released = released[np.ix_(twice, twice)]
    gaps = np.triu(np.random.default_rng(0).random(released.shape) < 0.05, 1)
    found = locate_by_reference_sets(np.where(gaps | gaps.T, np.nan, released), rng=0)
    assert len(found) > 40
    assert errors_km(found, true[twice]).max() < 1e-5


def test_without_equal_differences_no_record_is_located():
    released, _ = draw(40, 15, 3, 1)
    lat, lon = points_in_area(AREA, 40, rng=1)
    noisy = released + (noise := np.random.default_rng(0).normal(0, 1e-3, released.shape)) + noise.T
    np.fill_diagonal(noisy, 0)
    for matrix in (great_circle_km(lat, lon), np.abs(noisy), np.zeros((20, 20)), released[:6, :6]):
        found = locate_by_reference_sets(matrix, AREA, rng=0)
        assert len(found) == 0
        assert found.frame == "own"
        assert found.p_value == 1
        assert not found.is_certified()
        assert found.references.empty


@pytest.mark.slow
def test_the_recommended_setting_is_located():
    area = box(6, 47.3, 15, 55)
    released, true = draw(500, 20, 30, 8101, area)
    found = locate_by_reference_sets(released, rng=0)
    assert len(found) >= 475
    assert errors_km(found, true).max() < 1e-3


@pytest.mark.slow
def test_rounding_is_no_obstacle_where_its_step_is_known_or_read_off():
    released, true = draw(240, 12, 2, 1)
    step = 0.05
    assert len(locate_by_reference_sets(np.round(released / step) * step, rng=0)) == 0
    row = judged(np.round(released / step) * step, *degrees(true))
    assert row["risk"] > 0.7
    assert "rounded to 0.05 km, are differences of coordinates" in row["assumption"]


def test_finely_rounded_distances_give_as_much_away_as_coarse_ones_and_nearly_as_much_as_exact_ones():
    released, true = draw(120, 12, 3, 1)
    located = {}
    for step in (1e-6, 0.1):
        found = locate_by_reference_sets(np.round(released / step) * step, rng=0, step_km=step)
        located[step] = len(found)
        assert errors_km(found, true).max() < step
        assert found.is_certified(1e-6)
    exact = len(locate_by_reference_sets(released, rng=0))
    assert located[1e-6] >= max(located[0.1], 0.95 * exact)
    assert exact > 100


def test_fine_noise_and_other_distances_rounded_finely_locate_no_record():
    released, true = draw(80, 15, 3, 1)
    lat, lon = degrees(true)
    noise = np.random.default_rng(0).normal(0, 0.1, released.shape)
    for matrix in (great_circle_km(lat, lon), np.abs(released + np.triu(noise, 1) + np.triu(noise, 1).T)):
        for step in (1e-6, 1e-3, 0.01):
            found = locate_by_reference_sets(np.round(matrix / step) * step, rng=0, step_km=step)
            assert len(found) == 0
            assert not found.is_certified()


def judged(distances, lat, lon):
    people = pd.DataFrame({"age": np.arange(len(lat)) % 40, "lat": lat, "lon": lon, "who": np.arange(len(lat))})
    asked = {"quasi": "age", "lat": "lat", "lon": "lon", "id": "who", "attacks": ["reference_sets"]}
    return attacked((people[["who", "age"]], distances), people, **asked).iloc[0]


def test_the_judge_runs_it_on_distances_and_says_why_where_it_cannot():
    released, true = draw(80, 15, 3, 1)
    lat, lon = degrees(true)
    row = judged(released, lat, lon)
    assert row["risk"] == 1
    assert "come back exactly" in row["assumption"]
    assert "not made of differences of coordinates" in judged(great_circle_km(lat, lon), lat, lon)["reason"]
    # Neither a little noise nor another type of number hides the equations, though their size is not given.
    noise = np.triu(np.random.default_rng(0).normal(0, 1e-4, released.shape), 1)
    noisy = judged(np.abs(released + noise + noise.T), lat, lon)
    assert noisy["risk"] > 0.9
    assert "taken to carry noise of about 9.7e-05 km each" in noisy["assumption"]
    assert judged(released.astype(np.float32).astype(float), lat, lon)["risk"] > 0.9
    assert "rounded to 1 km" in judged(np.round(released), lat, lon)["reason"]
    rounded = judged(np.round(great_circle_km(lat, lon)), lat, lon)["reason"]
    assert "rounded to 1 km" in rounded
    assert rounded.endswith("the distances are not made of differences of coordinates")


def test_the_step_of_rounding_is_read_off_the_matrix():
    released, _ = draw(80, 15, 3, 1)
    assert estimate_step(released) == (0, 0)
    assert estimate_step(released).step_km is None
    for step in (1e-6, 0.05, 1.0, 3.0):
        found = estimate_step(np.round(released / step) * step)
        assert found == (pytest.approx(step), 0)
        assert found.step_km == pytest.approx(step)
    for ordinary in (np.zeros((3, 3)), great_circle_km(*points_in_area(AREA, 80, rng=1))):
        assert estimate_step(ordinary).step_km is None


@pytest.mark.parametrize("draws", ["normal", "uniform"])
@pytest.mark.parametrize(("size", "rounding"), [(1e-3, 0), (0.03, 0), (0.1, 0), (0.1, 0.01), (0.1, 0.1)])
def test_the_size_of_noise_is_read_off_the_matrix(draws, size, rounding):
    released, _ = draw(150, 20, 10, 2)
    rng = np.random.default_rng(5)
    noise = rng.normal(0, size, released.shape) if draws == "normal" else rng.uniform(-1, 1, released.shape) * size
    noise = np.triu(noise if draws == "normal" else noise * 3**0.5, 1)
    noisy = np.abs(released + noise + noise.T)
    found = estimate_step(np.round(noisy / rounding) * rounding if rounding else noisy)
    assert found.noise_km == pytest.approx(size, rel=0.15)
    assert found.step_km == pytest.approx(3 * size, rel=0.15)
    # Without some distances, too.
    noisy[np.triu(rng.random(noisy.shape) < 0.1, 1)] = np.nan
    noisy[np.isnan(noisy.T)] = np.nan
    assert estimate_step(noisy).noise_km == pytest.approx(size, rel=0.2)


@pytest.fixture(scope="module")
def opened():
    lat, lon = points_in_area(AREA, 80, rng=1)
    released = embed_distances(lat, lon, n_reference_sets=15, reference_set_size=3, area=AREA, rng=2)
    values = np.ascontiguousarray(recover_coordinates(released).values_km[:, :15].T)
    return released, values, module._largest_map(values, released)


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
    p_value = found.positions["p_value"]
    assert (p_value.dropna() >= found.p_value).all()
    assert p_value.max() < 1e-3
    assert p_value.notna().equals(found.positions["lat_deg"].notna())
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
    exact, true, drawn = island.values, island.x.copy(), []  # noqa: PD011
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
