"""The loops that kernels share."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reident.kernels._loops import ranked

FLOATS = st.floats(allow_nan=False)


@given(st.lists(FLOATS, max_size=70) | st.lists(st.integers(-3, 3), max_size=70))
def test_ranks_are_those_of_a_stable_sort(values):
    array = np.array(values, dtype=float if any(isinstance(v, float) for v in values) else np.int64)
    assert ranked(array).tolist() == sorted(range(len(values)), key=values.__getitem__)
