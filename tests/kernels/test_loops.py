"""The loops that kernels share."""

from __future__ import annotations

import functools
import operator

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reident.kernels._loops import max_of, min_of, numbers, ranked, sum_of

FLOATS = st.floats(allow_nan=False)
VECTORS = st.lists(FLOATS, max_size=70) | st.lists(st.integers(-3, 3), max_size=70)


def _vector(values):
    return np.array(values, dtype=float if any(isinstance(v, float) for v in values) else np.int64)


@given(VECTORS)
def test_ranks_are_those_of_a_stable_sort(values):
    assert ranked(_vector(values)).tolist() == sorted(range(len(values)), key=values.__getitem__)


@given(VECTORS)
def test_sums_are_added_in_their_order_and_extremes_are_found(values):
    array = _vector(values)
    with np.errstate(all="ignore"):  # inf - inf, and what is too large
        np.testing.assert_equal(float(sum_of(array)), float(functools.reduce(operator.add, array.tolist(), 0)))
    np.testing.assert_equal(sum_of(np.tile(array, (3, 1)).T[:, 1]), sum_of(array))
    if values:
        assert max_of(array) == max(values)
        assert min_of(array) == min(values)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="numpy adds small integers in small integers")
def test_many_small_integers_do_not_overflow():
    assert sum_of(np.full(3, 2**31 - 1, np.int32)) == 3 * (2**31 - 1)


def test_truth_values_are_counted():
    assert sum_of(np.array([True, False, True])) == 2


@pytest.mark.parametrize("n", [0, 1, 5])
def test_numbers_are_counted_from_nought(n):
    counted = numbers(n)
    assert counted.tolist() == list(range(n))
    assert counted.dtype == np.int64
