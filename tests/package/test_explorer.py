import contextlib
import io
import re

import numpy as np
import pytest

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
    explorer.map.release = [method, point["label"]]
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


@pytest.mark.slow
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
