import datetime as dt

import geopandas as gpd
import numpy as np
import openpyxl
import pandas as pd
import pytest

import reident as rd
from reident.base import DataError, ParameterError
from reident.workbench.columns import type_values
from samples import drawn


@pytest.fixture(scope="module")
def persons():
    pay = lambda rng, n: rng.normal(50, 9, n).round(2)  # noqa: E731
    table = drawn(60, 3, plz=(1000, 2000), age=(20, 90), pay=pay, ill=["flu", "gout"])
    return table.assign(plz=table["plz"].map("{:05d}".format))


def test_excel_with_a_cover_sheet(tmp_path, persons):
    path = tmp_path / "a.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"Hinweis": ["Vertraulich"]}).to_excel(book, sheet_name="Deckblatt", index=False)
        persons.assign(age=persons["age"].where(persons.index > 2)).to_excel(book, sheet_name="Daten", index=False)
    found = rd.workbench.open_file(path)
    assert found.source["sheet"] == "Daten"
    assert "'Deckblatt'" in found.notes[0]
    assert found.data["plz"].tolist() == persons["plz"].tolist()
    assert found.data["age"].dtype == "Int64"
    for read in (rd.workbench.open_file, rd.open_dataset):
        assert read(path, sheet="Deckblatt").data["Hinweis"].tolist() == ["Vertraulich"]
    with pytest.raises(ParameterError, match="`sheet`"):
        rd.workbench.open_file(path, sheet="Daten2")


@pytest.mark.parametrize(("dtype", "cell"), [("Int64", 30), ("Float64", 1.5), ("boolean", True), ("string", "a")])
def test_a_gap_in_the_last_rows_of_a_nullable_column_is_a_gap(tmp_path, dtype, cell):
    column = pd.array([cell] * 39 + [pd.NA], dtype=dtype)
    pd.DataFrame({"sex": ["f", "m"] * 20, "x": column}).to_parquet(tmp_path / "a.parquet")
    found = rd.workbench.open_file(tmp_path / "a.parquet")
    assert found.columns.set_index("column").loc["x", "missing"] == 1
    mixed = pd.DataFrame({"x": pd.Series(["a", 1, pd.NA, *"bcdefg"], dtype=object), "y": range(9)})
    for typed in (type_values(mixed["x"]), type_values(mixed["x"].replace({1: True}))):
        assert typed.cells.isna().tolist() == [False, False, True, *[False] * 6]


def test_parquet_leaves_categories_and_attributes_behind(tmp_path, persons):
    odd = persons.assign(ill=pd.Categorical(persons["ill"], categories=["HIV", "gout", "flu"]))
    odd.attrs["secret"] = "x"
    odd.to_parquet(tmp_path / "a.parquet")
    found = rd.workbench.open_file(tmp_path / "a.parquet")
    assert found.data["ill"].dtype == "str"
    assert found.data.attrs == {}
    assert any("1 that no record has left out" in line for line in found.receipts)
    local = pd.date_range("2020-03-28", periods=60, freq="h")  # the clocks change that night
    persons.assign(seen=local.tz_localize("Europe/Berlin", nonexistent="shift_forward")).to_parquet(
        tmp_path / "b.parquet"
    )
    zoned = rd.workbench.open_file(tmp_path / "b.parquet")
    assert zoned.data["seen"].iloc[:3].tolist() == local[:3].tolist()
    assert any("zones are not written back (Europe/Berlin)" in line for line in zoned.receipts)
    pd.testing.assert_frame_equal(found.data, persons, check_dtype=False)


@pytest.mark.parametrize("kind", ["dta", "sav"])
def test_stata_and_spss_come_with_their_labels(tmp_path, persons, kind):
    import pyreadstat

    coded = persons.assign(ill=persons["ill"].map({"flu": 1, "gout": 2}), age=persons["age"].where(persons.index > 2))
    write_file = getattr(pyreadstat, f"write_{kind}")
    write_file(coded, tmp_path / f"a.{kind}", variable_value_labels={"ill": {1: "flu", 2: "gout"}})
    found = rd.workbench.open_file(tmp_path / f"a.{kind}")
    assert found.data["ill"].tolist() == persons["ill"].tolist()
    assert found.data["plz"].tolist() == persons["plz"].tolist()
    assert found.data["age"].dtype == "Int64"
    assert "ill: codes were replaced by their labels" in found.receipts


def test_what_spss_declares_as_missing_is_missing(tmp_path, persons):
    import pyreadstat

    coded = persons.assign(n=[97.0, 98, 5] * 20)
    pyreadstat.write_sav(coded, tmp_path / "a.sav", missing_ranges={"n": [{"lo": 97, "hi": 98}]})
    found = rd.workbench.open_file(tmp_path / "a.sav")
    assert found.data["n"].isna().sum() == 40
    assert next(line for line in found.receipts if "declares as missing" in line).startswith("n: ")


