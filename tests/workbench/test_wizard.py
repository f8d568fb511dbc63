import html
import json
import re
from dataclasses import replace

import geopandas as gpd
import networkx as nx
import pandas as pd
import pytest

import reident as rd
from judged import protect_into
from office import office
from reident.workbench.recipe import recipe_of
from reident.workbench.wizard import Wizard


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["table", "network"])
def test_a_file_goes_the_whole_way_and_another_choice_removes_the_results(tmp_path, kind):
    if kind == "table":
        office(150).drop(columns=["Breite", "Länge"]).to_csv(tmp_path / "a.csv", sep=";", index=False)
    else:
        rows = [
            f"p{a:02d};p{b:02d};{a % 3}" for a, b in nx.complete_graph(40).edges
        ]  # of fewer, chance hits refuse now and then
        (tmp_path / "a.csv").write_text("\n".join(["Von;Nach;Jahre", *rows]), "utf-8")
    wizard = Wizard("a.csv", folder=tmp_path, profile="smoke", jobs=1)
    if kind == "table":
        for name in ("PLZ", "Beruf", "Aufnahme"):
            wizard.roles[name].value = "other"
    else:
        assert [role.value for role in wizard.roles.values()] == ["node", "node", "other"]
        wizard.roles["Nach"].value = "other"
        assert "`role` node must be that of two columns" in wizard.wrong.value
        assert wizard.assess.disabled
        wizard.roles["Nach"].value = "node"
    assert (wizard.map.data, wizard.wrong.value) == ({}, "")
    wizard.run("assess", wait=True)
    assert wizard.state.value == "Done."
    report = (tmp_path / wizard.out / "report" / "report.html").read_text()
    shown = json.loads(re.search(r"^const state = (.*);$", report, re.MULTILINE)[1])["data"]
    assert json.loads(json.dumps(wizard.map.data)) == shown
    assert html.escape(wizard.assessment.advice) in wizard.verdict.value
    wizard.run("protect", wait=True)
    assert "<b>passed: at most" in wizard.verdict.value
    assert "release.csv" in wizard.taken.value
    assert (tmp_path / wizard.released / "manifest.json").is_file()
    wizard.roles[list(wizard.roles)[1]].value = "identifier"
    assert (wizard.map.data, wizard.frame.empty, wizard.verdict.value, wizard.protect.disabled) == ({}, True, "", True)


def test_a_run_that_is_stopped_says_so_and_leaves_no_verdict(tmp_path, monkeypatch):
    office(60).to_csv(tmp_path / "a.csv", sep=";", index=False)
    wizard = Wizard("a.csv", folder=tmp_path, profile="smoke", jobs=1)

    def stopped(*_, progress, **__):
        wizard.cancel()
        progress(1, 2)

    monkeypatch.setattr("reident.workbench.wizard.assess_into", stopped)
    wizard.run("assess", wait=True)
    assert wizard.state.value.startswith("Stopped.")
    assert (wizard.verdict.value, wizard.assessment) == ("", None)


def test_places_that_no_name_tells_are_chosen_by_hand(tmp_path):
    table = office(60)
    degrees = [table[name].str.replace(",", ".").astype(float) for name in ("Länge", "Breite")]
    metres = gpd.GeoSeries(gpd.points_from_xy(*degrees, crs=4326)).to_crs(25832)
    table["A1"], table["A2"] = metres.y.round().astype(int), metres.x.round().astype(int)
    table.drop(columns=["Länge", "Breite"]).to_csv(tmp_path / "orte.csv", sep=";", index=False)
    wizard = Wizard("orte.csv", folder=tmp_path)
    columns = wizard.columns
    assert columns.where.value == ""
    wizard.roles["A1"].value = "latitude"
    assert "`lat` and `lon` must both be columns, got latitude &#x27;A1&#x27;" in wizard.wrong.value
    assert wizard.assess.disabled
    wizard.roles["A2"].value = "longitude"
    assert "hold no degrees: for metres a CRS must be named" in wizard.wrong.value
    columns.crs.value = "EPSG:nonsense"
    assert "`crs` must name a coordinate system" in wizard.wrong.value
    columns.crs.value = "EPSG:27700"
    assert "hold no places in EPSG:27700" in wizard.wrong.value
    columns.crs.value = "EPSG:25832"
    assert wizard.wrong.value == ""
    assert "60 places were recognised" in columns.where.value
    assert (wizard.chosen().schema.places, wizard.chosen().schema.crs) == (("A1", "A2"), "EPSG:25832")
    for name in ("A1", "A2"):
        wizard.roles[name].value = "other"
    assert columns.where.value == ""
    assert wizard.chosen().schema.places is None


def test_a_sheet_is_chosen_and_stands_in_the_recipe(tmp_path):
    with pd.ExcelWriter(tmp_path / "buch.xlsx") as book:
        office(50).drop(columns=["Breite", "Länge"]).to_excel(book, sheet_name="Patienten", index=False)
        pd.DataFrame({"Stadt": list("abcd") * 8, "Alter": range(32)}).to_excel(book, sheet_name="Orte", index=False)
    wizard = Wizard("buch.xlsx", folder=tmp_path)
    assert (wizard.part.description, wizard.part.options) == ("sheet", ("Patienten", "Orte"))
    wizard.part.value = "Orte"
    assert list(wizard.roles) == list(wizard.chosen().schema.columns) == ["Stadt", "Alter"]
    assert wizard.chosen().reading["sheet"] == "Orte"


