import bz2
import contextlib
import csv
import gzip
import io
import lzma

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reident as rd
from reident.base import DataError, ParameterError
from reident.data.delimited import read_delimited


def lines_of(n=2000):
    return ["i;name;age", *(f"{i};n{i};{i % 90}" for i in range(n))]


def written(path, lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_quote_that_nothing_closes_loses_no_record(tmp_path):
    lines = lines_of()
    lines[801] = '800;"n800;80'
    lines[1501] = '1500;"n" 1500;60'
    found = rd.workbench.open_file(written(tmp_path / "a.csv", lines))
    assert found.data["i"].tolist() == list(range(2000))
    assert found.data["name"][800] == '"n800'
    assert found.data["name"][1500] == '"n" 1500'
    assert any("2 line(s) have a quote without a partner" in line and "802, 1502" in line for line in found.receipts)


def test_quotes_that_join_two_records_are_refused_by_their_lines(tmp_path):
    lines = lines_of()
    lines[801], lines[1501] = '800;"n800;80', '1500;n1500";60'
    with pytest.raises(DataError, match="line 802 that closes in line 1502"):
        rd.workbench.open_file(written(tmp_path / "a.csv", lines))
    lines = lines_of()
    lines[801] = '800;"n;800;80'
    with pytest.raises(DataError, match="line 802"):
        rd.workbench.open_file(written(tmp_path / "a.csv", lines))


def test_line_breaks_in_cells_are_counted(tmp_path):
    lines = lines_of(300)
    lines[100] = '99;"first\nsecond\nthird";9'
    lines[200] = '199;"n" Ltd;19'
    found = rd.workbench.open_file(written(tmp_path / "a.csv", lines))
    assert len(found.data) == 300
    assert found.data["name"][99] == "first\nsecond\nthird"
    assert any("1 record(s) have line breaks in their cells and fill 3 lines" in line for line in found.receipts)


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=6)


@given(
    st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=8), st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
)
def test_what_a_writer_of_csv_quotes_comes_back_or_is_refused(tmp_path_factory, rows, quoting):
    rows = [(f"k{i}", *row[1:]) for i, row in enumerate(rows)]
    text = io.StringIO()
    csv.writer(text, delimiter=";", quoting=quoting, lineterminator="\n").writerows([("key", "b", "c"), *rows])
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    broken = any("\n" in cell for row in rows for cell in row)
    with contextlib.suppress(DataError) if broken else contextlib.nullcontext():  # two lines may be records each
        table = read_delimited(path, separator=";", names=())[0]
        assert list(table.itertuples(index=False, name=None)) == rows


def test_cells_of_any_length_are_read(tmp_path):
    lines = ["nr;outline;t", *(f"{i};{'1.5 2.5,' * 30_000};x" for i in range(4))]
    assert (
        rd.workbench.open_file(written(tmp_path / "a.csv", lines)).data["outline"].str.len().tolist() == [240_000] * 4
    )


def test_zero_bytes_behind_the_beginning_are_no_text(tmp_path):
    (tmp_path / "a.csv").write_bytes("\n".join(lines_of()).encode() + b"\n1;\0;2\n")
    with pytest.raises(DataError, match="zero bytes"):
        rd.workbench.open_file(tmp_path / "a.csv")


@pytest.mark.parametrize("kind", ["geojson", "gpkg", "shp", "fgb", "xlsx", "parquet", "sav", "dta"])
def test_a_name_does_not_choose_what_reads_a_file(tmp_path, kind):
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    vrt = f'<OGRVRTDataSource><OGRVRTLayer name="secret"><SrcDataSource>{tmp_path}/secret.csv</SrcDataSource>'
    (tmp_path / f"a.{kind}").write_text(f"{vrt}</OGRVRTLayer></OGRVRTDataSource>")
    with pytest.raises(DataError, match="must hold what its name says"):
        rd.workbench.open_file(tmp_path / f"a.{kind}")


def test_a_database_that_is_no_geopackage_and_old_workbooks_are_refused(tmp_path):
    import sqlite3

    with sqlite3.connect(tmp_path / "a.gpkg") as base:
        base.execute("create table t (a)")
    base.close()
    with pytest.raises(DataError, match="must be a GeoPackage"):
        rd.workbench.open_file(tmp_path / "a.gpkg")
    (tmp_path / "a.xls").write_bytes(b"\xd0\xcf\x11\xe0")
    with pytest.raises(DataError, match=r"save it as \.xlsx"):
        rd.workbench.open_file(tmp_path / "a.xls")


