"""Every notebook runs from top to bottom with small parameters."""

import shutil
from pathlib import Path

import pytest

import frozen
from reident.data._paths import notebooks_folder
from reident.runner import NotebookRun, run_notebooks
from reident.studies.catalogue import STUDIES
from reident.studies.study import Results

# What makes a notebook small; a study's notebook takes the profile that is there for it.
SMALL = {"00-tour": {"repetitions": 2}}

NOTEBOOKS = sorted(notebooks_folder().glob("*.ipynb"))


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(notebook: Path, tmp_path: Path, smoke, monkeypatch):
    of_study = next((name for name, study in STUDIES.items() if study.notebook == notebook.stem), None)
    if of_study is not None and notebook.stem[:2] < "07":  # its trials were run before, on the same data
        _, made = smoke(of_study)
        shutil.copytree(made / "parts", tmp_path / "results" / "parts")
        monkeypatch.delenv("REIDENT_DATA", raising=False)
    parameters = SMALL.get(notebook.stem, {"profile": "smoke", "out": str(tmp_path / "results")})
    (record,) = run_notebooks([NotebookRun(notebook.stem, notebook, parameters)], tmp_path, progress=False)
    assert record["status"] == "ok", record
    if of_study is not None and notebook.stem[:2] < "07":
        assert frozen.frames(Results.load(tmp_path / "results")) == frozen.frames(Results.load(made))
        assert list((tmp_path / "results" / "figures").glob("*.svg"))
        assert (tmp_path / "results" / "comparison.csv").is_file()
