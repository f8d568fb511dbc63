"""Cost before work: what cannot be had is refused at once, in a sentence that names what makes it smaller."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import reident as rd
from reident import DataError, ParameterError
from reident.base import MEMORY, afford, available, read_size

KM = np.abs(np.subtract.outer(np.arange(1000.0), np.arange(1000.0)))
ONE_LABEL = np.zeros(1000, dtype=int)


def test_what_fits_is_done_under_the_same_limit(monkeypatch):
    monkeypatch.setenv(MEMORY, "1G")
    graph = rd.places.compatibility_graph(ONE_LABEL, KM, ONE_LABEL[:30], KM[:30, :30], window_km=(-0.5, 0.5))
    assert graph.n_vertices == 30_000


def test_memory_is_that_of_the_machine_or_what_is_said(monkeypatch):
    monkeypatch.delenv(MEMORY, raising=False)
    assert 1 << 24 < available() < 1 << 62
    monkeypatch.setenv(MEMORY, "1.5 GiB")
    assert available() == 1.5 * 1024**3
    afford(1.4 * 1024**3, "x", "a thing", "less")
    with pytest.raises(ParameterError, match=r"`x` .* a thing: about 2\.0 GiB, and 1\.5 GiB may be used"):
        afford(2 * 1024**3, "x", "a thing", "less")
    for bad in ("", "much", "0", "-1G", "1X"):
        with pytest.raises(ParameterError, match="`memory` must be a size"):
            read_size(bad)


HIDDEN = np.ma.masked_array([1.0, 2.0], mask=[False, True])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (HIDDEN, "no masked value, got 1"),
        (np.array([1 + 2j, 2]), "complex"),
        (np.array(["2020", "2021"], "M8[Y]"), "dates"),
        (pd.to_datetime(["2020-01-01", "2021-01-01"]), "dates"),
        (np.array([1, 2], "m8[s]"), "durations"),
        (["1", "2"], "text"),
        (np.array([1, "2"], dtype=object), "numbers only"),
        (nx.path_graph(2), "a graph"),
    ],
    ids=["masked", "complex", "years", "days", "durations", "text", "mixed", "graph"],
)
def test_what_is_no_number_is_not_taken_for_one(values, message):
    with pytest.raises(DataError, match=message):
        rd.great_circle_km(values, [1.0, 2.0])


@pytest.mark.parametrize(
    "dtype", [">f8", "u1", "f2", "Int64", "Float64", "int64[pyarrow]", "double[pyarrow]", "object"]
)
def test_numbers_of_every_kind_are_the_same_numbers(dtype):
    values = np.array([1, 2], dtype) if dtype in (">f8", "u1", "f2") else pd.Series([1, 2], dtype=dtype)
    np.testing.assert_array_equal(rd.great_circle_km(values, [1.0, 2.0]), rd.great_circle_km([1.0, 2.0], [1.0, 2.0]))
