"""A canary in every place where a value of the original can lie: each is found, and a clean release passes.

A release holds the records of sixty persons; a seventieth part of the original was suppressed, and one of its values is
the canary. What `write_file` writes holds it nowhere; each test hides it in one place of one kind of file.
"""

import gzip
import json
import shutil
import sqlite3
import zipfile
from pathlib import Path

import geopandas as gpd
import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import reident as rd
from reident.base import DataError, ParameterError
from reident.workbench.files import write_file

pytestmark = pytest.mark.whole

N, KEPT = 70, 60
CANARY, CODE, PAY, LAT = "HIV-2 group", "Z21", 98765.43, 50.123457


@pytest.fixture(scope="module")
def original():
    rng = np.random.default_rng(2)
    data = pd.DataFrame(
        {
            "name": [f"Person {i:04d}" for i in range(N)],
            "age": rng.integers(20, 90, N),
            "ill": rng.choice(["flu", "gout", "angina pectoris"], N),
            "code": rng.choice(["J10", "M10"], N),
            "pay": rng.normal(50_000, 9_000, N).round(2),
            "lat": rng.uniform(51, 52, N).round(6),
            "lon": rng.uniform(8, 9, N).round(6),
        }
    )
    data.loc[N - 1, ["name", "ill", "code", "pay", "lat"]] = ["Maria Canary", CANARY, CODE, PAY, LAT]
    return data


@pytest.fixture(scope="module")
def released(original):
    rng = np.random.default_rng(5)
    kept = original.head(KEPT).sample(frac=1, random_state=1).drop(columns="name").reset_index(drop=True)
    moved = kept[["lat", "lon"]] + rng.uniform(0.01, 0.02, (KEPT, 2))
    return kept.assign(lat=moved["lat"].round(6), lon=moved["lon"].round(6), pay=kept["pay"].round(-2) + 7.5)


def _geographic(table):
    points = gpd.points_from_xy(table["lon"], table["lat"], crs="EPSG:4326")
    return gpd.GeoDataFrame(table.drop(columns=["lat", "lon"]), geometry=points)


def audit(folder, original, released, **options):
    options = {"lat": "lat", "lon": "lon"} | options
    return rd.audit_bytes(folder, original, released, **options)


CLEAN = [".csv", ".parquet", ".xlsx", ".gpkg", ".geojson", ".fgb", ".shp", ".geo.parquet"]


def _write(released, folder, suffix):
    """Write a release and its manifest; return the release as the writer got it."""
    folder.mkdir(exist_ok=True)
    geographic = suffix in (".gpkg", ".geojson", ".fgb", ".shp", ".geo.parquet")
    table = _geographic(released) if geographic else released
    write_file(
        table, folder / f"release{suffix.removeprefix('.geo')}" if suffix != ".geojson" else folder / "release.geojson"
    )
    manifest = {"method": "donut", "columns": list(table.columns), "records": len(table)}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return table


@pytest.mark.parametrize("suffix", CLEAN)
def test_a_clean_release_passes(tmp_path, original, released, suffix):
    table = _write(released, tmp_path / "r", suffix)
    ours = _geographic(original) if hasattr(table, "to_crs") else original
    assert audit(tmp_path / "r", ours, table) == []


# -- where a canary can hide -------------------------------------------------------------------------------------------


def csv_line(folder, table):
    path = folder / "release.csv"
    path.write_text(path.read_text() + f"# {CANARY}\n")


def csv_wide(folder, table):
    (folder / "release.csv").write_bytes((table.to_csv(index=False) + f"{CODE}\n").encode("utf-16"))


def csv_header(folder, table):
    path = folder / "release.csv"
    path.write_text(path.read_text().replace("age", f"age {CODE}", 1))


def csv_comma(folder, table):
    path = folder / "release.csv"
    path.write_text(path.read_text() + "1;98765,43\n")


def gzip_name(folder, table):
    raw = (folder / "release.csv").read_bytes()
    (folder / "release.csv").unlink()
    with (folder / "release.csv.gz").open("wb") as file, gzip.GzipFile("Maria Canary", "wb", fileobj=file) as zipped:
        zipped.write(raw)


def gzip_inside(folder, table):
    (folder / "release.csv").unlink()
    (folder / "release.csv.gz").write_bytes(gzip.compress((table.to_csv(index=False) + f"{PAY}\n").encode()))


def file_name(folder, table):
    (folder / "Maria Canary.txt").write_text("")


def hidden_file(folder, table):
    (folder / ".cache").mkdir()
    (folder / ".cache" / "old").write_bytes(b"\0\1" + CANARY.encode() + b"\0")


