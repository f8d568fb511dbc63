"""Rank swapping: the window is the stated share of the records, exactly."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from reident import PrivacyWarning
from reident.tables import swap_ranks


@pytest.mark.parametrize("percent", [1, 2, 7, 14, 28, 29, 55, 57, 58, 99, 100, 0.5, 2.3, 33.3])
@pytest.mark.parametrize("n", [100, 200, 1000])
def test_the_window_is_the_stated_share(percent, n):
    window = int(Fraction(str(percent)) * n / 100)
    if not window:
        return
    column = pd.DataFrame({"pay": np.arange(float(n))})
    found = swap_ranks(column, percent=percent, rng=7).table["pay"].to_numpy()
    partner = found.astype(int)
    np.testing.assert_array_equal(partner[partner], np.arange(n))  # swaps in pairs
    moved = np.abs(partner - np.arange(n))
    assert moved.max() <= window
    free = np.flatnonzero(moved == 0)
    assert (np.diff(free) > window).all()  # a rank that keeps its value had no free rank within the window


def test_29_per_cent_of_100_records_is_not_28():
    column = pd.DataFrame({"pay": np.arange(100.0)})
    at = {percent: swap_ranks(column, percent=percent, rng=1).table["pay"].tolist() for percent in (28, 29)}
    assert at[28] != at[29]


@pytest.mark.parametrize(("percent", "n"), [(5, 15), (0.1, 400), (1, 99)])
def test_a_window_of_less_than_one_record_is_announced(percent, n):
    column = pd.DataFrame({"pay": np.arange(float(n)), "group": ["a", "b", "c"] * (n // 3) + ["a"] * (n % 3)})
    with pytest.warns(PrivacyWarning, match="no value moves: .* give at least") as caught:
        found = swap_ranks(column, "pay", percent=percent)
    assert found.table["pay"].tolist() == column["pay"].tolist()
    least = float(str(caught[0].message).split()[-1])
    assert (swap_ranks(column, "pay", percent=least).table["pay"] != column["pay"]).any()
