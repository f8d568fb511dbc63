"""The runner: strict parameters, nothing run twice, failures kept, pages that stand alone."""

import ast
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from reident import DataError, ParameterError, runner
from reident.runner import NotebookRun, check_parameters, run_notebooks, write_index
from reident.runner._execute import WORK
from reident.sweep import grid
from small_notebooks import finished_study, write_notebook


@pytest.fixture
def notebook(tmp_path):
    return write_notebook(tmp_path / "small {count}.ipynb", "print('count is', count, repr(name))")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cuont": 3}, r"`cuont` must be a parameter of small.*which has count, rate"),
        ({"count": 3.0}, "`count` must be of type int .* got 3.0 of type float"),
        ({"count": True}, "`count` must be of type int .* got True of type bool"),
        ({"count": "3"}, "`count` must be of type int"),
        ({"rate": "0.5"}, "`rate` must be of type float"),
        ({"rate": True}, "`rate` must be of type float"),
        ({"rate": float("nan")}, "`rate` must be finite"),
        ({"rate": np.float64(1)}, "`rate` must be a plain JSON value"),
        ({"flag": 1}, "`flag` must be of type bool"),
        ({"name": None}, "`name` must be of type str"),
        ({"list_": (1,)}, "`list_` must be a plain JSON value"),
        ({"table": []}, "`table` must be of type dict"),
        ({"nothing": {1, 2}}, "`nothing` must be a plain JSON value"),
        ({"count\nimport os": 1}, "must be a parameter of"),
    ],
)
def test_a_wrong_parameter_is_refused_before_anything_runs(notebook, tmp_path, given, message):
    with pytest.raises(ParameterError, match=message):
        check_parameters(notebook, given)
    with pytest.raises(ParameterError, match=message):
        run_notebooks([NotebookRun("good", notebook), NotebookRun("bad", notebook, given)], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_right_parameters_are_taken(notebook):
    given = {"count": 4, "rate": 2, "name": "x", "flag": True, "list_": [], "table": {"a": 1}, "nothing": [1]}
    assert check_parameters(notebook, given) == given


def test_defaults_are_those_that_papermill_sees(notebook):
    papermill = pytest.importorskip("papermill")
    plain = notebook.rename(notebook.with_name("plain.ipynb"))
    seen = papermill.inspect_notebook(str(plain))
    ours = runner.notebook_defaults(plain)
    assert list(seen) == list(ours)
    assert {name: ast.literal_eval(found["default"]) for name, found in seen.items()} == ours


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "a Jupyter notebook"), ("[]", "a Jupyter notebook"), ('{"cells": [{}]}', "a Jupyter notebook")],
)
def test_a_file_that_is_no_notebook_is_an_error(tmp_path, content, message):
    path = tmp_path / "x.ipynb"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        check_parameters(path, {})


def test_a_notebook_needs_exactly_one_parameters_cell(tmp_path):
    with pytest.raises(DataError, match="exactly one cell tagged 'parameters', got 0"):
        check_parameters(write_notebook(tmp_path / "n.ipynb", parameters=None), {})
    with pytest.raises(DataError, match="is no Python"):
        check_parameters(write_notebook(tmp_path / "n.ipynb", parameters="1 +"), {})
    with pytest.raises(DataError, match="a file that is there"):
        check_parameters(tmp_path / "absent.ipynb", {})


@pytest.mark.parametrize("name", ["", "a/b", "../a", ".hidden", "a b"])
def test_a_run_must_be_named_like_a_folder(notebook, tmp_path, name):
    with pytest.raises(ParameterError, match="`name` must be letters"):
        run_notebooks([NotebookRun(name, notebook)], tmp_path / "out")


def test_runs_must_have_different_names(notebook, tmp_path):
    with pytest.raises(ParameterError, match="different names, got 'a' more than once"):
        run_notebooks([NotebookRun("a", notebook), NotebookRun("a", notebook)], tmp_path / "out")


def test_a_folder_that_cannot_be_written_is_refused(notebook, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="`out` must be a folder that can be written"):
        run_notebooks([NotebookRun("a", notebook)], tmp_path / "file")


def text_of(folder):
    cells = json.loads((folder / "notebook.ipynb").read_text())["cells"]
    return "".join("".join(output.get("text", "")) for cell in cells for output in cell.get("outputs", []))


