"""The explorer without a browser: what it offers, draws and tells; its code runs; nothing stale stays."""

import contextlib
import io
import re

import numpy as np
import pytest

from reident.base import ParameterError
from reident.rumap import NOTHING, ORIGINAL
from reident.workbench.examples import example_network, example_places, example_table
from reident.workbench.explorer import Example, Explorer, examples

LOAD = "from reident.workbench.examples import example_table\n\ndata = example_table(120, rng=1)"


@pytest.fixture(scope="module")
def explorer():
    data = example_table(120, rng=1)
    roles = {"quasi": ["age", "pay"], "sensitive": "illness"}
    made = Explorer({"t": Example(data, roles, {"n_known": 40, "n_released": 60}, LOAD)}, repetitions=1)
    made.methods.value = ("mondrian", "rounding")
    for values in made.ranges.children:
        values.index = (0, 1)
    made.run()
    assert len(made.plan.settings) == 5, made.state.value
    return made


def points(explorer):
    return [(curve["name"], point) for curve in explorer.map.data["curves"] for point in curve["points"]]


@pytest.mark.slow
def test_every_release_is_on_the_map(explorer):
    releases = explorer.panel()
    releases = releases[~releases["method"].isin([ORIGINAL, NOTHING])]
    assert len(releases) >= 2
    assert {(method, point["value"]) for method, point in points(explorer)} == set(
        zip(releases["method"], releases["value"], strict=True)
    )


@pytest.mark.slow
def test_a_click_shows_what_is_behind_a_release_and_other_choices_take_it_away(explorer):
    (method, first), (other, last) = points(explorer)[0], points(explorer)[-1]
    explorer.map.release = [method, first["value"]]
    shown = explorer.behind.value
    assert "claims" in shown
    explorer.map.release = [other, last["value"]]
    assert explorer.behind.value != shown
    before = explorer.behind.value
    measured = explorer.frame["attack"]
    label, other_attack = [one for one in explorer.attack.options if measured.str.startswith(one[0]).any()][-1]
    explorer.attack.value = other_attack
    assert explorer.behind.value != before
    assert explorer.map.data["attack"].startswith(f"risk: {label}")
    explorer.attack.value = explorer.attack.options[0][1]
    assert explorer.behind.value == before


def test_an_attack_that_says_nothing_tells_why(explorer):
    silent = explorer.plan.not_applicable(explorer.trials)
    assert "households" in silent["household_join"]
    for name, why in silent.items():
        explorer.attack.value = name
        assert explorer.map.data == {}
        assert f"nothing about any of these releases: {why}." in explorer.behind.value
    explorer.attack.value = explorer.attack.options[0][1]
    assert "says nothing" not in explorer.behind.value


def test_the_judgement_is_that_of_check_and_goes_with_the_limit(explorer, tmp_path, monkeypatch):
    method, point = points(explorer)[-1]
    explorer.map.release = [method, point["value"]]
    explorer.check()
    verdict = re.search(r"<b>(.*?)</b>", explorer.verdict.value)[1]
    assert verdict.startswith(("passed", "refused"))
    assert "exact_join" in explorer.verdict.value
    explorer.limit.value = 0.6
    assert explorer.verdict.value == ""
    explorer.limit.value = 0.25


@pytest.mark.slow
def test_the_code_of_a_release_runs_as_it_stands(explorer, tmp_path, monkeypatch):
    assert all(point["code"].startswith("import reident as rd") for _, point in points(explorer))
    codes = [explorer.code("add_noise", {"relative": 0.2})]
    places = Explorer(
        {"p": Example(example_places(60), {"quasi": ["sex"]}, {},
                      "from reident.workbench.examples import example_places\n\ndata = example_places(60)")}
    )  # fmt: skip
    codes += [places.code("donut", {"inner_m": 500.0, "outer_m": 9000.0})]
    for number, code in enumerate(codes):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "<code>", "exec"), {})
        assert printed.getvalue().startswith(("passed", "refused"))
        assert (folder / "release" / "manifest.json").is_file()


@pytest.mark.parametrize("name", list(examples()))
def test_the_code_of_an_example_loads_what_is_offered(name):
    example, held = examples()[name], {}
    exec(compile(example.code, "<code>", "exec"), held)
    if "network" in name:
        assert np.array_equal(held["data"].edges(), example.data.edges())
    else:
        assert held["data"].equals(example.data)


def test_a_network_goes_the_whole_way():
    load = "from reident.workbench.examples import example_network\n\ndata = example_network(24)"
    made = Explorer({"n": Example(example_network(24), {}, {}, load)}, repetitions=1)
    made.methods.value = ("naive", "rewire_edges")
    made.ranges.children[0].index = (0,)
    made.run()
    assert {method for method, _ in points(made)} == {"naive", "rewire_edges"}
    made.attack.value = "degree"
    made.map.release = ["naive", ""]
    assert "24 claims" in made.behind.value
    made.check()
    assert "<b>refused: " in made.verdict.value
    assert "neighbourhood" in made.verdict.value


def test_a_run_can_be_stopped(explorer):
    stopped = Explorer(explorer.offered, repetitions=1)
    stopped.methods.value = ("mondrian",)
    stopped.state.observe(lambda told: "1 of" in told["new"] and stopped.cancel(), "value")
    stopped.run()
    assert "Stopped after 1" in stopped.state.value
    assert stopped.trials["options"].nunique() == 1
    assert not stopped.button.disabled


def test_other_values_forget_the_map_and_are_tried(explorer):
    made = Explorer(explorer.offered, repetitions=1)
    made.methods.value = ("mondrian",)
    values = made.ranges.children[0]
    assert values.description == "k-anonymity, Mondrian: k, records"
    made.map.data = explorer.map.data
    values.value = (2, 5)
    assert made.map.data == {}
    assert made.specs() == [{"name": "mondrian", "k": [2, 5]}]


def test_nothing_to_offer_is_refused():
    with pytest.raises(ParameterError, match="`data` must offer at least one data set"):
        Explorer({})
