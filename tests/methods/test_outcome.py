import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reident as rd
from reident.base import wilson_interval
from reident.methods import entries
from reident.methods.attacks import run_attack
from reident.methods.outcome import NotApplicable, Outcome, gain, person_risks
from reident.methods.release import Knowledge, Release
from reident.tables.labels import common_texts, places_among


def outcome(confidence, right, base=None, what="identity", **options):
    base = 1 / len(right) if base is None else base
    claims = pd.DataFrame({"confidence": confidence, "right": right.astype(float), "base": base, "present": True})
    return Outcome(claims, what, "who is judged", **options)


def risks_of(*given, **options):
    return person_risks(outcome(*given, **options), limit=0.25)[0]


def test_the_few_most_confident_claims_are_judged_by_themselves_where_they_are_right():
    """Confidence everywhere too high, so that it cannot be kept; ten persons are found, 990 are not."""
    confidence = np.linspace(0.3, 0.99, 1000)
    row, persons = person_risks(outcome(confidence, np.arange(1000) >= 990), limit=0.25)
    assert persons["above"].tolist() == [False] * 990 + [True] * 10
    assert row["worst"] == 1


@pytest.mark.parametrize("seed", range(20))
def test_claims_that_are_right_by_chance_are_not_set_apart(seed):
    rng = np.random.default_rng(seed)
    right = rng.permutation(np.arange(1000) < 16)
    _, persons = person_risks(outcome(rng.uniform(0.3, 0.99, 1000), right), limit=0.25)
    assert not persons["above"].any()


def test_ties_in_confidence_stay_together():
    confidence = np.repeat([0.9, 0.99], [300, 100])
    row, persons = person_risks(outcome(confidence, np.arange(400) >= 340), limit=0.25)
    assert persons["risk"].nunique() == 2
    assert row["n_above"] == 100


@st.composite
def claims(draw):
    """Draw claims of up to 60 persons, certain or not, with a control or without, some of them absent."""
    n = draw(st.integers(1, 60))
    share = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0])
    confidence = np.array(draw(st.lists(share, min_size=n, max_size=n)))
    frame = pd.DataFrame(
        {
            "confidence": confidence,
            "right": np.where(confidence > 0, draw(st.lists(share, min_size=n, max_size=n)), 0.0),
            "base": draw(st.lists(share, min_size=n, max_size=n)),
            "present": [True, *draw(st.lists(st.booleans(), min_size=n - 1, max_size=n - 1))],
        }
    )
    if draw(st.booleans()):
        frame["control"] = draw(st.lists(share, min_size=n, max_size=n))
    return Outcome(frame, draw(st.sampled_from(["identity", "attribute"])), "drawn", proven=draw(st.booleans()))


@settings(max_examples=100)
@given(claims())
def test_no_mean_lies_above_the_risk_of_the_worst_person_beyond_chance(outcome):
    row, persons = person_risks(outcome, limit=0.25)
    assert row["worst"] == persons["risk"].max()
    assert row["residual"] <= row["worst"]
    least = wilson_interval(row["risk"] * row["n"], row["n"], level=0.999).low
    if outcome.what == "attribute":
        least = gain(least, np.nanmax([row["baseline"], row["control"]]))
    assert least <= row["worst"] + 1e-9


