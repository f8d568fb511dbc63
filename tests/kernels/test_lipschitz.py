import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_lipschitz as naive
from reident.kernels.places import lipschitz
from reident.places.points import unit_vectors
from reident.places.tolerance import shortest_intervals


def places(n, seed, spread=5.0):
    rng = np.random.default_rng(seed)
    return np.column_stack([50 + spread * rng.random(n), 8 + spread * rng.random(n)])


def vectors(degrees):
    return unit_vectors(*degrees.T)


def chebyshev(coordinates):
    out = np.full((coordinates.shape[1], coordinates.shape[1]), np.nan)
    lipschitz.chebyshev_matrix(coordinates, 0, 1, out)
    lipschitz.chebyshev_matrix(coordinates, 1, coordinates.shape[1], out)
    return out


@pytest.mark.parametrize(("n", "d", "k"), [(2, 1, 1), (7, 3, 2), (6, 9, 4), (5, 4, 1)])
def test_embedding_is_that_of_plain_loops(n, d, k):
    points, references = places(n, 1), places(d * k, 2)
    coordinates = lipschitz.lipschitz_coordinates(vectors(points), vectors(references).reshape(d, k, 3))
    ref = naive.released_km(points, references.reshape(d, k, 2))
    np.testing.assert_allclose(chebyshev(coordinates), ref, atol=1e-6)


def test_tiles_meet_without_a_seam():
    coordinates = np.random.default_rng(0).random((6, 2 * 256 + 3))
    if not hasattr(lipschitz.chebyshev_matrix, "py_func"):
        coordinates = coordinates[:, :40]
    ref = np.abs(coordinates[:, :, None] - coordinates[:, None, :]).max(axis=0)
    np.testing.assert_array_equal(chebyshev(coordinates), ref)


def test_rows_in_blocks_give_the_condensed_upper_triangle():
    coordinates = np.random.default_rng(1).random((5, 11))
    out = np.empty(55)
    lipschitz.chebyshev_rows(coordinates, 0, 4, out[:34])
    lipschitz.chebyshev_rows(coordinates, 4, 11, out[34:])
    np.testing.assert_array_equal(out, chebyshev(coordinates)[np.triu_indices(11, 1)])


def test_simulated_rows_are_embeddings():
    points, sets = vectors(places(9, 3)), vectors(places(3 * 4 * 2, 4)).reshape(3, 4, 2, 3)
    out = np.empty((3, 36))
    for s in range(3):
        lipschitz.chebyshev_rows(lipschitz.lipschitz_coordinates(points, sets[s]), 0, 9, out[s])
    for row, references in zip(out, sets, strict=True):
        ref = chebyshev(lipschitz.lipschitz_coordinates(points, references))
        np.testing.assert_array_equal(row, ref[np.triu_indices(9, 1)])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 20), min_size=2, max_size=12), st.floats(0.05, 0.95))
def test_shortest_interval_is_the_shortest_of_all(values, alpha):
    simulated = np.array(values, dtype=float)[:, None]
    count = int(np.ceil(alpha * len(values) - 1e-9))
    lo, hi = shortest_intervals(simulated, np.array([count]))
    assert (lo[0, 0], hi[0, 0]) == naive.shortest_interval(values, alpha)
    inside = (lo[0] <= simulated) & (simulated <= hi[0])
    assert inside.sum() >= count
