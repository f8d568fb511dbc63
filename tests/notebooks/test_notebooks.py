from pathlib import Path

import pytest

from reident.data.datasets import notebooks_folder
from reident.runner import NotebookRun, run_notebooks
from reident.runner.experiments import experiments
from reident.workbench.examples import example_places

# Parameters that make a notebook small.
SMALL = {
    "00-tour": {"repetitions": 2},
    "07-distances-are-a-map": {"sizes": [60], "sigmas_km": [20.0], "steps_km": [5.0], "n_datasets": 1},
    "08-other-distances": {
        "n_records": 60, "n_common": 12, "widths_km": [5.0], "withheld": [0.0, 0.3], "n_simulations": 20,
    },
}  # fmt: skip

NOTEBOOKS = sorted({*notebooks_folder().glob("*.ipynb")} - {*experiments().values()})


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(notebook: Path, tmp_path: Path):
    parameters = SMALL.get(notebook.stem, {"profile": "smoke", "out": str(tmp_path / "results")})
    if notebook.stem.startswith("11"):  # every method and every attack on an own file
        example_places(60, rng=1).to_csv(tmp_path / "people.csv", index=False)
        parameters["file"] = str(tmp_path / "people.csv")
    (record,) = run_notebooks([NotebookRun(notebook.stem, notebook, parameters)], tmp_path, progress=False)
    assert record["status"] == "ok", record
