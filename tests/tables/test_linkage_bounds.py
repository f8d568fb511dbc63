"""Bounds of learned linkage: no certificate below a ratio that a named measure attains."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from naive_linkage import conflicts_of, files, least_hitting_set, standardise
from reident import SearchLimitWarning, learn_linkage, link_records
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
    """Of the extreme measures; all monotone ones with values 0 and 1 on four columns, by brute force."""
    found = []
    for chosen in range(1, 2**14):
        values = [0, *(chosen >> place & 1 for place in range(14)), 1]
        if all(values[s] <= values[s | 1 << c] for s in range(16) for c in range(4)):
            found.append(FuzzyMeasure(values, list("abcd")).moebius()[1:])
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


def forms(release, original):
    """d' M d of every pair, in the three entries of M: a released record's row minus that of its true partner."""
    a, b = standardise(release.to_numpy()), standardise(original.to_numpy())
    d = a[:, None] - b[None]
    entries = np.stack([d[..., 0] ** 2, 2 * d[..., 0] * d[..., 1], d[..., 1] ** 2], axis=-1)
    return entries - np.einsum("iik->ik", entries)[:, None]


def circle(sides):
    """Directions v, of which v v' are evenly spread over the matrices of rank 1."""
    angles = np.pi * np.arange(sides) / sides
    return np.column_stack([np.cos(angles), np.sin(angles)])


def feasible(blocks, rows):
    """Whether these blocks reach the margin together, on a polygon of many sides inside the matrices."""
    directions = circle(2000)
    corners = np.column_stack([directions[:, 0] ** 2, directions[:, 0] * directions[:, 1], directions[:, 1] ** 2])
    lines = [corners @ rows[i, j] / np.abs(rows[i, j]).max() for i in blocks for j in range(len(rows)) if j != i]
    found = linprog(
        np.r_[np.zeros(2000), -1.0],
        A_ub=np.c_[-np.array(lines), np.ones(len(lines))],
        b_ub=np.zeros(len(lines)),
        A_eq=[[1.0] * 2000 + [0.0]],
        b_eq=[1.0],
        bounds=[(0, 1)] * 2000 + [(-4, 4)],
    )
    return -found.fun > 1e-6


@pytest.mark.slow
def test_certificate_proves_the_bound():
    release, original = files(12, 2, 0, noise=1.0)
    rows = forms(release, original)
    learned = learn_linkage(release, original, model="bilinear")
    assert learned.is_optimal
    conflicts = conflicts_of(learned, original)
    assert max(map(len, conflicts)) > 1
    assert not any(feasible(conflict, rows) for conflict in conflicts)
    least = least_hitting_set(conflicts, 12)
    assert round(learned.upper_bound * 12) == 12 - least == round(learned.ratio * 12)


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


def test_a_search_that_is_stopped_has_bounds():
    rng = np.random.default_rng(0)
    original = pd.DataFrame(rng.normal(size=(40, 4)), columns=list("abcd"))
    release = original + 1.5 * rng.normal(size=(40, 4))
    with pytest.warns(SearchLimitWarning, match="time limit"):
        learned = learn_linkage(release, original, model="bilinear", time_limit_s=1e-3)
    assert not learned.is_optimal
    assert link_records(release, original).ratio <= learned.ratio <= learned.upper_bound
