"""Every notebook runs from top to bottom with small parameters."""

from pathlib import Path

import pytest

from reident.data._paths import notebooks_folder
from reident.runner import NotebookRun, run_notebooks
from reident.runner.experiments import experiments
from reident.studies.catalogue import STUDIES
from reident.workbench.examples import example_places

# What makes a notebook small; a study's notebook takes the profile that is there for it.
SMALL = {"00-tour": {"repetitions": 2}}

STUDY_NAMES = ("kroll2016", "vanhoef2012_tables")
ELSEWHERE = {STUDIES[name].notebook_path for name in STUDY_NAMES} | {*experiments().values()}
NOTEBOOKS = sorted({*notebooks_folder().glob("*.ipynb")} - ELSEWHERE)


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(notebook: Path, tmp_path: Path):
    parameters = SMALL.get(notebook.stem, {"profile": "smoke", "out": str(tmp_path / "results")})
    if notebook.stem.startswith("11"):  # every method and every attack on a file of one's own
        example_places(60, rng=1).to_csv(tmp_path / "people.csv", index=False)
        parameters["file"] = str(tmp_path / "people.csv")
    (record,) = run_notebooks([NotebookRun(notebook.stem, notebook, parameters)], tmp_path, progress=False)
    assert record["status"] == "ok", record


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.parametrize("study", STUDY_NAMES)
def test_the_notebook_of_a_study_leaves_its_comparison_and_every_figure(study, smoke):
    results, folder = smoke(study)
    assert results.profile == "smoke"
    assert (folder / "comparison.csv").is_file()
    for kind in ("png", "svg"):
        assert {path.stem for path in (folder / "figures").glob(f"*.{kind}")} >= set(STUDIES[study].figures)
