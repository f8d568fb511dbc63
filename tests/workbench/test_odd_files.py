import json

import numpy as np
import pandas as pd
import pytest
import yaml

import reident as rd
from commands import call
from judged import protect_into, records
from reident.base import DataError, ParameterError
from reident.methods import find
from reident.methods.forms import lacking
from reident.methods.release import Release
from reident.workbench.candidates import Evaluator
from reident.workbench.command_options import listed
from reident.workbench.files import write_file
from reident.workbench.knowledge import price
from reident.workbench.making import Step
from reident.workbench.opening import open_file
from reident.workbench.recipe import Recipe
from reident.workbench.search import search_release
from samples import drawn


def people(n=80, seed=3):
    return drawn(n, seed, nr="P{:04d}", age=(20, 80), sex=["f", "m"], rhesus=["+", "-"], ill=["flu", "gout", "none"])


def test_single_quotes_that_close_nothing_are_no_quotes(tmp_path):
    towns = ["'s-Gravenhage", "Delft", "'t Zand", "'+", "Urk"] * 4
    table = pd.DataFrame({"nr": range(20), "town": towns, "sex": ["f", "m"] * 10})
    table.to_csv(tmp_path / "towns.csv", index=False)
    assert rd.workbench.open_file(tmp_path / "towns.csv").data["town"].tolist() == towns
    (tmp_path / "quoted.csv").write_text("nr,town\n" + "".join(f"{i},'A, {i}'\n" for i in range(20)))
    assert rd.workbench.open_file(tmp_path / "quoted.csv").data["town"].tolist() == [f"A, {i}" for i in range(20)]


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet"])
def test_cells_and_names_that_a_spreadsheet_would_execute_are_attacked_as_all_others(tmp_path, kind):
    table = people().rename(columns={"age": "=age"})
    shown = table[["=age", "sex", "rhesus", "ill"]].sample(frac=1, random_state=1)
    write_file(shown, tmp_path / f"release.{kind}")
    naive = (1 / table.groupby(["=age", "sex", "rhesus"])["nr"].transform("size")).to_numpy()
    known = {"quasi": ["=age", "sex", "rhesus"], "sensitive": "ill", "limit": 0.4}
    rows = table.index.get_indexer(shown.index)
    found = rd.check(tmp_path / f"release.{kind}", table, rows, attacks=["exact_join"], **known)
    assert found.attacks["risk"].item() == pytest.approx(naive.mean())
    assert found.share_above_limit == pytest.approx((naive > 0.4).mean())
    assert [finding.subject for finding in found.findings] == ["persons"]
    assert not any("Not in the release" in note for note in found.notes)


@pytest.mark.slow
def test_a_table_of_eighty_columns_is_attacked_without_a_search_that_never_ends():
    rng = np.random.default_rng(0)
    wide = pd.DataFrame({f"q{i}": rng.normal(size=60) for i in range(80)})
    data = records(wide.round().astype(int), quasi=list(wide), kind="table")
    assert "at most 2,000,000 nodes" in lacking(find("k_anonymity"), data)
    assert lacking(find("mondrian"), data) == ""
    noisy = (wide + rng.normal(0, 0.1, wide.shape)).sample(frac=1, random_state=1)
    dataset = rd.Dataset(wide, quasi=list(wide))
    release = Release("table", noisy, "unknown", {}, 60)
    assert rd.evaluate(release, dataset, attacks=["nearest_record"]).frame["risk"].item() > 0.95
    rounded = rd.Dataset(wide.round(), quasi=list(wide))
    priced = price(Release("table", wide.round(), "unknown", {}, 60), rounded.knowledge(np.arange(60)))
    assert len(priced.subsets) <= 3001
    assert priced.subsets["size"].max() == 80


def test_names_with_commas_stand_in_quotes():
    assert listed('a, "Post,leit;zahl",c d') == ["a", "Post,leit;zahl", "c d"]


def test_open_prints_the_roles_that_were_chosen_and_a_single_record_has_roles(tmp_path):
    people(1).to_csv(tmp_path / "one.csv", index=False)
    told = call(tmp_path, "open", "one.csv", "--role", "ill=other").stdout.splitlines()
    roles = {line.split()[0]: line for line in told if line}
    assert "quasi-identifier" in roles["age"]
    assert "other" in roles["ill"]
    assert "chosen" in roles["ill"]
    done = call(tmp_path, "assess", "--recipe", "recipe.yaml", code=2)
    assert "of fewer than 8 none is made" in done.stderr