@pytest.mark.parametrize("kind", ["gpkg", "geojson", "shp"])
def test_geographic_files_say_layer_and_crs(tmp_path, persons, kind):
    rng = np.random.default_rng(0)
    crs = "EPSG:4326" if kind == "geojson" else "EPSG:25832"
    points = gpd.GeoDataFrame(
        persons, geometry=gpd.points_from_xy(rng.uniform(5, 9, 60), rng.uniform(45, 55, 60)), crs=crs
    )
    path = tmp_path / f"a.{kind}"
    if kind == "gpkg":
        points.to_file(path, layer="people")
        points.head(3).to_file(path, layer="few")
    else:
        points.to_file(path)
    found = rd.workbench.open_file(path)
    assert len(found.data) == 60
    assert found.source["crs"] == crs
    assert found.schema.named("place") == ["geometry"]
    if kind == "gpkg":
        assert found.source["layer"] == "people"
        assert "'few'" in found.notes[0]
        assert len(rd.workbench.open_file(path, layer="few").data) == 3
        with pytest.raises(ParameterError, match="`crs`"):
            rd.workbench.open_file(path, crs="EPSG:4326")


def test_records_of_words_and_of_sheets_are_no_names_either(tmp_path):
    rng = np.random.default_rng(1)
    words = pd.DataFrame({"sex": rng.choice(["f", "m"], 50), "town": rng.choice(["Ulm", "Hof"], 50), "n": 7})
    words.to_csv(tmp_path / "words.csv", index=False, header=False)
    words.to_excel(tmp_path / "words.xlsx", index=False, header=False)
    for kind in ("csv", "xlsx"):
        with pytest.raises(DataError, match="looks like a record"):
            rd.workbench.open_file(tmp_path / f"words.{kind}")
        assert len(rd.workbench.open_file(tmp_path / f"words.{kind}", names=["sex", "town", "n"]).data) == 50


def test_a_sheet_keeps_the_zeros_that_its_format_shows(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Nr", "PLZ", "Kasse", "Betrag"])
    for i, plz in enumerate([1067, 1069, 99817, 80331, 4109] * 6):
        sheet.append([i, plz, 7, 10 * i])
        sheet.cell(i + 2, 2).number_format = "00000"
        sheet.cell(i + 2, 3).number_format = "[$-407]000"
        sheet.cell(i + 2, 4).number_format = "0.00"
    book.save(tmp_path / "a.xlsx")
    found = rd.workbench.open_file(tmp_path / "a.xlsx")
    assert found.data["PLZ"].tolist()[:5] == ["01067", "01069", "99817", "80331", "04109"]
    assert found.data["Kasse"].unique().tolist() == ["007"]
    assert found.data["Betrag"].tolist() == [10 * i for i in range(30)]
    assert found.columns.set_index("column")["type"].to_dict() == {
        "Nr": "integer", "PLZ": "text", "Kasse": "text", "Betrag": "integer",
    }  # fmt: skip
    assert any(line.startswith("60 numbers of a format such as 00000") for line in found.receipts)


@pytest.mark.parametrize(("formula", "n"), [("=A{}*2", 30), ('=IF(A{}>0,"","x")', 30), (None, 0)])
def test_formulas_without_a_result_are_told(tmp_path, formula, n):
    book = openpyxl.Workbook()
    book.active.append(["age", "twice"])
    for row in range(2, 32):
        book.active.append([row, formula and formula.format(row)])
    book.save(tmp_path / "a.xlsx")
    notes = [note for note in rd.workbench.open_file(tmp_path / "a.xlsx").notes if "formulas" in note]
    assert [int(note.split()[0]) for note in notes] == [n] * bool(n)


@pytest.mark.parametrize("words", ["unbekannt", "n.b.", "12.03.1950", "um 1950"])
def test_dates_of_a_sheet_with_a_few_words_among_them(tmp_path, words):
    days = [dt.datetime(1972, 11, 27), dt.datetime(1950, 1, 2), dt.datetime(1984, 5, 6)] * 10
    table = pd.DataFrame({"Geburt": [*days, words, words], "age": range(32)})
    table.to_excel(tmp_path / "a.xlsx", index=False)
    found = rd.workbench.open_file(tmp_path / "a.xlsx", missing=["n.b."])
    row = found.columns.set_index("column").loc["Geburt"]
    if words == "um 1950":  # no day, and no word for none: nothing is lost, and nothing added
        assert row["type"] == "text"
        assert found.data["Geburt"].tolist()[:2] == ["1972-11-27", "1950-01-02"]
        assert found.data["Geburt"].tolist()[-1] == "um 1950"
        return
    assert row["type"] == "date"
    assert found.data["Geburt"].tolist()[:2] == [pd.Timestamp(1972, 11, 27), pd.Timestamp(1950, 1, 2)]
    assert row["missing"] == (0 if words == "12.03.1950" else 2)
    if words == "12.03.1950":
        assert found.data["Geburt"].iloc[-1] == pd.Timestamp(1950, 3, 12)
    else:
        assert f"Geburt: {words!r} read as missing (2 records)" in found.receipts
