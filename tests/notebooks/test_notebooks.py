"""Every notebook runs from top to bottom with small parameters."""

from pathlib import Path

import pytest

from reident.data._paths import notebooks_folder
from reident.runner import NotebookRun, run_notebooks

# What makes a notebook small; a study's notebook takes the profile that is there for it.
SMALL = {"00-tour": {"repetitions": 2}}

NOTEBOOKS = sorted(notebooks_folder().glob("*.ipynb"))


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(notebook: Path, tmp_path: Path):
    parameters = SMALL.get(notebook.stem, {"profile": "smoke", "out": str(tmp_path / "results")})
    (record,) = run_notebooks([NotebookRun(notebook.stem, notebook, parameters)], tmp_path, progress=False)
    assert record["status"] == "ok", record
    if "profile" in parameters and notebook.stem[:2] < "07":  # a document's own study
        assert list((tmp_path / "results" / "figures").glob("*.svg"))
        assert (tmp_path / "results" / "comparison.csv").is_file()
