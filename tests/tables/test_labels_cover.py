import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reident import ParameterError, k_anonymise
from reident.tables import Hierarchy
from reident.tables.agreement import compare_column
from reident.tables.classes import text_of
from reident.tables.labels import LabelReader
from reident.workbench.finishing import public_ends
from reident.workbench.microdata import automatic_hierarchy

_ENDS = re.compile(r"[\[]([^,]+), ([^,]+)([)\]])")


def holds(label, value):
    """Tell whether a label, read as printed, holds a value: decimal numbers and ISO dates by their order."""
    if label == value or text_of(label) == text_of(value) or label == "*":
        return True
    if found := _ENDS.fullmatch(label):
        low, high, close = found.groups()
        if isinstance(value, pd.Timestamp):
            low, value, high = (pd.Timestamp(one) for one in (low, value, high))
        else:
            low, value, high = (Decimal(one) for one in (low, text_of(value), high))
        return low <= value < high or (close == "]" and value == high)
    text = text_of(value)
    if label.startswith("{") and ", ..., " in label:
        first, last = label[1:-1].split(", ..., ")
        return first <= text <= last
    if label.startswith("{"):
        return f", {text}, " in f", {label[1:-1]}, "
    stars = label.count("*")
    return text.startswith(label.rstrip("*")) and (stars < 2 or len(text) == len(label))


def decimals():
    """Draw columns of decimal numbers of 0 to 3 places."""
    return st.integers(0, 3).flatmap(
        lambda places: st.lists(st.integers(-999, 999).map(lambda n: float(f"{n}e-{places}")), min_size=4, max_size=30)
    )


NAMES = [
    "a", "a, b", "b", "Köln", "Ko\u0308ln", "K\u00a0ln", "\u200bx", " a", "{a, b}", "(missing)", "1,5", "[1, 2]", "low",
    "high", "medium", "x{y", "*",
]  # fmt: skip


def columns():
    """Draw columns: whole, negative, decimal and single-precision numbers, days, times, names with commas and codes."""
    stamps = st.lists(st.integers(0, 3000), min_size=4, max_size=30)
    names = st.lists(st.sampled_from(NAMES), min_size=4, max_size=30)
    return st.one_of(
        decimals().map(pd.Series),
        decimals().map(lambda values: pd.Series(values, dtype="float32")),
        st.lists(st.integers(-50, 120), min_size=4, max_size=30).map(pd.Series),
        stamps.map(lambda days: pd.Series(pd.Timestamp("1999-12-25") + pd.to_timedelta(days, "D"))),
        stamps.map(lambda days: pd.Series(pd.Timestamp("1999-12-25") + pd.to_timedelta(days, "h"))),
        names.map(pd.Series),
        names.map(lambda values: pd.Series(pd.Categorical(values, ordered=True, categories=sorted(set(values))[::-1]))),
        st.lists(st.integers(100, 999).map(str), min_size=4, max_size=30).map(pd.Series),
    )


def assert_covered(values, labels, hierarchy=None):
    for value, label in zip(values, labels, strict=True):
        assert holds(label, value), (label, value)
    distinct, released = pd.Index(values.unique()), pd.Index(labels.unique())
    covered = LabelReader(distinct, released, hierarchy).cover()
    assert covered[distinct.get_indexer(values), released.get_indexer(labels)].all()
    rows = np.arange(len(values))
    assert compare_column(values, labels, hierarchy).agree(rows, rows).all()


@given(column=columns())
def test_a_label_of_a_partition_covers_its_value(column):
    release = k_anonymise(pd.DataFrame({"q": column}), "q", k=2, method="mondrian")
    assert_covered(column[release.table.index], release.table["q"])


def test_a_long_run_of_categories_covers_its_values_whatever_their_order():
    names = [f"{place:03d}" for place in range(70)]
    for order in (names, names[::-1]):
        column = pd.Series(pd.Categorical(names * 2, categories=order, ordered=True))
        release = k_anonymise(pd.DataFrame({"q": column}), "q", k=140, method="mondrian")
        assert_covered(column, release.table["q"])


