"""`reident check`: the verdict of a release that anybody made, as a gate for pipelines reads it."""

import json
import re
import sqlite3
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import reident as rd
from real_data import needs
from reident.base import DataError, ParameterError
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


@pytest.fixture
def metres(tmp_path):
    """Patients with places in metres, UTM zone 32, and a release of them moved by some 20 km in degrees."""
    from pyproj import Transformer

    rng = np.random.default_rng(3)
    n = 120
    lat, lon = rng.uniform(48, 49, n), rng.uniform(9, 11, n)
    persons = pd.DataFrame({"nr": np.arange(n), "sex": rng.choice(["f", "m"], n)})
    made = {}
    for name, system in (("utm32", "EPSG:25832"), ("utm33", "EPSG:25833"), ("degrees", "EPSG:4326")):
        to = Transformer.from_crs("EPSG:4326", system, always_xy=True)
        for which, dy, dx in (("true", 0, 0), ("moved", rng.normal(0, 1e-3, n), rng.normal(0, 1e-3, n))):
            east, north = to.transform(lon + dx, lat + dy)
            made[f"{which} {name}"] = tmp_path / f"{which}-{name}.csv"
            digits = 5 if name == "degrees" else 1
            table = persons.assign(Hochwert=np.round(north, digits), Rechtswert=np.round(east, digits))
            table.iloc[rng.permutation(n)].to_csv(made[f"{which} {name}"], index=False)
    return made


@pytest.mark.parametrize("shown", ["utm32", "utm33", "degrees"])
def test_places_in_metres_are_attacked_in_any_system(metres, shown):
    named = ["--lat", "Hochwert", "--lon", "Rechtswert", "--id", "nr", "--crs", "EPSG:25832"]
    systems = {"utm32": [], "utm33": ["--release-crs", "EPSG:25833"], "degrees": ["--release-crs", "EPSG:4326"]}
    against = ["--against", metres["true utm32"]]
    found = run(metres[f"moved {shown}"], *against, *named, *systems[shown])
    assert found.exit_code == 3, found.output
    nearest = next(line for line in found.output.splitlines() if line.startswith("  nearest_place"))
    assert float(nearest.split("limit: ")[1].split("%")[0]) > 90
    true = pd.read_csv(metres["true utm32"]).set_index("nr")
    moved = pd.read_csv(metres["moved utm32"]).set_index("nr").loc[true.index]
    gaps = np.hypot(*(true[[name]].to_numpy() - moved[[name]].to_numpy().T for name in ("Hochwert", "Rechtswert")))
    assert float(nearest.split("limit: ")[1].split("%")[0]) >= 100 * (gaps.argmin(axis=1) == np.arange(120)).mean() - 3


def test_a_wrong_reference_system_is_said_in_a_sentence(metres):
    named = ["--against", metres["true utm32"], "--lat", "Hochwert", "--lon", "Rechtswert"]
    for options, said in (
        (["--crs", "EPSG:99999"], "`crs` must name a coordinate system, such as EPSG:25832, got 'EPSG:99999'"),
        (["--crs", "utm"], "`crs` must name a coordinate system"),
        (["--crs", "EPSG:25832", "--release-crs", "x"], "`release_crs` must name a coordinate system"),
        (["--crs", "EPSG:27700"], "hold no places in EPSG:27700: is it that, and are north and east not interchanged?"),
        ([], "hold no degrees: for metres a CRS must be named"),
    ):
        with pytest.raises((DataError, ParameterError), match=re.escape(said)):
            raise run(metres["moved utm32"], *named, *options).exception
    with pytest.raises(DataError, match=r"in the release `lat` and `lon`.*`release_crs` says so"):
        raise run(metres["moved degrees"], *named, "--crs", "EPSG:25832").exception
    with pytest.raises(ParameterError, match="`crs` must come with `lat` and `lon`"):
        raise run(metres["moved utm32"], *named[:2], "--quasi", "sex", "--crs", "EPSG:25832").exception
    told = run(metres["moved utm32"], *named[:2], "--quasi", "sex")
    assert "--lat Hochwert --lon Rechtswert --crs EPSG:... lets them be attacked" in told.output


def test_a_geographic_file_without_its_system_is_read_as_told(metres, tmp_path):
    import geopandas as gpd

    for which in ("true", "moved"):
        table = pd.read_csv(metres[f"{which} utm32"])
        points = gpd.points_from_xy(table["Rechtswert"], table["Hochwert"])
        gpd.GeoDataFrame(table[["nr", "sex"]], geometry=points, crs=25832).to_file(tmp_path / f"{which}.shp")
        (tmp_path / f"{which}.prj").unlink()
    found = run(tmp_path / "moved.shp", "--against", tmp_path / "true.shp", "--crs", "EPSG:25832", "--id", "nr")
    assert found.exit_code == 3, found.output
    assert "nearest_place          above the limit" in found.output


def test_a_release_with_shapes_is_checked_against_a_table_without(tmp_path):
    people = pd.DataFrame({"sex": list("fm") * 50, "age": np.arange(100)})
    points = gpd.points_from_xy(np.linspace(8, 9, 100), np.linspace(50, 51, 100), crs="EPSG:4326")
    shown = gpd.GeoDataFrame(people[["sex"]], geometry=points)
    assert rd.check(shown, people, quasi=["sex", "age"]).passed


