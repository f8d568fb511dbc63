import tracemalloc

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment

from reident import great_circle_km, linkage_quality
from reident.location import multilateration_attack, registration_attack
from reident.location.neighbours import Fit, Neighbours
from reident.location.spherical_mds import fit_shape, gaps_km, procrustes
from reident.places import great_circle_pairs_km, perturb_distances
from reident.places.points import unit_vectors
from samples import drawn


def files(n=40, common=20, labels=6, seed=0):
    """Two files with `common` records in both; ids say who is who."""
    people = drawn(2 * n - common, seed, lat_deg=(48.0, 54.0), lon_deg=(7.0, 14.0), age=(0, labels))
    original = people.iloc[:n].sample(frac=1, random_state=seed).rename(index="r{}".format)
    known = people.iloc[n - common :].sample(frac=1, random_state=seed + 1).rename(index="k{}".format)
    both = range(n - common, n)
    truth = pd.DataFrame({"release": [f"r{i}" for i in both], "known": [f"k{i}" for i in both]})
    return original, known, truth


def released(original, sigma_km=0.0, seed=0):
    distances = great_circle_km(original["lat_deg"], original["lon_deg"])
    return original[["age"]], perturb_distances(distances, sigma_km=sigma_km, rng=seed)


def errors_km(found, original):
    places = found.positions.loc[original.index]
    return great_circle_pairs_km(places["lat_deg"], places["lon_deg"], original["lat_deg"], original["lon_deg"])


def register(release, known, truth, rng):
    return registration_attack(release, known, quasi="age", n_pairs=300, rng=rng)


def multilaterate(release, known, truth, rng):
    return multilateration_attack(release, truth.iloc[:4], known, quasi="age", rng=rng)


@pytest.mark.parametrize("attack", [register, multilaterate])
def test_exact_distances_locate_all_records(attack):
    original, known, truth = files()
    found = attack(released(original), known, truth, 1)
    assert errors_km(found, original).max() < 0.01
    quality = linkage_quality(found, truth)
    assert (quality.precision, quality.recall) == (1.0, 1.0)
    assert list(found.positions.index) == list(original.index)
    assert found.is_certified()


@pytest.mark.parametrize("attack", [register, multilaterate])
def test_noise_of_distances_averages_out(attack):
    original, known, truth = files()
    found = attack(released(original, 4.0), known, truth, 1)
    assert np.median(errors_km(found, original)) < 3.0
    assert linkage_quality(found, truth).recall > 0.7


def test_known_places_as_points_or_beside_distances():
    original, known, truth = files()
    release = released(original)
    points = gpd.GeoDataFrame(
        known[["age"]], geometry=gpd.points_from_xy(known["lon_deg"], known["lat_deg"], crs=4326)
    ).to_crs(25832)
    table = multilaterate(release, known, truth, 1)
    for form in (points, (known, great_circle_km(known["lat_deg"], known["lon_deg"]))):
        pd.testing.assert_frame_equal(multilaterate(release, form, truth, 1).positions, table.positions, atol=1e-6)


def test_false_matches_do_no_harm():
    original, known, truth = files()
    false = pd.DataFrame({"release": original.index[:4], "known": known.index[10:14]})
    links = pd.concat([truth.iloc[:5], false])
    found = multilateration_attack(released(original, 1.0), links, known, quasi="age", rng=1)
    assert errors_km(found, original).max() < 5.0


def test_too_few_matches_or_labels_that_never_agree_place_no_record():
    original, known, truth = files()
    others = known.assign(age=known["age"] + 100)
    for found in (
        multilateration_attack(released(original), truth.iloc[:2], known, rng=1),
        registration_attack(released(original), others, quasi="age", n_pairs=50, rng=1),
    ):
        assert len(found) == 0
        assert found.positions.isna().all().all()
        assert not found.is_certified()


def test_certificate_of_chance_alignments_is_a_p_value():
    # Labels have nothing to do with places: the p-value must be at most .1 in about a tenth of 200 cases. Level: five
    # standard errors of a binomial share.
    rng = np.random.default_rng(0)
    small = 0
    for _ in range(200):
        x = unit_vectors(rng.uniform(48, 54, 30), rng.uniform(7, 14, 30))
        y = unit_vectors(rng.uniform(48, 54, 30), rng.uniform(7, 14, 30))
        neighbours = Neighbours(rng.integers(0, 5, 30), y, rng.integers(0, 5, 30))
        small += neighbours.certificate(x, 60.0, rng, n_permutations=99) <= 0.1
    assert small / 200 < 0.1 + 5 * np.sqrt(0.1 * 0.9 / 200)


