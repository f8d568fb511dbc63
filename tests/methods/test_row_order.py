"""Rows in the original's order are told apart from others, by what they hold and by what they are sorted by."""

import numpy as np
import pandas as pd
import pytest

from reident.workbench.row_order import told_of_order


@pytest.mark.parametrize("shown", ["labels", "noise", "sex alone"])
@pytest.mark.parametrize("sorted_by", [None, "town", "town, age, sex, pay"])
def test_the_order_is_found_in_what_no_row_tells_by_itself(shown, sorted_by):
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {"town": rng.choice(list("abcd"), 600), "age": rng.integers(20, 60, 600), "sex": rng.choice(["f", "m"], 600)}
    ).assign(pay=rng.normal(0, 1, 600).round(3))
    if sorted_by is not None:
        table = table.sort_values(sorted_by.split(", "), kind="stable", ignore_index=True)
    release = {
        "labels": table[["town", "sex"]].assign(age=[f"[{a // 5 * 5}, {a // 5 * 5 + 5})" for a in table["age"]]),
        "noise": table[["town"]].assign(pay=table["pay"] + rng.normal(0, 1, 600)),
        "sex alone": table[["town", "sex"]],
    }[shown]
    own = [one for one in ("town", "age", "sex") if one in release]
    assert told_of_order(table, release)
    assert not told_of_order(table, release.sample(frac=1, random_state=1).reset_index(drop=True))
    assert not told_of_order(table, release.sort_values([*own, *({"pay"} & set(release))], ignore_index=True))


def test_shuffled_orders_are_rarely_called_ordered():
    rng = np.random.default_rng(1)
    before = pd.DataFrame({"a": np.arange(100), "b": rng.normal(size=100)})
    assert not any(told_of_order(before, before.iloc[rng.permutation(100)].reset_index(drop=True)) for _ in range(200))
