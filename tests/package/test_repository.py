import hashlib
import inspect
import json
import os
import pkgutil
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import public
from commands import call
from reident.data import datasets
from reident.data.datasets import data_folder
from reident.methods.registry import entries
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


def test_the_site_keeps_what_notebooks_print_and_says_what_each_name_is_for(tmp_path):
    site = runpy.run_path(str(ROOT / "docs" / "generate.py"))
    notebook = json.loads((ROOT / "notebooks" / "22-friendship-network.ipynb").read_text(encoding="utf-8"))
    printed = [{"output_type": "stream", "name": name, "text": ["passed"]} for name in ("stdout", "stderr")]
    next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")["outputs"] = printed
    run = tmp_path / "results" / "22-friendship-network"
    run.mkdir(parents=True)
    (run / "notebook.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    site["write_api"](tmp_path)
    site["write_notebooks"](tmp_path, tmp_path / "results")
    shown = json.loads((tmp_path / "22-friendship-network.ipynb").read_text(encoding="utf-8"))
    assert [out for cell in shown["cells"] for out in cell.get("outputs", [])] == printed[:1]
    assert "|  |" not in (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "guarantee: every released record shares" in call(tmp_path, "methods mondrian", code=0).stdout
    pages = [site["method_page"](entry) for role in site["ROLES"] for entry in entries(role)]
    assert not [page for page in pages if re.search(r"Guarantee:.*[{}]", page)]


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "GUIDE.md", *sorted((ROOT / "docs").glob("*.md"))])
def test_what_is_named_is_there(page):
    for named in re.findall(r"`(reident(?:\.\w+)+)[`(]", page.read_text(encoding="utf-8")):
        pkgutil.resolve_name(named)


def test_the_example_of_the_readme_runs(capsys):
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)[1]
    assert len(example.splitlines()) <= 12
    exec(compile(example, "README.md", "exec"), {})
    assert "precision=" in capsys.readouterr().out


#: What numpydoc finds fault with that holds here: sections there and complete. Types and descriptions may stand at
#: another function ("As for `max_clique`."), and names that belong together may share a line.
HELD = "GL02 GL03 GL05 GL06 GL07 GL08 GL09 PR01 PR02 PR06 RT01 SS01 SS02 SS03 SS04 YD01".split()  # noqa: SIM905


def test_a_public_function_documents_parameters_result_and_errors():
    validate = pytest.importorskip("numpydoc.validate").validate
    for name in public.HOMES:
        function = public.named(name)
        if inspect.isfunction(function):
            own = inspect.unwrap(function)
            faults = validate(f"{own.__module__}.{own.__qualname__}")["errors"]
            assert [fault for fault in faults if fault[0] in HELD] == [], name
            source = inspect.getsource(own).split('"""')[-1]
            if re.search(r"\braise \w+Error|\bcheck_(?!rng)\w+\(", source):
                assert re.search(r"^Raises\n------", inspect.getdoc(function), flags=re.MULTILINE), name


SCRIPT = """
import pandas as pd
import reident as rd

people = pd.DataFrame({"lat_deg": [50.1, 50.2], "lon_deg": [8.6, 8.7]})
moved = rd.places.mask_disc(people, radius_m=100.0, rng=1)
share: float = rd.linkage_quality(pd.DataFrame(), pd.DataFrame()).precision
rd.mask_disk
rd.places.mask_disc(people, radius=1.0)
wrong: str = rd.linkage_quality
"""
WRONG = {
    8: 'has no attribute "mask_disk"',
    9: 'Unexpected keyword argument "radius"',
    10: "Incompatible types in assignment",
}


#: Types of other packages take ten times as long to read and are not needed here.
OURS_ALONE = """
[mypy]
follow_imports = skip
[mypy-numpy,numpy.*]
follow_imports_for_stubs = True
[mypy-reident,reident.*]
follow_imports = silent
"""


@pytest.mark.slow
def test_a_users_script_is_type_checked(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    (tmp_path / "mypy.ini").write_text(OURS_ALONE)
    command = [sys.executable, "-m", "mypy", "--ignore-missing-imports", "--config-file", str(tmp_path / "mypy.ini")]
    command += ["--cache-dir", str(tmp_path / "cache"), str(script)]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    complaints = {int(line.split(":")[1]): line for line in done.stdout.splitlines() if ": error:" in line}
    assert set(complaints) == set(WRONG), done.stdout
    assert all(said in complaints[number] for number, said in WRONG.items())
