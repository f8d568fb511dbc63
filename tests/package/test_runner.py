"""The runner: strict parameters, nothing run twice, failures kept, pages that stand alone."""

import errno
import json
import os
import re
import sys
import tempfile

import numpy as np
import pytest

from reident import DataError, ParameterError, runner
from reident.base import outputs, scratch
from reident.runner import NotebookRun, check_parameters, notebook_runs, run_notebooks, write_index
from reident.runner._execute import RECORD, WORK, publish, working
from small_notebooks import write_notebook


@pytest.fixture
def notebook(tmp_path):
    return write_notebook(tmp_path / "small {count}.ipynb", "print('count is', count, repr(name))")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cuont": 3}, r"`cuont` must be a parameter of small.*which has count, rate"),
        ({"count": 3.0}, "`count` must be of type int .* got 3.0"),
        ({"count": True}, "`count` must be of type int .* got True"),
        ({"rate": "0.5"}, "`rate` must be of type float"),
        ({"rate": float("nan")}, "`rate` must be a plain JSON value"),
        ({"rate": np.float64(1)}, "`rate` must be a plain JSON value"),
        ({"flag": 1}, "`flag` must be of type bool"),
        ({"name": None}, "`name` must be of type str"),
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


def test_a_default_of_none_takes_what_the_annotation_names(tmp_path):
    """A bare number had passed for a list where the default is None."""
    lines = ["shares: list[float] | None = None", "mode: str | None = None", "own: list[str | dict] | None = None"]
    path = write_notebook(tmp_path / "typed.ipynb", "pass", parameters="\n".join(lines))
    for right in ({"shares": [1, 0.5]}, {"shares": None}, {"mode": "x"}, {"own": ["M4-33", {"k": 3}]}):
        assert check_parameters(path, right) == right
    for wrong in ({"shares": 0.5}, {"shares": ["a"]}, {"shares": [True]}, {"mode": 3}, {"own": [3]}):
        with pytest.raises(ParameterError, match=r"must be of type .* in typed.ipynb, got"):
            check_parameters(path, wrong)


def test_a_notebook_is_one_with_exactly_one_parameters_cell(tmp_path):
    for content in ("", "[]", '{"cells": [{}]}'):
        (tmp_path / "x.ipynb").write_text(content)
        with pytest.raises(DataError, match="a Jupyter notebook"):
            check_parameters(tmp_path / "x.ipynb", {})
    with pytest.raises(DataError, match="exactly one cell tagged 'parameters', got 0"):
        check_parameters(write_notebook(tmp_path / "n.ipynb", parameters=None), {})
    with pytest.raises(DataError, match="is not valid Python"):
        check_parameters(write_notebook(tmp_path / "n.ipynb", parameters="1 +"), {})
    with pytest.raises(DataError, match="an existing file"):
        check_parameters(tmp_path / "absent.ipynb", {})


@pytest.mark.parametrize("name", ["", "a/b", "../a", ".hidden", "a b"])
def test_a_run_must_be_named_like_a_folder(notebook, tmp_path, name):
    with pytest.raises(ParameterError, match="`name` must be letters"):
        run_notebooks([NotebookRun(name, notebook)], tmp_path / "out")


def test_a_folder_that_cannot_be_written_is_refused(notebook, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="`out` must be a folder that can be written"):
        run_notebooks([NotebookRun("a", notebook)], tmp_path / "file")


def text_of(folder):
    cells = json.loads((folder / "notebook.ipynb").read_text())["cells"]
    return "".join("".join(output.get("text", "")) for cell in cells for output in cell.get("outputs", []))