def test_so_few_that_nothing_is_assessed_are_protected_and_checked(tmp_path):
    people(12).to_csv(tmp_path / "few.csv", index=False)
    done = call(tmp_path, "assess", "few.csv", code=2)
    assert "`protect` with a `method` makes a release of so few, and `check` judges it" in done.stderr
    call(tmp_path, "protect", "few.csv", "--method", "mondrian", "--set", "k=6", "--quasi", "age,sex", code=0)
    assert call(tmp_path, "check", "release", "--against", "few.csv", "--quasi", "age,sex").returncode == 0
    call(tmp_path, "check", "few.csv", "--against", "few.csv", "--quasi", "age,sex", "--same-order", code=3)


def test_without_what_an_intruder_knows_it_is_said_how_to_name_it(tmp_path):
    people()[["nr"]].to_csv(tmp_path / "names.csv", index=False)
    done = call(tmp_path, "assess", "names.csv", code=2)
    assert "an intruder may know: no column" in done.stdout
    assert "--quasi names columns" in done.stderr
    gaps = people().assign(age=np.nan)
    gaps.loc[:8, "age"] = 3.0
    with pytest.raises(DataError, match=r"of 80, most are missing in 'age' \(71\); columns with many gaps"):
        rd.assess(gaps, quasi=["age", "sex"], progress=False)


def test_a_hierarchy_lies_beside_the_recipe_and_says_which_lines_it_lacks(tmp_path):
    table = people()
    table.to_csv(tmp_path / "people.csv", index=False)
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "ill.csv").write_text("flu;acute;*\ngout;chronic;*\n")
    recipe = {
        "file": "../people.csv", "columns": {"ill": {"role": "quasi-identifier", "hierarchy": "ill.csv"}},
        "chain": [{"method": "k_anonymity", "parameters": {"k": 5}}],
    }  # fmt: skip
    (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe))
    done = call(tmp_path, "protect", "--recipe", "there/recipe.yaml", code=2)
    assert "it lacks 'none': add a line for each, its labels from the value to the coarsest" in done.stderr
    with (folder / "ill.csv").open("a") as file:
        file.write("none;none;*\n")
    assert call(tmp_path, "protect", "--recipe", "there/recipe.yaml").returncode == 0


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"method": "mondrian", "parameters": {"k": []}}, "`k` of mondrian must have a value or a list"),
        ({"method": "mondrian", "columns": ["nope"], "parameters": {"k": 5}}, "`columns` must name columns of `data`"),
    ],
)
def test_a_chain_that_cannot_be_is_refused_before_anything_runs(tmp_path, step, words):
    people().to_csv(tmp_path / "people.csv", index=False)
    columns = {"age": {"role": "quasi-identifier"}, "sex": {"role": "quasi-identifier"}}
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump({"file": "people.csv", "columns": columns, "chain": [step]}))
    for command in ("assess", "protect"):
        done = call(tmp_path, command, "--recipe", "recipe.yaml", code=2)
        assert words in done.stderr


def test_a_step_that_passes_by_itself_is_told_and_passes(tmp_path):
    table = people()
    entry = find("mondrian")
    steps = [[Step(entry.name, columns=[name], k=20)] for name in ("age", "sex")]
    evaluator = Evaluator(rd.Dataset(table, quasi=["age", "sex"]), limit=0.08)
    found = search_release(evaluator, steps)
    assert not found.passed
    assert "mondrian of sex (k=20) by itself passes, with age withheld" in found.sentence
    # Where columns may be withheld it is advised, also if the search ends before it comes to it.
    for most in (len(found.judged), 80):
        ended = search_release(evaluator, [[*slot, None] for slot in steps], max_judged=most)
        assert ended.passed
        assert (ended.advised["chain"], ended.withhold) == ("mondrian of sex (k=20)", ["age"])
    schema = rd.Schema.of_recipe({"columns": {name: {"role": "quasi-identifier"} for name in ("age", "sex")}})
    recipe = Recipe(
        schema=schema, withhold=["age"], limit=0.08,
        chain=[{"method": "mondrian", "columns": ["sex"], "parameters": {"k": 20}}],
    )  # fmt: skip
    made = protect_into(table, tmp_path / "made", recipe=recipe)
    assert rd.check(made, table, recipe=recipe).passed


