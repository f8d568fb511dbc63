import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reident.tables import individual_risk, k_anonymity, special_uniques

ROWS = st.lists(st.tuples(*[st.sampled_from([1.0, 2.0, np.nan])] * 3), min_size=1, max_size=9)


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


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=1, max_size=10))
def test_special_uniques_against_every_subset(rows):
    table = pd.DataFrame(rows, columns=list("abcd"))
    subsets = [s for size in range(1, 5) for s in itertools.combinations(range(4), size)]

    def unique(row, columns):
        return sum(all(row[c] == other[c] for c in columns) for other in rows) == 1

    scores, shares = [], dict.fromkeys("abcd", 0)
    for row in rows:
        minimal = [
            s for s in subsets if unique(row, s) and not any(set(t) < set(s) and unique(row, t) for t in subsets)
        ]
        scores.append(sum(math.factorial(4 - len(s)) for s in minimal))
        for s in minimal:
            for c in s:
                shares["abcd"[c]] += math.factorial(4 - len(s))
    found, contributions = special_uniques(table)
    assert found.tolist() == scores
    if sum(scores):
        assert contributions.to_dict() == pytest.approx({c: 100 * v / sum(scores) for c, v in shares.items()})
    else:
        assert contributions.isna().all()


def test_scores_beyond_64_bits_are_exact():
    """A record unique in the first of 24 columns alone: 23!, more than an int64 holds; the second in two at once."""
    table = pd.DataFrame(0, index=range(6), columns=range(24))
    table.loc[0, 0] = 1
    table.loc[[1, 2], 1] = 1
    table.loc[[1, 3], 2] = 1
    scores, contributions = special_uniques(table, max_size=2)
    pairs = math.factorial(22)
    assert scores.tolist() == [math.factorial(23), *[pairs] * 3, 0, 0]
    assert contributions[0] > contributions[1] == contributions[2] > contributions[3] == 0
