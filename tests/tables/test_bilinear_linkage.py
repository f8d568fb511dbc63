"""Linkage by a learned bilinear form: two polygons around and inside the matrices bound it, and its own certificate."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from naive_linkage import files, standardise
from reident import SearchLimitWarning, learn_linkage, link_records

pytestmark = pytest.mark.whole


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
    place = {label: i for i, label in enumerate(original.index)}
    conflicts = [frozenset(place[label] for label in conflict) for conflict in learned.certificate]
    assert max(map(len, conflicts)) > 1
    assert not any(feasible(conflict, rows) for conflict in conflicts)
    hits = LinearConstraint([[float(i in conflict) for i in range(12)] for conflict in conflicts], 1)
    least = round(milp(np.ones(12), constraints=hits, integrality=np.ones(12), bounds=Bounds(0, 1)).fun)
    assert round(learned.upper_bound * 12) == 12 - least == round(learned.ratio * 12)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 10), p=st.integers(1, 3))
@pytest.mark.slow
def test_no_fewer_are_linked_than_by_the_best_weights(seed, n, p):
    release, original = files(n, p, seed, noise=1.0)
    best = learn_linkage(release, original)
    found = learn_linkage(release, original, model="bilinear")
    climbed = learn_linkage(release, original, model="bilinear", method="climb")
    assert best.is_optimal
    assert found.is_optimal
    assert found.ratio >= best.ratio
    assert link_records(release, original).ratio <= climbed.ratio <= found.ratio == found.lower_bound


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


def test_diagonal_matrices_are_weights():
    release, original = files(30, 3, 7)
    weights = [0.2, 0.5, 0.3]
    matrix = pd.DataFrame(np.diag(weights), index=original.columns, columns=original.columns)
    ref = link_records(release, original, distance="weighted_mean", weights=weights).links
    comp = link_records(release, original, distance=matrix).links
    assert (ref["known"] == comp["known"]).all()
    assert comp["distance"].to_numpy() == pytest.approx(ref["distance"].to_numpy())


def test_a_search_that_is_stopped_has_bounds():
    rng = np.random.default_rng(0)
    original = pd.DataFrame(rng.normal(size=(40, 4)), columns=list("abcd"))
    release = original + 1.5 * rng.normal(size=(40, 4))
    with pytest.warns(SearchLimitWarning, match="time limit"):
        learned = learn_linkage(release, original, model="bilinear", time_limit_s=1e-3)
    assert not learned.is_optimal
    assert link_records(release, original).ratio <= learned.ratio <= learned.upper_bound
