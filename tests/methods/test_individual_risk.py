"""Individual risk against enumeration."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reident.tables import individual_risk, k_anonymity

ROWS = st.lists(st.tuples(*[st.sampled_from([1.0, 2.0, np.nan])] * 3), min_size=1, max_size=9)


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_a_gap_agrees_with_every_value(rows):
    table = pd.DataFrame(rows, columns=["a", "b", "c"]).assign(w=np.arange(1.0, len(rows) + 1))

    def agree(x, y):
        return all(math.isnan(p) or math.isnan(q) or p == q for p, q in zip(x, y, strict=True))

    found = individual_risk(table, ["a", "b", "c"], "w", missing="wildcard")
    ref = [[agree(x, y) for y in rows] for x in rows]
    assert found["sample"].tolist() == [sum(row) for row in ref]
    assert found["population"].tolist() == [sum(i + 1 for i, yes in enumerate(row) if yes) for row in ref]
    assert k_anonymity(table, ["a", "b", "c"], missing="wildcard") == found["sample"].min()


@pytest.mark.parametrize(("f", "total"), [(1, 17.0), (2, 40.0), (4, 9.5), (3, 3.0)])
def test_the_risk_is_the_mean_of_one_over_the_population_class(f, total):
    """Summed over the negative binomial: F = f + failures before the f-th success."""
    p = f / total
    ref = sum(math.comb(j - 1, f - 1) * p**f * (1 - p) ** (j - f) / j for j in range(f, 6000))
    table = pd.DataFrame({"q": ["x"] * f, "w": [total / f] * f})
    assert individual_risk(table, "q", "w")["risk"].to_numpy() == pytest.approx(ref)
