"""Linkage by a learned bilinear form: two polygons around and inside the matrices bound it, and its own certificate."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from naive_linkage import files, standardise
from reident import DataError, ParameterError, SearchLimitWarning, learn_linkage, link_records
from reident.tables.choquet._learning_problem import as_square, as_triangle, tidy_solution

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


def most_linked(rows, sides, *, inside):
    """The most blocks linked by a matrix of a polygon inside the disk of matrices, or around it, by a plain big M.

    Two columns and trace 1: the matrices form a disk, whose points of the edge have rank 1.
    """
    n = len(rows)
    directions = circle(sides)
    corners = np.column_stack([directions[:, 0] ** 2, directions[:, 0] * directions[:, 1], directions[:, 1] ** 2])
    constraints, size = [], 3
    if inside:  # mixtures of corners
        size = sides
        constraints.append(LinearConstraint(np.r_[np.ones(sides), np.zeros(n)], 1, 1))
    else:  # not negative along any direction
        constraints.append(LinearConstraint(np.r_[1, 0, 1, np.zeros(n)], 1, 1))
        constraints.append(LinearConstraint(np.c_[corners * [1, 2, 1], np.zeros((sides, n))], 0, np.inf))
    lines, switches = [], []
    for i in range(n):
        for j in range(n):
            if j != i:
                lines.append((corners @ rows[i, j] if inside else rows[i, j]) / np.abs(rows[i, j]).max())
                switches.append(np.eye(n)[i] * 3.0)
    constraints.append(LinearConstraint(np.c_[np.array(lines), np.array(switches)], 1e-6, np.inf))
    low = np.r_[np.full(size, 0.0 if inside else -1.0), np.zeros(n)]
    found = milp(
        np.r_[np.zeros(size), np.ones(n)],
        constraints=constraints,
        integrality=np.r_[np.zeros(size), np.ones(n)],
        bounds=Bounds(low, np.ones(size + n)),
    )
    return n - round(found.fun)


@pytest.mark.parametrize("seed", range(3))
def test_polygons_inside_and_around_the_matrices_bound_it(seed):
    release, original = files(6, 2, seed, noise=1.0)
    rows = forms(release, original)
    learned = learn_linkage(release, original, model="bilinear")
    assert learned.is_optimal
    least, most = (most_linked(rows, 40, inside=inside) for inside in (True, False))
    assert least <= round(learned.ratio * 6) <= most


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
def test_no_fewer_are_linked_than_by_the_best_weights(seed, n, p):
    release, original = files(n, p, seed, noise=1.0)
    best = learn_linkage(release, original)
    found = learn_linkage(release, original, model="bilinear")
    climbed = learn_linkage(release, original, model="bilinear", method="climb")
    assert best.is_optimal
    assert found.is_optimal
    assert found.ratio >= best.ratio
    assert link_records(release, original).ratio <= climbed.ratio <= found.ratio == found.lower_bound


def test_no_matrix_drawn_links_more():
    release, original = files(20, 3, 0)
    learned = learn_linkage(release, original, model="bilinear")
    assert learned.is_optimal
    assert learned.ratio > learn_linkage(release, original).ratio
    rng, names = np.random.default_rng(0), list(original.columns)
    for _ in range(300):
        half = rng.normal(size=(3, 3)) * rng.random(3) ** 3
        drawn = pd.DataFrame(half @ half.T, index=names, columns=names)
        assert link_records(release, original, distance=drawn).ratio <= learned.ratio


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


def test_constant_column_gets_no_entry():
    release, original = files(15, 2, 1)
    learned = learn_linkage(release.assign(c=1.0), original.assign(c=3.0), model="bilinear", method="climb")
    assert learned.ignored == ["c"]
    assert not learned.matrix["c"].any()
    assert not learned.matrix.loc["c"].any()


def test_a_search_that_is_stopped_has_bounds():
    rng = np.random.default_rng(0)
    original = pd.DataFrame(rng.normal(size=(40, 4)), columns=list("abcd"))
    release = original + 1.5 * rng.normal(size=(40, 4))
    with pytest.warns(SearchLimitWarning, match="time limit"):
        learned = learn_linkage(release, original, model="bilinear", time_limit_s=1e-3)
    assert not learned.is_optimal
    assert link_records(release, original).ratio <= learned.ratio <= learned.upper_bound


def test_triangles_and_squares():
    square = np.array([[4.0, 1, 2], [1, 5, 3], [2, 3, 6]])
    assert as_triangle(square).tolist() == [4, 1, 2, 5, 3, 6]
    assert (as_square(as_triangle(square)) == square).all()
    # an eigenvalue of -1 is taken away, and the trace of what is left is 1
    tidy = as_square(tidy_solution(np.array([3.0, 0, -1]), "bilinear"))
    assert tidy == pytest.approx(np.diag([1.0, 0.0]))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda r, o: learn_linkage(r, o, model="bilinear", method="milp"), ParameterError, "no polytope"),
        (lambda r, o: learn_linkage(r, o, model="bilinear", method="climb").ranges(), ParameterError, "for ranges"),
        (lambda r, o: link_records(r, o, distance=square([[1, 2], [0, 1]])), ParameterError, "symmetric"),
        (lambda r, o: link_records(r, o, distance=square([[1, 2], [2, 1]])), ParameterError, "semidefinite"),
        (lambda r, o: link_records(r, o, distance=square([[0, 0], [0, 0]])), ParameterError, "not 0"),
        (lambda r, o: link_records(r, o, distance=square([[1, 0], [0, np.nan]])), DataError, "distance"),
        (
            lambda r, o: link_records(r, o, distance=square(np.eye(2)), columns=["v0"]),
            ParameterError,
            "columns compared",
        ),
        (lambda r, o: link_records(r, o, distance=square(np.eye(2)).iloc[:1]), ParameterError, "columns compared"),
    ],
)
def test_what_is_refused(call, error, message):
    release, original = files(9, 2, 0)
    with pytest.raises(error, match=message):
        call(release, original)


def square(values):
    return pd.DataFrame(np.asarray(values, float), index=["v0", "v1"], columns=["v0", "v1"])
