import geopandas as gpd
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely import box

import reident.places.lipschitz_embedding as module
import reident.places.tolerance as attack
from reident import embed_distances, great_circle_km
from reident.places import tolerance_intervals

GERMANY = box(6, 47.3, 15, 55)


def places(n, seed=0):
    rng = np.random.default_rng(seed)
    return 47.3 + 7.7 * rng.random(n), 6 + 9 * rng.random(n)


@given(
    st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180)), min_size=2, max_size=7),
    st.integers(1, 6),
    st.integers(1, 4),
    st.integers(0, 2**32),
)
def test_contraction_and_pseudometric_for_every_input(points, d, k, seed):
    lat, lon = np.array(points).T
    released = embed_distances(
        lat, lon, n_reference_sets=d, reference_set_size=k, area=box(-180, -90, 180, 90), rng=seed
    )
    assert (released <= great_circle_km(lat, lon) + 1e-8).all()
    assert (released >= 0).all()
    assert (np.diagonal(released) == 0).all()
    np.testing.assert_array_equal(released, released.T)
    # d(i, k) <= d(i, j) + d(j, k) for all i, j, k.
    assert (released[:, None, :] <= released[:, :, None] + released[None, :, :] + 1e-8).all()


def test_spatial_tree_gives_the_same_release(monkeypatch):
    lat, lon = places(15)
    options = {"n_reference_sets": 3, "reference_set_size": 40, "area": GERMANY, "rng": 2}
    by_looking_at_all = embed_distances(lat, lon, **options)
    monkeypatch.setattr(module, "_TREE_FROM", 2)
    np.testing.assert_array_equal(embed_distances(lat, lon, **options), by_looking_at_all)


def test_frame_is_transformed_and_united():
    frame = gpd.GeoDataFrame(geometry=[box(6, 47.3, 10, 55), box(10, 47.3, 15, 55)], crs="EPSG:4326")
    lat, lon = places(6)
    options = {"n_reference_sets": 50, "reference_set_size": 2, "rng": 4}
    metres = embed_distances(lat, lon, area=frame.to_crs("EPSG:3035"), **options)
    degrees = embed_distances(lat, lon, area=frame, **options)
    # The edges bend a little in another projection; the release stays the same within kilometres.
    assert np.abs(metres - degrees).max() < 100


OPTIONS = {"n_reference_sets": 4, "reference_set_size": 3, "area": GERMANY, "n_simulations": 40}


def test_ends_are_ordered_and_unpack():
    lat, lon = places(6)
    lo, hi = tolerance_intervals(lat, lon, **OPTIONS, alpha=0.5, rng=1)
    assert (lo <= hi).all()
    assert (hi <= great_circle_km(lat, lon) + 1e-8).all()


def test_blocks_of_pairs_replay_the_same_simulations(monkeypatch):
    lat, lon = places(9)
    whole = tolerance_intervals(lat, lon, **OPTIONS, alpha=0.3, rng=1)
    monkeypatch.setattr(attack, "_BUDGET", 40 * 8 * 10)
    blocks = tolerance_intervals(lat, lon, **OPTIONS, alpha=0.3, rng=1)
    np.testing.assert_array_equal(whole.lo, blocks.lo)
    np.testing.assert_array_equal(whole.hi, blocks.hi)


@pytest.mark.slow
def test_reported_coverage_is_that_of_new_releases():
    lat, lon = places(60)
    options = {**OPTIONS, "n_reference_sets": 10}
    interval = tolerance_intervals(lat, lon, **{**options, "n_simulations": 1000}, alpha=0.5, rng=1)
    del options["n_simulations"]
    pairs = np.triu_indices(60, 1)
    shares = []
    for seed in range(100):
        released = embed_distances(lat, lon, **options, rng=1000 + seed)
        shares.append(((interval.lo <= released) & (released <= interval.hi))[pairs].mean())
    # Five standard errors of the difference of two independent estimates.
    error = np.hypot(interval.coverage_se, np.std(shares, ddof=1) / 10)
    assert abs(np.mean(shares) - interval.coverage) < 5 * error
    assert 0.45 < interval.coverage < 0.53
