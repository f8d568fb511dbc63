from itertools import product

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from shapely import box

from reident import great_circle_km
from reident.places import autocorrelation
from reident.places.distance_intervals import (
    cluster_bounds,
    distance_intervals,
    morans_i_bounds,
    nearest_neighbour_bounds,
)
from reident.places.embedding_estimate import estimate_embedding
from reident.places.lipschitz_embedding import embed_by_reference_sets, embed_distances

AREA = box(8, 48, 13, 54)


def line(n, seed):
    x = np.random.default_rng(seed).uniform(0, 20, n)
    return np.abs(np.subtract.outer(x, x))


def corners(intervals):
    """All distance matrices whose entries are ends of the intervals: every bound is reached at one."""
    lower, upper = intervals
    rows, columns = np.triu_indices(len(lower), 1)
    for choice in product(*zip(lower[rows, columns], upper[rows, columns], strict=True)):
        d = np.zeros_like(lower)
        d[rows, columns] = d[columns, rows] = choice
        yield d


@pytest.mark.parametrize("seed", range(5))
def test_bounds_are_those_over_all_corners(seed):
    d = line(4, seed)
    values = np.random.default_rng(seed).normal(size=4)
    intervals = distance_intervals(d, width_km=4)
    possible, certain = nearest_neighbour_bounds(intervals)
    together, apart = np.ones((4, 4), dtype=bool), np.zeros((4, 4), dtype=bool)
    statistics, nearest_ever, nearest_always = [], np.zeros((4, 4), dtype=bool), np.ones((4, 4), dtype=bool)
    for corner in corners(intervals):
        far = np.where(np.eye(4, dtype=bool), np.inf, corner)
        nearest = far == far.min(axis=1, keepdims=True)
        nearest_ever |= nearest
        nearest_always &= nearest
        statistics.append(autocorrelation(values, corner, weights="band", band_km=6).morans_i)
        label = connected_components(corner <= 6, directed=False)[1]
        together &= label[:, None] == label
        apart |= label[:, None] == label
    assert (possible == nearest_ever).all()
    assert (certain == nearest_always).all()
    assert morans_i_bounds(values, intervals, band_km=6) == pytest.approx(
        (np.nanmin(statistics), np.nanmax(statistics))
    )
    for labels, expected in zip(cluster_bounds(intervals, reach_km=6), (together, apart), strict=True):
        assert ((labels[:, None] == labels) == expected).all()


def test_intervals_hold_the_truth_and_narrow_to_it():
    d = line(40, 1)
    values = np.random.default_rng(0).normal(size=40)
    truth = autocorrelation(values, d, weights="band", band_km=3).morans_i
    widths = []
    for width in (4.0, 1.0, 1e-6):
        intervals = distance_intervals(d, width_km=width)
        lower, upper = intervals
        assert ((lower <= d) & (d <= upper)).all()
        low, high = morans_i_bounds(values, intervals, band_km=3)
        assert low - 1e-12 <= truth <= high + 1e-12
        widths.append(high - low)
    assert widths[0] > widths[1] > widths[2] == pytest.approx(0, abs=1e-12)
    possible, certain = nearest_neighbour_bounds(intervals)
    assert (possible == certain).all()
    assert (possible.sum(axis=1) == 1).all()


def test_embedding_by_own_sets_is_the_largest_difference_of_distances_to_them():
    rng = np.random.default_rng(0)
    lat, lon = rng.uniform(48, 54, 12), rng.uniform(8, 13, 12)
    sets = np.stack([rng.uniform(48, 54, (4, 3)), rng.uniform(8, 13, (4, 3))], axis=2)
    naive = np.zeros((12, 12))
    for places in sets:
        f = np.array(
            [min(great_circle_km([a, p], [b, q])[0, 1] for p, q in places) for a, b in zip(lat, lon, strict=True)]
        )
        naive = np.maximum(naive, np.abs(np.subtract.outer(f, f)))
    np.testing.assert_allclose(embed_by_reference_sets(lat, lon, sets), naive, atol=1e-9)


@pytest.mark.parametrize("truth", [(20, 10), (100, 30)])
def test_parameters_are_estimated_from_a_release(truth):
    rng = np.random.default_rng(0)
    lat, lon = rng.uniform(48, 54, 120), rng.uniform(8, 13, 120)
    background = rng.uniform(48, 54, 60), rng.uniform(8, 13, 60)
    released = embed_distances(lat, lon, n_reference_sets=truth[0], reference_set_size=truth[1], area=AREA, rng=1)
    found = estimate_embedding(
        released, *background, area=AREA, n_reference_sets=(5, 20, 100), reference_set_sizes=(3, 10, 30), rng=1
    )
    assert found[:2] == truth
    assert len(found.candidates) == 9
    assert found.candidates["log_likelihood"].is_monotonic_decreasing
