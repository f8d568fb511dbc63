"""Adult with heights, and voter lists that nobody is in."""

import numpy as np
import pytest

from reident.data.datasets import load_adult, load_body_measures
from reident.data.people import adult_with_height, sample_weights_kg, voter_list


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
    logs = np.log(sample_weights_kg([25] * 5000, ["female"] * 5000, rng=2))
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
    counts = table.groupby(["zip_code", column]).size().unstack(fill_value=0).to_numpy(float)
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
    assert voter_list("michigan", 100, clustered=True, rng=1)["zip_code"].str.fullmatch(r"4[89]\d{3}").all()
    assert voter_list("florida", 50, clustered={}, rng=2)["sex"].isin(["female", "male"]).all()


def test_clustered_lists_keep_the_states_shares_of_ages():
    ages = [2017 - voter_list("florida", 20_000, clustered=True, rng=seed)["year_of_birth"] for seed in range(4)]
    assert np.mean([(age >= 60).mean() for age in ages]) == pytest.approx(0.34, abs=0.02)
    assert min(age.min() for age in ages) >= 18
