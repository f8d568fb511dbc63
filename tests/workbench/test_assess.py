import dataclasses
import html
import re
import shlex

import numpy as np
import pandas as pd
import pytest

import reident as rd
from commands import call
from judged import protect_into
from office import office
from reident.base import DataError
from reident.tables.hierarchy import Hierarchy
from reident.workbench.candidates import Evaluator
from reident.workbench.recipe import Recipe, recipe_of
from samples import drawn

METHODS = [{"name": "donut", "outer_m": [2000.0, 30000.0]}, {"name": "mondrian", "k": [2, 10]}]


@pytest.fixture(scope="module")
def people():
    places = {"LAT": (50.0, 51.0), "LON": (8.0, 9.0)}
    table = drawn(40, 4, name="<b>{}</b>", sex=["f", "m"], age=(2, 9), ill=["flu", "gout"], **places)
    return table.assign(age=10 * table["age"])


@pytest.fixture(scope="module")
def found(people):
    broken = people.copy()
    broken.loc[3, "LAT"] = np.nan
    broken.loc[5, "LON"] = 500.0
    with pytest.warns(UserWarning, match=r"LAT, LON: 1 record\(s\) with an impossible place \(record 6\)"):
        return rd.assess(
            broken, quasi=["sex", "age"], lat="LAT", lon="LON", sensitive="ill", methods=METHODS, profile="smoke",
            limit=0.3, progress=False,
        )  # fmt: skip


def test_profile_tells_what_is_wrong(found):
    columns = found.profile.set_index("column")
    assert columns.loc["LAT", "missing"] == 1
    assert columns.loc["name", "unique"] == len(found.search.evaluator.records)
    roles = columns["role"]
    expected = {"age": "quasi-identifier", "ill": "sensitive", "LAT": "latitude", "name": "not used"}
    assert roles.loc[list(expected)].to_dict() == expected


