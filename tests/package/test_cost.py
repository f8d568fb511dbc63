"""Cost before work: what cannot be had is refused at once, in a sentence that names what makes it smaller."""

import time

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from shapely.geometry import box

import reident as rd
from reident import DataError, ParameterError
from reident.base import MEMORY, afford, available, read_size

N = 200_000
LAT, LON = np.full(N, 50.0), np.linspace(8, 9, N)
KM = np.abs(np.subtract.outer(np.arange(1000.0), np.arange(1000.0)))
AREA, GRAPH = box(8, 49, 9, 50), nx.path_graph(40)
ONE_LABEL = np.zeros(1000, dtype=int)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rd.great_circle_km(LAT, LON), r"`lat_deg` .* 200,000 x 200,000 distances: about 298.0 GiB.*a sample"),
        (
            lambda: rd.places.great_circle_cross_km(LAT, LON, LAT, LON),
            "`lat_p_deg` .* chosen pairs with great_circle_pairs",
        ),
        (
            lambda: rd.places.compatibility_graph(ONE_LABEL, KM, ONE_LABEL, KM, window_km=(-2000, 2000)),
            r"1,000,000 pairs of equal labels and about 5.0e\+11 edges.*a narrower window",
        ),
        (lambda: rd.queries.averaging_attack(lambda: 1.0, 2**40), "`n_repeats` .* a few thousand"),
        (lambda: rd.queries.discrete_laplace(1.0, 1.0, 2**40), "`size` .* 1,099,511,627,776 draws"),
        (lambda: rd.queries.simulation_laplace(1.0, (2**20, 2**20), rng=0), "`size` .* 1,099,511,627,776 draws"),
        (
            lambda: rd.places.distance_deviation_quantiles(AREA, sigma_deg=0.1, n_pairs=2**40),
            "`n_pairs` .* pairs of points",
        ),
        (lambda: rd.data.points_in_area(AREA, 2**40), "`n` .* 1,099,511,627,776 points"),
        (lambda: rd.data.voter_list("florida", 2**40), "`n` .* 1,099,511,627,776 records"),
        (lambda: rd.tables.simulate_ratings(2**40, 2, 2), "`n_users` .* draw fewer"),
        (
            lambda: rd.queries.private_kmeans([[0.5]], 2**20, bounds=(0, 1), epsilon=1),
            "`n_clusters` .* ask for fewer centres",
        ),
        (lambda: rd.networks.implant(GRAPH, [0], k=2**20, d0=1, d1=2), "`k` .* a pattern of 1,048,576 nodes"),
        (
            lambda: rd.embed_distances([50, 51], [8, 9], n_reference_sets=2**20, reference_set_size=2**10, area=AREA),
            "`n_reference_sets` .* 1,048,576 sets of 1,024 places",
        ),
        (
            lambda: rd.places.tolerance_intervals(
                *([50, 51], [8, 9]), alpha=0.5, n_reference_sets=1, reference_set_size=1, area=AREA, n_simulations=2**40
            ),
            "`n_simulations` .* 1,099,511,627,776 distances a pair",
        ),
        (lambda: rd.queries.PanPrivateDensity(2**50, epsilon=1), "`universe` .* hash the items"),
        (
            lambda: rd.tables.intersection_attack(
                [pd.DataFrame({"x": LAT[:1] + LON[:40_000], "ill": "flu"})],
                pd.DataFrame({"x": LON[:40_000]}),
                quasi="x",
                sensitive="ill",
            ),
            "`release` .* a table of 40,000 values by 40,000 labels: about 3.0 GiB",
        ),
        (lambda: rd.tables.special_uniques(pd.DataFrame(np.eye(60))), "`quasi` .* sets of columns.*`max_size`"),
        (lambda: rd.queries.Budget("1e5000000"), "`total` must lie in .1e-200, 1e.300., got 1e5000000"),
        (lambda: rd.queries.laplace_count(5, epsilon="1/" + "9" * 10**6), "`epsilon` must lie in"),
        (lambda: rd.queries.laplace_count(5, epsilon=10**5000), "`epsilon` must lie in .* 16,610 bits"),
    ],
)
def test_what_does_not_fit_is_refused_before_it_is_begun(call, message, monkeypatch):
    monkeypatch.setenv(MEMORY, "1G")
    began = time.process_time()
    with pytest.raises(ParameterError, match=message):
        call()
    assert time.process_time() - began < 30  # the work itself would take hours


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
