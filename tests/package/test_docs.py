import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import public

ROOT = Path(__file__).parents[2]


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
