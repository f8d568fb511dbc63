import gzip

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

import reident as rd
from commands import call
from reident.base import DataError, ParameterError
from reident.workbench.cells import decimals_of
from reident.workbench.columns import type_text
from reident.workbench.opening import describe
from reident.workbench.recipe import open_by_recipe, recipe_of

#: Cells as a clerk types them; every one of them must come back.
CELLS = {
    "Fall-Nr": ["A1", "A2", "A3", "A4"], "PLZ": ["01067", "10115", "80331", "00999"],
    "Alter": ["5", "42", "", "97"], "Größe": ["1,5", "-2,25", "0,75", ""],
    "Datum": ["2020-02-29", "1999-12-31", "", "2001-01-01"], "Ort": ["Köln; Süd", 'das "Dorf"', "NA", "None"],
    "Zahl": ["9007199254740993", "1", "", "2"],
}  # fmt: skip


def write(path, cells, separator=";", encoding="utf-8", decimal=","):
    def field(text):
        if decimal == "." and text.replace(",", "").lstrip("-").isdigit():
            text = text.replace(",", ".")
        quoted = separator in text or '"' in text
        return '"' + text.replace('"', '""') + '"' if quoted else text

    lines = [separator.join(map(field, cells))]
    lines += [separator.join(map(field, row)) for row in zip(*cells.values(), strict=True)]
    raw = ("\r\n".join(lines) + "\r\n").encode(encoding)
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


def back(values):
    return [
        "" if pd.isna(value)
        else value.strftime("%Y-%m-%d") if isinstance(value, pd.Timestamp)
        else f"{value:.12g}".replace(".", ",") if isinstance(value, float)
        else str(value)
        for value in values
    ]  # fmt: skip


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "cp850"])
def test_every_cell_of_every_dialect_comes_back(tmp_path, separator, encoding):
    decimal = "." if separator == "," else ","
    found = rd.workbench.open_file(write(tmp_path / "a.csv", CELLS, separator, encoding, decimal))
    assert list(found.data.columns) == list(CELLS)
    assert found.source["separator"] == separator
    assert found.source["decimal"] == decimal
    for name, cells in CELLS.items():
        assert back(found.data[name]) == cells, name
    types = found.columns.set_index("column")["type"]
    assert types.to_dict() == {
        "Fall-Nr": "text", "PLZ": "text", "Alter": "integer", "Größe": "number", "Datum": "date", "Ort": "text",
        "Zahl": "integer",
    }  # fmt: skip
    assert found.data["Alter"].dtype == "Int64"
    assert [line for line in found.receipts if "UTF-8" not in line] == []
    assert any("'NA' is kept as a value (1 records)" in note for note in found.notes)


def test_gzip_preamble_and_a_separator_that_excel_names(tmp_path):
    assert len(rd.workbench.open_file(write(tmp_path / "a.csv.gz", CELLS)).data) == 4
    plain = write(tmp_path / "a.csv", CELLS).read_bytes()
    (tmp_path / "b.csv").write_bytes(b"sep=;\r\n" + plain)
    assert list(rd.workbench.open_file(tmp_path / "b.csv").data.columns) == list(CELLS)
    (tmp_path / "c.csv").write_bytes(b"Auszug aus dem Register\r\n\r\n" + plain)
    told = rd.workbench.open_file(tmp_path / "c.csv")
    assert list(told.data.columns) == list(CELLS)
    assert "1 line(s) above the header were left out" in told.receipts


