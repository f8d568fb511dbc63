"""The parameters of a study: declared once, refused before anything runs."""

from dataclasses import dataclass
from typing import Annotated

import pytest

from reident.base import Choice, DataError, ParameterError, Real, Whole
from reident.runner import check_parameters
from reident.runner._parameters import notebook_defaults
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


@pytest.mark.parametrize(
    ("study", "given", "message"),
    [
        ("vanhoef2012_tables", {"ks": [100_000]}, r"`ks` must be at most the people of a release \(300\), got 100000"),
    ],
)
def test_what_no_trial_could_do_is_refused_before_the_first(study, given, message):
    """These had hung, or ended in the middle with the error of a trial."""
    with pytest.raises(ParameterError, match=message):
        STUDIES[study].plan("smoke", **given)


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
    [],
)
def test_more_trials_than_any_machine_runs_are_refused_before_the_first(study, name):
    with pytest.raises(ParameterError, match=r"`(n_datasets|repetitions|n_seeds)` must "):
        STUDIES[study].run("smoke", progress=False, **{name: 2**40})