def manifest_value(folder, table):
    (folder / "manifest.json").write_text(json.dumps({"seed": 1, "largest": PAY}))


def array_tail(folder, table):
    np.save(folder / "distances_km.npy", np.arange(9.0))
    with (folder / "distances_km.npy").open("ab") as file:
        file.write(np.array([LAT]).tobytes())


def array_swapped(folder, table):
    (folder / "x.bin").write_bytes(b"abc" + np.array([PAY], ">f8").tobytes())


def parquet_category(folder, table):
    ill = pd.Categorical(table["ill"], categories=[CANARY, *table["ill"].unique()])
    table.assign(ill=ill).to_parquet(folder / "release.parquet", index=False)


def parquet_number(folder, table):
    """Leave a number in the dictionary, the statistics and the pages that the cells to be released do not have."""
    ages = table["age"].where(table.index > 0, 119)
    table.assign(age=ages).to_parquet(folder / "release.parquet", index=False)


def parquet_attrs(folder, table):
    table = table.copy()
    table.attrs["note"] = CANARY
    table.to_parquet(folder / "release.parquet", index=False)


def parquet_index(folder, table):
    table.rename_axis(index=CANARY).to_parquet(folder / "release.parquet")


def parquet_metadata(folder, table):
    made = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata({"made": "for Maria Canary"})
    pq.write_table(made, folder / "release.parquet")


def parquet_field(folder, table):
    made = pa.Table.from_pandas(table, preserve_index=False)
    field = made.schema.field("ill").with_metadata({"values": f"flu,{CANARY}"})
    pq.write_table(made.cast(made.schema.set(made.schema.get_field_index("ill"), field)), folder / "release.parquet")


def parquet_page(folder, table):
    """Leave the canary's number in a page of bytes that no reader shows as a number."""
    spare = np.array([LAT]).tobytes()
    made = pa.Table.from_pandas(table, preserve_index=False).append_column("b", pa.array([spare] * len(table)))
    pq.write_table(made, folder / "release.parquet", compression="zstd")


def geoparquet_crs(folder, table):
    made = pq.read_table(folder / "release.parquet")
    told = made.schema.metadata
    geo = told[b"geo"].replace(b'"WGS 84"', f'"WGS 84 for {CANARY}"'.encode())
    pq.write_table(made.replace_schema_metadata({**told, b"geo": geo}), folder / "release.parquet")


def _workbook(folder, change):
    path = folder / "release.xlsx"
    book = openpyxl.load_workbook(path)
    change(book)
    book.save(path)


def excel_sheet(folder, table):
    def change(book):
        sheet = book.create_sheet("old")
        sheet.sheet_state = "veryHidden"
        sheet["A1"] = CODE

    _workbook(folder, change)


def excel_comment(folder, table):
    _workbook(folder, lambda book: setattr(book.active["A1"], "comment", openpyxl.comments.Comment(CANARY, "me")))


def excel_properties(folder, table):
    _workbook(folder, lambda book: setattr(book.properties, "description", f"without {CANARY}"))


def excel_name(folder, table):
    name = openpyxl.workbook.defined_name.DefinedName("ill", attr_text=f'"{CANARY}"')
    _workbook(folder, lambda book: book.defined_names.add(name))


def excel_header(folder, table):
    _workbook(folder, lambda book: setattr(book.active.oddHeader.left, "text", "Maria Canary"))


def excel_list(folder, table):
    rule = openpyxl.worksheet.datavalidation.DataValidation(type="list", formula1=f'"flu,{CANARY}"')
    rule.add("A1:A9")
    _workbook(folder, lambda book: book.active.add_data_validation(rule))


def excel_hidden_cell(folder, table):
    def change(book):
        book.active["ZZ999"] = PAY

    _workbook(folder, change)


def excel_member(folder, table):
    with zipfile.ZipFile(folder / "release.xlsx", "a") as archive:
        archive.writestr("xl/old.bin", b"\0" + np.array([PAY]).tobytes())


def excel_zip_comment(folder, table):
    with zipfile.ZipFile(folder / "release.xlsx", "a") as archive:
        archive.comment = CANARY.encode()