@pytest.mark.parametrize(
    ("cells", "kind", "values", "receipt"),
    [
        (["1.234,50", "10,25", "7,00"], "number", [1234.5, 10.25, 7.0], "2 distinct values are not written back"),
        (["12.03.2020", "31.12.1999", "01.01.2000"], "date", None, "DD.MM.YYYY"),
        (["k.A.", "3", "5"], "integer", [None, 3, 5], "'k.A.' read as missing (1 records)"),
        ([*map(str, range(60)), "90+"], "integer", [*range(60), 90], "'90+' read as the number 90 (1 records)"),
        (["0,1234567890123456789", "0,5", "0,25"], "number", None, "1 distinct values are not written back"),
        (["1.234,50 €", "7,75 €"], "number", [1234.5, 7.75], "2 distinct values are not written back"),
        (["12 %", "99 %", ""], "integer", [12, 99, None], "2 distinct values are not written back"),
        (["$3.50", "$12.25"], "number", [3.5, 12.25], "2 distinct values are not written back"),
        (["3 kg", "4 cm"], "text", ["3 kg", "4 cm"], ""),
        (["5.3.2020 9:30", "31.12.1999 23:59"], "date", None, "DD.MM.YYYY hh:mm are written back YYYY-MM-DD hh:mm:ss"),
        (["12.03.2020", "unbekannt", "00.00.0000"], "date", None, "'00.00.0000' read as missing (1 records)"),
        (["+5", "3", "2"], "integer", [5, 3, 2], "1 distinct values are not written back"),
        (["a", "#NV", "b"], "text", ["a", None, "b"], "'#NV' read as missing (1 records)"),
    ],
)
def test_what_does_not_come_back_has_a_receipt(tmp_path, cells, kind, values, receipt):
    found = rd.workbench.open_file(write(tmp_path / "a.csv", {"a": cells, "b": ["x"] * len(cells)}))
    assert found.columns.set_index("column").loc["a", "type"] == kind
    assert not receipt or any(receipt in line for line in found.receipts), found.receipts
    if values is not None:
        assert [None if pd.isna(value) else value for value in found.data["a"]] == values


def test_a_code_is_no_number_and_a_number_no_code(tmp_path):
    n = 30
    cells = {
        "PLZ": [str(10000 + i) for i in range(n)],
        "Werte": [str(i % 5 + 1) for i in range(n)],
        "Jahre": ["-9"] * 3 + ["4", "5", "6"] * 9,
    }
    found = rd.workbench.open_file(write(tmp_path / "a.csv", cells))
    types = found.columns.set_index("column")["type"]
    assert types.to_dict() == {"PLZ": "text", "Werte": "integer", "Jahre": "integer"}
    assert found.notes == ["Jahre: -9 may mean missing (3 records)"]
    again = rd.workbench.open_file(tmp_path / "a.csv", missing=["-9"], text="Werte")
    assert int(again.data["Jahre"].isna().sum()) == 3
    assert again.columns.set_index("column").loc["Werte", "type"] == "text"


def test_duplicate_headers_and_broken_lines_are_refused(tmp_path):
    for text, words in (
        ("a;a\n1;2\n", "unique column names, got 'a' more than once"),
        ("a;b\n1;2\n1;2;3\n", "as many fields in each line as the header"),
        ("a;;b\n1;2;3\n", "column 2 has none"),
        ("a;b\n", "empty"),
    ):
        (tmp_path / "a.csv").write_text(text)
        with pytest.raises(DataError, match=words):
            rd.workbench.open_file(tmp_path / "a.csv")


def test_places_in_metres_need_a_crs(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"Rechtswert": rng.uniform(3e5, 7e5, 40).round(), "Hochwert": rng.uniform(5.3e6, 6.0e6, 40)})
    frame.to_csv(tmp_path / "a.csv", index=False)
    found = rd.workbench.open_file(tmp_path / "a.csv")
    assert (found.schema.places, found.schema.crs) == (("Hochwert", "Rechtswert"), None)
    assert any("CRS" in note for note in found.notes)
    assert rd.workbench.open_file(tmp_path / "a.csv", crs="EPSG:25832").schema.crs == "EPSG:25832"


def test_decimals_against_text():
    rng = np.random.default_rng(0)
    for digits in range(8):
        values = rng.uniform(-1000, 1000, 50).round(digits)
        ref = max(len(f"{value:.10f}".rstrip("0").partition(".")[2]) for value in values)
        assert decimals_of(pd.Series(values)) == ref


def test_the_command_writes_a_recipe_that_reads_back(tmp_path):
    rng = np.random.default_rng(0)
    cells = {"Alter": rng.integers(1, 99, 40).astype(str).tolist(), "Ort": rng.choice(["Köln", "Bonn"], 40).tolist()}
    path = write(tmp_path / "a.csv", cells, encoding="latin-1")

    done = call(tmp_path, "open", "a.csv", "--out", "r.yaml", code=0)
    assert "quasi-identifier" in done.stdout
    assert "read as cp1252" in done.stdout
    recipe = rd.workbench.read_recipe(tmp_path / "r.yaml")
    assert recipe == recipe_of(rd.workbench.open_file(path), "a.csv")
    pd.testing.assert_frame_equal(open_by_recipe(None, tmp_path / "r.yaml")[0].data, rd.workbench.open_file(path).data)
    assert recipe.schema.named("quasi-identifier") == ["Alter", "Ort"]


