"""Noise on coordinates and on distances, and the windows that follow from it."""

import numpy as np
import pytest
from scipy import stats
from shapely.geometry import box

from reident import great_circle_km, perturb_coordinates
from reident.places import distance_deviation_quantiles, distance_noise_window_km, perturb_distances


def test_coordinate_noise_is_normal_and_independent():
    lat, lon = perturb_coordinates(np.full(4000, 50.0), np.full(4000, 9.0), sigma_deg=0.02, rng=1)
    for noise in (lat - 50, lon - 9):
        assert stats.kstest(noise / 0.02, "norm").pvalue > 0.001
    assert abs(np.corrcoef(lat, lon)[0, 1]) < 4 / np.sqrt(4000)


def test_a_point_pushed_over_the_pole_comes_down_on_the_other_side():
    class Push(np.random.Generator):
        """Noise of 3 degrees northward, then none eastward."""

        steps = iter([3.0, 0.0])

        def normal(self, *args, **kws):
            return next(self.steps)

    lat, lon = perturb_coordinates([89.0], [10.0], sigma_deg=1.0, rng=Push(np.random.PCG64(0)))
    assert (lat[0], lon[0]) == pytest.approx((88.0, -170.0))


def test_deviation_window_holds_its_share():
    sample = distance_deviation_quantiles(box(6, 47, 15, 55), sigma_deg=0.01, n_pairs=2000, rng=2)
    lo, hi = sample.window_km(0.5)
    assert np.mean((sample.deviations_km > lo) & (sample.deviations_km < hi)) == pytest.approx(0.5, abs=0.001)
    assert sample.window_km(0.9)[0] < lo < 0 < hi < sample.window_km(0.9)[1]
    assert sample.quantiles_km([0.5])[0] == np.median(sample.deviations_km)
    assert sample.variance_km2 == pytest.approx(np.var(sample.deviations_km, ddof=1))


def test_distance_noise_keeps_the_form_of_a_distance_matrix():
    d = great_circle_km([50.0, 51.0, 52.0, 50.0], [9.0, 10.0, 9.5, 9.0])
    released = perturb_distances(d, sigma_km=5.0, rng=3)
    assert (released == released.T).all()
    assert (np.diagonal(released) == 0).all()
    assert (released >= 0).all()
    assert (perturb_distances(d, sigma_km=0.0) == d).all()


def test_distance_noise_has_the_stated_size_and_window():
    lat, lon = np.random.default_rng(4).uniform([[40], [0]], [[60], [20]], (2, 80))
    d = great_circle_km(lat, lon)
    rows, columns = np.nonzero((d > 100) & (np.arange(80)[:, None] < np.arange(80)))
    noise = (d - perturb_distances(d, sigma_km=7.0, rng=5))[rows, columns]
    assert stats.kstest(noise / 7.0, "norm").pvalue > 0.001
    lo, hi = distance_noise_window_km(7.0, 0.8)
    assert np.mean((noise > lo) & (noise < hi)) == pytest.approx(0.8, abs=0.03)
