from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_linkage import as_measure, random_measure, sets
from reident.tables import FuzzyMeasure
from reident.tables.choquet.fuzzy_measure import monotone_closure, zeta_transform


def some_measure(seed, n):
    return FuzzyMeasure(random_measure(np.random.default_rng(seed), n), [f"v{i}" for i in range(n)])


@given(seed=st.integers(0, 10**6), n=st.integers(1, 6))
def test_moebius_round_trip_and_definition(seed, n):
    measure = some_measure(seed, n)
    np.testing.assert_allclose(zeta_transform(measure.moebius(), 1.0), measure.values, atol=1e-12)
    values = as_measure(measure.values, n)
    for s in sets(min(n, 4)):
        ref = sum((-1) ** (len(s) - len(t)) * values[t] for t in sets(min(n, 4)) if t <= s)
        assert measure.moebius()[sum(1 << i for i in s)] == pytest.approx(ref, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_shapley_is_the_mean_over_all_orders(n):
    measure = some_measure(n, n)
    values = as_measure(measure.values, n)
    gains = np.zeros(n)
    orders = list(permutations(range(n)))
    for order in orders:
        for place, i in enumerate(order):
            gains[i] += values[frozenset(order[: place + 1])] - values[frozenset(order[:place])]
    np.testing.assert_allclose(measure.shapley(), gains / len(orders), atol=1e-12)
    assert measure.shapley().sum() == pytest.approx(1)


def test_interaction_tells_complements_from_substitutes():
    both = FuzzyMeasure([0, 0, 0, 1], ["a", "b"]).interaction()
    either = FuzzyMeasure([0, 1, 1, 1], ["a", "b"]).interaction()
    assert both.loc["a", "b"] == 1
    assert either.loc["a", "b"] == -1
    additive = FuzzyMeasure.from_weights({"a": 1, "b": 2, "c": 3})
    assert np.nanmax(np.abs(additive.interaction())) < 1e-12
    pd.testing.assert_series_equal(
        additive.shapley().reset_index(drop=True), pd.Series([1 / 6, 1 / 3, 1 / 2]), check_names=False
    )


def test_printed_measure_of_m4_28():
    """Abril et al. (2012), table 3: the first variable alone has measure .999168."""
    printed = {"1000": 0.999168, "0100": 0.039292, "0010": 0.003651, "0001": 0.154253, "0011": 0.207612}
    names = ["AFNLWGT", "AGI", "EMCONTRB", "FEDTAX"]
    values = np.zeros(16)
    values[[*(int(code[::-1], 2) for code in printed), 15]] = [*printed.values(), 1]
    measure = FuzzyMeasure(monotone_closure(values), names)
    table = measure.table().set_index("code")["measure"]
    for code, value in printed.items():
        assert table[code] == value
    assert table["1111"] == 1
    assert measure[["AFNLWGT"]] == 0.999168
    assert measure["FEDTAX"] == 0.154253


def test_lattice_keeps_covering_pairs_of_what_is_shown():
    measure = FuzzyMeasure.from_weights({"a": 1, "b": 1, "c": 1})
    nodes, edges = measure.lattice()
    assert len(nodes) == 8
    assert len(edges) == 12
    nodes, edges = measure.lattice(0.9)
    assert nodes["code"].tolist() == ["111"]
    assert edges == []
    nodes, edges = FuzzyMeasure([0, 0.5, 0, 0.5, 0, 0.5, 0, 1], ["a", "b", "c"]).lattice(0.5)
    assert sorted(edges) == [("100", "101"), ("100", "110"), ("101", "111"), ("110", "111")]
