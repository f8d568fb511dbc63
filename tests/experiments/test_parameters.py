"""Wrong names, types and ranges of a notebook's parameters are refused, as papermill hands them over."""

import pytest

import reident as rd
from reident.base import Choice, Real
from reident.experiments.parameters import ExistingFile

RULES = {"sigmas_deg": Real(0, 0.2, open_low=True), "ties": Choice("published", "random"), "table": ExistingFile()}


def namespace(**changes):
    kinds = {"sigmas_deg": list[float], "ties": str, "table": str, "repetitions": int, "gamma": float, "quiet": bool}
    values = {"sigmas_deg": [0.01], "ties": "random", "table": "", "repetitions": 1, "gamma": 1.0, "quiet": False}
    injected = "# Parameters\n" + "".join(f"{name} = {value!r}\n" for name, value in changes.items())
    return {"__annotations__": kinds, **values, **changes, "In": ["", "import reident", injected]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sigma_deg": 1}, "`sigma_deg` is no parameter"),
        ({"sigmas_deg": [0.01, 5]}, "sigmas_deg"),
        ({"sigmas_deg": 0.01}, "list"),
        ({"sigmas_deg": []}, "at least one"),
        ({"sigmas_deg": [0.01, 0.01]}, "once"),
        ({"sigmas_deg": "[0.01"}, "list"),
        ({"ties": "best"}, "ties"),
        ({"table": "no-such-file.csv"}, "existing"),
        ({"repetitions": "many"}, "repetitions"),
        ({"repetitions": 0}, "repetitions"),
        ({"repetitions": 1.5}, "repetitions"),
        ({"gamma": "x"}, "gamma"),
        ({"quiet": 2}, "quiet"),
    ],
)
def test_what_breaks_a_rule_is_refused(changes, message):
    with pytest.raises(rd.ParameterError, match=message):
        rd.check_parameters(namespace(**changes), RULES)


def test_a_list_as_text_is_read_and_good_values_stay():
    values = namespace(sigmas_deg="[0.01, 0.02]", repetitions=3)
    rd.check_parameters(values, RULES)
    assert (values["sigmas_deg"], values["repetitions"], values["gamma"]) == ([0.01, 0.02], 3, 1.0)


def test_a_rule_without_a_parameter_is_a_mistake_of_the_notebook():
    with pytest.raises(rd.ParameterError, match="`sigma` has a rule"):
        rd.check_parameters(namespace(), {"sigma": Real()})
    values = namespace()
    values["__annotations__"]["gamma"] = "float"
    with pytest.raises(rd.ParameterError, match="annotated"):
        rd.check_parameters(values, {"gamma": Real()})
