import re

import nbformat
import pandas as pd
import papermill
import pytest
from papermill.exceptions import PapermillExecutionError
from typer.testing import CliRunner

import reident as rd
from reident.cli import app
from reident.experiments.compare import COLUMNS
from reident.runner import reproduce
from reident.runner._parameters import notebook_cells, notebook_defaults
from reident.runner.experiments import experiments, notebooks, profile_parameters

EXPERIMENTS = experiments()
VERDICTS = {"agrees", "differs", "open", "undecidable", "not comparable", "document in error"}

#: Verdicts of exact claims, and others of documents with errata or with data that are not at hand.
EXACT = {"agrees", "open", "document in error"}
NOT_EXACT = {
    "vanhoef2012_networks": {"differs", "document in error", "not comparable"},
    "vanhoef2012_network_attacks": {"differs", "not comparable"},
}


def run(notebook, target, parameters):
    papermill.execute_notebook(
        str(notebook), str(target), parameters=parameters, kernel_name="python3", progress_bar=False,
        cwd=str(notebook.parent),
    )  # fmt: skip


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_plain_papermill_runs_the_smoke_profile_at_column_width(name, tmp_path):
    """The smoke profile has grids of one value on small data: every cell runs, exercises included."""
    out = tmp_path / "out"
    parameters = profile_parameters(EXPERIMENTS[name], "smoke") | {"out": str(out), "width_mm": 85.0}
    run(EXPERIMENTS[name], tmp_path / "run.ipynb", parameters)
    claims, captions = pd.read_csv(out / "claims.csv"), pd.read_csv(out / "figures" / "captions.csv")
    assert list(claims.columns) == COLUMNS
    assert claims["item"].tolist() == [claim.item for claim in rd.claims(name)]
    assert {*claims["verdict"]} <= VERDICTS
    assert {*claims.query("kind == 'exact'")["verdict"]} <= EXACT | NOT_EXACT.get(name, set())
    assert {path.stem for path in (out / "figures").glob("*.png")} == {*captions["figure"]}
    assert not captions["title"].str.contains("nan").any()
    assert (out / "result.parquet").is_file()
    executed = nbformat.read(tmp_path / "run.ipynb", as_version=4)
    outputs = [output for cell in executed.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if "Warning" in output.get("text", "")]


@pytest.mark.notebook
@pytest.mark.slow
def test_figures_of_a_reproduced_experiment_are_drawn_again_from_its_trials(tmp_path):
    name = "vanhoef2012_attacked_releases"
    (record,) = reproduce([name], profile="smoke", out=tmp_path, progress=False)
    assert record["status"] == "ok", record["error"]
    assert rd.claims(name)[-1].item in (tmp_path / "index.html").read_text()
    stored = {file: file.read_bytes() for file in (tmp_path / "trials" / name).iterdir()}
    assert stored
    done = CliRunner().invoke(app, ["figures", name, "--out", str(tmp_path), "--format", "pdf", "--width", "85mm"])
    assert done.exit_code == 0, done.output
    drawn = {path.stem for path in (tmp_path / "figures-for-print" / name / "figures").glob("*.pdf")}
    assert drawn == {path.stem for path in (tmp_path / name / "figures").glob("*.png")}
    assert any(file.read_bytes() == text for file, text in stored.items()), "the figures were drawn from new trials"


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"sigma_deg": 0.1}, "`sigma_deg` is no parameter"), ({"sigmas_deg": [0.19]}, "no search ends above 50 km")],
)
def test_papermill_is_refused_what_breaks_a_rule(parameters, message, tmp_path):
    with pytest.raises(PapermillExecutionError, match=message) as caught:
        run(EXPERIMENTS["kroll2015"], tmp_path / "run.ipynb", parameters)
    assert "check_parameters" in caught.value.source


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_parameters_have_types_and_profiles_name_them(name):
    defaults = notebook_defaults(EXPERIMENTS[name])
    for profile in ("smoke", "quick", "full"):
        assert {*profile_parameters(EXPERIMENTS[name], profile)} <= {*defaults}
    assert {"seed", "jobs", "scheduler", "cache", "out", "width_mm", "figure_format"} <= {*defaults}


@pytest.mark.parametrize("notebook", notebooks(), ids=lambda path: path.stem)
def test_papermill_lists_every_parameter_with_its_type_and_a_remark(notebook):
    known = papermill.inspect_notebook(str(notebook))
    assert {*known} == {*notebook_defaults(notebook)}
    assert all(parameter["inferred_type_name"] not in ("None", "") for parameter in known.values())
    assert all(parameter["help"] for parameter in known.values())


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_each_exercise_has_a_solution_which_the_runs_above_execute(name):
    cells = notebook_cells(EXPERIMENTS[name])
    (exercises,) = [cell["source"] for cell in cells if cell["source"].startswith("## Exercises")]
    numbers = re.findall(r"^(\d+)\. ", exercises, re.MULTILINE)
    solutions = [cell["source"] for cell in cells if "solution" in cell["metadata"].get("tags", [])]
    assert [re.match(r"# (\d+)\.", source)[1] for source in solutions] == numbers