def test_the_size_of_the_population_must_come_with_weights(tmp_path):
    people().to_csv(tmp_path / "people.csv", index=False)
    done = call(tmp_path, "open", "people.csv", "--population", "5000", code=2)
    assert "`population` must come with the column of weights" in done.stderr
    with pytest.raises(ParameterError, match="`population` must come with"):
        rd.assess(people(), quasi="age", population=3)


def test_a_release_and_an_original_without_a_line_of_names_are_checked(tmp_path):
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {"age": rng.integers(18, 90, 80), "sex": rng.choice(["f", "m"], 80), "ill": rng.choice(["A", "B"], 80)}
    )
    table.to_csv(tmp_path / "known.csv", index=False, header=False)
    shown = table.sample(frac=1, random_state=1)
    shown.to_csv(tmp_path / "release.csv", index=False, header=False)
    pairs = pd.DataFrame({"original_row": shown.index, "released_row": range(80)})
    pairs.to_csv(tmp_path / "release.csv.pairs.csv", index=False)
    line = ["check", "release.csv", "--against", "known.csv", "--quasi", "age,sex", "--sensitive", "ill"]
    refused = call(tmp_path, *line, code=2)
    assert "names" in refused.stderr
    call(tmp_path, *line, "--names", "age,sex,ill", "--release-names", "age,sex,ill", "--out", "out", code=3)
    naive = (table.groupby(["age", "sex"])["ill"].transform("size") < 4).mean()
    assert json.loads((tmp_path / "out" / "verdict.json").read_text("utf-8"))["share_above_limit"] >= naive
    elsewhere = call(tmp_path, *line, "--names", "age,sex,ill", "--release-names", "Alter,sex,ill")
    assert "Alter: is undeclared and depends on age" in elsewhere.stdout


def _visits(n=40):
    born = pd.Series(pd.date_range("1950-01-01", periods=n, freq="31D"))
    return pd.DataFrame(
        {"person": [f"K{i:03d}" for i in range(n)], "born": born.dt.strftime("%d.%m.%Y"), "age": range(n)}
    )


VISITS = _visits().to_csv(sep=";", index=False)


@pytest.mark.parametrize("name", ["book.xlsx", "file.parquet", "file.dta"])
def test_dates_that_were_typed_as_texts_are_dates_in_every_kind_of_file(tmp_path, name):
    made = _visits()
    if not name.endswith("dta"):  # Stata has no gap among texts
        made.loc[3, "born"] = None
    made.loc[4, "born"] = "00.00.0000"
    path = tmp_path / name
    {"xlsx": made.to_excel, "parquet": made.to_parquet}.get(name.split(".")[1], made.to_stata)(
        path, **({"write_index": False} if name.endswith("dta") else {"index": False})
    )
    found = open_file(path)
    as_csv = tmp_path / "same.csv"
    made.to_csv(as_csv, index=False)
    same = open_file(as_csv)
    assert found.columns.set_index("column").loc["born", "type"] == "date"
    assert pd.to_datetime(found.data["born"]).equals(pd.to_datetime(same.data["born"]))
    assert "born: dates written DD.MM.YYYY are written back YYYY-MM-DD" in found.receipts
    assert "born: '00.00.0000' read as missing (1 records)" in found.receipts
    assert open_file(path, text="born").columns.set_index("column").loc["born", "type"] == "text"


def test_a_type_that_becomes_another_has_a_receipt(tmp_path):
    made = pd.DataFrame({"day": pd.date_range("1950-01-01", periods=9).strftime("%Y-%m-%d")})
    made.to_parquet(tmp_path / "a.parquet")
    made.to_csv(tmp_path / "a.csv", index=False)
    assert open_file(tmp_path / "a.parquet").receipts == ["day: texts become dates"]
    assert open_file(tmp_path / "a.csv").receipts == []


def test_digits_that_a_file_says_are_texts_stay_texts(tmp_path):
    made = pd.DataFrame({"code": ["250.00", "250.10", "401.90"] * 9, "few": ["1", "2", "3"] * 9})
    made.to_parquet(tmp_path / "codes.parquet")
    assert open_file(tmp_path / "codes.parquet").data.equals(made)