@pytest.mark.parametrize("kind", ["csv.gz", "csv", "xlsx", "parquet"])
@pytest.mark.slow
def test_reading_keeps_to_the_memory_that_is_named(tmp_path, monkeypatch, kind):
    path = tmp_path / f"a.{kind}"
    if kind == "csv.gz":
        with gzip.open(path, "wb", compresslevel=1) as file:
            for _ in range(20):
                file.write(b"1,2\n" * 250_000)
    elif kind == "csv":
        path.write_bytes(b"a,b\n" + b"1,2\n" * 4_000_000)
    elif kind == "xlsx":  # a cell in each row and column: 5 KB, and 67 million cells as a table
        book = openpyxl.Workbook()
        for i in range(1, 8193):
            book.active.cell(i, i, i)
        book.save(path)
    else:
        column = pa.chunked_array([pa.DictionaryArray.from_arrays(np.zeros(10_000_000, np.int8), ["a"])])
        pq.write_table(pa.table({"a": column}), path)
    monkeypatch.setenv("REIDENT_MEMORY", "140M")
    with pytest.raises(ParameterError, match="`file` must lead to what fits into memory"):
        rd.workbench.open_file(path)


def test_a_lone_cell_far_out_in_a_sheet_is_no_million_rows(tmp_path):
    book = openpyxl.Workbook()
    for i, row in enumerate([("nr", "age"), (1, 30), (2, 40.5), (3, 50)], 1):
        for j, cell in enumerate(row, 1):
            book.active.cell(i, j, cell)
    book.active.cell(1, 16_000, "far")
    book.active.cell(4, 16_000, "x")
    book.save(tmp_path / "a.xlsx")
    found = rd.workbench.open_file(tmp_path / "a.xlsx").data
    assert found.columns.tolist() == ["nr", "age", "far"]
    assert found["nr"].tolist() == [1, 2, 3]
    assert found["far"].tolist()[-1] == "x"


def test_names_that_are_one_name_for_python_are_two_columns(tmp_path):
    table = pd.DataFrame({"sex": ["f", "m", "f"], "ｓｅｘ": ["1", "2", "3"], "b": ["x", "y", "z"]})
    table.to_csv(tmp_path / "a.csv", index=False)
    assert rd.workbench.open_file(tmp_path / "a.csv").data.columns.tolist() == list(table)


def records(n=40, **further):
    rng = np.random.default_rng(0)
    plain = {"sex": rng.choice(["m", "f"], n), "age": rng.integers(18, 90, n).astype(str)}
    return pd.DataFrame(plain | {name: [text(i) for i in range(n)] for name, text in further.items()})


def text_of_table(table, separator=",", names=None):
    lines = [separator.join(table.columns if names is None else names)]
    return "\n".join([*lines, *(separator.join(row) for row in table.itertuples(index=False))]) + "\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv.bz2", bz2.compress(text_of_table(records()).encode())),
        ("a.csv.xz", lzma.compress(text_of_table(records()).encode())),
        ("a.csv", text_of_table(records(), "^").encode()),
        ("a.csv", text_of_table(records(), "\x1f").encode()),
        ("a.csv", text_of_table(records(), ", ").encode()),
        ("a.txt", text_of_table(records(), "\t").encode("utf-32")),
        ("a.csv", text_of_table(records()).encode() + b"\x1a"),
        ("a.txt", text_of_table(records(row="{} Bonn".format), " ", ["sex", "age", "row", "town"]).encode()),
    ],
)
def test_packings_separators_and_ends_of_other_programs(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    data = rd.workbench.open_file(tmp_path / name).data
    assert data["sex"].tolist() == records()["sex"].tolist()
    assert data["age"].astype(str).tolist() == records()["age"].tolist()


@pytest.mark.parametrize("names", [["sex", "age"], ["", "sex", "age"]])
def test_numbers_of_rows_without_a_name_get_one(tmp_path, names):
    table = records()
    table.insert(0, "number", [str(i + 1) for i in range(len(table))])
    (tmp_path / "a.csv").write_text(text_of_table(table, names=names))
    opened = rd.workbench.open_file(tmp_path / "a.csv")
    assert list(opened.data) == ["row", "sex", "age"]
    assert opened.data["row"].tolist() == list(range(1, 41))
    assert any("is called row" in line for line in opened.receipts)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (lambda i: f"{i + 1}'234.50", lambda i: 1000 * (i + 1) + 234.5),
        (lambda i: f"{i + 1}\u202f234.50", lambda i: 1000 * (i + 1) + 234.5),
        (lambda i: f"\u2212{i}.5", lambda i: -i - 0.5),
        (lambda i: f"{i}.5-", lambda i: -i - 0.5),
        (lambda i: f"({i}.5)" if i % 2 else f"{i}.5", lambda i: (i + 0.5) * (-1 if i % 2 else 1)),
        (lambda i: f"{i}E{i % 9}", lambda i: f"{i}E{i % 9}"),  # a batch, no power of ten
        (lambda i: f"+49 {30_000_000 + i}", lambda i: f"+49 {30_000_000 + i}"),
    ],
)
def test_spellings_of_numbers_are_read_with_a_receipt_and_codes_stay(tmp_path, text, value):
    (tmp_path / "a.csv").write_text(text_of_table(records(k=text), ";"), encoding="utf-8")
    opened = rd.workbench.open_file(tmp_path / "a.csv")
    assert opened.data["k"].tolist() == [value(i) for i in range(40)]
    assert isinstance(value(0), str) or any("k: " in line and "not written back" in line for line in opened.receipts)


