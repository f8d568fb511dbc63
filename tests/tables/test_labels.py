import unicodedata

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reident as rd
from commands import call
from reident.tables import Hierarchy
from reident.tables.agreement import agreement, compare_columns, kept_columns
from reident.tables.classes import text_of
from reident.tables.labels import LabelReader, interval_of, texts_of
from samples import drawn


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([39.0, 1.5, None, 39.0]), pd.Series(["a", None, "a"]),
        pd.Series([1, True, "1", 1.0, None], dtype=object),
        pd.Series([1, None, 3], dtype="Int64"), pd.to_datetime(pd.Series(["2021-03-01", None])),
        pd.Series(["b", "a", None], dtype="category"), pd.Series([True, False]), pd.Series([], dtype=object),
    ],
)  # fmt: skip
def test_the_texts_of_a_column_are_those_of_its_values(column):
    found, naive = texts_of(column), column.astype(object).map(text_of, na_action="ignore")
    assert found.isna().tolist() == naive.isna().tolist()
    assert found.dropna().tolist() == naive.dropna().tolist()


CODES = ["01067", "01097", "02625", "10115", "0106"]
WORDS = {
    "65 lat i więcej": (65, 100), "65 ans et plus": (65, 100), "65 y más": (65, 100), "65 anni e oltre": (65, 100),
    "65 jaar en ouder": (65, 100), "65 år och äldre": (65, 100), "30 und älter": (30, 100), "powyżej 65 lat": (66, 100),
    "moins de 20 ans": (20,), "menos de 20 años": (20,), "jusqu'à 20 ans": (21,), "do 20 lat": (21,),
    "de 20 à 29 ans": (20, 30), "de 20 a 29 años": (20, 30), "od 20 do 29 lat": (20, 30),
    "zwischen 20 und 29": (20, 30), "tussen 20 en 29 jaar": (20, 30), "20 bis unter 30 Jahre": (20, 30),
}  # fmt: skip
SIGNS = [
    ("[20, 30]", [20, 25, 30]), ("[20, 30)", [20, 25]), ("(20; 30]", [25, 30]), ("20-30", [20, 25, 30]),
    ("20 – 30", [20, 25, 30]), ("<= 25", [20, 25]), ("≥ 30", [30, 131]), ("> 30", [131]), ("2*", [20, 25]),
    ("1*", [131]), ("1**", [131]), ("**", [20, 25, 30]), ("*", [20, 25, 30, 131]), ("{20, 131}", [20, 131]),
    (frozenset([20, 131]), [20, 131]), (pd.Interval(20, 30, closed="left"), [20, 25]), ("25", [25]),
    (25.0, [25]), (np.nan, [20, 25, 30, 131]), ("something", []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("values", "label", "covered"),
    [
        *((range(100), label, list(range(*ends))) for label, ends in WORDS.items()),
        *(([20, 25, 30, 131], *each) for each in SIGNS),
        *((CODES, label, CODES[:n]) for label, n in (("0xxxx", 3), ("01xxx", 2), ("010##", 2), ("0106?", 1))),
    ],
)
def test_a_label_covers_what_it_says(values, label, covered):
    values = pd.Index(values)
    reader = LabelReader(values, pd.Index([label], dtype=object, tupleize_cols=False))
    assert values[reader.cover()[:, 0]].tolist() == covered


def test_labels_by_a_hierarchy_or_its_table():
    hierarchy = Hierarchy([["clerk", "office"], ["manager", "office"], ["farmer", "field"], ["fisher", "field"]])
    for form in (hierarchy, hierarchy.to_frame()):
        covered = LabelReader(pd.Index(["clerk", "manager", "farmer", "fisher"]), pd.Index(["office", "fisher"]), form)
        assert covered.cover().tolist() == [[True, False], [True, False], [False, False], [False, True]]


@pytest.mark.parametrize(
    ("label", "ends"),
    [
        ("-10 to -5", (-10, -5)), ("-10 bis -5", (-10, -5)), ("−5 – −1", (-5, -1)), ("[−5, −1)", (-5, -1)),
        ("[1000; 1999,5]", (1000, 1999.5)), ("[1,5; 2,5)", (1.5, 2.5)),
        ("von -10 bis unter -5", (-10, -5)), ("1.000 bis 1.999", (1000, 1999)), ("unter -5", (-np.inf, -5)),
        ("2021-03", None), ("a-b", None), ("-5", None), ("1,5", None),
    ],
)  # fmt: skip
def test_ranges_with_signs_and_decimal_commas(label, ends):
    found = interval_of(label)
    assert (found and found[:2]) == ends


def test_points_in_a_range_are_read_as_most_values_want():
    labels = pd.Index(["1.000-1.999", "2.000-2.999"])
    assert LabelReader(pd.Index([1000, 1500, 2999]), labels).cover().sum() == 3
    assert LabelReader(pd.Index([1.0, 1.5, 2.999]), labels).cover().sum() == 3


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=2, unique=True), st.integers(0, 3))
def test_a_written_range_is_read_back(ends, places):
    low, high = (float(f"{end}e-{places}") for end in sorted(ends))
    for form in ("[{}, {}]", "{} – {}"):
        assert interval_of(form.format(text_of(low), text_of(high)))[:2] == (low, high)
    if places == 3:  # 1,234 may be a thousand
        return
    for form in ("{} to {}", "{} bis {}", "[{}; {})"):
        label = form.format(text_of(low), text_of(high))
        assert interval_of(label)[:2] == (low, high)
        assert interval_of(label.replace(".", ","))[:2] == (low, high)


