"""Notebooks that are experiments run by plain papermill and by `reident reproduce`; wrong parameters are refused."""

import json
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
from reident.runner.experiments import experiments, profile_parameters

EXPERIMENTS = experiments()
VERDICTS = {"agrees", "differs", "open", "undecidable", "not comparable", "document in error"}

#: A grid of one value a parameter, on small data.
ONE_VALUE = {
    "kroll2015": {
        "sigmas_deg": [0.02], "alphas": [0.4], "sigmas_km": [2.0], "jitters_km": [8.0], "n_original": 120,
        "n_known": 120, "n_common": 30, "n_datasets": 1, "repetitions": 2,
    },
    "kroll2016": {
        "scenarios": ["germany"], "n_reference_sets": [50], "reference_set_sizes": [4], "alphas": [0.4],
        "more_reference_sets": [30], "larger_sets": [12], "second_alphas": [0.4], "steps": 1000, "n_simulations": 20,
        "n_records": 150, "n_common": 20, "other_areas": ["disc"], "utility_sets": [10], "utility_sizes": [10],
        "n_embeddings": 2, "n_datasets": 1, "repetitions": 2,
    },
    "vanhoef2012_tables": {
        "ks": [4], "ells": [2], "ts": [0.5], "epsilons": [1.0], "attributes": ["income"], "releases": 2,
        "map_releases": 1, "n_common": 100, "n_own": 100, "known": [4], "n_users": 500, "n_titles": 200,
        "n_ratings": 10_000, "n_attacked": 5, "group_sizes": [4], "rates": [0.05], "truths": [0.5], "surveys": 2,
        "repetitions": 1,
    },
    "vanhoef2012_mechanisms": {
        "epsilons": [2.0], "tested": [0.5], "n_answers": 200, "n_points": 300, "n_people": 200, "n_guesses": 100,
        "universes": [50], "streams": 10, "repetitions": 1,
    },
    "abril2012": {
        "files": ["2/3 2/4"], "n_records": 40, "n_simple": 1, "n_draws": 1, "time_limit_s": 0.3, "n_leakage": 1,
        "n_steps": 2, "race_records": [12], "race_limit_s": 0.3, "whole_limit_s": 0.2,
    },
    "vanhoef2012_networks": {
        "graphs": ["les_miserables"], "ks": [7], "methods": ["supergraph"], "cost_graphs": ["les_miserables"],
        "cost_ks": [3], "probing_graphs": ["les_miserables"], "probing_ks": [4], "schemes": ["1"], "repetitions": 1,
        "probing_repetitions": 1,
    },
    "vanhoef2012_attacked_releases": {
        "graphs": ["les_miserables"], "attack_ks": [7], "attack_methods": ["direct"], "copy_shares": [0.8],
        "spectral_graphs": ["les_miserables"], "link_graphs": ["les_miserables"], "link_ks": [7], "repetitions": 1,
    },
    "vanhoef2012_network_attacks": {
        "active_graph": "preferential_attachment_1000", "planted_ks": [6], "first_links": [10], "targets": [1],
        "anonymities": [4], "slacks": [0], "theorem_ns": [16], "theorem_deltas": [0.2], "active_repetitions": 1,
        "graphs": ["small_world"], "copy_shares": [1.0], "people_shares": [1.0], "n_seeds": [10],
        "clique_graphs": ["les_miserables"], "clique_sizes": [4], "clique_shares": [1.0], "crawl_size": 500,
        "repetitions": 1,
    },
    "holohan2017": {
        "cases": ["michigan"], "methods": ["mondrian"], "ks": [10], "epsilons": [2.0], "confidences": [0.99],
        "n_datasets": 1, "n_records": 1200, "n_lists": 1,
    },
}  # fmt: skip

