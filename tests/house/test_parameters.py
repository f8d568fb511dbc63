"""The parameters of a study: declared once, refused before anything runs."""

from dataclasses import dataclass, replace
from typing import Annotated

import pytest

from reident.base import Choice, DataError, ParameterError, Real, Whole
from reident.runner import check_parameters
from reident.runner._parameters import notebook_defaults
from reident.studies.abril2012.maskings import MASKINGS, masking_settings
from reident.studies.catalogue import STUDIES
from reident.studies.parameters import Listed, changed, rules


@dataclass(frozen=True)
class Profile:
    ks: Annotated[list[int], Listed(Whole(2))]
    share: Annotated[float, Real(0, 1, open_low=True)]
    way: Annotated[str | None, Choice("a", "b")] = None
    size: int = 3  # what a profile decides alone


PLAN = Profile([2, 3], 0.5)


def test_what_has_a_rule_is_a_parameter():
    assert list(rules(PLAN)) == ["ks", "share", "way"]
    assert rules(PLAN)["ks"].range == "each [2, inf)"
    assert changed(PLAN, {"ks": (4, 5), "share": None, "way": "b"}, "s") == {"ks": [4, 5], "way": "b"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"size": 4}, "`size` must be a parameter of the study s: ks, share, way"),
        ({"ks": 4}, "`ks` must be a list of at least one value, got 4"),
        ({"ks": []}, r"`ks` must be a list of at least one value, got \[\]"),
        ({"ks": "23"}, "`ks` must be a list of at least one value, got '23'"),
        ({"ks": [2, 1]}, "`ks` must be at least 2, got 1"),
        ({"ks": [2, "a"]}, "`ks` must be a whole number, got 'a'"),
        ({"ks": [2, 2]}, "`ks` must give each value once, got 2 twice"),
        ({"share": 0}, "`share`"),
        ({"way": "c"}, "`way` must be one of 'a', 'b', got 'c'"),
    ],
)
def test_wrong_values_are_refused(given, message):
    with pytest.raises(ParameterError, match=message):
        changed(PLAN, given, "s")


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_every_profile_keeps_the_rules_of_its_study(study):
    for profile, plan in study.profiles.items():
        own = {name: getattr(plan, name) for name in rules(plan)}
        again = study.plan(profile, **own)
        for name in own:
            given, used = (getattr(one, name) for one in (plan, again))
            assert used == (list(given) if isinstance(given, tuple) else given)
        assert set(study.conditions) <= set(own)


def test_a_k_that_is_given_may_be_as_large_as_the_network(monkeypatch):
    monkeypatch.delenv("REIDENT_DATA", raising=False)
    study = STUDIES["vanhoef2012_networks"]

    def ks(sweep, **given):
        return {one["k"] for one in study.sweeps(study.plan("smoke", **given), 1)[sweep]["grid"]}

    assert ks("release", ks=[5, 40, 77, 78]) == {1, 5, 40, 77}  # Les Misérables has 77 people
    assert ks("attack", ks=[77]) == {1, 5}
    assert ks("attack", attack_ks=[77]) == {1, 77}
    # What a profile sets stays within half of the people.
    assert ks("release", graphs=["les_miserables"]) == {1, 5}
    quick = study.sweeps(study.plan("quick", graphs=["les_miserables"]), 1)
    assert {one["k"] for one in quick["release"]["grid"]} == {1, 2, 10}
    with pytest.raises(ParameterError, match=r"`ks` must be at most the people of some network \(77\), got \[78\]"):
        ks("release", ks=[78])


def test_methods_that_are_given_are_attacked_too(monkeypatch):
    monkeypatch.delenv("REIDENT_DATA", raising=False)
    study = STUDIES["vanhoef2012_networks"]

    def methods(sweep, **given):
        return {one["method"] for one in study.sweeps(study.plan("smoke", **given), 1)[sweep]["grid"]} - {"original"}

    pair = ["relaxed", "relaxed, links bounded"]
    assert methods("attack", methods=pair) == methods("release", methods=pair) == set(pair)
    assert methods("attack", methods=pair, attack_methods=["direct"]) == {"direct"}
    assert study.plan("quick").attack_methods == study.profiles["quick"].attack_methods


