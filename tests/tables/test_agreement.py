"""Which released records agree with a person: gaps in both files."""

import numpy as np
import pandas as pd
import pytest

from reident.tables.agreement import agreement, compare_columns, kept_columns


def people(n=120, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "town": rng.choice(["A", "B", "C", "D"], n),
            "children": rng.integers(0, 4, n).astype(float),
        }
    )


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
