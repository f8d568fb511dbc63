import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_lipschitz as naive
from reident.kernels.places import lipschitz
from reident.places.tolerance import shortest_intervals


def chebyshev(coordinates):
    out = np.full((coordinates.shape[1], coordinates.shape[1]), np.nan)
    lipschitz.chebyshev_matrix(coordinates, 0, 1, out)
    lipschitz.chebyshev_matrix(coordinates, 1, coordinates.shape[1], out)
    return out


def test_tiles_meet_without_a_seam():
    coordinates = np.random.default_rng(0).random((6, 2 * 256 + 3))
    if not hasattr(lipschitz.chebyshev_matrix, "py_func"):
        coordinates = coordinates[:, :40]
    ref = np.abs(coordinates[:, :, None] - coordinates[:, None, :]).max(axis=0)
    np.testing.assert_array_equal(chebyshev(coordinates), ref)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 20), min_size=2, max_size=12), st.floats(0.05, 0.95))
def test_shortest_interval_is_the_shortest_of_all(values, alpha):
    simulated = np.array(values, dtype=float)[:, None]
    count = int(np.ceil(alpha * len(values) - 1e-9))
    lo, hi = shortest_intervals(simulated, np.array([count]))
    assert (lo[0, 0], hi[0, 0]) == naive.shortest_interval(values, alpha)
    inside = (lo[0] <= simulated) & (simulated <= hi[0])
    assert inside.sum() >= count
