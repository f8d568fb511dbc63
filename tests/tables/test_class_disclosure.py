import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reident.data.datasets import load_vanhoef2012_table
from reident.tables import background_knowledge_attack, homogeneity_attack, similarity_attack, skewness_attack

QUASI = ["zip", "age", "nationality"]
KEYS = {"quasi": QUASI, "sensitive": "condition"}
tables = st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from([1, 2, 3, 10])), min_size=1, max_size=12).map(
    lambda rows: pd.DataFrame(rows, columns=["zip", "value"])
)


def naive_shares(table):
    """Return {class: {value: share}} and {value: share overall}."""
    inside = {
        key: {v: sum(part["value"] == v) / len(part) for v in set(part["value"])}
        for key, part in table.groupby("zip", sort=False)
    }
    return inside, {v: sum(table["value"] == v) / len(table) for v in set(table["value"])}


def test_homogeneity_of_table_3_1():
    breaches = homogeneity_attack(load_vanhoef2012_table("3.1"), **KEYS)
    assert breaches.records.index.tolist() == [9, 10, 11, 12]
    assert set(breaches.records["value"]) == {"Cancer"}
    assert breaches.records["prior"].tolist() == pytest.approx([5 / 12] * 4)
    assert breaches.records["gain"].tolist() == pytest.approx([7 / 12] * 4)
    assert (breaches.n_breached, breaches.share) == (4, 4 / 12)
    assert homogeneity_attack(load_vanhoef2012_table("3.2"), **KEYS).n_breached == 0


def test_background_knowledge_about_table_3_1():
    """Someone aged 21 in 13023, very active in sports: hardly a heart disease, so a viral infection is likely."""
    breaches = background_knowledge_attack(load_vanhoef2012_table("3.1"), **KEYS, knowledge={"Heart Disease": 0})
    first = breaches.records.loc[1]
    assert first["value"] == "Viral Infection"
    assert first["posterior"] == pytest.approx(2 / 3)
    assert first["prior"] == pytest.approx(4 / 10)
    assert breaches.records.index.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]


def test_skewness_one_percent_becomes_one_half():
    """Section 3.3.2: 99 % without the virus, and a class with as many positive as negative records."""
    release = pd.DataFrame({"zip": ["1"] * 10 + ["2"] * 490, "test": ["positive", "negative"] * 5 + ["negative"] * 490})
    breaches = skewness_attack(release, quasi="zip", sensitive="test")
    assert breaches.n_breached == 10
    row = breaches.records.iloc[0]
    assert (row["value"], row["prior"], row["posterior"], row["gain"]) == ("positive", 0.01, 0.5, pytest.approx(0.49))


def test_similarity_of_cancers_and_of_salaries():
    release = pd.DataFrame(
        {
            "zip": ["1", "1", "2", "2"],
            "ill": ["lung cancer", "skin cancer", "flu", "lung cancer"],
            "pay": [30_000, 31_000, 30_000, 90_000],
        }
    )
    cancer = similarity_attack(release, quasi="zip", sensitive="ill", groups=lambda ill: ill.split()[-1])
    assert cancer.records.index.tolist() == [0, 1]
    assert cancer.records["value"].tolist() == ["cancer"] * 2
    assert cancer.records["prior"].tolist() == [0.75] * 2
    pay = similarity_attack(release, quasi="zip", sensitive="pay", width=2000)
    assert pay.records["value"].tolist() == [(30_000, 31_000)] * 2
    assert pay.records["prior"].tolist() == [0.75] * 2
    mapping = {"lung cancer": "c", "skin cancer": "c", "flu": "f"}
    assert similarity_attack(release, quasi="zip", sensitive="ill", groups=mapping).n_breached == 2


@given(tables, st.floats(0.05, 0.9))
def test_skewness_and_homogeneity_equal_plain_counting(table, min_gain):
    inside, overall = naive_shares(table)
    breaches = skewness_attack(table, quasi="zip", sensitive="value", min_gain=min_gain)
    ref = {
        (record, value)
        for record, key in table["zip"].items()
        for value, share in inside[key].items()
        if share - overall[value] >= min_gain
    }
    assert set(zip(breaches.records.index, breaches.records["value"], strict=True)) == ref
    same = homogeneity_attack(table, quasi="zip", sensitive="value")
    assert set(same.records.index) == {record for record, key in table["zip"].items() if len(inside[key]) == 1}


@given(tables, st.dictionaries(st.sampled_from([1, 2, 3, 10]), st.sampled_from([0.0, 0.5, 3.0]), min_size=1))
def test_background_knowledge_equals_bayes_by_hand(table, knowledge):
    inside, overall = naive_shares(table)
    knowledge = {value: weight for value, weight in knowledge.items() if value in overall}
    if not knowledge:
        return
    breaches = background_knowledge_attack(table, quasi="zip", sensitive="value", knowledge=knowledge)
    for record, row in breaches.records.iterrows():
        shares = inside[table.loc[record, "zip"]]
        weighed = {value: share * knowledge.get(value, 1) for value, share in shares.items()}
        assert row["posterior"] == pytest.approx(weighed[row["value"]] / sum(weighed.values()))
        whole = sum(share * knowledge.get(value, 1) for value, share in overall.items())
        assert row["prior"] == pytest.approx(overall[row["value"]] * knowledge.get(row["value"], 1) / whole)
        assert row["posterior"] >= 0.5


def test_suppressed_records_are_no_class():
    release = pd.DataFrame({"zip": ["1", "1", "*", "*"], "ill": ["a", "b", "c", "c"]})
    breaches = homogeneity_attack(release, quasi="zip", sensitive="ill")
    assert (breaches.n_breached, breaches.n_records, breaches.share) == (0, 2, 0)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), min_size=1, max_size=20), st.integers(1, 4))
def test_similar_numbers_are_those_of_plain_loops(rows, width):
    release = pd.DataFrame(rows, columns=["zip", "pay"])
    found = similarity_attack(release, quasi="zip", sensitive="pay", width=width).records
    for place, row in release.iterrows():
        own = release.loc[release["zip"] == row["zip"], "pay"]
        low, high = own.min(), own.max()
        assert (place in found.index) == (low < high <= low + width)
        if place in found.index:
            assert found.loc[place, "value"] == (low, high)
            assert found.loc[place, "prior"] == pytest.approx(release["pay"].between(low, high).mean())
            assert found.loc[place, "posterior"] == 1