def test_lines_of_units_and_repeated_names_are_told(tmp_path):
    rows = ["town;age;kg", ";years;kg", "Bonn;30;70.5", "town;age;kg", *(f"Ulm;{40 + i};{60 + i}.5" for i in range(60))]
    (tmp_path / "a.csv").write_text("\n".join(rows), encoding="utf-8")
    notes = open_file(tmp_path / "a.csv").notes
    assert any(note.startswith("record 1, 3: names or units") for note in notes)
    (tmp_path / "a.csv").write_text("\n".join([rows[0], rows[2], *rows[4:]]), encoding="utf-8")
    assert not any("names or units" in note for note in open_file(tmp_path / "a.csv").notes)


@pytest.mark.parametrize(("top", "is_told"), [(999, True), (9999999, True), (998, False)])
def test_a_number_of_nines_far_above_the_others_may_mean_missing(tmp_path, top, is_told):
    (tmp_path / "a.csv").write_text("age,n\n" + "".join(f"{20 + i},{[1, 2, 3, top][i % 4]}\n" for i in range(40)))
    assert any(f"{top} may mean missing" in note for note in open_file(tmp_path / "a.csv").notes) == is_told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{VISITS}Summe;;780\n", "the last 1 record(s) begin with 'Summe'"),
        (f"{VISITS}Insgesamt:;;7\nQuelle: Amt;;\n", "the last 2 record(s) begin with 'Insgesamt:', 'Quelle: Amt'"),
        (VISITS, ""),
        ("x;y;z\n" + "a;;\n; b;\n;;1\n" * 10, ""),  # records with one value each are no remarks
    ],
)
def test_sums_and_remarks_below_a_table_are_told(tmp_path, text, told):
    path = tmp_path / "sum.csv"
    path.write_text(text, encoding="utf-8")
    notes = [note for note in open_file(path).notes if note.startswith("the last")]
    assert len(notes) == bool(told)
    assert told in "".join(notes)


@pytest.mark.parametrize(
    ("write", "n"),
    [
        (lambda lat, lon: [f"{lat:.0f}°{7 * lat % 60:02.0f}'12.5\"N", f"{lon:.0f}° 44' E"], 2),
        (lambda lat, lon: [f"POINT ({lon:.5f} {lat:.5f})", 1], 1),
        (lambda lat, lon: [f"{lat:.5f}, {lon:.5f}", 1], 1),
        (lambda lat, lon: [f"{lat:.1f} - {lon:.1f}", 1], 0),
    ],
)
def test_places_that_are_written_as_texts_are_noted(tmp_path, write, n):
    lat, lon = np.linspace(50, 52, 30), np.linspace(7, 9, 30)
    rows = [write(*one) for one in zip(lat, lon, strict=True)]
    pd.DataFrame(rows, columns=["where", "other"]).assign(age=range(30)).to_csv(
        tmp_path / "a.csv", sep=";", index=False
    )
    notes = [note for note in open_file(tmp_path / "a.csv").notes if "taken as places" in note]
    assert len(notes) == n


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("%Y%m%d", "YYYYMMDD"),
        ("%d%b%Y", "DDMonYYYY"),
        ("%d-%b-%Y", "DD-Mon-YYYY"),
        ("%Y-%m-%d 07:30:15.250", "YYYY-MM-DD hh:mm:ss.f"),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_dates_as_databases_write_them(tmp_path, form, shown, kind):
    days = pd.Series(pd.date_range("1950-01-01", periods=40, freq="31D"))
    made = pd.DataFrame({"nr": range(40), "day": days.dt.strftime(form)})
    if shown == "YYYYMMDD" and kind == "parquet":
        made["day"] = made["day"].astype("int64")
    path = tmp_path / f"a.{kind}"
    made.to_csv(path, index=False) if kind == "csv" else made.to_parquet(path, index=False)
    found = open_file(path)
    assert found.columns.set_index("column").loc["day", "type"] == "date"
    assert (found.data["day"].dt.normalize() == days).all()
    assert any(f"dates written {shown} are written back" in line for line in found.receipts)
    assert write_file(found.data, tmp_path / "back.csv") is not None
    assert (pd.to_datetime(pd.read_csv(tmp_path / "back.csv")["day"]) == found.data["day"]).all()


