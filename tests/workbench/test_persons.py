import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reident as rd
from commands import call
from judged import records
from reident.methods.attacks import in_persons, run_attack
from reident.methods.release import Knowledge, Release
from reident.workbench.recipe import read_recipe
from reident.workbench.roles import repeated_ids
from reident.workbench.simulate import draw_files
from samples import drawn

RUN = {"quasi": ["age", "sex"], "attacks": ["exact_join", "class_risk"]}


def visits(n=60, repeats=5, seed=0, *, ages=20):
    """A file of persons with several records each; the numbers of the records are of no person."""
    persons = drawn(n, seed, patnr="P{:04d}", age=(20, 20 + ages), sex=["f", "m"])
    table = persons.iloc[np.repeat(np.random.default_rng(seed).permutation(n), repeats)].reset_index(drop=True)
    return table.join(drawn(len(table), seed, ill=["flu", "gout", "none"], nr="n{}"))


def naive(table, labels, person="patnr"):
    """The persons of each class, and each person's risk: one by the fewest persons of a class with a record of it."""
    classes = {}
    for whose, label in zip(table[person], labels, strict=True):
        classes.setdefault(label, set()).add(whose)
    risk = {}
    for members in classes.values():
        for whose in members:
            risk[whose] = max(risk.get(whose, 0.0), 1 / len(members))
    return classes, risk


def labels_of(table, names=("age", "sex")):
    return list(table[list(names)].itertuples(index=False, name=None))


def test_five_equal_records_of_each_person_are_one_person():
    table = visits()
    release = table.drop(columns="patnr").sample(frac=1, random_state=1)
    _, risk = naive(table, labels_of(table))
    by_records = rd.check(release, table, pairs="nr", limit=0.2, **RUN)
    found = rd.check(release, table, pairs="nr", limit=0.2, person="patnr", **RUN)
    assert by_records.share_above_limit == 0
    assert any(
        note.startswith("Records are counted, not persons: patnr has 60 values in 300") for note in by_records.notes
    )
    assert found.n == 60
    assert found.share_above_limit == pytest.approx(np.mean([one > 0.2 for one in risk.values()]))
    assert found.share_above_limit > 0.5
    row = found.attacks.set_index("name").loc["exact_join"]
    assert row["risk"] == pytest.approx(np.mean(list(risk.values())))
    assert any("300 records of 60 persons by patnr" in note for note in found.notes)
    reason = found.attacks.set_index("name")["reason"]
    assert reason["exact_join"] == ""
    assert reason["class_risk"] == ""


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 8))
@pytest.mark.slow
def test_a_person_is_one_in_each_class_and_at_risk_by_each_record(seed, width):
    rng = np.random.default_rng(seed)
    table = visits(30, rng.integers(1, 7, 30), seed)
    table["age"] += rng.integers(0, 3, len(table))  # the person ages between the visits
    low = table["age"] // width * width
    release = table.drop(columns="patnr").assign(age=[f"[{a}, {a + width})" for a in low])
    release = release.sample(frac=1, random_state=seed % 2**31)
    _, risk = naive(table, list(zip(low, table["sex"], strict=True)))
    found = rd.check(release, table, pairs="nr", person="patnr", limit=0.3, **RUN)
    assert found.n == 30
    assert found.share_above_limit == pytest.approx(np.mean([one > 0.3 for one in risk.values()]))
    assert found.worst == pytest.approx(max(risk.values()))
    row = found.knowledge.subsets.set_index("known").loc["age, sex"]
    assert row["worst"] == pytest.approx(max(risk.values()))
    assert row["share_above_limit"] == pytest.approx(found.share_above_limit)
    firsts = table.drop_duplicates("patnr")["patnr"]
    assert found.persons["risk"].to_numpy() == pytest.approx([risk[one] for one in firsts])


