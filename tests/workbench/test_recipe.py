import importlib
import json
import secrets
import shlex

import numpy as np
import pandas as pd
import pytest

import reident as rd
from commands import call
from judged import protect_into
from office import office
from reident.base import DataError, ParameterError, system_rng
from reident.tables.labels import GAP, LabelReader
from reident.workbench.cells import decimals_of
from reident.workbench.finishing import column_loss, public_days, public_ends
from reident.workbench.making import Step, make
from reident.workbench.microdata import LAT, LON
from reident.workbench.recipe import Recipe, read_recipe, recipe_of
from samples import drawn


@pytest.fixture(scope="module")
def persons():
    pay = lambda rng, n: rng.normal(3000, 400, n).round(2)  # noqa: E731
    homes = drawn(100, 8, lat=(50.0, 51.0), lon=(8.0, 9.0)).round(5).assign(hh_id=range(100))
    labels = {"job": ["baker", "smith", "cook"], "pay": pay, "ill": ["flu", "gout"]}
    table = drawn(300, 8, code="K{:05d}", sex=["f", "m"], age=(20, 90), **labels).astype({"age": "Int64"})
    gaps = np.random.default_rng(8).random((300, 2)) < 0.1
    table[["age", "job"]] = table[["age", "job"]].mask(gaps)
    return table.join(homes.loc[homes.index.repeat(3)].reset_index(drop=True))


QUASI = ["sex", "age", "job"]


def released(out):
    return pd.read_csv(out / "release.csv", dtype={"age": "str"}, keep_default_na=False, na_values=[""])


@pytest.mark.parametrize("method", ["mondrian", "k_anonymity"])
@pytest.mark.parametrize("missing", ["label", "wildcard", "drop", "suppress"])
def test_gaps_are_settled_as_chosen_and_k_holds(persons, tmp_path, method, missing):
    out = protect_into(
        persons, tmp_path / "r", method=method, options={"k": 4}, quasi=QUASI, sensitive="ill", missing=missing
    )
    table = released(out)
    gaps = persons[QUASI].isna().any(axis=1)
    n_gone = json.loads((out / "manifest.json").read_text())["records_left_out"]
    assert len(table) == len(persons) - n_gone
    if missing == "drop":
        assert n_gone >= gaps.sum()
        assert not table[QUASI].isna().any(axis=None)
    if missing == "label":
        assert not table[QUASI].isna().any(axis=None)
        assert (table["age"] == GAP).any() or method == "k_anonymity"
    if missing == "suppress":
        assert (table[QUASI] == "*").all(axis=1).sum() >= gaps.sum()
    if missing == "wildcard":
        # A gap agrees with every value: each record must agree with three others, pair by pair.
        rows = table[QUASI].astype(object).to_numpy()
        known = ~pd.isna(rows)
        least = min(
            int(((rows == row) | ~known | ~there).all(axis=1).sum()) for row, there in zip(rows, known, strict=True)
        )
        assert least >= 4
        assert table["age"].isna().any()
    else:
        assert table[QUASI].value_counts().min() >= 4


def test_numbers_keep_their_form_and_their_gaps(persons, tmp_path):
    out = protect_into(persons, tmp_path / "r", method="add_noise", quasi=["age", "pay"], keep=["sex"])
    table = pd.read_csv(out / "release.csv")
    assert list(table.columns) == ["sex", "age", "pay"]
    assert decimals_of(table["age"].dropna()) == 0
    assert decimals_of(table["pay"]) <= 2
    assert table["age"].isna().sum() == persons["age"].isna().sum()
    assert "." not in "".join(line.split(",")[1] for line in (out / "release.csv").read_text().splitlines()[1:])


def test_a_household_moves_together_and_places_are_written_to_a_metre(persons, tmp_path):
    given = {"method": "disc", "options": {"radius_m": 2000.0}, "lat": "lat", "lon": "lon", "keep": "sex"}
    single = protect_into(persons, tmp_path / "a", **given)
    joint = protect_into(persons, tmp_path / "b", **given, household="hh_id")
    spots = [pd.read_csv(out / "release.csv").groupby(["lat", "lon"]).size() for out in (single, joint)]
    assert spots[0].max() == 1
    assert spots[1].tolist() == [3] * 100
    coarse = protect_into(persons.round({"lat": 2, "lon": 2}), tmp_path / "c", **given)
    for out in (joint, coarse):  # more digits only where a place came back to its own would tell which
        assert decimals_of(pd.read_csv(out / "release.csv")["lat"]) == 5


def test_an_identifier_is_kept_only_on_the_explicit_word(persons, tmp_path):
    arguments = {"method": "mondrian", "quasi": ["sex"], "keep": "code"}
    with pytest.raises(ParameterError, match=r"`keep` must not name 'code'.*--keep-identifiers on the command line"):
        protect_into(persons, tmp_path / "r", **arguments)
    assert "code" in released(protect_into(persons, tmp_path / "r", **arguments, keep_identifiers=True))


