"""A sensitive column of which only some values are a secret, as an illness is and its absence is not."""

import numpy as np
import pandas as pd
import pytest

import reident as rd
from reident.base import ParameterError

pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def files():
    """A survey with a rare illness, and a release of it with ages in intervals; most classes have no case."""
    rng = np.random.default_rng(3)
    n = 200
    age = rng.integers(20, 60, n)
    survey = pd.DataFrame({"nr": np.arange(n), "age": age, "depressed": np.where(rng.random(n) < 0.06, "yes", "no")})
    survey.loc[(age >= 20) & (age < 25), "depressed"] = "yes"
    low = age // 5 * 5
    release = survey.assign(age=[f"[{a}, {a + 5})" for a in low]).iloc[rng.permutation(n)]
    return survey, release, low


def judged(files, sensitive, attack="modal_value"):
    survey, release, _ = files
    return rd.check(release, survey, pairs="nr", quasi=["age"], sensitive=sensitive, attacks=[attack], limit=0.25)


def test_learning_that_a_person_has_not_the_secret_value_is_no_disclosure(files):
    survey, _, low = files
    is_case = survey["depressed"] == "yes"
    share, prior = is_case.groupby(low).transform("mean"), is_case.mean()
    gain = ((share - prior) / (1 - prior)).clip(lower=0)
    for attack in ("modal_value", "skewness"):
        found = judged(files, "depressed=yes", attack).persons.loc[survey.index]
        wanted = gain if attack == "modal_value" else gain.where(share - prior >= 0.25, 0)
        assert found["risk"].tolist() == pytest.approx(wanted.tolist())
    assert judged(files, "depressed").share_above_limit > 0.5
    assert judged(files, "depressed=yes").share_above_limit == pytest.approx((gain > 0.25).mean())


@pytest.mark.parametrize("attack", ["homogeneity", "background_knowledge", "attribute_inference"])
def test_other_attacks_claim_the_secret_value_alone(files, attack):
    _, _, low = files
    found = judged(files, "depressed=yes", attack)
    all_ill = low == 20
    above = found.persons.loc[files[0].index, "above"].to_numpy(bool)
    assert not above[~all_ill].any()
    if attack != "attribute_inference":  # a model without the person says the same: a statistic, no disclosure
        assert above[all_ill].all()


def test_a_coded_column_keeps_its_secret(files):
    survey, release, low = files
    coded = release.assign(depressed=release["depressed"].map({"yes": "b", "no": "a"}))
    plain = judged(files, "depressed=yes")
    assert judged((survey, coded, low), "depressed=yes").persons["risk"].equals(plain.persons["risk"])


def test_a_recipe_keeps_the_secret_value(files, tmp_path):
    survey = files[0]
    dataset = rd.Dataset(survey, quasi="age", sensitive="depressed=yes")
    dataset.schema.save(tmp_path / "recipe.yaml")
    assert type(dataset.schema).load(tmp_path / "recipe.yaml").columns["depressed"].secret == ["yes"]
    assert dataset.guarded == {"depressed": ["yes"]}


def test_a_value_that_no_record_has_is_refused(files):
    with pytest.raises(ParameterError, match=r"'yse'.* no"):
        judged(files, "depressed=yse")


def test_the_map_judges_the_secret_value_alone(files):
    survey = files[0].drop(columns="nr")
    options = {"quasi": ["age"], "methods": [{"name": "mondrian", "k": 5}], "attacks": ["homogeneity"], "seed": 1}
    every, only = (
        rd.risk_utility(survey, sensitive=named, repetitions=1, progress=False, **options)
        for named in ("depressed", "depressed=yes")
    )
    assert only["above"].max() < every["above"].max() / 2
    assert every["recall"].max() <= 1
