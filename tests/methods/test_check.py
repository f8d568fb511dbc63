"""`reident check`: the verdict of a release that anybody made, as a gate for pipelines reads it."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import reident as rd
from real_data import needs
from reident.data.datasets import load_adult
from reident.workbench.microdata import automatic_hierarchy

pytestmark = pytest.mark.whole

DOCS = Path(__file__).parents[2] / "docs" / "check.md"


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "nr": [f"P{i:05d}" for i in range(n)],
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(18, 90, n),
            "town": [f"{i:05d}" for i in rng.integers(1000, 1060, n)],
            "ill": rng.choice(["flu", "gout", "asthma"], n),
        }
    )


def generalised(table, k=5):
    quasi = ["sex", "age", "town"]
    trees = {c: automatic_hierarchy(table[c]) for c in quasi}
    return rd.k_anonymise(table, quasi, hierarchies=trees, k=k, method="ola", suppression_limit=0.0).table


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("check")
    table = people()
    table.to_csv(folder / "original.csv", index=False)
    shuffled = table.sample(frac=1, random_state=3)
    shuffled.to_csv(folder / "raw.csv", index=False)
    generalised(table).drop(columns="ill").sample(frac=1, random_state=4).to_csv(folder / "safe.csv", index=False)
    return folder


def run(*arguments):
    from reident.cli import app

    return CliRunner().invoke(app, ["check", *map(str, arguments)])


def test_exit_codes_and_verdict(files, tmp_path):
    common = ["--against", files / "original.csv", "--quasi", "sex,age,town", "--id", "nr"]
    good = run(files / "safe.csv", *common, "--out", tmp_path / "good")
    told = json.loads((tmp_path / "good" / "verdict.json").read_text())
    assert good.exit_code == 0, good.output
    assert told["passed"] is True
    assert told["share_above_limit"] == 0
    assert told["worst"] <= 0.25
    bad = run(files / "raw.csv", *common, "--sensitive", "ill", "--out", tmp_path / "bad")
    assert bad.exit_code == 3, bad.exception
    told = json.loads((tmp_path / "bad" / "verdict.json").read_text())
    assert bad.exit_code == 3
    assert told["passed"] is False
    assert told["share_above_limit"] > 0.9
    assert told["worst"] == 1
    assert "exact_join" in bad.output
    assert run(files / "raw.csv", "--against", files / "original.csv", "--quasi", "height").exit_code != 0
    with pytest.raises(rd.ParameterError, match=r"did you mean 0\.25"):
        rd.check(people(), people(), quasi="sex", limit=25)


def test_a_wrong_call_ends_with_2(files, monkeypatch):
    from reident import cli

    monkeypatch.setattr(
        "sys.argv", ["reident", "check", str(files / "raw.csv"), "--against", "nowhere.csv", "--quasi", "sex"]
    )
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2


def test_the_schema_is_the_documented_one(files, tmp_path):
    found = rd.check(
        files / "raw.csv", files / "original.csv", quasi=["sex", "age"], sensitive="ill", id="nr", out=tmp_path
    )
    told = json.loads((tmp_path / "verdict.json").read_text())
    rows = re.findall(r"^\| `(\w+)` \|", DOCS.read_text().partition("## Each attack")[0], re.MULTILINE)
    assert list(told) == rows
    of_attacks = re.findall(r"^\| `(\w+)` \|", DOCS.read_text().partition("## Each attack")[2], re.MULTILINE)
    assert {tuple(one) for one in told["attacks"]} == {tuple(of_attacks)}
    assert {"name", "risk", "low", "high", "baseline", "share_above_limit", "n"} <= set(of_attacks)
    assert {one["name"] for one in told["attacks"]} | {one["name"] for one in told["not_attacked"]} == set(
        found.attacks["name"]
    )
    assert all(one["reason"] for one in told["not_attacked"])
    assert "P00001" not in (tmp_path / "verdict.json").read_text()


def test_the_verdict_is_the_same_for_the_same_seed(files, tmp_path):
    for name in ("a", "b"):
        rd.check(
            files / "raw.csv",
            files / "original.csv",
            quasi=["sex", "age"],
            sensitive="ill",
            id="nr",
            seed=3,
            out=tmp_path / name,
        )
    assert (tmp_path / "a" / "verdict.json").read_bytes() == (tmp_path / "b" / "verdict.json").read_bytes()


def test_without_an_id_it_says_what_cannot_be_told(files):
    found = rd.check(files / "raw.csv", files / "original.csv", quasi=["sex", "age", "town"])
    assert not found.passed
    assert any("right claims cannot be told" in note for note in found.notes)
    with_id = rd.check(files / "raw.csv", files / "original.csv", quasi=["sex", "age", "town"], id="nr")
    assert not any("right claims cannot be told" in note for note in with_id.notes)
    joins = [one.attacks.set_index("name").loc["exact_join", "n_above"] for one in (found, with_id)]
    assert joins[0] == joins[1]


def test_what_is_believed_is_called_confidence_and_what_was_right_success(tmp_path):
    """Each column of numbers is exchanged among persons: who takes the nearest record is sure, and wrong."""
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"nr": [f"P{i:03d}" for i in range(300)]})
    table["income"], table["age"] = rng.permutation(300) * 100, rng.permutation(300)
    table["ill"] = rng.choice(["flu", "gout"], 300)
    moved = table.assign(income=table["income"].to_numpy()[rng.permutation(300)])
    table.to_csv(tmp_path / "original.csv", index=False)
    moved.sample(frac=1, random_state=1).to_csv(tmp_path / "moved.csv", index=False)
    said = ["--against", tmp_path / "original.csv", "--quasi", "income,age", "--sensitive", "ill"]
    words = {}
    for known in ([], ["--id", "nr"]):
        text = run(tmp_path / "moved.csv", *said, *known, "--out", tmp_path / "verdict").stdout
        told = json.loads((tmp_path / "verdict" / "verdict.json").read_text("utf-8"))
        rows = {one["name"]: one for one in told["attacks"]}
        words[bool(known)] = {name: row["measure"] for name, row in rows.items()}
        nearest = rows["nearest_record"]
        assert f"{nearest['risk']:.1%} {nearest['measure']} (" in text
        assert re.search(rf"by \w+ \([\d.]+% {rows['exact_join']['measure']}\)", told["verdict"])
        assert re.search(rf"knowing \w+: .* {rows['exact_join']['measure']} by joining", text)
        if not known:
            believed = nearest["risk"]
    assert {"exact_join", "nearest_record", "record_assignment"} <= set(words[False])
    assert {words[False][name] for name in ("exact_join", "class_risk", "nearest_record")} == {"confidence"}
    assert words[False]["homogeneity"] == "success"  # the values are in the original
    assert set(words[True].values()) == {"success"}
    # What is called success is how often the nearest record is the person's.
    right = nearest["risk"]
    gaps = sum(
        abs(table[name].to_numpy()[:, None] - moved[name].to_numpy()) / np.ptp(table[name])
        for name in ("income", "age")
    )
    naive = np.mean([(row == row.min())[i] / (row == row.min()).sum() for i, row in enumerate(gaps)])
    assert right == pytest.approx(naive, abs=1e-6)
    assert believed > right + 0.1


def test_a_file_in_the_originals_order_is_refused(files, tmp_path):
    table = people()
    table.to_csv(tmp_path / "original.csv", index=False)
    said = ["--against", tmp_path / "original.csv", "--quasi", "sex,town", "--limit", "1"]
    table[["sex"]].to_csv(tmp_path / "same.csv", index=False)
    refused = run(tmp_path / "same.csv", *said)
    assert refused.exit_code == 3
    assert "the rows stand in the original's order, shuffle them" in refused.stdout.splitlines()[0]
    table[["sex"]].sample(frac=1, random_state=1).to_csv(tmp_path / "other.csv", index=False)
    assert run(tmp_path / "other.csv", *said).exit_code == 0
    table[["sex"]].sort_values("sex").to_csv(tmp_path / "sorted.csv", index=False)
    assert run(tmp_path / "sorted.csv", *said).exit_code == 0


def test_columns_that_are_released_as_they_are_and_named_by_nobody_are_told():
    table = people().assign(job=lambda t: t["age"] % 7, one="x", pay=lambda t: t["age"] * 1.5)
    rng = np.random.default_rng(0)
    shown = table.drop(columns="nr").assign(pay=table["pay"] + rng.normal(size=400))
    told = {}
    every = ["sex", "age", "town", "job"]
    for name, said in (("none", {}), ("ill", {"sensitive": "ill"}), ("all", {"sensitive": "ill", "quasi": every})):
        notes = rd.check(shown, table, **{"quasi": "sex", "attacks": ["exact_join"], **said}).notes
        told[name] = [note for note in notes if note.startswith("Released as they are")]
    assert "no attack uses them: age, town, ill, job. Who" in told["none"][0]
    assert "no attack uses them: age, town, job. Who" in told["ill"][0]
    assert told["all"] == []
    # The note is no lie: these columns find persons.
    by_all = rd.check(shown, table, quasi=every, attacks=["exact_join"])
    assert by_all.share_above_limit > rd.check(shown, table, quasi="sex", attacks=["exact_join"]).share_above_limit


def test_tolerance_lets_some_persons_lie_above():
    table = pd.DataFrame({"age": [30] * 98 + [50, 51], "sex": "f"})
    strict = rd.check(table, table, quasi=["age", "sex"], attacks=["exact_join"])
    loose = rd.check(table, table, quasi=["age", "sex"], tolerate=0.02, attacks=["exact_join"])
    assert (strict.passed, loose.passed) == (False, True)
    assert strict.n_above == loose.n_above == 2
    assert strict.sentence.startswith("refused: 2.0% of 100 persons have a risk above 25%, most of them by exact_join")
    assert loose.sentence.startswith("passed: at most 2.0% of 100 persons")


def test_a_register_counts_the_population():
    original = pd.DataFrame({"id": range(40), "age": np.arange(40) % 20})
    register = pd.DataFrame({"age": np.repeat(np.arange(20), 10)})
    found = rd.check(
        original, original, quasi="age", id="id", register=register, attacks=["exact_join", "register_join"]
    )
    row = found.attacks.set_index("name")
    assert row.loc["exact_join", "worst"] == 0.5
    assert row.loc["register_join", "worst"] == pytest.approx(0.1)


def test_no_number_depends_on_the_order_of_the_rows():
    """Where values are equally common, the first one met was claimed: every shuffle had another verdict."""
    table = people(200, 3)
    release = generalised(table, 20).drop(columns="nr")
    told = [
        rd.check(release.sample(frac=1, random_state=seed), table, quasi=["sex", "age", "town"], sensitive="ill")
        for seed in range(4)
    ]
    for one in told[1:]:
        pd.testing.assert_frame_equal(one.attacks, told[0].attacks)
        pd.testing.assert_frame_equal(one.persons, told[0].persons)


def test_earlier_releases_are_intersected():
    table = people(300, 5)
    first, second = generalised(table.iloc[:250], 10), generalised(table.iloc[50:], 10)
    alone = rd.check(first, table, quasi=["sex", "age", "town"], sensitive="ill", id="nr", attacks=["intersection"])
    both = rd.check(
        first, table, quasi=["sex", "age", "town"], sensitive="ill", id="nr", earlier=[second], attacks=["intersection"]
    )
    assert "no other release" in alone.attacks["reason"][0]
    assert both.attacks["reason"][0] == ""
    assert "2 releases" in both.attacks["assumption"][0]


@pytest.mark.parametrize("values", [["flu", "gout", "cough"], [1.5, 2.5, 3.5]])
def test_gaps_in_what_is_sensitive_do_not_switch_the_intersection_off(values):
    """Two classes that have only the person's own value in common tell it, whoever else has none."""
    first = pd.DataFrame({"age": ["30-39"] * 3 + ["40-49"], "ill": [values[0], values[1], None, values[2]]})
    second = pd.DataFrame({"age": ["35-44"] * 2 + ["25-34"] * 2, "ill": [values[0], values[2], values[1], None]})
    table = pd.DataFrame({"age": [36, 31, 32, 44], "ill": [values[0], values[1], None, values[2]]})
    told = rd.check(first, table, quasi="age", sensitive="ill", earlier=[second], attacks=["intersection"])
    row = told.attacks.iloc[0]
    assert row["reason"] == ""
    assert row["worst"] == 1
    assert told.share_above_limit == 1