@pytest.mark.parametrize("seed", range(6))
def test_neighbours_are_those_of_all_gaps(seed):
    # Against the matrix of all gaps, infinite where labels differ: nearest, near labels, and the closest pairing.
    rng = np.random.default_rng(seed)
    n, m, sigma = 30, 25, float(rng.choice([2.0, 8.0, 20.0]))
    x, y = (unit_vectors(rng.uniform(50, 51, k), rng.uniform(8, 10, k)) for k in (n, m))
    codes, y_codes = rng.integers(-1, 4, n), rng.integers(-1, 3, m)
    agree = (codes[:, None] == y_codes) & (codes[:, None] >= 0)
    gap = np.where(agree, gaps_km(x[:, None], y[None]), np.inf)
    neighbours = Neighbours(codes, y, y_codes)
    np.testing.assert_allclose(neighbours.nearest(x)[0], gap.min(axis=1))
    np.testing.assert_allclose(neighbours.label_share, agree.mean(axis=1))
    labels = np.unique(codes)
    near = np.stack(
        [(gaps_km(x[:, None], y[None])[:, y_codes == a] < 30).any(axis=1) & (a >= 0) for a in labels], axis=1
    )
    np.testing.assert_array_equal(neighbours._near_labels(x, labels, 30.0), near)
    cost = np.minimum(gap, 8 * sigma) ** 2
    pairs, apart, _ = neighbours.assign(x, Fit(0.5, sigma, 0.0, np.zeros(n)))
    np.testing.assert_allclose(apart, gap[pairs[:, 0], pairs[:, 1]])
    assert len(np.unique(pairs[:, 0])) == len(np.unique(pairs[:, 1])) == len(pairs)
    alone = (min(n, m) - len(pairs)) * (8 * sigma) ** 2
    assert (apart**2).sum() + alone == pytest.approx(cost[linear_sum_assignment(cost)].sum())


def test_exact_places_are_certified_however_near_they_must_lie():
    # Places that are right to the last digits, which a cosine does not tell.
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 5, 200), unit_vectors(rng.uniform(48, 54, 200), rng.uniform(7, 14, 200))
    turned = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    for x in (y, (y @ turned.T) @ turned, y * (1 - 1e-15)):
        assert Neighbours(codes, y, codes).certificate(x, 2.5e-4, rng, n_permutations=99) == 0.01


@pytest.mark.slow
def test_many_records_take_no_second_matrix():
    original, known, truth = files(4000, 4000, seed=3)
    release = released(original)
    tracemalloc.start()
    found = multilateration_attack(release, truth.iloc[:50], known, rng=1)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < release[1].nbytes
    assert linkage_quality(found, truth).recall == 1.0


@pytest.mark.whole
def test_unrelated_files_are_not_certified():
    certified = 0
    for seed in range(12):
        original, known, truth = files(common=0, seed=seed)
        certified += register(released(original), known, truth, seed).is_certified(0.05)
    # Twelve cases at level .05: three or more would happen once in fifty runs.
    assert certified <= 2


def test_shape_keeps_distances_of_far_points():
    rng = np.random.default_rng(1)
    lat, lon = np.degrees(np.arcsin(rng.uniform(-1, 1, 25))), rng.uniform(-180, 180, 25)
    distances = great_circle_km(lat, lon)
    x = fit_shape(distances).x
    y = unit_vectors(lat, lon)
    assert np.abs(x @ procrustes(x, y).T - y).max() < 1e-5


def test_left_out_distances_do_not_matter():
    original, known, _ = files()
    table, distances = released(original)
    broken, sd = distances.copy(), np.ones_like(distances)
    broken[3, 7] = broken[7, 3] = 900.0
    sd[3, 7] = sd[7, 3] = np.inf
    found = registration_attack((table, broken), known, quasi="age", sd_km=sd, rng=1)
    assert errors_km(found, original).max() < 0.5