def test_a_model_that_is_right_more_often_than_its_control_is_not_switched_off():
    """600 persons; the model is right of 60 %, the control of 40 %, guessing of 35 %: a third of the rest is gained."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"confidence": 0.8, "right": rng.permutation(np.arange(600) < 360).astype(float)}, range(600))
    frame = frame.assign(control=rng.permutation(np.arange(600) < 240).astype(float), base=0.35, present=True)
    row, persons = person_risks(Outcome(frame, "attribute", "drawn"), limit=0.25)
    assert row["residual"] == pytest.approx(1 / 3)
    assert persons["risk"].mean() == pytest.approx(1 / 3, abs=0.02)
    assert persons["above"].all()


def test_a_person_of_unknown_presence_counts_as_present():
    right = np.arange(400) % 10 < 3
    plain = person_risks(outcome(np.full(400, 0.3), right), limit=0.25)[1]
    presence = pd.Series(0.5, index=plain.index[:200])
    _, persons = person_risks(outcome(np.full(400, 0.3), right), limit=0.25, presence=presence)
    assert persons["risk"].iloc[:200].tolist() == pytest.approx((plain["risk"].iloc[:200] / 2).tolist())
    assert persons["top"].iloc[200:].tolist() == plain["top"].iloc[200:].tolist()
    assert persons["above"].iloc[200:].all()
    assert not persons["above"].iloc[:200].any()


def test_few_claims_of_which_none_is_right_are_no_better_than_guessing():
    claimed = np.where(np.arange(500) < 5, 0.4, 0.0)
    assert not person_risks(outcome(claimed, np.zeros(500)), limit=0.25)[1]["above"].any()
    assert person_risks(outcome(claimed, np.arange(500) == 0), limit=0.25)[1]["above"].sum() == 5


def test_a_calibrated_confidence_is_kept_and_another_corrected():
    rng = np.random.default_rng(0)
    sure = rng.uniform(0, 1, 5000)
    good = risks_of(sure, rng.random(5000) < sure)
    assert good["share_above_limit"] == pytest.approx((sure > 0.25).mean())
    bad = risks_of(sure, rng.random(5000) < 0.1 * sure)
    assert bad["share_above_limit"] == 0
    assert bad["worst"] < 0.2


def test_guessing_is_told_from_disclosure():
    rng = np.random.default_rng(1)
    found = risks_of(np.ones(2000), rng.random(2000) < 0.01, base=0.01)
    assert found["verdict"] == "not told apart from guessing"
    assert risks_of(np.ones(2000), rng.random(2000) < 0.1, base=0.01)["verdict"] == "within the limit"
    assert risks_of(np.ones(2000), rng.random(2000) < 0.5, base=0.01)["verdict"] == "above the limit"


def test_the_upper_end_decides():
    """Twenty of a hundred: a quarter lies inside the interval, so the release is refused; of ten thousand it is not."""
    for n, verdict in ((100, "above the limit"), (10_000, "within the limit")):
        assert risks_of(np.ones(n), np.arange(n) % 5 == 0)["verdict"] == verdict


def test_attributes_are_judged_by_what_they_gain():
    n = 1000
    usual = risks_of(np.full(n, 0.8), np.arange(n) % 5 > 0, base=0.8, what="attribute", proven=True)
    assert usual["verdict"] == "not told apart from guessing"
    assert usual["worst"] == 0
    sure = risks_of(np.ones(n), np.ones(n), base=0.8, what="attribute", proven=True)
    assert (sure["worst"], sure["residual"], sure["verdict"]) == (1.0, 1.0, "above the limit")


QUASI = ["sex", "age"]


def people(n=240, seed=1):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, n)
    ill = np.where(rng.random(n) < age / 160, "gout", rng.choice(["flu", "none", "cancer"], n, p=[0.3, 0.6, 0.1]))
    return pd.DataFrame({"sex": rng.choice(["f", "m"], n), "age": age, "ill": ill})


def attacked(name, table, released, secrets, n_known=None, **options):
    """Run an attack of somebody who knows the first persons, on a release that kept the labels of its records."""
    release = Release("table", released, "unknown", {}, len(table))
    known = table.iloc[:n_known]
    knowledge = Knowledge(
        known[QUASI], QUASI, truth=release.table.index.get_indexer(known.index), sensitive="ill",
        secrets={"ill": secrets.iloc[:n_known]},
    )  # fmt: skip
    return person_risks(run_attack(name, knowledge.on(release), options), limit=0.25)


ATTACKS = [entry.name for entry in entries("attack") if entry.data == "table" and not entry.costly]


@pytest.mark.parametrize("k", [2, 6, 25])
@pytest.mark.parametrize("name", ATTACKS)
def test_a_mean_gain_never_lies_above_the_worst_person(name, k):
    table = people()
    released = rd.k_anonymise(table, QUASI, k=k, method="mondrian").table
    try:
        row, persons = attacked(name, table, released, table["ill"])
    except NotApplicable:
        return
    assert row["residual"] <= row["worst"] == persons["risk"].max()
    own = persons["top"] > 0.25
    assert row["n_above"] == own.sum()


@pytest.mark.parametrize("excluded", [1, 2])
def test_background_knowledge_is_right_where_some_exclusion_leaves_the_true_value_the_commonest(excluded):
    counts = {"f": {"flu": 5, "gout": 3, "none": 1}, "m": {"flu": 1, "gout": 4, "none": 6, "burn": 2}}
    rows = [(sex, ill) for sex, held in counts.items() for ill, n in held.items() for _ in range(n)]
    table = pd.DataFrame(rows, columns=["sex", "ill"]).assign(age=1)

    def share_right(values):
        held, right = values.value_counts(), 0
        for truth, n in held.items():
            left = [held.drop(list(out)) for out in itertools.combinations(held.index.drop(truth), excluded)]
            right += n * any(rest.idxmax() == truth for rest in left)
        return right / len(values)

    _, persons = attacked("background_knowledge", table, table, table["ill"], excluded=excluded)
    share, guess = table.groupby("sex")["ill"].transform(share_right), share_right(table["ill"])
    assert persons["risk"].tolist() == pytest.approx(gain(share, guess).tolist())


@pytest.mark.parametrize("seed", range(10))
def test_large_classes_in_which_the_value_is_independent_withstand_background_knowledge(seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"sex": rng.choice(["f", "m"], 600), "age": rng.integers(0, 3, 600)})
    ill = pd.Series(rng.choice(list("abcdef"), 600))
    assert not attacked("background_knowledge", table.assign(ill=ill), table.assign(ill=ill), ill)[1]["above"].any()


def naive_truths(value):
    return {True: "yes", False: "no"}[value]


@pytest.mark.parametrize("written", [lambda value: str(value).upper(), int])
@pytest.mark.parametrize(
    "name", ["homogeneity", "modal_value", "skewness", "attribute_inference", "background_knowledge"]
)
def test_truth_values_are_learned_whatever_they_are_written_as(name, written):
    table = people().assign(ill=lambda table: table["ill"] == "gout")
    released = table.assign(ill=table["ill"].map(written))
    words, plain = table["ill"].map(naive_truths), table.assign(ill=table["ill"].map(naive_truths))
    found = attacked(name, table, released, table["ill"])[0]
    wanted = attacked(name, plain, plain, words)[0]
    assert found["risk"] == wanted["risk"] > 0.3
    assert found["n_above"] == wanted["n_above"]


VALUES = {
    "truth": st.booleans(), "day": st.datetimes().map(lambda day: pd.Timestamp(day).floor("D")),
    "time": st.datetimes().map(lambda time: pd.Timestamp(time).floor("s")),
    "number": st.floats(-1e9, 1e9).map(lambda number: round(number, 3) + 0.0), "whole": st.integers(-(2**60), 2**60),
}  # fmt: skip


@given(st.sampled_from(sorted(VALUES)).flatmap(lambda kind: st.lists(VALUES[kind], min_size=1, max_size=9)))
def test_values_meet_the_texts_that_a_file_makes_of_them(values):
    column = pd.Series(values)
    texts = pd.Series(pd.Series(values).astype("str").to_list(), dtype="str")
    mine, theirs = common_texts(column, texts)
    assert mine.tolist() == theirs.tolist()
    distinct = pd.Index(texts.unique())
    assert distinct[places_among(column, distinct)].tolist() == texts.tolist()
    assert mine.nunique() == column.nunique()


def test_an_attack_needs_knowledge_of_a_release():
    table = pd.DataFrame({"sex": ["f", "m"] * 5})
    release = Release("table", table, "unknown", {}, len(table))
    knowledge = Knowledge(known=table, quasi=["sex"], truth=np.arange(len(table)))
    assert len(run_attack("class_risk", knowledge.on(release)).claims) == len(table)
    for wrong, got in ((knowledge, "no release"), (release, "Release")):
        with pytest.raises(rd.ParameterError, match=f"about a release .* got {got}"):
            run_attack("class_risk", wrong)