def test_values_are_counted_once_a_person():
    table = pd.DataFrame(
        {
            "patnr": [*"aaaaaaaa", *"bcdefgh"], "age": [30] * 15,
            "ill": ["flu"] * 8 + ["gout", "none", "gout", "none", "gout", "none", "flu"],
        }
    )  # fmt: skip
    release = Release("table", table[["age", "ill"]], "unknown", {}, 15)
    known = Knowledge(
        table[["age"]],
        ["age"],
        truth=np.arange(15),
        sensitive="ill",
        secrets={"ill": table["ill"]},
        persons=table["patnr"],
    )
    claims = run_attack("modal_value", known.on(release)).claims
    assert claims["confidence"].to_numpy() == pytest.approx([3 / 8] * 8)  # gout of b, d, f among eight persons
    one_each = in_persons(known.on(release), value=True).release
    assert one_each.table["ill"].value_counts().to_dict() == {"gout": 3, "none": 3, "flu": 2}


def test_a_release_that_keeps_the_column_of_persons_is_refused():
    table = visits()
    found = rd.check(table, table, pairs="nr", quasi=["sex"], person="patnr", tolerate=1)
    assert not found.passed
    assert "patnr: keeps the original's numbers in 100% of the records" in found.sentence


def test_both_files_of_a_map_hold_whole_persons():
    table = visits(80, 4)
    data = records(table, quasi=["age", "sex"], sensitive="ill", kind="table", person="patnr")
    sizes = {"n_known": 100, "overlap": 0.5, "n_released": 200}
    _, knowledge, partner = draw_files(data, sizes, np.random.default_rng(0))
    assert set(knowledge.known.columns) == {"age", "sex"}
    whose = knowledge.persons[knowledge.known.index].value_counts()
    assert (whose < 4).sum() <= 3  # those at the two ends of what is in both
    for known, released in partner.dropna().items():
        assert knowledge.persons[known] == knowledge.persons[released]


def test_the_column_is_proposed_where_an_identifier_repeats():
    table = visits()
    assert repeated_ids(table) == ["patnr"]
    for name in ("patient_id", "ID", "Patientennummer", "case", "pid"):
        assert repeated_ids(table.rename(columns={"patnr": name})) == [name]
    regions = table.assign(region_id=np.arange(300) % 16, patnr=table["nr"])
    assert repeated_ids(regions) == []


@pytest.mark.slow
def test_open_assess_and_check_count_persons(tmp_path):
    table = visits(200, 5, ages=30)
    table.drop(columns="nr").to_csv(tmp_path / "visits.csv", index=False)
    call(tmp_path, "open visits.csv --try mondrian:k=5,50 --limit 0.2 --role ill=other", code=0)
    assert read_recipe(tmp_path / "recipe.yaml").schema.named("person") == ["patnr"]
    made = call(tmp_path, "assess --recipe recipe.yaml --profile smoke --quiet --out report", code=0)
    assert "1000 records of 200 persons by patnr" in made.stdout
    assert "(k=50)" in made.stdout  # five records of one person are no class of five
    page = (tmp_path / "report" / "report.html").read_text("utf-8")
    assert "of 200 persons" in page
    made = call(tmp_path, "protect", "--recipe", "report/recipe.yaml", "--out", "release", code=0)
    said = call(tmp_path, "check", "release", "--against", "visits.csv", "--recipe", "report/recipe.yaml", code=0)
    assert "of 200 persons" in said.stdout
    shown = table[["age", "sex"]].sample(frac=1, random_state=1)
    shown.to_csv(tmp_path / "asis.csv", index=False)
    pairs = pd.DataFrame({"original_row": shown.index, "released_row": range(len(shown))})
    pairs.to_csv(tmp_path / "asis.pairs.csv", index=False)
    plain = "check asis.csv --pairs asis.pairs.csv --against visits.csv --quasi age,sex --limit 0.2"
    call(tmp_path, plain, code=0)
    refused = call(tmp_path, plain, "--person", "patnr", code=3)
    assert "of 200 persons" in refused.stdout