def test_a_recipe_says_the_roles(tmp_path):
    from reident.workbench.recipe import Recipe

    columns = {"sex": "quasi-identifier", "age": "quasi-identifier", "ill": "sensitive"}
    recipe = Recipe(columns={name: {"role": role} for name, role in columns.items()})
    table = people(100)
    told = rd.check(table, table, recipe=recipe, id="nr", attacks=["exact_join", "homogeneity"])
    named = rd.check(
        table, table, quasi=["sex", "age"], sensitive="ill", id="nr", attacks=["exact_join", "homogeneity"]
    )
    assert told.to_dict() == named.to_dict()


def test_a_folder_of_protect_is_read_with_its_manifest(tmp_path):
    table = people(60).drop(columns="nr").assign(lat_deg=np.linspace(48, 49, 60), lon_deg=np.linspace(8, 9, 60))
    made = rd.protect(table, tmp_path / "out", method="disc", options={"radius_m": 100.0}, quasi=["sex"])
    found = rd.check(made, table, quasi=["sex"], attacks=["known_mask", "nearest_place"])
    row = found.attacks.set_index("name").loc["known_mask"]
    assert row["reason"] == ""
    assert not found.passed


@needs("adult")
def test_adult_with_six_quasi_identifiers_is_refused():
    """The audit: noise of .05 standard deviations on age was advised with a risk of 11 %; five columns stay."""
    adult = load_adult().head(6000).reset_index(drop=True)
    quasi = ["age", "sex", "race", "marital-status", "education", "native-country"]
    noisy = rd.add_noise(adult, ["age"], amount=0.05, rng=1).table.assign(nr=range(len(adult)))
    found = rd.check(
        noisy, adult.assign(nr=range(len(adult))), quasi=quasi, sensitive="occupation", id="nr",
        attacks=["exact_join", "nearest_record", "modal_value", "skewness"],
    )  # fmt: skip
    rows = found.attacks.set_index("name")
    assert not found.passed
    assert rows.loc["nearest_record", "verdict"] == "above the limit"
    assert rows.loc["nearest_record", "risk"] > 0.2


def test_released_exact_places_are_refused(tmp_path):
    """Nobody is above the limit of 1, and yet true places are none to be released."""
    table = people(60).assign(lat=np.linspace(48, 49, 60).round(5), lon=np.linspace(8, 9, 60).round(5))
    table.to_csv(tmp_path / "original.csv", index=False)
    table[["lat", "lon"]].sample(frac=1, random_state=1).to_csv(tmp_path / "places.csv", index=False)
    found = rd.check(
        tmp_path / "places.csv", tmp_path / "original.csv", quasi="sex", lat="lat", lon="lon", limit=1,
        attacks=["nearest_place"],
    )  # fmt: skip
    assert found.share_above_limit == 0
    assert not found.passed
    assert "60 of 60 released places are exactly the true place of a person" in found.sentence
