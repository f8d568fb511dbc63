import numpy as np
import pandas as pd
import pytest

from reident import great_circle_km
from reident.location import grid_sets, mask_by_grid_sets, repair_grid_sets


def homes(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"lat_deg": rng.uniform(50, 52, n), "lon_deg": rng.uniform(8, 11, n)}, index=[f"p{i}" for i in range(n)]
    )


def test_sets_are_the_grid_points_within_the_radius():
    sets = mask_by_grid_sets(homes(), radius_km=50, spacing_km=10, rng=1)
    sizes = np.asarray(sets.members.sum(axis=1))
    # Gauss's circle: pi r^2 / spacing^2 grid points, off by at most the border's share.
    assert np.abs(sizes - np.pi * 25).max() < 2 * np.pi * 5
    assert sizes.mean() == pytest.approx(np.pi * 25, rel=0.02)


def test_distances_come_back_where_sets_meet():
    points = homes()
    true = great_circle_km(points["lat_deg"], points["lon_deg"])
    found = mask_by_grid_sets(points, radius_km=100, spacing_km=5, rng=1).distances()
    meet = np.isfinite(found.sd_km) & (true > 0)
    assert (meet == (true < 200) & (true > 0))[np.abs(true - 200) > 8].all()
    error = (found.distances_km - true)[meet & (true < 150)]
    assert np.sqrt((error**2).mean()) < 1.0
    scaled = error / found.sd_km[meet & (true < 150)]
    assert 0.3 < np.sqrt((scaled**2).mean()) < 2  # the deviations told are those met


def test_labels_alone_say_nothing_and_seeds_repeat():
    first = mask_by_grid_sets(homes(), radius_km=60, spacing_km=10, rng=1)
    again = mask_by_grid_sets(homes(), radius_km=60, spacing_km=10, rng=1)
    assert (first.members != again.members).nnz == 0
    other = mask_by_grid_sets(homes(), radius_km=60, spacing_km=10, rng=2)
    assert first.members.shape != other.members.shape or (first.members != other.members).nnz > 0
    rows, labels = first.members.nonzero()
    assert abs(np.corrcoef(homes()["lat_deg"].to_numpy()[rows], labels)[0, 1]) < 0.2


def test_the_repair_leaves_long_ties_out_and_blurs_the_others():
    points = homes()
    true = great_circle_km(points["lat_deg"], points["lon_deg"])
    sets = mask_by_grid_sets(points, radius_km=100, spacing_km=5, rng=1)
    repaired = repair_grid_sets(sets, noise=40.0, longest_km=60.0, rng=1)
    kept = np.isfinite(repaired.sd_km) & (true > 0)
    assert repaired.distances_km[kept].max() <= 60
    assert np.array_equal(repaired.distances_km, repaired.distances_km.T)
    before = sets.distances().distances_km
    assert np.abs(repaired.distances_km - true)[kept].mean() > 3 * np.abs(before - true)[kept].mean()


@pytest.mark.parametrize("gain", [1e-9, 1e9])
def test_shared_labels_are_counted_the_same_way_by_either_product(monkeypatch, gain):
    sets = mask_by_grid_sets(homes(), radius_km=60, spacing_km=4, rng=1)
    held = sets.members.toarray().astype(int)
    monkeypatch.setattr(grid_sets, "_DENSE_GAIN", gain)
    monkeypatch.setattr(grid_sets, "_LABELS_AT_ONCE", 100)
    np.testing.assert_array_equal(grid_sets._shared(sets.members), held @ held.T)
