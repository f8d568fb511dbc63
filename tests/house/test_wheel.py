"""The wheel, installed in an empty environment, does what the checkout does: the checkout is not needed."""

import json
import os
import subprocess
import sys
import sysconfig
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from office import office
from small_notebooks import write_notebook

pytest.importorskip("hatchling")

ROOT = Path(__file__).parents[2]


def run(*arguments, cwd):
    """Run a program that sees nothing of this one; return what it said on its output stream."""
    ours = ("PYTHON", "REIDENT", "VIRTUAL_ENV", "JUPYTER", "MPLBACKEND")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run([*map(str, arguments)], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


#: Prints the folders of the compiled kernels that the study uses.
COMPILED = """
from reident.kernels.cliques.clique import advance
from reident.kernels.places.sphere import great_circle_cross
print(advance.stats.cache_path, great_circle_cross.stats.cache_path, sep="\\n")
"""


@contextmanager
def compiled_once(python, cwd):
    """Let the installed package share compiled kernels with the checkout: numba keeps them by the folder of sources."""
    links = []
    for ours, theirs in zip(
        *(
            map(Path, run(which, "-c", COMPILED, cwd=folder).split())
            for which, folder in ((sys.executable, ROOT / "src"), (python, cwd))
        ),
        strict=True,
    ):
        ours.mkdir(parents=True, exist_ok=True)
        theirs.rmdir()
        theirs.symlink_to(ours)
        links.append(theirs)
    yield
    for link in links:
        link.unlink()


@pytest.fixture(scope="module")
def reident(tmp_path_factory):
    """Give the command `reident` of an environment that has the wheel, and borrows the libraries below it."""
    home = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", home, cwd=ROOT)
    (wheel,) = home.glob("*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", home / "env", cwd=home)
    python = home / "env" / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel, cwd=home)
    (own,) = (home / "env").glob("lib/python*/site-packages")
    # Lines of a path file add folders, and what these hold of path files is not read: no editable installation is seen.
    (own / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    (home / "env" / "share").mkdir(exist_ok=True)
    (home / "env" / "share" / "jupyter").symlink_to(Path(sys.prefix) / "share" / "jupyter")
    where = run(python, "-c", "import reident; print(reident.__file__)", cwd=home)
    assert where.startswith(str(own))
    with compiled_once(python, home):
        yield home / "env" / "bin" / "reident"


@pytest.mark.notebook
@pytest.mark.slow
def test_the_wheel_reproduces_a_study(reident, tmp_path):
    study = "kroll2015"
    run(reident, "reproduce", study, "--profile", "smoke", "--jobs", 1, "--out", "out", "--quiet", cwd=tmp_path)
    assert json.loads((tmp_path / "out" / study / "record.json").read_text())["status"] == "ok"
    page = (tmp_path / "out" / "index.html").read_text()
    assert all(figure in page for figure in ("figure-5-against-sigma", "figure-8-ru-map", "Table 5: recall"))


@pytest.mark.notebook
@pytest.mark.slow
def test_the_wheel_assesses_a_file_and_runs_a_batch(reident, tmp_path):
    table = office(120)[["Geschlecht", "PLZ", "Beruf", "Diagnose"]]
    table.to_csv(tmp_path / "patienten.csv", index=False, sep=";")
    asked = ["--quasi", "Geschlecht,Beruf", "--profile", "smoke", "--out", "report", "-q"]
    run(reident, "assess", "patienten.csv", *asked, cwd=tmp_path)
    assert (tmp_path / "report" / "report.html").is_file()
    cells = "from reident.experiments.results import declare\nimport reident\n"
    cells += "declare({'file': reident.__file__, 'x': x}, out)"
    write_notebook(tmp_path / "small.ipynb", cells, parameters="x = 1\nout = ''")
    (tmp_path / "sweep.yaml").write_text("notebook: small.ipynb\ngrid: {x: [1, 2]}")
    run(reident, "batch", "sweep.yaml", "--jobs", 1, "--out", "sweep", cwd=tmp_path)
    results = pd.read_parquet(tmp_path / "sweep" / "results.parquet")
    assert sorted(results["x"]) == [1, 2]
    assert all(str(reident.parents[1]) in file for file in results["file"])