#: Verdicts of exact claims besides "agrees", of documents with errata or with data that are not at hand.
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
def test_plain_papermill_runs_a_grid_of_one_value_at_column_width(name, tmp_path):
    out = tmp_path / "out"
    run(EXPERIMENTS[name], tmp_path / "run.ipynb", ONE_VALUE[name] | {"out": str(out), "width_mm": 85.0})
    claims, captions = pd.read_csv(out / "claims.csv"), pd.read_csv(out / "figures" / "captions.csv")
    assert list(claims.columns) == COLUMNS
    assert {path.stem for path in (out / "figures").glob("*.png")} == {*captions["figure"]}
    assert not captions["title"].str.contains("nan").any()
    assert (out / "result.parquet").is_file()


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_reproduce_runs_the_smoke_profile_and_figures_draws_it_again(name, tmp_path):
    (record,) = reproduce([name], profile="smoke", out=tmp_path, progress=False)
    assert record["status"] == "ok", record["error"]
    folder = tmp_path / name
    claims = pd.read_csv(folder / "claims.csv")
    assert {*claims["verdict"]} <= VERDICTS
    assert claims["item"].tolist() == [claim.item for claim in rd.claims(name)]
    assert {*claims.query("kind == 'exact'")["verdict"]} <= {"agrees", "open", "document in error"} | NOT_EXACT.get(
        name, set()
    )
    page = (tmp_path / "index.html").read_text()
    assert claims["item"].iloc[-1] in page
    stored = {file: file.read_bytes() for file in (tmp_path / "trials" / name).iterdir()}
    assert stored
    done = CliRunner().invoke(app, ["figures", name, "--out", str(tmp_path), "--format", "pdf", "--width", "85mm"])
    assert done.exit_code == 0, done.output
    drawn = {path.stem for path in (tmp_path / "figures-for-print" / name / "figures").glob("*.pdf")}
    assert drawn == {path.stem for path in (folder / "figures").glob("*.png")}
    main = {file: text for file, text in stored.items() if file.read_bytes() == text}
    assert main, "the figures were drawn from new trials"
    executed = nbformat.read(folder / "notebook.ipynb", as_version=4)
    outputs = [output for cell in executed.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if "Warning" in output.get("text", "")]


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sigma_deg": 0.1}, "`sigma_deg` is no parameter"),
        ({"sigmas_deg": [0.01, 5]}, "sigmas_deg"),
        ({"n_common": 501}, "`n_common` must be at most 500"),
        ({"sigmas_deg": [0.19]}, "no search ends above 50 km"),
    ],
)
def test_papermill_is_refused_what_breaks_a_rule(parameters, message, tmp_path):
    with pytest.raises(PapermillExecutionError, match=message) as caught:
        run(EXPERIMENTS["kroll2015"], tmp_path / "run.ipynb", parameters)
    assert "check_parameters" in caught.value.source


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("profile", ["smoke", "quick", "full"])
def test_profiles_name_parameters_of_the_notebook(name, profile):
    defaults = notebook_defaults(EXPERIMENTS[name])
    assert {*profile_parameters(EXPERIMENTS[name], profile)} <= {*defaults}
    assert {"seed", "jobs", "scheduler", "cache", "out", "width_mm", "figure_format"} <= {*defaults}
    assert None not in defaults.values()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_papermill_lists_every_parameter_with_its_type(name):
    known = papermill.inspect_notebook(str(EXPERIMENTS[name]))
    assert {*known} == {*notebook_defaults(EXPERIMENTS[name])}
    assert all(parameter["inferred_type_name"] not in ("None", "") for parameter in known.values())


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_notebook_is_short_and_holds_no_output(name):
    cells = [cell for cell in json.loads(EXPERIMENTS[name].read_text())["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] for cell in cells)
    lines = [
        line
        for cell in notebook_cells(EXPERIMENTS[name])
        if cell["cell_type"] == "code"
        for line in cell["source"].splitlines()
        if line.strip() and not line.strip().startswith("#")
    ]
    assert len(lines) <= 450


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_each_exercise_has_a_solution_which_the_runs_above_execute(name):
    cells = notebook_cells(EXPERIMENTS[name])
    (exercises,) = [cell["source"] for cell in cells if cell["source"].startswith("## Exercises")]
    numbers = re.findall(r"^(\d+)\. ", exercises, re.MULTILINE)
    solutions = [cell["source"] for cell in cells if "solution" in cell["metadata"].get("tags", [])]
    assert [re.match(r"# (\d+)\.", source)[1] for source in solutions] == numbers