def test_coordinates_in_metres_come_back_in_metres(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.uniform(4e5, 6e5, 60).round(), "y": rng.uniform(5.5e6, 5.6e6, 60).round()})
    table["sex"] = rng.choice(["f", "m"], 60)
    out = protect_into(
        table, tmp_path / "r", method="donut", options={"inner_m": 500.0, "outer_m": 2000.0}, lat="y", lon="x",
        crs="EPSG:25832", keep="sex",
    )  # fmt: skip
    moved = pd.read_csv(out / "release.csv")
    assert list(moved.columns) == ["x", "y", "sex"]
    assert decimals_of(moved["x"]) == 0
    apart = np.hypot(*(moved[c].to_numpy()[:, None] - table[c].to_numpy() for c in "xy")).min(axis=1)
    assert ((apart > 0) & (apart < 2100)).all()


def test_a_release_draws_under_a_key_from_the_operating_system(persons, tmp_path, monkeypatch):
    importlib.import_module("scipy.stats")  # draws for its documentation while it is imported
    keys, real = [], secrets.randbits

    def counted(bits):
        keys.append(bits)
        return real(bits)

    def refused(*_):
        raise AssertionError("a release must not draw from a seeded generator")

    monkeypatch.setattr(secrets, "randbits", counted)
    monkeypatch.setattr(np.random, "PCG64", refused)
    monkeypatch.setattr(np.random, "default_rng", refused)
    out = protect_into(persons, tmp_path / "r", method="coordinate_noise", lat="lat", lon="lon", keep="sex")
    assert set(keys) == {256}
    assert "cryptographic" in json.loads((out / "manifest.json").read_text())["random_numbers"]


def test_the_systems_generator_is_chacha20(monkeypatch):
    # The key stream of key 0 and nonce 0 as printed in draft-agl-tls-chacha20poly1305, section 7.
    monkeypatch.setattr(secrets, "randbits", lambda _: 0)
    assert system_rng().bytes(16).hex() == "76b8e0ada0f13d90405d6ae55386bd28"


def test_hierarchies_by_file_prefix_interval_and_date(tmp_path):
    days = list(pd.to_datetime(["1980-01-02", "1981-05-06"]))
    zips, jobs = ["01067", "01069", "10115", "10117"], ["baker", "smith", "nurse"]
    table = drawn(200, 1, zip=zips, age=(20, 60), job=jobs, born=days)
    (tmp_path / "job.csv").write_text("baker;craft;*\nsmith;craft;*\nnurse;care;*\n")
    forms = {"zip": "prefixes", "age": {"intervals": [5, 20]}, "job": str(tmp_path / "job.csv"), "born": "date"}
    out = protect_into(
        table, tmp_path / "r", method="k_anonymity", options={"k": 12, "suppression_limit": 0.0},
        quasi=list(forms), hierarchies=forms,
    )  # fmt: skip
    shown = pd.read_csv(out / "release.csv", dtype=str)
    assert set(shown["job"]) <= {"baker", "smith", "nurse", "craft", "care", "*"}
    assert shown["age"].str.fullmatch(r"\d+|\[\d+, \d+\)|\*").all()
    assert shown["zip"].str.fullmatch(r"\d{0,5}\**").all()
    assert shown["born"].str.fullmatch(r"[\d-]+\*?|\*").all()
    assert shown.value_counts().min() >= 12
    with pytest.raises(ParameterError, match="`hierarchies`"):
        protect_into(table, tmp_path / "s", method="mondrian", quasi="age", hierarchies={"age": {"widths": [5]}})


def test_a_recipe_releases_what_its_steps_would(persons, tmp_path):
    persons.to_csv(tmp_path / "p.csv", index=False)
    opened = rd.workbench.open_file(tmp_path / "p.csv")
    recipe = recipe_of(opened, "p.csv")
    chain = [
        {"method": "k_anonymity", "parameters": {"k": 3}},
        {"method": "grid", "parameters": {"cell_m": 20000.0, "min_count": 3}},
    ]
    from dataclasses import replace

    path = replace(recipe, chain=chain, missing_values="drop").write(tmp_path / "r.yaml")
    told = rd.workbench.read_recipe(path)
    out = protect_into(opened, tmp_path / "r", recipe=told)
    manifest = json.loads((out / "manifest.json").read_text())
    assert [step["method"] for step in manifest["chain"]] == ["k_anonymity", "grid"]
    table = pd.read_csv(out / "release.csv")
    assert {"lat", "lon", "ill"} <= set(table.columns)
    assert not {"code", "hh_id"} & set(table.columns)
    assert table.groupby(["lat", "lon"]).size().min() >= 3
    assert len(table) == manifest["records_released"] == len(persons) - manifest["records_left_out"]
    assert "fewer than k = 3, since a later step left records out" in manifest["guarantee"]
    with pytest.raises(ParameterError, match="at least one step"):
        protect_into(persons, tmp_path / "s", recipe=recipe)


