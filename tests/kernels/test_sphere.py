import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyproj import Geod

import naive_lipschitz as naive
from reident import great_circle_km
from reident.kernels.location import tangents
from reident.kernels.places import lipschitz, sphere
from reident.places import great_circle_cross_km, great_circle_pairs_km
from reident.places.tolerance import shortest_intervals

latitudes = st.floats(-90, 90, allow_subnormal=False)
longitudes = st.floats(-180, 180, allow_subnormal=False)
places = st.lists(st.tuples(latitudes, longitudes), min_size=1, max_size=6)


@pytest.mark.parametrize("spread_deg", [0.0, 1e-9, 1e-5, 1e-2, 1.0, 180.0])
def test_within_a_metre_of_an_outside_library(spread_deg):
    rng = np.random.default_rng(1)
    n = 200
    lat, lon = rng.uniform(-90, 90, n), rng.uniform(-180, 180, n)
    geod = Geod(a=6_371_000, b=6_371_000)
    moved = np.clip(lat + spread_deg * rng.uniform(-1, 1, n), -90, 90), lon + spread_deg * rng.uniform(-1, 1, n)
    antipodes = -moved[0], moved[1] + 180
    for lat_q, lon_q in (moved, antipodes):
        wrapped = (lon_q + 180) % 360 - 180
        ref = geod.inv(lon, lat, wrapped, lat_q)[2]
        assert great_circle_pairs_km(lat, lon, lat_q, wrapped) * 1000 == pytest.approx(ref, abs=1)


def test_every_caller_gets_the_same_bits():
    rng = np.random.default_rng(2)
    p, q = rng.normal(size=(2, 80, 3))
    p, q = (points / np.sqrt((points**2).sum(axis=1))[:, None] for points in (p, q))
    matrix = np.empty((80, 80))
    sphere.great_circle_cross(np.ascontiguousarray(p.T), np.ascontiguousarray(q.T), False, matrix)
    away = np.empty(3)
    found = [
        sphere.great_circle_pairs(np.ascontiguousarray(p.T), np.ascontiguousarray(q.T)).tolist(),
        np.diag(matrix).tolist(),
        [sphere.arc_km(*a, *b) for a, b in zip(p, q, strict=True)],
        [tangents.lead_away(a, b, away) for a, b in zip(p, q, strict=True)],
        np.diag(lipschitz.lipschitz_coordinates(p, q[:, None])).tolist(),
    ]
    assert found == [found[0]] * 5


@given(places)
def test_matrix_is_a_pseudometric_and_agrees_with_the_other_forms(points):
    lat, lon = np.array(points).T
    d = great_circle_km(lat, lon)
    assert (d == d.T).all()
    assert (np.diagonal(d) == 0).all()
    assert (d >= 0).all()
    assert (d <= np.pi * 6371 + 1e-9).all()
    assert (d[:, None, :] <= d[:, :, None] + d[None, :, :] + 1e-7).all()
    assert (d == great_circle_cross_km(lat, lon, lat, lon)).all()
    i, j = np.indices(d.shape).reshape(2, -1)
    assert d.ravel() == pytest.approx(great_circle_pairs_km(lat[i], lon[i], lat[j], lon[j]), abs=1e-7)


def test_degenerate_inputs():
    assert great_circle_km([], []).shape == (0, 0)
    assert great_circle_km([3.0], [4.0]).tolist() == [[0.0]]
    # At a pole the longitude does not matter.
    assert great_circle_km([90.0, 90.0, -90.0], [0.0, 77.0, -5.0])[0] == pytest.approx([0, 0, np.pi * 6371], abs=1e-9)
    assert great_circle_km([10.0, 10.0], [180.0, -180.0])[0, 1] == pytest.approx(0, abs=1e-9)


def chebyshev(coordinates):
    out = np.full((coordinates.shape[1], coordinates.shape[1]), np.nan)
    lipschitz.chebyshev_matrix(coordinates, 0, 1, out)
    lipschitz.chebyshev_matrix(coordinates, 1, coordinates.shape[1], out)
    return out


def test_tiles_meet_without_a_seam():
    coordinates = np.random.default_rng(0).random((6, 2 * 256 + 3))
    if not hasattr(lipschitz.chebyshev_matrix, "py_func"):
        coordinates = coordinates[:, :40]
    ref = np.abs(coordinates[:, :, None] - coordinates[:, None, :]).max(axis=0)
    np.testing.assert_array_equal(chebyshev(coordinates), ref)


@given(st.lists(st.integers(0, 20), min_size=2, max_size=12), st.floats(0.05, 0.95))
def test_shortest_interval_is_the_shortest_of_all(values, alpha):
    simulated = np.array(values, dtype=float)[:, None]
    count = int(np.ceil(alpha * len(values) - 1e-9))
    lo, hi = shortest_intervals(simulated, np.array([count]))
    assert (lo[0, 0], hi[0, 0]) == naive.shortest_interval(values, alpha)
    inside = (lo[0] <= simulated) & (simulated <= hi[0])
    assert inside.sum() >= count