def test_numbers_that_are_no_days_stay_numbers_and_days_without_a_century_texts(tmp_path):
    made = pd.DataFrame({"sum": range(19500101, 19500141), "born": "08.05.45", "one": 20240301})
    made.to_csv(tmp_path / "a.csv", index=False)
    found = open_file(tmp_path / "a.csv")
    assert found.columns.set_index("column")["type"].to_dict() == {"sum": "integer", "born": "text", "one": "integer"}
    assert [note for note in found.notes if "century" in note] == [
        "born: days without a century stay text: written with four digits of the year they would be dates"
    ]


@pytest.mark.parametrize("kind", ["xlsx", "csv"])
@pytest.mark.parametrize("units", [True, False])
def test_names_over_two_lines_and_a_line_of_units(tmp_path, kind, units):
    rows = [[f"K{i}", 20 + i, 1.5 * i + 0.25] for i in range(30)]
    made = pd.DataFrame([[None, "Jahre", "EUR"]] * units + rows, columns=["Fall", "Alter\n(Jahre)", "Betrag"])
    path = tmp_path / f"a.{kind}"
    made.to_excel(path, index=False) if kind == "xlsx" else made.to_csv(path, index=False, sep=";", decimal=",")
    found = open_file(path)
    assert list(found.data.columns) == ["Fall", "Alter (Jahre)", "Betrag"]
    assert "line breaks in the names of columns are not written back" in found.receipts
    words = ["Alter (Jahre): 'Jahre'", "Betrag: 'EUR'"] if units else []
    assert all(f"{word} read as missing (1 records)" in found.receipts for word in words)


@pytest.mark.parametrize("decimal", [".", ","])
def test_numbers_that_were_typed_as_texts_into_a_sheet_are_numbers(tmp_path, decimal):
    money = [f"{1.25 * i:.2f}".replace(".", decimal) for i in range(60)]
    made = pd.DataFrame({"age": [str(20 + i) for i in range(60)], "money": [f"{one} €" for one in money]})
    made = made.assign(plz=[f"{1000 + i:05d}" for i in range(60)], zip=[str(10115 + i) for i in range(60)])
    made.loc[3, "age"] = None
    made.to_excel(tmp_path / "a.xlsx", index=False)
    made.to_csv(tmp_path / "a.csv", index=False, sep=";")
    found, same = open_file(tmp_path / "a.xlsx"), open_file(tmp_path / "a.csv")
    types = found.columns.set_index("column")["type"].to_dict()
    assert types == {"age": "integer", "money": "number", "plz": "text", "zip": "text"}
    pd.testing.assert_frame_equal(found.data, same.data)
    assert [line for line in found.receipts if line.endswith("texts become numbers")] == [
        "age: texts become numbers",
        "money: texts become numbers",
    ]
    kept = open_file(tmp_path / "a.xlsx", text=["age", "money"])
    assert set(kept.columns["type"]) == {"text"}
    assert kept.receipts == []


@pytest.mark.parametrize("zones", [["Z"], ["+02:00", "+01:00"], ["+0530"], [" UTC"]])
@pytest.mark.parametrize("seconds", ["", ":15", ":15.250"])
def test_moments_of_a_zone_are_read_by_its_clock(tmp_path, zones, seconds):
    days = pd.Series(pd.date_range("1950-01-01 07:30", periods=40, freq="31D"))
    ends = [zones[i % len(zones)] for i in range(40)]
    written = [f"{day:%Y-%m-%dT%H:%M}{seconds}{end}" for day, end in zip(days, ends, strict=True)]
    pd.DataFrame({"nr": range(40), "at": written}).to_csv(tmp_path / "a.csv", index=False)
    found = open_file(tmp_path / "a.csv")
    assert found.columns.set_index("column").loc["at", "type"] == "date"
    assert (found.data["at"].dt.floor("min") == days).all()
    assert any(
        f"zones are not written back ({', '.join(sorted(zone.strip() for zone in zones))})" in line
        for line in found.receipts
    )


def test_times_of_day_and_ranges_are_no_moments_of_a_zone(tmp_path):
    made = pd.DataFrame({"open": "08:30-17:00", "at": "08:30", "room": "3:15-16"}, index=range(40))
    made.to_csv(tmp_path / "a.csv", index=False)
    assert set(open_file(tmp_path / "a.csv").columns["type"]) == {"text"}
