import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely import box

import naive_reference_sets as naive
from reident import embed_distances, great_circle_km
from reident.data import points_in_area
from reident.kernels.places import lipschitz
from reident.location import exact_equalities, recover_coordinates
from reident.places import perturb_distances
from reident.places.areas import AreaSampler
from reident.places.points import unit_vectors

AREA = box(6, 47.3, 15, 55)

#: Six records and two sets that can be followed by hand: the first set is active among the first four records, the
#: second between them and the last two.
SIX = np.array([[0.0, 10.3, 21.1, 30.7, 2.2, 15.9], [5.4, 4.1, 6.6, 5.2, 40.9, 48.3]])


def embedding(n, d, k, seed):
    rng = np.random.default_rng(seed)
    lat, lon = points_in_area(AREA, n, rng=rng)
    released = embed_distances(lat, lon, n_reference_sets=d, reference_set_size=k, area=AREA, rng=seed)
    sets = AreaSampler(AREA).draw_vectors((d, k), np.random.default_rng(seed))
    return released, lipschitz.lipschitz_coordinates(unit_vectors(lat, lon), sets)


def test_six_records_by_hand():
    d = np.array(naive.largest_differences(SIX))
    assert d[0, 4] - d[1, 4] == pytest.approx(-1.3)  # f2(1) - f2(0), and the same to record 5:
    assert d[0, 5] - d[1, 5] == pytest.approx(-1.3)
    found = recover_coordinates(d)
    assert found.values_km.shape == (6, 2)
    second, first = found.values_km.T
    np.testing.assert_allclose(np.abs(np.subtract.outer(second, second)), np.abs(np.subtract.outer(SIX[1], SIX[1])))
    assert np.isnan(first[4:]).all()
    np.testing.assert_allclose(np.abs(first[:4] - first[0]), SIX[0, :4])
    # Only the entry of the last two is left over.
    assert found.explained == pytest.approx(14 / 15)


@pytest.mark.parametrize(
    ("n", "d", "k"), [(30, 4, 2), *(pytest.param(*far, marks=pytest.mark.whole) for far in [(60, 8, 4), (120, 20, 10)])]
)
def test_no_value_is_ever_wrong(n, d, k):
    for seed in range(3):
        released, coordinates = embedding(n, d, k, seed)
        found = recover_coordinates(released)
        right, total = naive.right_values(found.values_km, coordinates)
        assert right == total > 0
        assert found.n_contradictions == 0


@given(st.lists(st.floats(0, 100), min_size=8, max_size=20, unique=True), st.integers(0, 2**32))
def test_shift_sign_and_order_of_the_records_change_nothing(f, seed):
    order = np.random.default_rng(seed).permutation(len(f))
    coordinates = np.array([f, np.arange(len(f)) ** 1.5])
    plain = recover_coordinates(np.array(naive.largest_differences(coordinates)))
    other = recover_coordinates(np.array(naive.largest_differences(7 - coordinates))[np.ix_(order, order)])
    assert plain.explained == pytest.approx(other.explained)


def test_records_at_one_place_get_one_value_and_join_nothing():
    released, coordinates = embedding(60, 6, 3, 1)
    twice = np.append(np.arange(60), [3, 3, 8])
    found = recover_coordinates(released[np.ix_(twice, twice)])
    right, total = naive.right_values(found.values_km, coordinates[:, twice])
    assert right == total
    np.testing.assert_array_equal(found.values_km[[3, 3, 8]], found.values_km[60:])


@pytest.mark.whole
def test_missing_distances_cost_values_but_make_none_wrong():
    released, coordinates = embedding(80, 6, 3, 2)
    whole = recover_coordinates(released)
    gaps = np.triu(np.random.default_rng(0).random(released.shape) < 0.3, 1)
    found = recover_coordinates(np.where(gaps | gaps.T, np.nan, released))
    right, total = naive.right_values(found.values_km, coordinates)
    assert right == total
    assert 0 < np.isfinite(found.values_km).sum() <= np.isfinite(whole.values_km).sum()


@pytest.mark.whole
def test_a_matrix_of_other_distances_gives_nothing():
    lat, lon = points_in_area(AREA, 80, rng=3)
    true = great_circle_km(lat, lon)
    for released in (true, perturb_distances(embedding(80, 6, 3, 2)[0], sigma_km=0.1, rng=1)):
        found = recover_coordinates(released)
        assert found.values_km.shape == (80, 0)
        assert found.n_equal == found.explained == 0
        assert exact_equalities(released).n_equal == 0
    assert exact_equalities(embedding(80, 6, 3, 2)[0]).share > 0.2


def test_equalities_of_a_line_are_many_and_of_no_differences_none():
    line = np.random.default_rng(0).random(30)
    n_equal, n_compared, share = exact_equalities(np.abs(np.subtract.outer(line, line)))
    assert share == n_equal / n_compared > 0.5
    assert math.isnan(exact_equalities(np.zeros((5, 5))).share)


@pytest.mark.whole
@pytest.mark.parametrize("step", [0.1, 1.0])
def test_rounded_distances_give_coordinates_to_a_fraction_of_their_step(step):
    released, coordinates = embedding(200, 6, 4, 1)
    found = recover_coordinates(np.round(released / step) * step, step_km=step)
    right, total = naive.right_values(found.values_km, coordinates, 2 * step)
    assert total > 0.5 * coordinates.size
    assert right > 0.98 * total
    close, _ = naive.right_values(found.values_km, coordinates, 0.2 * step)
    assert close > 0.8 * total
    assert found.explained > 0.8


@pytest.mark.whole
def test_a_rounded_matrix_of_other_distances_is_hardly_explained():
    lat, lon = points_in_area(AREA, 150, rng=3)
    # The distance from a far record is a coordinate, active for the pairs in its direction.
    assert recover_coordinates(np.round(great_circle_km(lat, lon)), step_km=1.0).explained < 0.3
    assert recover_coordinates(np.round(great_circle_km(lat, lon), 1), step_km=0.1).values_km.shape == (150, 0)
