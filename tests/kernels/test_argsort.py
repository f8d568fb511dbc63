"""Sorting inside kernels."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reident.kernels._argsort import argsort

FLOATS = st.floats(allow_nan=False)
VECTORS = st.lists(FLOATS, max_size=70) | st.lists(st.integers(-3, 3), max_size=70)


def _vector(values):
    return np.array(values, dtype=float if any(isinstance(v, float) for v in values) else np.int64)


@given(VECTORS)
def test_positions_are_those_of_a_stable_sort(values):
    assert argsort(_vector(values)).tolist() == sorted(range(len(values)), key=values.__getitem__)
