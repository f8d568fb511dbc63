"""The pages of the site: every method and every public name has a place, and no link is broken."""

import importlib.util
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import public

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "docs"))  # where the scripts find each other


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "_generated"
    script("generate").write(folder, ROOT / "nowhere")
    return folder


def test_no_page_of_the_site_points_to_a_page_that_is_not_there(pages):
    for page in (ROOT / "docs").glob("*.md"):
        text = page.read_text()
        targets = re.findall(r"\]\((?!http|#)([^)]+)\)", text)
        for block in re.findall(r"```{toctree}\n(.*?)```", text, flags=re.DOTALL):
            targets += [line for line in block.split("\n") if line and not line.startswith(":") and "*" not in line]
        for target in targets:
            place = pages.parent / target if target.startswith("_generated") else page.parent / target
            assert place.is_file() or place.with_suffix(".md").is_file() or Path(f"{place}.md").is_file(), target


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "GUIDE.md", *sorted((ROOT / "docs").glob("*.md"))])
def test_what_is_named_is_there(page):
    for named in re.findall(r"`(reident(?:\.\w+)+)[`(]", page.read_text(encoding="utf-8")):
        pkgutil.resolve_name(named)


def test_the_example_of_the_readme_runs(capsys):
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)[1]
    assert len(example.splitlines()) <= 12
    exec(compile(example, "README.md", "exec"), {})
    assert "precision=" in capsys.readouterr().out


@pytest.mark.slow
def test_the_site_is_built_offline(pages):
    pytest.importorskip("myst_nb")
    pytest.importorskip("latex2mathml")
    source, site = pages.parent, pages.parent / "site"
    for path in [*(ROOT / "docs").glob("*.md"), ROOT / "docs" / "conf.py"]:
        (source / path.name).write_bytes(path.read_bytes())
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-b", "html", source, site], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for page in site.rglob("*.html"):
        assert not re.search(r'<(?:script|link)[^>]+(?:src|href)="https?:[^"]+\.(?:js|css)', page.read_text()), page


#: What numpydoc finds fault with that holds here: sections there and complete. Types and descriptions may stand at
#: another function ("As for `max_clique`."), and names that belong together may share a line.
HELD = "GL02 GL03 GL05 GL06 GL07 GL08 GL09 PR01 PR02 PR06 RT01 SS01 SS02 SS03 SS04 YD01".split()  # noqa: SIM905


def test_a_public_function_documents_parameters_result_and_errors():
    validate = pytest.importorskip("numpydoc.validate").validate
    for name, home in public.HOMES.items():
        function = public.named(name)
        if inspect.isfunction(function):
            assert [fault for fault in validate(f"{home}.{name}")["errors"] if fault[0] in HELD] == [], name
            source = inspect.getsource(inspect.unwrap(function)).split('"""')[-1]
            if re.search(r"\braise \w+Error|\bcheck_(?!rng)\w+\(", source):
                assert re.search(r"^Raises\n------", inspect.getdoc(function), flags=re.MULTILINE), name
