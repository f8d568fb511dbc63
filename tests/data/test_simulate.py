"""Points in an area, populations, overlapping files."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from shapely.geometry import Point, Polygon, box

from reident import ParameterError
from reident.data.datasets import load_boundary, load_census_shares
from reident.data.simulate import overlapping_files, points_in_area, population

HOLED = Polygon([(0, 0), (20, 0), (20, 80), (0, 80)], [[(5, 20), (15, 20), (15, 40), (5, 40)]])


def test_points_are_uniform_on_the_sphere_not_in_degrees():
    lat, lon = points_in_area(box(0, 0, 10, 80), 4000, rng=1)
    # Area on the sphere grows with the sine of the latitude. Level .001 each.
    assert stats.kstest(np.sin(np.radians(lat)) / np.sin(np.radians(80)), "uniform").pvalue > 0.001
    assert stats.kstest(lon / 10, "uniform").pvalue > 0.001
    assert stats.kstest(lat / 80, "uniform").pvalue < 1e-6


def test_points_avoid_holes_and_stay_inside():
    lat, lon = points_in_area(HOLED, 500, rng=2)
    assert all(HOLED.contains(Point(x, y)) for x, y in zip(lon, lat, strict=True))


def test_points_take_a_geodataframe_in_any_crs():
    germany = load_boundary("germany")
    ref = points_in_area(germany, 20, rng=3)
    assert points_in_area(germany.union_all(), 20, rng=3)[0] == pytest.approx(ref[0])
    lat, lon = points_in_area(germany.to_crs("EPSG:25832"), 20, rng=3)
    assert ((lat > 47) & (lat < 55.1) & (lon > 5.8) & (lon < 15.1)).all()


def test_population_follows_places_and_shares():
    places = pd.DataFrame({"lat_deg": [50.0, 52.0], "lon_deg": [9.0, 11.0], "population": [300, 100]})
    persons = population(places, 4000, jitter_km=1, shares=load_census_shares(), rng=4)
    near_first = (persons["lat_deg"] < 51).mean()
    assert near_first == pytest.approx(0.75, abs=0.03)  # 4 standard errors
    assert persons["sex"].eq("female").mean() == pytest.approx(0.51, abs=0.035)
    assert persons["age_class"].nunique() == 11
    north_km = (persons["lat_deg"] - persons["lat_deg"].round()) * 111.195
    assert north_km.std() == pytest.approx(1, abs=0.05)


@settings(max_examples=30)
@given(st.integers(1, 8), st.integers(1, 8), st.data())
def test_overlapping_files_share_exactly_the_truth(n_original, n_known, data):
    n_common = data.draw(st.integers(0, min(n_original, n_known)))
    persons = pd.DataFrame({"person": range(20)})
    original, known, truth = overlapping_files(
        persons, n_original=n_original, n_known=n_known, n_common=n_common, rng=data.draw(st.integers(0, 99))
    )
    assert (len(original), len(known), len(truth)) == (n_original, n_known, n_common)
    linked = set(zip(truth["release"], truth["known"], strict=True))
    ref = {(r, k) for r in original.index for k in known.index if original["person"][r] == known["person"][k]}
    assert linked == ref


def test_overlapping_files_refuse_impossible_sizes():
    persons = pd.DataFrame({"person": range(5)})
    with pytest.raises(ParameterError, match="`n_common` must be at most the size of the smaller file"):
        overlapping_files(persons, n_original=2, n_known=3, n_common=3)
    with pytest.raises(ParameterError, match="at most the number of `persons`"):
        overlapping_files(persons, n_original=4, n_known=4, n_common=2)
