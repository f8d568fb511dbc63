from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from naive_linkage import files, standardise, zero_one_measures
from reident import learn_linkage, link_records
from reident.tables import FuzzyMeasure
from reident.tables.choquet._linkage_milp import moebius_bounds


def owa(weights, names):
    """Return the symmetric measure of an ordered weighted average, the weight of the largest value first."""
    total = np.concatenate([[0.0], np.cumsum(weights)])
    return FuzzyMeasure([total[mask.bit_count()] for mask in range(2 ** len(names))], names)


def only_linked_by_the_order_statistic(rank, p):
    """Return files in which the rank-th largest gap links all, and hardly another measure does.

    Every set of fewer columns must count for nothing, and every set of so many for nearly as much as all.
    """
    sets = {size: [list(one) for one in combinations(range(p), size)] for size in (rank - 1, rank)}
    release, own, rivals = [np.zeros(p)], [np.full(p, np.sqrt(0.95))], []
    rivals += [_at(columns, 1.0, p) for columns in sets[rank]]
    for place, far in enumerate(sets[rank - 1] if rank > 1 else [], start=1):
        centre = np.full(p, 100.0 * place)
        release.append(centre)
        own.append(centre + _at(far, 7.0, p))
        rivals += [centre + _at(columns, 1.0, p) for columns in sets[rank]]
    names = list("abcdefgh")[:p]
    return pd.DataFrame(release, columns=names), pd.DataFrame(own + rivals, columns=names)


def _at(columns, gap, p):
    point = np.zeros(p)
    point[columns] = gap
    return point


@pytest.mark.parametrize("method", ["benders", "milp"])
@pytest.mark.parametrize("rank", [2, 3, 4])
def test_no_certificate_lies_below_the_order_statistic_that_alone_links_all(method, rank):
    release, original = only_linked_by_the_order_statistic(rank, 5)
    gaps = (release.to_numpy()[:, None] - original.to_numpy()[None]) ** 2  # the columns have the same spread
    statistic = owa(np.eye(5)[rank - 1], list("abcde"))
    distances = np.array([statistic.choquet(rows) for rows in gaps])
    assert (distances.argmin(axis=1) == np.arange(len(release))).all()
    learned = learn_linkage(release, original, model="choquet", method=method, scaling="dbrl2")
    assert learned.upper_bound == 1
    assert learned.is_optimal
    assert learned.ratio == 1


def test_bounds_of_moebius_values_are_those_attained_by_measures_of_0_and_1():
    found = [FuzzyMeasure(values, list("abcd")).moebius()[1:] for values in zero_one_measures(4)]
    low, high = moebius_bounds(4)
    np.testing.assert_array_equal(np.min(found, axis=0), low)
    np.testing.assert_array_equal(np.max(found, axis=0), high)


@pytest.mark.parametrize(("p", "low", "high"), [(5, -4, 6), (6, -10, 10), (7, -20, 15), (8, -35, 35)])
def test_range_of_the_moebius_value_of_all_columns(p, low, high):
    """Grabisch and Miranda (2015), table of exact bounds; abril2012, erratum 9."""
    bounds = moebius_bounds(p)
    assert (bounds[0][-1], bounds[1][-1]) == (low, high)
    median = owa(np.eye(p)[p // 2], list("abcdefgh")[:p]).moebius()[-1]
    assert low <= median <= high
    assert p == 8 or abs(median) > p - 1


def test_its_matrix_is_a_distance_and_what_it_is_said_to_be():
    release, original = files(30, 3, 5)
    learned = learn_linkage(release, original, model="bilinear", method="climb")
    assert learned.measure is None
    assert learned.weights is None
    matrix = learned.matrix
    assert np.trace(matrix) == pytest.approx(1)
    assert np.linalg.eigvalsh(matrix)[0] > -1e-12
    assert link_records(release, original, distance=learned).ratio == learned.ratio
    turned = matrix.iloc[::-1, ::-1]
    assert link_records(release, original, distance=turned, columns=["v0", "v1", "v2"]).ratio == learned.ratio
    assert 0 <= link_records(*files(20, 3, 6), distance=learned).ratio <= 1
    d = standardise(release.to_numpy())[:, None] - standardise(original.to_numpy())[None]
    ref = np.einsum("ijk,kl,ijl->ij", d, matrix.to_numpy(), d)
    assert link_records(release, original, distance=learned).links["distance"].to_numpy() == pytest.approx(ref.min(1))
