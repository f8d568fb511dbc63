"""Adult with heights, and voter lists that nobody is in."""

import numpy as np
import pytest

from reident import DataError, ParameterError
from reident.data.datasets import load_adult, load_body_measures
from reident.data.people import adult_with_height, sample_heights_cm, sample_weights_kg, voter_list


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


def test_bad_input_is_named():
    with pytest.raises(ParameterError, match="`state` must be one of"):
        voter_list("ohio")
    with pytest.raises(ParameterError, match="`n` must be at least 1"):
        voter_list("florida", 0)
    with pytest.raises(DataError, match="got 3 and 'male' at position 1"):
        sample_heights_cm([30, 3], ["male", "male"], rng=0)
