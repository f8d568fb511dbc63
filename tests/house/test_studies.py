"""A study is declared once: names without running anything, one way to run, and a sixth study is one folder."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from guest import STUDY as GUEST
from reident.base import ParameterError
from reident.studies.catalogue import GROUP, STUDIES, available_studies, select_studies

TESTS = Path(__file__).parents[1]


def test_the_names_of_all_studies_and_figures_need_no_plotting_and_no_kernels():
    code = (
        "import sys; from reident.studies.catalogue import STUDIES;"
        "assert all(study.figures for study in STUDIES.values()); print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numba", "matplotlib", "scipy", "geopandas", "distributed", "papermill"} & set(loaded)


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_declared_figures_are_drawn_and_every_profile_says_what_it_sweeps(study, monkeypatch):
    monkeypatch.delenv("REIDENT_DATA", raising=False)
    assert tuple(study.drawings()) == study.figures
    assert set(study.profiles) == {"smoke", "quick", "full"}
    assert study.notebook_path.is_file()
    sweeps = study.sweeps(study.plan("smoke"), study.seed)
    assert all(sweep["stem"].startswith(study.name) for sweep in sweeps.values())


def test_studies_are_selected_by_name_and_by_document():
    assert [study.name for study in select_studies(["vanhoef2012"])] == ["vanhoef2012_tables"]
    assert select_studies([]) == available_studies()
    with pytest.raises(ParameterError, match="`stem` must be one of"):
        select_studies(["nonsense"])


def test_a_plan_is_a_profile_with_parameters_replaced():
    plan = GUEST.plan("smoke", widths=[3], repetitions=None)
    assert (plan.widths, plan.repetitions) == ([3], 2)
    with pytest.raises(ParameterError, match="`nonsense` must be a parameter of the study guest: widths, repetitions"):
        GUEST.plan(nonsense=1)
    with pytest.raises(ParameterError, match="`profile` must be one of"):
        GUEST.plan("fast")


def test_a_study_outside_the_package_runs_the_same_way(tmp_path, capsys):
    results = GUEST.run("smoke", folder=tmp_path, progress=False)
    again = GUEST.run("quick", folder=tmp_path / "other", widths=[1, 10], repetitions=2)
    assert "about" in capsys.readouterr().err  # every profile says how long it takes
    pd.testing.assert_frame_equal(results.frames["ages"], again.frames["ages"])
    assert GUEST.draw(results)["figure-1-ages"].axes
    touched = [path for path in (TESTS / "guest").iterdir() if path.suffix in (".py", ".ipynb")]
    assert len(touched) <= 5


def test_a_package_names_its_studies_by_an_entry_point(tmp_path):
    told = tmp_path / "guest-1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: guest\nVersion: 1\n")
    (told / "entry_points.txt").write_text(f"[{GROUP}]\nguest = guest:STUDY\n")
    code = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(TESTS)!r}]; from reident.cli import main; main()"
    listed = subprocess.run([sys.executable, "-c", code, "list"], capture_output=True, text=True, check=True).stdout
    assert "Ages by the decade" in listed
    assert "guest                  figure-1-ages" in listed


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("STUDY = None", "must name a Study, got NoneType"),
        ("from reident.studies.holohan2017 import STUDY", "got 'holohan2017', which another study has"),
        ("import nowhere", "No module named 'nowhere'"),
    ],
)
def test_a_package_with_a_broken_study_is_told_and_left_out(tmp_path, source, reason):
    told = tmp_path / "awry-1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: the-awry\nVersion: 1\n")
    (told / "entry_points.txt").write_text(f"[{GROUP}]\nkroll2015 = awry:STUDY\n")
    (tmp_path / "awry.py").write_text(source)
    code = f"import sys; sys.path[:0] = [{str(tmp_path)!r}]; from reident.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "list"], capture_output=True, text=True, check=True)
    assert "the package the-awry is left out" in done.stderr
    assert reason in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert STUDIES["holohan2017"].title in done.stdout
