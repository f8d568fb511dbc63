"""Fuzzy measures: definition, transforms, indices."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive_linkage import as_measure, choquet, random_measure, sets
from reident import ParameterError
from reident.tables import FuzzyMeasure
from reident.tables.choquet.fuzzy_measure import monotone_closure, zeta_transform


def some_measure(seed, n):
    return FuzzyMeasure(random_measure(np.random.default_rng(seed), n), [f"v{i}" for i in range(n)])


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 5))
def test_choquet_by_definition(seed, n):
    measure = some_measure(seed, n)
    rows = np.random.default_rng(seed).integers(0, 4, size=(5, n)) / 2
    ref = [choquet(list(row), as_measure(measure.values, n)) for row in rows]
    np.testing.assert_allclose(measure.choquet(rows), ref, atol=1e-12)


@settings(max_examples=40, deadline=None)
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


def test_equality_and_no_aliasing():
    values = np.array([0, 0.5, 0.5, 1])
    measure = FuzzyMeasure(values, ["a", "b"])
    values[1] = 0.9
    assert measure["a"] == 0.5
    assert measure == FuzzyMeasure([0, 0.5, 0.5, 1], ["a", "b"])
    assert measure != FuzzyMeasure([0, 0.5, 0.5, 1], ["a", "c"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: FuzzyMeasure([0, 0.8, 0.2, 0.5], ["a", "b"]), "0 for the empty set and 1"),
        (lambda: FuzzyMeasure([0.1, 0.8, 0.2, 1], ["a", "b"]), "0 for the empty set and 1"),
        (lambda: FuzzyMeasure([0, 1.2, 0.2, 1], ["a", "b"]), "monotone.*'b' joins"),
        (lambda: FuzzyMeasure([0, -0.2, 0.2, 1], ["a", "b"]), "monotone.*'a' joins"),
        (lambda: FuzzyMeasure([0, 1], ["a", "a"]), "distinct"),
        (lambda: FuzzyMeasure([0, 1], []), "number of variables"),
        (lambda: FuzzyMeasure([0, 1], [f"v{i}" for i in range(21)]), "at most 20"),
        (lambda: FuzzyMeasure.from_weights({"a": -1, "b": 1}), "negative"),
        (lambda: FuzzyMeasure.from_weights({"a": 0}), "not all 0"),
        (lambda: FuzzyMeasure.from_weights({"a": 1})[["b"]], "'b'"),
        (lambda: FuzzyMeasure.from_weights({"a": 1}).choquet([[1.0, 2.0]]), "1 columns"),
        (lambda: FuzzyMeasure.from_weights({"a": 1}).choquet([[-1.0]]), "non-negative"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_wrong_number_of_values():
    with pytest.raises(ValueError, match="must have 4 entries"):
        FuzzyMeasure([0, 1], ["a", "b"])