@pytest.fixture(scope="module")
def report(found, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    found.save(folder, command="reident assess 'secret name.csv' --out <x>", recipe=Recipe(file="people.csv"))
    return folder


def test_report_stands_alone(found, report):
    page = (report / "report.html").read_text()
    sources = re.findall(r'\s(?:src|href)="([^"]*)"', page)
    assert sources
    assert all(source.startswith("data:image/png;base64,") for source in sources)
    assert page.count("<table>") == page.count('<div class="wide"><table>')  # they scroll, not the page
    told = ["reident assess 'secret name.csv' --out <x>", "The intruder knows", found.data_sha256, "pandas "]
    for text in [*told, "Not in the release: name."]:
        assert text in html.unescape(page)
    assert pd.read_csv(report / "map.csv")["risk"].tolist() == pytest.approx(found.frame["risk"].tolist())


def test_the_map_shows_the_judged_releases_and_rings_the_advised_one(found):
    made = found.search.judged
    releases = found.frame[found.frame["method"] != "original"]
    own = zip(made["kept"], made["share_above_limit"], made["attack"].where(~made["passed"].astype(bool)), strict=True)
    key = lambda row: (row[0], row[1], str(row[2]))  # noqa: E731
    shown = zip(releases["utility"], releases["risk"], releases["refused"], strict=True)
    plain = lambda rows: sorted((a, b, c if isinstance(c, str) else None) for a, b, c in rows)  # noqa: E731
    assert [row[:2] for row in sorted(plain(shown), key=key)] == [row[:2] for row in sorted(plain(own), key=key)]
    assert releases["refused"].notna().sum() == (~made["passed"].astype(bool)).sum()
    ax = found.plot()
    rings = [dots.get_offsets() for dots in ax.collections if getattr(dots, "get_sizes", list)() == [110]]
    assert len(rings) == found.search.passed
    if rings:
        at = float(found.search.advised["kept"]), float(found.search.advised["share_above_limit"])
        assert rings[0][0].tolist() == pytest.approx(at)


def test_the_external_edition_holds_no_value_that_is_not_released(found, people, report):
    internal, external = ((report / name).read_text() for name in ("report.html", "report-external.html"))
    released = set() if found.search.released is None else set(found.search.released.astype(str).to_numpy().ravel())
    values = set(people.astype(str).to_numpy().ravel()) - released
    distinct = {value for value in values if len(value) > 4}
    assert len(distinct) > 100
    escaped = {value.replace("<", "&lt;").replace(">", "&gt;") for value in distinct}
    assert [value for value in distinct | escaped if value in external] == []
    for secret in ("secret name", found.data_sha256, "riskiest", "The data</h2>"):
        assert secret not in external
        assert secret in internal
    assert found.advice[1:] in html.unescape(external)
    # What is said of the first screen is what was judged.
    before = found.search.before
    assert f"{round(before.share_above_limit * len(before.persons))} of {len(before.persons)}" in external


@pytest.mark.parametrize("sensitive", [pytest.param([], marks=pytest.mark.slow), ["--sensitive", "Blutdruck"]])
def test_the_columns_that_options_name_stand_in_the_advised_recipe(tmp_path, sensitive):
    """An earlier recipe kept the roles that `open` had proposed, and its printed check refused what was advised."""
    rng = np.random.default_rng(0)
    rows = [f"{i:04d};Mensch {i};{40 + 10 * (i % 2)};{'mw'[i // 2 % 2]};{rng.integers(90, 180)}" for i in range(120)]
    (tmp_path / "a.csv").write_text("\n".join(["Nr;Name;Alter;Geschlecht;Blutdruck", *rows]), "utf-8")

    def run(*arguments):
        done = call(tmp_path, *arguments)
        return done.returncode, done.stdout + done.stderr

    code, said = run("assess", "a.csv", "--quasi", "Alter,Geschlecht", *sensitive, "--profile", "smoke", "-q")
    assert code == 0, said
    assert "0 of 120 persons above a risk of 25%, against 0 in the data as they are" in said
    recipe = rd.workbench.read_recipe(tmp_path / "report" / "recipe.yaml")
    assert recipe.schema.named("quasi-identifier") == ["Alter", "Geschlecht"]
    assert recipe.schema.named("sensitive") == sensitive[1:]
    commands = re.findall("reident ((?:protect|check) .*)", said)
    assert [run(*shlex.split(command))[0] for command in commands] == [0, 0]
    code, said = run("assess", "a.csv", "--quasi", "Altr", "--out", "other")
    assert (code, "`quasi` must name columns of" in said and "'Altr'" in said) == (2, True), said


def test_releases_that_cannot_be_made_are_told_with_the_reason(people, tmp_path, monkeypatch):
    """The external edition tells no reason: it may name values. What can be known before is refused before."""
    people.to_csv(tmp_path / "people.csv", index=False)
    said = ["assess", "people.csv", "--quasi", "sex,age", "--profile", "smoke", "-q"]

    def unable(*_):
        raise DataError("no room for 'Zwölf'")

    monkeypatch.setattr(Evaluator, "make", unable)
    done = call(tmp_path, *said, code=0)
    assert "no release could be made: nothing is advised (10 of 40 persons are above 25% now)" in done.stdout
    assert done.stdout.count("no room for 'Zwölf'") == 1
    assert re.search(r"\nnot made: \w+.*: no room for 'Zwölf'", done.stdout)
    report = tmp_path / "report"
    assert "Zwölf" in (report / "report.html").read_text()
    external = (report / "report-external.html").read_text()
    assert "could not be made" in external
    assert "Zwölf" not in external
    with pytest.raises(DataError, match="hierarchy of `sex` must know every value, it lacks 'm'"):
        rd.assess(people, quasi=["sex", "age"], hierarchies={"sex": Hierarchy([["f", "*"]])})


def test_without_a_folder_no_file_of_the_data_is_written(people, monkeypatch):
    def refused(*_, **__):
        raise AssertionError("the data were written")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", refused)
    methods = [{"name": "rounding", "base": [20.0]}]
    assert len(rd.assess(people, quasi=["sex", "age"], methods=methods, profile="smoke", progress=False).frame)


@pytest.mark.slow
def test_what_is_advised_passes_the_check_of_the_same_limit(tmp_path):
    """An earlier advice on such a file was refused for everybody: it left the table beside the places as it was."""
    path = tmp_path / "patienten.csv"
    office(400).to_csv(path, sep=";", index=False, encoding="utf-8-sig")
    opened = rd.workbench.open_file(path)
    recipe = recipe_of(opened, str(path))
    assert (recipe.schema.places, recipe.schema.crs) == (("Breite", "Länge"), "EPSG:4326")
    roles = {"quasi": recipe.schema.named("quasi-identifier"), "sensitive": recipe.schema.named("sensitive")}
    given = {"lat": "Breite", "lon": "Länge", "methods": METHODS, "profile": "smoke", "progress": False}
    found = rd.assess(opened.data, **roles, **given, limit=0.25)
    assert found.search.passed
    assert found.search.advised["share_above_limit"] == 0
    assert found.search.before.share_above_limit == 1
    assert "400 in the data as they are" in found.advice
    advised = dataclasses.replace(recipe, chain=found.chain(), withhold=found.search.withhold)
    out = protect_into(opened, tmp_path / "release", recipe=advised)
    told = rd.check(out, path, recipe=advised)
    assert told.passed, told.sentence
    assert told.share_above_limit == found.search.advised["share_above_limit"]
    # A release without its place is said to be one.
    assert ("it withholds the place" in found.advice) == ("donut" not in found.search.advised["chain"])
    judged = found.search.candidates
    assert (judged["withheld"].str.contains("the place") != judged["chain"].str.contains("donut")).all()
    # Each release judged that shows more was refused, under the attack that is named.
    assert (judged.loc[~judged["passed"].astype(bool), "attack"] != "").all()
    assert judged.loc[judged["passed"].astype(bool) & (judged["chain"] == found.search.advised["chain"])].shape[0] == 1
