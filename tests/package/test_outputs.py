import json
import subprocess
import sys

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import call
from reident.base import DataError, check_replaceable, foreign_files, move_files, outputs, publish_folder, record_files
from reident.runner import NotebookRun, run_notebooks
from small_notebooks import write_notebook

NAMES = ["report.html", "figures/map.png", "figures/other.png", "points.csv", "notes/mine.txt"]


def content(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes().decode(errors="replace")
        for path in folder.rglob("*")
        if path.is_file() and path.name != outputs.RECORD
    }


def write(folder, names, text):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@given(
    ours=st.sets(st.sampled_from(NAMES)), theirs=st.sets(st.sampled_from(NAMES)), new=st.sets(st.sampled_from(NAMES))
)
def test_every_file_that_is_not_ours_stays_as_it_was(tmp_path_factory, ours, theirs, new):
    folder = tmp_path_factory.mktemp("out")
    out, made = folder / "out", folder / "made"
    out.mkdir()
    made.mkdir()
    write(out, ours, "ours")
    record_files(out)
    write(out, theirs, "theirs")  # some of them files of ours that the user changed
    write(made, new, "new")
    assert foreign_files(out) == sorted(theirs)
    tops = {name.partition("/")[0] for name in new}
    lost = sorted(name for name in theirs if name.partition("/")[0] in tops)
    if lost:
        with pytest.raises(DataError, match=lost[0]):
            move_files(made, out, last="report.html")
        assert content(out) == dict.fromkeys(ours, "ours") | dict.fromkeys(theirs, "theirs")
    else:
        move_files(made, out, last="report.html")
        assert content(out) == dict.fromkeys(theirs, "theirs") | dict.fromkeys(new, "new")
        assert foreign_files(out) == sorted(theirs)


def test_a_record_names_no_file_outside_its_folder(tmp_path):
    thesis, out = tmp_path / "thesis.txt", tmp_path / "out"
    (out / "made").mkdir(parents=True)
    thesis.write_text("years of work")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.txt").write_text("years of work")
    (out / "figures").symlink_to(tmp_path / "other")
    digest = outputs._digest(thesis)
    names = ["../thesis.txt", str(thesis), "figures/a.txt", "figures"]
    (out / outputs.RECORD).write_text(json.dumps({"files": dict.fromkeys(names, digest)}))
    move_files(out / "made", out, last="report.html")
    assert thesis.exists()
    assert (tmp_path / "other" / "a.txt").exists()
    with pytest.raises(DataError, match="figures"):
        check_replaceable(out, ["figures"])


@pytest.mark.parametrize("damaged", ["", "[]", "{", '{"files": 7}', '{"unfinished": 1}'])
def test_a_damaged_record_names_nothing(tmp_path, damaged):
    (tmp_path / outputs.RECORD).write_text(damaged)
    (tmp_path / "a.txt").touch()
    assert foreign_files(tmp_path) == ["a.txt"]


def test_assess_keeps_the_input_and_every_file_of_the_user(tmp_path):
    people = pd.DataFrame({"age": [20 + i % 40 for i in range(120)], "sex": list("mf") * 60})
    people.to_csv(tmp_path / "points-2024.csv", index=False)
    roles = ["--role", "age=quasi-identifier", "--role", "sex=quasi-identifier", "--try", "rounding:base=50"]
    call(tmp_path, "open", "points-2024.csv", "--out", "roles.yaml", "--limit", "1", *roles)

    def assess(out):
        return call(tmp_path, "assess", "--recipe", "roles.yaml", "--profile", "smoke", "-q", "--out", out)

    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "thesis-figure.png").write_text("years of work")
    before = content(tmp_path)
    refused = assess(".")
    assert refused.returncode == 2
    assert "figures/thesis-figure.png" in refused.stderr
    assert content(tmp_path) == before
    (tmp_path / "figures").rename(tmp_path / "drawings")
    before = content(tmp_path)
    for _ in range(2):  # files of an earlier assessment are replaced
        assert assess(".").returncode == 0
    after = content(tmp_path)
    assert before.items() <= after.items()
    written = set(after) - set(before)
    assert {"report.html", "recipe.yaml", "recipe-earlier.yaml"} <= written
    assert {tmp_path.joinpath(name).stat().st_mode & 0o077 for name in written if not name.startswith(".work")} == {0}
    (tmp_path / "recipe.yaml").write_text("# changed by hand")
    assert assess(".").returncode == 2
    assert (tmp_path / "recipe.yaml").read_text() == "# changed by hand"


def test_the_folder_of_an_assessment_is_closed_to_others(tmp_path):
    with outputs.working(tmp_path / "report", private=True) as (work, _):
        assert {path.stat().st_mode & 0o077 for path in (work, work.parent)} == {0}


def test_a_run_replaces_no_folder_with_files_that_are_not_its_own(tmp_path):
    notebook = write_notebook(tmp_path / "n.ipynb", "x = 1", parameters="count = 3")
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.txt").write_text("years of work")
    with pytest.raises(DataError, match=r"thesis\.txt"):
        run_notebooks([NotebookRun("thesis", notebook)], tmp_path, progress=False)
    assert (tmp_path / "thesis" / "thesis.txt").read_text() == "years of work"
    out = tmp_path / "out"
    for _ in range(2):
        (record,) = run_notebooks([NotebookRun("a", notebook)], out, progress=False, force=True)
        assert record["status"] == "ok"
    (tmp_path / "s.yaml").write_text("notebook: n.ipynb\ngrid: {count: [4]}\n")
    (tmp_path / "results.parquet").write_text("years of work")
    assert "results.parquet" in call(tmp_path, "batch", "s.yaml", "--out", ".", code=2).stderr
    (out / "a" / "note.txt").write_text("mine")
    with pytest.raises(DataError, match=r"note\.txt"):
        run_notebooks([NotebookRun("a", notebook)], out, progress=False, force=True)


def test_a_folder_that_has_appeared_meanwhile_stays_and_what_a_killed_process_left_does_not(tmp_path):
    def fill(folder):
        (folder / "release.csv").write_text("a")
        write(tmp_path, ["rel/b"], "")

    with pytest.raises(DataError):
        publish_folder(tmp_path / "rel", fill)
    assert content(tmp_path) == {"rel/b": ""}
    fill = "lambda folder: ((folder / 'a.csv').write_text('never audited'), os.kill(os.getpid(), 9))"
    killed = f"import os, pathlib, reident.base; reident.base.publish_folder(pathlib.Path('second'), {fill})"
    subprocess.run([sys.executable, "-c", killed], cwd=tmp_path, check=False)
    assert "never audited" in content(tmp_path).values()
    publish_folder(tmp_path / "second", lambda folder: (folder / "a").touch())
    assert content(tmp_path) == {"rel/b": "", "second/a": ""}
