import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pandas as pd
import pytest

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


@pytest.fixture(scope="module")
def reident(tmp_path_factory):
    """Give the command `reident` of an environment with the wheel, which borrows the libraries below it; the wheel."""
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
    return home / "env" / "bin" / "reident", wheel


#: Reads an embedded table, a published one and a notebook, and calls a kernel.
CELLS = """
import numpy as np
import reident as rd
from reident.data.datasets import load_census_shares
from reident.experiments.results import declare
rd.great_circle_km([50.0, 51.0], [8.0, 9.0])
rows = len(load_census_shares()) + len(rd.published("kroll2015", "table3"))
declare({"file": rd.__file__, "x": x, "rows": rows}, out)
"""


@pytest.mark.notebook
@pytest.mark.slow
def test_the_wheel_holds_every_file_and_runs_a_batch(reident, tmp_path):
    command, wheel = reident
    held = set(zipfile.ZipFile(wheel).namelist())
    for folder, inside in (("src/reident", "reident"), ("data", "reident/_data"), ("notebooks", "reident/_notebooks")):
        files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT / folder, capture_output=True, text=True, check=True)
        assert {f"{inside}/{name}" for name in files.stdout.split("\0") if name} <= held
    assert "kroll2015" in run(command, "list", cwd=tmp_path)
    write_notebook(tmp_path / "small.ipynb", CELLS, parameters="x = 1\nout = ''")
    (tmp_path / "sweep.yaml").write_text("notebook: small.ipynb\ngrid: {x: [1, 2]}")
    run(command, "batch", "sweep.yaml", "--jobs", 1, "--out", "sweep", cwd=tmp_path)
    results = pd.read_parquet(tmp_path / "sweep" / "results.parquet")
    assert sorted(results["x"]) == [1, 2]
    assert all(str(command.parents[1]) in file for file in results["file"])
