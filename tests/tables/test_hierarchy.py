"""Hierarchies: made in four ways, checked, written and read."""

import pandas as pd

from reident.tables.hierarchy import Hierarchy


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


def test_intervals_nest_from_their_origin():
    years = Hierarchy.from_intervals(range(1918, 1978), [2, 4, 8], origin=1900)
    assert years.n_levels == 5
    assert years.labels_of(1919) == [1919, "[1918, 1920)", "[1916, 1920)", "[1916, 1924)", "*"]
