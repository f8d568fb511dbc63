import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reident as rd
from reident.methods import entries
from reident.methods.attacks import run_attack
from reident.methods.outcome import NotApplicable, person_risks
from reident.methods.release import Knowledge, Release
from reident.tables.labels import common_texts, places_among

QUASI = ["sex", "age"]


def people(n=240, seed=1):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, n)
    ill = np.where(rng.random(n) < age / 160, "gout", rng.choice(["flu", "none", "cancer"], n, p=[0.3, 0.6, 0.1]))
    return pd.DataFrame({"sex": rng.choice(["f", "m"], n), "age": age, "ill": ill})


def attacked(name, table, released, secrets, n_known=None):
    """Run an attack of somebody who knows the first persons, on a release that kept the labels of its records."""
    release = Release("table", released, "unknown", {}, len(table))
    known = table.iloc[:n_known]
    knowledge = Knowledge(
        known[QUASI], QUASI, truth=release.table.index.get_indexer(known.index), sensitive="ill",
        secrets=secrets.iloc[:n_known],
    )  # fmt: skip
    return person_risks(run_attack(name, release, knowledge), limit=0.25)


ATTACKS = [entry.name for entry in entries("attack") if entry.data == "table" and not entry.costly]


@pytest.mark.parametrize("k", [2, 6, 25])
@pytest.mark.parametrize("name", ATTACKS)
def test_a_mean_gain_never_lies_above_the_worst_person(name, k):
    table = people()
    released = rd.k_anonymise(table, QUASI, k=k, method="mondrian").table
    try:
        row, persons = attacked(name, table, released, table["ill"])
    except NotApplicable:
        return
    assert row["residual"] <= row["worst"] == persons["risk"].max()
    own = persons["top"] > 0.25
    assert row["n_above"] == own.sum()


def test_background_knowledge_is_compared_to_a_guess_with_the_same_help():
    """Where the class is the whole table nothing is learned, however often the intruder who rules out is right."""
    table = people()
    blurred = table.assign(sex="*", age="[20, 79]")
    row, _ = attacked("background_knowledge", table, blurred, table["ill"])
    assert row["risk"] == row["control"] > 0.7
    assert row["residual"] == 0
    exact, persons = attacked("background_knowledge", table, table, table["ill"])
    assert exact["worst"] == 1
    assert persons["above"].mean() > 0.5


def naive_truths(value):
    return {True: "yes", False: "no"}[value]


@pytest.mark.parametrize("written", [lambda value: str(value).upper(), int])
@pytest.mark.parametrize(
    "name", ["homogeneity", "modal_value", "skewness", "attribute_inference", "background_knowledge"]
)
def test_truth_values_are_learned_whatever_they_are_written_as(name, written):
    table = people().assign(ill=lambda table: table["ill"] == "gout")
    released = table.assign(ill=table["ill"].map(written))
    words, plain = table["ill"].map(naive_truths), table.assign(ill=table["ill"].map(naive_truths))
    found = attacked(name, table, released, table["ill"])[0]
    wanted = attacked(name, plain, plain, words)[0]
    assert found["risk"] == wanted["risk"] > 0.3
    assert found["n_above"] == wanted["n_above"]


VALUES = {
    "truth": st.booleans(), "day": st.datetimes().map(lambda day: pd.Timestamp(day).floor("D")),
    "time": st.datetimes().map(lambda time: pd.Timestamp(time).floor("s")),
    "number": st.floats(-1e9, 1e9).map(lambda number: round(number, 3) + 0.0), "whole": st.integers(-(2**60), 2**60),
}  # fmt: skip


@given(st.sampled_from(sorted(VALUES)).flatmap(lambda kind: st.lists(VALUES[kind], min_size=1, max_size=9)))
def test_values_meet_the_texts_that_a_file_makes_of_them(values):
    column = pd.Series(values)
    texts = pd.Series(pd.Series(values).astype("str").to_list(), dtype="str")
    mine, theirs = common_texts(column, texts)
    assert mine.tolist() == theirs.tolist()
    distinct = pd.Index(texts.unique())
    assert distinct[places_among(column, distinct)].tolist() == texts.tolist()
    assert mine.nunique() == column.nunique()
