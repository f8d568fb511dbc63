"""An assessment from file to report: kinds of files, checks, advice, the command line."""

import dataclasses
import os
import subprocess
import sys
from html.parser import HTMLParser

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

import reident as rd
from office import office
from reident.errors import DataError, ParameterError
from reident.workbench import assessing
from reident.workbench.assessing import EVERY
from reident.workbench.files import read_file, write_file
from reident.workbench.profiling import profile_data
from reident.workbench.recipe import recipe_of
from reident.workbench.report import main_map, with_refusals
from reident.workbench.report_figures import judged_figure

pytestmark = pytest.mark.whole

METHODS = {"places": [{"name": "donut", "outer_m": [2000.0, 30000.0]}], "table": [{"name": "mondrian", "k": [2, 10]}]}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(4)
    n = 80
    return pd.DataFrame(
        {
            "name": [f"<b>{i}</b>" for i in range(n)],
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(2, 9, n) * 10,
            "ill": rng.choice(["flu", "gout"], n),
            "LAT": rng.uniform(50, 51, n),
            "LON": rng.uniform(8, 9, n),
        }
    )


@pytest.fixture(scope="module")
def found(people):
    broken = people.copy()
    broken.loc[3, "LAT"] = np.nan
    broken.loc[5, "LON"] = 500.0
    return rd.assess(
        broken, quasi=["sex", "age"], lat="LAT", lon="LON", sensitive="ill", methods=METHODS, profile="smoke",
        limit=0.3, progress=False,
    )  # fmt: skip


def test_profile_tells_what_is_wrong(found):
    checks = found.profile.checks.set_index("check")
    assert found.profile.n_records == 80
    assert found.profile.n_complete == 78
    assert checks.loc["coordinates missing", "finding"] == "1 records"
    assert checks.loc["coordinates out of range", "verdict"] == "risk"
    assert "name" in checks.loc["direct identifiers", "finding"]
    roles = found.profile.columns.set_index("column")["role"]
    assert roles.loc[["age", "ill", "lat_deg", "name"]].tolist() == [
        "quasi-identifier",
        "sensitive",
        "place",
        "not used",
    ]


def test_advice_keeps_the_limit(found):
    assert set(found.maps) == {"places", "table"}
    told = found.advice.dropna(subset=["method"])
    assert (told["above_high"] == 0).all()
    for _, row in found.advice.iterrows():
        frame = found.maps[row["data"]]
        panel = frame[frame["analysis"] == row["analysis"]]
        if row["attack"] != EVERY:
            panel = panel[panel["attack"] == row["attack"]]
        # The attack that puts most persons above the limit judges a release.
        worst = panel.groupby(["method", "value"]).agg(above=("above_high", "max"), utility=("utility", "max"))
        worst = worst.reset_index()
        original = worst.loc[worst["method"] == "original", "above"].iloc[0]
        rivals = worst[~worst["method"].isin(["original", "nothing released"]) & (worst["above"] <= 0)]
        if original <= 0:
            assert "the data as they are put at most 0% of persons above a risk of 30%" in row["advice"]
        elif rivals.empty:
            assert "no release tried" in row["advice"]
        else:
            assert row["utility"] == rivals["utility"].max()


def test_more_tolerance_never_costs_utility(found):
    from reident.workbench.assessing import _advice

    strict, loose = (_advice(found.maps, found.limit, tolerate) for tolerate in (0.0, 0.5))
    both = strict["utility"].notna() & loose["utility"].notna()
    assert (loose.loc[both, "utility"] >= strict.loc[both, "utility"]).all()