SPELLINGS = {
    "composed": lambda text: unicodedata.normalize("NFC", text),
    "parted": lambda text: unicodedata.normalize("NFD", text),
    "no-break": lambda text: text.replace(" ", "\u00a0"), "nothing shown": lambda text: text[0] + "\u200b" + text[1:],
}  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_towns_that_look_the_same_are_joined(spelling):
    towns = pd.Series(["Düren", "Köln", "Bad Münster", "Aachen"] * 5)
    known, release = pd.DataFrame({"town": towns}), pd.DataFrame({"town": towns.map(SPELLINGS[spelling])})
    compared, rows = compare_columns(known, release, ["town"]), np.arange(len(towns))
    assert kept_columns(compared, rows, rows) == ["town"]
    agree = compared["town"].agree(rows[:, None], rows)
    assert (agree == (towns.to_numpy()[:, None] == towns.to_numpy())).all()


def test_two_spellings_of_a_town_are_told_and_meet_one_line_of_a_hierarchy(tmp_path):
    rng = np.random.default_rng(1)
    towns = rng.choice(["Düren", "Köln", "Bonn", "Aachen"], 120)
    mixed = [unicodedata.normalize("NFD" if i % 3 else "NFC", town) for i, town in enumerate(towns)]
    table = pd.DataFrame({"age": rng.integers(20, 60, 120), "town": mixed})
    table.to_csv(tmp_path / "people.csv", index=False)
    for kind in ("people.csv", "people.xlsx"):
        if kind.endswith("xlsx"):
            table.to_excel(tmp_path / kind, index=False)
        notes = [
            note for note in rd.workbench.open_file(tmp_path / kind).notes if "several ways that look the same" in note
        ]
        assert len(notes) == 1
        assert "'Düren'" in notes[0]
        assert "'Bonn'" not in notes[0]
    (tmp_path / "town.csv").write_text("".join(f"{town};NRW;*\n" for town in ("Düren", "Köln", "Bonn", "Aachen")))
    line = "protect people.csv --method k_anonymity --set k=5 --quasi age,town --hierarchy town=town.csv --out out"
    call(tmp_path, line, code=0)
    released = pd.read_csv(next((tmp_path / "out").glob("release.*")), dtype=str, keep_default_na=False)
    assert released.groupby(["age", "town"]).size().min() >= 5  # by bytes: one spelling a town is released


def people(n=120, seed=0):
    return drawn(n, seed, age=(20, 60), town=list("ABCD"), children=(0, 4)).astype({"children": float})


def joined(known, release):
    """Return the columns that are kept, and how many released records agree with each person in all of them."""
    compared, rows = compare_columns(known, release, list(known.columns)), np.arange(len(known))
    return kept_columns(compared, rows, rows), agreement(compared, list(known.columns), release, len(known)).counts()


@pytest.mark.parametrize("column", ["town", "children"])
@pytest.mark.parametrize("n_gaps", [0, 1, 5])
def test_a_few_gaps_in_the_original_do_not_take_a_column_from_the_join(column, n_gaps):
    """Suppressed cells stand for any value, whether or not the original has gaps of its own."""
    known = people()
    known[column] = known[column].where(np.arange(len(known)) >= n_gaps)
    release = known.copy()
    release[column] = release[column].where(np.random.default_rng(1).random(len(known)) > 0.06)
    kept, counts = joined(known, release)
    assert kept == list(known.columns)
    for person in range(n_gaps, len(known)):
        mine = known.iloc[person]
        same = (release.drop(columns=column) == mine.drop(column)).all(axis=1)
        assert counts[person] == (same & (release[column].isna() | (release[column] == mine[column]))).sum()


@pytest.mark.parametrize("column", ["town", "children"])
def test_gaps_released_as_they_are_are_a_value(column):
    known = people()
    known[column] = known[column].where(np.random.default_rng(1).random(len(known)) > 0.06)
    kept, counts = joined(known, known.sample(frac=1, random_state=2).loc[known.index])
    assert kept == list(known.columns)
    assert counts.tolist() == known.groupby(list(known.columns), dropna=False)["age"].transform("size").tolist()