@pytest.mark.notebook
@pytest.mark.slow
def test_runs_are_kept_resumed_and_shown(tmp_path):
    injection = '"; import os; os.abort() #\n{count} \\" \'\'\' """ ü'
    good = write_notebook(
        tmp_path / "good {count}.ipynb",
        "print('count is', count, repr(name))",
        "from pathlib import Path\nPath(out, 'made.txt').write_text(name)",
    )
    bad = write_notebook(tmp_path / "bad.ipynb", "print('before')", "1 / 0", "print('after')", title="<Bad>")
    dead = write_notebook(tmp_path / "dead.ipynb", "import os\nos._exit(1)")
    out = tmp_path / "out {count}"
    runs = [
        NotebookRun("good", good, {"count": 7, "name": injection}),
        NotebookRun("bad", bad),
        NotebookRun("dead", dead),
    ]
    try:
        records = run_notebooks(runs, out, at_once=2, progress=False)
    finally:
        grid.close_workers()
    assert [record["status"] for record in records] == ["ok", "failed", "failed"]
    assert (out / "good" / "made.txt").read_text() == injection
    assert f"count is 7 {injection!r}" in text_of(out / "good")
    assert "before" in text_of(out / "bad")
    assert "after" not in text_of(out / "bad")
    assert records[1]["error"]["type"] == "ZeroDivisionError"
    assert records[2]["error"]["type"] == "DeadKernelError"
    assert records[0]["parameters"] == {"count": 7, "name": injection}
    assert records[0]["versions"]["numpy"] == np.__version__
    assert (out / "good" / "log.txt").read_text().startswith("count is 7")
    assert not list((out / WORK).iterdir())

    shown = (out / "good" / "notebook.html").read_text()
    assert "count is 7" in shown
    assert "print(" not in shown, "code is shown"
    for page in (shown, write_index(out).read_text()):
        assert not re.search(r"<script|<link|(src|href)=.https?:", page)
    index = (out / "index.html").read_text()
    assert "ZeroDivisionError: division by zero" in index
    assert "&lt;Bad&gt;" in index
    for target in re.findall(r'href="([^"#]+)"', index):
        assert (out / target.replace("%20", " ")).is_file(), target

    # what ended well with the same key is not run again, what failed is, unless told otherwise
    again = run_notebooks([*runs[:1], *runs[1:2]], out, retry_failed=False, progress=False)
    assert [record["started"] for record in again] == [record["started"] for record in records[:2]]
    mended = write_notebook(bad, "print('mended')", title="<Bad>")
    again = run_notebooks([runs[0], NotebookRun("bad", mended)], out, progress=False)
    assert again[0] == records[0]
    assert again[1]["status"] == "ok"
    assert again[1]["key"] != records[1]["key"]
    # a damaged record stands for nothing
    (out / "bad" / "record.json").write_text("{")
    assert run_notebooks([NotebookRun("bad", mended)], out, progress=False)[0]["status"] == "ok"


@pytest.mark.parametrize("step", ["complete, not published", "replaced, not removed"])
def test_an_interruption_between_two_steps_is_settled(tmp_path, notebook, step):
    out = tmp_path / "out"
    spec = runner._specs([NotebookRun("a", notebook)], out)[0]
    folder = out / WORK / "a" if step.startswith("complete") else out / "a"
    folder.mkdir(parents=True)
    (folder / "record.json").write_text(json.dumps({"name": "a", "key": spec["key"], "status": "ok"}))
    (out / WORK / "old-1").mkdir(parents=True)
    records = run_notebooks([NotebookRun("a", notebook)], out, progress=False)
    assert records == [{"name": "a", "key": spec["key"], "status": "ok"}]
    assert (out / "a" / "record.json").is_file()
    assert not list((out / WORK).iterdir())


def test_jobs_and_place_do_not_make_another_run(tmp_path):
    path = write_notebook(tmp_path / "n.ipynb", parameters="jobs = 1\nout = ''\nseed = 0")
    keys = {
        runner._specs([NotebookRun("a", path, {"jobs": jobs})], tmp_path / where)[0]["key"]
        for jobs in (1, 2)
        for where in ("x", "y")
    }
    assert len(keys) == 1
    assert runner._specs([NotebookRun("a", path, {"seed": 1})], tmp_path)[0]["key"] not in keys


def test_parts_of_an_earlier_run_are_taken_over(tmp_path):
    from reident.runner._execute import _workplace

    (tmp_path / "a" / "parts" / "x").mkdir(parents=True)
    (tmp_path / "a" / "old.txt").touch()
    work = _workplace(tmp_path, "a")
    assert (work / "parts" / "x").is_dir()
    (work / "stale.txt").touch()
    assert sorted(path.name for path in _workplace(tmp_path, "a").iterdir()) == ["parts"]


def test_the_index_compares_with_print(tmp_path):
    page = write_index(finished_study(tmp_path)).read_text()
    assert "M. Kroll (2015)" in page
    assert '<span class="good">2 agree</span>, <span class="bad">1 differ</span>' in page
    assert "recall &lt;at&gt; 1" in page
    assert "an erratum &amp; more" in page
    assert "[0.48, 0.56]" in page
    assert page.index("figure-2-a.png") < page.index("figure-10-b.png") < page.index("only.svg")
    assert 'href="kroll2015/figures/figure-2-a.svg"><img src="kroll2015/figures/figure-2-a.png"' in page


def test_the_index_of_an_empty_folder_is_a_page(tmp_path):
    assert "<h1>" in write_index(tmp_path).read_text()


def test_unknown_studies_and_profiles_are_refused():
    with pytest.raises(ParameterError, match="`stem` must be one of"):
        runner.study_runs(["nonsense"])
    with pytest.raises(ParameterError, match="`profile` must be one of 'smoke', 'quick', 'full'"):
        runner.study_runs(profile="fast")
    with pytest.raises(ParameterError, match="`jobs` must be at least 1"):
        runner.study_runs(jobs=0)


def test_processors_are_shared_out():
    runs, at_once = runner.study_runs(["kroll2015"], jobs=2)
    assert [run.name for run in runs] == ["kroll2015"]
    assert (at_once, runs[0].parameters["jobs"]) == (1, 2)
    runs, at_once = runner.study_runs(["kroll2015", "00-tour"], jobs=2, seed=5)
    assert at_once == 2
    assert all(run.parameters.get("jobs", 1) == 1 for run in runs)
    assert {run.parameters.get("seed") for run in runs} <= {5, None}
    runs, _ = runner.study_runs(["kroll2015", "00-tour"], profile="full", jobs=2)
    assert max(run.parameters.get("jobs", 0) for run in runs) == 2
    assert [run.name for run in runner.study_runs(["01-kroll2015-graph-linkage"])[0]] == ["kroll2015"]


def test_our_environment_is_left_as_it_was(tmp_path):
    from reident.runner._execute import _kernel_environment

    before = dict(os.environ)
    with _kernel_environment(tmp_path):
        assert Path(os.environ["REIDENT_PROGRESS_FILE"]).parent == tmp_path
    assert dict(os.environ) == before