def test_a_map_that_contradicts_the_data_stops_the_report(found):
    from reident.workbench.assessing import _agree

    table = pd.DataFrame({"age": range(100)})
    frame = pd.DataFrame({"method": ["original", "rounding"], "above": [0.02, 0.01]})
    with pytest.raises(DataError, match="100% of the records are alone with their age, and the attacks"):
        _agree(found.profile, {"table": frame}, table, ["age"])
    _agree(found.profile, {"table": frame.assign(above=1.0)}, table, ["age"])
    _agree(found.profile, {"table": frame}, table.assign(age=1), ["age"])


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.sources, self.text, self.stack = [], "", []

    def handle_starttag(self, tag, attrs):
        self.sources += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "img"):
            self.stack.append(tag)

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def report(found, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    found.save(folder, command="reident assess 'secret name.csv' --out <x>", recipe="report/recipe.yaml")
    return folder


def test_report_stands_alone(found, report):
    page = _Page()
    page.feed((report / "report.html").read_text())
    assert page.stack == []
    assert page.sources
    assert all(source.startswith("data:image/png;base64,") for source in page.sources)
    for text in (
        "reident assess 'secret name.csv' --out <x>",
        "the intruder knows",
        "worst case",
        found.data_sha256,
        "pandas ",
    ):
        assert text in page.text
    points = pd.read_csv(report / "points-places.csv")
    assert len(points) == len(found.maps["places"])
    assert list((report / "figures").glob("map-table-*.svg"))


def test_the_maps_of_the_report_advise_nothing_that_was_refused(found):
    table = main_map(found.maps)
    tried = table.loc[table["method"] == "mondrian", "value"]
    assert tried.tolist() == ["2", "10"]
    told = with_refusals(table, found.search).loc[tried.index, "refused"]
    candidates = found.search.candidates.set_index("chain")
    passed = candidates["passed"].reindex([f"mondrian (k={k})" for k in tried])
    assert (passed.notna().any(), told.notna().tolist()) == (True, passed.eq(False).tolist())
    drawn = judged_figure(found)
    assert f"{(candidates['reason'] == '').sum()} releases judged" in drawn["caption"]


def test_the_external_edition_holds_no_value_that_is_not_released(found, people, report):
    internal, external = ((report / name).read_text() for name in ("report.html", "report-external.html"))
    page = _Page()
    page.feed(external)
    assert page.stack == []
    released = set() if found.search.released is None else set(found.search.released.astype(str).to_numpy().ravel())
    values = set(people.astype(str).to_numpy().ravel()) - released
    distinct = {value for value in values if len(value) > 4}
    assert len(distinct) > 200
    escaped = {value.replace("<", "&lt;").replace(">", "&gt;") for value in distinct}
    assert [value for value in distinct | escaped if value in external] == []
    for secret in ("secret name", found.data_sha256, "riskiest", "direct identifiers"):
        assert secret not in external
        assert secret in internal
    assert found.sentence[1:] in page.text
    # What is said of the first screen is what was judged.
    before = found.search.before
    assert f"{round(before.share_above_limit * len(before.persons))} of {len(before.persons)}" in page.text


def test_without_a_folder_no_file_of_the_data_is_written(people, monkeypatch):
    def refused(*_, **__):
        raise AssertionError("the data were written")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", refused)
    methods = {"table": [{"name": "rounding", "base": [10.0]}]}
    assert len(rd.assess(people, quasi=["sex", "age"], methods=methods, profile="smoke", progress=False).maps["table"])


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet", "a.xlsx"])
def test_files_are_read(people, tmp_path, name):
    people.to_csv(tmp_path / name, index=False) if "csv" in name else write_file(people, tmp_path / name)
    pd.testing.assert_frame_equal(read_file(tmp_path / name), people, check_dtype=False)


@pytest.mark.parametrize("name", ["a.gpkg", "a.geojson", "a.parquet"])
def test_geographic_files_are_read(people, tmp_path, name):
    points = gpd.GeoDataFrame(
        people[["sex"]], geometry=gpd.points_from_xy(people["LON"], people["LAT"], crs="EPSG:4326")
    )
    write_file(points, tmp_path / name)
    read = read_file(tmp_path / name)
    assert read.crs == points.crs
    assert np.allclose(read.geometry.x, points.geometry.x)
    checks = profile_data(read, ["sex"]).checks.set_index("check")
    assert checks.loc["CRS", "verdict"] == "ok"


def test_network_map(people):
    import networkx as nx

    graph = nx.barabasi_albert_graph(40, 2, seed=1)
    frame = rd.assess(people, network=graph, profile="smoke", progress=False).maps["network"]
    frame = frame[
        frame["attack"].str.startswith("number of relations") & (frame["analysis"] == frame["analysis"].iloc[0])
    ]
    k = frame[frame["method"] == "degree_anonymity"].set_index("value")["risk"]
    original = frame[frame["method"] == "original"]["risk"].iloc[0]
    assert original == pytest.approx(len(set(dict(graph.degree).values())) / 40)
    assert k["10"] <= 1 / 10
    assert k["10"] <= k["2"] <= original


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "nothing says what an intruder knows"),
        ({"quasi": "shoe"}, "`quasi`"),
        ({"quasi": "sex", "limit": 2}, "`limit`"),
        ({"quasi": "sex", "profile": "fast"}, "`profile`"),
        ({"lat": "LAT"}, "together"),
        ({"lat": "LAT", "lon": "LOM"}, "`lon` must name a column"),
        ({"quasi": ["age"], "epsilon_quasi": "sex"}, "`epsilon_quasi`"),
    ],
)
def test_bad_input(people, arguments, message):
    with pytest.raises((ParameterError, DataError), match=message):
        rd.assess(people, **arguments, progress=False)


