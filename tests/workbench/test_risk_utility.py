import warnings

import numpy as np
import pandas as pd
import pytest

import reident as rd
from judged import records
from reident.workbench.ru_map import plan
from samples import drawn

SMALL = {"n_known": 10, "overlap": 0.5, "n_released": 30, "repetitions": 2, "progress": False}


@pytest.fixture(scope="module")
def places():
    table = drawn(80, 1, sex=["f", "m"], age=(2, 7), lat_deg=(50.0, 52.0), lon_deg=(8.0, 11.0))
    return table.assign(age=10 * table["age"])


METHODS = [{"name": "coordinate_noise", "sigma_deg": [0.001, 0.3]}, "rigid_motion"]
ATTACKS = ["common_subgraph", "label_linkage"]


def test_places_map(places):
    frame = rd.risk_utility(places, METHODS, ATTACKS, ["neighbours_kept"], quasi=["sex", "age"], **SMALL)
    assert len(frame) == 2 * (2 + 1 + 2)
    one = frame[frame["attack"].str.contains("distances")].set_index(["method", "label"])
    # Moving all places together hides nobody from an attack by distances; so does nothing at all.
    assert one.loc[("rigid_motion", "100000"), "risk"] == 1
    assert one.loc[("original", ""), "risk"] == 1
    assert one.loc[("nothing released", ""), "risk"] == 0
    noise = one.loc["coordinate_noise"]
    assert noise.loc["0.001", "utility"] > noise.loc["0.3", "utility"]
    assert noise.loc["0.001", "recall"] >= noise.loc["0.3", "recall"]
    tried = frame[frame["method"] == "coordinate_noise"]
    assert {*tried["value"]} == {0.001, 0.3}
    assert {*tried["unit"]} == {"degrees"}
    assert frame.attrs["seed"] == 0
    assert {"versions", "started", "seconds", "left_out"} <= {*frame.attrs}
    rd.plot_ru_map(frame[frame["attack"].str.contains("distances")], limit=0.25)


def test_table_map_and_claims():
    rng = np.random.default_rng(2)
    table = pd.DataFrame(
        {"age": rng.integers(18, 90, 120), "pay": rng.normal(size=120), "ill": rng.choice(["a", "b"], 120)}
    )
    data = records(table, quasi=["age", "pay"], sensitive="ill")
    attacks = ["record_linkage", "class_risk", "exact_join", "homogeneity"]
    methods = [{"name": "mondrian", "k": [2, 20]}, {"name": "add_noise", "relative": 0.01}]
    made = plan(data, methods, attacks, n_known=30)
    trials = made.run(repetitions=2, progress=False)
    frame = made.frame(trials).set_index(["attack", "analysis", "method", "label"])
    near = frame.xs("information kept (share)", level="analysis").filter(like="nearest", axis=0).droplevel(0)
    assert near.loc[("original", ""), "risk"] == pytest.approx(0.5)
    assert (
        near.loc[("mondrian", "20"), "risk"] < near.loc[("mondrian", "2"), "risk"] < near.loc[("original", ""), "risk"]
    )
    # Noise that rounding takes back leaves the classes of the ages as they were.
    inside = frame.xs("information kept (share)", level="analysis").filter(like="inside classes", axis=0).droplevel(0)
    assert inside.loc[("mondrian", "20"), "risk"] < inside.loc[("add_noise", "0.01"), "risk"]
    assert trials.loc[0, "attack"] == "record_linkage"
    links = made.claims(trials.loc[0])
    assert links["right"].sum() / len(links) == pytest.approx(trials.loc[0, "precision"])


def test_grid_fits_a_small_table():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"sex": rng.choice(list("mf"), 24), "age": rng.integers(20, 60, 24)})
    made = plan(records(table, quasi=["sex", "age"]), ["mondrian", "microaggregation"])
    sizes = [one["options"]["k"] for one in made.settings if "k" in one["options"]]
    assert min(sizes) == 2
    assert max(sizes) <= made.intruder["n_released"]


def test_folder_resumes(places, tmp_path):
    arguments = (places, METHODS, ATTACKS[1:], ["distances_kept"])
    first = rd.risk_utility(*arguments, quasi="sex", cache=tmp_path, **SMALL)
    again = rd.risk_utility(*arguments, quasi="sex", cache=tmp_path, **SMALL)
    fresh = rd.risk_utility(*arguments, quasi="sex", **SMALL)
    pd.testing.assert_frame_equal(first, again)
    pd.testing.assert_frame_equal(first, fresh)


def test_an_attack_that_is_named_and_says_nothing_is_told():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.lognormal(size=(300, 3)), columns=["pay", "tax", "rent"])
    asked = {
        "methods": [{"name": "add_noise", "relative": 0.1}],
        "quasi": list(table),
        "n_known": 100,
        "repetitions": 1,
        "progress": False,
    }
    learns = "needs 2 to 8 columns of numbers and 200 true pairs .twice `n_training`., got 3 and 50"
    with pytest.warns(
        UserWarning, match=f"`weighted_mean_linkage` does not apply to any of these releases: it {learns}"
    ):
        frame = rd.risk_utility(table, attacks=["weighted_mean_linkage", "nearest_record"], **asked)
    assert list(frame.attrs["left_out"]) == ["weighted_mean_linkage"]
    assert frame["attack"].str.startswith("nearest record").all()
    with pytest.warns(UserWarning, match="weighted_mean_linkage"):
        alone = rd.risk_utility(table, attacks=["weighted_mean_linkage"], **asked)
    assert alone.empty
    fewer = {"name": "weighted_mean_linkage", "n_training": 20}
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        learned = rd.risk_utility(table, attacks=[fewer], **asked)
    assert not learned.attrs["left_out"]
    assert (learned["method"] == "add_noise").any()
