"""Rank swapping: the window is the stated share of the records, exactly."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from reident.kernels.tables.swapping import swap_partners

from reident import PrivacyWarning, protect, swap_ranks


@pytest.mark.parametrize("percent", [*range(1, 101), 0.5, 2.3, 33.3])
@pytest.mark.parametrize("n", [100, 200, 1000])
def test_the_window_is_the_stated_share(percent, n):
    window = int(Fraction(str(percent)) * n / 100)
    if not window:
        return
    column = pd.DataFrame({"pay": np.arange(float(n))})
    found = swap_ranks(column, percent=percent, rng=7).table["pay"].to_numpy()
    partners = swap_partners(n, window, np.random.default_rng(7).random(n))
    np.testing.assert_array_equal(found, partners)
    assert np.abs(found - np.arange(n)).max() <= window


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


@pytest.mark.parametrize(("percent", "unchanged"), [(5.0, ["pay", "group"]), (50.0, ["group"])])
def test_a_manifest_names_the_columns_that_a_method_left_as_they_were(percent, unchanged, tmp_path):
    table = pd.DataFrame({"pay": np.arange(1000.0, 1015.0), "group": list("abc") * 5})
    out = protect(
        table, tmp_path / "out", method="rank_swapping", options={"percent": percent}, quasi=["pay"], keep=["group"]
    )
    assert json.loads((out / "manifest.json").read_text())["columns_released_unchanged"] == unchanged


def test_none_or_one_record_is_left():
    column = pd.DataFrame({"pay": [1.0, 2.0]})
    assert swap_ranks(column, percent=0).table["pay"].tolist() == [1, 2]
    assert swap_ranks(column.iloc[:1], percent=5).table["pay"].tolist() == [1]
