"""What is committed: data as registered, notebooks stripped, nothing of a machine or a registry."""

import hashlib
import json
import re
import subprocess
from pathlib import Path

import pytest

from reident.data import datasets
from reident.data.datasets import data_folder
from reident.runner._parameters import notebook_defaults

ROOT = Path(__file__).parents[2]


def tracked(pattern="*"):
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--", pattern], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):  # an unpacked archive has no list: look at what is there
        return [path for path in ROOT.glob(f"*/**/{pattern}") if path.is_file() and ".venv" not in path.parts]
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


@pytest.mark.parametrize("name", sorted(name for name, entry in datasets.registry().items() if entry.get("embedded")))
def test_embedded_data_is_as_registered(name):
    entry = datasets.registry()[name]
    assert hashlib.sha256((data_folder() / name).read_bytes()).hexdigest() == entry["sha256"]
    assert entry["source"]
    assert entry["licence"]


@pytest.mark.parametrize("path", tracked("notebooks/*.ipynb"), ids=lambda path: path.stem)
def test_notebooks_are_stripped_and_have_one_parameters_cell(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        assert not cell.get("outputs"), "outputs are committed"
        assert cell.get("execution_count") is None
        assert "papermill" not in cell["metadata"]
        assert "execution" not in cell["metadata"]
    assert not {"papermill", "widgets"} & set(notebook["metadata"])
    assert notebook_defaults(path)  # fails unless exactly one cell is tagged


@pytest.mark.parametrize("path", tracked("notebooks/*.ipynb"), ids=lambda path: path.stem)
def test_notebooks_import_nothing_private(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    source = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
    assert not re.search(r"reident[\w.]*\._|import _", source)


# Put together here, so that this file does not find itself.
_HOSTS = ["pypi" + ".org", "python" + "hosted.org", "registry.npm" + "js.org", "conda.ana" + "conda.org"]
_MACHINE = re.compile(r"(?<![\w.])/(?:root|home/[a-z]+|Users|work)/")


def text_files():
    binary = {".png", ".gz", ".parquet", ".svg", ".gpkg", ".xlsx", ".ico"}
    return [path for path in tracked() if path.suffix not in binary and path.stat().st_size < 2_000_000]


def test_no_file_names_a_machine_or_a_package_registry():
    for path in text_files():
        text = path.read_text(encoding="utf-8", errors="replace")
        found = [host for host in _HOSTS if host in text] + _MACHINE.findall(text)
        assert not found, f"{path.relative_to(ROOT)}: {found[0]}"