@pytest.mark.parametrize(
    ("columns", "note"),
    [
        ({"d": lambda i: f"{i % 28 + 1:02d}.03.2020" if i else "31.02.2020"}, "d: would be dates but for '31.02.2020'"),
        (
            {"d": lambda i: f"2020-03-01 10:{i:02d}:00" if i else "2020-02-30 10:00:00"},
            "would be dates but for '2020-02-30",
        ),
        ({"lat": lambda i: f"51.{i:03d}N", "lon": lambda i: f"10.{i:03d}E"}, "two columns of numbers"),
        ({"lat": lambda i: f"{51_000_000 + i}", "lon": lambda i: f"{10_000_000 + i}"}, "lat, lon: named as"),
    ],
)
def test_columns_that_miss_their_type_are_noted(tmp_path, columns, note):
    (tmp_path / "a.csv").write_text(text_of_table(records(**columns)))
    assert any(note in line for line in rd.workbench.open_file(tmp_path / "a.csv").notes)


def test_a_file_of_one_column_asks_for_its_separator(tmp_path):
    (tmp_path / "a.csv").write_text(text_of_table(records(), ":"))
    assert any("`separator` (--sep)" in line for line in rd.workbench.open_file(tmp_path / "a.csv").notes)
    assert list(rd.workbench.open_file(tmp_path / "a.csv", separator=":").data) == ["sex", "age"]


def test_labels_of_negative_codes_are_noted_as_missing(tmp_path):
    table = pd.DataFrame({"educ": [-9, *[1, 2] * 20], "wt": np.linspace(200, 900, 41)})
    labels = {"educ": {-9: "refused", 1: "low", 2: "high"}}
    table.to_stata(tmp_path / "a.dta", write_index=False, value_labels=labels)
    assert any(
        "educ: 'refused' may mean missing (1 records" in line
        for line in rd.workbench.open_file(tmp_path / "a.dta").notes
    )
    assert rd.workbench.open_file(tmp_path / "a.dta", missing=["refused"]).data["educ"].isna().sum() == 1


@pytest.mark.parametrize("kind", ["dta", "sav"])
def test_a_column_of_numbers_with_labels_for_some_stays_numbers(tmp_path, kind):
    import pyreadstat

    table = pd.DataFrame({"age": [-9.0, *range(20, 60)], "kind": [1.0, 2.0, 3.0] * 13 + [1.0, 2.0]})
    labels = {"age": {-9: "no answer", 59: "59 or more"}, "kind": {1: "same", 2: "same", 3: "other"}}
    getattr(pyreadstat, f"write_{kind}")(table, tmp_path / f"a.{kind}", variable_value_labels=labels)
    found = rd.workbench.open_file(tmp_path / f"a.{kind}")
    assert found.data["age"].tolist() == table["age"].tolist()
    assert any("-9 'no answer', 59 '59 or more'" in line for line in found.notes)
    assert found.data["kind"].tolist()[:3] == ["same (1)", "same (2)", "other"]


def test_merged_cells_and_errors_of_sheets(tmp_path):
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    for row in [["Register", None, None], ["town", "age", "n"], ["Ulm", 30, 1], [None, 40, "#N/A"], ["Bonn", 50, 3]]:
        sheet.append(row)
    for cells in ("A1:C1", "A3:A4"):
        sheet.merge_cells(cells)
    book.save(tmp_path / "a.xlsx")
    found = rd.workbench.open_file(tmp_path / "a.xlsx")
    assert found.data["town"].tolist() == ["Ulm", "Ulm", "Bonn"]
    assert found.data["n"].isna().tolist() == [False, True, False]
    assert {line.partition(" ")[0] for line in found.receipts if "merged" in line or "error" in line} == {"1"}
