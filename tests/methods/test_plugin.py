import contextlib
import json
import subprocess
import sys
import tempfile
import threading
import zipfile
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import pytest

import reident as rd
from judged import attacked, records
from reident.base import ParameterError, Real
from reident.methods import Entry, entries, find, registry
from reident.workbench.ru_map import plan
from samples import drawn

pytestmark = pytest.mark.whole

PACKAGE = Path(__file__).parent.parent / "plugin"
DOCS = Path(__file__).parents[2] / "docs"
STOPS = pd.DataFrame({"lat_deg": [50.2, 50.8], "lon_deg": [8.2, 8.8], "lines": [1, 3]})


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(str(PACKAGE))
    monkeypatch.setattr(registry, "REGISTERED", registry.REGISTERED.copy())
    import reident_example

    for entry in reident_example.METHODS:
        assert rd.register(entry) is entry
    return reident_example


@pytest.fixture
def people():
    return drawn(60, 1, sex=["f", "m"], lat_deg=(50.0, 51.0), lon_deg=(8.0, 9.0))


MAP = {"n_known": 10, "n_released": 30, "repetitions": 2, "progress": False, "quasi": "sex"}


def test_on_the_map(example, people):
    specs = [{"name": "snap_to_stops", "blur_deg": [0.0, 0.001]}, {"name": "disc", "radius_m": 1.0}]
    frame = rd.risk_utility(people, specs, ["same_parallel"], ["distances_kept"], public={"stops": STOPS}, **MAP)
    risk = frame.set_index(["method", "label"])["risk"]
    # Who is moved by a metre keeps the parallel; two stops hide thirty persons.
    assert risk[("disc", "1")] == 1
    assert risk[("snap_to_stops", "0")] < 0.5
    assert set(frame["attack"]) == {"same parallel, success by person"}
    # Distances without places: the attack says nothing about them, and that is told.
    with pytest.warns(UserWarning, match="`same_parallel` does not apply to any of these releases"):
        frame = rd.risk_utility(people, ["distance_noise"], ["same_parallel"], ["distances_kept"], **MAP)
    assert "distance_noise" not in set(frame["method"])
    assert "same_parallel" in frame.attrs["left_out"]
    left_out = plan(records(people, quasi="sex"), None, ["same_parallel"], ["distances_kept"]).left_out
    assert "the stops of public transport" in left_out["snap_to_stops"]


@pytest.mark.slow
def test_the_page_on_own_methods_runs_from_its_first_line_to_its_last():
    code = (DOCS / "own-methods.md").read_text(encoding="utf-8").split("```python\n")[1].partition("```")[0]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "shift_north" in done.stdout


@pytest.mark.slow
def test_an_installed_package_is_found_by_its_entry_point(tmp_path):
    """It is built from the `pyproject.toml` that the page on own methods shows."""
    pytest.importorskip("hatchling")
    shown = (DOCS / "own-methods.md").read_text(encoding="utf-8")
    assert f"```toml\n{(PACKAGE / 'pyproject.toml').read_text(encoding='utf-8')}```" in shown
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=PACKAGE, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    paths = [str(tmp_path / "installed"), *sys.path]
    call = "from reident.cli import app; app(['methods', 'snap_to_stops', '--json'])"
    code = f"import sys; sys.path[:0] = {paths!r}; {call}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)[0]["parameters"] == [
        {"name": "blur_deg", "type": "float", "range": "[0, 2]", "unit": "degrees", "default": 0.0}
    ]
    assert not any(entry.name == "snap_to_stops" for entry in entries())
    with pytest.raises(ParameterError, match="there are"):
        find("snap_to_stops")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("METHODS = [Entry('mine', 'anonymizer', 'places', f, 'points')]", "`role` must be one of"),
        ("METHODS = [Entry('mine', 'anonymiser', 'places', g, 'points')]", "must say what its argument 'thing' is"),
        ("METHODS = [Entry('mine', 'attack', 'table', g, 'claims')]", "must say what its argument 'points' is"),
        ("METHODS = Entry('grid', 'anonymiser', 'places', f, 'points')", "which the package has"),
        ("METHODS = [3]", "must be an Entry, got int"),
        ("import nowhere", "ModuleNotFoundError: No module named 'nowhere'"),
    ],
)
def test_a_broken_package_is_told_and_left_out(tmp_path, monkeypatch, source, reason):
    for name, text in (("awry", source), ("sound", "METHODS = [Entry('sound', 'anonymiser', 'places', f, 'points')]")):
        told = tmp_path / f"{name}-1.dist-info"
        told.mkdir()
        (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: the-{name}\nVersion: 1\n")
        (told / "entry_points.txt").write_text(f"[reident.methods]\n{name} = {name}_methods:METHODS\n")
        functions = "def f(points): return points\ndef g(points, thing): return points\n"
        (tmp_path / f"{name}_methods.py").write_text(f"from reident.methods import Entry\n{functions}{text}\n")
        monkeypatch.delitem(sys.modules, f"{name}_methods", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    registry._installed.cache_clear()
    try:
        with pytest.warns(UserWarning, match="the package the-awry is left out") as warned:
            listed = [entry.name for entry in entries()]
        assert len(warned) == 1
        assert reason in str(warned[0].message)
        assert "sound" in listed
        assert "mine" not in listed
        assert callable(find("grid").function)
    finally:
        registry._installed.cache_clear()


def test_the_judge_runs_it_too(example, people):
    shown = people.assign(id=range(60))
    given = {"quasi": "sex", "lat": "lat_deg", "lon": "lon_deg", "id": "id"}
    found = attacked(shown, shown, attacks=["same_parallel"], **given)
    assert found[["name", "risk"]].to_numpy(object).tolist() == [["same_parallel", 1.0]]
    assert "same_parallel" in attacked(shown, shown, **given)["name"].tolist()
    assert "same_parallel" in str(rd.check(shown, shown, given.pop("id"), **given).attacks)


@pytest.mark.slow
def test_workers_know_what_a_notebook_registered_and_no_file_holds_the_data(example, people, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "kept").mkdir()
    secret = people.assign(sex=np.where(people["sex"] == "f", "canary-f", "canary-m"))
    seen: dict[str, bool] = {}
    over = threading.Event()

    def watch():
        while not over.wait(0.01):
            with contextlib.suppress(OSError):  # a folder may go while it is listed: the next round lists what is left
                for file in tmp_path.rglob("*"):
                    with contextlib.suppress(OSError):
                        if file.is_file() and not seen.get(file.name):
                            seen[file.name] = b"canary-" in file.read_bytes()

    watcher = threading.Thread(target=watch)
    watcher.start()

    def shifted(points: Any, *, north_deg: Annotated[float, Real(0, 1, unit="degrees")] = 0.1) -> Any:
        return points.assign(lat_deg=points["lat_deg"] + north_deg)

    rd.register(Entry("shifted", "anonymiser", "places", shifted, "points", source="a cell", label="shifted"))
    asked = [{"name": "shifted", "north_deg": [0.001, 0.5]}], ["same_parallel"], ["distances_kept"]
    try:
        frames = [
            rd.risk_utility(secret, *asked, jobs=jobs, cache=folder, **MAP)
            for jobs, folder in ((1, None), (2, tmp_path / "kept"))
        ]
    finally:
        over.set()
        watcher.join()
    pd.testing.assert_frame_equal(*frames)
    assert seen
    assert not [name for name, found in seen.items() if found]
    assert set(frames[0]["method"]) >= {"shifted", "original"}