@given(column=columns())
def test_a_label_of_the_hierarchy_made_for_a_column_covers_its_value(column):
    assume(not isinstance(column.dtype, pd.CategoricalDtype))
    column = column.astype(str) if column.dtype.kind == "M" else column
    hierarchy = automatic_hierarchy(column)
    for level in range(hierarchy.n_levels):
        labels = hierarchy.generalise(column, level)
        if column.dtype.kind != "O" and level:
            assert_covered(column, labels)


@given(
    numbers=st.lists(st.integers(-2000, 2000), min_size=1, max_size=40),
    places=st.integers(0, 6),
    first=st.integers(1, 900),
    factors=st.lists(st.integers(1, 7), max_size=3),
    origin=st.integers(-50, 50),
)
def test_an_interval_covers_its_value_and_intervals_nest(numbers, places, first, factors, origin):
    scaled = [float(f"{n}e-{places}") for n in (*numbers, first, origin)]
    values, widths = (
        pd.Series(scaled[:-2]),
        [float(Decimal(f"{first}e-{places}") * int(m)) for m in np.cumprod([1, *factors])],
    )
    hierarchy = Hierarchy.from_intervals(values, widths, origin=scaled[-1])
    for level in range(hierarchy.n_levels):
        assert_covered(values, hierarchy.generalise(values, level))


def test_intervals_finer_than_the_values_are_refused():
    with pytest.raises(ParameterError, match="`widths`"):
        Hierarchy.from_intervals([1e16, 2e16], [0.5])
    with pytest.raises(ParameterError, match="`widths`"):
        Hierarchy.from_intervals([1.0, 2.0], [0.25], origin=1e16)


@given(column=decimals().map(pd.Series))
def test_a_range_rounded_outwards_covers_its_value(column):
    release = k_anonymise(pd.DataFrame({"q": column}), "q", k=2, method="mondrian")
    assert_covered(column[release.table.index], public_ends(column, release.table["q"]))


def test_a_range_is_rounded_outwards_where_an_end_lies_just_beside_the_grid():
    values = pd.Series([0.29999999995, *np.linspace(0.31, 99.9, 50).round(2), 100.30000000005] * 2)
    release = k_anonymise(pd.DataFrame({"q": values}), "q", k=len(values), method="mondrian")
    assert_covered(values, public_ends(values, release.table["q"]))


def test_the_ways_to_make_one_agree():
    rows = [["11", "1*", "**"], ["12", "1*", "**"], ["21", "2*", "**"]]
    ref = Hierarchy(rows)
    assert Hierarchy.from_prefixes(["11", "12", "21", "11"]) == ref
    assert Hierarchy.from_mapping({"11": "1*", "12": "1*", "21": "2*"}, top="**") == ref
    assert Hierarchy(pd.DataFrame(rows)) == ref
    assert ref != Hierarchy.from_prefixes(["11", "12"])


def test_the_csv_form_is_read_back(tmp_path):
    hierarchy = Hierarchy.from_intervals([17, 18.5, 40], [10, 20])
    path, comma = tmp_path / "age.csv", tmp_path / "comma.csv"
    hierarchy.to_frame().to_csv(path, sep=";", index=False, header=False)
    assert path.read_text().splitlines()[1] == "18.5;[10, 20);[0, 20);*"
    back = Hierarchy.from_csv(path)
    assert back.labels_of(18.5) == ["18.5", "[10, 20)", "[0, 20)", "*"]
    assert len(back.to_frame()) == len(hierarchy.to_frame())
    hierarchy.to_frame().to_csv(comma, index=False, header=False)
    assert Hierarchy.from_csv(comma, sep=",") == back


def test_a_csv_of_arx_meets_numbers_and_keeps_na_as_text(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("﻿NA;*\n39;*\n", encoding="utf-8")
    hierarchy = Hierarchy.from_csv(path)
    assert hierarchy.to_frame()[0].tolist() == ["NA", "39"]
    assert hierarchy.generalise(pd.Series([39, 39.0], name="age"), 1).tolist() == ["*", "*"]
    assert hierarchy.generalise(pd.Series([39], name="age"), 0).tolist() == [39]