@pytest.mark.notebook
@pytest.mark.slow
def test_runs_are_kept_resumed_and_shown(tmp_path, monkeypatch, capsys):
    injection = '"; import os; os.abort() #\n{count} \\" \'\'\' """ ü'
    good = write_notebook(
        tmp_path / "good {count}.ipynb",
        "print('count is', count, repr(name))",
        "from pathlib import Path\nPath(out, 'made.txt').write_text(name)",
    )
    bad = write_notebook(tmp_path / "bad.ipynb", "print('before')", "1 / 0", "print('after')", title="<Bad>")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)  # a bar that moves twice a second
    dead = write_notebook(tmp_path / "dead.ipynb", "import os\nos._exit(1)")
    out = tmp_path / "out {count}"
    runs = [
        NotebookRun("good", good, {"count": 7, "name": injection}),
        NotebookRun("bad", bad),
        NotebookRun("dead", dead),
    ]
    records = run_notebooks(runs, out, at_once=2)
    shown = capsys.readouterr().err
    assert re.search(r"good: done after \d+ s", shown)
    assert "bad: failed (ZeroDivisionError)" in shown
    assert re.search(r"(good|bad|dead): cell \d of \d", shown)
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
    assert {path.name for path in (out / WORK).iterdir()} == {"lock", outputs.RECORD}

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

    # what ended well with the same key is not run again, what failed is
    mended = write_notebook(bad, "print('mended')", title="<Bad>")
    again = run_notebooks([runs[0], NotebookRun("bad", mended)], out, progress=False)
    assert again[0] == records[0]
    assert again[1]["status"] == "ok"
    assert again[1]["key"] != records[1]["key"]
    # a damaged record stands for nothing
    (out / "bad" / "record.json").write_text("{")
    outputs.record_files(out / "bad")
    assert run_notebooks([NotebookRun("bad", mended)], out, progress=False)[0]["status"] == "ok"


@pytest.mark.parametrize("is_published", [False, True])
def test_an_interruption_between_two_steps_is_settled(tmp_path, notebook, is_published):
    out = tmp_path / "out"
    spec = notebook_runs._specs([NotebookRun("a", notebook)], out)[0]
    record = {"name": "a", "key": spec["key"], "status": "ok"}
    with working(out):
        pass
    folder = out / "a" if is_published else out / WORK / "a~1"
    folder.mkdir(parents=True)
    (folder / RECORD).write_text(json.dumps(record))
    for remainder in ("old-1", "a~2"):
        (out / WORK / remainder).mkdir(parents=True)
    assert run_notebooks([NotebookRun("a", notebook)], out, progress=False) == [record]
    assert (out / "a" / RECORD).is_file()
    assert {path.name for path in (out / WORK).iterdir()} == {"lock", outputs.RECORD}


def test_a_second_process_is_refused_and_one_that_was_given_up_publishes_nothing(tmp_path, notebook):
    out = tmp_path / "out"
    with working(out) as token:
        with pytest.raises(DataError, match=rf"another reident \(pid {os.getpid()}, since 20.*\) works here"):
            run_notebooks([NotebookRun("a", notebook)], out, progress=False)
        assert not (out / "a").exists()
        work = out / WORK / "a~1"
        work.mkdir()
    with working(out), pytest.raises(DataError, match="was given up"):
        publish(out, work, token=token)
    assert not (out / "a").exists()


def test_a_full_disk_is_called_one_and_has_the_last_word(tmp_path, notebook, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sys.modules["reident.runner._execute"], "execute", full)
    monkeypatch.setattr(runner, "write_index", full)
    (record,) = run_notebooks([NotebookRun("a", notebook)], tmp_path, progress=False)
    assert record["error"]["type"] == "DataError"
    assert "no space is left on its disk" in record["error"]["message"]
    said = "no space is left on its disk; the runs that ended are complete"
    with pytest.raises(DataError, match=said), runner.page_at_the_end(tmp_path, runner.write_index):
        pass
    with pytest.raises(DataError, match="the first"), runner.page_at_the_end(tmp_path, runner.write_index):
        raise DataError("the first")


def test_temporary_folders_leave_every_other_folder_in_place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folders = [tmp_path / name for name in ("reident-results", "reident-main", "reident-abcd1234")]
    for folder in folders:
        folder.mkdir()
        (folder / "thesis.csv").write_text("years of work")
        os.utime(folder, (0, 0))
    (folders[2] / "lock").touch()  # as one of ours that was killed
    with scratch() as one, scratch() as other:
        assert set(tmp_path.iterdir()) == {*folders, one, other}
        assert one.stat().st_mode & 0o077 == 0
    assert all((folder / "thesis.csv").read_text() == "years of work" for folder in folders)
    assert set(tmp_path.iterdir()) == set(folders)


def test_jobs_and_place_do_not_make_another_run(tmp_path):
    path = write_notebook(tmp_path / "n.ipynb", parameters="jobs = 1\nout = ''\nseed = 0")
    keys = {
        notebook_runs._specs([NotebookRun("a", path, {"jobs": jobs})], tmp_path / where)[0]["key"]
        for jobs in (1, 2)
        for where in ("x", "y")
    }
    assert len(keys) == 1
    assert notebook_runs._specs([NotebookRun("a", path, {"seed": 1})], tmp_path)[0]["key"] not in keys


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
    assert [run.name for run in runner.study_runs(["01-kroll2015"])[0]] == ["kroll2015"]
