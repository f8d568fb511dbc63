from itertools import product

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from shapely import box

from reident import great_circle_km
from reident.places import autocorrelation, utility
from reident.places.distance_intervals import (
    cluster_bounds,
    distance_intervals,
    morans_i_bounds,
    nearest_neighbour_bounds,
)
from reident.places.embedding_estimate import estimate_embedding
from reident.places.lipschitz_embedding import embed_by_reference_sets, embed_distances


def distances(n=30, seed=0):
    rng = np.random.default_rng(seed)
    return great_circle_km(rng.uniform(50, 53, n), rng.uniform(7, 12, n))


def naive_moran_and_geary(values, weight):
    n, mean, total = len(values), np.mean(values), 0.0
    cross = square = difference = 0.0
    for i in range(n):
        square += (values[i] - mean) ** 2
        for j in range(n):
            total += weight[i, j]
            cross += weight[i, j] * (values[i] - mean) * (values[j] - mean)
            difference += weight[i, j] * (values[i] - values[j]) ** 2
    return n / total * cross / square, (n - 1) * difference / (2 * total * square)


@pytest.mark.parametrize("weights", ["contiguity", "band"])
def test_autocorrelation_is_that_of_plain_loops(weights):
    d = distances(12)
    values = np.random.default_rng(2).normal(size=12)
    if weights == "contiguity":
        weight = np.zeros((12, 12))
        for i in range(12):
            others = sorted((d[i, j], j) for j in range(12) if j != i)
            for _, j in others[:3]:
                weight[i, j] = 1 / 3
    else:
        weight = np.where(d <= 150, 1.0, 0.0)
        np.fill_diagonal(weight, 0.0)
    found = autocorrelation(values, d, weights=weights, neighbours=3, band_km=150.0)
    np.testing.assert_allclose(found, naive_moran_and_geary(values, weight))


def test_nothing_is_lost_by_the_original():
    d = distances()
    row = utility.distance_utilities(d, d, values=d[0], n_clusters=4)
    assert row["nearest_neighbour"] == row["clusters_ari"] == 1.0
    assert row["gwr_overlap"] == pytest.approx(1.0)
    assert [row[name] for name in row if name.endswith("error") or name == "small_error_km"] == [0.0] * 5
    assert utility.rank_correlation(d, d, record=3) == pytest.approx(1.0)


def test_equally_near_neighbours_count_in_part():
    d = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0.0]])
    tied = np.array([[0, 1, 1], [1, 0, 3], [1, 3, 0.0]])
    # Record 0 chooses right half of the time, records 1 and 2 always.
    assert utility.nearest_neighbour_agreement(d, tied) == pytest.approx((0.5 + 1 + 1) / 3)


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