def test_a_network_may_stand_in_any_kind_of_file(tmp_path):
    table = pd.DataFrame([(f"p{a}", f"p{b}") for a, b in nx.cycle_graph(30).edges], columns=["wer", "wen"])
    for path in (tmp_path / "a.xlsx", tmp_path / "a.csv"):
        table.to_excel(path, index=False) if path.suffix == ".xlsx" else table.to_csv(path, index=False)
        opened = rd.workbench.open_file(path)
        assert opened.schema.named("node") == ["wer", "wen"]
    dataset = rd.Dataset.of(opened, recipe=recipe_of(opened))
    direct = rd.networks.read_graph(tmp_path / "a.csv")
    assert set(dataset.names) == set(direct.nodes)
    assert dataset.named_network.n_edges == direct.n_edges
    # Still one, by its names: each edge from both ends, as a survey asks for it, and a loop.
    both = pd.concat([table, table.rename(columns={"wer": "wen", "wen": "wer"})])
    named = pd.concat([both, pd.DataFrame({"wer": ["p1"], "wen": ["p1"]})]).rename(
        columns={"wer": "Von", "wen": "Nach"}
    )
    named.to_csv(tmp_path / "a.csv", index=False)
    opened = rd.workbench.open_file(tmp_path / "a.csv")
    assert opened.schema.named("node") == ["Von", "Nach"]
    with pytest.warns(UserWarning, match="1 relation.* with itself and 30 relation.*repeat"):
        assert rd.Dataset.of(opened, recipe=recipe_of(opened)).network.n_edges == direct.n_edges
    # No edge list: an edge thrice, loops alone, values of two kinds, an edge twice in columns of any name.
    for other in (
        pd.concat([table] * 3).rename(columns={"wer": "Von", "wen": "Nach"}),
        *(table.assign(wen=table["wer"]), table.assign(wen=range(30)), both),
    ):
        other.to_csv(tmp_path / "b.csv", index=False)
        assert rd.workbench.open_file(tmp_path / "b.csv").schema.named("node") == []


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("leer.csv", b"", "'leer.csv' must hold at least one record, it is empty"),
        ("kein.xlsx", b"PK\x03\x04", "'kein.xlsx' could not be read as XLSX"),
        ("netz.gml", b"graph []", "`file` must be one of .csv"),
        ("fehlt.csv", None, "`file` must name a file that exists"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path, name, content, told):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    wizard = Wizard(folder=tmp_path)
    wizard.file.value = name
    assert told in html.unescape(wizard.found.value)
    assert wizard.opened is None
    office(30).to_csv(tmp_path / "gut.csv", sep=";", index=False)
    wizard.file.value = "gut.csv"
    assert "30 records" in wizard.found.value
    wizard.file.value = name
    assert wizard._later.layout.display == "none"


def test_a_file_with_identifiers_only_says_what_is_lacking(tmp_path):
    pd.DataFrame({"id": range(50), "Fall-Nr": [f"P{i:04d}" for i in range(50)]}).to_csv(tmp_path / "a.csv", index=False)
    wizard = Wizard("a.csv", folder=tmp_path)
    assert "No column is known to others: choose the roles quasi-identifier, place or node." in wizard.wrong.value
    assert wizard.assess.disabled
    wizard.roles["id"].value = "quasi-identifier"
    assert (wizard.wrong.value, wizard.assess.disabled) == ("", False)


def test_geometries_that_are_no_points_are_left_out_and_those_without_crs_get_one(tmp_path):
    table = office(60)
    degrees = [table.pop(name).str.replace(",", ".").astype(float) for name in ("Länge", "Breite")]
    points = gpd.GeoSeries(gpd.points_from_xy(*degrees))
    with pytest.warns(UserWarning, match="crs"):
        gpd.GeoDataFrame(table, geometry=points).to_file(tmp_path / "ohne.gpkg")
    wizard = Wizard("ohne.gpkg", folder=tmp_path)
    assert "must have a CRS" in wizard.wrong.value
    wizard.columns.crs.value = "EPSG:nichts"
    assert "`crs` must name a coordinate system" in wizard.wrong.value
    wizard.columns.crs.value = "EPSG:4326"
    assert (wizard.wrong.value, "60 places were recognised" in wizard.columns.where.value) == ("", True)
    assert wizard.chosen().schema.crs == "EPSG:4326"
    gpd.GeoDataFrame(table, geometry=points.buffer(0.1), crs=4326).to_file(tmp_path / "kreise.gpkg")
    wizard.file.value = "kreise.gpkg"
    assert "must hold points to be where records are, got Polygon" in wizard.wrong.value
    wizard.roles["geometry"].value = "other"
    assert wizard.wrong.value == ""
    recipe = replace(wizard.chosen(), chain=[{"method": "mondrian", "parameters": {"k": 5}}])
    protect_into(rd.workbench.open_file(tmp_path / "kreise.gpkg"), tmp_path / "release", recipe=recipe)
    # Incomes with a decimal comma are text in the original, and would be numbers in the release.
    found = rd.check(tmp_path / "release", tmp_path / "kreise.gpkg", recipe=recipe, attacks=["exact_join"])
    assert found.findings == []


def test_an_error_that_was_not_foreseen_is_a_sentence_too(tmp_path, monkeypatch):
    office(30).to_csv(tmp_path / "a.csv", sep=";", index=False)
    wizard = Wizard(folder=tmp_path)
    monkeypatch.setattr("reident.workbench.wizard.complete_records", lambda *_, **__: 1 / 0)
    wizard.file.value = "a.csv"
    assert "This did not work, ZeroDivisionError" in wizard.wrong.value
    monkeypatch.setattr("reident.workbench.wizard.open_file", lambda *_, **__: 1 / 0)
    wizard.file.value = ""
    wizard.file.value = "a.csv"
    assert "This did not work, ZeroDivisionError" in wizard.found.value
