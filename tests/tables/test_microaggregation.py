from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from reident import PrivacyWarning, microaggregate
from reident.tables import add_noise, round_values, swap_ranks


def money(n, p, seed=0):
    rng = np.random.default_rng(seed)
    values = np.rint(rng.lognormal(3, 1, size=(n, p)) * 10)
    return pd.DataFrame(values, columns=[f"v{i}" for i in range(p)], index=[f"r{i}" for i in range(n)])


@pytest.mark.parametrize(
    ("method", "groups"), [("mdav", [["v0", "v1"], ["v3"]]), ("pairs", [["v0", "v1"], ["v3", "v2"]])]
)
def test_result_describes_what_was_done(method, groups):
    table = money(50, 5).assign(name="x")
    result = microaggregate(table, groups, [3, 7], method=method)
    assert list(result.table.columns) == list(table.columns)
    assert result.table.index.equals(table.index)
    pd.testing.assert_frame_equal(result.table[["v4", "name"]], table[["v4", "name"]])
    for group, columns in enumerate(groups):
        means = table[columns].groupby(result.clusters[group]).transform("mean")
        np.testing.assert_allclose(result.table[columns], means)
        assert result.table.groupby(columns).size().min() >= (3, 7)[group]
    errors = ((table[result.columns] - result.table[result.columns]) ** 2).sum()
    totals = ((table[result.columns] - table[result.columns].mean()) ** 2).sum()
    assert result.information_loss == pytest.approx((errors / totals).mean())


def test_means_are_kept_and_loss_grows_with_k():
    table = money(60, 3)
    losses = []
    for k in (1, 3, 6, 60):
        result = microaggregate(table, list(table.columns), k, scale="std")
        np.testing.assert_allclose(result.table.mean(), table.mean())
        losses.append(result.information_loss)
    assert losses[0] == 0
    assert losses == sorted(losses)
    assert losses[-1] == pytest.approx(1)


def test_noise_has_the_stated_size_and_keeps_correlations():
    rng = np.random.default_rng(1)
    common = rng.normal(size=4000)
    table = pd.DataFrame({"a": common + rng.normal(size=4000), "b": 5 * common + rng.normal(size=4000)})
    masked = add_noise(table, relative=0.5, correlated=True, rng=2).table
    noise = masked - table
    # 4,000 draws: standard deviations and correlations lie within five standard errors, level below 1e-5.
    np.testing.assert_allclose(noise.std() / table.std(), 0.5, rtol=5 / np.sqrt(8000))
    assert noise.corr().iloc[0, 1] == pytest.approx(table.corr().iloc[0, 1], abs=5 / np.sqrt(4000))
    independent = add_noise(table, relative={"a": 0.1, "b": 0}, rng=2)
    assert (independent.table["b"] == table["b"]).all()
    assert independent.loss_by_column["b"] == 0


def test_rounding():
    table = pd.DataFrame({"v": [0.0, 12.0, 15.0, 25.0, -7.0]})
    assert round_values(table, base=10).table["v"].tolist() == [0, 10, 20, 20, -10]
    up_or_down = round_values(table, base=10, method="random", rng=1).table["v"]
    assert (np.abs(up_or_down - table["v"]) < 10).all()
    many = pd.DataFrame({"v": np.full(4000, 3.0)})
    # Bernoulli(.3) times 10: five standard errors.
    assert round_values(many, base=10, method="random", rng=1).table["v"].mean() == pytest.approx(3, abs=5 * 0.0725)


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
    assert window < 20 or moved.mean() > window / 5  # any rank of the window, and not the next one
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