def test_bad_files(tmp_path, people):
    (tmp_path / "a.docx").write_text("x")
    (tmp_path / "b.xlsx").write_text("x")
    (tmp_path / "c.csv").write_text("a,b\n")
    for name, message in (("none.csv", "exists"), ("a.docx", "must be one of"), ("b.xlsx", "XLSX"), ("c.csv", "empty")):
        with pytest.raises(DataError, match=message):
            read_file(tmp_path / name)
    with pytest.raises(DataError, match="at least 20 records"):
        rd.assess(people.head(9), quasi="sex", progress=False)


@pytest.mark.slow
def test_command_line(people, tmp_path):
    people.to_csv(tmp_path / "people.csv", index=False)

    def call(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "reident.cli", *arguments], cwd=tmp_path, capture_output=True, text=True,
            env={**os.environ}, check=False,
        )  # fmt: skip

    named = ["people.csv", "--quasi", "sex,age"]
    done = call("assess", *named, "--profile", "smoke", "--jobs", "1", "--out", "report")
    assert done.returncode == 0, done.stderr
    assert "reident assess people.csv --quasi sex,age --profile smoke" in (tmp_path / "report/report.html").read_text()
    assert "trials" in done.stderr
    release = ["protect", *named, "--method", "mondrian", "--set", "k=4", "--out", "release"]
    done = call(*release)
    assert done.returncode == 0, done.stderr
    assert len(pd.read_csv(tmp_path / "release/release.csv")) == 80
    done = call(*release)
    assert done.returncode == 2
    assert "never overwritten" in done.stderr
    assert "Traceback" not in done.stderr
    assert "sigma_deg" in call("methods", "anonymiser").stdout


def test_what_is_advised_passes_the_check_of_the_same_limit(tmp_path, monkeypatch):
    """An earlier advice on such a file was refused for everybody: it left the table beside the places as it was.

    The maps show a sample, as for large files; the search judges everybody.
    """
    monkeypatch.setattr(assessing, "MOST_PLACES", 120)
    monkeypatch.setattr(assessing, "MOST_MAPPED", 120)
    path = tmp_path / "patienten.csv"
    office(400).to_csv(path, sep=";", index=False, encoding="utf-8-sig")
    opened = rd.open_file(path)
    recipe = recipe_of(opened, str(path))
    roles = {"quasi": recipe.named("quasi-identifier"), "sensitive": recipe.named("sensitive")}
    given = {"lat": "Breite", "lon": "Länge", "methods": METHODS, "profile": "smoke", "progress": False}
    found = rd.assess(opened.data, **roles, **given, limit=0.25)
    assert found.search.passed
    assert found.search.advised["share_above_limit"] == 0
    assert found.search.before.share_above_limit == 1
    assert "400 in the data as they are" in found.sentence
    assert {plan.intruder.n_released for plan in found.plans.values()} == {120}
    advised = dataclasses.replace(recipe, chain=found.chain(), withhold=found.search.withhold)
    out = rd.protect(opened, tmp_path / "release", recipe=advised)
    told = rd.check(out, path, recipe=advised)
    assert told.passed, told.sentence
    assert told.share_above_limit == found.search.advised["share_above_limit"]
    # Each release judged that shows more was refused, under the attack that is named.
    judged = found.search.candidates
    assert (judged.loc[~judged["passed"].astype(bool), "attack"] != "").all()
    assert judged.loc[judged["passed"].astype(bool) & (judged["chain"] == found.search.advised["chain"])].shape[0] == 1


def test_where_nothing_passes_nothing_is_advised(people, tmp_path):
    found = rd.assess(
        people, quasi=["sex", "age"], methods={"table": [{"name": "rounding", "base": [2.0]}]}, profile="smoke",
        limit=0.05, progress=False,
    )  # fmt: skip
    assert not found.search.passed
    assert found.chain() == []
    assert "nothing is advised" in found.sentence
    assert "nothing is advised" in found.save(tmp_path).read_text()


def test_a_chain_is_searched_over_all_its_values(people):
    steps = [
        {"method": "mondrian", "columns": ["sex", "age"], "parameters": {"k": [2, 5, 40]}},
        {"method": "disc", "parameters": {"radius_m": [10.0, 500_000.0]}},
    ]
    found = rd.assess(
        people, quasi=["sex", "age"], lat="LAT", lon="LON", chain=steps, methods=METHODS, profile="smoke", limit=0.3,
        progress=False,
    )  # fmt: skip
    assert found.search.n_chains == 6
    names = [step["method"] for step in found.chain()]
    assert names in (["mondrian", "disc"], [])
    judged = found.search.candidates
    assert judged["chain"].str.contains("radius_m=10.0").any()
    assert not judged.loc[judged["chain"].str.contains("radius_m=10.0"), "passed"].astype(bool).any()