@pytest.mark.parametrize("kind", ["xlsx", "gpkg", "gpkg without places"])
def test_a_release_with_a_further_table_is_refused(tmp_path, kind):
    rng = np.random.default_rng(4)
    people = pd.DataFrame({"sex": rng.choice(list("fm"), 200), "age": rng.integers(1, 99, 200)})
    shown = people[["sex"]].sample(frac=1, random_state=0).assign(number=range(200), a="b", c=1).reset_index(drop=True)
    people.to_csv(tmp_path / "o.csv", index=False)
    path = tmp_path / f"r.{kind[:4]}"
    if kind == "xlsx":
        with pd.ExcelWriter(path) as book:
            shown.to_excel(book, sheet_name="Daten", index=False)
            pd.DataFrame().to_excel(book, sheet_name="Leer", index=False)
    else:
        points = gpd.points_from_xy(rng.uniform(8, 9, 200), rng.uniform(50, 51, 200), crs="EPSG:4326")
        gpd.GeoDataFrame(shown, geometry=points).to_file(path, layer="Daten")
    options = {"quasi": ["sex", "age"]}
    assert rd.check(path, tmp_path / "o.csv", **options).passed
    if kind == "xlsx":
        with pd.ExcelWriter(path, mode="a") as book:
            people.to_excel(book, sheet_name="Roh", index=False)
            book.sheets["Roh"].sheet_state = "veryHidden"
    elif kind == "gpkg":
        gpd.GeoDataFrame(people, geometry=points).to_file(path, layer="Roh")
    else:
        with sqlite3.connect(path) as connection:
            people.to_sql("Roh", connection, index=False)
        connection.close()
    found = rd.check(path, tmp_path / "o.csv", **options)
    assert not found.passed
    assert "'Daten', 'Roh', of which one was judged" in found.sentence


@pytest.mark.parametrize("kind", ["xlsx", "gpkg"])
def test_the_sheet_that_is_meant_and_those_without_records_can_be_named(tmp_path, kind):
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"sex": rng.choice(list("fm"), 200), "age": rng.integers(1, 99, 200)})
    shown = table[["sex"]].sample(frac=1, random_state=0, ignore_index=True)
    legend = pd.DataFrame({"variable": ["sex", "age"], "meaning": ["of the person", "years"]})
    longer = pd.DataFrame({"remark": [f"remark {i} of the office" for i in range(900)]})
    table.to_csv(tmp_path / "o.csv", index=False)
    path = tmp_path / f"r.{kind}"
    if kind == "xlsx":
        with pd.ExcelWriter(path) as book:
            for name, one in (("Daten", shown), ("Legende", legend), ("Anmerkungen", longer)):
                one.to_excel(book, sheet_name=name, index=False)
    else:
        points = gpd.points_from_xy(rng.uniform(8, 9, 200), rng.uniform(50, 51, 200), crs="EPSG:4326")
        gpd.GeoDataFrame(shown, geometry=points).to_file(path, layer="Daten")
        with sqlite3.connect(path) as connection:
            legend.to_sql("Legende", connection, index=False)
            longer.to_sql("Anmerkungen", connection, index=False)
        connection.close()
    said = [path, "--against", tmp_path / "o.csv", "--quasi", "sex"]
    refused = run(*said, "--release-table", "Daten")
    assert refused.exit_code == 3
    # The error's own sentence names the options.
    for option in re.findall(r"\((--[a-z-]+)\)", refused.stdout.splitlines()[0]):
        assert option in ("--release-table", "--aside")
    known = ["--release-table", "Daten", "--aside", "Legende,Anmerkungen"]
    assert run(*said, *known).exit_code == 0
    assert run(*said, *known[:3], "Legende").exit_code == 3
    assert isinstance(run(*said, *known[:3], "Legend").exception, ParameterError)
    # What has the names of records is no legend, whatever it is called, and values that no cell has are found in it.
    if kind == "xlsx":
        with pd.ExcelWriter(path, mode="a", if_sheet_exists="replace") as book:
            table.to_excel(book, sheet_name="Legende", index=False)
    else:
        with sqlite3.connect(path) as connection:
            table.to_sql("Legende", connection, index=False, if_exists="replace")
        connection.close()
    found = run(*said, *known)
    assert found.exit_code == 3
    assert "'Legende': has names of the original's columns" in found.stdout


def test_the_sheet_of_the_original_can_be_named(tmp_path):
    table = people()
    with pd.ExcelWriter(tmp_path / "o.xlsx") as book:
        table.to_excel(book, sheet_name="2020", index=False)
        table.assign(age=table["age"] + 1, town="x" + table["town"]).to_excel(book, sheet_name="2021", index=False)
    shown = table[["sex", "age"]].sample(frac=1, random_state=1)
    shown.to_csv(tmp_path / "r.csv", index=False)
    said = {"quasi": ["sex", "age"], "attacks": ["exact_join"]}
    meant = rd.check(tmp_path / "r.csv", tmp_path / "o.xlsx", table="2020", **said)
    other = rd.check(tmp_path / "r.csv", tmp_path / "o.xlsx", table="2021", **said)
    sizes = table.groupby(["sex", "age"])["nr"].transform("size")
    assert meant.attacks["risk"].iloc[0] == pytest.approx((1 / sizes).mean())
    assert other.attacks["risk"].iloc[0] < meant.attacks["risk"].iloc[0]
