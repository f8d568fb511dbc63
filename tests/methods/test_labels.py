"""How values are written as labels."""

import pandas as pd
import pytest

from reident.tables.labels import text_of, texts_of


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
