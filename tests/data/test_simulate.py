import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from shapely.geometry import Point, Polygon, box

from reident import ParameterError
from reident.data.datasets import load_adult, load_body_measures, load_boundary, load_census_shares
from reident.data.people import adult_with_height, sample_measure, voter_list
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


def test_adult_is_what_its_readme_says():
    adult = load_adult()
    assert adult.shape == (32_561, 15)
    assert {name: int((adult[name] == "?").sum()) for name in ("workclass", "occupation", "native-country")} == {
        "workclass": 1836,
        "occupation": 1843,
        "native-country": 583,
    }


def test_heights_follow_age_and_sex():
    adult = adult_with_height(rng=1)
    assert len(adult) == 32_440  # as the paper prints
    men = adult[(adult["sex"] == "male") & adult["year_of_birth"].between(1965, 1974)]["height_cm"]
    row = load_body_measures().query("sex == 'male' and age_low == 20").iloc[0]
    # 5 standard errors.
    assert men.mean() == pytest.approx(row["height_cm_mean"], abs=5 * row["height_cm_sd"] / np.sqrt(len(men)))
    assert men.std() == pytest.approx(row["height_cm_sd"], rel=5 / np.sqrt(2 * len(men)))
    logs = np.log(sample_measure("weight_kg", [25] * 5000, ["female"] * 5000, rng=2))
    row = load_body_measures().query("sex == 'female' and age_low == 20").iloc[0]
    assert logs.mean() == pytest.approx(row["ln_weight_mean"], abs=5 * row["ln_weight_sd"] / np.sqrt(5000))


def test_voter_lists_have_the_papers_shape():
    michigan = voter_list("michigan", 300, rng=3)
    assert michigan.columns.tolist() == ["voter_id", "zip_code", "sex", "year_of_birth", "weight_kg"]
    assert michigan["zip_code"].str.fullmatch(r"4[89]\d{3}").all()
    assert michigan.equals(voter_list("michigan", 300, rng=3))
    assert voter_list("florida", 10, rng=3)["race"].notna().all()


def agreement(table, column):
    """The probability that two persons of one ZIP code have the same value."""
    counts = table.groupby(["zip_code", column]).size().unstack(fill_value=0).to_numpy(float)  # noqa: PD010
    n = counts.sum(axis=1)
    return (counts * (counts - 1)).sum() / (n * (n - 1)).sum()


def test_neighbours_are_as_alike_as_said():
    """Of two persons of one ZIP code as many agree as if they were one draw with the probability told."""
    alike = {"race": 0.25, "sex": 0.1}
    found = {"race": [], "sex": []}
    for seed in range(4):
        table = voter_list("florida", 60_000, clustered=alike, rng=seed)
        for column in found:
            shares = {"race": [0.64, 0.16, 0.13, 0.02, 0.05], "sex": [0.53, 0.47]}[column]
            apart = sum(share**2 for share in shares)
            found[column].append((agreement(table, column) - apart) / (1 - apart))
    # Shares of 980 places, their sizes log-normal: about 360 places of equal size, a standard error of some .03.
    assert np.mean(found["race"]) == pytest.approx(0.25, abs=0.05)
    assert np.mean(found["sex"]) == pytest.approx(0.1, abs=0.03)
    apart = voter_list("florida", 60_000, rng=1)
    assert agreement(apart, "race") == pytest.approx(0.64**2 + 0.16**2 + 0.13**2 + 0.02**2 + 0.05**2, abs=0.01)
    assert voter_list("michigan", 100, clustered={"age": 0.05}, rng=1)["zip_code"].str.fullmatch(r"4[89]\d{3}").all()
    assert voter_list("florida", 50, clustered={}, rng=2)["sex"].isin(["female", "male"]).all()


def test_clustered_lists_keep_the_states_shares_of_ages():
    ages = [
        2017
        - voter_list("florida", 20_000, clustered={"race": 0.25, "age": 0.05, "sex": 0.005}, rng=seed)["year_of_birth"]
        for seed in range(4)
    ]
    assert np.mean([(age >= 60).mean() for age in ages]) == pytest.approx(0.34, abs=0.02)
    assert min(age.min() for age in ages) >= 18
