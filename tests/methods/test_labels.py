"""How values are written as labels."""

import pandas as pd
import pytest

from reident.tables.labels import LabelReader, text_of, texts_of


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


@pytest.mark.parametrize(
    ("label", "covered"),
    [
        ("65 lat i więcej", range(65, 100)), ("65 ans et plus", range(65, 100)), ("65 y más", range(65, 100)),
        ("65 anni e oltre", range(65, 100)), ("65 jaar en ouder", range(65, 100)), ("65 år och äldre", range(65, 100)),
        ("powyżej 65 lat", range(66, 100)), ("moins de 20 ans", range(20)), ("menos de 20 años", range(20)),
        ("de 20 à 29 ans", range(20, 30)), ("de 20 a 29 años", range(20, 30)), ("od 20 do 29 lat", range(20, 30)),
        ("tussen 20 en 29 jaar", range(20, 30)), ("jusqu'à 20 ans", range(21)), ("do 20 lat", range(21)),
        ("20 bis unter 30 Jahre", range(20, 30)), ("30 und älter", range(30, 100)),
        ("zwischen 20 und 29", range(20, 30)),
    ],
)  # fmt: skip
def test_intervals_in_words_cover_what_they_say(label, covered):
    ages = pd.Index(range(100))
    assert ages[LabelReader(ages, pd.Index([label])).cover()[:, 0]].tolist() == list(covered)


@pytest.mark.parametrize("label", ["0xxxx", "01xxx", "010##", "0106?"])
def test_signs_in_place_of_digits_are_a_mask(label):
    codes = pd.Index(["01067", "01097", "02625", "10115", "0106"])
    shown = label.rstrip("x#?")
    read = codes[LabelReader(codes, pd.Index([label])).cover()[:, 0]].tolist()
    assert read == [code for code in codes if len(code) == 5 and code.startswith(shown)]
