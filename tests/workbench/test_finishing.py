"""Losses of released columns, and labels whose ends lie on a public grid and cover what they stand for."""

import numpy as np
import pandas as pd
import pytest

from reident.tables.labels import LabelReader
from reident.workbench.finishing import column_loss, public_days, public_ends

pytestmark = pytest.mark.whole


def test_column_loss_by_naive_counting():
    rng = np.random.default_rng(0)
    before = pd.Series(rng.choice(list("abcd"), 400))
    joined = before.map({"a": "ab", "b": "ab", "c": "cd", "d": "cd"})
    shares = before.value_counts(normalize=True)
    own = -(shares * np.log2(shares)).sum()
    left = sum(
        (part := shares[list(pair)]).sum() * -((part / part.sum()) * np.log2(part / part.sum())).sum()
        for pair in ("ab", "cd")
    )
    assert column_loss(before, joined) == pytest.approx(left / own)
    assert column_loss(before, before) == pytest.approx(0)
    assert column_loss(before, pd.Series("*", before.index)) == pytest.approx(1)
    assert column_loss(before, before.iloc[:100]) == pytest.approx(0.75, abs=0.02)
    numbers = pd.Series(rng.normal(size=400))
    noisy = numbers + rng.normal(size=400)
    assert column_loss(numbers, noisy) == pytest.approx(1 - np.corrcoef(numbers, noisy)[0, 1] ** 2)
    assert column_loss(numbers, numbers) == 0


def test_interval_ends_fall_on_a_public_grid_and_still_cover():
    rng = np.random.default_rng(0)
    pay = pd.Series(rng.normal(50_000, 9_000, 300).round(2))
    parts = np.array_split(np.sort(pay), 30)
    labels = pay.map({value: f"[{part[0]}, {part[-1]}]" for part in parts for value in part})
    shown = public_ends(pay, labels)
    ends = shown.str.extract(r"\[(.*), (.*)\]").astype(float)
    assert ((ends[0] <= pay) & (pay <= ends[1])).all()
    assert (ends % 100 == 0).all(axis=None)
    ages = pd.Series([20, 33, 47])
    assert public_ends(ages, pd.Series(["[20, 33]", "[20, 33]", "47"])).tolist() == ["[20, 33]", "[20, 33]", "47"]


@pytest.mark.parametrize("codes", [[], [-9, 99999], [-9, 9_999_999]])
@pytest.mark.parametrize("step", [500, 700, 0.5])
def test_codes_far_from_the_values_leave_ends_that_the_audit_allows(codes, step):
    rng = np.random.default_rng(3)
    pay = pd.Series(rng.choice([*codes, *(step * k for k in range(20, 120))], 300))
    cut = np.array_split(np.sort(pay), 40)
    exact = pay.map({value: f"[{part[0]}, {part[-1]}]" for part in cut for value in part})
    shown = public_ends(pay, exact)
    ends = shown.str.extract(r"\[(.*), (.*)\]").astype(float)
    assert ((ends[0] <= pay) & (pay <= ends[1])).all()
    if len(codes) == 2 and max(codes) < 10**5:
        assert (ends[1] - ends[0]).median() <= 10 * step


def test_runs_of_days_end_with_months_and_still_cover():
    rng = np.random.default_rng(0)
    born = pd.Series(pd.Timestamp("1940-01-01") + pd.to_timedelta(np.sort(rng.choice(25_000, 300)), "D"))
    days = born.dt.strftime("%Y-%m-%d")
    listed = days.groupby(np.arange(300) // 3).transform(lambda part: "{" + ", ".join(dict.fromkeys(part)) + "}")
    shortened = days.groupby(np.arange(300) // 30).transform(lambda part: f"{{{part.iloc[0]}, ..., {part.iloc[-1]}}}")
    for labels in (listed, shortened):
        shown = public_days(born, labels)
        ends = shown.str.extract(r"\{(.*), \.\.\., (.*)\}")
        assert ((ends[0] <= days) & (days <= ends[1])).all()
        assert pd.to_datetime(ends[0]).dt.is_month_start.all()
        assert pd.to_datetime(ends[1]).dt.is_month_end.all()
        assert LabelReader(pd.Index(days), pd.Index(shown)).cover()[np.arange(300), np.arange(300)].all()
    assert public_days(born, pd.Series(["{(missing), 1950-02-03 10:30:00}"])).tolist() == [
        "{(missing), ..., 1950-02-28 23:59:59}"
    ]
    dense = pd.Series(pd.date_range("2021-01-01", periods=40))
    assert public_days(dense, pd.Series(["{2021-01-03, 2021-01-04}"] * 40)).iloc[0] == "{2021-01-03, 2021-01-04}"