def _database(folder, *statements):
    connection = sqlite3.connect(folder / "release.gpkg", isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def _dropped(folder, kind, value):
    rows = ", ".join(f"({value})" for _ in range(900))
    filled = ("pragma secure_delete = off", f"create table old (a {kind})", f"insert into old values {rows}")
    _database(folder, *filled, "drop table old")


def database_table(folder, table):
    _database(folder, "create table old (ill text)", f"insert into old values ('{CODE}')")


def database_free_page(folder, table):
    rows = ", ".join(f"('{CANARY}')" for _ in range(900))
    _database(
        folder,
        "pragma secure_delete = off",
        "create table old (ill text)",
        f"insert into old values {rows}",
        "drop table old",
    )


def database_free_double(folder, table):
    rows = ", ".join(f"({LAT})" for _ in range(900))
    _database(
        folder,
        "pragma secure_delete = off",
        "create table old (lat real)",
        f"insert into old values {rows}",
        "drop table old",
    )


def database_description(folder, table):
    _database(folder, f"update gpkg_contents set description = 'without {CANARY}'")


def database_crs(folder, table):
    _database(folder, f"update gpkg_spatial_ref_sys set description = '{CANARY}' where srs_id = 4326")


def database_geometry(folder, table):
    blob = np.array([8.5, LAT]).tobytes().hex()
    _database(folder, "create table old (shape blob)", f"insert into old values (x'{blob}')")


def shape_deleted(folder, table):
    path = folder / "release.dbf"
    raw = path.read_bytes()
    path.write_bytes(raw + b"*" + CANARY.encode().ljust(40))


def shape_crs(folder, table):
    (folder / "release.prj").write_text(f'GEOGCS["for {CANARY}"]')


def shape_side(folder, table):
    (folder / "release.shp.xml").write_text(f"<metadata><!-- {CANARY} --></metadata>")


def json_member(folder, table):
    path = folder / "release.geojson"
    path.write_text(json.dumps({**json.loads(path.read_text()), "left_out": [CODE]}))


def json_box(folder, table):
    path = folder / "release.geojson"
    path.write_text(json.dumps({**json.loads(path.read_text()), "bbox": [8.1, LAT, 9.0, 52.0]}))


def flat_title(folder, table):
    _geographic_file = folder / "release.fgb"
    gpd.read_file(_geographic_file).to_file(_geographic_file, layer_options={"TITLE": CANARY})


PLANTED = [
    (".csv", one) for one in (csv_line, csv_wide, csv_header, csv_comma, gzip_name, gzip_inside, file_name, hidden_file,
                              manifest_value, array_tail, array_swapped)
] + [
    (".parquet", one) for one in (parquet_category, parquet_number, parquet_attrs, parquet_index, parquet_metadata,
                                  parquet_field, parquet_page)
] + [(".geo.parquet", geoparquet_crs)] + [
    (".xlsx", one) for one in (excel_sheet, excel_comment, excel_properties, excel_name, excel_header, excel_list,
                               excel_hidden_cell, excel_member, excel_zip_comment)
] + [
    (".gpkg", one) for one in (database_table, database_free_page, database_free_double, database_description,
                               database_crs, database_geometry)
] + [(".shp", one) for one in (shape_deleted, shape_crs, shape_side)] + [
    (".geojson", one) for one in (json_member, json_box)
] + [(".fgb", flat_title)]  # fmt: skip


@pytest.mark.parametrize(("suffix", "plant"), PLANTED, ids=[plant.__name__ for _, plant in PLANTED])
def test_a_canary_is_found(tmp_path, original, released, suffix, plant):
    data = original.copy()
    data.loc[N - 1, "age"] = 119
    table = _write(released, tmp_path / "r", suffix)
    plant(tmp_path / "r", released if not hasattr(table, "to_crs") else table)
    ours = _geographic(data) if hasattr(table, "to_crs") else data
    found = [one for one in audit(tmp_path / "r", ours, table) if one.kind == "hidden value"]
    assert found
    assert any(
        str(one.example) in (CANARY, CODE, str(PAY), str(LAT), "Maria Canary", "119", "119.0") for one in found
    ), found
    for one in found:
        assert str(one.example) not in json.dumps(one.as_dict()), "a report must not repeat what it found"


def test_at_least_thirty_places():
    assert len({plant for _, plant in PLANTED}) >= 30


# -- what cells give away ----------------------------------------------------------------------------------------------


def kinds(found):
    return {one.kind for one in found}


@pytest.mark.parametrize("suffix", [".csv", ".gpkg", ".parquet"])
def test_true_places_are_found_and_moved_ones_are_not(tmp_path, original, released, suffix):
    true = original.head(KEPT).set_index(released.index)
    for n_true in (0, 1, 40):
        shown = released.copy()
        shown.loc[: n_true - 1, ["lat", "lon"]] = true.loc[: n_true - 1, ["lat", "lon"]]
        folder = tmp_path / str(n_true)
        table = _write(shown, folder, suffix)
        ours = _geographic(original) if hasattr(table, "to_crs") else original
        found = [one for one in audit(folder, ours, table) if one.kind == "true place"]
        assert [one.n for one in found] == ([n_true] if n_true else [])
    if suffix == ".csv":
        assert "true place" not in kinds(audit(folder, original, table, unchanged=["lat", "lon"]))


def test_interval_ends_of_persons_are_found_and_those_of_a_grid_are_not(tmp_path, original, released):
    pay = original["pay"].head(KEPT).to_numpy()
    low = np.floor(pay / 5000) * 5000
    parts = np.array_split(np.sort(pay), 10)
    exact = {value: f"[{part[0]}, {part[-1]}]" for part in parts for value in part}
    order = np.random.default_rng(0).permutation(KEPT)
    for label, expected in (
        ([f"[{a:.0f}, {a + 5000:.0f})" for a in low], False),
        ([exact[value] for value in pay], True),
        (["{" + ", ".join(map(str, next(p for p in parts if v in p))) + "}" for v in pay], True),
    ):
        shown = released.assign(pay=np.array(label, object)[order])
        _write(shown, tmp_path / "r", ".csv")
        found = audit(tmp_path / "r", original, shown)
        assert ("exact interval ends" in kinds(found)) == expected
    ages = released.assign(age=[f"[{a // 5 * 5}, {a // 5 * 5 + 5})" for a in released["age"]])
    _write(ages, tmp_path / "r", ".csv")
    assert "exact interval ends" not in kinds(audit(tmp_path / "r", original, ages))


def test_the_original_order_is_found_and_a_shuffled_one_is_not(tmp_path, original, released):
    rows = original.head(KEPT)[["pay", "ill"]]
    rng = np.random.default_rng(0)
    for shown, expected in (
        (rows, True),
        (rows[::2].reset_index(drop=True), False),  # too few
        (rows[rows.index % 4 > 0].reset_index(drop=True), True),
        (rows.sample(frac=1, random_state=rng), False),
        (rows.sort_values("pay"), False),
    ):
        _write(shown, tmp_path / "r", ".csv")
        assert ("order" in kinds(audit(tmp_path / "r", original, shown, unchanged=["pay"]))) == expected


def test_without_a_table_the_file_itself_is_read(tmp_path, original, released):
    _write(released, tmp_path / "r", ".csv")
    assert rd.audit_bytes(tmp_path / "r", original, lat="lat", lon="lon") == []
    assert rd.audit_bytes(tmp_path / "r" / "release.csv", original, lat="lat", lon="lon") == []
    with pytest.raises(DataError, match="exists"):
        rd.audit_bytes(tmp_path / "absent", original)
    with pytest.raises(ParameterError, match="`unchanged`"):
        rd.audit_bytes(tmp_path / "r", original, unchanged=["absent"])
    shutil.rmtree(tmp_path / "r")
    Path(tmp_path / "r").mkdir()
    with pytest.raises(DataError, match="at least one file"):
        rd.audit_bytes(tmp_path / "r", original)


def test_cells_that_a_spreadsheet_would_execute_are_text(tmp_path):
    live = pd.DataFrame({"=1+1": ["=cmd|' /C calc'!A0", "+49 30", "-3", "@x", "plain"], "n": [-1.5, 2, 3, 4, 5]})
    told = write_file(live, tmp_path / "a.csv")
    read = pd.read_csv(tmp_path / "a.csv", dtype=str)
    assert read.columns.tolist() == ["'=1+1", "n"]
    assert read.iloc[:, 0].tolist() == ["'=cmd|' /C calc'!A0", "'+49 30", "-3", "'@x", "plain"]
    assert read["n"].tolist()[0] == "-1.5"
    assert "3 cells that a spreadsheet would execute" in told[0]
    write_file(live, tmp_path / "a.xlsx")
    cells = [cell for row in openpyxl.load_workbook(tmp_path / "a.xlsx").active.iter_rows() for cell in row]
    assert {cell.data_type for cell in cells} == {"s", "n"}
    assert cells[2].value == "=cmd|' /C calc'!A0"


def test_addresses_of_a_sheet_are_no_codes(tmp_path, released):
    codes = pd.Series(np.resize(["A1", "A41", "C50", "D61"], KEPT))
    original = released.assign(code=codes, n=np.arange(KEPT))
    shown = original.drop(columns=["code", "n"])
    _write(shown, tmp_path / "r", ".xlsx")
    assert "hidden value" not in kinds(audit(tmp_path / "r", original, shown))
    _workbook(tmp_path / "r", lambda book: setattr(book.active.sheet_properties, "codeName", "C50"))
    assert "hidden value" in kinds(audit(tmp_path / "r", original, shown))