def headless(sep=",", decimal="."):
    rng = np.random.default_rng(2)
    for i in range(60):
        fields = [f"P{i:04d}", rng.integers(18, 90), rng.choice(["f", "m"]), f"{rng.uniform(48, 54):.4f}", "12.03.2021"]
        yield sep.join(map(str, fields)).replace(".", decimal, 1 if decimal == "," else 0)


@pytest.mark.parametrize(("sep", "decimal"), [(",", "."), (";", ","), ("\t", ".")])
def test_no_record_becomes_the_names_of_columns(tmp_path, sep, decimal):
    path, lines = tmp_path / "people.csv", list(headless(sep, decimal))
    names = ["nr", "age", "sex", "lat", "day"]
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"its first line looks like a record: `names` \(--names\) gives the 5 names"):
        rd.workbench.open_file(path)
    found = rd.workbench.open_file(path, names=names)
    assert list(found.data.columns) == names
    assert len(found.data) == 60
    assert "the 5 columns were named by `names`: the file has no line of names" in found.receipts
    # The recipe reads it so again; where the first line has these very names it is no record.
    again = recipe_of(found, "people.csv", {"names": names}).write(tmp_path / "r.yaml")
    assert open_by_recipe(None, again)[0].data.equals(found.data)
    path.write_text("\n".join([sep.join(names), *lines]))
    assert rd.workbench.open_file(path, names=names).data.equals(found.data)
    assert rd.workbench.open_file(path).data.equals(found.data)
    with pytest.raises(ParameterError, match=r"`names` must give 'people\.csv' 5 names, one a column, got 2"):
        rd.workbench.open_file(path, names=["a", "b"])


@pytest.mark.parametrize(
    ("head", "line"),
    [("id,2019,2020", "{i},3.5,{i}"), ("2019,2020,2021", "{i},3.5,2"), ("name,2019", "person{i},{i}"),
     ("sex,town", "f,Ulm"), ("id", "{i}"), ("Alter;PLZ", "{i};0{i}123"), ("f,sex", "f,m")],
)  # fmt: skip
def test_names_that_look_odd_stay_names(tmp_path, head, line):
    path = tmp_path / "odd.csv"
    path.write_text("\n".join([head, *(line.format(i=i) for i in range(11, 40))]))
    assert ",".join(rd.workbench.open_file(path).data.columns) == head.replace(";", ",")


def test_an_age_that_is_open_at_one_end_is_read_in_several_languages():
    for word in ("65 lat i więcej", "65+", "65 und mehr", "65 ans et plus", "65 años y más", "≥ 65", "65 of ouder"):
        cells = pd.Series([*map(str, range(20, 65)), word], name="wiek", dtype=object)
        typed = type_text(cells, ".")
        assert typed.type == "integer"
        assert typed.cells.tolist()[-1] == 65
        assert typed.receipts == [f"{word!r} read as the number 65 (1 records)"]


def test_geometries_are_counted_and_numbers_that_may_be_codes_are_noted(tmp_path):
    table = pd.DataFrame({"nr": [1, 2, 3, 3, 4, 4, 4], "age": [30, 31, 32, 32, 33, 33, 34]})
    places = gpd.points_from_xy([8, 9, 9, 9, 8, 7, 8], [50] * 7, crs="EPSG:4326")
    gpd.GeoDataFrame(table, geometry=places).to_file(tmp_path / "a.gpkg")
    found = rd.workbench.open_file(tmp_path / "a.gpkg")
    assert found.columns.set_index("column")["distinct"].to_dict() == {"nr": 4, "age": 5, "geometry": 3}
    rng = np.random.default_rng(0)
    towns = rng.integers(0, 8, 200)
    table = pd.DataFrame({"plz": [f"0{town}067" for town in towns], "town": [f"town {town}" for town in towns]})
    table["region"], table["nr"] = rng.integers(1, 6, 200), range(200)
    table.to_csv(tmp_path / "a.csv", index=False)
    notes = rd.workbench.open_file(tmp_path / "a.csv").notes
    assert any(note.startswith("plz, town: say the same") for note in notes)
    assert any("--text region keeps" in note for note in notes)
    assert not any("equal to an earlier one" in note for note in notes)
    pd.concat([table, table.head(2)]).to_csv(tmp_path / "b.csv", index=False)
    assert any(note.startswith("2 record(s) are equal") for note in rd.workbench.open_file(tmp_path / "b.csv").notes)
    codes = rd.workbench.open_file(tmp_path / "a.csv", text="region")
    assert codes.columns.set_index("column")["type"]["region"] == "text"