@pytest.mark.parametrize("method", ["mondrian", "k_anonymity"])
@pytest.mark.parametrize("missing", ["label", "wildcard", "drop", "suppress"])
def test_dates_with_gaps_are_protected_and_checked(tmp_path, method, missing):
    rng = np.random.default_rng(1)
    born = pd.Series(pd.Timestamp("1940-01-01") + pd.to_timedelta(rng.choice(25_000, 300), "D"))
    table = pd.DataFrame({"sex": rng.choice(["m", "w"], 300), "birth_date": born.mask(rng.random(300) < 0.05)})
    out = protect_into(
        table, tmp_path / "out", quasi=["sex", "birth_date"], method=method, options={"k": 25}, missing=missing
    )
    told = rd.check(out, table, quasi=["sex", "birth_date"], attacks="quick")
    assert told.passed, told.sentence


@pytest.mark.parametrize("method", ["mondrian", "k_anonymity"])
def test_gaps_in_what_is_sensitive_are_a_value_of_their_own(method):
    table = pd.DataFrame({"age": np.arange(60) // 2, "ill": [["flu", None, "gout"][row % 3] for row in range(60)]})
    step = Step(method, k=5, ell=3)
    made = make(rd.Dataset(table, quasi="age", sensitive="ill"), [step], rng=0).table
    assert made.groupby("age")["ill"].nunique(dropna=False).min() == 3
    assert made["ill"].isna().sum() == 20


def test_a_step_that_leaves_nobody_is_refused_by_its_name():
    table = pd.DataFrame({"age": range(60), LAT: np.linspace(50, 52, 60), LON: np.linspace(8, 10, 60)})
    step = Step("grid", cell_m=1000.0, min_count=12)
    with pytest.raises(DataError, match="must keep a record, got none: 'grid' left all 60 out"):
        make(rd.Dataset(table, quasi="age"), [step], rng=0)


@pytest.mark.slow
def test_an_office_file_of_250_is_opened_assessed_released_and_checked_without_an_option(tmp_path):
    """What a person types who knows the name of the file: then what each command says is next.

    Without the places, whose attacks take half of the time: `test_wizard` assesses those of such a file.
    """
    office(250).drop(columns=["Breite", "Länge"]).to_csv(
        tmp_path / "patienten.csv", sep=";", index=False, encoding="latin-1"
    )
    call(tmp_path, "open", "patienten.csv", "--out", "roles/recipe.yaml", code=0)
    done = call(tmp_path, "assess", "--recipe", "roles/recipe.yaml", code=0)
    known = "an intruder may know: Geschlecht, Alter, PLZ, Beruf, Aufnahme; sensitive: Einkommen, Diagnose"
    assert known in done.stdout
    assert "0 of 250 persons above a risk of 25%, against 250 in the data as they are" in done.stdout
    assert list((tmp_path / "report" / ".work").glob("data-*")) == [], "a copy of the data was left behind"
    next_ones = {
        what: shlex.split(line.partition("reident ")[2])
        for line in done.stdout.splitlines()
        for what in ("the advised release: ", "its check: ")
        if line.startswith(what)
    }
    done = call(tmp_path, *next_ones["the advised release: "], code=0)
    chain = rd.workbench.read_recipe(tmp_path / "report" / "recipe.yaml").chain
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text())
    assert [step["method"] for step in manifest.get("chain") or [manifest]] == [step["method"] for step in chain]
    done = call(tmp_path, *next_ones["its check: "], "--out", "verdict", code=0)
    assert (tmp_path / "release" / "release.csv").read_bytes().decode("latin-1").startswith("Geschlecht;Alter")
    verdict = json.loads((tmp_path / "verdict" / "verdict.json").read_text())
    assert verdict["passed"]
    assert verdict["n"] > 220
    assert verdict["findings"] == []
    assert {"homogeneity of Diagnose", "homogeneity of Einkommen"} <= {one["name"] for one in verdict["attacks"]}
    refused = call(tmp_path, "assess", "patienten.csv", "--out", "/proc/nowhere", code=2)
    assert "`out` must be a folder" in refused.stderr


def test_parameters_that_depend_on_each_other_are_checked_together(tmp_path):
    path = tmp_path / "recipe.yaml"
    donut = {"method": "donut", "parameters": {"inner_m": 5000.0, "outer_m": 10000.0}}
    Recipe(chain=[donut], methods=[donut]).write(path)
    assert read_recipe(path).chain == [donut]  # 5000 had been held against the usual outer radius of 2000
    Recipe(chain=[{**donut, "parameters": {"inner_m": [10.0, 700.0], "outer_m": 500.0}}]).write(path)
    with pytest.raises(ParameterError, match="`inner_m` must be at most `outer_m`"):
        read_recipe(path)


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


def test_the_systems_generator_draws_as_numpy_does():
    from scipy.stats import kstest

    rng = system_rng()
    assert kstest(rng.uniform(size=20_000), "uniform").pvalue > 1e-6
    assert kstest(rng.normal(size=20_000), "norm").pvalue > 1e-6
    assert sorted(rng.permutation(500).tolist()) == list(range(500))
    assert set(rng.integers(0, 7, 500).tolist()) == set(range(7))
    assert system_rng().integers(2**62) != system_rng().integers(2**62)
