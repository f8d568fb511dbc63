import numpy as np
import pytest

from reident import great_circle_km
from reident.places import autocorrelation, utility


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