def odd():
    n = 60
    return pd.DataFrame(
        {
            "salary $ (gross_$)": ["$0 - $10 000", "$10 000 - $20 000"] * (n // 2),
            "x$y_$": np.arange(n) % 7,
            "caf\u00e9": range(n),
            "cafe\u0301": list("ab") * (n // 2),  # the same name to Python
            "\uff53\uff45\uff58": list("mf") * (n // 2),
            "sex": list("mf") * (n // 2),
            "rate": [np.inf, -np.inf, *(i / 3 for i in range(n - 2))],
        }
    )


def test_a_file_with_odd_names_and_values_is_opened(tmp_path):
    odd().to_csv(tmp_path / "odd.csv", index=False)
    call(tmp_path, "open", "odd.csv", code=0)
    assert (tmp_path / "recipe.yaml").stat().st_mode & 0o077 == 0


def test_open_writes_over_no_recipe_and_no_data(tmp_path):
    odd().to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "r.yaml").write_text("mine")
    for line in ("open a.csv --out r.yaml", "open a.csv --out a.csv", "open a.csv --out a.csv --force"):
        call(tmp_path, line, code=2)
    assert {path.name for path in tmp_path.iterdir()} == {"a.csv", "r.yaml"}
    assert (tmp_path / "r.yaml").read_text() == "mine"


def described(table):
    """Propose roles for a table that is no file."""
    return describe(table, {}, None, None, set(), [], [], None)


def test_roles_are_proposed_with_a_reason():
    n = 200
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "patient_id": np.arange(n),
            "mail": [f"p{i}@example.org" for i in range(n)],
            "sex": rng.choice(["f", "m"], n),
            "zip": rng.choice(["01067", "10115"], n),
            "remarks": [f"was seen on day {i} and again later, see letter of the ward" for i in range(n)],
            "hhid": np.arange(n) // 3,
            "weight": rng.uniform(200, 900, n),
            "weight_kg": rng.uniform(50, 90, n),
            "income": rng.normal(9, 1, n),
            "latitude": rng.uniform(50, 51, n),
            "longitude": rng.uniform(8, 9, n),
            "serum": rng.normal(0, 1, n),
            "site": ["A"] * n,
        }
    )
    found = described(frame)
    assert found.columns.set_index("column")["role"].to_dict() == {
        "patient_id": "identifier", "mail": "identifier", "sex": "quasi-identifier", "zip": "quasi-identifier",
        "remarks": "free text", "hhid": "household", "weight": "weight", "weight_kg": "quasi-identifier",
        "income": "sensitive", "latitude": "latitude", "longitude": "longitude", "serum": "other", "site": "other",
    }  # fmt: skip
    assert (found.columns["reason"].str.len() > 10).all()


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Haushalt-Nr", "household"), ("hh_id", "household"), ("Hochrechnungsfaktor", "weight"), ("wgt", "weight"),
        ("Hauptdiagnose", "sensitive"), ("Nettoeinkommen", "sensitive"), ("depression_dx", "sensitive"),
        ("groesse", "quasi-identifier"), ("Größe", "quasi-identifier"), ("Jahr der Geburt", "quasi-identifier"),
        ("Telefonnummer", "identifier"), ("prostate", "other"), ("estate", "other"),
    ],
)  # fmt: skip
def test_roles_are_proposed_in_english_and_german(name, role):
    rng = np.random.default_rng(0)
    values = {
        "household": np.arange(200) // 3, "weight": rng.uniform(200, 900, 200), "identifier": np.arange(200) + 10**9
    }.get(role, rng.normal(7, 2, 200))  # fmt: skip
    found = described(pd.DataFrame({name: values, "x1": rng.normal(size=200)}))
    assert found.columns.set_index("column")["role"][name] == role


@pytest.mark.parametrize("ends", [("Von", "An"), ("od", "do"), ("van", "naar"), ("de", "à")])
def test_relations_are_found_by_names_in_several_languages(ends):
    rng = np.random.default_rng(0)
    pairs = pd.DataFrame(rng.integers(0, 60, (300, 2)), columns=list(ends)).drop_duplicates()
    pairs = pairs[pairs[ends[0]] < pairs[ends[1]]].assign(since=2001)
    roles = described(pairs).columns.set_index("column")["role"]
    assert roles[list(ends)].tolist() == ["node", "node"]