def test_an_own_protection_is_told_in_full():
    plan = STUDIES["abril2012"].plan("smoke", protections=["M4-33", {"name": "two", "groups": [2], "k": 3}], k=4)
    assert plan.k == 4
    for wrong, message in (
        ({"name": "two", "k": 3}, "must give name, groups and k"),
        ({"name": "two", "groups": [2], "k": 0}, "at least 1"),
        ({"name": "two", "groups": [2], "k": 3, "columns": ["A"]}, "must group each of its columns"),
        ("M9", "must be one of 'M4-33'"),
        ({"name": "two", "groups": [], "k": 3}, "must hold 1 to 8 columns together, got 0"),
        ({"name": "two", "groups": [4, 5], "k": 3}, "must hold 1 to 8 columns together, got 9"),
        ({"name": "two", "groups": 2, "k": 3}, "must be a list"),
        ({"name": "two", "groups": [2, 2], "k": [3]}, r"one number or one a group \(2\)"),
        ({"name": "two", "groups": [2], "k": 3, "columns": ["TAX", "TAX"]}, "must name each column once"),
        ({"name": "two", "groups": [2], "k": 3, "columns": "AB"}, "must be a list"),
        ({"name": "M4-33", "groups": [2], "k": 3}, "must be a text that is no name of the paper"),
        ({"name": 3, "groups": [2], "k": 3}, "must be a text that is no name of the paper"),
        ({"name": "two", "groups": [2], "k": 201}, r"must be at most half of `n_records` \(400\), got 201"),
    ):
        with pytest.raises(ParameterError, match=message):
            STUDIES["abril2012"].plan("smoke", protections=[wrong])
    two = {"name": "two", "groups": [2], "k": 3}
    with pytest.raises(ParameterError, match="must have names of their own"):
        STUDIES["abril2012"].plan("smoke", protections=[two, {**two, "groups": [3]}])
    plan = STUDIES["abril2012"].plan("smoke", data="simulated", protections=[{**two, "columns": ["NOPE", "TAX"]}])
    with pytest.raises(ParameterError, match="`protections: columns` must name columns"):
        STUDIES["abril2012"].sweeps(plan, 1)


@pytest.mark.parametrize(
    ("study", "given", "message"),
    [
        ("abril2012", {"n_records": 20, "k": 270}, r"`k` must be at most half of `n_records` \(20\), got 270"),
        ("abril2012", {"n_records": 30, "k": 20}, r"`k` must be at most half of `n_records` \(30\), got 20"),
        ("vanhoef2012_tables", {"ks": [100_000]}, r"`ks` must be at most the people of a release \(300\), got 100000"),
    ],
)
def test_what_no_trial_could_do_is_refused_before_the_first(study, given, message):
    """These had hung, or ended in the middle with the error of a trial."""
    with pytest.raises(ParameterError, match=message):
        STUDIES[study].plan("smoke", **given)


def test_maskings_make_no_single_cluster_of_all_records():
    """With 20 records a masking of k = 25 had ended the run."""
    settings = masking_settings(["census"], "simulated", 20)
    assert max(one["amount"] for one in settings if one["method"] in ("microaggregation", "k-anonymity")) == 10
    assert len(masking_settings(["census"], "simulated", 60)) == sum(map(len, MASKINGS.values()))


@pytest.mark.slow
def test_protections_of_ones_own_stand_beside_the_papers(monkeypatch):
    monkeypatch.delenv("REIDENT_DATA", raising=False)
    own = {"protections": ["M4-33", {"name": "two and two", "groups": [2, 2], "k": [3, 4]}], "n_records": 60}
    study = STUDIES["abril2012"]
    limits = {"time_limit_s": 0.2, "race_limit_s": 0.2, "variant_limit_s": 0.1, "whole_limit_s": 0.1}
    monkeypatch.setitem(study.profiles, "smoke", replace(study.profiles["smoke"], **limits))
    results = study.run("smoke", **own, models=["weighted_mean"], progress=False)
    ratios = results.frames["ratios"].set_index(["file", "distance"])
    assert {"M4-33", "two and two"} == set(results.frames["ratios"]["file"])
    assert ratios.loc[("two and two", "weighted_mean"), "mean"] > 0
    assert set(study.draw(results)) == set(study.figures)


GARBAGE = [
    [], [[]], {}, "", "x", -1, 1e-300, float("nan"), float("inf"), True, [None], [float("nan")], [1, 1], [0.5, "a"],
    ["zz"], {"a": 1}, (1, 2), [True], "3", b"x", [-1], object(), [object()], ["one"], [[1]],
]  # fmt: skip


@pytest.mark.parametrize("study", sorted(STUDIES))
def test_garbage_in_any_parameter_of_a_notebook_is_refused_by_name(study):
    notebook, defaults = STUDIES[study].notebook_path, notebook_defaults(STUDIES[study].notebook_path)
    for name in set(defaults) - {"profile", "jobs", "seed", "out"}:
        taken = []
        for value in GARBAGE:
            try:
                taken.append(check_parameters(notebook, {name: value}, defaults=defaults)[name])
            except (ParameterError, DataError) as error:
                assert f"`{name}" in str(error)  # noqa: PT017
        assert set(map(type, taken)) <= {float}, (name, taken)  # a number of almost nothing may be one


@pytest.mark.parametrize(
    ("study", "name"),
    [
        ("abril2012", "draws"),
        ("vanhoef2012_networks", "n_seeds"),
    ],
)
def test_more_trials_than_any_machine_runs_are_refused_before_the_first(study, name):
    with pytest.raises(ParameterError, match=r"`(n_datasets|repetitions|n_seeds)` must "):
        STUDIES[study].run("smoke", progress=False, **{name: 2**40})
